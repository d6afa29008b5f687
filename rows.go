// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"encoding"
	"fmt"
	"iter"
	"math/big"
	"reflect"
	"time"

	"gopkg.in/inf.v0"
)

// This file holds typed rows: a Go type per row, checked against the columns once per result and not once per row.

var (
	bigIntPointer  = reflect.TypeFor[*big.Int]()
	decimalPointer = reflect.TypeFor[*inf.Dec]()
)

// Rows runs q and returns its rows as values of T, with the error that ends them, if one does, as the last pair. T is
//   - a struct: every column must have its field, by the tag `cql:"name"`, else by name, upper and lower case being the same;
//     fields without a column stay zero;
//   - any other type that a column can be decoded into: the result must have one column;
//   - map[string]any: the columns by name, NULL is nil.
//
// Unlike Scan, a NULL in a type that can't hold it is an error that wraps ErrNull: use pointers or Null.
// Each value is fresh memory that the caller may keep. The loop may be left at any row; nothing needs to be closed.
func Rows[T any](ctx context.Context, q *Query) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		it := q.IterContext(ctx)
		defer func() { _ = it.Close() }()
		var mapping rowMapping
		var columns []ColumnInfo
		for it.nextRow() {
			if cur := it.Columns(); columns == nil || len(cur) != len(columns) || &cur[0] != &columns[0] {
				columns = cur
				var err error
				if mapping, err = mapRow(reflect.TypeFor[T](), columns); err != nil {
					it.fail(err)
					break
				}
			}
			var row T
			if !mapping.scan(it, reflect.ValueOf(&row).Elem()) {
				break
			}
			if !yield(row, nil) {
				return
			}
		}
		if err := it.Close(); err != nil {
			var zero T
			yield(zero, err)
		}
	}
}

// rowMapping says where each column of a row is stored.
type rowMapping struct {
	dynamic  bool    // into a map
	fields   [][]int // per column: the field's index; nil when the row is the one column's value
	nullable []bool  // per column
}

func mapRow(t reflect.Type, columns []ColumnInfo) (rowMapping, error) {
	if t == reflect.TypeFor[map[string]any]() {
		return rowMapping{dynamic: true}, nil
	}
	if !isRowStruct(t) {
		if len(columns) != 1 {
			return rowMapping{}, fmt.Errorf("%w: a row of %d columns into one %v", ErrValueCount, len(columns), t)
		}
		return rowMapping{nullable: []bool{isNullable(t)}}, nil
	}
	m := rowMapping{fields: make([][]int, len(columns)), nullable: make([]bool, len(columns))}
	for i, col := range columns {
		f, ok := fieldFor(t, col.Name)
		if !ok {
			return m, &UnmarshalError{Column: col.Name, Type: col.TypeInfo, GoType: t.String(), Err: fmt.Errorf("%w: the struct has no field for the column", ErrConversion)}
		}
		m.fields[i], m.nullable[i] = f.Index, isNullable(f.Type)
	}
	return m, nil
}

// isRowStruct reports whether t holds a row rather than the value of one column.
func isRowStruct(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[Duration]() ||
		t == bigIntPointer.Elem() || t == decimalPointer.Elem() || t.PkgPath() == "database/sql" {
		return false
	}
	p := reflect.PointerTo(t)
	for _, i := range []reflect.Type{
		reflect.TypeFor[Unmarshaler](), reflect.TypeFor[UDTUnmarshaler](), reflect.TypeFor[nullable](),
		reflect.TypeFor[encoding.TextUnmarshaler](),
	} {
		if p.Implements(i) {
			return false
		}
	}
	return true
}

// isNullable reports whether t tells NULL from every value.
func isNullable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	}
	p := reflect.PointerTo(t)
	return t.PkgPath() == "database/sql" || p.Implements(reflect.TypeFor[nullable]()) || p.Implements(reflect.TypeFor[Unmarshaler]())
}

// scan stores the current row in v and reports success; it.err says why not.
func (m *rowMapping) scan(it *Iter, v reflect.Value) bool {
	if m.dynamic {
		v.Set(reflect.MakeMapWithSize(v.Type(), len(it.Columns())))
	}
	for i, col := range it.Columns() {
		cell, ok := it.cell()
		if !ok {
			return false
		}
		if m.dynamic {
			var value any
			if err := it.decode(i, cell, &value); err != nil {
				it.fail(err)
				return false
			}
			v.Interface().(map[string]any)[col.Name] = value
			continue
		}
		dest := v
		if m.fields != nil {
			dest = v.FieldByIndex(m.fields[i])
		}
		if cell == nil && !m.nullable[i] {
			it.fail(&UnmarshalError{Column: col.Name, Type: col.TypeInfo, GoType: dest.Type().String(), Err: ErrNull})
			return false
		}
		if err := it.decode(i, cell, dest.Addr().Interface()); err != nil {
			it.fail(err)
			return false
		}
	}
	return true
}
