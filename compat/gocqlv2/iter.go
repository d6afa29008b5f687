// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Iter: the rows of a result, with the API's meanings of values, NULLs and tuples.

// An Iter reads the rows of a result. It may be used by one goroutine at a time and must be closed.
type Iter struct {
	iter
	session  *Session
	keyspace string // of the statement
}

type iter = api.Iter[HostInfo, ColumnInfo]

// newIter returns the rows of it. retry is the policy of its first page, nil for none.
func (s *Session) newIter(it *vecql.Iter, keyspace string, retry *retryAdapter) *Iter {
	out := &Iter{session: s, keyspace: keyspace}
	api.SetError(&out.iter, retry.err(nil))
	api.SetResult(&out.iter, it, &s.results, false)
	return out
}

// Scan stores the next row in dest and reports whether there was one. A tuple takes one destination for each element.
func (iter *Iter) Scan(dest ...any) bool {
	_, rows := api.ResultOf(&iter.iter)
	return rows != nil && rows.Scan(iter.destinations(dest)...)
}

// MapScan stores the next row in m by column name and reports whether there was one. NULL is the zero value of the
// column's type. A pointer that m holds under a name is filled, and replaced by its value.
func (iter *Iter) MapScan(m map[string]any) bool {
	if iter.session != nil && iter.session.types != nil {
		return iter.mapScanRegistered(m)
	}
	return iter.iter.MapScan(m)
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
	if iter.session != nil && iter.session.types != nil {
		return iter.rowDataRegistered()
	}
	return iter.iter.RowData()
}

// Attempts returns the number of attempts of the request for the current page.
func (iter *Iter) Attempts() int {
	of, _ := api.ResultOf(&iter.iter)
	if of == nil {
		return 0
	}
	return of.Attempts()
}

// Latency returns the latency of the current page in nanoseconds.
func (iter *Iter) Latency() int64 {
	of, _ := api.ResultOf(&iter.iter)
	if of == nil {
		return 0
	}
	return int64(of.Latency())
}

// Keyspace returns the keyspace of the table, else of the statement.
func (iter *Iter) Keyspace() string {
	if of, _ := api.ResultOf(&iter.iter); of != nil {
		if keyspace := of.Keyspace(); keyspace != "" {
			return keyspace
		}
	}
	return iter.keyspace
}

// Table returns the table of the result.
func (iter *Iter) Table() string {
	of, _ := api.ResultOf(&iter.iter)
	if of == nil {
		return ""
	}
	return of.Table()
}

// Scanner returns a Scanner over the remaining rows.
func (iter *Iter) Scanner() Scanner {
	if iter == nil {
		return nil
	}
	return api.NewScanner(&iter.iter, iter.destinations)
}
