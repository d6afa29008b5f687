// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/cql"
)

// The rows of a result. A module's Iter embeds Iter.

// Results are what the Iters of a session need: its nodes, and a module's columns and errors. H is the module's
// HostInfo, C its ColumnInfo.
type Results[H, C any] struct {
	Dialect *compat.Dialect
	Hosts   *Hosts[H]
	Columns func([]cql.ColumnInfo) []C
	// Failure returns the API's error for one of a request. idempotent is the mark of the statement.
	Failure func(err error, idempotent bool) error
	// Values returns the bound values of a statement in vecql's meaning; nil means the meaning of Dialect.
	Values func(values []any) []any
}

// BoundBy returns the values of a query in vecql's meaning.
func BoundBy[C, H, I any](st *Statement[C], r *Results[H, I]) []any {
	if r.Values != nil {
		return r.Values(st.Values.Get())
	}
	return st.Values.Bind()
}

// bind returns the bound values of a statement in vecql's meaning.
func (r *Results[H, C]) bind(values []any) []any {
	if r.Values != nil {
		return r.Values(values)
	}
	return r.Dialect.Bind(values)
}

// outcome returns the API's error for an error of a request. own is the error of the program's retry policy.
func (r *Results[H, C]) outcome(err, own error, idempotent bool) error {
	switch {
	case err == nil || errors.Is(err, vecql.ErrSchemaAgreement):
		return nil // a change of the schema succeeds although the nodes do not agree on it yet
	case own != nil:
		return own
	}
	return r.Failure(err, idempotent)
}

// An Iter reads the rows of a result. The zero Iter has no result.
type Iter[H, C any] struct {
	of         *vecql.Iter // nil means that there is no result
	rows       compat.Rows
	results    *Results[H, C]
	idempotent bool
	err        error // of an Iter without a result, or in place of the error of the result

	columns []C             // as Columns returned them
	first   *cql.ColumnInfo // the first of the columns that columns were made of
}

// SetResult sets the result of an Iter.
func SetResult[H, C any](it *Iter[H, C], of *vecql.Iter, r *Results[H, C], idempotent bool) {
	it.of, it.rows, it.results, it.idempotent = of, compat.NewRows(of, r.Dialect), r, idempotent
}

// SetError sets the error of an Iter: of one without a result, else in place of the error of the result.
func SetError[H, C any](it *Iter[H, C], err error) { it.err = err }

// ResultOf returns the result of an Iter and its rows, nil for none.
func ResultOf[H, C any](it *Iter[H, C]) (*vecql.Iter, *compat.Rows) {
	if it.of == nil {
		return nil, nil
	}
	return it.of, &it.rows
}

// width returns the number of columns of the result.
func (it *Iter[H, C]) width() int {
	if it.of == nil {
		return 0
	}
	return len(it.of.Columns())
}

func (it *Iter[H, C]) failure(err error) error { return it.results.outcome(err, it.err, it.idempotent) }

// Columns returns the columns of the result.
func (it *Iter[H, C]) Columns() []C {
	if it.width() == 0 {
		return nil
	}
	if columns := it.of.Columns(); it.first != &columns[0] {
		it.columns, it.first = it.results.Columns(columns), &columns[0]
	}
	return it.columns
}

// SliceMap reads all rows as MapScan does.
func (it *Iter[H, C]) SliceMap() ([]map[string]any, error) {
	if it.of == nil {
		return nil, it.err
	}
	all, err := it.rows.SliceMap()
	if err != nil {
		err = it.Close()
	}
	return all, err
}

// RowData returns a new destination for each column, and for each element of a tuple.
func (it *Iter[H, C]) RowData() (RowData, error) {
	if it.of == nil {
		return RowData{}, it.err
	}
	data, err := it.rows.RowData()
	return data, it.failure(err)
}

// Close releases the Iter and returns the error that ended the rows.
func (it *Iter[H, C]) Close() error {
	if it.of == nil {
		return it.err
	}
	err := it.rows.Close()
	if sent := it.of.Close(); sent != nil {
		err = sent // not unwrapped yet
	}
	return it.failure(err)
}

// Host returns the node that sent the current page.
func (it *Iter[H, C]) Host() *H {
	if it.of == nil {
		return nil
	}
	return it.results.Hosts.Of(it.of.Host())
}

// Scanner returns a Scanner of the remaining rows.
func (it *Iter[H, C]) Scanner() Scanner { return NewScanner(it, nil) }

// Scan stores the columns of the next row in dest and reports whether there was one. A tuple takes one destination for
// each of its elements; a nil destination skips its column.
func (it *Iter[H, C]) Scan(dest ...any) bool { return it.of != nil && it.rows.Scan(dest...) }

// MapScan stores the next row in m by column name and reports whether there was one. NULL is the zero value of the
// column's type. A pointer that m has under the name of a column is the destination of the value and replaced by it.
func (it *Iter[H, C]) MapScan(m map[string]any) bool { return it.of != nil && it.rows.MapScan(m) }

// NumRows returns the number of rows of the current page.
func (it *Iter[H, C]) NumRows() int {
	if it.of == nil {
		return 0
	}
	return it.of.NumRows()
}

// PageState returns the state of the next page for Query.PageState. It is empty if there is no further page.
func (it *Iter[H, C]) PageState() []byte {
	if it.of == nil {
		return nil
	}
	return it.of.PageState()
}

// WillSwitchPage reports whether the next Scan begins a new page.
func (it *Iter[H, C]) WillSwitchPage() bool { return it.of != nil && it.of.WillSwitchPage() }

// GetCustomPayload returns the custom payload of the response.
func (it *Iter[H, C]) GetCustomPayload() map[string][]byte {
	if it.of == nil {
		return nil
	}
	return it.of.GetCustomPayload()
}

// Warnings returns the warnings of the server.
func (it *Iter[H, C]) Warnings() []string {
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
	width() int
}

// CloseOne ends a verb that reads one row: ErrNotFound means that there was none.
func CloseOne(it RowReader, found bool) error {
	if err := it.Close(); err != nil || found {
		return err
	}
	return ErrNotFound
}

// ScanCAS stores the next row of the result of a conditional statement. An applied statement has the one column only.
func ScanCAS(it RowReader, applied *bool, dest []any) (found bool) {
	if it.width() <= 1 {
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

// NewScanner returns the Scanner of an Iter. destinations, if it is not nil, returns the destinations of a row.
func NewScanner[H, C any](it *Iter[H, C], destinations func([]any) []any) Scanner {
	s := &scanner[H, C]{it: it, destinations: destinations}
	if it.of != nil {
		s.rows = it.rows.Scanner()
	}
	return s
}

// scanner is the Scanner of an Iter.
type scanner[H, C any] struct {
	it           *Iter[H, C]
	rows         *compat.Scanner // nil means that there is no result
	destinations func([]any) []any
}

func (s *scanner[H, C]) Next() bool { return s.rows != nil && s.rows.Next() }

func (s *scanner[H, C]) Scan(dest ...any) error {
	if s.rows == nil {
		return s.it.Close()
	}
	if s.destinations != nil {
		dest = s.destinations(dest)
	}
	return s.it.failure(s.rows.Scan(dest...))
}

func (s *scanner[H, C]) Err() error { return s.it.Close() }
