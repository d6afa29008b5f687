// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"reflect"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/errtext"
)

// The fields of structs and the columns of batches that bind markers take.

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
// text differs from the server's: ScyllaDB reports a repeated name once.
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

// A rowSource is the schema of the batches of a RowStatement, with the encoding of their rows.
type rowSource struct {
	schema column.Schema
	null   int32 // wire.Null or wire.Unset
	last   atomic.Pointer[rowEncoding]
}

// A rowEncoding is the plan for one preparation of a statement. Altering the table may lead to another preparation.
type rowEncoding struct {
	stmt *statement
	plan *codec.RowPlan
}

// planFor returns the plan for the bind markers of stmt.
func (s *rowSource) planFor(stmt *statement) (*codec.RowPlan, error) {
	if last := s.last.Load(); last != nil && last.stmt == stmt {
		return last.plan, nil
	}
	sources := newMarkerSources(stmt)
	for i, col := range stmt.bind {
		if err := sources.take(i, col.Name, "column "+strconv.Quote(col.Name)+" of the batch"); err != nil {
			return nil, err
		}
	}
	plan, err := codec.NewRowPlan(stmt.bind, s.schema)
	if err != nil {
		return nil, err
	}
	s.last.Store(&rowEncoding{stmt, plan})
	return plan, nil
}

// bind sets a row as the values of stmt.
func (s *rowSource) bind(b *bindings, stmt *statement, batch *column.Batch, row int) error {
	plan, err := s.planFor(stmt)
	if err != nil {
		return err
	}
	if batch == nil || row < 0 || row >= batch.Rows {
		rows := 0
		if batch != nil {
			rows = batch.Rows
		}
		return &RowError{Row: row, Err: errtext.Errorf("the batch has %d rows", rows)}
	}
	if err := plan.Check(batch); err != nil {
		return err
	}
	b.stmt, b.rows, b.plan, b.batch, b.row, b.n = stmt, s, plan, batch, row, len(stmt.bind)
	return nil
}
