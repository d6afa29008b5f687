// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
)

// Iter: the rows of a result, with the API's meanings of values, NULLs and tuples.

// An Iter reads the rows of a result. It may be used by one goroutine at a time and must be closed.
type Iter struct {
	session  *Session
	driver   *vecql.Iter // nil for a statement that was not sent
	rows     *compat.Rows
	keyspace string // of the statement
	err      error  // of a statement that was not sent
	columns  []ColumnInfo
}

// newIter returns the rows of it.
func (s *Session) newIter(it *vecql.Iter, keyspace string) *Iter {
	return &Iter{session: s, driver: it, rows: compat.NewRows(it, dialect), keyspace: keyspace}
}

// RowData holds the names of the destinations of a row, with a destination for each.
type RowData = compat.RowData

// TupleColumnName returns the name of element n of the tuple column c in MapScan and RowData.
func TupleColumnName(c string, n int) string { return compat.TupleColumnName(c, n) }

// Scan stores the next row in dest and reports whether there was one. A tuple takes one destination for each element.
func (iter *Iter) Scan(dest ...any) bool {
	return iter.rows != nil && iter.rows.Scan(iter.destinations(dest)...)
}

// MapScan stores the next row in m by column name and reports whether there was one. NULL is the zero value of the
// column's type. A pointer that m holds under a name is filled, and replaced by its value.
func (iter *Iter) MapScan(m map[string]any) bool {
	switch {
	case iter.rows == nil:
		return false
	case iter.session.types != nil:
		return iter.mapScanRegistered(m)
	}
	return iter.rows.MapScan(m)
}

// SliceMap reads all remaining rows.
func (iter *Iter) SliceMap() ([]map[string]any, error) {
	var rows []map[string]any
	for {
		m := make(map[string]any, len(iter.Columns()))
		if !iter.MapScan(m) {
			break
		}
		rows = append(rows, m)
	}
	if err := iter.Close(); err != nil {
		return nil, err
	}
	return rows, nil
}

// RowData returns new destinations for Scan.
func (iter *Iter) RowData() (RowData, error) {
	switch {
	case iter.rows == nil:
		return RowData{}, iter.err
	case iter.session.types != nil:
		return iter.rowDataRegistered()
	}
	row, err := iter.rows.RowData()
	return row, plain(err)
}

// Close releases the Iter and returns the error that ended the rows.
func (iter *Iter) Close() error {
	if iter.rows == nil {
		return iter.err
	}
	return plain(iter.rows.Close())
}

// one closes the Iter of a verb that reads one row.
func (iter *Iter) one(found bool) error {
	if err := iter.Close(); err != nil {
		return err
	}
	if !found {
		return ErrNotFound
	}
	return nil
}

// scanApplied reads the result of a lightweight transaction. The result of another statement is not applied.
func (iter *Iter) scanApplied(applied *bool, dest []any) (found bool) {
	if len(iter.driverColumns()) > 1 {
		return iter.Scan(append([]any{applied}, dest...)...)
	}
	return iter.Scan(applied)
}

func (iter *Iter) mapScanApplied(applied *bool, dest map[string]any) (found bool) {
	const column = "[applied]"
	found = iter.MapScan(dest)
	if v, ok := dest[column].(bool); ok {
		*applied = v
		delete(dest, column)
	}
	return found
}

func (iter *Iter) driverColumns() []vecql.ColumnInfo {
	if iter.driver == nil {
		return nil
	}
	return iter.driver.Columns()
}

// Columns returns the columns of the result.
func (iter *Iter) Columns() []ColumnInfo {
	if columns := iter.driverColumns(); iter.columns == nil && len(columns) > 0 {
		iter.columns = iter.session.columns(columns)
	}
	return iter.columns
}

// NumRows returns the number of rows in the current page.
func (iter *Iter) NumRows() int {
	if iter.driver == nil {
		return 0
	}
	return iter.driver.NumRows()
}

// WillSwitchPage reports whether the next Scan begins a new page.
func (iter *Iter) WillSwitchPage() bool { return iter.driver != nil && iter.driver.WillSwitchPage() }

// PageState returns where the next page begins, for Query.PageState.
func (iter *Iter) PageState() []byte {
	if iter.driver == nil {
		return nil
	}
	return iter.driver.PageState()
}

// Warnings returns the server's warnings about the request.
func (iter *Iter) Warnings() []string {
	if iter.driver == nil {
		return nil
	}
	return iter.driver.Warnings()
}

// GetCustomPayload returns the custom payload of the response.
func (iter *Iter) GetCustomPayload() map[string][]byte {
	if iter.driver == nil {
		return nil
	}
	return iter.driver.GetCustomPayload()
}

// Host returns the node that sent the current page.
func (iter *Iter) Host() *HostInfo {
	if iter.driver == nil {
		return nil
	}
	return iter.session.host(iter.driver.Host())
}

// Attempts returns the number of attempts of the request for the current page.
func (iter *Iter) Attempts() int {
	if iter.driver == nil {
		return 0
	}
	return iter.driver.Attempts()
}

// Latency returns the latency of the current page in nanoseconds.
func (iter *Iter) Latency() int64 {
	if iter.driver == nil {
		return 0
	}
	return int64(iter.driver.Latency())
}

// Keyspace returns the keyspace of the table, else that of the statement.
func (iter *Iter) Keyspace() string {
	if iter.driver != nil {
		if keyspace := iter.driver.Keyspace(); keyspace != "" {
			return keyspace
		}
	}
	return iter.keyspace
}

// Table returns the table of the result.
func (iter *Iter) Table() string {
	if iter.driver == nil {
		return ""
	}
	return iter.driver.Table()
}

// A Scanner reads rows in the style of database/sql.
type Scanner interface {
	// Next advances to the next row and reports whether there is one.
	Next() bool
	// Scan stores the columns of the current row.
	Scan(...any) error
	// Err releases the rows and returns the error that ended them.
	Err() error
}

// Scanner returns a Scanner over the remaining rows.
func (iter *Iter) Scanner() Scanner {
	switch {
	case iter == nil:
		return nil
	case iter.rows == nil:
		return &scanner{iter: iter}
	}
	return &scanner{iter: iter, rows: iter.rows.Scanner()}
}

type scanner struct {
	iter *Iter
	rows *compat.Scanner // nil for a statement that was not sent
}

func (s *scanner) Next() bool { return s.rows != nil && s.rows.Next() }

func (s *scanner) Scan(dest ...any) error {
	if s.rows == nil {
		return s.iter.err
	}
	return plain(s.rows.Scan(s.iter.destinations(dest)...))
}

func (s *scanner) Err() error { return s.iter.Close() }
