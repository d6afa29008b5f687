// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"slices"

	"github.com/vecql/vecql/cql"
)

// Destinations that are decoded in place. They are the exception to the rule that decoded values get new memory.

// inPlace is a cql.Destination of this package. The switch and plans pass it the cell itself; the reference passes it a
// copy, as to every Unmarshaler.
type inPlace interface {
	cql.Unmarshaler
	inPlace()
}

// elementTypeOf returns the CQL type of the elements of s. TypeUUID includes TypeTimeUUID.
func elementTypeOf[T any](s []T) cql.Type {
	switch any(s).(type) {
	case []float32:
		return cql.TypeFloat
	case []float64:
		return cql.TypeDouble
	case []int32:
		return cql.TypeInt
	case []int64:
		return cql.TypeBigInt
	}
	return cql.TypeUUID
}

// checkVector returns info as a vector type with elements of type want.
func checkVector(info cql.TypeInfo, want cql.Type) (cql.VectorType, error) {
	v, ok := info.(cql.VectorType)
	if !ok {
		return v, fmt.Errorf("%w: not a vector", cql.ErrConversion)
	}
	elem, ok := v.SubType.(cql.NativeType)
	if typ := cql.Type(elem); !ok || typ != want && (typ != cql.TypeTimeUUID || want != cql.TypeUUID) {
		return v, fmt.Errorf("%w: elements are %s, want %s", cql.ErrConversion, v.SubType, want)
	}
	return v, nil
}

// Into returns a destination that decodes each vector into dst itself. The errors are cql.ErrDimension for a vector
// whose length differs from dst, cql.ErrConversion for another element type, and cql.ErrNull for NULL. After an error
// dst is unspecified.
func Into[T cql.VectorElement](dst []T) cql.Destination {
	return &into{elements: sliceOf(dst), typ: elementTypeOf(dst)}
}

// into is a destination in memory that the caller owns.
type into struct {
	elements
	typ cql.Type
}

func (*into) inPlace() {}

// UnmarshalCQL implements Unmarshaler.
func (d *into) UnmarshalCQL(info cql.TypeInfo, data []byte) error {
	v, err := checkVector(info, d.typ)
	if err == nil {
		err = checkDimensions(d.n, v.Dimensions)
	}
	switch {
	case err != nil:
		return err
	case data == nil:
		return cql.ErrNull
	case len(data) != d.n*int(d.stride):
		return cellSize(data, d.n*int(d.stride))
	}
	swapDecode(d.elements, data)
	return nil
}

// AppendTo returns a destination that appends each value to *dst. If T is byte, the value is a text or blob, and NULL
// appends nothing. Otherwise the value is a vector of any dimension with elements as for Into, and NULL is cql.ErrNull.
// After an error *dst is unchanged.
func AppendTo[T byte | cql.VectorElement](dst *[]T) cql.Destination { return &appendTo[T]{dst} }

type appendTo[T any] struct{ dst *[]T }

func (*appendTo[T]) inPlace() {}

// UnmarshalCQL implements Unmarshaler.
func (d *appendTo[T]) UnmarshalCQL(info cql.TypeInfo, data []byte) error {
	if text, ok := any(d.dst).(*[]byte); ok {
		if planTextOf(info) == nil {
			return fmt.Errorf("%w: %s is neither text nor blob", cql.ErrConversion, info)
		}
		*text = append(*text, data...)
		return nil
	}
	v, err := checkVector(info, elementTypeOf(*d.dst))
	if err != nil {
		return err
	}
	s := *d.dst
	size := int(sliceOf(s).stride)
	switch n := v.Dimensions; {
	case data == nil:
		return cql.ErrNull
	case n < 0:
		return fmt.Errorf("%w: a dimension of %d", cql.ErrDimension, n)
	case n > maxDimensions || len(data) != n*size:
		return cellSize(data, min(n, maxDimensions)*size)
	}
	n := len(s) + len(data)/size
	s = slices.Grow(s, n-len(s))[:n]
	swapDecode(sliceOf(s[n-len(data)/size:]), data)
	*d.dst = s
	return nil
}

// planTextOf returns the plan for []byte in a column of type info, nil if the type is neither text nor blob.
func planTextOf(info cql.TypeInfo) DecodeAt {
	switch info := info.(type) {
	case cql.CustomType:
		return decodeBytes
	case cql.NativeType:
		if isText(cql.Type(info)) {
			return decodeBytes
		}
	}
	return nil
}

// Borrow returns a destination that sets *dst to the content of the cell, nil for NULL, without a copy. The bytes are
// valid as long as the cell.
func Borrow(dst *[]byte) cql.Destination { return &borrowed{dst} }

type borrowed struct{ dst *[]byte }

func (*borrowed) inPlace() {}

// UnmarshalCQL implements Unmarshaler.
func (d *borrowed) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	*d.dst = data
	return nil
}

// RefuseBorrow returns an error if one of dest was made by Borrow, for callers that release the cells before they
// return.
func RefuseBorrow(dest []any) error {
	for _, d := range dest {
		if _, ok := d.(*borrowed); ok {
			return fmt.Errorf("%w: Borrow needs an Iter or a Scanner", cql.ErrConversion)
		}
	}
	return nil
}
