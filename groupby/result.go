// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/vecql/vecql/column"
)

// Results: columns of keys and aggregates, in the requested order.

// A piece is a part of a result: the columns of some of its groups.
type piece struct {
	keys, values []builder
	numbers      []int64
	rows, room   int
}

// check returns an error if a column has too much text for its offsets.
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

// batch returns the first rows as a batch that shares the piece's memory.
func (p *piece) batch(plan *plan, rows int) *column.Batch {
	b := &column.Batch{Rows: rows}
	for i := range p.keys {
		c := p.keys[i].column()
		c = c.Slice(0, rows)
		b.Columns = append(b.Columns, c.As(plan.Keys[i]))
	}
	for i := range p.values {
		c := p.values[i].column()
		c = c.Slice(0, rows)
		b.Columns = append(b.Columns, c.As(plan.outputs[i].field.Name))
	}
	return b
}

// An emitter collects groups for a result.
type emitter struct {
	plan   *plan
	pieces []*piece
	bound  *bound // nil means that no groups were dropped yet, or that none can be compared
}

// keyBytes returns an upper bound of the bytes of text in the keys of groups [i, j), with room for unpackText.
func keyBytes(m *merger, i, j int) int { return m.t.textBytes(i, j) + 15*(j-i) + 1 }

// reserveText makes room for the text of the keys of groups [i, j), so that it is not reallocated, or rarely where
// several columns share the text.
func (e *emitter) reserveText(m *merger, p *piece, i, j int) {
	shares := e.plan.keys.textShares(&m.t.keyRows, i, j)
	for k := range p.keys {
		if b := &p.keys[k]; b.isText() {
			more := keyBytes(m, i, j)
			if b.n == 0 { // the first of a piece: assume that the others are like the merger's
				average := keyBytes(m, 1, m.groups()) / (m.groups() - 1)
				more = max(more, int(min(int64(average)*int64(p.room), e.plan.mostReserved())))
			}
			if shares != nil {
				more = int(float64(more) * shares[k])
			}
			if cap(b.text)-len(b.text) < more {
				text := bytesOf(makeLarge[uint64]((len(b.text) + more + 7) / 8))[:len(b.text)+more]
				b.text = text[:copy(text, b.text)]
			}
			b.offsets = slices.Grow(b.offsets, j-i+1)
		}
	}
}

// mostReserved returns the most bytes of text that are reserved for further groups of a piece. With a limit, further
// groups may be few.
func (p *plan) mostReserved() int64 {
	if p.Limit > 0 {
		return 1 << 22
	}
	return maxText
}

// newPiece returns an empty piece with memory for room groups.
func (e *emitter) newPiece(room int) *piece {
	p := &piece{room: room}
	for _, t := range e.plan.keys.types {
		p.keys = append(p.keys, newBuilder(t))
	}
	for _, out := range e.plan.outputs {
		p.values = append(p.values, newFieldBuilder(out.field))
	}
	for i := range p.keys {
		p.keys[i].reserve(room, nil)
	}
	for i := range p.values {
		p.values[i].reserve(room, nil)
	}
	return p
}

// pieceRows is the number of groups up to which several partitions share one piece.
const pieceRows = 1 << 18

// emit appends the groups of a merger to the pieces: all at once, or in parts if their keys or results exceed the text
// of one column.
func (e *emitter) emit(m *merger) error {
	for i, end := 1, m.groups(); i < end; {
		j := end
		for j-i > 1 && keyBytes(m, i, j) > maxText {
			j = i + (j-i)/2
		}
		values, err := e.results(m, i, j)
		for errors.Is(err, column.ErrTooLarge) && j-i > 1 {
			j = i + (j-i)/2
			values, err = e.results(m, i, j)
		}
		if err == nil {
			err = e.appendLimited(m, values, i, j)
		}
		if err != nil {
			return err
		}
		i = j
	}
	return e.enough()
}

// results returns the aggregates of groups [i, j) as views.
func (e *emitter) results(m *merger, i, j int) ([]column.Column, error) {
	values := make([]column.Column, len(m.results))
	for k, result := range m.results {
		c, err := result(i, j)
		if err == nil {
			f := e.plan.outputs[k].field
			err = checkColumn(&c, f, j-i, e.plan.Aggregates[k].fn == "")
		}
		if err != nil {
			var overflow *OverflowError
			if errors.As(err, &overflow) { // it names the aggregate
				return nil, err
			}
			return nil, fmt.Errorf("groupby: %s: %w", e.plan.Aggregates[k].Name, err)
		}
		values[k] = c
	}
	return values, nil
}

// append appends groups [i, j) to the pieces. values are the aggregates of the groups from first.
func (e *emitter) append(m *merger, values []column.Column, first, i, j int) error {
	for i < j {
		p := e.pieceFor(m, values, first, i, j)
		end := j
		if e.plan.wordResults {
			end = min(end, i+p.room-p.rows)
		} else {
			e.reserveText(m, p, i, end)
		}
		p.rows += end - i
		e.plan.keys.unpack(&m.t.keyRows, i, end, p.keys)
		for k := range values {
			p.values[k].append(&values[k], i-first, end-first)
		}
		if e.plan.Order.by == byAppearance {
			p.numbers = append(p.numbers, m.numbers[i:end]...)
		}
		if err := p.check(); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// pieceFor returns a piece with room for groups [i, j) of a merger, or, if all columns are words, for some of them.
// Pieces of words reuse the memory of merged blocks as long as there is any. The result then takes no more memory than
// its rows did, and no fresh memory.
func (e *emitter) pieceFor(m *merger, values []column.Column, first, i, j int) *piece {
	n := j - i
	if last := len(e.pieces) - 1; last >= 0 {
		p := e.pieces[last]
		room := p.room - p.rows
		for k := range p.keys {
			if p.keys[k].isText() && len(p.keys[k].text)+keyBytes(m, i, j) > maxText {
				room = 0
			}
		}
		for k := range p.values {
			if !p.values[k].fits(&values[k], i-first, j-first) {
				room = 0
			}
		}
		if room >= n || e.plan.wordResults && room > 0 {
			return p
		}
	}
	var p *piece
	if columns := len(e.plan.Keys) + len(e.plan.outputs); e.plan.wordResults && len(m.spare) >= columns {
		p = e.newPiece(0)
		p.room = reusedRows
		for k := range p.keys {
			p.keys[k].fixed = m.takeSpare()
		}
		for k := range p.values {
			p.values[k].fixed = m.takeSpare()
		}
	} else {
		room := min(pieceRows, 4*n)
		if e.plan.Limit > 0 || e.plan.MemoryLimit > 0 {
			room = e.plan.prune
		}
		p = e.newPiece(max(n, room))
	}
	e.pieces = append(e.pieces, p)
	return p
}

// batch returns all pieces as one batch, in the order of the plan.
func (e *emitter) batch() (*column.Batch, error) {
	n := e.rows()
	if uint64(n) > math.MaxUint32 {
		return nil, ErrTooManyGroups
	}
	limit := n
	if e.plan.Limit > 0 {
		limit = min(n, e.plan.Limit)
	}
	if n == 0 {
		return e.newPiece(0).batch(e.plan, 0), nil
	}
	if e.plan.Order.by == byNothing { // any groups satisfy the limit
		for n > 0 && n-e.pieces[len(e.pieces)-1].rows >= limit && len(e.pieces) > 1 {
			n -= e.pieces[len(e.pieces)-1].rows
			e.pieces = e.pieces[:len(e.pieces)-1]
		}
	}
	all, err := e.ordered(n)
	if err != nil {
		return nil, err
	}
	return all.batch(e.plan, limit), nil
}

// ordered returns all pieces as one, in the order of the plan.
func (e *emitter) ordered(n int) (*piece, error) {
	if e.plan.Order.by == byAppearance && e.plan.Limit == 0 && len(e.pieces) > 1 {
		if p, err := e.inPlaces(n); p != nil || err != nil {
			return p, err
		}
	}
	all := e.pieces[0]
	if len(e.pieces) > 1 {
		var err error
		if all, err = e.concat(n); err != nil {
			return nil, err
		}
	}
	rows := e.plan.orderOf(n, e.plan.Limit, columnsOf(all.keys), columnsOf(all.values), all.numbers)
	if rows == nil && (e.plan.Order.by == byNothing || e.plan.Limit == 0 || e.plan.Limit >= n) {
		return all, nil
	}
	if rows == nil { // they are in order
		for i := range e.plan.Limit {
			rows = append(rows, uint32(i))
		}
	}
	if e.plan.Limit > 0 {
		rows = rows[:min(len(rows), e.plan.Limit)]
	}
	p := e.newPiece(len(rows))
	p.rows = len(rows)
	if all.numbers != nil {
		p.numbers = make([]int64, len(rows))
		for i, r := range rows {
			p.numbers[i] = all.numbers[r]
		}
	}
	return p, e.eachColumn(p, func(of func(*piece) *builder) error {
		c := of(all).column()
		of(p).gather(&c, rows)
		return nil
	})
}

func columnsOf(bs []builder) []column.Column {
	cols := make([]column.Column, len(bs))
	for i := range bs {
		cols[i] = bs[i].column()
	}
	return cols
}

// concat concatenates all pieces.
func (e *emitter) concat(n int) (*piece, error) {
	all := e.newPiece(n)
	all.rows = n
	err := e.eachColumn(all, func(of func(*piece) *builder) error {
		to := of(all)
		for _, p := range e.pieces {
			c := of(p).column()
			if !to.fits(&c, 0, c.Len) {
				return tooLarge(len(to.text) + textSize(&c, 0, c.Len))
			}
			to.append(&c, 0, c.Len)
			*of(p) = builder{} // releases its memory
		}
		return nil
	})
	for i, p := range e.pieces {
		all.numbers = append(all.numbers, p.numbers...)
		e.pieces[i] = nil
	}
	return all, err
}

// inPlaces returns all pieces as one in the order of their numbers. Each group is written directly to its place. It
// returns nil if placesOf does.
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
		if to.isText() || to.elem != nil {
			return to.joinRows(e.pieces, of, places, n)
		}
		to.begin(to.typ)
		to.n, to.zeros, to.fixed = n, false, to.fixed[:(n*to.width+7)/8]
		for _, p := range e.pieces {
			if of(p).validity != nil && to.validity == nil {
				to.validity = make([]byte, (n+7)/8)
			}
		}
		for k, p := range e.pieces {
			c := of(p).column()
			to.spread(&c, places[k])
			*of(p) = builder{} // releases its memory
		}
		return nil
	})
	return all, err
}

// joinRows appends the text or lists of all pieces in the order of their places.
func (b *builder) joinRows(pieces []*piece, of func(*piece) *builder, places [][]uint32, n int) error {
	type row struct{ piece, row uint32 }
	rows := make([]row, n)
	cols := make([]column.Column, len(pieces))
	size := 0
	for k, p := range pieces {
		cols[k] = of(p).column()
		size += len(of(p).text)
		if elem := of(p).elem; elem != nil {
			size += max(elem.n, len(elem.text))
		}
		for i, at := range places[k] {
			rows[at] = row{uint32(k), uint32(i)}
		}
	}
	if size > maxText {
		return tooLarge(size)
	}
	if b.isText() {
		b.text = make([]byte, 0, size)
	}
	b.offsets = make([]int32, 1, n+1)
	for _, r := range rows {
		b.append(&cols[r.piece], int(r.row), int(r.row)+1)
	}
	return nil
}

// eachColumn calls f for each column of pieces like p, concurrently if they are large.
func (e *emitter) eachColumn(p *piece, f func(of func(*piece) *builder) error) error {
	var next atomic.Int64
	workers := 1
	if p.rows >= 1<<16 {
		workers = min(e.plan.Workers, len(p.keys)+len(p.values))
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
