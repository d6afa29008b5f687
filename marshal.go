// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Public functions of the codec: encoding and decoding of CQL values, and destinations that are decoded in place.

// Marshal returns the encoding of value as a CQL value of type info, without a length; nil means NULL. The conversions
// are in the package documentation. The error is a *MarshalError.
func Marshal(info cql.TypeInfo, value any) ([]byte, error) { return codec.Marshal(info, value) }

// AppendMarshal appends the bytes that Marshal returns to dst and returns the extended slice. null reports whether
// value is NULL, which has no bytes; out is then dst. After an error, a *MarshalError, out is dst as well.
// AppendMarshal does not modify the bytes of dst, but may overwrite those between its length and its capacity. value is
// not retained.
//
// A [value] of the protocol begins with the number of bytes appended, or with -1 if null is true.
func AppendMarshal(dst []byte, info cql.TypeInfo, value any) (out []byte, null bool, err error) {
	return codec.AppendMarshal(dst, info, value)
}

// Unmarshal decodes data, a CQL value of type info, into dst, a pointer; nil data means NULL. The stored value never
// shares memory with data. The conversions are in the package documentation, as are the few destinations that may have
// changed after an error, an *UnmarshalError.
func Unmarshal(info cql.TypeInfo, data []byte, dst any) error {
	return codec.Unmarshal(info, data, dst)
}

// NewValue returns a destination for a value of type info: a pointer to the zero value of the Go type that the value
// has in an *any, MapScan and SliceMap, e.g. *string for text and *map[string]int for map<text, int>. If there is no
// such type, the destination is an *any. Package reflect has the type and the zero value:
// reflect.ValueOf(NewValue(info)).Elem().
func NewValue(info cql.TypeInfo) any { return codec.NewDefault(info) }

// Into returns a destination for Scan that decodes each vector into dst, without allocating. Every row overwrites the
// previous one: a program that keeps a row copies it first. Create the destination once and scan every row into it.
//
// The column must be a vector of len(dst) elements, else the error is ErrDimension. Its element type must match T, else
// the error is ErrConversion: float32 for float, float64 for double, int32 for int, int64 for bigint, UUID for uuid and
// timeuuid. dst never grows. NULL is ErrNull. After an error the contents of dst are unspecified.
func Into[T cql.VectorElement](dst []T) cql.Destination { return codec.Into(dst) }

// AppendTo returns a destination for Scan that appends each value to *dst and allocates only if *dst lacks capacity. If
// T is byte, the column must be text, ascii, blob or of a custom class, and NULL appends nothing. Otherwise the column
// must be a vector of any dimension with elements as for Into, and NULL is ErrNull, since it would shift the following
// rows. After an error *dst is unchanged.
func AppendTo[T byte | cql.VectorElement](dst *[]T) cql.Destination { return codec.AppendTo(dst) }

// Borrow returns a destination for Scan that sets *dst to the encoded value in the page, without a copy, for any type
// of column; nil means NULL. The bytes must not be modified, and are valid until the next call of a method of the Iter
// or Scanner. Verbs of Query and Statement that read one row refuse it, since they release the page before they return.
func Borrow(dst *[]byte) cql.Destination { return codec.Borrow(dst) }
