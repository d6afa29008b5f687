// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"context"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// What is read without a scan of all rows: statistics in footers, and columns of few rows.

// Nulls returns the number of NULLs, if all footers have it.
func (r *Rows) Nulls(column string) (n int64, ok bool) {
	s, err := r.all.Range(column)
	return s.Nulls, err == nil && s.Nulls >= 0
}

// Range returns the least and the greatest value, if footers have them exactly.
func (r *Rows) Range(column string) (least, greatest any, ok bool) {
	s, err := r.all.Range(column)
	return s.Min, s.Max, err == nil && s.Exact
}

// ReadRows reads columns of the rows with ascending numbers.
func (r *Rows) ReadRows(ctx context.Context, columns []string, numbers []int64) (*column.Batch, error) {
	o := parquetscan.Options{Columns: columns, Lists: r.listsAmong(columns), NumberNames: true}
	b, err := r.files.Rows(ctx, o, numbers)
	if err != nil {
		return nil, err
	}
	r.compare(b)
	return b, r.count(columns, numbers)
}

// count adds the bytes of the columns in the row groups of the rows.
func (r *Rows) count(columns []string, ascending []int64) error {
	scan, err := r.files.Scan(parquetscan.Options{Columns: columns, NumberNames: true})
	if err != nil {
		return err
	}
	end := int64(0)
	for _, b := range scan.SplitByBytes(0) { // a bucket for each row group
		end += b.Rows
		within, _ := slices.BinarySearch(ascending, end)
		if ascending = ascending[within:]; within > 0 {
			r.bytes.Add(b.Bytes)
		}
	}
	return nil
}

// compare notes the columns that are lists, and vectors in the schema.
func (r *Rows) compare(b *column.Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range b.Schema() {
		if becameList(r.fields[r.fields.Index(f.Name)], f) {
			r.ragged = append(r.ragged, f.Name)
		}
	}
}

// becameList reports whether a vector, or one within another column, is a list now.
func becameList(was, is column.Field) bool {
	if was.Type.Kind == column.Vector {
		return is.Type.Kind == column.List
	}
	for i := range was.Fields {
		if becameList(was.Fields[i], is.Fields[i]) {
			return true
		}
	}
	return false
}

// Ragged returns the columns of Run and of ReadRows that became lists.
func (r *Rows) Ragged() []string {
	return slices.Concat(r.ragged, r.scanned.Ragged())
}
