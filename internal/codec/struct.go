// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/vecql/vecql/cql"
)

// Plans of tuples and user-defined types: their fields in order, each a [bytes]. Fields missing at the end are NULL
// (native_protocol_v5.spec, sections 5.23 and 5.24).

// field is a field of a tuple or UDT: the offset of its Go value, and its plan. A UDT field without a Go field has no
// plan.
type field struct {
	name   string
	offset uintptr
	encode EncodeAt
	decode DecodeAt
}

// planTupleEncode returns the plan of a tuple in a struct (fields in order), an array or a slice.
func planTupleEncode(info cql.TupleTypeInfo, t reflect.Type) EncodeAt {
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

// planTupleDecode returns the plan for a struct (fields in order), an array, or a slice, which is allocated.
func planTupleDecode(info cql.TupleTypeInfo, t reflect.Type) DecodeAt {
	switch t.Kind() {
	case reflect.Struct, reflect.Array:
		fields := tupleFields(info, t, planDecodeField)
		if fields == nil {
			return nil
		}
		return func(cell []byte, p unsafe.Pointer, s *Shared) error { return decodeFields(cell, p, fields, s) }
	case reflect.Slice:
		fields := elementFields(info, t.Elem(), planDecodeField)
		if fields == nil {
			return nil
		}
		stride := t.Elem().Size()
		return func(cell []byte, p unsafe.Pointer, s *Shared) error {
			old := keptSlice(t, p)
			e, err := makeElements(t, p, len(fields), stride)
			if err != nil {
				return err
			}
			if err := decodeFields(cell, e.base, fields, s); err != nil {
				old.restore()
				return err
			}
			return nil
		}
	}
	return nil
}

// planTupleSliceEncode returns the plan of a tuple in a slice that has as many elements as the tuple has fields.
func planTupleSliceEncode(info cql.TupleTypeInfo, t reflect.Type) EncodeAt {
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
			return dst, fmt.Errorf("%w: %d values for a tuple of %d", cql.ErrDimension, e.n, len(fields))
		}
		return appendFields(dst, e.base, fields)
	}
}

// planField sets the plan of one direction in a field and reports whether there is one.
type planField func(f *field, info cql.TypeInfo, t reflect.Type) bool

func planEncodeField(f *field, info cql.TypeInfo, t reflect.Type) bool {
	f.encode = sortedEncode(info, PlanEncode(info, t))
	return f.encode != nil
}

func planDecodeField(f *field, info cql.TypeInfo, t reflect.Type) bool {
	f.decode = planCell(info, t)
	return f.decode != nil
}

// tupleFields returns the fields of a tuple in a struct, by order, or in an array. nil means none: the tuple takes the
// reference.
func tupleFields(info cql.TupleTypeInfo, t reflect.Type, plan planField) []field {
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

// elementFields returns the fields of a tuple whose values are consecutive elements of type t.
func elementFields(info cql.TupleTypeInfo, t reflect.Type, plan planField) []field {
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

func planUDTEncode(info cql.UDTTypeInfo, t reflect.Type) EncodeAt {
	if t.Kind() == reflect.Map {
		return planUDTMapEncode(info, t)
	}
	fields := udtFields(info, t, planEncodeField)
	if fields == nil {
		return nil
	}
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) { return appendFields(dst, p, fields) }
}

func planUDTDecode(info cql.UDTTypeInfo, t reflect.Type) DecodeAt {
	if t.Kind() == reflect.Map {
		return planUDTMapDecode(info, t)
	}
	fields := udtFields(info, t, planDecodeField)
	if fields == nil {
		return nil
	}
	return func(cell []byte, p unsafe.Pointer, s *Shared) error { return decodeFields(cell, p, fields, s) }
}

// udtFields returns the field of struct t for each field of a UDT: by tag, then by name, then by name in any case. nil
// means none: the UDT takes the reference, which returns the error if a field of t is no field of the UDT.
func udtFields(info cql.UDTTypeInfo, t reflect.Type, plan planField) []field {
	if t.Kind() != reflect.Struct {
		return nil
	}
	s := fieldsOf(t)
	if s == nil || len(info.Elements) == 0 {
		return nil
	}
	found := map[string]bool{}
	fields := make([]field, len(info.Elements))
	for i, f := range info.Elements {
		fields[i].name = f.Name
		sf, ok := findField(s, f.Name)
		if !ok {
			continue
		}
		found[sf.Name] = true
		fields[i].offset = sf.Offset
		if !plan(&fields[i], f.Type, sf.Type) {
			return nil
		}
	}
	if len(found) == 0 || len(found) < len(s) && !isLenient(t) {
		return nil
	}
	return fields
}

// findField returns the struct's field for a CQL name: one with the name as its tag, else one without a tag of the same
// name, else one without a tag whose name differs in case only.
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
func mapFields(info cql.UDTTypeInfo, t reflect.Type, plan planField) (fields []field, keys []reflect.Value) {
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

// planUDTMapEncode returns the plan of a UDT in a map from field names to values. A missing key is NULL; a key that is
// no field is an error.
func planUDTMapEncode(info cql.UDTTypeInfo, t reflect.Type) EncodeAt {
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
		if known != m.Len() { // a key that is not a field: its value would be lost
			return dst, fmt.Errorf("%w: a key is not a field of %s", cql.ErrConversion, info)
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

// planUDTMapDecode returns the plan for a fresh map with a key for every field of the UDT.
func planUDTMapDecode(info cql.UDTTypeInfo, t reflect.Type) DecodeAt {
	fields, keys := mapFields(info, t, planDecodeField)
	if fields == nil {
		return nil
	}
	return func(cell []byte, p unsafe.Pointer, s *Shared) error {
		m := reflect.MakeMapWithSize(t, len(fields))
		value := reflect.New(t.Elem())
		for i := range fields {
			var err error
			if cell, err = decodeField(cell, value.UnsafePointer(), &fields[i], s); err != nil {
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

// fieldsOf returns the encodable fields of struct t. It returns nil for a struct with embedded fields, which takes the
// reference.
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
func decodeFields(cell []byte, p unsafe.Pointer, fields []field, s *Shared) (err error) {
	for i := range fields {
		if cell, err = decodeField(cell, unsafe.Add(p, fields[i].offset), &fields[i], s); err != nil {
			return err
		}
	}
	return cellSize(cell, 0)
}

// decodeField decodes the next field into the Go value at p, and returns the rest of the cell.
func decodeField(cell []byte, p unsafe.Pointer, f *field, s *Shared) (rest []byte, err error) {
	var value []byte
	if len(cell) > 0 {
		value, cell, err = cutCell(cell)
	}
	if err == nil && f.decode != nil {
		err = f.decode(value, p, s)
	}
	if err != nil {
		return nil, fmt.Errorf("field %s: %w", f.name, err)
	}
	return cell, nil
}
