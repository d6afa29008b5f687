// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// The verbs of Query. Each execution makes a query of vecql with the options of the moment.

// Exec runs the query and discards its rows.
func (q *Query) Exec() error {
	s, err := q.session.started()
	if err != nil {
		return err
	}
	r := newExecution(q, &q.options, q.observer != nil)
	began := time.Now()
	var v *vecql.Query // on the stack, as in a program for vecql, and without the memory of an Iter
	if q.binding != nil {
		v = s.Bind(q.stmt, q.session.binding(q.binding))
	} else {
		v = s.Query(q.stmt, dialect.Bind(q.values)...)
	}
	q.configure(v, r)
	err = v.ExecContext(q.session.requestContext(q.context(), q))
	attempts := r.attempts(err)
	own := r.finish(q.metrics, attempts, time.Since(began)/time.Duration(max(attempts, 1)))
	return outcome(err, own)
}

// Iter runs the query. Iter.Close returns its error.
func (q *Query) Iter() *Iter {
	s, err := q.session.started()
	if err != nil {
		return &Iter{err: err}
	}
	r := newExecution(q, &q.options, q.observer != nil)
	it := newIter(q.session, q.build(s, r).IterContext(q.session.requestContext(q.context(), q)))
	it.err = r.finish(q.metrics, it.it.Attempts(), it.it.Latency())
	return it
}

// build returns the query of vecql for an execution. r may be nil.
func (q *Query) build(s *vecql.Session, r *execution) *vecql.Query {
	var v *vecql.Query
	if q.binding != nil {
		v = s.Bind(q.stmt, q.session.binding(q.binding))
	} else {
		v = s.Query(q.stmt, dialect.Bind(q.values)...)
	}
	q.configure(v, r)
	return v
}

// configure applies the options of the query to that of vecql.
func (q *Query) configure(v *vecql.Query, r *execution) {
	v.Consistency(cql.Consistency(q.cons)).SerialConsistency(cql.Consistency(q.serialCons)).
		PageSize(q.pageSize).Prefetch(q.prefetch).CustomPayload(q.payload).ServerTimestamps(!q.timestamps)
	if q.timestamps && q.timestamp != 0 {
		v.Timestamp(q.timestamp)
	}
	if q.manualPaging {
		v.PageState(q.pageState)
	}
	if q.routingKey != nil {
		v.RoutingKey(q.routingKey)
	}
	if q.noSkipMetadata {
		v.SkipMetadata(false)
	}
	if q.trace != nil {
		v.Trace(q.trace)
	}
	if q.idempotent {
		v.Idempotent(true)
		if q.spec != nil {
			v.SpeculativeExecutionPolicy(q.spec)
		}
	}
	if _, ok := q.context().Deadline(); ok {
		v.RequestTimeout(q.session.timeout()) // vecql's own applies to contexts without a deadline only
	}
	if r != nil && r.observed {
		v.Observer(queryObserver{r, q})
	}
	if r != nil && q.retry != nil {
		v.RetryPolicy(r)
	}
}

// binding adapts a function that returns the values of a statement.
func (s *Session) binding(bind func(q *QueryInfo) ([]any, error)) func(vecql.StatementMetadata) ([]any, error) {
	return func(m vecql.StatementMetadata) ([]any, error) {
		proto := s.proto()
		values, err := bind(&QueryInfo{
			Id: m.ID, Args: fromColumns(m.BindMarkers, proto), Rval: fromColumns(m.ResultColumns, proto),
			PKeyColumns: m.PartitionKey,
		})
		return dialect.Bind(values), fromProgram(err)
	}
}

// Scan runs the query and stores the columns of the first row in dest. It returns ErrNotFound if there is no row.
func (q *Query) Scan(dest ...any) error {
	it := q.Iter()
	return it.one(it.Scan(dest...))
}

// MapScan runs the query and stores the first row in m. It returns ErrNotFound if there is no row.
func (q *Query) MapScan(m map[string]any) error {
	it := q.Iter()
	return it.one(it.MapScan(m))
}

// ScanCAS runs a conditional statement and reports whether it was applied. If it was not, the current values are
// stored in dest.
func (q *Query) ScanCAS(dest ...any) (applied bool, err error) {
	it := q.Iter()
	found := it.scanCAS(&applied, dest)
	return applied, it.one(found)
}

// MapScanCAS runs a conditional statement and reports whether it was applied. If it was not, the current values are
// stored in dest.
func (q *Query) MapScanCAS(dest map[string]any) (applied bool, err error) {
	it := q.Iter()
	applied, found := it.mapScanCAS(dest)
	return applied, it.one(found)
}

// one ends a verb that reads one row.
func (it *Iter) one(found bool) error {
	if err := it.Close(); err != nil || found {
		return err
	}
	return ErrNotFound
}

// scanCAS stores the next row of the result of a conditional statement. An applied statement has the one column only.
func (it *Iter) scanCAS(applied *bool, dest []any) bool {
	if len(it.columnsOfVecql()) <= 1 {
		return it.Scan(applied)
	}
	return it.Scan(append([]any{applied}, dest...)...)
}

// appliedColumn is the first column of the result of a conditional statement.
const appliedColumn = "[applied]"

// mapScanCAS is scanCAS by column name. The result of a statement without a condition is not applied.
func (it *Iter) mapScanCAS(dest map[string]any) (applied, found bool) {
	if found = it.MapScan(dest); found {
		applied, _ = dest[appliedColumn].(bool)
		delete(dest, appliedColumn)
	}
	return applied, found
}

// outcome returns the error of this API for an error of a request. own is the error of the program's retry policy, in
// place of that of the request. A schema change that the nodes do not agree on yet is a success.
func outcome(err, own error) error {
	switch {
	case err == nil || errors.Is(err, vecql.ErrSchemaAgreement):
		return nil
	case own != nil:
		return own
	}
	return plain(err)
}
