// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/errtext"
)

// Typed statements: each bind marker takes its value from a field of a struct. The encoder of each field is chosen
// once, so that executing a statement does not allocate.

// A Statement executes a prepared query with the values of a P. It is immutable and safe for use by any number of
// goroutines.
type Statement[P any] struct {
	query  Query
	source recordType
}

// Prepare prepares q for values of P and checks that P has a value for every bind marker. The values of q are ignored.
// P is
//   - a struct: each bind marker takes its value from the field of its name, by the tag `cql:"name"`, else by field
//     name, ignoring case. Fields without a marker are ignored, so that one struct serves statements that use some of
//     its columns;
//   - any other type that can be bound: the statement must have one bind marker.
//
// The server names a marker ? after its column. Two markers ? for one column, as in UPDATE t SET name = ? WHERE id = ?
// IF name = ?, would both take their value from one field: Prepare refuses them with an error that wraps ErrValueCount.
// Use named markers, SET name = :new ... IF name = :old, with a field each. Two markers of the same name take the value
// of one field.
//
// Consistency and other options are those of q. A timestamp set on q applies to every execution.
func Prepare[P any](ctx context.Context, q *Query) (*Statement[P], error) {
	st := &Statement[P]{query: *q}
	st.query.values, st.query.binding, st.query.record = nil, nil, record{}
	st.source.goType = reflect.TypeFor[P]()
	stmt, err := q.session.prepare(ctx, q.policies, q.keyspace, q.stmt)
	if err != nil {
		return nil, err
	}
	if _, err := st.source.fieldsFor(stmt); err != nil {
		return nil, err
	}
	return st, nil
}

// Exec executes the statement with the values of v and discards its rows. v is not retained and must not change until
// Exec returns.
func (st *Statement[P]) Exec(ctx context.Context, v *P) error {
	return st.query.exec(ctx, record{source: &st.source, base: unsafe.Pointer(v)})
}

// Scan executes the statement with the values of v and stores the first row in dest, as Query.Scan does. It
// returns ErrNotFound if there is no row.
func (st *Statement[P]) Scan(ctx context.Context, v *P, dest ...any) error {
	return st.query.scan(ctx, record{source: &st.source, base: unsafe.Pointer(v)}, dest)
}

// Query returns a query with the values of v, for other verbs and options. The query reads the values each time it
// runs.
func (st *Statement[P]) Query(v *P) *Query {
	q := st.query
	q.record = record{source: &st.source, base: unsafe.Pointer(v)}
	return &q
}

// A record holds the values of one execution: base points to a value of source.goType, or row is the number of a row of
// batch. The zero record means that the query itself holds the values.
type record struct {
	source *recordType
	base   unsafe.Pointer
	rows   *rowSource
	batch  *column.Batch
	row    int
}

func (r *record) isSet() bool { return r.source != nil || r.rows != nil }

// bind sets the record as the values of stmt.
func (r *record) bind(b *bindings, stmt *statement) error {
	if r.rows != nil {
		return r.rows.bind(b, stmt, r.batch, r.row)
	}
	fields, err := r.source.fieldsFor(stmt)
	if err != nil {
		return err
	}
	if r.base == nil {
		return errtext.Errorf("%w: a nil *%v", cql.ErrNull, r.source.goType)
	}
	b.stmt, b.record, b.fields, b.n = stmt, r.base, fields, len(stmt.bind)
	return nil
}

// recordType is the Go type of the records of a statement, with the encoders of its fields.
type recordType struct {
	goType reflect.Type
	last   atomic.Pointer[recordFields]
}

// recordFields are the fields for the markers of one preparation of a statement. Altering the table may lead to another
// preparation.
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
	sources := newMarkerSources(stmt)
	isStruct := codec.IsRowStruct(t.goType) && !codec.HasOwnCodec(t.goType)
	if !isStruct && len(fields) != 1 {
		return nil, errtext.Errorf("%w: one %v for %d bind markers of %q", ErrValueCount, t.goType, len(fields), stmt.text)
	}
	if isStruct {
		if _, err := codec.RowFields(t.goType); err != nil {
			return nil, errtext.Errorf("bind the fields of a struct: %w", err)
		}
	}
	for i, col := range stmt.bind {
		f := &fields[i]
		f.goType = t.goType
		if isStruct {
			sf, ok := codec.FieldFor(t.goType, col.Name)
			if !ok {
				err := errtext.Errorf("%w: the struct has no field for the bind marker", cql.ErrConversion)
				return nil, &cql.MarshalError{Column: col.Name, Type: col.TypeInfo, GoType: t.goType.String(), Err: err}
			}
			if err := sources.take(i, fmt.Sprint(sf.Index), fmt.Sprintf("field %s of %v", sf.Name, t.goType)); err != nil {
				return nil, err
			}
			f.goType, f.offset = sf.Type, offsetOf(t.goType, sf.Index)
		}
		if f.goType.Kind() != reflect.Interface { // an interface may hold UnsetValue, which only the reference supports
			f.encode = codec.PlanEncode(col.TypeInfo, f.goType)
		}
	}
	t.last.Store(&recordFields{stmt, fields})
	return fields, nil
}

// markerSources refuses two unnamed bind markers with one source of values. The server names an unnamed marker after
// its column, so that two markers of one column cannot be distinguished.
type markerSources struct {
	names []string        // of the markers in the text; "" for ?. nil means no check
	taken map[string]bool // sources of unnamed markers
}

// newMarkerSources returns the sources of the markers of stmt. It disables the check if the number of markers in the
// text differs from that of the server: ScyllaDB reports a repeated name once.
func newMarkerSources(stmt *statement) markerSources {
	names := cqltext.BindMarkers(stmt.text)
	if len(names) != len(stmt.bind) {
		names = nil
	}
	return markerSources{names: names, taken: map[string]bool{}}
}

// take records that marker i takes its value from source. description names the source in errors.
func (m *markerSources) take(i int, source, description string) error {
	if m.names == nil || m.names[i] != "" {
		return nil
	}
	if m.taken[source] {
		return errtext.Errorf("%w: two markers ? take %s: use named markers (:old, :new), with a value for each", ErrValueCount,
			description)
	}
	m.taken[source] = true
	return nil
}

// offsetOf returns the offset in struct t of the field at index.
func offsetOf(t reflect.Type, index []int) (offset uintptr) {
	for _, i := range index {
		f := t.Field(i)
		offset += f.Offset
		t = f.Type
	}
	return offset
}
