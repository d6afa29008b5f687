// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
)

// Query: a statement with its values and options, and the verbs that run it.

// A Query is a statement with its values and options. Setters modify the query and return it, so that calls can be
// chained; verbs do not modify it. A query may be run any number of times, by several goroutines at once as long as
// none calls a setter. It needs no release.
type Query struct {
	session *Session
	stmt    string
	values  []any
	binding func(StatementMetadata) ([]any, error) // returns the values; nil means that values holds them
	record  record                                 // the struct or the row that holds the values, if set
	options
	pageSize     int
	pageState    cql.PageToken
	manualPaging bool
	prefetch     float64
	skipMetadata bool
	nullsUnset   bool
	routingKey   []byte
	routingToken *int64 // nil means none
}

func (s *Session) defaultOptions() options {
	return options{
		consistency: s.cfg.Defaults.Consistency, serialConsistency: s.cfg.Defaults.SerialConsistency,
		idempotent: s.cfg.Defaults.Idempotent, selectsIdempotent: !s.cfg.Defaults.DisableSelectIdempotence,
		serverTimestamps: s.cfg.Defaults.ServerTimestamps, policies: s.defaultPolicies,
	}
}

// Query returns a query of stmt. values are the values of its bind markers, in order; or all values are NamedValues.
func (s *Session) Query(stmt string, values ...any) *Query {
	return &Query{
		session: s, stmt: stmt, values: values, options: s.defaultOptions(),
		pageSize: s.cfg.Defaults.PageSize, prefetch: s.cfg.Defaults.Prefetch, skipMetadata: true,
	}
}

// Bind replaces the values.
func (q *Query) Bind(values ...any) *Query {
	q.values, q.binding, q.record = values, nil, record{}
	return q
}

// Statement returns the text.
func (q *Query) Statement() string { return q.stmt }

// Values returns the bound values.
func (q *Query) Values() []any {
	values, _ := codec.ValuesOf(q.values)
	return values
}

// String returns the statement with its options, without the values.
func (q *Query) String() string {
	return fmt.Sprintf("[query statement=%q values=%d consistency=%v]", q.stmt, len(q.Values()), q.consistency)
}

// Exec runs the query and discards its rows.
func (q *Query) Exec(ctx context.Context) error { return q.exec(ctx, q.record) }

func (q *Query) exec(ctx context.Context, r record) error {
	c := q.session.newCall(&q.options)
	defer c.release()
	err := q.do(ctx, c, &r, nil)
	if err == nil {
		c.answer.resp.Body.Release()
	}
	return err
}

// ExecInfo describes the answer to a query whose rows were discarded: what an Iter has besides rows.
type ExecInfo struct {
	Host          *cql.Host     // that sent the answer
	Attempts      int           // with the one that succeeded
	Latency       time.Duration // of the last attempt
	Warnings      []string      // of the server
	CustomPayload map[string][]byte
}

// ExecInfo is Exec and describes the answer. A RequestFailure describes a request that failed.
func (q *Query) ExecInfo(ctx context.Context) (ExecInfo, error) {
	c := q.session.newCall(&q.options)
	defer c.release()
	r := q.record
	if err := q.do(ctx, c, &r, nil); err != nil {
		return ExecInfo{}, err
	}
	a := c.answer
	a.resp.Body.Release()
	return ExecInfo{
		Host: a.node.info, Attempts: a.attempts, Latency: a.resp.Latency, Warnings: a.env.Warnings,
		CustomPayload: a.env.Payload,
	}, nil
}

// Iter runs the query. Iter.Close returns its error. ctx bounds the requests for all pages.
func (q *Query) Iter(ctx context.Context) *Iter { return newIter(ctx, q) }

// Scan runs the query and stores the columns of the first row in dest; it discards further rows. It returns
// ErrNotFound if there is no row. See Iter.Scan for dest.
func (q *Query) Scan(ctx context.Context, dest ...any) error {
	return q.scan(ctx, q.record, dest)
}

func (q *Query) scan(ctx context.Context, r record, dest []any) error {
	if err := codec.RefuseBorrow(dest); err != nil {
		return err
	}
	it := q.runOne(ctx, r)
	found := it.Scan(dest...)
	return oneRow(it, found)
}

// MapScan runs the query and stores the first row in m by column name, as Iter.MapScan does. It returns
// ErrNotFound if there is no row.
func (q *Query) MapScan(ctx context.Context, m map[string]any) error {
	it := q.runOne(ctx, q.record)
	found := it.MapScan(m)
	return oneRow(it, found)
}

// runOne runs the query for one row, without requesting pages ahead. The caller calls done on the Iter.
func (q *Query) runOne(ctx context.Context, r record) *oneIter {
	it := iterPool.Get().(*oneIter)
	it.copied = *q
	it.ctx, it.session, it.query, it.once = ctx, q.session, &it.copied, true
	it.start(q.pageState, it.copied.run(ctx, r, false, &it.resume, &it.answer))
	return it
}

func oneRow(it *oneIter, found bool) error {
	if err := it.done(); err != nil {
		return err
	}
	if !found {
		return ErrNotFound
	}
	return nil
}

// ScanCAS runs a conditional statement (INSERT ... IF NOT EXISTS, UPDATE ... IF) and reports whether it was
// applied. If it was not applied, the current values, which are all columns after "[applied]", are stored in dest.
func (q *Query) ScanCAS(ctx context.Context, dest ...any) (applied bool, err error) {
	if err := codec.RefuseBorrow(dest); err != nil {
		return false, err
	}
	it := q.runOne(ctx, q.record)
	applied, err = it.scanApplied(dest)
	if cerr := it.done(); cerr != nil {
		err = cerr
	}
	return applied, err
}

// MapScanCAS is ScanCAS but stores the current values in m by column name.
func (q *Query) MapScanCAS(ctx context.Context, m map[string]any) (applied bool, err error) {
	it := q.runOne(ctx, q.record)
	applied, err = it.mapScanApplied(m)
	if cerr := it.done(); cerr != nil {
		err = cerr
	}
	return applied, err
}

// pageValues are the encoded values of a query's first page. Later pages use them even if the program has changed its
// variables since.
type pageValues struct {
	stmt     *statement // nil before the first page, and for an unprepared query
	n        int
	cells    []byte
	token    int64
	hasToken bool
	key      []byte // call.routingKey
}

// keep stores a copy of the values of a call and the token of its partition key.
func (v *pageValues) keep(c *call, tok int64, hasToken bool) {
	*v = pageValues{
		stmt: c.bound.stmt, n: c.bound.n, cells: bytes.Clone(c.bound.cells(c.req.Body.B)), token: tok, hasToken: hasToken,
		key: bytes.Clone(c.routingKey),
	}
}

// run requests the first page, which begins at q.pageState, and stores it in page, which must be zero. It fills resume
// if there are more pages. paged means that the program holds the page.
func (q *Query) run(ctx context.Context, r record, paged bool, resume *pageValues, page *answer) error {
	c := q.session.newCall(&q.options)
	defer c.release()
	c.answer, c.paged = page, paged
	return q.do(ctx, c, &r, resume)
}

// runNext is run for the page that begins at state, with the values that run stored in resume.
func (q *Query) runNext(ctx context.Context, state []byte, paged bool, resume *pageValues, page *answer) error {
	c := q.session.newCall(&q.options)
	defer c.release()
	c.answer, c.paged = page, paged
	c.req.Prompt = true // Close waits for the page
	return q.doNext(ctx, c, state, resume)
}

// do is run with a call that the caller releases. It stores the answer in the call. resume may be nil.
func (q *Query) do(ctx context.Context, c *call, r *record, resume *pageValues) error {
	ctx, end := c.within(ctx, q.session.cfg.Timeout)
	defer end()
	if err := q.configure(c, q.pageState); err != nil {
		return err
	}
	if q.isUnprepared(r) {
		return q.doUnprepared(ctx, c)
	}
	tok, ok, err := q.encodeValues(ctx, c, r)
	if err != nil {
		return c.unlessIgnored(err)
	}
	if err := q.finish(ctx, c); err != nil {
		if !c.mustRebind(err) {
			return err
		}
		q.session.rebind(c, &q.options)
		return q.do(ctx, c, r, resume)
	}
	if resume != nil && len(c.answer.res.Rows.Meta.PagingState) > 0 {
		resume.keep(c, tok, ok)
	}
	return nil
}

// isUnprepared reports whether the query, with the values of r, is sent without preparing it.
func (q *Query) isUnprepared(r *record) bool {
	return len(q.values) == 0 && q.binding == nil && !r.isSet() && !cqltext.IsPreparable(q.stmt)
}

// encodeValues prepares the statement and encodes the request. It returns the token of the values, which the token of
// Query.RoutingKey precedes.
func (q *Query) encodeValues(ctx context.Context, c *call, r *record) (tok int64, ok bool, err error) {
	stmt, err := q.session.prepareFor(ctx, c, q.keyspace, q.stmt)
	if err != nil {
		return 0, false, err
	}
	plan, withID := q.usePlan(c, stmt)
	if err := q.bind(c, r, stmt, plan); err != nil {
		return 0, false, err
	}
	if err := q.encode(c, stmt, plan, withID); err != nil {
		return 0, false, err
	}
	if tok, ok, err = c.bound.token(c.req.Body.B); err != nil {
		return 0, false, err
	}
	if ok && !c.hasToken {
		c.token, c.hasToken = tok, true
		if q.session.picks() {
			c.keepKey(&c.bound)
		}
	}
	return tok, ok, err
}

// doNext is runNext with a call that the caller releases. It stores the answer in the call.
func (q *Query) doNext(ctx context.Context, c *call, state []byte, resume *pageValues) error {
	ctx, end := c.within(ctx, q.session.cfg.Timeout)
	defer end()
	if err := q.configure(c, state); err != nil {
		return err
	}
	if resume.stmt == nil {
		return q.doUnprepared(ctx, c)
	}
	plan, withID := q.usePlan(c, resume.stmt)
	c.bound.stmt, c.bound.n, c.bound.encoded = resume.stmt, resume.n, resume.cells
	if err := q.encode(c, resume.stmt, plan, withID); err != nil {
		return err
	}
	if resume.hasToken && !c.hasToken {
		c.token, c.hasToken, c.routingKey = resume.token, true, resume.key
	}
	return q.finish(ctx, c)
}

// describe implements observed.
func (q *Query) describe(a *ObservedAttempt) {
	a.Keyspace, a.Statements, a.Values = q.GetKeyspace(), []string{q.stmt}, [][]any{q.Values()}
}

// configure applies the settings that do not depend on the statement.
func (q *Query) configure(c *call, state []byte) error {
	if q.policies.fault != nil {
		return q.policies.fault
	}
	if q.policies.observer != nil {
		own := *q // a pointer to q would move every query to the heap
		c.observer = &observation{request: &own, observer: q.policies.observer}
	}
	c.text, c.params.PagingState, c.params.PageSize = q.stmt, state, max(q.pageSize, 0)
	if len(q.routingKey) > 0 {
		c.setRoutingKey(q.keyspace, q.session.cfg.Keyspace, q.routingKey)
	}
	if q.routingToken != nil {
		c.token, c.hasToken = *q.routingToken, true
	}
	return nil
}

// doUnprepared runs a statement in a QUERY, without preparing it.
func (q *Query) doUnprepared(ctx context.Context, c *call) error {
	if cqltext.IsUse(q.stmt) {
		return errtext.Errorf("execute %q: %w", shortened(q.stmt), ErrUseStmt)
	}
	err := c.startBody(q.session.version, frame.OpQuery, &q.options, len(q.stmt)+64)
	if err == nil {
		c.req.Body.B, err = frame.AppendQuery(c.req.Body.B, q.session.version, q.stmt, &c.params)
	}
	if err != nil {
		return err
	}
	return q.finish(ctx, c)
}

// usePlan sets the statement of c. It returns the plan of its rows and reports whether v4 connections have result
// metadata ids.
func (q *Query) usePlan(c *call, stmt *statement) (plan *resultPlan, withID bool) {
	s := q.session
	c.one[0] = stmt
	c.stmts = c.one[:]
	c.params.Keyspace = "" // the prepared id implies it
	c.idempotent = c.idempotent || q.selectsIdempotent && stmt.reads
	c.setTable(stmt)
	plan, withID = stmt.result.Load(), s.hasMetadataID()
	if q.skipMetadata && len(plan.Columns) > 0 && (s.version >= frame.V5 || withID && len(plan.metadataID) > 0) {
		c.params.SkipMetadata, c.plan = true, plan
	}
	return plan, withID
}

// encode writes the body of an EXECUTE.
func (q *Query) encode(c *call, stmt *statement, plan *resultPlan, withID bool) error {
	err := c.startBody(q.session.version, frame.OpExecute, &q.options, max(int(stmt.bodySize.Load()), 512))
	if err == nil {
		c.params.Values = &c.bound
		c.req.Body.B, err = c.appendExecute(c.req.Body.B, q.session.version, stmt.id, plan.metadataID, withID)
	}
	if err != nil {
		return err
	}
	// concurrent executions share the cache line: store changes only
	if size := int64(len(c.req.Body.B)); stmt.bodySize.Load() != size {
		stmt.bodySize.Store(size)
	}
	return nil
}

// bind sets the values of c.
func (q *Query) bind(c *call, r *record, stmt *statement, plan *resultPlan) (err error) {
	if r.isSet() {
		return r.bind(&c.bound, stmt)
	}
	values := q.values
	if q.binding != nil {
		if values, err = callBinding(q.binding, stmt, plan); err != nil {
			return err
		}
		c.req.Began = time.Now()
	}
	return c.bound.bind(stmt, values)
}

// finish sends the call, passes a tracing id to the tracer, and waits for schema agreement after a schema change.
func (q *Query) finish(ctx context.Context, c *call) error {
	if err := q.session.send(ctx, c); err != nil {
		return err
	}
	a := c.answer
	if q.tracer != nil && a.env.Traced {
		q.session.trace(q.tracer, a.env.TracingID)
	}
	q.warn(a)
	if a.res.Kind == frame.ResultSchemaChange {
		return q.session.agree(ctx, c)
	}
	return nil
}

// agree waits for schema agreement after the schema change that c has made. Requests that follow find the replicas of a
// changed keyspace. On an error it releases the answer.
func (s *Session) agree(ctx context.Context, c *call) error {
	a := c.answer
	s.schemaChanged(*a.res.Change)
	s.placeKeyspace(ctx, *a.res.Change, a.node)
	err := s.awaitSchemaAgreement(ctx, a.node.pool.pick)
	if err == nil {
		return nil
	}
	err = errtext.Errorf("await schema agreement after %v: %w", a.res.Change, err)
	failure := &RequestFailure{Err: err, Host: a.node.info.Address, Attempts: a.attempts, applied: true}
	c.describe(failure)
	a.resp.Body.Release()
	*a = answer{}
	return failure
}

// Metadata of statements, and values that a function computes from the metadata.

// A StatementMetadata describes a prepared statement. The caller owns its slices.
type StatementMetadata struct {
	ID          []byte           // assigned by the server
	Keyspace    string           // of the table; empty for a statement without bind markers and result columns
	Table       string           // likewise
	BindMarkers []cql.ColumnInfo // in the order of the text
	// index into BindMarkers of each partition key column, in key order; empty unless all are bound
	PartitionKey  []int
	ResultColumns []cql.ColumnInfo
}

// StatementMetadata returns the description of stmt. It prepares the statement if it is not in the session's cache. An
// empty keyspace means the session's; another keyspace needs protocol v5.
func (s *Session) StatementMetadata(ctx context.Context, stmt, keyspace string) (StatementMetadata, error) {
	p, err := s.prepare(ctx, s.defaultPolicies, keyspace, stmt)
	if err != nil {
		return StatementMetadata{}, err
	}
	return metadataOf(p, p.result.Load()), nil
}

// metadataOf returns the description of a statement. Its slices are copies.
func metadataOf(stmt *statement, plan *resultPlan) StatementMetadata {
	m := StatementMetadata{
		ID: bytes.Clone(stmt.id), BindMarkers: slices.Clone(stmt.bind), PartitionKey: slices.Clone(stmt.pkIndexes),
		ResultColumns: slices.Clone(plan.Columns),
	}
	m.Keyspace, m.Table = stmt.table()
	if len(stmt.bind) == 0 && len(plan.Columns) > 0 {
		m.Keyspace, m.Table = plan.Columns[0].Keyspace, plan.Columns[0].Table
	}
	return m
}

// Bind returns a query of stmt that calls binding for its values each time it runs.
func (s *Session) Bind(stmt string, binding func(m StatementMetadata) ([]any, error)) *Query {
	q := s.Query(stmt)
	q.binding = binding
	return q
}

// callBinding calls binding and returns a panic in it as an error.
func callBinding(binding func(StatementMetadata) ([]any, error), stmt *statement,
	plan *resultPlan,
) (values []any, err error) {
	defer background.Recover(&err)
	return binding(metadataOf(stmt, plan))
}
