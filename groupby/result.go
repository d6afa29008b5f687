// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"
)

// This file makes results: columns of keys and aggregates, in the order asked for.

// A Result is the groups in the order asked for: their keys and aggregates as columns. It owns its memory, which nobody changes any more.
type Result struct {
	plan    *plan
	n       int
	batches []Batch
}

// Len returns the number of groups.
func (r *Result) Len() int { return r.n }

// Batches returns the groups in pieces, as they were made: Keys has the key columns, Values the aggregates. There is one piece if the order is
// not Unordered. Pieces may lie in the same memory, so that one that is kept keeps others.
func (r *Result) Batches() iter.Seq[Batch] {
	return func(yield func(Batch) bool) {
		for _, b := range r.batches {
			if !yield(b) {
				return
			}
		}
	}
}

// Key returns a key column of all groups. It is made anew if the result is in several pieces.
func (r *Result) Key(i int) Column {
	return r.column(r.plan.Keys[i], func(b *Batch) *Column { return &b.Keys[i] })
}

// Aggregate returns the column of an aggregate of all groups. It is made anew if the result is in several pieces.
func (r *Result) Aggregate(i int) Column {
	return r.column(r.plan.outputs[i].typ, func(b *Batch) *Column { return &b.Values[i] })
}

func (r *Result) column(t Type, of func(*Batch) *Column) Column {
	if len(r.batches) == 1 {
		return *of(&r.batches[0])
	}
	b := newBuilder(t)
	b.reserve(r.n, nil)
	for i := range r.batches {
		c := of(&r.batches[i])
		b.append(c, 0, c.n)
	}
	return b.column()
}

// A piece is some groups of a result.
type piece struct {
	keys, values []builder
	numbers      []int64
	rows, room   int
}

// check returns an error if a column has more text than it can hold.
func (p *piece) check() error {
	for i := range p.keys {
		if err := p.keys[i].check(); err != nil {
			return err
		}
	}
	for i := range p.values {
		if err := p.values[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// An emitter collects groups for a result.
type emitter struct {
	*plan
	pieces []*piece
}

// reserveText makes room for the strings of a folder's keys, so that they need not move.
func (e *emitter) reserveText(f *folder, p *piece) {
	n := f.groups()
	for i := range p.keys {
		if b := &p.keys[i]; b.typ == String {
			more := len(f.t.text) + 15*n
			if b.n == 0 { // the first of a piece: the others will be alike
				more = more * max(1, p.room/n)
			}
			if cap(b.text)-len(b.text) < more {
				text := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(makeWords((len(b.text)+more+7)/8)))), len(b.text)+more)
				b.text = text[:copy(text, b.text)]
			}
			b.offsets = slices.Grow(b.offsets, n+1)
		}
	}
}

func (e *emitter) newPiece(room int) *piece {
	p := &piece{room: room}
	for _, t := range e.Keys {
		p.keys = append(p.keys, newBuilder(t))
	}
	for _, out := range e.outputs {
		p.values = append(p.values, newBuilder(out.typ))
	}
	for i := range p.keys {
		p.keys[i].reserve(room, nil)
	}
	for i := range p.values {
		p.values[i].reserve(room, nil)
	}
	return p
}

// pieceRows is the number of groups up to which those of several partitions go into one piece.
const pieceRows = 1 << 18

// emit takes the groups of a folder.
func (e *emitter) emit(f *folder) error {
	n := f.groups() - 1
	if n == 0 {
		return nil
	}
	values := make([]Column, len(f.results))
	for i, result := range f.results {
		c, err := result()
		if err == nil && (c.n != n+1 || c.typ != e.outputs[i].typ) {
			err = fmt.Errorf("a result of %d rows of %s, not %d of %s", c.n, c.typ, n+1, e.outputs[i].typ)
		}
		if err != nil {
			return fmt.Errorf("groupby: aggregate %d (%s): %w", i, e.Aggregates[i].Name, err)
		}
		values[i] = c
	}
	for i := 1; i <= n; {
		p := e.pieceFor(f, n)
		j := n + 1
		if e.wordResults {
			j = min(j, i+p.room-p.rows)
		}
		p.rows += j - i
		if e.wordResults {
			part := f.t.slice(i, j)
			e.keys.unpack(&part, 0, p.keys)
		} else {
			e.reserveText(f, p)
			e.keys.unpack(&f.t.keyRows, 1, p.keys)
		}
		for k := range values {
			p.values[k].append(&values[k], i, j)
		}
		if e.Order.by == byAppearance {
			p.numbers = append(p.numbers, f.numbers[i:j]...)
		}
		if err := p.check(); err != nil {
			return err
		}
		i = j
	}
	return nil
}

// pieceFor returns a piece with room for the n groups of a folder, or for some of them if all columns are words. Then its memory is that of
// blocks that have been folded, as long as there are some: so the result takes no more memory than the rows it is made of, and none that is fresh.
func (e *emitter) pieceFor(f *folder, n int) *piece {
	if last := len(e.pieces) - 1; last >= 0 {
		p := e.pieces[last]
		room := p.room - p.rows
		for i := range p.keys {
			if p.keys[i].typ == String && len(p.keys[i].text)+len(f.t.text)+15*n > maxText {
				room = 0
			}
		}
		if room >= n || e.wordResults && room > 0 {
			return p
		}
	}
	var p *piece
	if columns := len(e.Keys) + len(e.outputs); e.wordResults && len(f.spare) >= columns {
		p = e.newPiece(0)
		p.room = reusedRows
		for i := range p.keys {
			p.keys[i].fixed = f.takeSpare()
		}
		for i := range p.values {
			p.values[i].fixed = f.takeSpare()
		}
	} else {
		p = e.newPiece(max(n, min(pieceRows, 4*n)))
	}
	e.pieces = append(e.pieces, p)
	return p
}

// result makes the result of all pieces.
func (e *emitter) result() (*Result, error) {
	r := &Result{plan: e.plan}
	for _, p := range e.pieces {
		r.n += p.rows
	}
	if uint64(r.n) > math.MaxUint32 {
		return nil, ErrTooManyGroups
	}
	pieces := e.pieces
	if e.Order.by != byNothing && len(pieces) > 0 {
		all, err := e.ordered(r.n)
		if err != nil {
			return nil, err
		}
		pieces, r.n = []*piece{all}, all.rows
	}
	n := 0
	for _, p := range pieces {
		rows := p.rows
		if e.Limit > 0 {
			rows = min(rows, e.Limit-n)
		}
		if rows == 0 && n > 0 {
			break
		}
		n += rows
		b := Batch{Rows: rows}
		for i := range p.keys {
			b.Keys = append(b.Keys, p.keys[i].column().Slice(0, rows))
		}
		for i := range p.values {
			b.Values = append(b.Values, p.values[i].column().Slice(0, rows))
		}
		r.batches = append(r.batches, b)
	}
	r.n = n
	return r, nil
}

// ordered returns all pieces as one, in order.
func (e *emitter) ordered(n int) (*piece, error) {
	all := e.pieces[0]
	if e.Order.by == byAppearance && e.Limit == 0 && len(e.pieces) > 1 {
		if p, err := e.inPlaces(n); p != nil || err != nil {
			return p, err
		}
	}
	if len(e.pieces) > 1 {
		all = e.newPiece(n)
		all.rows = n
		_ = e.eachColumn(all, func(of func(*piece) *builder) error {
			to := of(all)
			for _, p := range e.pieces {
				c := of(p).column()
				to.append(&c, 0, c.n)
			}
			return nil
		})
		for i, p := range e.pieces {
			all.numbers = append(all.numbers, p.numbers...)
			e.pieces[i] = nil
		}
		if err := all.check(); err != nil {
			return nil, err
		}
	}
	columns := func(bs []builder) []Column {
		cols := make([]Column, len(bs))
		for i := range bs {
			cols[i] = bs[i].column()
		}
		return cols
	}
	rows := e.Order.orderOf(n, e.Limit, columns(all.keys), columns(all.values), all.numbers)
	if rows == nil {
		return all, nil
	}
	if e.Limit > 0 {
		rows = rows[:min(len(rows), e.Limit)]
	}
	p := e.newPiece(len(rows))
	p.rows = len(rows)
	return p, e.eachColumn(p, func(of func(*piece) *builder) error {
		c := of(all).column()
		of(p).gather(&c, rows)
		return nil
	})
}

// inPlaces returns all pieces as one in the order of their numbers, each group going where it belongs at once; or nil if that can not be told.
func (e *emitter) inPlaces(n int) (*piece, error) {
	numbers := make([][]int64, len(e.pieces))
	for k, p := range e.pieces {
		numbers[k] = p.numbers
	}
	places := placesOf(numbers)
	if places == nil {
		return nil, nil
	}
	all := e.newPiece(n)
	all.rows = n
	err := e.eachColumn(all, func(of func(*piece) *builder) error {
		to := of(all)
		if to.typ == String {
			return to.joinTexts(e.pieces, of, places, n)
		}
		to.begin(to.typ)
		to.n, to.zeros, to.fixed = n, false, to.fixed[:(n*to.typ.width()+7)/8]
		for _, p := range e.pieces {
			if of(p).validity != nil && to.validity == nil {
				to.validity = make([]byte, (n+7)/8)
			}
		}
		for k, p := range e.pieces {
			c := of(p).column()
			to.spread(&c, places[k])
			*of(p) = builder{} // it may be collected
		}
		return nil
	})
	return all, err
}

// joinTexts appends the strings of all pieces in the order of their places.
func (b *builder) joinTexts(pieces []*piece, of func(*piece) *builder, places [][]uint32, n int) error {
	type row struct{ piece, row uint32 }
	rows := make([]row, n)
	cols := make([]Column, len(pieces))
	size := 0
	for k, p := range pieces {
		cols[k] = of(p).column()
		size += len(of(p).text)
		for i, at := range places[k] {
			rows[at] = row{uint32(k), uint32(i)}
		}
	}
	if size > maxText {
		return fmt.Errorf("groupby: %d bytes of text in one column: at most %d; an unordered result has several", size, maxText)
	}
	b.text = make([]byte, 0, size)
	b.offsets = make([]int32, 1, n+1)
	for _, r := range rows {
		b.append(&cols[r.piece], int(r.row), int(r.row)+1)
	}
	return nil
}

// eachColumn calls f for each column of pieces like p, by several goroutines if they are large.
func (e *emitter) eachColumn(p *piece, f func(of func(*piece) *builder) error) error {
	var next atomic.Int64
	workers := 1
	if p.rows >= 1<<16 {
		workers = min(e.Workers, len(p.keys)+len(p.values))
	}
	return parallel(workers, func(int) error {
		for {
			i := int(next.Add(1)) - 1
			of := func(p *piece) *builder { return &p.keys[i] }
			switch k := i - len(p.keys); {
			case k >= len(p.values):
				return nil
			case k >= 0:
				of = func(p *piece) *builder { return &p.values[k] }
			}
			if err := f(of); err != nil {
				return err
			}
		}
	})
}
