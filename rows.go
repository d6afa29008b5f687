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
	"unsafe"

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
		row := new(T) // one for all rows: what is stored in it is fresh each time
		for it.nextRow() {
			if mapping.plan != it.plan {
				if err := mapping.set(it.plan, reflect.TypeFor[T]()); err != nil {
					it.fail(err)
					break
				}
			}
			var zero T
			*row = zero
			if !mapping.scan(it, unsafe.Pointer(row)) {
				break
			}
			if !yield(*row, nil) {
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
	plan    *resultPlan // that it was made for
	dynamic bool        // the row is a map[string]any
	fields  []rowField  // by column
}

// rowField is where a column is stored.
type rowField struct {
	offset   uintptr
	goType   reflect.Type
	nullable bool
	decode   decodeAt // nil: the reference does it
}

func (m *rowMapping) set(plan *resultPlan, t reflect.Type) error {
	*m = rowMapping{plan: plan, dynamic: t == reflect.TypeFor[map[string]any]()}
	if m.dynamic {
		return nil
	}
	isStruct := isRowStruct(t)
	if !isStruct && len(plan.columns) != 1 {
		return fmt.Errorf("%w: a row of %d columns into one %v", ErrValueCount, len(plan.columns), t)
	}
	for _, col := range plan.columns {
		f := rowField{goType: t}
		if isStruct {
			sf, ok := fieldFor(t, col.Name)
			if !ok {
				err := fmt.Errorf("%w: the struct has no field for the column", ErrConversion)
				return &UnmarshalError{Column: col.Name, Type: col.TypeInfo, GoType: t.String(), Err: err}
			}
			f.goType, f.offset = sf.Type, offsetOf(t, sf.Index)
		}
		f.nullable = isNullable(f.goType)
		f.decode = planValueDecode(col.TypeInfo, f.goType)
		m.fields = append(m.fields, f)
	}
	return nil
}

// scan stores the current row in what base points to and reports success; it.err says why not.
func (m *rowMapping) scan(it *Iter, base unsafe.Pointer) bool {
	if m.dynamic {
		row := make(map[string]any, len(m.plan.columns))
		*(*map[string]any)(base) = row
		return it.scanMap(row)
	}
	for i := range m.fields {
		cell, ok := it.cell()
		if !ok {
			return false
		}
		f, col := &m.fields[i], &m.plan.columns[i]
		p := unsafe.Add(base, f.offset)
		var err error
		switch {
		case cell == nil && !f.nullable:
			err = ErrNull
		case f.decode == nil:
			err = reflectDecode(col.TypeInfo, cell, reflect.NewAt(f.goType, p).Interface())
		case cell != nil:
			err = f.decode(cell, p)
		} // else it is NULL, and the row is zero already
		if err != nil {
			it.fail(&UnmarshalError{Column: col.Name, Type: col.TypeInfo, GoType: f.goType.String(), Err: err})
			return false
		}
	}
	return true
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
