// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Rows: the rows of an Iter with gocql's meanings.

// Rows reads the rows of an Iter. The Iter's own methods that do not read rows remain valid.
type Rows struct {
	it    *vecql.Iter
	d     *Dialect
	cells [][]byte
	err   error
}

// A RowData holds the names of the destinations of a row, with a destination for each.
type RowData struct {
	Columns []string
	Values  []any
}

// NewRows returns the rows of it in dialect d.
func NewRows(it *vecql.Iter, d *Dialect) *Rows { return &Rows{it: it, d: d} }

// next stores the cells of the next row in r.cells and reports whether there is one.
func (r *Rows) next() bool {
	if r.err != nil {
		return false
	}
	if n := len(r.it.Columns()); len(r.cells) != n {
		r.cells = make([][]byte, n)
	}
	return r.it.NextRaw(r.cells)
}

// Scan stores the next row in dest and reports whether there was one. A tuple takes one destination for each of its
// elements. nil skips a column, or an element of a tuple. An error ends the rows; Close returns it.
func (r *Rows) Scan(dest ...any) bool {
	if !r.next() {
		return false
	}
	r.err = r.scan(dest)
	return r.err == nil
}

// scan stores the current row in dest.
func (r *Rows) scan(dest []any) error {
	columns := r.it.Columns()
	if n := destinations(columns); n != len(dest) {
		return fmt.Errorf("gocql: not enough columns to scan into: have %d want %d", len(dest), n)
	}
	for i := range columns {
		info := columns[i].TypeInfo
		n := 1
		if tuple, ok := info.(cql.TupleTypeInfo); ok {
			n = len(tuple.Elems)
			if err := r.d.Unmarshal(tuple, r.cells[i], dest[:n]); err != nil {
				return err
			}
		} else if dest[0] != nil {
			if err := r.d.Unmarshal(info, r.cells[i], dest[0]); err != nil {
				return err
			}
		}
		dest = dest[n:]
	}
	return nil
}

// destinations returns the number of destinations of a row: one for each column, and for each element of a tuple.
func destinations(columns []cql.ColumnInfo) (n int) {
	for i := range columns {
		if tuple, ok := columns[i].TypeInfo.(cql.TupleTypeInfo); ok {
			n += len(tuple.Elems)
		} else {
			n++
		}
	}
	return n
}

// TupleColumnName returns the name of element n of the tuple column c in MapScan and RowData.
func TupleColumnName(c string, n int) string { return fmt.Sprintf("%s[%d]", c, n) }

// RowData returns new destinations for Scan.
func (r *Rows) RowData() (RowData, error) {
	if r.err != nil {
		return RowData{}, r.err
	}
	if _, err := r.it.RowData(); err != nil {
		return RowData{}, err
	}
	var row RowData
	for _, c := range r.it.Columns() {
		tuple, ok := c.TypeInfo.(cql.TupleTypeInfo)
		if !ok {
			row.Columns = append(row.Columns, c.Name)
			row.Values = append(row.Values, r.d.New(c.TypeInfo))
			continue
		}
		for i, e := range tuple.Elems {
			row.Columns = append(row.Columns, TupleColumnName(c.Name, i))
			row.Values = append(row.Values, r.d.New(e))
		}
	}
	return row, nil
}

// MapScan stores the next row in m by the names of RowData and reports whether there was one. NULL is the zero value of
// the column's type. A pointer that m has under a name is filled, and replaced by its value.
func (r *Rows) MapScan(m map[string]any) bool {
	row, err := r.RowData()
	if err != nil {
		return false
	}
	for i, name := range row.Columns {
		if p := m[name]; p != nil && reflect.TypeOf(p).Kind() == reflect.Pointer {
			row.Values[i] = p
		}
	}
	if !r.Scan(row.Values...) {
		return false
	}
	for i, name := range row.Columns {
		m[name] = reflect.Indirect(reflect.ValueOf(row.Values[i])).Interface()
	}
	return true
}

// SliceMap reads all remaining rows and closes the Iter.
func (r *Rows) SliceMap() ([]map[string]any, error) {
	rows := []map[string]any{}
	for {
		m := map[string]any{}
		if !r.MapScan(m) {
			return rows, r.Close()
		}
		rows = append(rows, m)
	}
}

// Close closes the Iter and returns the error that ended the rows.
func (r *Rows) Close() error {
	err := r.it.Close()
	if err == nil {
		err = r.err
	}
	return Error(err)
}

// Scanner returns a Scanner over the remaining rows.
func (r *Rows) Scanner() *Scanner { return &Scanner{rows: r} }

// A Scanner reads rows in the style of database/sql.
type Scanner struct {
	rows  *Rows
	valid bool
}

// Next advances to the next row and reports whether there is one.
func (s *Scanner) Next() bool {
	s.valid = s.rows.next()
	return s.valid
}

// Scan stores the columns of the current row, as Rows.Scan does.
func (s *Scanner) Scan(dest ...any) error {
	if !s.valid {
		return errors.New("gocql: Scan called without calling Next")
	}
	return s.rows.scan(dest)
}

// Err closes the Iter and returns the error that ended the rows.
func (s *Scanner) Err() error {
	s.valid = false
	return s.rows.Close()
}
