// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"iter"
	"math/bits"
	"reflect"
	"time"

	"github.com/vecql/vecql/internal/swap"
	"github.com/vecql/vecql/internal/wire"
)

// This file holds column pages: a page of a result read column by column instead of row by row, each column into one block of memory that
// the caller owns. It is the fastest way to read many rows, and the form that groupby and matrix code want.

// Page is one page of a result. It is valid until the loop over Query.Pages moves on; what is read from it is the caller's for ever.
type Page struct {
	it    *Iter
	cells []byte
	ends  []uint32 // ends[r*columns+c]: where that cell ends in cells; its 4-byte length comes before its content
}

// Pages runs q and returns its pages, with the error that ends them, if one does, as the last pair. The next page is on its way while
// one is read. The loop may be left at any page; nothing needs to be closed.
func (q *Query) Pages(ctx context.Context) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		it := q.IterContext(ctx)
		defer func() { _ = it.Close() }()
		page := &Page{it: it}
		for it.err == nil && it.page != nil {
			if it.more() {
				it.askAhead()
			}
			if it.res.kind == resultRows {
				if err := page.load(); err != nil {
					it.fail(err)
					break
				}
				if page.Rows() > 0 && !yield(page, nil) {
					return
				}
			}
			if !it.more() {
				break
			}
			it.turnPage()
		}
		page.it = nil
		if err := it.Close(); err != nil {
			yield(nil, err)
		}
	}
}

// load notes where each cell ends.
func (p *Page) load() error {
	p.cells = p.it.res.rows.cells
	n := p.it.res.rows.rowCount * len(p.it.Columns())
	if cap(p.ends) < n {
		p.ends = make([]uint32, n)
	}
	p.ends = p.ends[:n]
	r := wire.NewReader(p.cells)
	for i := range p.ends {
		r.Value()
		p.ends[i] = uint32(r.Offset()) // a body has at most 256 MiB
	}
	if err := r.Err(); err != nil {
		return &ProtocolError{Message: "rows", Err: err}
	}
	return nil
}

// Rows returns the number of rows.
func (p *Page) Rows() int { return p.it.res.rows.rowCount }

// Columns returns the columns. The slice must not be changed.
func (p *Page) Columns() []ColumnInfo { return p.it.Columns() }

// Index returns the position of the column with that name, -1 when there is none.
func (p *Page) Index(name string) int {
	for i, c := range p.Columns() {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// cell returns the content of a cell, nil for NULL.
func (p *Page) cell(row, col int) []byte {
	i := row*len(p.Columns()) + col
	begin := uint32(0)
	if i > 0 {
		begin = p.ends[i-1]
	}
	begin += 4
	if end := p.ends[i]; end > begin {
		return p.cells[begin:end:end]
	}
	// Nothing follows the length: it is 0, or negative for NULL.
	if p.cells[begin-4]&0x80 != 0 {
		return nil
	}
	return p.cells[begin:begin:begin]
}

// Validity tells which rows of a column are not NULL: bit r&63 of Words[r/64] is set for those. Words is nil when no row is NULL.
type Validity struct{ Words []uint64 }

// Valid reports whether row r is not NULL.
func (v Validity) Valid(r int) bool { return v.Words == nil || v.Words[r/64]>>(r%64)&1 != 0 }

// Nulls returns how many of the first n rows are NULL.
func (v Validity) Nulls(n int) int {
	if v.Words == nil {
		return 0
	}
	valid := 0
	for _, w := range v.Words {
		valid += bits.OnesCount64(w)
	}
	return n - valid
}

// setNull marks row r of n.
func (v *Validity) setNull(r, n int) {
	if v.Words == nil {
		v.Words = make([]uint64, (n+63)/64)
		for i := range n {
			v.Words[i/64] |= 1 << (i % 64)
		}
	}
	v.Words[r/64] &^= 1 << (r % 64)
}

// Matrix is a column of vectors: row r is Data[r*Dim : (r+1)*Dim]. The elements of a NULL row are zero.
type Matrix[T any] struct {
	Data     []T
	Rows     int
	Dim      int
	Validity Validity
}

// Row returns row r as a part of Data that append does not grow into the next row. It keeps the whole of Data in memory: clone it to
// keep a few rows of many.
func (m Matrix[T]) Row(r int) []T { return m.Data[r*m.Dim : (r+1)*m.Dim : (r+1)*m.Dim] }

// Column is a column of values of fixed size. The value of a NULL row is zero.
type Column[T any] struct {
	Data     []T
	Validity Validity
}

// TextColumn is a column of text or bytes: row r is Bytes[Offsets[r]:Offsets[r+1]], the layout of Arrow's large binary. A NULL row is empty.
type TextColumn struct {
	Bytes    []byte
	Offsets  []int64 // one more than there are rows
	Validity Validity
}

// Row returns the bytes of row r.
func (c TextColumn) Row(r int) []byte {
	return c.Bytes[c.Offsets[r]:c.Offsets[r+1]:c.Offsets[r+1]]
}

// String returns row r as a string of its own.
func (c TextColumn) String(r int) string { return string(c.Row(r)) }

// VectorElement is an element type of vectors that can be read as a matrix: float, double, int, bigint, uuid and timeuuid.
type VectorElement interface {
	float32 | float64 | int32 | int64 | UUID
}

// FixedElement is the Go type of a column that ReadColumn reads: boolean, tinyint, smallint, int, bigint and counter, float, double,
// uuid and timeuuid, and timestamp as time.Time.
type FixedElement interface {
	bool | int8 | int16 | int32 | int64 | float32 | float64 | UUID | time.Time
}

// ReadMatrix reads the vector column col of the page. Its memory is reuse's where that is large enough, else new; hand back a matrix
// that is no longer needed, or the zero Matrix to get memory of its own. The element type must be that of the column.
func ReadMatrix[T VectorElement](p *Page, col int, reuse Matrix[T]) (Matrix[T], error) {
	info, err := p.column(col)
	if err != nil {
		return Matrix[T]{}, err
	}
	vector, ok := info.TypeInfo.(VectorType)
	size, fits := elementOf[T](vector.SubType)
	if !ok || !fits {
		return Matrix[T]{}, columnError[Matrix[T]](info, ErrConversion)
	}
	m := Matrix[T]{Rows: p.Rows(), Dim: vector.Dimensions, Data: grow(reuse.Data, p.Rows()*vector.Dimensions)}
	want := size * m.Dim
	for r := range m.Rows {
		cell := p.cell(r, col)
		row := m.Row(r)
		switch {
		case cell == nil:
			clear(row)
			m.Validity.setNull(r, m.Rows)
			continue
		case len(cell) < want:
			return Matrix[T]{}, columnError[Matrix[T]](info, fmt.Errorf("row %d: %w: %d of %d", r, ErrMissing, len(cell), want))
		case len(cell) > want:
			return Matrix[T]{}, columnError[Matrix[T]](info, fmt.Errorf("row %d: %w: %d for %d", r, ErrTrailing, len(cell), want))
		}
		switch row := any(row).(type) {
		case []float32:
			swap.Decode32(row, cell)
		case []int32:
			swap.Decode32(row, cell)
		case []float64:
			swap.Decode64(row, cell)
		case []int64:
			swap.Decode64(row, cell)
		case []UUID:
			swap.Decode128(row, cell)
		}
	}
	return m, nil
}

// elementOf reports whether T is the Go type of a vector's elements, and their size.
func elementOf[T VectorElement](elem TypeInfo) (size int, ok bool) {
	if elem == nil {
		return 0, false
	}
	var zero T
	switch t := elem.Type(); any(zero).(type) {
	case float32:
		return 4, t == TypeFloat
	case int32:
		return 4, t == TypeInt
	case float64:
		return 8, t == TypeDouble
	case int64:
		return 8, t == TypeBigInt
	default:
		return 16, t == TypeUUID || t == TypeTimeUUID
	}
}

// ReadColumn reads a column of values of fixed size. Memory is reused as in ReadMatrix; the types must belong together as
// FixedElement lists them.
func ReadColumn[T FixedElement](p *Page, col int, reuse Column[T]) (Column[T], error) {
	info, err := p.column(col)
	if err != nil {
		return Column[T]{}, err
	}
	if !fixedElementOf[T](info.TypeInfo.Type()) {
		return Column[T]{}, columnError[Column[T]](info, ErrConversion)
	}
	c := Column[T]{Data: grow(reuse.Data, p.Rows())}
	plan := decoderOf(info.TypeInfo, reflect.TypeFor[*T]())
	for r := range c.Data {
		cell := p.cell(r, col)
		if cell == nil {
			var zero T
			c.Data[r] = zero
			c.Validity.setNull(r, len(c.Data))
			continue
		}
		if err := plan(info.TypeInfo, cell, &c.Data[r]); err != nil {
			return Column[T]{}, columnError[Column[T]](info, fmt.Errorf("row %d: %w", r, err))
		}
	}
	return c, nil
}

func fixedElementOf[T FixedElement](t Type) bool {
	var zero T
	switch any(zero).(type) {
	case bool:
		return t == TypeBoolean
	case int8:
		return t == TypeTinyInt
	case int16:
		return t == TypeSmallInt
	case int32:
		return t == TypeInt
	case int64:
		return t == TypeBigInt || t == TypeCounter || t == TypeTime || t == TypeTimestamp
	case float32:
		return t == TypeFloat
	case float64:
		return t == TypeDouble
	case UUID:
		return t == TypeUUID || t == TypeTimeUUID
	default: // time.Time
		return t == TypeTimestamp || t == TypeDate
	}
}

// ReadText reads a column of text, ascii or blob. Memory is reused as in ReadMatrix.
func ReadText(p *Page, col int, reuse TextColumn) (TextColumn, error) {
	info, err := p.column(col)
	if err != nil {
		return TextColumn{}, err
	}
	switch info.TypeInfo.Type() {
	case TypeVarchar, TypeText, TypeAscii, TypeBlob:
	default:
		return TextColumn{}, columnError[TextColumn](info, ErrConversion)
	}
	size := 0
	for r := range p.Rows() {
		size += len(p.cell(r, col))
	}
	c := TextColumn{Bytes: grow(reuse.Bytes, size)[:0], Offsets: grow(reuse.Offsets, p.Rows()+1)}
	c.Offsets[0] = 0
	for r := range p.Rows() {
		cell := p.cell(r, col)
		if cell == nil {
			c.Validity.setNull(r, p.Rows())
		}
		c.Bytes = append(c.Bytes, cell...)
		c.Offsets[r+1] = int64(len(c.Bytes))
	}
	return c, nil
}

// ReadAny reads a column of any type as values of dest's element type, by the conversions of Scan; NULL as there.
func ReadAny[T any](p *Page, col int, reuse []T) ([]T, error) {
	info, err := p.column(col)
	if err != nil {
		return nil, err
	}
	values := grow(reuse, p.Rows())
	clear(values)
	plan := decoderOf(info.TypeInfo, reflect.TypeFor[*T]())
	for r := range values {
		if err := plan(info.TypeInfo, p.cell(r, col), &values[r]); err != nil {
			return nil, columnError[[]T](info, fmt.Errorf("row %d: %w", r, err))
		}
	}
	return values, nil
}

// column returns the description of column col, or an error when the page is over or has no such column.
func (p *Page) column(col int) (ColumnInfo, error) {
	if p.it == nil {
		return ColumnInfo{}, ErrPageReleased
	}
	if columns := p.Columns(); col >= 0 && col < len(columns) {
		return columns[col], nil
	}
	return ColumnInfo{}, fmt.Errorf("%w: no column %d in a page of %d", ErrValueCount, col, len(p.Columns()))
}

// columnError says that column info could not be read into a T.
func columnError[T any](info ColumnInfo, err error) error {
	return &UnmarshalError{Column: info.Name, Type: info.TypeInfo, GoType: reflect.TypeFor[T]().String(), Err: err}
}

// grow returns n elements, in the memory of s where it is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n)
}
