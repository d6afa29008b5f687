// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"reflect"

	"github.com/vecql/vecql/compat"
	api "github.com/vecql/vecql/compat/api"
)

// Values and cells: the codec interfaces of the API, and Marshal and Unmarshal.

// dialect has this API's meanings of values.
var dialect = compat.V2

func init() { api.RegisterCodec(fromCQL) }

// Marshal encodes value as a cell of a CQL type; nil bytes mean NULL.
func Marshal(info TypeInfo, value any) ([]byte, error) {
	if typ, ok := toCQL(info); ok {
		data, err := dialect.Marshal(typ, value)
		return data, plain(err)
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, nil
		}
		if _, ok := value.(Marshaler); !ok {
			return Marshal(info, v.Elem().Interface())
		}
	}
	if m, ok := value.(Marshaler); ok {
		return m.MarshalCQL(info)
	}
	return info.Marshal(value)
}

// Unmarshal decodes a cell of a CQL type into the pointer value; nil bytes mean NULL.
func Unmarshal(info TypeInfo, data []byte, value any) error {
	if typ, ok := toCQL(info); ok {
		return plain(dialect.Unmarshal(typ, data, value))
	}
	if u, ok := value.(Unmarshaler); ok {
		return u.UnmarshalCQL(info, data)
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && !v.IsNil() {
		switch elem := v.Elem(); elem.Kind() {
		case reflect.Pointer:
			if data == nil {
				elem.SetZero()
				return nil
			}
			fresh := reflect.New(elem.Type().Elem())
			elem.Set(fresh)
			return Unmarshal(info, data, fresh.Interface())
		case reflect.Slice, reflect.Map, reflect.Interface:
			if data == nil {
				elem.SetZero()
				return nil
			}
		}
	}
	return info.Unmarshal(data, value)
}

func marshalAs(info TypeInfo, value any) ([]byte, error) {
	typ, ok := toCQL(info)
	if !ok {
		return nil, MarshalError(fmt.Sprintf("cannot marshal %T: a type inside %v has no codec here", value, info))
	}
	data, err := dialect.Marshal(typ, value)
	return data, plain(err)
}

func unmarshalAs(info TypeInfo, data []byte, value any) error {
	typ, ok := toCQL(info)
	if !ok {
		return UnmarshalError(fmt.Sprintf("cannot unmarshal into %T: a type inside %v has no codec here", value, info))
	}
	return plain(dialect.Unmarshal(typ, data, value))
}

func zeroOf(info TypeInfo) any {
	typ, ok := toCQL(info)
	if !ok {
		return nil
	}
	return dialect.Zero(typ)
}
