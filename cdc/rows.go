// SPDX-License-Identifier: Apache-2.0

package cdc

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"reflect"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/wire"
)

// The rows of the log as values of a struct.

// Rows reads the changes and yields the rows of the log as values of the struct T: each field has the column of its
// name, by the tag `cql:"name"`, else by field name, ignoring case, as in [vecql.Rows]. The fields name the columns
// that the program needs, of the table and of the log, such as `cql:"cdc$operation"`; other columns are left out. A
// field without a column is an error. NULL, which a column has that is not part of the change, leaves the zero value in
// a field; a pointer distinguishes both. Each value is fresh memory.
//
// An error of Run ends the loop as its last pair. A change is acknowledged when the loop goes on after its last row:
// the change at which the loop is left comes again in the next loop, with all its rows. Within the loop Checkpoint has
// exactly the changes whose rows the loop has passed.
func Rows[T any](ctx context.Context, r *Reader) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		d := decoder{of: reflect.TypeFor[T]()}
		var failed error // of this side of the reader
		err := r.stream(ctx, false, func(b delivery) (more bool) {
			var rows view
			if rows, failed = viewOf(b.Batch); failed == nil {
				failed = d.set(b)
			}
			for i, begin := 0, 0; failed == nil && i < b.Rows; i++ {
				var row T
				if failed = d.decode(reflect.ValueOf(&row).Elem(), b, i); failed != nil {
					break
				}
				if !yield(row, nil) {
					return false
				}
				if i+1 == b.Rows || !rows.sameChange(i, i+1) {
					r.acknowledge(int64(i+1-begin), map[string]position{string(rows.stream(i)): rows.position(i)})
					begin = i + 1
				}
			}
			return failed == nil
		})
		if err = cmp.Or(failed, err); err != nil {
			var zero T
			yield(zero, err)
		}
	}
}

// A decoder decodes rows of batches into a struct type.
type decoder struct {
	of     reflect.Type
	plan   *codec.RowPlan // of the columns that have a field
	fields []field        // by column of the plan
	cell   []byte
}

// A field stores a column in a field of the struct.
type field struct {
	index  []int
	column cql.ColumnInfo
}

// set prepares the decoder for a batch.
func (d *decoder) set(b delivery) error {
	if d.plan != nil && d.plan.Check(b.Batch) == nil {
		return nil
	}
	if !codec.IsRowStruct(d.of) {
		return fmt.Errorf("cdc: read rows: %w: %v is no struct of columns", cql.ErrConversion, d.of)
	}
	all, err := codec.RowFields(d.of)
	if err != nil {
		return fmt.Errorf("cdc: read rows: %w", err)
	}
	d.fields = d.fields[:0]
	var columns []cql.ColumnInfo
	filled := map[string]bool{}
	for _, c := range b.columns {
		if f, ok := codec.FieldFor(d.of, c.Name); ok {
			d.fields, columns, filled[f.Name] = append(d.fields, field{f.Index, c}), append(columns, c), true
		}
	}
	for _, f := range all {
		if !filled[f.Name] {
			return fmt.Errorf("cdc: read rows: %w: the log has no column %q for the field %s of %v: correct its name or tag, "+
				"or leave it out by the tag `cql:\"-\"`", cql.ErrConversion, f.Column(), f.Name, d.of)
		}
	}
	d.plan, err = codec.NewRowPlan(columns, b.Schema())
	return err
}

// decode stores a row of a batch in a struct of zero values.
func (d *decoder) decode(into reflect.Value, b delivery, row int) error {
	for i, f := range d.fields {
		cell, err := d.plan.Append(d.cell[:0], b.Batch, row, i, wire.Null)
		if err != nil {
			return fmt.Errorf("cdc: read rows: %w", err)
		}
		d.cell = cell
		reader := wire.NewReader(cell)
		value := reader.Bytes()
		if value == nil {
			continue
		}
		if err := vecql.Unmarshal(f.column.TypeInfo, value, into.FieldByIndex(f.index).Addr().Interface()); err != nil {
			return fmt.Errorf("cdc: read column %s: %w", f.column.Name, err)
		}
	}
	return nil
}
