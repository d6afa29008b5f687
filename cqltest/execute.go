// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// The path of a request: from its body through faults and engine to its answer.

// routing is the results of request.where.
type routing struct {
	known               bool // the others are set
	token               int64
	has, replica, shard bool
}

// request is a request frame and its progress.
type request struct {
	conn     *conn
	head     header
	trace    bool
	text     string // of the statement, or of all statements of a BATCH
	keyspace string // of unqualified names

	rest     reader // the unread part of the body, for STARTUP and the like
	params   params
	prepare  prepareRequest
	batch    batchRequest
	id       []byte    // EXECUTE
	resultID []byte    // EXECUTE with metadata ids
	known    *prepared // EXECUTE; nil means that the node has not prepared id
	v2       byte      // EXECUTE, TABLETS_ROUTING_V2

	statement *engine.Statement // of QUERY, EXECUTE and PREPARE; nil until resolved
	failed    error             // the error of resolving it
	touches   []touched
	routed    routing
	rows      int // in the result, for the trace
}

// serveFrame executes one frame. It reports whether its goroutine still reads from the connection.
func (c *conn) serveFrame(h header, body []byte) bool {
	switch h.op {
	case OpQuery, OpPrepare, OpExecute, OpBatch:
		number := c.runs()
		c.serve(h, body)
		return c.ran(number)
	case OpOptions:
	default: // other messages change how the next frame is read
		if !c.awaitLong() {
			return true // the next read fails
		}
	}
	c.serve(h, body)
	return true
}

// serve executes one frame.
func (c *conn) serve(h header, body []byte) {
	c.node.stats.ops.add(h.op)
	c.counts.add(h.op)
	if c.version == 0 {
		c.infoMu.Lock()
		c.version = h.version
		c.infoMu.Unlock()
	}
	req := &request{conn: c, head: h}
	if err := req.parse(body); err != nil {
		c.answer(req, errorAnswer(c, err), nil)
		return
	}
	req.resolve()
	if f := c.cluster.cfg.OnRequest; f != nil {
		f(req.info())
	}
	fault := c.cluster.faultOf(req)
	if fault == nil || fault.Before <= 0 {
		c.execute(req, fault)
		return
	}
	again := func() {
		req.resolve() // the schema may have changed
		c.execute(req, fault)
	}
	switch h.op {
	case OpQuery, OpPrepare, OpExecute, OpBatch:
		c.later(fault.Before, nil, func() { again(); c.flushLater() })
	default: // other messages change how the next frame is read
		c.flush()
		if c.wait(fault.Before) {
			again()
		}
	}
}

// later calls f after d and, if until is not nil, after until is ready, unless the connection ends before.
func (c *conn) later(d time.Duration, until <-chan struct{}, f func()) {
	c.cluster.wg.Go(func() {
		if !c.wait(d) {
			return
		}
		if until != nil {
			select {
			case <-until:
			case <-c.done:
				return
			}
		}
		f()
	})
}

// wait waits for d and reports whether the connection has not ended. It makes no timer that has expired already: with
// the race detector Go 1.26 crashes at times when goroutines of a synctest bubble receive from such timers together.
func (c *conn) wait(d time.Duration) bool {
	if d <= 0 {
		select {
		case <-c.done:
			return false
		default:
			return true
		}
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.done:
		return false
	}
}

// execute executes the request with its fault.
func (c *conn) execute(req *request, fault *Fault) {
	if fault == nil {
		c.answer(req, c.perform(req), nil)
		return
	}
	if fault.Forget {
		c.node.Forget()
		req.known = nil
		req.resolve()
	}
	var a *Answer
	if !fault.replaces() || fault.Execute {
		req.params.pad, req.params.noMetadata = max(fault.PadPagingState, 0), fault.SkipMetadata
		a = c.perform(req)
	}
	switch {
	case fault.Drop:
		return
	case fault.Error != nil:
		e := *fault.Error
		if e.Consistency == 0 {
			e.Consistency = req.params.Consistency
		}
		if e.StatementID == nil {
			e.StatementID = req.id
		}
		a = errorAnswer(c, &e)
	case fault.Answer != nil:
		own := *fault.Answer
		a = &own
	case fault.EmptyPage:
		a = c.emptyPage(req)
	}
	c.answer(req, a, fault)
}

func errorAnswer(c *conn, err error) *Answer {
	e := errorOf(err)
	return &Answer{Op: OpError, Body: appendError(nil, e, c.version, c.rateLimit), Warnings: e.warnings}
}

// parse parses the part of the body that is independent of the schema.
func (req *request) parse(body []byte) error {
	c, h := req.conn, req.head
	if h.flags&flagCompressed != 0 && h.version < 5 {
		var err error
		if body, err = decompressBody(c.compression, body, c.cluster.cfg.MaxRequest); err != nil {
			return err
		}
	}
	if h.stream < 0 {
		return protocolError("stream id %d is negative: clients use 0 to 32767", h.stream)
	}
	if !h.op.request() {
		return protocolError("Unexpected message %v", h.op)
	}
	req.trace = h.flags&flagTracing != 0
	r := reader{b: body}
	if h.flags&flagPayload != 0 {
		r.bytesMap() // the payload is ignored
	}
	if h.flags&flagWarning != 0 {
		return protocolError("flag WARNING is set on a request")
	}
	switch {
	case h.op == OpStartup, h.op == OpOptions:
	case c.stage == stageStart:
		return protocolError("Unexpected message %v, expecting STARTUP or OPTIONS", h.op)
	case c.stage == stageAuth && h.op != OpAuthResponse:
		return protocolError("Unexpected message %v, needs authentication through CREDENTIALS message", h.op)
	}
	req.keyspace = c.currentKeyspace()
	switch h.op {
	case OpQuery:
		req.text = r.longString()
		req.params = readParams(&r, h.version, false)
	case OpPrepare:
		req.prepare = readPrepare(&r, h.version)
		req.text, req.params.keyspace = req.prepare.text, req.prepare.keyspace
	case OpExecute:
		req.id = r.shortBytes()
		if c.metadataIDs {
			req.resultID = r.shortBytes()
		}
		req.params = readParams(&r, h.version, false)
		if c.tabletsV2 {
			req.v2 = r.byte()
		}
		if req.known = c.node.recall(req.id); req.known != nil {
			req.text = req.known.text
		}
	case OpBatch:
		req.batch = readBatch(&r, h.version)
		req.params = req.batch.params
		texts := make([]string, len(req.batch.entries))
		for i, e := range req.batch.entries {
			if texts[i] = e.text; e.id != nil {
				if p := c.node.recall(e.id); p != nil {
					texts[i] = p.text
				}
			}
		}
		req.text = strings.Join(texts, "; ")
	}
	if req.params.keyspace != "" {
		req.keyspace = req.params.keyspace
	}
	req.rest = r
	return r.err
}

// resolve finds the statement and the partitions that it touches.
func (req *request) resolve() {
	c := req.conn
	req.statement, req.failed, req.touches, req.batch.statements, req.routed = nil, nil, nil, nil, routing{}
	db := c.cluster.db
	switch req.head.op {
	case OpQuery:
		req.statement, req.failed = db.Prepare(req.keyspace, req.text)
		req.touch(req.statement, req.params.Values, req.params.Named)
	case OpExecute:
		if req.known = c.current(req.known); req.known != nil {
			req.statement = req.known.statement
			req.touch(req.statement, req.params.Values, req.params.Named)
		}
	case OpBatch:
		for i, e := range req.batch.entries {
			var s *engine.Statement
			if e.id != nil {
				p := c.node.recall(e.id)
				if p = c.current(p); p == nil {
					req.failed = &Error{Code: CodeUnprepared, StatementID: e.id}
					return
				}
				s = p.statement
			} else if s, req.failed = db.Prepare(req.keyspace, e.text); req.failed != nil {
				return
			}
			req.batch.statements = append(req.batch.statements,
				engine.BatchEntry{Statement: s, Values: req.batch.entries[i].values})
			req.touch(s, e.values, false)
		}
	}
}

// touch records the partition that a statement touches, and counts whether the request was routed well.
func (req *request) touch(s *engine.Statement, values []engine.Value, named bool) {
	if s == nil {
		return
	}
	if !s.OnRows() || s.Kind == engine.StatementTruncate {
		return
	}
	t := touched{table: s.Table}
	var ok bool
	t.token, ok = req.conn.cluster.db.Token(s, values, named)
	t.all = !ok
	req.touches = append(req.touches, t)
}

// where returns the token of the request (has is false unless the request is for one partition of a replicated
// keyspace), and whether it reached a replica and the shard that owns the token.
func (req *request) where() (tok int64, has, replica, shard bool) {
	r := &req.routed
	if !r.known {
		r.token, r.has, r.replica, r.shard = req.route()
		r.known = true
	}
	return r.token, r.has, r.replica, r.shard
}

// route computes where.
func (req *request) route() (tok int64, has, replica, shard bool) {
	if len(req.touches) == 0 || req.touches[0].all {
		return 0, false, false, false
	}
	t := req.touches[0]
	for _, o := range req.touches[1:] {
		if o.all || o.token != t.token || o.table.Keyspace != t.table.Keyspace {
			return 0, false, false, false
		}
	}
	c := req.conn
	p := c.cluster.placement(t.table.Keyspace)
	if p == nil {
		return 0, false, false, false
	}
	if p.tablets {
		for _, r := range c.cluster.tabletOf(p, t.table, t.token).Replicas {
			if r.Node == c.node {
				return t.token, true, true, r.Shard == c.shard
			}
		}
		return t.token, true, false, false
	}
	for _, n := range c.cluster.replicasOf(p, t.table, t.token) {
		if n == c.node {
			return t.token, true, true, c.cluster.ownShard(c, t.token)
		}
	}
	return t.token, true, false, false
}

// ownShard reports whether the connection belongs to the shard that owns the token.
func (c *Cluster) ownShard(conn *conn, tok int64) bool {
	if c.cfg.Scylla == nil {
		return true
	}
	return shardOf(tok, conn.node.shardCount(), uint(c.cfg.Scylla.IgnoreMSB)) == conn.shard
}

// info returns the request as a Request.
func (req *request) info() Request {
	i := Request{
		Node: req.conn.node, Conn: req.conn.id, Shard: req.conn.shard, Op: req.head.op, Stream: req.head.stream,
		Statement: req.text, Prepared: req.known != nil, Paged: req.params.PagingState != nil,
	}
	n := len(req.params.Values)
	for _, e := range req.batch.statements {
		n += len(e.Values)
	}
	i.Values = boundValues(make([]Value, 0, n), req.statement, req.params.Values)
	for _, e := range req.batch.statements {
		i.Values = boundValues(i.Values, e.Statement, e.Values)
	}
	i.Token, i.HasToken, i.OnReplica, i.OnShard = req.where()
	return i
}

// boundValues appends the values of a statement, which is nil if it is not prepared.
func boundValues(dst []Value, s *engine.Statement, values []engine.Value) []Value {
	for i, v := range values {
		out := Value{Name: v.Name, Unset: v.State == engine.ValueUnset}
		if v.State == engine.ValueSet {
			out.Bytes = v.Bytes
		}
		at := i
		if s != nil && v.Name != "" {
			at = slices.IndexFunc(s.Bind, func(c engine.Column) bool { return c.Name == v.Name })
		}
		if s != nil && at >= 0 && at < len(s.Bind) {
			c := s.Bind[at]
			out.Name, out.Type, out.typ = c.Name, s.BindTypes[at], c.Type
		}
		dst = append(dst, out)
	}
	return dst
}

// count adds the request to the counters of its node.
func (req *request) count() {
	n := req.conn.node
	n.stats.shard(req.conn.shard).Add(1)
	req.countLeader()
	_, has, replica, shard := req.where()
	if !has {
		return
	}
	n.stats.routable.Add(1)
	if replica {
		n.stats.onReplica.Add(1)
	}
	if shard {
		n.stats.onShard.Add(1)
	}
}

// perform executes the request and returns its answer.
func (c *conn) perform(req *request) *Answer {
	var a *Answer
	var err error
	var began time.Time
	if req.trace {
		began = time.Now()
	}
	switch req.head.op {
	case OpOptions:
		a = &Answer{Op: OpSupported, Body: appendStringMultimap(nil, c.supported())}
	case OpStartup:
		a, err = c.startup(req.head, &req.rest)
	case OpAuthResponse:
		a, err = c.authenticate(&req.rest)
	case OpRegister:
		a, err = c.register(&req.rest)
	case OpPrepare:
		a, err = c.prepare(req)
	case OpQuery, OpExecute, OpBatch:
		req.count()
		if a, err = c.query(req); err != nil {
			var e *Error
			if e = errorOf(err); e.Code == CodeUnavailable {
				c.node.stats.unavailable.Add(1)
			}
		}
	}
	if err != nil {
		a = errorAnswer(c, err)
	}
	if req.trace {
		switch req.head.op {
		case OpQuery, OpExecute, OpBatch, OpPrepare:
			id := c.cluster.traces.add(req, time.Since(began))
			a.Trace = &id
		}
	}
	return a
}

// query answers QUERY, EXECUTE and BATCH.
func (c *conn) query(req *request) (*Answer, error) {
	if req.head.op == OpExecute {
		if req.known = c.current(req.known); req.known == nil {
			return nil, &Error{Code: CodeUnprepared, StatementID: req.id}
		}
		req.statement = req.known.statement
		if got, want := len(req.params.Values), len(req.statement.Bind); got != want && !req.params.Named {
			return nil, invalid("there were %d markers(?) in CQL but %d bound variables", want, got)
		}
	}
	if req.failed != nil {
		return nil, req.failed
	}
	if err := req.permitted(); err != nil {
		return nil, err
	}
	state, err := unpadState(req.params.PagingState)
	if err != nil {
		return nil, err
	}
	run := req.params.Request
	run.PagingState, run.Node, run.Commit = state, c.node, req.commit
	room := getBuffer()
	defer putBuffer(room)
	run.Encode, run.Room = true, (*room)[:0]
	var res *engine.Result
	if req.head.op == OpBatch {
		res, err = c.cluster.db.Batch(c.cluster.ctx, req.batch.typ, req.batch.statements, &run)
	} else {
		res, err = c.cluster.db.Execute(c.cluster.ctx, req.statement, &run)
	}
	if err != nil {
		return nil, req.withReplicas(err)
	}
	if req.rows = len(res.Rows) + res.Count; res.Encoded != nil {
		*room = res.Encoded
	}
	return c.result(req, res), nil
}

// withReplicas returns the error of a request with the level and the replicas, if replicas could not execute it.
func (req *request) withReplicas(err error) error {
	e := errorOf(err)
	if e.Code != CodeReadFailure && e.Code != CodeWriteFailure {
		return err
	}
	e.Consistency, e.Required, e.Failures = req.params.Consistency, 1, map[netip.Addr]uint16{}
	node := req.conn.node
	if e.Failures[node.Addr().Addr()] = e.reason; e.reason == engine.ReasonIndexNotAvailable {
		e.Message += fmt.Sprintf(": INDEX_NOT_AVAILABLE from /%s:%d", node.Addr().Addr(), node.storagePort())
	}
	return e
}

// commit returns the error if too few replicas are alive for what a conditional statement writes. A statement that is
// not applied does not need them.
func (req *request) commit() error {
	for _, t := range req.touches {
		if e := req.conn.cluster.requireAlive(req.conn.node, t, req.params.Consistency, true); e != nil {
			return e
		}
	}
	return nil
}

// permitted returns the error if the consistency level does not suit the request or too few replicas are alive.
func (req *request) permitted() error {
	c, cl := req.conn, req.params.Consistency
	if req.statement != nil && req.statement.ANN {
		cl = engine.ANNConsistency(cl)
	}
	check := func(s *engine.Statement, t touched) *Error {
		if e := checkConsistency(s, cl); e != nil {
			return e
		}
		if e := c.cluster.checkStrong(s, t, cl); e != nil {
			return e
		}
		write := s.Kind != engine.StatementSelect
		if !s.Conditional {
			return c.cluster.requireAlive(c.node, t, cl, write)
		}
		serial := req.params.SerialConsistency
		if serial == 0 {
			serial = clSerial
		}
		return c.cluster.requireAlive(c.node, t, serial, write)
	}
	if req.head.op == OpBatch {
		for i, t := range req.touches {
			if e := check(req.batch.statements[i].Statement, t); e != nil {
				return e
			}
		}
		return nil
	}
	for _, t := range req.touches {
		if e := check(req.statement, t); e != nil {
			return e
		}
	}
	return nil
}
