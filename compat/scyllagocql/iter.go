// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Iter: the rows of a result, in this API's meaning (compat.Rows).

// An Iter reads the rows of a result.
type Iter struct{ iter }

type iter = api.Iter[HostInfo, ColumnInfo]

// newIter returns the Iter of a result of vecql. own is the error of the retry policy of the program.
func newIter(s *Session, of *vecql.Iter, idempotent bool, own error) *Iter {
	it := failedIter(own)
	api.SetResult(&it.iter, of, &s.results, idempotent)
	return it
}

// failedIter returns an Iter without a result.
func failedIter(err error) *Iter {
	it := &Iter{}
	api.SetError(&it.iter, err)
	return it
}

// newResults returns what the Iters of the session need.
func (s *Session) newResults() api.Results[HostInfo, ColumnInfo] {
	return api.Results[HostInfo, ColumnInfo]{
		Dialect: dialect, Hosts: s.hosts, Failure: outcome,
		Columns: func(columns []vecql.ColumnInfo) []ColumnInfo { return fromColumns(columns, s.proto()) },
	}
}

// Scanner returns a Scanner of the remaining rows, nil for nil.
func (it *Iter) Scanner() Scanner {
	if it == nil {
		return nil
	}
	return it.iter.Scanner()
}

// LastPage reports whether no page follows the current one.
func (it *Iter) LastPage() bool { return len(it.PageState()) == 0 }
