// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"
)

// This file holds typed statements: bind markers that take their values from the fields of a struct. What is to be done with each field
// is decided once, so that executing one costs no allocation.

// Statement is a query whose values come from a P, prepared once. It does not change and may be used by any number of goroutines.
type Statement[P any] struct {
	query  Query
	source recordType
}

// Prepare prepares q, whose values are ignored, for values of P, and checks that every bind marker has one. P is
//   - a struct: each bind marker has its field, by the tag `cql:"name"`, else by name, upper and lower case being the same;
//   - any other type that can be bound: the statement must have one bind marker.
//
// Consistency and other options are those of q; a timestamp that was set holds for every execution.
func Prepare[P any](ctx context.Context, q *Query) (*Statement[P], error) {
	st := &Statement[P]{query: *q}
	st.query.values, st.query.binding, st.query.record = nil, nil, record{}
	st.source.goType = reflect.TypeFor[P]()
	stmt, err := q.session.prepare(ctx, q.keyspace, q.stmt)
	if err != nil {
		return nil, err
	}
	if _, err := st.source.fieldsFor(stmt); err != nil {
		return nil, err
	}
	return st, nil
}

// Exec executes the statement with the values of v and reads no rows. v is not retained; it must not change meanwhile.
func (st *Statement[P]) Exec(ctx context.Context, v *P) error {
	return st.query.exec(ctx, record{&st.source, unsafe.Pointer(v)})
}

// Scan executes the statement with the values of v and stores the first row in dest, as Query.ScanContext does: ErrNotFound when there
// is none.
func (st *Statement[P]) Scan(ctx context.Context, v *P, dest ...any) error {
	return st.query.scan(ctx, record{&st.source, unsafe.Pointer(v)}, dest)
}

// Query returns the query with the values of v, for all other verbs and options. The values are read when it is run.
func (st *Statement[P]) Query(v *P) *Query {
	q := st.query
	q.record = record{&st.source, unsafe.Pointer(v)}
	return &q
}

// record is where the values of a query come from: base points to a value of source.goType. The zero value says that they come from elsewhere.
type record struct {
	source *recordType
	base   unsafe.Pointer
}

// bind makes the record the values of stmt.
func (r *record) bind(b *bindings, stmt *statement) error {
	fields, err := r.source.fieldsFor(stmt)
	if err != nil {
		return err
	}
	if r.base == nil {
		return fmt.Errorf("%w: a nil *%v", ErrNull, r.source.goType)
	}
	b.stmt, b.record, b.fields, b.n = stmt, r.base, fields, len(stmt.bind)
	return nil
}

// recordType is the Go type of the records of a statement, and what to do with its fields.
type recordType struct {
	goType reflect.Type
	last   atomic.Pointer[recordFields]
}

// recordFields are the fields for the markers of one preparation of a statement: when a table was altered, another one follows.
type recordFields struct {
	stmt   *statement
	fields []markerField
}

// fieldsFor returns the field for each bind marker of stmt.
func (t *recordType) fieldsFor(stmt *statement) ([]markerField, error) {
	if last := t.last.Load(); last != nil && last.stmt == stmt {
		return last.fields, nil
	}
	fields := make([]markerField, len(stmt.bind))
	isStruct := isRowStruct(t.goType) && !hasOwnCodec(t.goType)
	if !isStruct && len(fields) != 1 {
		return nil, fmt.Errorf("%w: one %v for %d bind markers of %q", ErrValueCount, t.goType, len(fields), stmt.text)
	}
	for i, col := range stmt.bind {
		f := &fields[i]
		f.goType = t.goType
		if isStruct {
			sf, ok := fieldFor(t.goType, col.Name)
			if !ok {
				err := fmt.Errorf("%w: the struct has no field for the bind marker", ErrConversion)
				return nil, &MarshalError{Column: col.Name, Type: col.TypeInfo, GoType: t.goType.String(), Err: err}
			}
			f.goType, f.offset = sf.Type, offsetOf(t.goType, sf.Index)
		}
		if f.goType.Kind() != reflect.Interface { // which may hold UnsetValue: the reference knows of it
			f.encode = planEncode(col.TypeInfo, f.goType)
		}
	}
	t.last.Store(&recordFields{stmt, fields})
	return fields, nil
}

// offsetOf returns where a field that fieldFor found lies in struct t.
func offsetOf(t reflect.Type, index []int) (offset uintptr) {
	for _, i := range index {
		f := t.Field(i)
		offset += f.Offset
		t = f.Type
	}
	return offset
}
