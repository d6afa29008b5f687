// SPDX-License-Identifier: Apache-2.0

package parquetscan

import "fmt"

// This file computes repetition and definition levels from offsets and validity, and cuts rows into pieces of a bounded size for it.
//
// A column chunk is a list of entries: one per value, and one per row, list or struct that ends without a value because it is NULL or
// empty. The definition level of an entry says how much of its path is there, the repetition level which list it goes on (parquet-format,
// README.md, "Nested Encoding").

// A writeBuffers is memory that is used again from one piece to the next.
type writeBuffers struct {
	steps  []levelEntries // by depth
	def    []int16
	rep    []int16
	picks  []int
	same   [][]int16 // by level: that level, over and over
	values valueBuffers
}

// levelEntries are those of a field: for each its levels so far, and which value of the field it is, -1 if it has ended above.
type levelEntries struct {
	def, rep []int16
	at       []int
}

// step returns the empty entries of a depth.
func (b *writeBuffers) step(depth int) *levelEntries {
	for len(b.steps) <= depth {
		b.steps = append(b.steps, levelEntries{})
	}
	e := &b.steps[depth]
	e.def, e.rep, e.at = e.def[:0], e.rep[:0], e.at[:0]
	return e
}

// levels returns n times the same level.
func (b *writeBuffers) levels(level int16, n int) []int16 {
	for len(b.same) <= int(level) {
		b.same = append(b.same, nil)
	}
	s := b.same[level]
	for len(s) < n {
		s = append(s, level)
	}
	b.same[level] = s
	return s[:n]
}

// size returns the bytes of values of rows from and up to to, with four for each offset. It is at least the number of entries of any of its
// leaves.
func (n *writeNode) size(c *Column, from, to int) int {
	rows := to - from
	switch k := c.Type.Kind; {
	case k == Struct:
		size := 0
		for i, kid := range n.children {
			size += kid.size(&c.children[i], from, to)
		}
		return size
	case k == List || k == Map:
		size := 4 * rows
		for i, kid := range n.children {
			size += kid.size(&c.children[i], int(c.offsets[from]), int(c.offsets[to]))
		}
		return size
	case k == Vector:
		return rows * (c.dim*c.Type.width() + 4)
	case c.dict != nil:
		return rows * (4 + len(c.dict.data)/max(1, c.dict.Len()))
	case k.text():
		return 4*rows + int(c.offsets[to]-c.offsets[from])
	default:
		return rows * c.Type.width()
	}
}

// writeColumn writes rows from and up to to of a column, in pieces of a quarter of a page.
func (w *Writer) writeColumn(n *writeNode, c *Column, from, to int) error {
	limit := w.options.PageBytes / 4
	for from < to {
		rows := max(1, cutRows(to-from, limit, func(rows int) int { return n.size(c, from, from+rows) }))
		var err error
		switch {
		case n.field.Type.Kind == Vector:
			err = w.writeMatrix(n, c, from, from+rows)
		case n.children == nil:
			err = w.writeFlat(n, c, from, from+rows)
		default:
			e := w.buffers.step(0)
			for i := range rows {
				e.def, e.rep, e.at = append(e.def, 0), append(e.rep, 0), append(e.at, from+i)
			}
			err = w.writeEntries(n, c, e, 0)
		}
		if err != nil {
			return fmt.Errorf("column %w", err)
		}
		from += rows
	}
	return nil
}

// errNull is the error of a NULL where the schema has none.
func (n *writeNode) errNull(i int) error {
	return fmt.Errorf("%s: value %d is NULL, which it can not be", n.path, i)
}

// writeFlat writes rows of a scalar.
func (w *Writer) writeFlat(n *writeNode, c *Column, from, to int) error {
	rows := to - from
	if !n.field.Nullable {
		if c.nulls > 0 {
			for i := from; i < to; i++ {
				if c.Null(i) {
					return n.errNull(i)
				}
			}
		}
		return w.writeValues(n, c, from, rows, nil, nil, nil)
	}
	if c.nulls == 0 {
		return w.writeValues(n, c, from, rows, nil, w.buffers.levels(1, rows), nil)
	}
	def, picks := w.buffers.def[:0], w.buffers.picks[:0]
	for i := from; i < to; i++ {
		valid := c.validity[i>>3] >> (i & 7) & 1
		def = append(def, int16(valid))
		if valid != 0 {
			picks = append(picks, i)
		}
	}
	w.buffers.def, w.buffers.picks = def, picks
	return w.writeValues(n, c, from, len(picks), picks, def, nil)
}

// writeMatrix writes rows of a vector. Its levels are the same for all rows but NULLs.
func (w *Writer) writeMatrix(n *writeNode, c *Column, from, to int) error {
	rows, dim := to-from, c.dim
	if c.nulls > 0 && !n.field.Nullable {
		for i := from; i < to; i++ {
			if c.Null(i) {
				return n.errNull(i)
			}
		}
	}
	elements := n.def + 1 // the level of an element that is there
	if c.nulls == 0 && dim > 0 {
		if len(n.pattern) < rows*dim {
			n.pattern = n.pattern[:0]
			for range rows {
				n.pattern = append(append(n.pattern, 0), w.buffers.levels(1, dim-1)...)
			}
		}
		return w.writeValues(n, c, from*dim, rows*dim, nil, w.buffers.levels(elements, rows*dim), n.pattern[:rows*dim])
	}
	def, rep, picks := w.buffers.def[:0], w.buffers.rep[:0], w.buffers.picks[:0]
	present, going := w.buffers.levels(elements, dim), w.buffers.levels(1, max(0, dim-1))
	for i := from; i < to; i++ {
		rep = append(rep, 0)
		switch {
		case c.Null(i):
			def = append(def, 0)
		case dim == 0:
			def = append(def, n.def)
		default:
			def, rep = append(def, present...), append(rep, going...)
			picks = append(picks, i)
		}
	}
	w.buffers.def, w.buffers.rep, w.buffers.picks = def, rep, picks
	return w.writeRowsOf(n, c, picks, def, rep)
}

// writeEntries writes a field within columns, of which e says the levels so far.
func (w *Writer) writeEntries(n *writeNode, c *Column, e *levelEntries, depth int) error {
	if n.field.Nullable {
		depth++
		t := w.buffers.step(depth)
		t.rep = append(t.rep, e.rep...)
		for i, at := range e.at {
			def := e.def[i]
			switch {
			case at < 0:
			case c.Null(at):
				at = -1
			default:
				def++
			}
			t.def, t.at = append(t.def, def), append(t.at, at)
		}
		e = t
	} else if c.nulls > 0 {
		for _, at := range e.at {
			if at >= 0 && c.Null(at) {
				return n.errNull(at)
			}
		}
	}
	switch n.field.Type.Kind {
	case List, Map:
		depth++
		t := w.buffers.step(depth)
		t.expand(e, n.rep+1, func(at int) (int, int) { return int(c.offsets[at]), int(c.offsets[at+1]) })
		e = t
	case Vector:
		depth++
		t := w.buffers.step(depth)
		t.expand(e, n.rep+1, func(at int) (int, int) { return at * c.dim, (at + 1) * c.dim })
		e = t
	}
	for i, kid := range n.children {
		if err := w.writeEntries(kid, &c.children[i], e, depth); err != nil {
			return err
		}
	}
	if n.leaf < 0 {
		return nil
	}
	picks := w.buffers.picks[:0]
	for _, at := range e.at {
		if at >= 0 {
			picks = append(picks, at)
		}
	}
	w.buffers.picks = picks
	first, count := 0, len(picks)
	if count > 0 && picks[count-1]-picks[0] == count-1 { // they ascend: one run
		first, picks = picks[0], nil
	}
	return w.writeValues(n, c, first, count, picks, e.def, e.rep)
}

// expand adds the elements of lists that are there, and the entries of those that are not, or are empty. rep is the level of elements that
// go on a list.
func (t *levelEntries) expand(e *levelEntries, rep int16, bounds func(at int) (from, to int)) {
	for i, at := range e.at {
		def, first := e.def[i], e.rep[i]
		from, to := 0, 0
		if at >= 0 {
			from, to = bounds(at)
		}
		if from == to {
			t.def, t.rep, t.at = append(t.def, def), append(t.rep, first), append(t.at, -1)
			continue
		}
		for k := from; k < to; k++ {
			t.def, t.rep, t.at = append(t.def, def+1), append(t.rep, first), append(t.at, k)
			first = rep
		}
	}
}
