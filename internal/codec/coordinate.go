// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Coordinates: elements of vectors of floats, whose Go values or columns have another width than the CQL type. A
// float64 for a vector<float, n> is rounded to the nearest float, as the server rounds a literal, because coordinates
// are approximate. All other conversions of numbers are exact.

// errNotNarrowed is the error for a float64 that is not a coordinate.
var errNotNarrowed = fmt.Errorf("%w: a float64 may have more digits than a float: convert it to float32",
	cql.ErrConversion)

// narrow returns the float nearest to f. NaN becomes the NaN of the server's literal. A finite number beyond the floats
// is ErrRange.
func narrow(f float64) (float32, error) {
	switch n := float32(f); {
	case f != f:
		return math.Float32frombits(0x7fc00000), nil
	case math.IsInf(float64(n), 0) && !math.IsInf(f, 0):
		return 0, fmt.Errorf("%w: %v exceeds a float", cql.ErrRange, f)
	default:
		return n, nil
	}
}

// widened returns the bits of f as a float64. NaN keeps its payload, which a conversion may change.
func widened(f float32) uint64 {
	bits := math.Float32bits(f)
	if f == f {
		return math.Float64bits(float64(f))
	}
	return uint64(bits>>31)<<63 | 0x7ff<<52 | uint64(bits&(1<<23-1))<<29
}

// isNative reports whether info is the native type typ.
func isNative(info cql.TypeInfo, typ cql.Type) bool {
	t, ok := info.(cql.NativeType)
	return ok && cql.Type(t) == typ
}

// planCoordinateEncode returns the plan of an element of a vector, in a Go value of type t. An element in an any takes
// the reference.
func planCoordinateEncode(info cql.TypeInfo, t reflect.Type) EncodeAt {
	isFloat, isDouble := isNative(info, cql.TypeFloat), isNative(info, cql.TypeDouble)
	switch k := t.Kind(); {
	case !isFloat && !isDouble || HasOwnCodec(t):
	case k == reflect.Interface:
		return nil
	case isFloat && k == reflect.Float64:
		return encodeNarrowed
	case isDouble && k == reflect.Float32:
		return encodeWidened
	}
	return sortedEncode(info, PlanEncode(info, t))
}

func encodeNarrowed(dst []byte, p unsafe.Pointer) ([]byte, error) {
	f, err := narrow(*(*float64)(p))
	if err != nil {
		return dst, err
	}
	return appendBits32(dst, math.Float32bits(f)), nil
}

func encodeWidened(dst []byte, p unsafe.Pointer) ([]byte, error) {
	return appendBits64(dst, widened(*(*float32)(p))), nil
}

// planCoordinateDecode is planCell for an element of a vector: a float64 takes a float.
func planCoordinateDecode(info cql.TypeInfo, t reflect.Type) DecodeAt {
	if isNative(info, cql.TypeFloat) && t.Kind() == reflect.Float64 && !HasOwnCodec(t) {
		return func(cell []byte, p unsafe.Pointer, _ *Shared) error {
			if err := cellSize(cell, 4); err != nil {
				return err
			}
			*(*uint64)(p) = widened(math.Float32frombits(binary.BigEndian.Uint32(cell)))
			return nil
		}
	}
	return planCell(info, t)
}

// encodeCoordinate is the reference of planCoordinateEncode.
func encodeCoordinate(info cql.TypeInfo, v reflect.Value) ([]byte, error) {
	if at := behindPointers(v); isNative(info, cql.TypeFloat) && at.Kind() == reflect.Float64 {
		f, err := narrow(at.Float())
		if err != nil {
			return nil, err
		}
		return binary.BigEndian.AppendUint32(nil, math.Float32bits(f)), nil
	} else if isNative(info, cql.TypeDouble) && at.Kind() == reflect.Float32 {
		p := reflect.New(at.Type())
		p.Elem().Set(at)
		return binary.BigEndian.AppendUint64(nil, widened(*(*float32)(p.UnsafePointer()))), nil
	}
	content, err := encodeReflect(info, v, 0)
	return sortedContent(info, content), err
}

// behindPointers returns the value that v leads to, no value where a pointer is nil or a type encodes itself, and a
// Null type where it is NULL.
func behindPointers(v reflect.Value) reflect.Value {
	at := v
	for range maxPointers {
		switch {
		case !at.IsValid(), HasOwnCodec(at.Type()) && at.Kind() != reflect.Interface:
			return reflect.Value{}
		case at.Kind() == reflect.Pointer || at.Kind() == reflect.Interface:
			at = at.Elem()
		case IsNull(at.Type()) && at.Field(1).Bool():
			at = at.Field(0)
		default:
			return at
		}
	}
	return reflect.Value{}
}

// decodeCoordinate is the reference of planCoordinateDecode.
func decodeCoordinate(info cql.TypeInfo, cell []byte, v reflect.Value) error {
	if isNative(info, cql.TypeFloat) && v.Kind() == reflect.Float64 && !HasOwnCodec(v.Type()) {
		if err := exactly(cell, 4); err != nil {
			return err
		}
		p := reflect.New(v.Type())
		*(*uint64)(p.UnsafePointer()) = widened(math.Float32frombits(binary.BigEndian.Uint32(cell)))
		v.Set(p.Elem())
		return nil
	}
	return decodeReflect(info, cell, v, 0)
}

// planCoordinateColumn is planColumn for the elements of a vector.
func planCoordinateColumn(info cql.TypeInfo, f column.Field) (appendRow, error) {
	if isNative(info, cql.TypeFloat) && f.Type.Kind == column.Float64 {
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			v, err := narrow(math.Float64frombits(uint64At(c, i)))
			if err != nil {
				return dst, err
			}
			return appendBits32(dst, math.Float32bits(v)), nil
		}, nil
	}
	plan, err := planColumn(info, f)
	return sortedRows(info, plan), err
}

// planMatrix returns the plan of rows of a matrix as lists of their elements. Each row allocates a column.
func planMatrix(f column.Field, plan func(column.Field) (appendRow, error)) (appendRow, error) {
	elements := column.Field{Name: column.ElementName, Type: column.Type{Kind: f.Type.Elem}}
	list, err := plan(column.Field{Name: f.Name, Type: column.Type{Kind: column.List}, Fields: []column.Field{elements}})
	if err != nil || list == nil {
		return nil, err
	}
	return func(dst []byte, c *column.Column, i int) ([]byte, error) {
		dim := c.Type.Dim
		width := dim * elements.Type.ValueWidth()
		row := &column.Column{
			Type: column.Type{Kind: column.List}, Len: 1, Offsets: []int32{0, int32(dim)},
			Children: []column.Column{{Type: elements.Type, Len: dim, Values: c.Values[i*width : (i+1)*width]}},
		}
		return list(dst, row, 0)
	}, nil
}
