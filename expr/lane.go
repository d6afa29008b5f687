// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/binary"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/bitmap"
)

// Lanes: the values of an expression for the rows of a block.

// blockRows is the number of rows that are evaluated at once, so that the values between operations stay in the cache.
// It is a multiple of 64.
const blockRows = 2048

// identity are the numbers of all rows of a block.
var identity = func() (rows [blockRows]int32) {
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}()

// A block is a range of rows of the batch, which all nodes of a tree evaluate at the same time.
type block struct {
	lo, n  int
	serial uint64      // of the block, for results that are kept while it is evaluated
	texts  []*[]string // memory of nodes that refers to texts of the batch
}

// move begins the block at row lo of rows.
func (b *block) move(lo, rows int) {
	b.lo, b.n = lo, min(blockRows, rows-lo)
	b.serial++
}

// A vec is one value per row of a block, by the number of the row. Only the rows that were asked for are defined, and
// only if their bit in valid is 1; nil means that no row is NULL.
type vec[T any] struct {
	values []T
	valid  []byte
}

// A lane computes an expression. Its values belong to the lane or the batch and are valid until the next call. rows are
// ascending numbers of rows of the block; if there are as many as the block has, they are all rows.
type lane[T any] interface {
	eval(rows []int32) (vec[T], error)
}

// A source is a column of the batch.
type source struct {
	field  column.Field
	column *column.Column
}

// bits returns the validity of the rows of a block, nil if no row of the column is NULL.
func (s *source) bits(b *block) []byte {
	if s.column.Nulls == 0 {
		return nil
	}
	return s.column.Validity[b.lo>>3 : (b.lo+b.n+7)>>3]
}

// view returns the values of a column as T, whose width divides the width of a row.
func view[T any](c *column.Column) []T {
	var zero T
	if len(c.Values) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.Values))), len(c.Values)/int(unsafe.Sizeof(zero)))
}

// room returns memory for the values of a block, registered if T is string.
func room[T any](b *block) []T {
	out := make([]T, blockRows)
	if texts, ok := any(&out).(*[]string); ok {
		b.texts = append(b.texts, texts)
	}
	return out
}

// A columnLane is a column whose values have the type T.
type columnLane[T any] struct {
	b *block
	s *source
}

func (l *columnLane[T]) eval([]int32) (vec[T], error) {
	return vec[T]{view[T](l.s.column)[l.b.lo : l.b.lo+l.b.n], l.s.bits(l.b)}, nil
}

// A convertLane converts numbers without loss, or as far as f reports.
type convertLane[S, T number] struct {
	b   *block
	arg lane[S]
	out []T
}

func newConvert[S, T number](b *block, arg lane[S]) lane[T] {
	return &convertLane[S, T]{b, arg, room[T](b)}
}

func (l *convertLane[S, T]) eval(rows []int32) (vec[T], error) {
	v, err := l.arg.eval(rows)
	if err != nil {
		return vec[T]{}, err
	}
	if len(rows) == l.b.n {
		out := l.out[:l.b.n]
		for i, x := range v.values[:len(out)] {
			out[i] = T(x)
		}
	} else {
		for _, r := range rows {
			l.out[r] = T(v.values[r])
		}
	}
	return vec[T]{l.out[:l.b.n], v.valid}, nil
}

// A constLane is a literal.
type constLane[T any] struct {
	b     *block
	value vec[T]
}

func newConst[T any](b *block, v T, isNull bool) lane[T] {
	l := &constLane[T]{b, vec[T]{values: make([]T, blockRows)}}
	for i := range l.value.values {
		l.value.values[i] = v
	}
	if isNull {
		l.value.valid = make([]byte, blockRows/8)
	}
	return l
}

func (l *constLane[T]) eval([]int32) (vec[T], error) { return l.value, nil }

// A textLane is a column of texts or bytes. Its values share the memory of the column.
type textLane struct {
	b   *block
	s   *source
	out []string
}

// eval makes the headers of the texts of rows: of codes, of a fixed width, or between offsets.
func (l *textLane) eval(rows []int32) (vec[string], error) {
	c, valid := l.s.column, l.s.bits(l.b)
	out := l.out[:l.b.n]
	bytes := unsafe.String(unsafe.SliceData(c.Values), len(c.Values))
	switch w := c.Type.ValueWidth(); {
	case c.Dict != nil:
		codes := view[uint32](c)[l.b.lo:]
		dict, offsets := c.Dict.Buffers()
		bytes := unsafe.String(unsafe.SliceData(dict), len(dict))
		for _, r := range rows {
			if valid != nil && valid[r>>3]>>(r&7)&1 == 0 {
				continue // the code is undefined
			}
			code := codes[r]
			out[r] = bytes[offsets[code]:offsets[code+1]]
		}
	case w > 0:
		for _, r := range rows {
			out[r] = bytes[(l.b.lo+int(r))*w : (l.b.lo+int(r)+1)*w]
		}
	default:
		offsets := c.Offsets[l.b.lo : l.b.lo+l.b.n+1]
		for _, r := range rows {
			out[r] = bytes[offsets[r]:offsets[r+1]]
		}
	}
	return vec[string]{out, valid}, nil
}

// A mapLane applies a function to each value that is not NULL.
type mapLane[S, T any] struct {
	t    *term
	b    *block
	arg  lane[S]
	f    func(S) (T, error)
	out  []T
	rows [blockRows]int32
}

func newMap[S, T any](t *term, b *block, arg lane[S], f func(S) (T, error)) lane[T] {
	if t.op == opTryCast {
		return &tryLane[S, T]{b: b, arg: arg, f: f, out: room[T](b)}
	}
	return &mapLane[S, T]{t: t, b: b, arg: arg, f: f, out: room[T](b)}
}

func (l *mapLane[S, T]) eval(rows []int32) (vec[T], error) {
	v, err := l.arg.eval(rows)
	if err != nil {
		return vec[T]{}, err
	}
	for _, r := range validRows(v.valid, rows, l.rows[:]) {
		if l.out[r], err = l.f(v.values[r]); err != nil {
			return vec[T]{}, l.t.failed(l.b, r, err)
		}
	}
	return vec[T]{l.out[:l.b.n], v.valid}, nil
}

// A tryLane applies a function to each value that is not NULL. An error makes NULL.
type tryLane[S, T any] struct {
	b     *block
	arg   lane[S]
	f     func(S) (T, error)
	out   []T
	valid [blockRows / 8]byte
	rows  [blockRows]int32
}

func (l *tryLane[S, T]) eval(rows []int32) (vec[T], error) {
	v, err := l.arg.eval(rows)
	if err != nil {
		return vec[T]{}, err
	}
	valid := l.valid[:(l.b.n+7)/8]
	bitmap.Fill(valid, 0, l.b.n)
	if v.valid != nil {
		copy(valid, v.valid)
	}
	for _, r := range validRows(v.valid, rows, l.rows[:]) {
		if l.out[r], err = l.f(v.values[r]); err != nil {
			valid[r>>3] &^= 1 << (r & 7)
		}
	}
	return vec[T]{l.out[:l.b.n], valid}, nil
}

// A zipLane applies a function to two values if none is NULL.
type zipLane[A, B, T any] struct {
	t     *term
	b     *block
	x     lane[A]
	y     lane[B]
	f     func(A, B) (T, error)
	out   []T
	valid [blockRows / 8]byte
	rows  [blockRows]int32
}

func newZip[A, B, T any](t *term, b *block, x lane[A], y lane[B], f func(A, B) (T, error)) lane[T] {
	return &zipLane[A, B, T]{t: t, b: b, x: x, y: y, f: f, out: room[T](b)}
}

func (l *zipLane[A, B, T]) eval(rows []int32) (vec[T], error) {
	x, y, valid, err := both(l.b, l.x, l.y, rows, l.valid[:])
	if err != nil {
		return vec[T]{}, err
	}
	for _, r := range validRows(valid, rows, l.rows[:]) {
		if l.out[r], err = l.f(x[r], y[r]); err != nil {
			return vec[T]{}, l.t.failed(l.b, r, err)
		}
	}
	return vec[T]{l.out[:l.b.n], valid}, nil
}

// both evaluates two lanes, and returns their values and common validity.
func both[A, B any](b *block, x lane[A], y lane[B], rows []int32, into []byte) ([]A, []B, []byte, error) {
	v, err := x.eval(rows)
	if err != nil {
		return nil, nil, nil, err
	}
	w, err := y.eval(rows)
	if err != nil {
		return nil, nil, nil, err
	}
	return v.values, w.values, andBits(v.valid, w.valid, into, b.n), nil
}

// andBits returns the rows that are valid in both, one of the arguments or into.
func andBits(a, b, into []byte, n int) []byte {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	i, end := 0, (n+7)/8
	for ; i+8 <= end; i += 8 {
		binary.LittleEndian.PutUint64(into[i:], binary.LittleEndian.Uint64(a[i:])&binary.LittleEndian.Uint64(b[i:]))
	}
	for ; i < end; i++ {
		into[i] = a[i] & b[i]
	}
	return into[:end]
}

// validRows returns the rows that are not NULL: rows itself or in out, which may be the memory of rows.
func validRows(valid []byte, rows, out []int32) []int32 {
	if valid == nil {
		return rows
	}
	k := 0
	for _, r := range rows {
		out[k] = r
		k += int(valid[r>>3] >> (r & 7) & 1)
	}
	return out[:k]
}

// bit returns 1 for true.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
