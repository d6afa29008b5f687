// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"
)

// This file holds Query: a statement with its values and options, and the verbs that run it.

// Query is a statement with its values. The setters change it and return it, so that calls can be chained; the verbs do not change
// it. It may be run any number of times, also at once by several goroutines as long as none calls a setter. It needs no release.
type Query struct {
	session *Session
	stmt    string
	values  []any
	binding func(q *QueryInfo) ([]any, error) // nil, or where the values come from
	record  record                            // or the struct that they come from
	options
	pageSize     int
	pageState    []byte
	manualPaging bool
	prefetch     float64
	skipMetadata bool
	routingKey   []byte
}

// options are what Query and Batch have in common.
type options struct {
	consistency       Consistency
	serialConsistency Consistency
	idempotent        bool
	defaultTimestamp  bool
	hasTimestamp      bool
	timestamp         int64
	nowInSeconds      int32
	hasNowInSeconds   bool
	keyspace          string
	hostID            UUID
	payload           map[string][]byte
	tracer            Tracer
	how               *policies
}

// nobody is a host id that no node has.
var nobody = UUID{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}

func (o *options) setHost(id string) {
	o.hostID = UUID{}
	if id != "" {
		var err error
		if o.hostID, err = ParseUUID(id); err != nil || o.hostID == (UUID{}) {
			o.hostID = nobody
		}
	}
}

func (o *options) host() string {
	if o.hostID == (UUID{}) {
		return ""
	}
	return o.hostID.String()
}

func (s *Session) defaultOptions() options {
	return options{
		consistency: s.cfg.Consistency, serialConsistency: s.cfg.SerialConsistency, idempotent: s.cfg.DefaultIdempotence,
		defaultTimestamp: s.cfg.DefaultTimestamp, how: s.how,
	}
}

// Query returns a query of stmt with the values of its bind markers, in their order; or all of them NamedValue.
func (s *Session) Query(stmt string, values ...any) *Query {
	return &Query{
		session: s, stmt: stmt, values: values, options: s.defaultOptions(),
		pageSize: s.cfg.PageSize, prefetch: s.cfg.NextPagePrefetch, skipMetadata: true,
	}
}

// Bind replaces the values.
func (q *Query) Bind(values ...any) *Query {
	q.values, q.binding, q.record = values, nil, record{}
	return q
}

// QueryInfo is what a prepared statement tells of itself.
type QueryInfo struct {
	Id          []byte       // given by the server
	Args        []ColumnInfo // bind markers
	Rval        []ColumnInfo // result columns
	PKeyColumns []int        // positions in Args of the partition key's columns, in its order; empty when not all are bound
}

// Bind returns a query of stmt whose values come from binding, which is called with the prepared statement's description each time the
// query runs.
func (s *Session) Bind(stmt string, binding func(q *QueryInfo) ([]any, error)) *Query {
	q := s.Query(stmt)
	q.binding = binding
	return q
}

// StatementMetadata describes a statement without running it.
type StatementMetadata struct {
	Keyspace            string // of the table
	Table               string
	BindColumns         []ColumnInfo
	PKBindColumnIndexes []int
	ResultColumns       []ColumnInfo
}

// StatementMetadata prepares stmt, unless that was done, and returns its description. keyspace may be empty; another one than the
// session's needs protocol v5.
func (s *Session) StatementMetadata(ctx context.Context, stmt, keyspace string) (StatementMetadata, error) {
	p, err := s.prepare(ctx, keyspace, stmt)
	if err != nil {
		return StatementMetadata{}, err
	}
	m := StatementMetadata{
		BindColumns: slices.Clone(p.bind), PKBindColumnIndexes: slices.Clone(p.pkIndexes), ResultColumns: slices.Clone(p.result.Load().columns),
	}
	m.Keyspace, m.Table = p.routing()
	if len(p.bind) == 0 && len(m.ResultColumns) > 0 {
		m.Keyspace, m.Table = m.ResultColumns[0].Keyspace, m.ResultColumns[0].Table
	}
	return m, nil
}

// Consistency sets the consistency of the request.
func (q *Query) Consistency(c Consistency) *Query { q.consistency = c; return q }

// SerialConsistency sets the consistency of a conditional request's Paxos phase: Serial or LocalSerial.
func (q *Query) SerialConsistency(c Consistency) *Query { q.serialConsistency = c; return q }

// Idempotent says that running the statement twice does no harm, so that it may be sent again when its outcome is not known.
func (q *Query) Idempotent(v bool) *Query { q.idempotent = v; return q }

// DefaultTimestamp says whether the client's clock is sent with the request.
func (q *Query) DefaultTimestamp(v bool) *Query { q.defaultTimestamp = v; return q }

// WithTimestamp sets the write time, in microseconds since the epoch.
func (q *Query) WithTimestamp(us int64) *Query { q.timestamp, q.hasTimestamp = us, true; return q }

// WithNowInSeconds sets the server's idea of the current time, in seconds since the epoch (protocol v5), for tests of TTLs.
func (q *Query) WithNowInSeconds(s int) *Query {
	q.nowInSeconds, q.hasNowInSeconds = int32(s), true
	return q
}

// SetKeyspace sets the keyspace of this request (protocol v5).
func (q *Query) SetKeyspace(keyspace string) *Query { q.keyspace = keyspace; return q }

// SetHostID sends the request to the node with that HostInfo.HostID only; empty: to any. When there is none it fails with ErrNoConnections.
func (q *Query) SetHostID(id string) *Query { q.setHost(id); return q }

// GetHostID returns the id of the node that the request goes to only, empty when none was set.
func (q *Query) GetHostID() string { return q.host() }

// CustomPayload sets the custom payload of the request.
func (q *Query) CustomPayload(payload map[string][]byte) *Query { q.payload = payload; return q }

// Trace asks the server to trace the request and hands the tracing id to t.
func (q *Query) Trace(t Tracer) *Query { q.tracer = t; return q }

// RoutingKey sets the serialized partition key by which the request is routed. It is needed only where the bind markers are not the whole
// key, e.g. because a part of it stands in the text.
func (q *Query) RoutingKey(key []byte) *Query { q.routingKey = key; return q }

// PageSize sets the number of rows in a page; 0 or less: no paging.
func (q *Query) PageSize(n int) *Query { q.pageSize = n; return q }

// GetPageSize returns the number of rows in a page; 0 or less: no paging.
func (q *Query) GetPageSize() int { return q.pageSize }

// PageState sets where the result begins: the PageState of an Iter over the same statement, nil for its start. From then on the
// query ends with its page; the next one is asked for by its PageState.
func (q *Query) PageState(state []byte) *Query { q.pageState, q.manualPaging = state, true; return q }

// Prefetch sets when the next page is asked for: when no more than this share (0 to 1) of the page is left; negative: at its end.
func (q *Query) Prefetch(share float64) *Query { q.prefetch = share; return q }

// NoSkipMetadata makes the server send the result's metadata with every page.
func (q *Query) NoSkipMetadata() *Query { q.skipMetadata = false; return q }

// Statement returns the text.
func (q *Query) Statement() string { return q.stmt }

// Values returns the bound values.
func (q *Query) Values() []any { return q.values }

// GetConsistency returns the consistency.
func (q *Query) GetConsistency() Consistency { return q.consistency }

// GetSerialConsistency returns the serial consistency; ok is false when none is set and the server's applies.
func (q *Query) GetSerialConsistency() (c Consistency, ok bool) {
	return q.serialConsistency, q.serialConsistency != 0
}

// IsIdempotent reports whether the query is marked idempotent.
func (q *Query) IsIdempotent() bool { return q.idempotent }

// String returns the statement with its options, without the values.
func (q *Query) String() string {
	return fmt.Sprintf("[query statement=%q values=%d consistency=%v]", q.stmt, len(q.values), q.consistency)
}

// ExecContext runs the query and drops its rows.
func (q *Query) ExecContext(ctx context.Context) error { return q.exec(ctx, q.record) }

func (q *Query) exec(ctx context.Context, r record) error {
	c := q.session.newCall(&q.options)
	defer c.release()
	var first pageValues
	err := q.do(ctx, c, r, q.pageState, &first)
	if err == nil {
		c.answer.page.release()
	}
	return err
}

// Exec is ExecContext without a context.
func (q *Query) Exec() error { return q.ExecContext(context.Background()) }

// IterContext runs the query. Errors are reported by the Iter's Close. ctx ends every wait of the Iter, for its later pages too.
func (q *Query) IterContext(ctx context.Context) *Iter { return newIter(ctx, q) }

// Iter is IterContext without a context.
func (q *Query) Iter() *Iter { return q.IterContext(context.Background()) }

// ScanContext runs the query and stores its first row's columns in dest; further rows are dropped. It returns ErrNotFound when there
// is no row. See Iter.Scan for dest.
func (q *Query) ScanContext(ctx context.Context, dest ...any) error {
	return q.scan(ctx, q.record, dest)
}

func (q *Query) scan(ctx context.Context, r record, dest []any) error {
	if err := refuseBorrow(dest); err != nil {
		return err
	}
	it := q.first(ctx, r)
	found := it.Scan(dest...)
	return oneRow(it, found)
}

// Scan is ScanContext without a context.
func (q *Query) Scan(dest ...any) error { return q.ScanContext(context.Background(), dest...) }

// MapScanContext runs the query and stores its first row in m, by column name, as Iter.MapScan does. It returns ErrNotFound when
// there is no row.
func (q *Query) MapScanContext(ctx context.Context, m map[string]any) error {
	it := q.first(ctx, q.record)
	found := it.MapScan(m)
	return oneRow(it, found)
}

// MapScan is MapScanContext without a context.
func (q *Query) MapScan(m map[string]any) error { return q.MapScanContext(context.Background(), m) }

// first runs the query for one row: no later page is asked for ahead. The caller ends it with done.
func (q *Query) first(ctx context.Context, r record) *Iter {
	it := iterPool.Get().(*Iter)
	it.ctx, it.session, it.query, it.once = ctx, q.session, q, true
	it.start(q.run(ctx, r, q.pageState, &it.first))
	return it
}

func oneRow(it *Iter, found bool) error {
	if err := it.done(); err != nil {
		return err
	}
	if !found {
		return ErrNotFound
	}
	return nil
}

// ScanCASContext runs a conditional statement (INSERT ... IF NOT EXISTS, UPDATE ... IF) and reports whether it was applied. When it was
// not, the current values, all columns after "[applied]", are stored in dest.
func (q *Query) ScanCASContext(ctx context.Context, dest ...any) (applied bool, err error) {
	if err := refuseBorrow(dest); err != nil {
		return false, err
	}
	it := q.first(ctx, q.record)
	applied, err = it.scanApplied(dest)
	if cerr := it.done(); cerr != nil {
		err = cerr
	}
	return applied, err
}

// ScanCAS is ScanCASContext without a context.
func (q *Query) ScanCAS(dest ...any) (applied bool, err error) {
	return q.ScanCASContext(context.Background(), dest...)
}

// MapScanCASContext is ScanCASContext with the current values by column name.
func (q *Query) MapScanCASContext(ctx context.Context, m map[string]any) (applied bool, err error) {
	it := q.first(ctx, q.record)
	applied, err = it.mapScanApplied(m)
	if cerr := it.done(); cerr != nil {
		err = cerr
	}
	return applied, err
}

// MapScanCAS is MapScanCASContext without a context.
func (q *Query) MapScanCAS(m map[string]any) (applied bool, err error) {
	return q.MapScanCASContext(context.Background(), m)
}

// pageValues is what the later pages of a query need of its first one: the values as they were when it was sent, whatever the caller does
// with his variables meanwhile.
type pageValues struct {
	stmt     *statement // nil before the first page, and for a query that is not prepared
	n        int
	cells    []byte
	token    int64
	hasToken bool
}

// run sends the query for the page at state. first is filled by the first page, when more are to come, and used by them.
func (q *Query) run(ctx context.Context, r record, state []byte, first *pageValues) (answer, error) {
	c := q.session.newCall(&q.options)
	defer c.release()
	err := q.do(ctx, c, r, state, first)
	if err == nil {
		c.answer.latency = time.Since(c.answer.began)
	}
	return c.answer, err
}

// do is run with a call that the caller releases; the answer is in it.
func (q *Query) do(ctx context.Context, c *call, r record, state []byte, first *pageValues) error {
	s := q.session
	if q.how.fault != nil {
		return q.how.fault
	}
	if q.how.queryObserver != nil {
		own := *q // a pointer to q itself would have every query allocated
		c.watch = &observation{query: &own}
	}
	c.params.pagingState, c.params.pageSize = state, max(q.pageSize, 0)
	if q.routingKey != nil {
		c.routeTo(q.keyspace, s.cfg.Keyspace, q.routingKey)
	}
	if len(q.values) == 0 && q.binding == nil && r.source == nil && !preparable(q.stmt) {
		if firstWord(q.stmt) == "USE" {
			return ErrUseStmt
		}
		err := c.begin(opQuery, &q.options, len(q.stmt)+64)
		if err == nil {
			c.req.body.b, err = appendQuery(c.req.body.b, s.version, q.stmt, &c.params)
		}
		if err != nil {
			return err
		}
		return q.finish(ctx, c)
	}
	stmt := first.stmt
	if stmt == nil {
		var err error
		if stmt, err = s.prepareFor(ctx, c, q.keyspace, q.stmt); err != nil {
			return err
		}
	}
	c.one[0] = stmt
	c.stmts = c.one[:]
	c.params.keyspace = "" // the prepared id stands for it
	c.routesBy(stmt)
	plan := stmt.result.Load()
	withID := s.hasMetadataID()
	if q.skipMetadata && len(plan.columns) > 0 && (s.version >= protoV5 || withID && len(plan.metadataID) > 0) {
		c.params.skipMetadata, c.plan = true, plan
	}
	if err := q.bind(c, r, stmt, plan, first); err != nil {
		return err
	}
	err := c.begin(opExecute, &q.options, max(int(stmt.bodySize.Load()), 512))
	if err == nil {
		c.params.values = &c.bound
		c.req.body.b, err = c.appendExecute(c.req.body.b, s.version, stmt.id, plan.metadataID, withID)
	}
	if err != nil {
		return err
	}
	if size := int64(len(c.req.body.b)); stmt.bodySize.Load() != size { // written by all who execute it: only when it changes
		stmt.bodySize.Store(size)
	}
	tok, ok := first.token, first.hasToken
	if first.stmt == nil {
		if tok, ok, err = c.bound.token(c.req.body.b); err != nil {
			return err
		}
	}
	if ok && !c.hasToken {
		c.token, c.hasToken = tok, true
	}
	err = q.finish(ctx, c)
	if err == nil && first.stmt == nil && len(c.answer.res.rows.meta.pagingState) > 0 {
		*first = pageValues{stmt: stmt, n: c.bound.n, cells: bytes.Clone(c.bound.cells(c.req.body.b)), token: tok, hasToken: ok}
	}
	return err
}

// bind sets the values of c.
func (q *Query) bind(c *call, r record, stmt *statement, plan *resultPlan, first *pageValues) (err error) {
	switch {
	case first.stmt != nil:
		c.bound.stmt, c.bound.n, c.bound.encoded = stmt, first.n, first.cells
		return nil
	case r.source != nil:
		return r.bind(&c.bound, stmt)
	}
	values := q.values
	if q.binding != nil {
		if values, err = callBinding(q.binding, stmt, plan); err != nil {
			return err
		}
		c.req.began = time.Now()
	}
	return c.bound.bind(stmt, values)
}

// callBinding calls the user's code, with slices of its own: a panic in it is an error of this query only.
func callBinding(binding func(*QueryInfo) ([]any, error), stmt *statement, plan *resultPlan) (values []any, err error) {
	defer recovered(&err)
	return binding(&QueryInfo{
		Id: bytes.Clone(stmt.id), Args: slices.Clone(stmt.bind), Rval: slices.Clone(plan.columns), PKeyColumns: slices.Clone(stmt.pkIndexes),
	})
}

// finish sends the call, and does what follows an answer whatever it is: tracing and schema agreement.
func (q *Query) finish(ctx context.Context, c *call) error {
	if err := q.session.send(ctx, c); err != nil {
		return err
	}
	a := &c.answer
	if q.tracer != nil && a.env.traced {
		q.session.trace(q.tracer, a.env.tracingID)
	}
	if a.res.kind == resultSchemaChange {
		q.session.schemaChanged(a.res.change)
		if err := q.session.awaitSchemaAgreement(ctx, a.node.pool.pick); err != nil {
			err = fmt.Errorf("after %s of %s: %w", a.res.change.change, a.res.change.target, err)
			failure := &RequestFailure{Err: err, Host: a.node.info.addr, Attempts: a.attempts, applied: true}
			a.page.release()
			*a = answer{}
			return failure
		}
	}
	return nil
}
