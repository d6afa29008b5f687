// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/bitmap"
	"github.com/vecql/vecql/internal/swap"
)

// Cells of a page to columns: one pass over the page, row by row, each cell directly into its column. column_nested.go
// decodes composite types.

// A ColumnPlan decodes the pages of one result into columns. It is immutable and may be used by any number of
// goroutines.
type ColumnPlan struct {
	infos []cql.ColumnInfo
	nodes []decodeNode
	pool  sync.Pool // of *[]target
}

// NewColumnPlan returns the plan for a result with these columns.
func NewColumnPlan(infos []cql.ColumnInfo) *ColumnPlan {
	p := &ColumnPlan{infos: infos, nodes: make([]decodeNode, len(infos))}
	for i, info := range infos {
		p.nodes[i] = newDecodeNode(ColumnField(info.Name, info.TypeInfo), info.TypeInfo)
	}
	p.pool.New = func() any { t := make([]target, len(infos)); return &t }
	return p
}

// A step is the operation that decodes a cell in the loop over a page.
type step uint8

const (
	stepNested step = iota // by the column's decodeNode
	stepText               // any bytes
	step1
	step2
	step4
	step8
	step16
	stepBool
	stepDate
	stepVector4
	stepVector8
	stepVector16
	stepStream4 // stepVector4 and stepVector8 into columns larger than the caches
	stepStream8
)

// streamFrom is the minimum size of a vector column whose stores bypass the caches. From 4 MiB on, bypassing is a
// quarter faster (BenchmarkScan), and a later loop over the column would not find it in the cache anyway.
const streamFrom = 4 << 20

var steps = [...]step{
	column.Bool: stepBool, column.Int8: step1, column.Int16: step2, column.Int32: step4, column.Int64: step8,
	column.Float32: step4, column.Float64: step8, column.Date: stepDate, column.Timestamp: step8, column.UUID: step16,
	column.String: stepText,
	column.Binary: stepText, column.Tuple: stepNested, // the last kind: the others are zero, which is stepNested
}

// stepOf returns the step of a column's type; a vector has the step of its element size.
func stepOf(t column.Type) step {
	if t.Kind != column.Vector {
		return steps[t.Kind]
	}
	switch t.Elem {
	case column.Float32, column.Int32:
		return stepVector4
	case column.Float64, column.Int64:
		return stepVector8
	}
	return stepVector16
}

// A target is the destination of the cells of one column while a page is decoded.
type target struct {
	step    step
	width   int32          // bytes of a cell of a fixed kind
	values  unsafe.Pointer // of a fixed kind: the memory of row 0
	text    []byte         // of stepText
	offsets []int32
	column  *column.Column
	node    *decodeNode
}

// smallText is the number of bytes of a short text that are copied at once: two words.
const smallText = 16

// Decode decodes rows rows of cells, which are [bytes] row by row, into the columns of b, reusing the memory of b where
// it is large enough. It overwrites the old contents of b; of its Source it sets EmptyCells. The error is a
// *cql.UnmarshalError; b must then not be used.
func (p *ColumnPlan) Decode(cells []byte, rows int, b *column.Batch) error {
	if cap(b.Columns) < len(p.nodes) {
		b.Columns = append(b.Columns[:cap(b.Columns)], make([]column.Column, len(p.nodes)-cap(b.Columns))...)
	}
	b.Columns, b.Rows = b.Columns[:len(p.nodes)], rows
	state := p.pool.Get().(*[]target)
	targets := *state
	defer func() {
		clear(targets)
		p.pool.Put(state)
	}()
	sparse := max(maxSparse, nullFactor*len(cells))
	for i := range targets {
		if err := targets[i].reset(&p.nodes[i], &b.Columns[i], rows, &sparse); err != nil {
			return p.fault(i, 0, err)
		}
	}
	reserveTexts(targets, cells, rows)
	room := pageRoom{left: max(maxNulls, nullFactor*len(cells))}
	row, col, err := decodeRows(targets, cells, rows, &room)
	if err != nil {
		return p.fault(col, row, err)
	}
	for i := range targets {
		targets[i].finish()
	}
	b.Source = column.Source{EmptyCells: room.empty}
	swap.Fence() // the batch may be passed to another goroutine
	return nil
}

func (p *ColumnPlan) fault(col, row int, err error) error {
	info := &p.infos[col]
	return &cql.UnmarshalError{
		Column: info.Name, Type: info.TypeInfo, GoType: "column of " + p.nodes[col].field.Type.String(),
		Err: fmt.Errorf("row %d: %w", row, err),
	}
}

// Bounds of the memory of NULLs, which take as many bytes of a column as values, and few or none of a page.
const (
	// maxSparse limits the memory of the columns of fixed kinds of a small page, such as vectors.
	maxSparse = 256 << 20
	// maxNulls limits the memory of NULLs of tuples, user-defined types and their fields in a small page, nullFactor in
	// relation to the bytes of a large one.
	maxNulls   = 32 << 20
	nullFactor = 16
	nullBytes  = 4 // of a NULL without a fixed width: its offset
)

// A pageRoom bounds the memory of NULLs of a page and counts its cells without bytes.
type pageRoom struct {
	left  int // bytes for further NULLs
	empty int // cells of 0 bytes, also within others, that are NULL in their columns
}

// reset prepares the column for a page of rows, in its existing memory. It takes its memory from sparse.
func (t *target) reset(node *decodeNode, c *column.Column, rows int, sparse *int) error {
	*t = target{step: node.step, column: c, node: node, text: t.text, offsets: t.offsets}
	node.reset(c)
	switch t.step {
	case stepNested:
	case stepText:
		t.text, t.offsets = c.Values[:0], growSlice(c.Offsets, rows+1)
		t.offsets[0] = 0
	default:
		t.width = int32(node.width)
		if rows > 0 && node.width > *sparse/rows {
			return fmt.Errorf("%w: a page of %d rows of %v: reduce the page size", cql.ErrRange, rows, node.field.Type)
		}
		*sparse -= rows * node.width
		if rows*node.width >= streamFrom && t.step == stepVector4 {
			t.step = stepStream4
		}
		if rows*node.width >= streamFrom && t.step == stepVector8 {
			t.step = stepStream8
		}
		c.Values = growBytes(c.Values, rows*node.width)
		t.values = unsafe.Pointer(unsafe.SliceData(c.Values))
		c.Len = rows
	}
	return nil
}

// reserveTexts allocates for text columns without memory as much as their cells take, instead of growing it by
// doubling: the column of a batch that is kept has no unused memory. A page that is malformed reserves at most its
// length.
func reserveTexts(targets []target, cells []byte, rows int) {
	fresh := func(t *target) bool { return t.step == stepText && cap(t.text) == 0 }
	if !slices.ContainsFunc(targets, func(t target) bool { return fresh(&t) }) {
		return
	}
	sizes := make([]int, len(targets))
	for range rows {
		for col := range sizes {
			if len(cells) < 4 {
				return
			}
			n := int(int32(binary.BigEndian.Uint32(cells)))
			cells = cells[4:]
			if n > len(cells) {
				return
			}
			if n > 0 {
				sizes[col] += n
				cells = cells[n:]
			}
		}
	}
	for col, n := range sizes {
		if t := &targets[col]; fresh(t) && n > 0 {
			t.text = growBytes(nil, n+smallText)[:0] // the last cells, too, are copied at once
		}
	}
}

// finish stores the result of the target in the column.
func (t *target) finish() {
	c := t.column
	if t.step == stepText {
		c.Values, c.Offsets, c.Len = t.text, t.offsets, len(t.offsets)-1
	}
	t.node.finish(c)
}

// decodeRows decodes the cells of a page. On an error it returns the row and column of the cell.
func decodeRows(targets []target, cells []byte, rows int, room *pageRoom) (row, col int, err error) {
	off := 0
	for row := range rows {
		for col := range targets {
			if len(cells)-off < 4 {
				return row, col, fmt.Errorf("%w: the page ends inside a cell", cql.ErrMissing)
			}
			n := int(int32(binary.BigEndian.Uint32(cells[off:])))
			off += 4
			t := &targets[col]
			if n < 0 {
				if err := t.setNull(row, rows, room); err != nil {
					return row, col, err
				}
				continue
			}
			if n > len(cells)-off {
				return row, col, fmt.Errorf("%w: a cell of %d bytes, %d left", cql.ErrMissing, n, len(cells)-off)
			}
			rest := cells[off:]
			off += n
			switch {
			case t.step > stepText && n != int(t.width):
				if n > 0 || !t.node.emptyIsNull {
					return row, col, exactSize(n, int(t.width))
				}
				room.empty++
				if err := t.setNull(row, rows, room); err != nil {
					return row, col, err
				}
			case t.step == step4:
				*(*uint32)(unsafe.Add(t.values, row*4)) = binary.BigEndian.Uint32(rest)
			case t.step == step8:
				*(*uint64)(unsafe.Add(t.values, row*8)) = binary.BigEndian.Uint64(rest)
			case t.step == stepText:
				t.appendText(row, rest, n)
			case t.step == stepNested:
				if err := t.node.append(t.column, rest[:n], room); err != nil {
					return row, col, err
				}
			default:
				t.store(row, rest[:n])
			}
		}
	}
	return 0, 0, nil
}

// exactSize returns the error for a cell of n bytes whose type has want bytes.
func exactSize(n, want int) error {
	if n < want {
		return fmt.Errorf("%w: %d bytes, want %d", cql.ErrMissing, n, want)
	}
	return fmt.Errorf("%w: %d bytes, want %d", cql.ErrTrailing, n, want)
}

// store decodes a cell of t.width bytes into a row.
func (t *target) store(row int, cell []byte) {
	storeFixed(t.step, unsafe.Add(t.values, row*int(t.width)), cell)
}

// storeFixed decodes a cell of a fixed kind to p. The cell has the length of the kind.
func storeFixed(s step, p unsafe.Pointer, cell []byte) {
	switch s {
	case step1:
		*(*byte)(p) = cell[0]
	case stepBool:
		*(*bool)(p) = cell[0] != 0
	case step2:
		*(*uint16)(p) = binary.BigEndian.Uint16(cell)
	case step4:
		*(*uint32)(p) = binary.BigEndian.Uint32(cell)
	case stepDate: // unsigned days; 2^31 is 1970-01-01
		*(*uint32)(p) = binary.BigEndian.Uint32(cell) ^ 1<<31
	case step8:
		*(*uint64)(p) = binary.BigEndian.Uint64(cell)
	case step16:
		*(*[16]byte)(p) = [16]byte(cell)
	case stepVector4:
		swap.Decode32(unsafe.Slice((*uint32)(p), len(cell)/4), cell)
	case stepVector8:
		swap.Decode64(unsafe.Slice((*uint64)(p), len(cell)/8), cell)
	case stepStream4:
		swap.Stream32(unsafe.Slice((*uint32)(p), len(cell)/4), cell)
	case stepStream8:
		swap.Stream64(unsafe.Slice((*uint64)(p), len(cell)/8), cell)
	case stepVector16:
		copy(unsafe.Slice((*byte)(p), len(cell)), cell)
	}
}

// appendText appends the first n bytes of rest as the text of a row.
func (t *target) appendText(row int, rest []byte, n int) {
	at := len(t.text)
	if n <= smallText && len(rest) >= smallText && cap(t.text)-at >= smallText {
		t.text = t.text[:at+n]
		*(*[smallText]byte)(t.text[at : at+smallText : cap(t.text)]) = [smallText]byte(rest) // avoids a call of memmove
	} else {
		t.text = append(t.text, rest[:n]...)
	}
	t.offsets[row+1] = int32(len(t.text)) // a body has at most 256 MiB
}

// setNull makes a row of the column NULL.
func (t *target) setNull(row, rows int, room *pageRoom) error {
	c := t.column
	switch {
	case t.step == stepNested:
		return t.node.appendNull(c, room)
	case t.step == stepText:
		t.offsets[row+1] = int32(len(t.text))
	default:
		clear(unsafe.Slice((*byte)(unsafe.Add(t.values, row*int(t.width))), t.width))
	}
	if c.Nulls == 0 {
		c.Validity = growSlice(c.Validity, (rows+7)/8)
		bitmap.Fill(c.Validity, 0, rows)
	}
	c.Nulls++
	bitmap.Set(c.Validity, row, 0)
	return nil
}

// growBytes returns n bytes, in the memory of b if it is large enough, otherwise in new memory aligned to 8 bytes.
// Their contents are undefined.
func growBytes(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))[:n]
}

// growSlice returns n elements, in the memory of s if it is large enough. Their contents are undefined.
func growSlice[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n)
}
