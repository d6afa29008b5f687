// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"sort"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/encoder"
)

// Repetition and definition levels, computed from offsets and validity for pieces of rows of bounded size.
//
// A column chunk is a list of entries: one per value, and one per row, list or struct that ends without a value because
// it is NULL or empty. The definition level of an entry is how much of its path is present, the repetition level which
// list it continues (parquet-format, README.md, "Nested Encoding").

// A columnWriter encodes row groups, one after the other.
type columnWriter struct {
	fields    []*writeNode
	chunks    []*encoder.Chunk // by leaf
	pageBytes int
	// Memory that pieces reuse.
	steps  []levelEntries // by depth
	picks  []int
	values valueBuffers
}

// writeRows adds rows [from, to) of a batch to the row group.
func (w *columnWriter) writeRows(b *column.Batch, from, to int) error {
	for i, f := range w.fields {
		if err := w.writeColumn(f, &b.Columns[i], from, to); err != nil {
			return err
		}
	}
	return nil
}

// finish ends the row group and returns its column chunks.
func (w *columnWriter) finish() ([]*encoder.Encoded, error) {
	out := make([]*encoder.Encoded, len(w.chunks))
	for i, c := range w.chunks {
		var err error
		if out[i], err = c.Finish(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// levelEntries are the entries of a field: the levels of each so far, and its index among the values of the field, -1
// if an enclosing field is NULL or empty.
type levelEntries struct {
	def, rep []int16
	at       []int
}

// step returns the entries of a depth, emptied.
func (w *columnWriter) step(depth int) *levelEntries {
	for len(w.steps) <= depth {
		w.steps = append(w.steps, levelEntries{})
	}
	e := &w.steps[depth]
	e.def, e.rep, e.at = e.def[:0], e.rep[:0], e.at[:0]
	return e
}

// size returns the bytes of values of rows [from, to), with four for each offset. It is at least the number of
// entries of each leaf.
func (n *writeNode) size(c *column.Column, from, to int) int {
	rows := to - from
	if rows == 0 {
		return 0 // without rows there are no offsets
	}
	switch k := c.Type.Kind; {
	case k == column.Struct:
		size := 0
		for i, kid := range n.children {
			size += kid.size(&c.Children[i], from, to)
		}
		return size
	case k.IsList():
		size := 4 * rows
		for i, kid := range n.children {
			size += kid.size(&c.Children[i], int(c.Offsets[from]), int(c.Offsets[to]))
		}
		return size
	case k == column.Vector:
		return rows * (c.Type.ValueWidth() + 4)
	case c.Dict != nil:
		text, _ := c.Dict.Buffers()
		return rows * (4 + len(text)/max(1, c.Dict.Len()))
	case k.IsText():
		return 4*rows + int(c.Offsets[to]-c.Offsets[from])
	default:
		return rows * c.Type.ValueWidth()
	}
}

// cutRows returns the greatest number of rows up to most whose size is within a limit. size must not decrease with n.
func cutRows(most, limit int, size func(n int) int) int {
	if size(most) <= limit {
		return most
	}
	return max(0, sort.Search(most, func(n int) bool { return size(n) > limit })-1)
}

// writeColumn writes rows [from, to) of a column, in pieces of a quarter of a page.
func (w *columnWriter) writeColumn(n *writeNode, c *column.Column, from, to int) error {
	limit := w.pageBytes / 4
	for from < to {
		rows := max(1, cutRows(to-from, limit, func(rows int) int { return n.size(c, from, from+rows) }))
		var err error
		switch {
		case n.field.Type.Kind == column.Vector:
			err = w.writeMatrix(n, c, from, from+rows)
		case n.children == nil:
			err = w.writeFlat(n, c, from, from+rows)
		default:
			e := w.step(0)
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

// errNull returns the error of a NULL in a field that is not nullable.
func (n *writeNode) errNull(i int) error {
	return fmt.Errorf("%s: value %d is NULL, but the schema does not allow NULLs", n.path, i)
}

// checkNulls returns an error if a row in [from, to) is NULL in a field that is not nullable.
func (n *writeNode) checkNulls(c *column.Column, from, to int) error {
	if c.Nulls > 0 && !n.field.Nullable {
		for i := from; i < to; i++ {
			if c.Null(i) {
				return n.errNull(i)
			}
		}
	}
	return nil
}

// writeFlat writes rows of a scalar.
func (w *columnWriter) writeFlat(n *writeNode, c *column.Column, from, to int) error {
	rows, out := to-from, w.chunks[n.leaf]
	if err := n.checkNulls(c, from, to); err != nil {
		return err
	}
	if c.Nulls == 0 || !n.field.Nullable {
		if n.field.Nullable {
			out.Def.Run(1, rows)
		}
		return w.writeValues(n, c, from, rows, nil, rows, rows)
	}
	picks := w.picks[:0]
	for i := from; i < to; {
		end, valid := i, c.Validity[i>>3]>>(i&7)&1 // of rows that are alike
		for ; end < to && c.Validity[end>>3]>>(end&7)&1 == valid; end++ {
			if valid != 0 {
				picks = append(picks, end)
			}
		}
		out.Def.Run(uint32(valid), end-i)
		i = end
	}
	w.picks = picks
	return w.writeValues(n, c, from, len(picks), picks, rows, rows)
}

// writeValues writes count values of a leaf, those at picks, or from first on if picks is nil, and ends the piece.
func (w *columnWriter) writeValues(n *writeNode, c *column.Column, first, count int, picks []int,
	entries, rows int,
) error {
	out := w.chunks[n.leaf]
	if count > 0 {
		s := valueSource{column: c, first: first, count: count, picks: picks}
		if err := s.writeValues(n, out, &w.values); err != nil {
			return fmt.Errorf("%s: %w", n.path, err)
		}
	}
	if err := out.End(entries, rows); err != nil {
		return fmt.Errorf("%s: %w", n.path, err)
	}
	return nil
}

// writeMatrix writes rows of a vector.
func (w *columnWriter) writeMatrix(n *writeNode, c *column.Column, from, to int) error {
	if err := n.checkNulls(c, from, to); err != nil {
		return err
	}
	out, dim, width, entries := w.chunks[n.leaf], c.Type.Dim, c.Type.ValueWidth(), 0
	for i := from; i < to; {
		end := i + 1 // of rows that are alike
		for end < to && c.Null(end) == c.Null(i) {
			end++
		}
		rows := end - i
		switch {
		case c.Null(i):
			out.Def.Run(0, rows)
			out.Rep.Run(0, rows)
			entries += rows
		case dim == 0:
			out.Def.Run(uint32(n.def), rows)
			out.Rep.Run(0, rows)
			entries += rows
		default:
			out.Def.Run(uint32(n.def)+1, rows*dim)
			for range rows {
				out.Rep.Run(0, 1)
				out.Rep.Run(1, dim-1)
			}
			out.PutFixed(c.Values[i*width : end*width])
			entries += rows * dim
		}
		i = end
	}
	return w.writeValues(n, c, 0, 0, nil, entries, to-from)
}

// withNulls returns the entries of the values of a field: NULLs have a lower definition level.
func (w *columnWriter) withNulls(n *writeNode, c *column.Column, e *levelEntries, depth int) (*levelEntries, error) {
	if n.field.Nullable {
		t := w.step(depth)
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
		return t, nil
	}
	if c.Nulls > 0 {
		for _, at := range e.at {
			if at >= 0 && c.Null(at) {
				return nil, n.errNull(at)
			}
		}
	}
	return e, nil
}

// writeEntries writes a nested field; e has its entries with the levels of the enclosing fields.
func (w *columnWriter) writeEntries(n *writeNode, c *column.Column, e *levelEntries, depth int) error {
	depth++
	e, err := w.withNulls(n, c, e, depth)
	if err != nil {
		return err
	}
	switch n.field.Type.Kind {
	case column.List, column.Map:
		depth++
		t := w.step(depth)
		t.expand(e, n.rep+1, func(at int) (int, int) { return int(c.Offsets[at]), int(c.Offsets[at+1]) })
		e = t
	case column.Vector:
		depth++
		t := w.step(depth)
		t.expand(e, n.rep+1, func(at int) (int, int) { return at * c.Type.Dim, (at + 1) * c.Type.Dim })
		e = t
	}
	for i, kid := range n.children {
		if err := w.writeEntries(kid, &c.Children[i], e, depth); err != nil {
			return err
		}
	}
	if n.leaf < 0 {
		return nil
	}
	return w.writeLeaf(n, c, e)
}

// writeLeaf writes the levels and the values of a nested leaf.
func (w *columnWriter) writeLeaf(n *writeNode, c *column.Column, e *levelEntries) error {
	picks := w.picks[:0]
	for _, at := range e.at {
		if at >= 0 {
			picks = append(picks, at)
		}
	}
	w.picks = picks
	first, count := 0, len(picks)
	if count > 0 && picks[count-1]-picks[0] == count-1 { // picks ascend, so this is one run
		first, picks = picks[0], nil
	}
	out := w.chunks[n.leaf]
	if n.column.MaxDef > 0 {
		out.Def.Append(e.def)
	}
	if n.column.MaxRep > 0 {
		out.Rep.Append(e.rep)
	}
	return w.writeValues(n, c, first, count, picks, len(e.def), len(w.steps[0].at))
}

// expand appends an entry for each element of a list, and one for each NULL or empty list. rep is the repetition level
// of the second and later elements.
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
