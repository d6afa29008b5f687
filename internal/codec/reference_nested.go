// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// The reference encoder of list, set, map, tuple, UDT and vector.

// appendContent appends a cell with content b; nil is NULL.
func appendContent(dst, b []byte) ([]byte, error) {
	if len(b) > math.MaxInt32 {
		return dst, errTooLong
	}
	return wire.AppendBytes(dst, b)
}

var errTooLong = fmt.Errorf("%w: more than %d bytes", cql.ErrRange, math.MaxInt32)

// appendElement appends an element that must not be NULL.
func appendElement(dst []byte, info cql.TypeInfo, v reflect.Value) ([]byte, error) {
	b, err := encodeReflect(info, v, 0)
	if err == nil && b == nil {
		err = cql.ErrNull
	}
	if err != nil {
		return dst, err
	}
	return appendContent(dst, sortedContent(info, b))
}

// encodeList returns the content of a list or set: the count and a [bytes] for each element. A nil slice or map is
// NULL.
func encodeList(info cql.CollectionType, v reflect.Value) ([]byte, error) {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Slice && v.IsNil(), t.Kind() == reflect.Map && v.IsNil() && isSetMap(info, t):
		return nil, nil
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		b := wire.AppendInt(nil, int32(v.Len()))
		for i := range v.Len() {
			var err error
			if b, err = appendElement(b, info.Elem, v.Index(i)); err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
		}
		return b, nil
	case isSetMap(info, t):
		b := wire.AppendInt(nil, int32(v.Len()))
		for _, key := range v.MapKeys() {
			var err error
			if b, err = appendElement(b, info.Elem, key); err != nil {
				return nil, fmt.Errorf("element %v: %w", key, err)
			}
		}
		return b, nil
	}
	return nil, noConversion(t)
}

// isSetMap reports whether t is a map without values, one of the Go types of a set.
func isSetMap(info cql.CollectionType, t reflect.Type) bool {
	return info.Type() == cql.TypeSet && t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct &&
		t.Elem().NumField() == 0
}

// encodeMap returns the content of a map in the order in which Go visits the entries. A nil map is NULL.
func encodeMap(info cql.CollectionType, v reflect.Value) ([]byte, error) {
	if v.Kind() != reflect.Map {
		return nil, noConversion(v.Type())
	}
	if v.IsNil() {
		return nil, nil
	}
	b := wire.AppendInt(nil, int32(v.Len()))
	for entry := v.MapRange(); entry.Next(); { // not by key: a lookup of NaN finds nothing
		var err error
		if b, err = appendElement(b, info.Key, entry.Key()); err != nil {
			return nil, fmt.Errorf("key %v: %w", entry.Key(), err)
		}
		if b, err = appendElement(b, info.Elem, entry.Value()); err != nil {
			return nil, fmt.Errorf("value of key %v: %w", entry.Key(), err)
		}
	}
	return b, nil
}

// encodeTuple encodes the elements of a slice or array, or the exported fields of a struct in order.
func encodeTuple(info cql.TupleTypeInfo, v reflect.Value) ([]byte, error) {
	var values []reflect.Value
	switch t := v.Type(); t.Kind() {
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && v.IsNil() {
			return nil, nil
		}
		for i := range v.Len() {
			values = append(values, v.Index(i))
		}
	case reflect.Struct:
		for _, f := range codedFields(t) {
			values = append(values, v.FieldByIndex(f.Index))
		}
	default:
		return nil, noConversion(t)
	}
	if len(values) != len(info.Elems) {
		return nil, fmt.Errorf("%w: %d values for a tuple of %d", cql.ErrDimension, len(values), len(info.Elems))
	}
	b := []byte{}
	for i, value := range values {
		content, err := encodeReflect(info.Elems[i], value, 0)
		if err == nil {
			b, err = appendContent(b, sortedContent(info.Elems[i], content))
		}
		if err != nil {
			return nil, fmt.Errorf("field %d: %w", i, err)
		}
	}
	return b, nil
}

// codedFields returns the fields of struct t that hold the elements of a tuple.
func codedFields(t reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && f.Tag.Get("cql") != "-" {
			fields = append(fields, f)
		}
	}
	return fields
}

// CheckFields returns an error if struct t cannot hold a value of info: if none of its fields is a field of info, or if
// a field of t is not. Without the check a misspelled field would write NULL and read nothing. A field of info that t
// lacks is not an error, because ALTER TYPE may have added it.
func CheckFields(t reflect.Type, info cql.UDTTypeInfo) error {
	found := findRowFields(t)
	if found.unreached != nil && !isLenient(t) {
		return found.unreached
	}
	used := map[string]bool{} // by the text of the index
	for _, elem := range info.Elements {
		if f, ok := FieldFor(t, elem.Name); ok {
			used[fmt.Sprint(f.Index)] = true
		}
	}
	for _, f := range found.fields {
		if !isLenient(t) && !used[fmt.Sprint(f.Index)] {
			return unknownField(t, f, info)
		}
	}
	if len(used) == 0 && len(info.Elements) > 0 { // a struct like time.Time: its whole content would be lost
		return noConversion(t)
	}
	return nil
}

// unknownField returns the error for field f of struct t, which holds no field of info.
func unknownField(t reflect.Type, f RowField, info cql.UDTTypeInfo) error {
	name := fmt.Sprintf("the field %v.%s", t, f.Name)
	if f.Tag != "" {
		name += fmt.Sprintf(" with the tag `cql:%q`", f.Tag)
	}
	return fmt.Errorf("%w: %s holds no field of %s: rename it, or leave it out by the tag `cql:\"-\"`",
		cql.ErrConversion, name, info)
}

// isLenient reports whether struct t has a field _ with the tag `cql:"lenient"`: fields of t that are no field of a UDT
// are left out.
func isLenient(t reflect.Type) bool {
	for i := range t.NumField() {
		if f := t.Field(i); f.Name == "_" && f.Tag.Get("cql") == "lenient" {
			return true
		}
	}
	return false
}

// encodeUDT encodes the fields of a struct or a map; missing fields are NULL. A map key or a field of a struct that is
// not a field of the UDT is an error, because its value would be lost.
func encodeUDT(info cql.UDTTypeInfo, v reflect.Value) ([]byte, error) {
	t := v.Type()
	var value func(name string) reflect.Value
	switch {
	case t.Kind() == reflect.Struct:
		if err := CheckFields(t, info); err != nil {
			return nil, err
		}
		value = func(name string) reflect.Value {
			if f, ok := FieldFor(t, name); ok {
				return v.FieldByIndex(f.Index)
			}
			return reflect.Value{}
		}
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		if v.IsNil() {
			return nil, nil
		}
		for _, key := range v.MapKeys() {
			if !slices.ContainsFunc(info.Elements, func(f cql.UDTField) bool { return f.Name == key.String() }) {
				return nil, fmt.Errorf("%w: %s has no field %q", cql.ErrConversion, info, key)
			}
		}
		value = func(name string) reflect.Value { return v.MapIndex(reflect.ValueOf(name).Convert(t.Key())) }
	default:
		return nil, noConversion(t)
	}
	b := []byte{}
	for _, f := range info.Elements {
		content, err := encodeReflect(f.Type, value(f.Name), 0)
		if err == nil {
			b, err = appendContent(b, sortedContent(f.Type, content))
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return b, nil
}

// encodeUDTMarshaler returns the content of a UDT, each field from a call of marshal.
func encodeUDTMarshaler(info cql.UDTTypeInfo, marshal marshalUDTFunc) ([]byte, error) {
	b := []byte{}
	for _, f := range info.Elements {
		content, err := callUDTMarshaler(marshal, f)
		if err == nil {
			b, err = appendContent(b, content)
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return b, nil
}

// encodeVector appends the elements: without lengths if fixedSize returns their size, otherwise each after its length
// as [unsigned vint]. There is no count and no NULL.
func encodeVector(info cql.VectorType, v reflect.Value) ([]byte, error) {
	t := v.Type()
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return nil, noConversion(t)
	}
	if t.Kind() == reflect.Slice && v.IsNil() {
		return nil, nil
	}
	if v.Len() != info.Dimensions {
		return nil, fmt.Errorf("%w: %d elements for a dimension of %d", cql.ErrDimension, v.Len(), info.Dimensions)
	}
	size := fixedSize(info.SubType)
	b := []byte{}
	for i := range v.Len() {
		element, err := encodeCoordinate(info.SubType, v.Index(i))
		switch {
		case err != nil:
		case element == nil:
			err = cql.ErrNull
		case size < 0:
			b = wire.AppendUvint(b, uint64(len(element)))
		case len(element) != size: // possible only with a Marshaler
			err = fmt.Errorf("%w: an element of %d bytes, want %d", cql.ErrRange, len(element), size)
		}
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		if b = append(b, element...); len(b) > math.MaxInt32 {
			return nil, errTooLong
		}
	}
	return b, nil
}
