// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/codec"
)

// Rows and Batches: batches as values of a struct, and structs as batches.

func init() {
	beam.RegisterDoFn(&rowsFn{})
	beam.RegisterDoFn(&batchesFn{})
}

// ErrRow means that a value of a batch does not fit into its field, or that a batch lacks a column.
var ErrRow = errors.New("beamvecql: convert rows")

// The bounds of the batches of Batches.
const (
	batchRows  = 1024
	batchBytes = 8 << 20 // of slices and texts; one row may be larger
)

// RegisterRow registers a struct for Rows and Batches. Call it in an init function. Its elements are encoded by Beam's
// row coder, with a schema that other languages and SQL of Beam understand. A field has a bool, an int16, int32 or
// int64, a uint8, a float32 or float64, a string, a []byte, or a slice or a pointer of one of these; a pointer is nil
// for NULL. It panics on any other field, because Beam would encode a time.Time as a struct without fields: use an
// int64 for a timestamp, a date or a time, and a string for a UUID.
//
// A field goes to the column of its cql tag, else to the column of its name in any case.
func RegisterRow[T any]() {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("beamvecql: register row %v: not a struct", t))
	}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() || f.Tag.Get("cql") == "-" || !isRowType(f.Type, true) {
			panic(fmt.Sprintf("beamvecql: register row %v: field %s of type %v cannot be encoded", t, f.Name, f.Type))
		}
	}
	if _, err := codec.RowFields(t); err != nil {
		panic(fmt.Sprintf("beamvecql: register row %v: %v", t, err))
	}
	beam.RegisterType(t)
}

// isRowType reports whether a field may have a type. nest allows slices and pointers.
func isRowType(t reflect.Type, nest bool) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Float32, reflect.Float64,
		reflect.String:
		return t.PkgPath() == ""
	case reflect.Slice:
		return nest && isRowType(t.Elem(), false) || t == bytesType
	case reflect.Pointer:
		return nest && isRowType(t.Elem(), false)
	}
	return false
}

var bytesType = reflect.TypeFor[[]byte]()

// Rows returns the rows of a PCollection<*column.Batch> as a PCollection<T>, of a T of RegisterRow. A field takes any
// value of its column that fits: see the table. A NULL in a field without a pointer or a slice, and a number that does
// not fit, fail the bundle. Columns without a field are ignored.
//
//	bool                     boolean
//	integers                 integers; dates and timestamps (ms since 1970), times (ns since midnight)
//	float32, float64         floats; float64 also integers below 2^53
//	string                   text; UUIDs, decimals, varints, inets and durations in canonical form
//	[]byte                   blobs, and bytes of a fixed length
//	slices                   vectors and lists without NULLs
func Rows[T any](s beam.Scope, batches beam.PCollection) beam.PCollection {
	t := reflect.TypeFor[T]()
	return beam.ParDo(s.Scope("beamvecql.Rows"), &rowsFn{beam.EncodedType{T: t}}, batches,
		beam.TypeDefinition{Var: beam.YType, T: t})
}

// Batches returns a PCollection<T>, of a T of RegisterRow, as a PCollection<*column.Batch> with a column for each
// field: nil pointers are NULLs, slices are lists, or vectors if all of a batch have one length. The columns have the
// names of the cql tags, else of the fields, in lower case.
func Batches[T any](s beam.Scope, rows beam.PCollection) beam.PCollection {
	return beam.ParDo(s.Scope("beamvecql.Batches"), &batchesFn{Type: beam.EncodedType{T: reflect.TypeFor[T]()}}, rows)
}

// rowsFn converts batches to structs.
type rowsFn struct{ Type beam.EncodedType }

// ProcessElement emits the rows of a batch.
func (fn *rowsFn) ProcessElement(b *column.Batch, emit func(beam.Y)) error {
	t := fn.Type.T
	fields, err := fieldsOf(t, b)
	if err != nil {
		return err
	}
	for i := range b.Rows {
		row := reflect.New(t).Elem()
		for _, f := range fields {
			if err := setValue(row.FieldByIndex(f.index), f.column, i); err != nil {
				return fmt.Errorf("%w: column %s, row %d: %w", ErrRow, f.column.Name, i, err)
			}
		}
		emit(row.Interface())
	}
	return nil
}

// A rowField is a field with its column.
type rowField struct {
	index  []int
	column *column.Column
}

// fieldsOf returns the fields of a struct with their columns.
func fieldsOf(t reflect.Type, b *column.Batch) ([]rowField, error) {
	var fields []rowField
	found := map[string]bool{}
	for i := range b.Columns {
		c := &b.Columns[i]
		if f, ok := codec.FieldFor(t, c.Name); ok && !found[f.Name] {
			fields, found[f.Name] = append(fields, rowField{f.Index, c}), true
		}
	}
	for _, f := range reflect.VisibleFields(t) {
		if !found[f.Name] {
			return nil, fmt.Errorf("%w: %w: field %s of %v has none, the columns are %v", ErrRow, column.ErrNoColumn, f.Name,
				t, b.Schema())
		}
	}
	return fields, nil
}

// batchesFn collects structs in batches.
type batchesFn struct {
	Type beam.EncodedType

	rows  reflect.Value // a slice of the rows that are not emitted yet
	bytes int           // of them
}

// ProcessElement adds a row, and emits a full batch.
func (fn *batchesFn) ProcessElement(row beam.X, emit func(*column.Batch)) error {
	if !fn.rows.IsValid() {
		fn.rows = reflect.MakeSlice(reflect.SliceOf(fn.Type.T), 0, batchRows)
	}
	v := reflect.ValueOf(row)
	if v.Type() != fn.Type.T {
		return fmt.Errorf("%w: the element is a %v, want %v", ErrRow, v.Type(), fn.Type.T)
	}
	fn.rows = reflect.Append(fn.rows, v)
	if fn.bytes += variableBytes(v); fn.rows.Len() == batchRows || fn.bytes >= batchBytes {
		fn.FinishBundle(emit)
	}
	return nil
}

// FinishBundle emits the last rows.
func (fn *batchesFn) FinishBundle(emit func(*column.Batch)) {
	if fn.rows.IsValid() && fn.rows.Len() > 0 {
		emit(batchOf(fn.rows))
		fn.rows, fn.bytes = reflect.Value{}, 0
	}
}
