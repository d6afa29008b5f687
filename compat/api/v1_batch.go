// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"slices"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Batches. Their entries serve all three modules; BatchV1 serves v1.7 and the fork.

// A BatchType is the type of a batch.
type BatchType byte

// A BatchEntry is a statement of a batch. I is a module's ColumnInfo.
type BatchEntry[I any] struct {
	Stmt       string
	Args       []any
	Idempotent bool
	binding    Binding[I]
}

// BoundEntry returns a statement whose values b returns.
func BoundEntry[I any](stmt string, b Binding[I]) BatchEntry[I] {
	return BatchEntry[I]{Stmt: stmt, binding: b}
}

// AllIdempotent reports whether all statements are marked idempotent.
func AllIdempotent[I any](entries []BatchEntry[I]) bool {
	return !slices.ContainsFunc(entries, func(e BatchEntry[I]) bool { return !e.Idempotent })
}

// ValuesOf returns the values of each statement, as bound.
func ValuesOf[I any](entries []BatchEntry[I]) [][]any {
	return Each(entries, func(e BatchEntry[I]) []any { return e.Args })
}

// StatementsOf returns the texts of the statements.
func StatementsOf[I any](entries []BatchEntry[I]) []string {
	return Each(entries, func(e BatchEntry[I]) string { return e.Stmt })
}

// AddEntries adds statements to a batch of vecql.
func AddEntries[H, I any](v *vecql.Batch, entries []BatchEntry[I], r *Results[H, I]) {
	for _, e := range entries {
		if e.binding != nil {
			v.Bind(e.Stmt, AdaptBinding(e.binding, r))
		} else {
			v.Query(e.Stmt, r.bind(e.Args)...)
		}
		v.Entries[len(v.Entries)-1].Idempotent = e.Idempotent
	}
}

// ExecCAS stores the first row of a conditional batch in dest. The Iter has the others, each with [applied] as its
// first column.
func ExecCAS[I RowReader](it I, dest []any) (applied bool, iter I, err error) {
	found := ScanCAS(it, &applied, dest)
	return orClosed(it, applied, found)
}

// MapExecCAS is ExecCAS by column name.
func MapExecCAS[I RowReader](it I, dest map[string]any) (applied bool, iter I, err error) {
	applied, found := MapScanCAS(it, dest)
	return orClosed(it, applied, found)
}

// orClosed returns the results of a conditional batch. Without a row there is no Iter.
func orClosed[I RowReader](it I, applied, found bool) (ok bool, iter I, err error) {
	if !found {
		return false, iter, CloseOne(it, false)
	}
	return applied, it, nil
}

// A BatchV1 is what the batches of both have beside their fields. A module's Batch embeds it as its first field. It
// has the parameters of Options and SessionV1.
type BatchV1[S, R any, C ~uint16, H, I any] struct {
	options[S, R]
	counted[H]

	session *SessionV1[R, C, H, I] // nil for a batch that no session made
}

// Content are the fields of a module's Batch.
type Content[C, I any] struct {
	Type    BatchType
	Entries []BatchEntry[I]
	Cons    C
	Payload map[string][]byte
}

// StartBatch sets the session and the defaults of a batch, and returns the default consistency. A nil session means
// none.
func StartBatch[S, R any, C ~uint16, H, I any](b *BatchV1[S, R, C, H, I], s *SessionV1[R, C, H, I]) (cons C) {
	b.session, b.metrics = s, new(Metrics)
	return s.begin(&b.set)
}

// Keyspace returns the keyspace of the batch, else of the session.
func (b *BatchV1[S, R, C, H, I]) Keyspace() string {
	if own := b.set.Rare().Keyspace; own != "" || b.session == nil {
		return own
	}
	return b.session.Keyspace
}

// Table returns "": a batch may write to several tables.
func (b *BatchV1[S, R, C, H, I]) Table() string { return "" }

func (b *BatchV1[S, R, C, H, I]) replicas() []*H { return nil }

// SpeculativeExecutionPolicy sets the policy of further executions.
func (b *BatchV1[S, R, C, H, I]) SpeculativeExecutionPolicy(sp vecql.SpeculativeExecutionPolicy) *S {
	b.set.Change(func(o *Rare[R]) { o.Spec = sp })
	return b.whole()
}

// RoutingKeyOf returns the serialized partition key of the first statement of a batch, nil if it is unknown. It may
// prepare the statement.
func RoutingKeyOf[S, R any, C ~uint16, H, I any](b *BatchV1[S, R, C, H, I], of Content[C, I]) ([]byte, error) {
	if b.session == nil || len(of.Entries) == 0 || of.Entries[0].binding != nil {
		return nil, nil // the values are unknown
	}
	s, err := b.session.started()
	if err != nil {
		return nil, err
	}
	r, err := b.build(b.session, s, of, nil).Route(b.Context())
	return r.RoutingKey, b.session.Plain(err)
}

// BeginsKnown reports whether the first statement of a batch was prepared, which the API does to find its node.
func BeginsKnown[S, R any, C ~uint16, H, I any](b *BatchV1[S, R, C, H, I], of Content[C, I]) bool {
	if b.session == nil || len(of.Entries) == 0 || of.Entries[0].binding != nil {
		return false
	}
	s, err := b.session.started()
	if err != nil {
		return false
	}
	_, err = b.build(b.session, s, of, nil).Route(ended)
	return !HasEnded(err)
}

// RunBatch runs a batch on a session. it receives its result or its error. r may be nil.
func RunBatch[S, R any, C ~uint16, H, I any](
	b *BatchV1[S, R, C, H, I], s *SessionV1[R, C, H, I], of Content[C, I], r *Execution, it *Iter[H, I],
) {
	on, err := s.started()
	if err != nil {
		it.err = err
		return
	}
	if b.metrics == nil { // a batch that the program made as a literal
		b.metrics = new(Metrics)
	}
	s.beginCounting(r, b.metrics)
	rows := b.build(s, on, of, r).Iter(s.context(b.Context(), b.whole()))
	if rows.Attempts() == 0 {
		if err := rows.Close(); IsUnsent(err) {
			b.unsent(s, on, of, r, err)
		}
	}
	it.err = r.finish(b.metrics, rows.Attempts(), rows.Latency())
	SetResult(it, rows, s.Results, AllIdempotent(of.Entries))
	s.warnOf(b.whole(), rows)
}

// unsent makes the attempts of a batch that failed with err before it was sent. r may be nil.
func (b *BatchV1[S, R, C, H, I]) unsent(
	s *SessionV1[R, C, H, I], on *vecql.Session, of Content[C, I], r *Execution, err error,
) {
	u := Unsent{Err: err, Consistency: cql.Consistency(of.Cons), Idempotent: AllIdempotent(of.Entries), Batch: true}
	ctx := b.Context()
	s.unsent(ctx, on, u, r, b.metrics, "", b.whole(), func(a UnsentAttempt) {
		r.observer(ctx, vecql.ObservedAttempt{
			Keyspace: s.Keyspace, Statements: StatementsOf(of.Entries), Start: a.Time, End: a.Time, Host: a.Host, Err: a.Err,
			Attempt: a.Attempt,
		})
	})
}

// build returns the batch of vecql for an execution. r may be nil.
func (b *BatchV1[S, R, C, H, I]) build(
	s *SessionV1[R, C, H, I], on *vecql.Session, of Content[C, I], r *Execution,
) *vecql.Batch {
	v := on.Batch(cql.BatchType(of.Type))
	AddEntries(v, of.Entries, s.Results)
	ConfigureBatch(&b.options, v)
	o := b.set.Rare()
	v.Consistency(cql.Consistency(of.Cons)).CustomPayload(of.Payload).HostID(nodeOf(o.HostID)).Keyspace(o.Keyspace)
	if o.Now != nil {
		v.NowInSeconds(int32(*o.Now))
	}
	if o.Spec != nil && AllIdempotent(of.Entries) {
		v.SpeculativeExecutionPolicy(o.Spec)
	}
	if timeout, ok := b.set.timeoutOf(s.Timeout); ok {
		v.RequestTimeout(timeout)
	}
	if r != nil && r.observer != nil {
		v.Observer(r.observer)
	}
	if r != nil && r.policy != nil {
		v.RetryPolicy(r.policy)
	}
	return v
}
