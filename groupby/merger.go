// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math"

	"github.com/vecql/vecql/column"
)

// Mergers: both phases for rows or states.

// A merger merges rows and states into groups. It has a table and the accumulators of its groups. One goroutine at a
// time uses it; reset prepares it for reuse.
type merger struct {
	plan    *plan
	t       *table
	accs    []Accumulator
	results []resultFunc // by aggregate
	// numbers has the number of each group's first row, and last the greatest number so far: rows that arrive in order
	// need no comparison.
	numbers []int64
	last    int64

	ids, miss [chunkRows]uint32
	texts     []string
	view      keys              // of a chunk of a block; its texts are in texts
	args      [][]column.Column // by accumulator
	maker     *keyMaker         // for frames; nil until the first
	spare     [][]uint64        // memory of merged blocks, for the result
	most      int               // groups since the beginning; the accumulators keep their memory
	counted   int64             // bytes in store.held
	// frames of an extent, as they are and compressed
	raw, packed []byte
}

// newMerger returns a merger with an empty table and empty accumulators for the parts of the plan.
func newMerger(p *plan) *merger {
	m := &merger{plan: p, t: newTable(p.keys)}
	m.accs, m.results = p.accumulators()
	for _, part := range p.parts {
		m.args = append(m.args, make([]column.Column, len(part.args)))
	}
	if p.keys.form >= keyText {
		m.texts = make([]string, chunkRows)
	}
	m.begin()
	return m
}

func (m *merger) begin() {
	m.numbers = append(m.numbers[:0], math.MaxInt64)
	m.last = -1
	m.resize()
}

func (m *merger) reset() {
	m.t.reset()
	for _, a := range m.accs {
		a.Reset()
	}
	m.begin()
}

func (m *merger) resize() { m.resizeTo(m.t.groups()) }

func (m *merger) resizeTo(n int) {
	m.most = max(m.most, n)
	for _, a := range m.accs {
		a.Resize(n)
	}
}

// groups returns the number of groups, group 0 included.
func (m *merger) groups() int { return m.t.groups() }

// size returns the approximate number of bytes held. Slices of accumulators grow by doubling, so they are taken to have
// twice their length.
func (m *merger) size() int64 {
	n := 2 * int64(m.most)
	width := int64(8)
	for _, t := range m.plan.stateTypes {
		width += int64(t.ValueWidth())
	}
	s := n*width + m.t.size() + int64(4*len(m.t.index)+4*len(m.t.direct.ids)+cap(m.raw)+cap(m.packed))
	for _, a := range m.accs {
		if a, ok := a.(Sizer); ok {
			s += a.Size()
		}
	}
	return s
}

// share lets the accumulators use several goroutines.
func (m *merger) share(goroutines int) {
	for _, a := range m.accs {
		if v, ok := a.(*valueLists); ok {
			v.goroutines = goroutines
		}
	}
}

// A chunk is at most chunkRows rows: their keys, and their values by position in plan.rowTypes.
type chunk struct {
	*keys
	values  []column.Column
	start   int64
	numbers []int64
	only    bool // all rows belong to one group
}

func (c *chunk) number(i uint32) int64 {
	if c.numbers != nil {
		return c.numbers[i]
	}
	return c.start + int64(i)
}

// locate is phase 1: it returns the group of each row. If insert is set, unknown keys become groups. Otherwise their
// rows are in group 0, and are returned as misses.
func (m *merger) locate(c *chunk, insert bool) (ids, misses []uint32, err error) {
	ids = m.ids[:len(c.w0)]
	if !insert {
		return ids, m.t.find(c.keys, ids, m.miss[:0]), nil
	}
	fresh, err := m.t.insert(c.keys, ids, m.miss[:0], m.plan.DropNulls)
	if err != nil {
		return nil, nil, err
	}
	m.start(c, fresh)
	return ids, nil, nil
}

// start makes the states of the groups that rows of a chunk created.
func (m *merger) start(c *chunk, fresh []uint32) {
	if len(fresh) == 0 {
		return
	}
	if m.plan.rowNumbers {
		for _, i := range fresh {
			m.numbers = append(m.numbers, c.number(i))
		}
	}
	m.resize()
}

// accumulate is phase 2 for rows.
func (m *merger) accumulate(c *chunk, ids []uint32) error {
	if m.plan.rowNumbers {
		m.firsts(c, ids)
	}
	for i, acc := range m.accs {
		args := m.args[i]
		for k, v := range m.plan.parts[i].args {
			args[k] = c.values[v]
		}
		rows := Rows{IDs: ids, Args: args, Start: c.start, Numbers: c.numbers, only: c.only && len(ids) > 0}
		if err := acc.Add(rows); err != nil {
			return m.failed(i, err)
		}
	}
	return nil
}

func (m *merger) failed(part int, err error) error {
	return fmt.Errorf("groupby: %s: %w", m.plan.parts[part].Name, err)
}

// firsts updates the least row number of each group.
func (m *merger) firsts(c *chunk, ids []uint32) {
	n := len(ids)
	if n == 0 {
		return
	}
	if c.numbers == nil {
		if c.start > m.last {
			m.last = c.start + int64(n) - 1
			return
		}
		for i, id := range ids {
			m.numbers[id] = min(m.numbers[id], c.start+int64(i))
		}
		return
	}
	for i, id := range ids {
		m.numbers[id] = min(m.numbers[id], c.numbers[i])
		m.last = max(m.last, c.numbers[i])
	}
}

// merge adds a block of rows or of states.
func (m *merger) merge(b *block) error {
	cols := make([]column.Column, len(b.cols))
	for i := range b.cols {
		cols[i] = b.cols[i].column()
	}
	adopted := b.distinct && m.t.empty() && b.n() < maxGroups
	if adopted {
		m.adopt(b)
	}
	part := make([]column.Column, len(cols))
	for i := 0; i < b.n(); i += chunkRows {
		j := min(i+chunkRows, b.n())
		for n := range cols {
			part[n] = sliceRows(&cols[n], i, j)
		}
		if adopted {
			if err := m.mergeAdopted(part, i, j); err != nil {
				return err
			}
			continue
		}
		b.rows.view(&m.view, i, j, m.texts)
		c := chunk{keys: &m.view, values: part}
		if len(b.numbers) > 0 {
			c.numbers = b.numbers[i:j]
		}
		if err := m.add(&c, b.states); err != nil {
			return err
		}
		m.view.dropTexts()
	}
	return nil
}

// mergeTable merges the groups of another merger, a chunk at a time. Accumulators that are joiners follow at the end.
// After the last merge no group can be found by its key.
func (m *merger) mergeTable(other *merger, last bool) error {
	groups := make([]uint32, other.groups()) // the groups of m by group of other
	m.t.reserveText(len(other.t.text))
	insert := m.t.insert
	if last {
		insert = m.t.insertLast
	}
	for i, n := 1, other.groups(); i < n; {
		j := min(i+chunkRows, n)
		other.t.view(&m.view, i, j, m.texts)
		c := chunk{keys: &m.view}
		if m.plan.rowNumbers {
			c.numbers = other.numbers[i:j]
		}
		ids := m.ids[:j-i]
		fresh, err := insert(&m.view, ids, m.miss[:0], false)
		if err != nil {
			return err
		}
		m.start(&c, fresh)
		if m.plan.rowNumbers {
			m.firsts(&c, ids)
		}
		for k, acc := range m.accs {
			if _, ok := acc.(joiner); ok {
				continue
			}
			state, err := other.state(k, i, j)
			if err != nil {
				return err
			}
			if err := acc.Merge(ids, state); err != nil {
				return m.failed(k, err)
			}
		}
		copy(groups[i:], ids)
		m.view.dropTexts()
		i = j
	}
	for k, acc := range m.accs {
		if acc, ok := acc.(joiner); ok {
			acc.join(other.accs[k], groups)
		}
	}
	return nil
}

// adopt makes groups of the keys of a block, which are distinct, in an empty table. The accumulators do not have the
// groups yet.
func (m *merger) adopt(b *block) {
	m.t.adopt(&b.rows)
	if !m.plan.rowNumbers {
		return
	}
	m.numbers = append(m.numbers, b.numbers...)
	for _, x := range b.numbers {
		m.last = max(m.last, x)
	}
}

// mergeAdopted merges the states of groups [i+1, j+1), which adopt made of rows [i, j).
func (m *merger) mergeAdopted(states []column.Column, i, j int) error {
	m.resizeTo(j + 1)
	ids := m.ids[:j-i]
	for k := range ids {
		ids[k] = uint32(i + k + 1)
	}
	return m.mergeStates(ids, states)
}

// add adds a chunk of rows, or of states.
func (m *merger) add(c *chunk, states bool) error {
	ids, _, err := m.locate(c, true)
	if err != nil {
		return err
	}
	if !states {
		return m.accumulate(c, ids)
	}
	if m.plan.rowNumbers {
		m.firsts(c, ids)
	}
	return m.mergeStates(ids, c.values)
}

// mergeStates is phase 2 for states.
func (m *merger) mergeStates(ids []uint32, states []column.Column) error {
	for i, acc := range m.accs {
		n := len(m.plan.parts[i].state)
		if err := acc.Merge(ids, states[:n]); err != nil {
			return m.failed(i, err)
		}
		states = states[n:]
	}
	return nil
}

// release drops references to the columns that accumulators received.
func (m *merger) release() {
	for _, args := range m.args {
		clear(args)
	}
}

// states returns the states of groups [i, j) as the columns of a block of states. The columns are views.
func (m *merger) states(i, j int) ([]column.Column, error) {
	cols := make([]column.Column, 0, len(m.plan.stateTypes))
	for k := range m.accs {
		state, err := m.state(k, i, j)
		if err != nil {
			return nil, err
		}
		cols = append(cols, state...)
	}
	return cols, nil
}

// state returns the states of an accumulator.
func (m *merger) state(k, i, j int) ([]column.Column, error) {
	state, err := m.accs[k].State(i, j)
	part := &m.plan.parts[k]
	if err == nil && len(state) != len(part.state) {
		err = fmt.Errorf("State returned %d columns, want %d", len(state), len(part.state))
	}
	for n := range state {
		if err == nil {
			err = checkColumn(&state[n], column.Field{Type: part.state[n]}, j-i, part.fn == "")
		}
	}
	if err != nil {
		return nil, m.failed(k, err)
	}
	return state, nil
}

// checkColumn returns an error unless a column of states or results has n rows of field f. If foreign is set, the
// column is from an Accumulator of the program, and its buffers are checked too.
func checkColumn(c *column.Column, f column.Field, n int, foreign bool) error {
	if c.Len != n || !hasField(c, &f) {
		return fmt.Errorf("the column has %d rows of %v, want %d of %v", c.Len, c.Field(), n, f)
	}
	if foreign {
		return c.Check()
	}
	return nil
}

func hasField(c *column.Column, f *column.Field) bool {
	if c.Type != f.Type || len(c.Children) != len(f.Fields) {
		return false
	}
	for i := range c.Children {
		if !hasField(&c.Children[i], &f.Fields[i]) {
			return false
		}
	}
	return true
}

// block returns a new block with the states of all groups.
func (m *merger) block() (*block, error) {
	b := m.plan.newBlock(true)
	b.distinct = true
	n := m.groups()
	step := max(n, 1)
	if m.plan.textStates {
		step = blockGroups
	}
	for i := 1; i < n; i += step {
		j := min(i+step, n)
		states, err := m.states(i, j)
		if err != nil {
			return nil, err
		}
		for k := range b.cols {
			b.cols[k].append(&states[k], 0, j-i)
		}
	}
	b.rows.append(&m.t.keyRows, 1)
	if m.plan.rowNumbers {
		b.numbers = append([]int64(nil), m.numbers[1:]...)
	}
	return b, b.check()
}

// blockGroups is the number of groups whose states are copied to a block at a time if some states are text, since State
// copies text too.
const blockGroups = 1 << 13
