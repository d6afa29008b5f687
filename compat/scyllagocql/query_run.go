// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// The verbs of Query. Each execution makes a query of vecql with the options of the moment.

// Exec runs the query and discards its rows.
func (q *Query) Exec() error { return q.Iter().Close() }

// Iter runs the query. Iter.Close returns its error.
func (q *Query) Iter() *Iter {
	s, err := q.session.started()
	if err != nil {
		return &Iter{err: err}
	}
	r := newExecution(q, &q.options, q.observer != nil)
	it := newIter(q.session, q.build(s, r).IterContext(q.session.requestContext(q.context(), q)), q.idempotent)
	r.finish(&q.options, it)
	if !q.quiet {
		q.session.warn(q, it)
	}
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
	v.RequestTimeout(orNever(q.timeout)) // vecql's own applies to contexts without a deadline only
	if q.hostID != "" {
		v.HostID(q.hostID)
	}
	if q.keyspace != "" {
		v.Keyspace(q.keyspace)
	}
	if q.now != nil {
		v.NowInSeconds(int32(*q.now))
	}
	if r != nil && r.observed {
		v.Observer(queryObserver{r, q})
	}
	if r != nil && q.retry != nil {
		v.RetryPolicy(r)
	}
	return v
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

// notAgreed reports whether the error of a schema change means only that the nodes do not agree yet.
func notAgreed(err error) bool { return errors.Is(err, vecql.ErrSchemaAgreement) }
