// SPDX-License-Identifier: Apache-2.0

package arrowcolumn

import (
	"fmt"
	"math"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/bitmap"
)

// Conversion of record batches to batches: columns with children, and rows that share values.

// maxExpanded bounds the rows of types without memory per row: a few bytes of an array could claim any number.
const maxExpanded = 1 << 26

// fields reads the fields of a struct.
func (r *converter) fields(c column.Column, f column.Field, t *arrow.StructType, s span) (column.Column, error) {
	c.Children = make([]column.Column, len(f.Fields))
	for i, field := range f.Fields {
		rows, err := s.child(i)
		if err == nil {
			rows, err = rows.slice(s.from, s.n)
		}
		if err == nil {
			c.Children[i], err = r.column(field, t.Field(i).Type, rows)
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", field.Name, err)
		}
	}
	return c, nil
}

// fixedList reads lists of fixed size.
func (r *converter) fixedList(c column.Column, f column.Field, t *arrow.FixedSizeListType,
	s span,
) (column.Column, error) {
	elements, err := s.child(0)
	if err != nil {
		return c, err
	}
	dim := max(0, int(t.Len()))
	if dim > 0 && (s.n > elements.n/dim || s.from > elements.n/dim) {
		return c, malformed("%d rows of %d elements from %d on, of %d elements", s.n, dim, s.from, elements.n)
	}
	if elements, err = elements.slice(s.from*dim, s.n*dim); err != nil {
		return c, err
	}
	element := elementOf(f)
	e, err := r.column(element, t.Elem(), elements)
	if err != nil {
		return c, fmt.Errorf("%s: %w", element.Name, err)
	}
	if f.Type.Kind == column.Vector && !nullElement(&c, &e, dim) {
		c.Values = e.Values
		return c, nil
	}
	if s.n*dim > math.MaxInt32 || dim == 0 && s.n > maxExpanded {
		return c, fmt.Errorf("%w: %d lists of %d", column.ErrTooLarge, s.n, dim)
	}
	c.Type, c.Offsets, c.Children = column.Type{Kind: column.List}, make([]int32, s.n+1), []column.Column{e}
	for i := range c.Offsets {
		c.Offsets[i] = int32(i * dim)
	}
	return c, nil
}

// elementOf returns the field of the elements of a Vector or List.
func elementOf(f column.Field) column.Field {
	if f.Type.Kind == column.Vector {
		return column.Field{Name: column.ElementName, Type: column.Type{Kind: f.Type.Elem}}
	}
	return f.Fields[0]
}

// nullElement reports whether an element is NULL in a row that is not.
func nullElement(c, elements *column.Column, dim int) bool {
	for i := 0; i < elements.Len && elements.Nulls > 0; i++ {
		if elements.Null(i) && !c.Null(i/dim) {
			return true
		}
	}
	return false
}

// list reads lists, list views and maps.
func (r *converter) list(c column.Column, f column.Field, t arrow.ListLikeType, s span) (column.Column, error) {
	elements, err := s.child(0)
	if err != nil {
		return c, err
	}
	// part is the range of elements that the rows use. rows are the elements of the rows, counted from part[0]; nil
	// means all of part in order.
	var part [2]int
	var rows []int32
	switch t.ID() {
	case arrow.LIST, arrow.MAP:
		if c.Offsets, err = offsetsOf[int32](s, elements.n); err == nil {
			if part = partOf(c.Offsets); part[0] > 0 {
				c.Offsets, err = rebased(c.Offsets)
			}
		}
	case arrow.LARGE_LIST:
		var offsets []int64
		if offsets, err = offsetsOf[int64](s, elements.n); err == nil {
			part = partOf(offsets)
			c.Offsets, err = rebased(offsets)
		}
	case arrow.LIST_VIEW:
		part, rows, err = views(&c, arrow.INT32, s, elements.n)
	default:
		part, rows, err = views(&c, arrow.INT64, s, elements.n)
	}
	if err != nil {
		return c, err
	}
	if elements, err = elements.slice(part[0], part[1]-part[0]); err != nil {
		return c, err
	}
	if entries, ok := t.Elem().(*arrow.StructType); ok && c.Type.Kind == column.Map {
		if c, err = r.fields(c, f, entries, elements); err == nil && c.Children[0].Nulls > 0 {
			err = malformed("%d keys are NULL", c.Children[0].Nulls)
		}
		return c, err
	}
	element := elementOf(f)
	e, err := r.column(element, t.Elem(), elements)
	if err == nil && rows != nil {
		e, err = take(&e, nil, rows)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", element.Name, err)
	}
	c.Children = []column.Column{e}
	if f.Type.Kind == column.Vector {
		return vectorOf(c)
	}
	return c, nil
}

func partOf[T int32 | int64](offsets []T) [2]int {
	return [2]int{int(offsets[0]), int(offsets[len(offsets)-1])}
}

// views reads the offsets and sizes of list views as offsets. part is the range of elements that the views use. rows
// are the elements of the views in order, counted from part[0]; nil means all of part in order.
func views(c *column.Column, id arrow.Type, s span, end int) (part [2]int, rows []int32, err error) {
	starts, err := integersOf(s, 1, id)
	if err != nil {
		return part, nil, err
	}
	sizes, err := integersOf(s, 2, id)
	if err != nil {
		return part, nil, err
	}
	c.Offsets = make([]int32, 1, s.n+1)
	total, inOrder, first := 0, true, true
	for i := range s.n {
		if !c.Null(i) && sizes[i] != 0 {
			at, size := int(starts[i]), int(sizes[i])
			if at < 0 || size < 0 || at > end || size > end-at {
				return part, nil, malformed("row %d: %d elements from %d on, of %d", i, size, at, end)
			}
			if first {
				part, first = [2]int{at, at}, false
			}
			inOrder = inOrder && at == part[1]
			part = [2]int{min(part[0], at), max(part[1], at+size)}
			if total += size; total > math.MaxInt32 || total > end && total > maxExpanded {
				return part, nil, fmt.Errorf("%w: elements of list views", column.ErrTooLarge)
			}
		}
		c.Offsets = append(c.Offsets, int32(total))
	}
	if inOrder {
		return part, nil, nil
	}
	if part[1]-part[0] > math.MaxInt32 {
		return part, nil, fmt.Errorf("%w: elements of list views", column.ErrTooLarge)
	}
	rows = make([]int32, 0, total)
	for i := range s.n {
		for k := range int(c.Offsets[i+1] - c.Offsets[i]) {
			rows = append(rows, int32(int(starts[i])-part[0]+k))
		}
	}
	return part, rows, nil
}

// vectorOf converts lists of equal length to vectors. It returns lists that differ in length or have a NULL element
// unchanged.
func vectorOf(list column.Column) (column.Column, error) {
	c, e := list, list.Children[0]
	list.Type = column.Type{Kind: column.List}
	dim := -1
	for i := range c.Len {
		from, to := c.Elements(i)
		if c.Null(i) {
			continue
		}
		if dim >= 0 && to-from != dim {
			return list, nil
		}
		dim = to - from
	}
	dim = max(dim, 0)
	if !evenly(c.Offsets, dim) {
		if c.Len > math.MaxInt32/max(dim, 1) {
			return c, fmt.Errorf("%w: %d vectors of %d", column.ErrTooLarge, c.Len, dim)
		}
		elements := make([]int32, c.Len*dim) // NULLs take any element
		for i := range elements {
			if row := i / dim; !c.Null(row) {
				elements[i] = c.Offsets[row] + int32(i%dim)
			}
		}
		var err error
		if e, err = take(&e, nil, elements); err != nil {
			return c, err
		}
	}
	if nullElement(&c, &e, dim) {
		return list, nil
	}
	c.Type, c.Offsets, c.Children, c.Values = column.VectorOf(c.Type.Elem, dim), nil, nil, e.Values
	return c, nil
}

// evenly reports whether offsets, which begin at 0, are the offsets of rows of dim elements.
func evenly(offsets []int32, dim int) bool {
	for i, o := range offsets {
		if int(o) != i*dim {
			return false
		}
	}
	return true
}

// runs reads run-end encoded rows (Arrow Columnar Format, "Run-End Encoded Layout").
func (r *converter) runs(f column.Field, t *arrow.RunEndEncodedType, s span) (c column.Column, err error) {
	if s.n > maxExpanded {
		return c, fmt.Errorf("%w: %d rows of runs", column.ErrTooLarge, s.n)
	}
	ends, err := s.child(0)
	if err != nil {
		return c, err
	}
	values, err := s.child(1)
	if err != nil {
		return c, err
	}
	runEnds, err := integersOf(ends, 1, t.RunEnds().ID())
	if err != nil {
		return c, err
	}
	rows, first, err := runsOf(runEnds, s.from, s.n)
	if err != nil {
		return c, err
	}
	n := 0
	if s.n > 0 {
		n = int(rows[s.n-1]) + 1
	}
	if values, err = values.slice(first, n); err != nil {
		return c, err
	}
	if c, err = r.column(f, t.Encoded(), values); err != nil {
		return c, err
	}
	return take(&c, nil, rows)
}

// runsOf returns the run of each of n rows, from row from on, counted from run first.
func runsOf(ends []int64, from, n int) (rows []int32, first int, err error) {
	first = sort.Search(len(ends), func(i int) bool { return ends[i] > int64(from) })
	rows = make([]int32, 0, n)
	for run := first; len(rows) < n; run++ {
		if run >= len(ends) || ends[run]-int64(from) <= int64(len(rows)) {
			return nil, 0, malformed("row %d is in no run", from+len(rows))
		}
		for end := ends[run] - int64(from); len(rows) < n && int64(len(rows)) < end; {
			rows = append(rows, int32(run-first))
		}
	}
	return rows, first, nil
}

// take returns rows of a column in any order; -1 is NULL. Text becomes codes of dict, or of a new dictionary if dict is
// nil.
func take(c *column.Column, dict *column.Dictionary, rows []int32) (column.Column, error) {
	out := column.Column{Name: c.Name, Type: c.Type, Len: len(rows), Dict: c.Dict}
	out = out.WithValidity(takeValidity(c, rows))
	switch kind := c.Type.Kind; {
	case kind == column.Struct || kind == column.Tuple:
		err := takeChildren(&out, c, rows)
		return out, err
	case kind.IsList():
		elements, err := takeElements(&out, c, rows)
		if err == nil {
			err = takeChildren(&out, c, elements)
		}
		return out, err
	case kind.IsText() && c.Dict == nil:
		if out.Dict = dict; dict == nil {
			out.Dict = column.NewDictionary(c.Values, c.Offsets)
		}
		codes := make([]uint32, len(rows))
		for i, row := range rows {
			codes[i] = uint32(max(row, 0))
		}
		out.Values = bytesOf(codes)
		return out, nil
	}
	width := c.Type.ValueWidth()
	if c.Dict != nil {
		width = 4
	}
	if len(rows) > math.MaxInt32/max(width, 1) {
		return out, fmt.Errorf("%w: %d rows of %d bytes", column.ErrTooLarge, len(rows), width)
	}
	out.Values = make([]byte, len(rows)*width)
	for i, row := range rows {
		if row >= 0 {
			copy(out.Values[i*width:(i+1)*width], c.Values[int(row)*width:])
		}
	}
	return out, nil
}

func takeValidity(c *column.Column, rows []int32) []byte {
	bits := make([]byte, (len(rows)+7)/8)
	for i, row := range rows {
		if row >= 0 && !c.Null(int(row)) {
			bitmap.Set(bits, i, 1)
		}
	}
	return bits
}

func takeChildren(out, c *column.Column, rows []int32) (err error) {
	out.Children = make([]column.Column, len(c.Children))
	for k := range c.Children {
		if out.Children[k], err = take(&c.Children[k], nil, rows); err != nil {
			return err
		}
	}
	return nil
}

// takeElements sets the offsets of out, and returns the elements of the rows in order.
func takeElements(out, c *column.Column, rows []int32) ([]int32, error) {
	out.Offsets = make([]int32, 1, len(rows)+1)
	total := 0
	for _, row := range rows {
		if row >= 0 {
			from, to := c.Elements(int(row))
			total += to - from
		}
		if total > maxExpanded && total > c.Children[0].Len {
			return nil, fmt.Errorf("%w: elements of rows that share values", column.ErrTooLarge)
		}
		out.Offsets = append(out.Offsets, int32(total))
	}
	elements := make([]int32, 0, total)
	for _, row := range rows {
		if row >= 0 {
			for from, to := c.Elements(int(row)); from < to; from++ {
				elements = append(elements, int32(from))
			}
		}
	}
	return elements, nil
}
