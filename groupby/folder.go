// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math"
)

// This file takes rows, or states, through both phases: a table and the accumulators that go with it.

// A folder folds rows and states into groups. It is used by one goroutine at a time, again and again.
type folder struct {
	*plan
	t       *table
	accs    []Accumulator
	results []func() (Column, error) // by aggregate
	// numbers holds the number of each group's first row, and last the greatest number so far: rows that come in order need not be compared.
	numbers []int64
	last    int64

	ids, miss [chunkRows]uint32
	texts     []string
	args      [][]Column // by accumulator
	maker     *keyMaker  // for frames; nil until there is one
	spare     [][]uint64 // memory of folded blocks, for the result
}

func newFolder(p *plan) *folder {
	f := &folder{plan: p, t: newTable(p.keys)}
	f.accs, f.results = p.accumulators()
	for _, m := range p.parts {
		f.args = append(f.args, make([]Column, len(m.args)))
	}
	if p.keys.form >= keyText {
		f.texts = make([]string, chunkRows)
	}
	f.begin()
	return f
}

func (f *folder) begin() {
	f.numbers = append(f.numbers[:0], math.MaxInt64)
	f.last = -1
	f.resize()
}

func (f *folder) reset() {
	f.t.reset()
	for _, a := range f.accs {
		a.Reset()
	}
	f.begin()
}

func (f *folder) resize() {
	n := f.t.groups()
	for _, a := range f.accs {
		a.Resize(n)
	}
}

// groups returns the number of groups, group 0 included.
func (f *folder) groups() int { return f.t.groups() }

// size returns about how many bytes are held.
func (f *folder) size() int64 {
	n := int64(f.groups())
	width := int64(8)
	for _, t := range f.stateTypes {
		width += int64(t.width())
	}
	s := n*width + f.t.size() + int64(16*len(f.t.slots1)+24*len(f.t.slots2)+4*len(f.t.direct.ids))
	for _, a := range f.accs {
		if a, ok := a.(Sizer); ok {
			s += a.Size()
		}
	}
	return s
}

// A chunk is at most chunkRows rows: their keys, and their values by position in plan.used.
type chunk struct {
	*keys
	values  []Column
	start   int64
	numbers []int64
}

func (c *chunk) number(i uint32) int64 {
	if c.numbers != nil {
		return c.numbers[i]
	}
	return c.start + int64(i)
}

// locate is phase 1: it returns the group of each row. Unknown keys become groups if insert; else their rows are in group 0, and returned.
func (f *folder) locate(c *chunk, insert bool) (ids, strangers []uint32, err error) {
	ids = f.ids[:len(c.w0)]
	if !insert {
		return ids, f.t.find(c.keys, ids, f.miss[:0]), nil
	}
	fresh, err := f.t.insert(c.keys, ids, f.miss[:0], f.DropNulls)
	if err != nil {
		return nil, nil, err
	}
	if len(fresh) > 0 {
		if f.rowNumbers {
			for _, i := range fresh {
				f.numbers = append(f.numbers, c.number(i))
			}
		}
		f.resize()
	}
	return ids, nil, nil
}

// accumulate is phase 2 for rows.
func (f *folder) accumulate(c *chunk, ids []uint32) error {
	if f.rowNumbers {
		f.firsts(c, ids)
	}
	for i, acc := range f.accs {
		args := f.args[i]
		for k, v := range f.parts[i].args {
			args[k] = c.values[v]
		}
		if err := acc.Add(Rows{IDs: ids, Args: args, Start: c.start, Numbers: c.numbers}); err != nil {
			return f.failed(i, err)
		}
	}
	return nil
}

func (f *folder) failed(part int, err error) error {
	return fmt.Errorf("groupby: %s: %w", f.parts[part].Name, err)
}

// firsts keeps the least number of each group's rows.
func (f *folder) firsts(c *chunk, ids []uint32) {
	n := len(ids)
	if n == 0 {
		return
	}
	if c.numbers == nil {
		if c.start > f.last {
			f.last = c.start + int64(n) - 1
			return
		}
		for i, id := range ids {
			f.numbers[id] = min(f.numbers[id], c.start+int64(i))
		}
		return
	}
	for i, id := range ids {
		f.numbers[id] = min(f.numbers[id], c.numbers[i])
	}
}

// fold adds a block of rows or of states.
func (f *folder) fold(b *block) error {
	cols := make([]Column, len(b.cols))
	for i := range b.cols {
		cols[i] = b.cols[i].column()
	}
	part := make([]Column, len(cols))
	var k keys
	for i := 0; i < b.n(); i += chunkRows {
		j := min(i+chunkRows, b.n())
		b.rows.view(&k, i, j, f.texts)
		for n := range cols {
			part[n] = cols[n].Slice(i, j)
		}
		c := chunk{keys: &k, values: part}
		if len(b.numbers) > 0 {
			c.numbers = b.numbers[i:j]
		}
		if err := f.add(&c, b.states); err != nil {
			return err
		}
	}
	return nil
}

// add adds a chunk of rows, or of states.
func (f *folder) add(c *chunk, states bool) error {
	ids, _, err := f.locate(c, true)
	if err != nil {
		return err
	}
	if !states {
		return f.accumulate(c, ids)
	}
	if f.rowNumbers {
		f.firsts(c, ids)
	}
	return f.merge(ids, c.values)
}

// merge is phase 2 for states.
func (f *folder) merge(ids []uint32, states []Column) error {
	for i, acc := range f.accs {
		n := len(f.parts[i].state)
		if err := acc.Merge(ids, states[:n]); err != nil {
			return f.failed(i, err)
		}
		states = states[n:]
	}
	return nil
}

// release forgets the columns that were given to accumulators.
func (f *folder) release() {
	for _, args := range f.args {
		clear(args)
	}
}

// states returns the states of all groups as the columns of a block of states: views, group 0 included.
func (f *folder) states() ([]Column, error) {
	var cols []Column
	for i, acc := range f.accs {
		state, err := acc.State()
		if err != nil {
			return nil, f.failed(i, err)
		}
		for k := range state {
			if state[k].n != f.groups() || state[k].typ != f.parts[i].state[k] {
				return nil, f.failed(i, fmt.Errorf("state %d is %d rows of %s, not %d of %s",
					k, state[k].n, state[k].typ, f.groups(), f.parts[i].state[k]))
			}
		}
		cols = append(cols, state...)
	}
	return cols, nil
}

// block returns a new block with the states of all groups.
func (f *folder) block() (*block, error) {
	states, err := f.states()
	if err != nil {
		return nil, err
	}
	b := f.newBlock(true)
	n := f.groups()
	for i := range b.cols {
		b.cols[i].append(&states[i], 1, n)
	}
	b.rows.append(&f.t.keyRows, 1)
	if f.rowNumbers {
		b.numbers = append([]int64(nil), f.numbers[1:]...)
	}
	return b, b.check()
}
