// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"math/big"
	"reflect"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// The Go types of values whose type the program does not name.

// GoType returns the Go type of values of type info in MapScan, SliceMap and RowData. nil means none.
func (d *Dialect) GoType(info cql.TypeInfo) reflect.Type {
	switch info := info.(type) {
	case cql.NativeType:
		if d.inetText && cql.Type(info) == cql.TypeInet {
			return reflect.TypeFor[string]()
		}
	case cql.VectorType:
		return sliceOf(d.GoType(info.SubType))
	case cql.CollectionType:
		if info.Type() != cql.TypeMap {
			return sliceOf(d.GoType(info.Elem))
		}
		key, elem := d.keyType(info.Key), d.GoType(info.Elem)
		if key == nil || elem == nil {
			return nil
		}
		return reflect.MapOf(key, elem)
	}
	return codec.DefaultGoType(info)
}

func sliceOf(elem reflect.Type) reflect.Type {
	if elem == nil {
		return nil
	}
	return reflect.SliceOf(elem)
}

// keyType returns the Go type of the keys of a map: text for bytes and addresses, which are not comparable. nil means
// none.
func (d *Dialect) keyType(info cql.TypeInfo) reflect.Type {
	switch info.Type() {
	case cql.TypeBlob, cql.TypeCustom, cql.TypeInet:
		if _, vector := info.(cql.VectorType); !vector {
			return reflect.TypeFor[string]()
		}
	}
	if t := d.GoType(info); t != nil && t.Comparable() {
		return t
	}
	return nil
}

// New returns a pointer to a new zero value of GoType(info), a *any if there is none.
func (d *Dialect) New(info cql.TypeInfo) any {
	if t := d.GoType(info); t != nil {
		return reflect.New(t).Interface()
	}
	return new(any)
}

// Zero returns the zero value of type info: the value of GoType(info), but a new number for varint and decimal and a
// slice of zero values for a tuple. It is nil if GoType is.
func (d *Dialect) Zero(info cql.TypeInfo) any {
	switch info := info.(type) {
	case cql.TupleTypeInfo:
		zeros := make([]any, len(info.Elems))
		for i, e := range info.Elems {
			zeros[i] = d.Zero(e)
		}
		return zeros
	case cql.NativeType:
		switch cql.Type(info) {
		case cql.TypeVarint:
			return new(big.Int)
		case cql.TypeDecimal:
			return new(inf.Dec)
		}
	}
	if t := d.GoType(info); t != nil {
		return reflect.Zero(t).Interface()
	}
	return nil
}
