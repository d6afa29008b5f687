// SPDX-License-Identifier: Apache-2.0

package sqlvecql

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Destinations of Go types that package database/sql has no conversion to.

// Scan returns a destination of Rows.Scan that stores a value in *dst by the conversions of vecql, for the types that
// package database/sql does not convert to: structs of user-defined types and tuples, sets as map[T]struct{}, arrays,
// netip.Addr, inf.Dec, NULL as a nil slice, the time.Time of a timeuuid:
//
//	err := db.QueryRow("SELECT address, tags FROM ...").Scan(sqlvecql.Scan(&address), sqlvecql.Scan(&tags))
//
// NULL is nil in pointers, slices, maps and interfaces, is not valid in a Null type, and is an error that wraps
// cql.ErrNull in any other type. Errors are of type *ScanError; package database/sql adds the name of the column.
// After an error *dst is unchanged.
func Scan[T any](dst *T) sql.Scanner { return scanner[T]{dst} }

type scanner[T any] struct{ dst *T }

// Scan implements sql.Scanner.
func (s scanner[T]) Scan(src any) error {
	if v, ok := src.(T); ok && reflect.TypeFor[T]().Kind() != reflect.Interface {
		*s.dst = v
		return nil
	}
	var v T
	if err := assign(reflect.ValueOf(&v).Elem(), src); err != nil {
		return &ScanError{GoType: fmt.Sprintf("*%v", reflect.TypeFor[T]()), ValueType: fmt.Sprintf("%T", src), Err: err}
	}
	*s.dst = v
	return nil
}

// An Of is a value of a column as a field of a struct, for packages such as sqlx: it is scanned into as Scan does, and
// bound as V. A V of a pointer type can be NULL.
type Of[T any] struct{ V T }

// Scan implements sql.Scanner.
func (o *Of[T]) Scan(src any) error { return Scan(&o.V).Scan(src) }

// Value implements driver.Valuer. Only this driver takes every type of V.
func (o Of[T]) Value() (driver.Value, error) { return valueOf(o.V) }

// A ScanError means that a value could not be stored in a destination of Scan. Err wraps one of the errors of package
// vecql, such as ErrConversion, ErrRange, ErrDimension and ErrNull.
type ScanError struct {
	GoType    string // of the destination, such as "*[3]float32"
	ValueType string // of the value, such as "[]float32"; "<nil>" for NULL
	Err       error
}

func (e *ScanError) Error() string {
	return fmt.Sprintf("sqlvecql: scan a value of type %s into %s: %v", e.ValueType, e.GoType, e.Err)
}

// Unwrap returns Err.
func (e *ScanError) Unwrap() error { return e.Err }

// assign stores a value of a row in v, which is zero.
func assign(v reflect.Value, src any) error {
	t := v.Type()
	at := reflect.ValueOf(src)
	switch {
	case src == nil:
		return assignNull(v)
	case at.Type().AssignableTo(t):
		v.Set(at)
		return nil
	case t.Kind() == reflect.Pointer:
		p := reflect.New(t.Elem())
		if err := assign(p.Elem(), src); err != nil {
			return err
		}
		v.Set(p)
		return nil
	case codec.IsNull(t):
		v.Field(1).SetBool(true)
		return assign(v.Field(0), src)
	}
	if s, ok := v.Addr().Interface().(sql.Scanner); ok && t != reflect.TypeFor[cql.UUID]() {
		return s.Scan(driverValue(src))
	}
	if info := leafType(src, t); info != nil {
		return convert(v, info, src)
	}
	switch at.Kind() {
	case reflect.Slice:
		if _, isTuple := src.([]any); isTuple && t.Kind() == reflect.Struct {
			return assignTuple(v, at)
		}
		return assignSlice(v, at)
	case reflect.Map:
		return assignMap(v, at)
	}
	return noConversion(at.Type(), t)
}

// driverValue returns an element of a collection as the value that a column of its type has.
func driverValue(src any) driver.Value {
	at := reflect.ValueOf(src)
	switch leafTypes[at.Type()] {
	case cql.TypeTimeUUID, cql.TypeDecimal, cql.TypeVarint, cql.TypeInet, cql.TypeDuration:
		return fmt.Sprint(src)
	case cql.TypeTime:
		return src
	}
	switch {
	case at.CanInt():
		return at.Int()
	case at.CanFloat():
		return at.Float()
	}
	return src
}

// assignNull stores NULL.
func assignNull(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return nil
	}
	if codec.IsNull(v.Type()) {
		return nil
	}
	if s, ok := v.Addr().Interface().(sql.Scanner); ok {
		return s.Scan(nil)
	}
	return fmt.Errorf("%w: use a pointer or a Null type", cql.ErrNull)
}

func noConversion(from, to reflect.Type) error {
	return fmt.Errorf("%w: %v to %v", cql.ErrConversion, from, to)
}

// leafTypes are the CQL types of values that are not a collection.
var leafTypes = map[reflect.Type]cql.Type{
	reflect.TypeFor[bool](): cql.TypeBoolean, reflect.TypeFor[int8](): cql.TypeTinyInt,
	reflect.TypeFor[int16](): cql.TypeSmallInt, reflect.TypeFor[int](): cql.TypeInt,
	reflect.TypeFor[int64](): cql.TypeBigInt, reflect.TypeFor[float32](): cql.TypeFloat,
	reflect.TypeFor[float64](): cql.TypeDouble, reflect.TypeFor[[]byte](): cql.TypeBlob,
	reflect.TypeFor[*big.Int](): cql.TypeVarint, reflect.TypeFor[cql.UUID](): cql.TypeTimeUUID,
	reflect.TypeFor[net.IP](): cql.TypeInet, reflect.TypeFor[time.Time](): cql.TypeTimestamp,
	reflect.TypeFor[time.Duration](): cql.TypeTime, reflect.TypeFor[cql.Duration](): cql.TypeDuration,
	codec.DefaultGoType(cql.NativeType(cql.TypeDecimal)): cql.TypeDecimal,
}

// textTypes are the CQL types of text, by the Go type of the destination: rows have text for several types.
var textTypes = map[reflect.Type]cql.Type{
	reflect.TypeFor[cql.UUID](): cql.TypeUUID, reflect.TypeFor[time.Time](): cql.TypeTimeUUID,
	reflect.TypeFor[net.IP](): cql.TypeInet, reflect.TypeFor[netip.Addr](): cql.TypeInet,
	reflect.TypeFor[cql.Duration](): cql.TypeDuration, reflect.TypeFor[time.Duration](): cql.TypeDuration,
	reflect.TypeFor[big.Int](): cql.TypeVarint, reflect.TypeFor[cql.Decimal](): cql.TypeDecimal,
	codec.DefaultGoType(cql.NativeType(cql.TypeDecimal)).Elem(): cql.TypeDecimal,
}

// textType returns the CQL type by which text is converted to t.
func textType(t reflect.Type) cql.Type {
	typ, ok := textTypes[t]
	switch {
	case ok:
		return typ
	case t.Kind() == reflect.Array:
		return cql.TypeUUID
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return cql.TypeVarint
	}
	return cql.TypeText
}

// leafType returns the CQL type by which a value is converted to t, nil if it is a collection.
func leafType(src any, t reflect.Type) cql.TypeInfo {
	if _, ok := src.(string); ok {
		return cql.NativeType(textType(t))
	}
	if typ, ok := leafTypes[reflect.TypeOf(src)]; ok {
		return cql.NativeType(typ)
	}
	return nil
}

// convert stores a value by the conversions from a CQL type.
func convert(v reflect.Value, info cql.TypeInfo, src any) error {
	text, isText := src.(string)
	switch info.Type() {
	case cql.TypeFloat:
		if v.Kind() == reflect.Float64 {
			v.SetFloat(float64(src.(float32)))
			return nil
		}
	case cql.TypeDouble:
		if v.Kind() == reflect.Float32 {
			return setFloat32(v, src.(float64))
		}
	case cql.TypeDecimal:
		if isText {
			d, err := cql.ParseDecimal(text)
			if err != nil {
				return fmt.Errorf("%w: %.60q is not a decimal", cql.ErrConversion, text)
			}
			src = d
		}
	case cql.TypeTimeUUID:
		if id, err := cql.ParseUUID(text); err == nil && id.Version() != 1 {
			return fmt.Errorf("%w: %s is not a time UUID", cql.ErrConversion, text)
		}
	}
	cell, err := vecql.Marshal(info, src)
	if err == nil {
		err = vecql.Unmarshal(info, cell, v.Addr().Interface())
	}
	return cause(err)
}

func setFloat32(v reflect.Value, f float64) error {
	if narrow := float32(f); float64(narrow) != f && f == f {
		return fmt.Errorf("%w: %v is not a float32", cql.ErrRange, f)
	}
	v.SetFloat(f)
	return nil
}

// cause returns the reason of an error of the codec, which names CQL types that the column need not have.
func cause(err error) error {
	switch e := err.(type) { //nolint:errorlint // the codec returns these types themselves
	case *cql.MarshalError:
		return e.Err
	case *cql.UnmarshalError:
		return e.Err
	}
	return err
}

// assignSlice stores the elements of a list, set, vector or tuple in a slice, array or map[T]struct{}.
func assignSlice(v, at reflect.Value) error {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Array && t.Len() != at.Len():
		return fmt.Errorf("%w: %d elements into %v", cql.ErrDimension, at.Len(), t)
	case t.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(t, at.Len(), at.Len()))
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct && t.Elem().NumField() == 0:
		v.Set(reflect.MakeMapWithSize(t, at.Len()))
	case t.Kind() != reflect.Array:
		return noConversion(at.Type(), t)
	}
	if t.Kind() != reflect.Map && t.Elem() == at.Type().Elem() {
		reflect.Copy(v, at)
		return nil
	}
	for i := range at.Len() {
		var err error
		if t.Kind() == reflect.Map {
			err = assignKey(v, at.Index(i).Interface(), reflect.Zero(t.Elem()))
		} else {
			err = assign(v.Index(i), at.Index(i).Interface())
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

// assignKey stores an entry of a map.
func assignKey(m reflect.Value, key any, value reflect.Value) error {
	k := reflect.New(m.Type().Key()).Elem()
	if err := assign(k, key); err != nil {
		return err
	}
	if !k.Comparable() {
		return fmt.Errorf("%w: keys of Go type %v are not comparable", cql.ErrConversion, k.Type())
	}
	m.SetMapIndex(k, value)
	return nil
}

// assignMap stores a map in a map, or a user-defined type in a map or struct.
func assignMap(v, at reflect.Value) error {
	t := v.Type()
	fields, isUDT := at.Interface().(map[string]any)
	switch {
	case t.Kind() == reflect.Map:
		v.Set(reflect.MakeMapWithSize(t, at.Len()))
	case t.Kind() == reflect.Struct && isUDT:
		return assignFields(v, fields)
	default:
		return noConversion(at.Type(), t)
	}
	for entries := at.MapRange(); entries.Next(); {
		value := reflect.New(t.Elem()).Elem()
		err := assign(value, entries.Value().Interface())
		if err == nil {
			err = assignKey(v, entries.Key().Interface(), value)
		}
		if err != nil {
			return fmt.Errorf("key %v: %w", entries.Key(), err)
		}
	}
	return nil
}

// assignFields stores the fields of a user-defined type in a struct, which has a field for some of them and no other,
// as in vecql.
func assignFields(v reflect.Value, fields map[string]any) error {
	info := cql.UDTTypeInfo{Name: "the user-defined type"}
	for name := range fields {
		info.Elements = append(info.Elements, cql.UDTField{Name: name})
	}
	if err := codec.CheckFields(v.Type(), info); err != nil {
		return err
	}
	for name, value := range fields {
		if f, ok := codec.FieldFor(v.Type(), name); ok {
			if err := assign(v.FieldByIndex(f.Index), value); err != nil {
				return fmt.Errorf("field %s: %w", name, err)
			}
		}
	}
	return nil
}

// assignTuple stores the elements of a tuple in the exported fields of a struct, in order.
func assignTuple(v, at reflect.Value) error {
	var fields []reflect.StructField
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.IsExported() && !f.Anonymous && f.Tag.Get("cql") != "-" {
			fields = append(fields, f)
		}
	}
	if len(fields) != at.Len() {
		return fmt.Errorf("%w: a tuple of %d into %v", cql.ErrDimension, at.Len(), v.Type())
	}
	for i, f := range fields {
		if err := assign(v.FieldByIndex(f.Index), at.Index(i).Interface()); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}
