// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"math/big"
	"net"
	"reflect"
	"time"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
)

// The Go types of values that are decoded into an any.

var nativeGoTypes = map[cql.Type]reflect.Type{
	cql.TypeAscii: reflect.TypeFor[string](), cql.TypeText: reflect.TypeFor[string](),
	cql.TypeVarchar: reflect.TypeFor[string](), cql.TypeBlob: reflect.TypeFor[[]byte](),
	cql.TypeCustom: reflect.TypeFor[[]byte](), cql.TypeBoolean: reflect.TypeFor[bool](),
	cql.TypeTinyInt: reflect.TypeFor[int8](), cql.TypeSmallInt: reflect.TypeFor[int16](),
	cql.TypeInt: reflect.TypeFor[int](), cql.TypeBigInt: reflect.TypeFor[int64](),
	cql.TypeCounter: reflect.TypeFor[int64](), cql.TypeVarint: reflect.TypeFor[*big.Int](),
	cql.TypeFloat: reflect.TypeFor[float32](), cql.TypeDouble: reflect.TypeFor[float64](),
	cql.TypeDecimal: reflect.TypeFor[*inf.Dec](), cql.TypeUUID: reflect.TypeFor[cql.UUID](),
	cql.TypeTimeUUID: reflect.TypeFor[cql.UUID](), cql.TypeInet: reflect.TypeFor[net.IP](),
	cql.TypeDate: reflect.TypeFor[time.Time](), cql.TypeTime: reflect.TypeFor[time.Duration](),
	cql.TypeTimestamp: reflect.TypeFor[time.Time](),
	cql.TypeDuration:  reflect.TypeFor[cql.Duration](),
}

// DefaultGoType returns the Go type of a value of type info in an any. nil means none.
func DefaultGoType(info cql.TypeInfo) reflect.Type {
	switch info := info.(type) {
	case cql.NativeType:
		return nativeGoTypes[cql.Type(info)]
	case cql.CustomType:
		return nativeGoTypes[cql.TypeCustom]
	case cql.TupleTypeInfo:
		return reflect.TypeFor[[]any]()
	case cql.UDTTypeInfo:
		return reflect.TypeFor[map[string]any]()
	case cql.VectorType:
		return sliceOfDefault(info.SubType)
	case cql.CollectionType:
		if info.Type() != cql.TypeMap {
			return sliceOfDefault(info.Elem)
		}
		key, elem := defaultKeyType(info.Key), DefaultGoType(info.Elem)
		if key == nil || elem == nil {
			return nil
		}
		return reflect.MapOf(key, elem)
	}
	return nil
}

func sliceOfDefault(elem cql.TypeInfo) reflect.Type {
	if t := DefaultGoType(elem); t != nil {
		return reflect.SliceOf(t)
	}
	return nil
}

// defaultKeyType returns the Go type of a map key: string if the default type is not comparable by value. nil means
// none.
func defaultKeyType(info cql.TypeInfo) reflect.Type {
	if _, custom := info.(cql.CustomType); custom {
		return reflect.TypeFor[string]()
	}
	switch info.Type() {
	case cql.TypeBlob, cql.TypeInet, cql.TypeVarint:
		return reflect.TypeFor[string]()
	case cql.TypeDecimal:
		return nil
	}
	if t := DefaultGoType(info); t != nil && t.Comparable() {
		return t
	}
	return nil
}

// NewDefault returns a pointer to a new value of the default Go type of type info, or a new *any if there is none.
func NewDefault(info cql.TypeInfo) any {
	if t := DefaultGoType(info); t != nil {
		return reflect.New(t).Interface()
	}
	return new(any)
}
