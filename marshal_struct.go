// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"
)

// This file holds the plans of tuples and user-defined types: their fields one after the other, each a [bytes]; trailing ones may be
// missing and are NULL then (native_protocol_v5.spec, sections 5.23 and 5.24).

// field is a field of a tuple or UDT: where its Go value lies and how it is coded. A UDT field without a Go field has no plan.
type field struct {
	name   string
	offset uintptr
	encode encodeAt
	decode decodeAt
}

func planTupleEncode(info TupleTypeInfo, t reflect.Type) encodeAt {
	switch t.Kind() {
	case reflect.Struct, reflect.Array:
		fields := tupleFields(info, t, planEncodeField)
		if fields == nil {
			return nil
		}
		return func(dst []byte, p unsafe.Pointer) ([]byte, error) { return appendFields(dst, p, fields) }
	case reflect.Slice:
		return planTupleSliceEncode(info, t)
	}
	return nil
}

func planTupleDecode(info TupleTypeInfo, t reflect.Type) decodeAt {
	switch t.Kind() {
	case reflect.Struct, reflect.Array:
		fields := tupleFields(info, t, planDecodeField)
		if fields == nil {
			return nil
		}
		return func(cell []byte, p unsafe.Pointer) error { return decodeFields(cell, p, fields) }
	case reflect.Slice:
		fields := elementFields(info, t.Elem(), planDecodeField)
		if fields == nil {
			return nil
		}
		stride := t.Elem().Size()
		return func(cell []byte, p unsafe.Pointer) error {
			e, err := makeElements(t, p, len(fields), stride)
			if err != nil {
				return err
			}
			return decodeFields(cell, e.base, fields)
		}
	}
	return nil
}

func planTupleSliceEncode(info TupleTypeInfo, t reflect.Type) encodeAt {
	fields := elementFields(info, t.Elem(), planEncodeField)
	if fields == nil {
		return nil
	}
	stride := t.Elem().Size()
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
		e, null := sliceAt(p, stride)
		switch {
		case null:
			return appendNull(dst), nil
		case e.n != len(fields):
			return dst, fmt.Errorf("%w: %d values for a tuple of %d", ErrDimension, e.n, len(fields))
		}
		return appendFields(dst, e.base, fields)
	}
}

// planField completes a field for one direction; it reports whether there is a plan.
type planField func(f *field, info TypeInfo, t reflect.Type) bool

func planEncodeField(f *field, info TypeInfo, t reflect.Type) bool {
	f.encode = planEncode(info, t)
	return f.encode != nil
}

func planDecodeField(f *field, info TypeInfo, t reflect.Type) bool {
	f.decode = planDecode(info, t)
	return f.decode != nil
}

// tupleFields returns the fields of a tuple in a struct, by order, or an array; nil when the reference must do it.
func tupleFields(info TupleTypeInfo, t reflect.Type, plan planField) []field {
	if t.Kind() == reflect.Array {
		if t.Len() != len(info.Elems) {
			return nil
		}
		return elementFields(info, t.Elem(), plan)
	}
	s := fieldsOf(t)
	if s == nil || len(s) != len(info.Elems) {
		return nil
	}
	fields := make([]field, len(s))
	for i, sf := range s {
		fields[i] = field{name: sf.Name, offset: sf.Offset}
		if !plan(&fields[i], info.Elems[i], sf.Type) {
			return nil
		}
	}
	return fields
}

// elementFields returns the fields of a tuple whose values are elements of type t in a row.
func elementFields(info TupleTypeInfo, t reflect.Type, plan planField) []field {
	if len(info.Elems) == 0 {
		return nil
	}
	fields := make([]field, len(info.Elems))
	for i, elem := range info.Elems {
		fields[i] = field{name: fmt.Sprint(i), offset: uintptr(i) * t.Size()}
		if !plan(&fields[i], elem, t) {
			return nil
		}
	}
	return fields
}

func planUDTEncode(info UDTTypeInfo, t reflect.Type) encodeAt {
	if t.Kind() == reflect.Map {
		return planUDTMapEncode(info, t)
	}
	fields := udtFields(info, t, planEncodeField)
	if fields == nil {
		return nil
	}
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) { return appendFields(dst, p, fields) }
}

func planUDTDecode(info UDTTypeInfo, t reflect.Type) decodeAt {
	if t.Kind() == reflect.Map {
		return planUDTMapDecode(info, t)
	}
	fields := udtFields(info, t, planDecodeField)
	if fields == nil {
		return nil
	}
	return func(cell []byte, p unsafe.Pointer) error { return decodeFields(cell, p, fields) }
}

// udtFields returns a field of struct t for each field of a UDT: by tag, then by name, then by name in any case. nil when the
// reference must do it.
func udtFields(info UDTTypeInfo, t reflect.Type, plan planField) []field {
	if t.Kind() != reflect.Struct {
		return nil
	}
	s := fieldsOf(t)
	if s == nil || len(info.Elements) == 0 {
		return nil
	}
	found := false
	fields := make([]field, len(info.Elements))
	for i, f := range info.Elements {
		fields[i].name = f.Name
		sf, ok := findField(s, f.Name)
		if !ok {
			continue
		}
		found = true
		fields[i].offset = sf.Offset
		if !plan(&fields[i], f.Type, sf.Type) {
			return nil
		}
	}
	if !found {
		return nil
	}
	return fields
}

func findField(s []structField, name string) (structField, bool) {
	for _, same := range [...]func(f structField) bool{
		func(f structField) bool { return f.tag == name },
		func(f structField) bool { return f.tag == "" && f.Name == name },
		func(f structField) bool { return f.tag == "" && strings.EqualFold(f.Name, name) },
	} {
		for _, f := range s {
			if same(f) {
				return f, true
			}
		}
	}
	return structField{}, false
}

// mapFields returns the fields of a UDT in a map[string]X, each with its key.
func mapFields(info UDTTypeInfo, t reflect.Type, plan planField) (fields []field, keys []reflect.Value) {
	if t.Key().Kind() != reflect.String || len(info.Elements) == 0 {
		return nil, nil
	}
	for _, f := range info.Elements {
		mf := field{name: f.Name}
		if !plan(&mf, f.Type, t.Elem()) {
			return nil, nil
		}
		fields = append(fields, mf)
		keys = append(keys, reflect.ValueOf(f.Name).Convert(t.Key()))
	}
	return fields, keys
}

func planUDTMapEncode(info UDTTypeInfo, t reflect.Type) encodeAt {
	fields, keys := mapFields(info, t, planEncodeField)
	if fields == nil {
		return nil
	}
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
		m := reflect.NewAt(t, p).Elem()
		if m.IsNil() {
			return appendNull(dst), nil
		}
		known := 0
		for _, key := range keys {
			if m.MapIndex(key).IsValid() {
				known++
			}
		}
		if known != m.Len() { // the value of a key that is no field would be lost
			return dst, fmt.Errorf("%w: a key that is no field of %s", ErrConversion, info)
		}
		value := reflect.New(t.Elem())
		dst, at := beginCell(dst)
		for i, f := range fields {
			v := m.MapIndex(keys[i])
			if !v.IsValid() {
				dst = appendNull(dst)
				continue
			}
			value.Elem().Set(v)
			var err error
			if dst, err = f.encode(dst, value.UnsafePointer()); err != nil {
				return dst, fmt.Errorf("field %s: %w", f.name, err)
			}
		}
		return endCell(dst, at)
	}
}

func planUDTMapDecode(info UDTTypeInfo, t reflect.Type) decodeAt {
	fields, keys := mapFields(info, t, planDecodeField)
	if fields == nil {
		return nil
	}
	return func(cell []byte, p unsafe.Pointer) error {
		m := reflect.MakeMapWithSize(t, len(fields))
		value := reflect.New(t.Elem())
		for i := range fields {
			var err error
			if cell, err = decodeField(cell, value.UnsafePointer(), &fields[i]); err != nil {
				return err
			}
			m.SetMapIndex(keys[i], value.Elem())
		}
		if err := cellSize(cell, 0); err != nil {
			return err
		}
		reflect.NewAt(t, p).Elem().Set(m)
		return nil
	}
}

// structField is an exported field of a struct that is not tagged `cql:"-"`.
type structField struct {
	reflect.StructField
	tag string
}

var structFields sync.Map // reflect.Type -> []structField

// fieldsOf returns the fields of struct t that can be coded; nil when there are none, or embedded ones, which the reference knows about.
func fieldsOf(t reflect.Type) []structField {
	if s, ok := structFields.Load(t); ok {
		return s.([]structField)
	}
	var s []structField
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("cql")
		if f.Anonymous {
			s = nil
			break
		}
		if f.IsExported() && tag != "-" {
			s = append(s, structField{f, tag})
		}
	}
	structFields.Store(t, s)
	return s
}

// appendFields appends the values of a tuple or UDT whose Go value is at p.
func appendFields(dst []byte, p unsafe.Pointer, fields []field) ([]byte, error) {
	dst, at := beginCell(dst)
	var err error
	for i := range fields {
		f := &fields[i]
		if f.encode == nil {
			dst = appendNull(dst)
			continue
		}
		if dst, err = f.encode(dst, unsafe.Add(p, f.offset)); err != nil {
			return dst, fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	return endCell(dst, at)
}

// decodeFields decodes a tuple or UDT into the Go value at p.
func decodeFields(cell []byte, p unsafe.Pointer, fields []field) (err error) {
	for i := range fields {
		if cell, err = decodeField(cell, unsafe.Add(p, fields[i].offset), &fields[i]); err != nil {
			return err
		}
	}
	return cellSize(cell, 0)
}

// decodeField decodes the next field into the Go value at p, and returns the rest of the cell.
func decodeField(cell []byte, p unsafe.Pointer, f *field) (rest []byte, err error) {
	var value []byte
	if len(cell) > 0 {
		value, cell, err = cutCell(cell)
	}
	if err == nil && f.decode != nil {
		err = f.decode(value, p)
	}
	if err != nil {
		return nil, fmt.Errorf("field %s: %w", f.name, err)
	}
	return cell, nil
}
