// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/wire"
)

// Statements bound to rows of batches: each bind marker takes its value from the column of its name, encoded directly
// into the request.

// A RowStatement executes a prepared query with the rows of batches of one schema. It is immutable and safe for use by
// any number of goroutines.
type RowStatement struct {
	query  Query
	source rowSource
}

// PrepareRows prepares the query for rows of batches with this schema. The values of the query are ignored. Each bind
// marker takes its value from the first column of its name; other columns are ignored. Two markers ? for one column are
// refused as in [Prepare].
//
// A column is bound to a CQL type that can hold the values of its kind without loss; the table is in the package
// documentation, section Columns. For any other pair PrepareRows returns a *MarshalError. A value that does not fit,
// such as 300 for a tinyint, fails its row, which is then not sent.
//
// Consistency and other options are the options of the query.
func (q *Query) PrepareRows(ctx context.Context, schema column.Schema) (*RowStatement, error) {
	st := &RowStatement{query: *q, source: rowSource{schema: schema, null: wire.Null}}
	if q.nullsUnset {
		st.source.null = wire.Unset
	}
	st.query.values, st.query.binding, st.query.record = nil, nil, record{}
	stmt, err := q.session.prepare(ctx, q.policies, q.keyspace, q.stmt)
	if err != nil {
		return nil, err
	}
	if _, err := st.source.planFor(stmt); err != nil {
		return nil, err
	}
	return st, nil
}

// ExecRows executes the query with each row of b: PrepareRows with the schema of b, then [RowStatement.Exec]. The
// statement is prepared once for any number of batches.
func (q *Query) ExecRows(ctx context.Context, b *column.Batch) error {
	st, err := q.PrepareRows(ctx, b.Schema())
	if err != nil {
		return err
	}
	return st.Exec(ctx, b)
}

// NullsUnset makes [Query.PrepareRows] and [Query.ExecRows] bind a NULL as [cql.UnsetValue]: the column keeps its value
// on the server. An INSERT of new rows then writes no tombstones. Protocol v3 has no such value: a row with a NULL
// fails with ErrUnsupported.
func (q *Query) NullsUnset(v bool) *Query { q.nullsUnset = v; return q }

// ExecRow executes the statement with row i of b. It does not allocate. b is not retained and must not change until
// ExecRow returns. For a batch with another schema, or a value that does not fit, ExecRow sends nothing and returns a
// *MarshalError.
func (st *RowStatement) ExecRow(ctx context.Context, b *column.Batch, i int) error {
	return st.query.exec(ctx, record{rows: &st.source, batch: b, row: i})
}

// Query returns a query with the values of row i of b, for other verbs and options, such as a SELECT for each row. The
// query reads the row each time it runs.
func (st *RowStatement) Query(b *column.Batch, i int) *Query {
	q := st.query
	q.record = record{rows: &st.source, batch: b, row: i}
	return &q
}

// rowsInFlight is the number of rows of a batch that Exec executes at a time.
const rowsInFlight = 128

// Exec executes the statement with each row of b, up to 128 at a time, in any order. After the first error Exec sends
// no further rows, waits for those in flight, and returns a *RowError. Rows before and after RowError.Row may have been
// executed.
func (st *RowStatement) Exec(ctx context.Context, b *column.Batch) error {
	var next atomic.Int64
	var failed atomic.Pointer[RowError]
	var done sync.WaitGroup
	for range min(rowsInFlight, b.Rows) {
		done.Go(func() {
			for failed.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= b.Rows {
					return
				}
				if err := st.ExecRow(ctx, b, i); err != nil {
					failed.CompareAndSwap(nil, &RowError{Row: i, Err: err})
				}
			}
		})
	}
	done.Wait()
	if err := failed.Load(); err != nil {
		return err
	}
	return nil
}
