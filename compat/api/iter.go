// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
)

// The rows of a result. A module's Iter embeds Iter and adds what has its own types or errors.

// An Iter reads the rows of a result. The zero Iter has no result.
type Iter struct {
	of   *vecql.Iter // nil means that there is no result
	rows compat.Rows
}

// SetResult sets the result of an Iter.
func SetResult(it *Iter, of *vecql.Iter, d *compat.Dialect) {
	it.of, it.rows = of, compat.MakeRows(of, d)
}

// ResultOf returns the result of an Iter and its rows, nil for none.
func ResultOf(it *Iter) (*vecql.Iter, *compat.Rows) {
	if it.of == nil {
		return nil, nil
	}
	return it.of, &it.rows
}

// ColumnsOf returns the columns of the result.
func ColumnsOf(it *Iter) []vecql.ColumnInfo {
	if it.of == nil {
		return nil
	}
	return it.of.Columns()
}

// Scan stores the columns of the next row in dest and reports whether there was one. A tuple takes one destination for
// each of its elements; a nil destination skips its column.
func (it *Iter) Scan(dest ...any) bool { return it.of != nil && it.rows.Scan(dest...) }

// MapScan stores the next row in m by column name and reports whether there was one. NULL is the zero value of the
// column's type. A pointer that m has under the name of a column is the destination of the value and replaced by it.
func (it *Iter) MapScan(m map[string]any) bool { return it.of != nil && it.rows.MapScan(m) }

// NumRows returns the number of rows of the current page.
func (it *Iter) NumRows() int {
	if it.of == nil {
		return 0
	}
	return it.of.NumRows()
}

// PageState returns the state of the next page for Query.PageState. It is empty if there is no further page.
func (it *Iter) PageState() []byte {
	if it.of == nil {
		return nil
	}
	return it.of.PageState()
}

// WillSwitchPage reports whether the next Scan begins a new page.
func (it *Iter) WillSwitchPage() bool { return it.of != nil && it.of.WillSwitchPage() }

// GetCustomPayload returns the custom payload of the response.
func (it *Iter) GetCustomPayload() map[string][]byte {
	if it.of == nil {
		return nil
	}
	return it.of.GetCustomPayload()
}

// Warnings returns the warnings of the server.
func (it *Iter) Warnings() []string {
	if it.of == nil {
		return nil
	}
	return it.of.Warnings()
}

// RowData holds the names of the columns of a row, with a destination for each.
type RowData = compat.RowData

// TupleColumnName returns the key of element n of the tuple column c in the maps of MapScan and SliceMap.
func TupleColumnName(c string, n int) string { return fmt.Sprintf("%s[%d]", c, n) }

// A RowReader is a module's *Iter.
type RowReader interface {
	Scan(dest ...any) bool
	MapScan(m map[string]any) bool
	Close() error
}

// CloseOne ends a verb that reads one row: ErrNotFound means that there was none.
func CloseOne(it RowReader, found bool) error {
	if err := it.Close(); err != nil || found {
		return err
	}
	return ErrNotFound
}

// ScanCAS stores the next row of the result of a conditional statement. An applied statement has the one column only.
func ScanCAS(it RowReader, columns int, applied *bool, dest []any) (found bool) {
	if columns <= 1 {
		return it.Scan(applied)
	}
	return it.Scan(append([]any{applied}, dest...)...)
}

// MapScanCAS is ScanCAS by column name. The result of a statement without a condition is not applied.
func MapScanCAS(it RowReader, dest map[string]any) (applied, found bool) {
	const column = "[applied]" // the first column of the result of a conditional statement
	if found = it.MapScan(dest); found {
		applied, _ = dest[column].(bool)
		delete(dest, column)
	}
	return applied, found
}

// A Scanner reads the rows of an Iter in the style of database/sql.
type Scanner interface {
	// Next advances to the next row and reports whether there is one.
	Next() bool
	// Scan stores the columns of the current row in dest, as Iter.Scan does.
	Scan(...any) error
	// Err releases the Iter and returns the error that ended the rows.
	Err() error
}

// NewScanner returns the Scanner of a module's Iter. failure returns the API's error for one of the rows; destinations,
// if it is not nil, the destinations of a row.
func NewScanner(it *Iter, failure func(error) error, closing func() error, destinations func([]any) []any) Scanner {
	s := &scanner{failure: failure, closing: closing, destinations: destinations}
	if it.of != nil {
		s.rows = it.rows.Scanner()
	}
	return s
}

// scanner is the Scanner of an Iter.
type scanner struct {
	rows         *compat.Scanner // nil means that there is no result
	failure      func(error) error
	closing      func() error
	destinations func([]any) []any
}

func (s *scanner) Next() bool { return s.rows != nil && s.rows.Next() }

func (s *scanner) Scan(dest ...any) error {
	if s.rows == nil {
		return s.closing()
	}
	if s.destinations != nil {
		dest = s.destinations(dest)
	}
	return s.failure(s.rows.Scan(dest...))
}

func (s *scanner) Err() error { return s.closing() }
