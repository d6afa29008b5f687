// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Iter: the rows of a result, in this API's meaning (compat.Rows).

// An Iter reads the rows of a result.
type Iter struct {
	iter
	session    *Session
	idempotent bool
	err        error // of an Iter without a result, or in place of that of the result

	columns []ColumnInfo      // as Columns returned them
	of      *vecql.ColumnInfo // the first of the columns that columns were made of
}

type iter = api.Iter

// newIter returns the Iter of a result of vecql. A schema change that nodes do not agree on yet is a success.
func newIter(s *Session, of *vecql.Iter, idempotent bool) *Iter {
	it := &Iter{session: s, idempotent: idempotent}
	api.SetResult(&it.iter, of, dialect)
	return it
}

// Columns returns the columns of the result.
func (it *Iter) Columns() []ColumnInfo {
	columns := api.ColumnsOf(&it.iter)
	if len(columns) == 0 {
		return nil
	}
	if it.of != &columns[0] {
		it.columns, it.of = fromColumns(columns, it.session.proto()), &columns[0]
	}
	return it.columns
}

// SliceMap reads all rows as MapScan does.
func (it *Iter) SliceMap() ([]map[string]any, error) {
	_, rows := api.ResultOf(&it.iter)
	if rows == nil {
		return nil, it.err
	}
	all, err := rows.SliceMap()
	if err != nil {
		err = it.Close()
	}
	return all, err
}

// RowData returns a new destination for each column, and for each element of a tuple.
func (it *Iter) RowData() (RowData, error) {
	_, rows := api.ResultOf(&it.iter)
	if rows == nil {
		return RowData{}, it.err
	}
	data, err := rows.RowData()
	return data, it.failure(err)
}

// Close releases the Iter and returns the error that ended the rows.
func (it *Iter) Close() error {
	of, rows := api.ResultOf(&it.iter)
	if rows == nil {
		return it.err
	}
	err := rows.Close()
	if sent := of.Close(); sent != nil {
		err = sent // not unwrapped yet
	}
	return it.failure(err)
}

// failure returns the error of this API for an error of the result.
func (it *Iter) failure(err error) error { return outcome(err, it.err, it.idempotent) }

// Host returns the node that sent the current page.
func (it *Iter) Host() *HostInfo {
	of, _ := api.ResultOf(&it.iter)
	if of == nil {
		return nil
	}
	return it.session.hosts.Of(of.Host())
}

// LastPage reports whether no page follows the current one.
func (it *Iter) LastPage() bool { return len(it.PageState()) == 0 }

// Scanner returns a Scanner of the remaining rows.
func (it *Iter) Scanner() Scanner {
	if it == nil {
		return nil
	}
	return api.NewScanner(&it.iter, it.failure, it.Close, nil)
}
