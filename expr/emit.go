// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/bitmap"
)

// Emitters: from lanes to columns. NULL rows have zeros.

// An emitter stores the values of a block in the column and returns their validity.
type emitter interface {
	emit(dst *column.Column) (valid []byte, err error)
}

// reset prepares a column for n rows, in its memory where that is large enough.
func reset(dst *column.Column, name string, t column.Type, n int) {
	*dst = column.Column{Name: name, Type: t, Len: n, Validity: dst.Validity[:0], Values: dst.Values, Offsets: dst.Offsets}
	if t.Kind.IsText() {
		dst.Values, dst.Offsets = dst.Values[:0], append(slices.Grow(dst.Offsets[:0], n+1), 0)
		return
	}
	dst.Offsets = nil
	if size := n * t.ValueWidth(); cap(dst.Values) < size {
		dst.Values = aligned(size)
	} else {
		dst.Values = dst.Values[:size]
	}
}

// aligned returns memory aligned to 8 bytes.
func aligned(n int) []byte {
	words := column.Of("", make([]uint64, (n+7)/8))
	if n == 0 {
		return nil
	}
	return words.Values[:n]
}

// setValid stores the validity of a block. Before the first NULL there are no bits.
func setValid(dst *column.Column, b *block, valid []byte) {
	nulls := 0
	if valid != nil {
		nulls = b.n - bitmap.Count(valid, 0, b.n)
	}
	if nulls > 0 && dst.Nulls == 0 {
		dst.Validity = slices.Grow(dst.Validity[:0], (dst.Len+7)/8)[:(dst.Len+7)/8]
		bitmap.Fill(dst.Validity, 0, dst.Len)
	}
	if dst.Nulls += nulls; nulls > 0 {
		copy(dst.Validity[b.lo/8:], valid[:(b.n+7)/8])
	}
}

// emitter returns the emitter of a term.
func (b *builder) emitter(t *term) emitter {
	switch t.typ.Kind {
	case column.Bool:
		return &valueEmitter[bool]{b.block, b.bools(t)}
	case column.Int8:
		return emitInts[int8](b, t)
	case column.Int16:
		return emitInts[int16](b, t)
	case column.Int32, column.Date:
		return emitInts[int32](b, t)
	case column.Uint8:
		return emitInts[uint8](b, t)
	case column.Uint16:
		return emitInts[uint16](b, t)
	case column.Uint32:
		return emitInts[uint32](b, t)
	case column.Uint64:
		return &valueEmitter[uint64]{b.block, b.uints(t)}
	case column.Float32:
		return &valueEmitter[float32]{b.block, newConvert[float64, float32](b.block, b.floats(t))}
	case column.Float64:
		return &valueEmitter[float64]{b.block, b.floats(t)}
	case column.Decimal128:
		return &valueEmitter[column.Int128]{b.block, b.wides(t)}
	case column.Vector:
		return b.vectorEmitter(t)
	}
	if t.class.isTexts() {
		return &textEmitter{b.block, b.texts(t)}
	}
	return &valueEmitter[int64]{b.block, b.ints(t)}
}

func emitInts[T whole](b *builder, t *term) emitter {
	return &valueEmitter[T]{b.block, newConvert[int64, T](b.block, b.ints(t))}
}

// A valueEmitter stores values of a fixed width.
type valueEmitter[T any] struct {
	b   *block
	arg lane[T]
}

func (e *valueEmitter[T]) emit(dst *column.Column) ([]byte, error) {
	v, err := e.arg.eval(identity[:e.b.n])
	if err != nil {
		return nil, err
	}
	var zero T
	out := view[T](dst)[e.b.lo : e.b.lo+e.b.n]
	copy(out, v.values)
	if v.valid == nil {
		return nil, nil
	}
	for i := range out {
		if v.valid[i>>3]>>(i&7)&1 == 0 {
			out[i] = zero
		}
	}
	return v.valid, nil
}

// A textEmitter appends texts, or stores bytes of a fixed width.
type textEmitter struct {
	b   *block
	arg lane[string]
}

// emit stores a block of texts.
func (e *textEmitter) emit(dst *column.Column) ([]byte, error) {
	v, err := e.arg.eval(identity[:e.b.n])
	if err != nil {
		return nil, err
	}
	width := dst.Type.ValueWidth()
	for i := range e.b.n {
		s := ""
		if v.valid == nil || v.valid[i>>3]>>(i&7)&1 == 1 {
			s = v.values[i]
		}
		if width > 0 {
			row := dst.Values[(e.b.lo+i)*width:][:width]
			clear(row)
			copy(row, s)
			continue
		}
		if len(dst.Values)+len(s) > math.MaxInt32 {
			return nil, column.ErrTooLarge
		}
		dst.Values = append(dst.Values, s...)
		dst.Offsets = append(dst.Offsets, int32(len(dst.Values)))
	}
	return v.valid, nil
}

// A vectorEmitter stores vectors.
type vectorEmitter[E element] struct {
	b   *block
	arg vectorLane[E]
}

func (b *builder) vectorEmitter(t *term) emitter {
	switch t.typ.Elem {
	case column.Float32:
		return &vectorEmitter[float32]{b.block, vectorsOf[float32](b, t)}
	case column.Int32:
		return &vectorEmitter[int32]{b.block, vectorsOf[int32](b, t)}
	case column.Int64:
		return &vectorEmitter[int64]{b.block, vectorsOf[int64](b, t)}
	}
	return &vectorEmitter[float64]{b.block, vectorsOf[float64](b, t)}
}

// emit stores zeros for NULL. A vector of another dimension than dst has is a *column.TypeError.
func (e *vectorEmitter[E]) emit(dst *column.Column) ([]byte, error) {
	m, err := e.arg.vectors(identity[:e.b.n])
	if err != nil {
		return nil, err
	}
	dim := dst.Type.Dim
	if m.dim != dim && m.dim > 0 { // the schema had no dimension
		want := fmt.Sprintf("%v as in the schema", dst.Type)
		return nil, &column.TypeError{Column: dst.Name, Type: column.VectorOf(dst.Type.Elem, m.dim), Want: want}
	}
	out := view[E](dst)[e.b.lo*dim : (e.b.lo+e.b.n)*dim]
	for i := range e.b.n {
		row := out[i*dim : (i+1)*dim]
		if m.valid != nil && m.valid[i>>3]>>(i&7)&1 == 0 {
			clear(row)
		} else {
			copy(row, m.row(int32(i)))
		}
	}
	return m.valid, nil
}
