// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"slices"

	"github.com/vecql/vecql/column"
)

// Dictionaries: an expression on one text column is evaluated once per entry of the column's dictionary, and once for
// NULL. If an entry fails, the rows are evaluated one by one, because perhaps no row has that entry.

// textColumn returns the only column below a term if it is a text, and the term is more than that column.
func textColumn(t *term) (int, bool) {
	index, found := -1, t.op != opColumn
	var walk func(t *term)
	walk = func(t *term) {
		if t.op == opColumn {
			found = found && (index < 0 || index == t.index) && (t.typ.Kind == column.String || t.typ.Kind == column.Binary)
			index = t.index
		}
		for _, a := range t.args {
			walk(a)
		}
	}
	walk(t)
	return index, found && index >= 0
}

// An entries evaluates a term on a dictionary. One row more than the entries is NULL.
type entries struct {
	b      *block  // of the rows
	s      *source // of the rows
	block  block   // of the entries
	column column.Column
	done   *column.Dictionary // the dictionary of the last evaluation, or the one that is counted
	state  int
	seen   int // rows evaluated with this dictionary
}

const (
	entriesUnknown = iota
	entriesReady
	entriesFailed
)

// newEntries returns the entries of a column, and builders of lanes for them and for the rows.
func newEntries(b *builder, index int) (e *entries, inner, rows *builder) {
	e = &entries{b: b.block, s: b.sources[index]}
	sources := make([]*source, len(b.sources))
	sources[index] = &source{field: e.s.field, column: &e.column}
	inner = newBuilder(&e.block, sources)
	rows = newBuilder(b.block, b.sources)
	inner.inDict, rows.inDict = true, true
	return e, inner, rows
}

// ready reports whether the results of all entries exist. It evaluates them, block by block, by run. It waits until as
// many rows were seen as there are entries, so that a large dictionary costs at most as much as its rows.
func (e *entries) ready(rows []int32, run func() error) bool {
	d := e.s.column.Dict
	if d == nil {
		return false
	}
	if d != e.done {
		e.done, e.state, e.seen = d, entriesUnknown, 0
	}
	if e.state != entriesUnknown {
		return e.state == entriesReady
	}
	if e.seen += len(rows); d.Len() > max(e.seen, e.s.column.Len) {
		return false
	}
	e.state = entriesReady
	e.fill(d)
	for e.block.lo = 0; e.block.lo < e.column.Len; e.block.lo += blockRows {
		e.block.move(e.block.lo, e.column.Len)
		if run() != nil {
			e.state = entriesFailed
			break
		}
	}
	e.column = column.Column{}
	e.block.forget()
	return e.state == entriesReady
}

// fill makes the column of the entries and of NULL.
func (e *entries) fill(d *column.Dictionary) {
	bytes, offsets := d.Buffers()
	n := d.Len()
	valid := slices.Repeat([]byte{0xff}, n/8+1)
	valid[n>>3] &^= 1 << (n & 7)
	e.column = column.Column{
		Name: e.s.field.Name, Type: e.s.field.Type, Len: n + 1, Nulls: 1, Validity: valid, Values: bytes,
		Offsets: append(slices.Clone(offsets), offsets[n]),
	}
}

// codes returns the entries of the rows of the block, their validity, and the entry of NULL.
func (e *entries) codes() (codes []uint32, valid []byte, null uint32) {
	return view[uint32](e.s.column)[e.b.lo : e.b.lo+e.b.n], e.s.bits(e.b), uint32(e.done.Len())
}

// An entryLane is a lane that looks its values up by the codes of a column with a dictionary.
type entryLane[T any] struct {
	*entries
	inner lane[T] // on entries
	rows  lane[T] // on rows
	table []T
	kept  []byte             // validity of table
	null  bool               // the table has NULLs
	texts *column.Dictionary // of the table of an entryLane[string], made when it is needed
	out   []T
	valid [blockRows / 8]byte
}

// perEntry returns an entryLane if the term depends on one text column only, otherwise nil.
func perEntry[T any](b *builder, t *term, build func(*builder, *term) lane[T]) lane[T] {
	index, ok := textColumn(t)
	if !ok || b.inDict {
		return nil
	}
	e, inner, plain := newEntries(b, index)
	return &entryLane[T]{entries: e, inner: build(inner, t), rows: build(plain, t), out: room[T](b.block)}
}

// eval returns the results of the entries of rows, or computes the rows.
func (l *entryLane[T]) eval(rows []int32) (vec[T], error) {
	if !l.ready(rows, l.run) {
		return l.rows.eval(rows)
	}
	codes, valid, null := l.codes()
	if valid == nil {
		for _, r := range rows {
			l.out[r] = l.table[codes[r]]
		}
		if !l.null {
			return vec[T]{l.out[:l.b.n], nil}, nil
		}
	}
	clear(l.valid[:])
	for _, r := range rows {
		code := null
		if valid == nil || valid[r>>3]>>(r&7)&1 == 1 {
			code = codes[r]
		}
		l.out[r] = l.table[code]
		l.valid[r>>3] |= l.kept[code] << (r & 7)
	}
	return vec[T]{l.out[:l.b.n], l.valid[:(l.b.n+7)/8]}, nil
}

// run evaluates a block of entries.
func (l *entryLane[T]) run() error {
	b := &l.block
	if b.lo == 0 {
		l.table, l.kept, l.null, l.texts = l.table[:0], l.kept[:0], false, nil
	}
	v, err := l.inner.eval(identity[:b.n])
	if err != nil {
		return err
	}
	l.table = append(l.table, v.values[:b.n]...)
	for i := range b.n {
		kept := byte(1)
		if v.valid != nil {
			kept = v.valid[i>>3] >> (i & 7) & 1
		}
		l.kept = append(l.kept, kept)
		l.null = l.null || kept == 0 && b.lo+i < l.done.Len()
	}
	return nil
}

// codes makes a column of all rows of the batch, whose entries are the results; false if they do not exist.
func (e *textEmitter) codes(dst *column.Column) bool {
	l, ok := e.arg.(*entryLane[string])
	if !ok || !l.ready(nil, l.run) {
		return false
	}
	if l.texts == nil {
		texts := column.Strings("", l.table)
		l.texts = column.NewDictionary(texts.Values, texts.Offsets)
	}
	c, null := l.s.column, uint32(l.done.Len())
	valid := make([]byte, (c.Len+7)/8)
	out := make([]uint32, c.Len)
	for i, code := range view[uint32](c)[:c.Len] {
		if c.Null(i) {
			code = null
		}
		out[i] = code
		valid[i>>3] |= l.kept[code] << (i & 7)
	}
	*dst = column.Codes(dst.Name, out, l.texts).WithValidity(valid)
	return true
}

// An entryFilter is a filter that looks its results up by the codes of a column with a dictionary.
type entryFilter struct {
	*entries
	inner filter // on entries
	rows  filter // on rows
	table []byte // 1 of entries that are kept
	kept  [blockRows]int32
}

// filterPerEntry returns an entryFilter if the predicate depends on one text column only, otherwise nil.
func (b *builder) filterPerEntry(t *term, not bool) filter {
	index, ok := textColumn(t)
	if !ok || b.inDict {
		return nil
	}
	e, inner, plain := newEntries(b, index)
	return &entryFilter{entries: e, inner: inner.filter(t, not), rows: plain.filter(t, not)}
}

// keep looks rows up in the results of the entries, or evaluates the rows.
func (f *entryFilter) keep(rows, out []int32) ([]int32, error) {
	if !f.ready(rows, f.run) {
		return f.rows.keep(rows, out)
	}
	codes, valid, null := f.codes()
	k, table := 0, f.table
	if valid == nil {
		for _, r := range rows {
			out[k] = r
			k += int(table[codes[r]])
		}
		return out[:k], nil
	}
	for _, r := range rows {
		code := null
		if valid[r>>3]>>(r&7)&1 == 1 {
			code = codes[r]
		}
		out[k] = r
		k += int(table[code])
	}
	return out[:k], nil
}

// run evaluates a block of entries.
func (f *entryFilter) run() error {
	b := &f.block
	if b.lo == 0 {
		f.table = append(f.table[:0], make([]byte, f.column.Len)...)
	}
	kept, err := f.inner.keep(identity[:b.n], f.kept[:])
	for _, r := range kept {
		f.table[b.lo+int(r)] = 1
	}
	return err
}
