// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"slices"
)

// This file holds the destinations that break the rule that what is decoded is fresh memory, because the program asked for it by name.

// inPlace marks them. They are Unmarshalers so that the reference can do them as well; unlike a user's, they are handed the cell itself.
type inPlace interface {
	Unmarshaler
	inPlace()
}

// inPlaceElement is an element type of vectors that swapping turns into the wire's.
type inPlaceElement interface {
	float32 | float64 | int32 | int64 | UUID
}

// elementTypeOf returns the CQL type for elements like those of s; TypeUUID stands for TypeTimeUUID too.
func elementTypeOf[T any](s []T) Type {
	switch any(s).(type) {
	case []float32:
		return TypeFloat
	case []float64:
		return TypeDouble
	case []int32:
		return TypeInt
	case []int64:
		return TypeBigInt
	}
	return TypeUUID
}

// checkVector checks that info is a vector of that element type.
func checkVector(info TypeInfo, want Type) (VectorType, error) {
	v, ok := info.(VectorType)
	if !ok {
		return v, fmt.Errorf("%w: not a vector", ErrConversion)
	}
	elem, ok := v.SubType.(NativeType)
	if typ := Type(elem); !ok || typ != want && (typ != TypeTimeUUID || want != TypeUUID) {
		return v, fmt.Errorf("%w: elements are %s, want %s", ErrConversion, v.SubType, want)
	}
	return v, nil
}

// Into returns a destination for Scan that decodes each vector into dst itself, without allocating: every row overwrites the one before,
// so whoever keeps a row copies it first. Make it once and scan every row into it.
//
// The column must be a vector of exactly len(dst) elements, else the error is ErrDimension, and of the CQL type of T, else it is
// ErrConversion: float32 for float, float64 for double, int32 for int, int64 for bigint, UUID for uuid and timeuuid. dst never
// grows, and a NULL, which it could not show, is ErrNull. After an error dst is unspecified.
func Into[T inPlaceElement](dst []T) any {
	return &into{elements: sliceOf(dst), typ: elementTypeOf(dst)}
}

type into struct {
	elements
	typ Type
}

func (*into) inPlace() {}

// UnmarshalCQL implements Unmarshaler.
func (d *into) UnmarshalCQL(info TypeInfo, data []byte) error {
	v, err := checkVector(info, d.typ)
	if err == nil {
		err = checkDimensions(d.n, v.Dimensions)
	}
	switch {
	case err != nil:
		return err
	case data == nil:
		return ErrNull
	case len(data) != d.n*int(d.stride):
		return cellSize(data, d.n*int(d.stride))
	}
	swapDecode(d.elements, data)
	return nil
}

// AppendTo returns a destination for Scan that appends each value to *dst, which is allocated anew only where it has no room. Where T is
// byte the column is text, ascii, blob or of a custom class, and NULL appends nothing. Else it is a vector of any dimension with elements
// as for Into, and NULL, which would move all that follows, is ErrNull. After an error *dst is as before.
func AppendTo[T byte | inPlaceElement](dst *[]T) any { return &appendTo[T]{dst} }

type appendTo[T any] struct{ dst *[]T }

func (*appendTo[T]) inPlace() {}

// UnmarshalCQL implements Unmarshaler.
func (d *appendTo[T]) UnmarshalCQL(info TypeInfo, data []byte) error {
	if text, ok := any(d.dst).(*[]byte); ok {
		if planTextOf(info) == nil {
			return fmt.Errorf("%w: %s is no text and no blob", ErrConversion, info)
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
		return ErrNull
	case n < 0 || n > maxDimensions || len(data) != n*size:
		return cellSize(data, min(max(n, 0), maxDimensions)*size)
	}
	n := len(s) + len(data)/size
	s = slices.Grow(s, n-len(s))[:n]
	swapDecode(sliceOf(s[n-len(data)/size:]), data)
	*d.dst = s
	return nil
}

// planTextOf returns the plan for []byte in a column of type info, nil when it is no text.
func planTextOf(info TypeInfo) decodeAt {
	switch info := info.(type) {
	case CustomType:
		return decodeBytes
	case NativeType:
		if isText(Type(info)) {
			return decodeBytes
		}
	}
	return nil
}

// Borrow returns a destination for Scan that sets *dst to the bytes of a value where they lie in the page: no copy is made, whatever
// the column's type; nil is NULL. They are as the protocol has them, must not be changed, and are valid until the next call of a method
// of the Iter or Scanner. The verbs of Query and Statement that read one row refuse it, since their page is gone when they return.
func Borrow(dst *[]byte) any { return &borrowed{dst} }

type borrowed struct{ dst *[]byte }

func (*borrowed) inPlace() {}

// UnmarshalCQL implements Unmarshaler.
func (d *borrowed) UnmarshalCQL(_ TypeInfo, data []byte) error {
	*d.dst = data
	return nil
}

// refuseBorrow returns an error where one of dest is to outlive its page.
func refuseBorrow(dest []any) error {
	for _, d := range dest {
		if _, ok := d.(*borrowed); ok {
			return fmt.Errorf("%w: Borrow needs an Iter or a Scanner", ErrConversion)
		}
	}
	return nil
}
