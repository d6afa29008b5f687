// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
)

// Iter: the rows of a result, in this API's meaning (compat.Rows).

// An Iter reads the rows of a result.
type Iter struct {
	session    *Session
	it         *vecql.Iter // nil means that there is no result
	rows       *compat.Rows
	idempotent bool
	err        error // of an Iter without a result, or in place of that of the result

	columns []ColumnInfo      // as Columns returned them
	of      *vecql.ColumnInfo // the first of the columns that columns were made of
}

// newIter returns the Iter of a result of vecql. A schema change that nodes do not agree on yet is a success.
func newIter(s *Session, of *vecql.Iter, idempotent bool) *Iter {
	return &Iter{session: s, it: of, rows: compat.NewRows(of, dialect), idempotent: idempotent}
}

// columnsOfVecql returns the columns of the result.
func (it *Iter) columnsOfVecql() []vecql.ColumnInfo {
	if it.it == nil {
		return nil
	}
	return it.it.Columns()
}

// Columns returns the columns of the result.
func (it *Iter) Columns() []ColumnInfo {
	columns := it.columnsOfVecql()
	if len(columns) == 0 {
		return nil
	}
	if it.of != &columns[0] {
		it.columns, it.of = fromColumns(columns, it.session.proto()), &columns[0]
	}
	return it.columns
}

// Scan stores the columns of the next row in dest and reports whether there was one. A tuple takes one destination for
// each of its elements; a nil destination skips its column.
func (it *Iter) Scan(dest ...any) bool {
	if it.rows == nil {
		return false
	}
	return it.rows.Scan(dest...)
}

// MapScan stores the next row in m by column name and reports whether there was one. NULL is the zero value of the
// column's type. A pointer that m has under the name of a column is the destination of the value and replaced by it.
func (it *Iter) MapScan(m map[string]any) bool {
	if it.rows == nil {
		return false
	}
	return it.rows.MapScan(m)
}

// SliceMap reads all rows as MapScan does.
func (it *Iter) SliceMap() ([]map[string]any, error) {
	if it.rows == nil {
		return nil, it.err
	}
	rows, err := it.rows.SliceMap()
	if err != nil {
		err = it.Close()
	}
	return rows, err
}

// RowData returns a new destination for each column, and for each element of a tuple.
func (it *Iter) RowData() (RowData, error) {
	if it.rows == nil {
		return RowData{}, it.err
	}
	data, err := it.rows.RowData()
	return RowData(data), it.failure(err)
}

// Close releases the Iter and returns the error that ended the rows.
func (it *Iter) Close() error {
	if it.it == nil {
		return it.err
	}
	err := it.rows.Close()
	if sent := it.it.Close(); sent != nil {
		err = sent // not unwrapped yet
	}
	return it.failure(err)
}

// failure returns the error of this API for an error of the result.
func (it *Iter) failure(err error) error {
	switch {
	case err == nil:
		return nil
	case it.err != nil:
		return it.err
	case notAgreed(err):
		return nil
	}
	return sentError(err, it.idempotent)
}

// Host returns the node that sent the current page.
func (it *Iter) Host() *HostInfo {
	if it.it == nil {
		return nil
	}
	return it.session.hosts.of(it.it.Host())
}

// NumRows returns the number of rows of the current page.
func (it *Iter) NumRows() int {
	if it.it == nil {
		return 0
	}
	return it.it.NumRows()
}

// PageState returns the state of the next page for Query.PageState. It is empty if there is no further page.
func (it *Iter) PageState() []byte {
	if it.it == nil {
		return nil
	}
	return it.it.PageState()
}

// LastPage reports whether no page follows the current one.
func (it *Iter) LastPage() bool { return len(it.PageState()) == 0 }

// WillSwitchPage reports whether the next Scan begins a new page.
func (it *Iter) WillSwitchPage() bool { return it.it != nil && it.it.WillSwitchPage() }

// GetCustomPayload returns the custom payload of the response.
func (it *Iter) GetCustomPayload() map[string][]byte {
	if it.it == nil {
		return nil
	}
	return it.it.GetCustomPayload()
}

// Warnings returns the warnings of the server.
func (it *Iter) Warnings() []string {
	if it.it == nil {
		return nil
	}
	return it.it.Warnings()
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

// Scanner returns a Scanner of the remaining rows.
func (it *Iter) Scanner() Scanner {
	if it == nil {
		return nil
	}
	if it.rows == nil {
		return scanner{it: it}
	}
	return scanner{it: it, rows: it.rows.Scanner()}
}

// scanner is the Scanner of an Iter.
type scanner struct {
	it   *Iter
	rows vecql.Scanner // nil means that there is no result
}

func (s scanner) Next() bool { return s.rows != nil && s.rows.Next() }

func (s scanner) Scan(dest ...any) error {
	if s.rows == nil {
		return s.it.err
	}
	return s.it.failure(s.rows.Scan(dest...))
}

func (s scanner) Err() error { return s.it.Close() }
