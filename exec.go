// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"sync"
	"time"

	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// This file holds the call, which is one request from its values to its answer: prepare (exec_prepare.go), encode once (exec_bind.go), route
// by the bytes just written, send, send again where that is safe (exec_send.go). All attempts share one body.

// call is one request on its way. Everything in it is fixed before the first attempt. Calls are pooled: who makes one releases it when
// its answer is there.
type call struct {
	req        request // its body is nil until begin
	params     queryParams
	bound      bindings     // of an EXECUTE
	stmts      []*statement // that may have to be prepared again
	one        [1]*statement
	plan       *resultPlan // to decode rows whose metadata the server leaves out; nil when it was not asked to
	dialect    dialect     // of an EXECUTE's body
	keyspace   string      // of the table, for routing
	table      string
	lwt        bool // known to be conditional
	mixed      bool // perhaps of several tables
	several    bool // a batch of more than one statement
	logged     bool // a logged batch
	token      int64
	hasToken   bool
	idempotent bool
	hostID     UUID // send to this node only, when not zero
	answer     answer
	how        *policies    // nil for a PREPARE
	watch      *observation // nil: nobody is told of attempts
	shared     *sharedBody  // nil unless speculative executions send the body too
	stripe     uint32       // where it is counted: kept with the pooled call, and so mostly with a processor
}

var callPool = sync.Pool{New: func() any { return &call{stripe: nextStripe.Add(1)} }}

// newCall returns a call with these options and no body yet.
func (s *Session) newCall(o *options) *call {
	c := callPool.Get().(*call)
	c.idempotent, c.hostID, c.how, c.req.timeout = o.idempotent, o.hostID, o.how, o.how.timeout
	c.params = queryParams{
		consistency: o.consistency, serialConsistency: o.serialConsistency, keyspace: o.keyspace,
		nowInSeconds: o.nowInSeconds, hasNowInSeconds: o.hasNowInSeconds, timestamp: o.timestamp, hasTimestamp: o.hasTimestamp,
	}
	c.req.began = time.Now()
	if !o.hasTimestamp && o.defaultTimestamp {
		c.params.timestamp, c.params.hasTimestamp = s.nextTimestamp(c.req.began), true
	}
	return c
}

// release gives back the call and its body.
func (c *call) release() {
	switch {
	case c.shared != nil:
		c.shared.drop()
	case c.req.body != nil:
		c.req.body.release()
	}
	*c = call{bound: bindings{ends: c.bound.ends[:0]}, stripe: c.stripe}
	callPool.Put(c)
}

// begin starts the body, of about that size, with what comes before every message.
func (c *call) begin(op opcode, o *options, size int) (err error) {
	c.req.op, c.req.body = op, getBuffer(size)
	c.req.body.b = c.req.body.b[:0]
	if o.tracer != nil {
		c.req.flags |= wire.FlagTracing
	}
	if o.payload != nil {
		c.req.flags |= wire.FlagCustomPayload
		c.req.body.b, err = appendCustomPayload(c.req.body.b, o.payload)
	}
	return err
}

// answer is what came back. Rows are parts of page, which the receiver releases.
type answer struct {
	page     *buffer
	env      envelope
	res      result
	plan     *resultPlan // of the rows
	node     *node
	attempts int
	began    time.Time     // the last attempt
	latency  time.Duration // of it, where somebody may ask
}

// parse reads the frame in a.page.
func (a *answer) parse(c *call, h wire.Header, conn *conn) error {
	version, f := conn.version(), &conn.features
	var r wire.Reader
	var err error
	if a.env, r, err = parseEnvelope(h, a.page.b); err != nil {
		return err
	}
	switch op := opcode(h.Opcode); op {
	case opResult:
		var known *knownColumns
		if c.req.op == opExecute {
			known = &c.stmts[0].seen.Load().knownColumns
		}
		err := a.res.parse(&r, version, f.metadataID, known)
		if err == nil && a.res.kind == resultPrepared {
			a.res.prepared.lwt = f.isLWT(a.res.prepared.bind.flags)
		}
		return err
	case opError:
		return parseError(&r, version, f.rateLimitCode)
	default:
		return &ProtocolError{Message: fmt.Sprintf("%v answered with %v", c.req.op, op)}
	}
}

// useMetadata gives rows that came without metadata those of the plan, and keeps the plan of the statement up to date.
func (a *answer) useMetadata(c *call) error {
	meta := &a.res.rows.meta
	switch {
	case meta.noColumns && c.plan == nil:
		return &ProtocolError{Message: "rows came without metadata, which was not asked for"}
	case meta.noColumns && meta.columnCount != len(c.plan.columns):
		return &ProtocolError{Message: fmt.Sprintf("rows of %d columns came without metadata for a statement of %d", meta.columnCount, len(c.plan.columns))}
	case meta.noColumns:
		meta.columns, a.plan = c.plan.columns, c.plan
	case c.req.op != opExecute:
		a.plan = newResultPlan(nil, knownColumns{columns: meta.columns})
	default:
		a.plan = c.stmts[0].learn(meta)
	}
	return nil
}

// learn returns the plan for rows that came with metadata of their own. Only a new metadata id changes what rows without metadata are
// decoded with: a conditional statement answers with other columns each time.
func (s *statement) learn(meta *metadata) *resultPlan {
	if meta.newID != nil {
		plan := newResultPlan(meta.newID, meta.known())
		s.result.Store(plan)
		s.seen.Store(plan)
		return plan
	}
	if plan := s.seen.Load(); len(meta.columns) == len(plan.columns) && (len(meta.columns) == 0 || &meta.columns[0] == &plan.columns[0]) {
		return plan
	}
	plan := newResultPlan(nil, meta.known())
	s.seen.Store(plan)
	return plan
}

// routeTo routes the call by a routing key given by the user.
func (c *call) routeTo(keyspace, defaultKeyspace string, key []byte) {
	if keyspace == "" {
		keyspace = defaultKeyspace
	}
	c.keyspace, c.token, c.hasToken = keyspace, token.Murmur3(key), true
}
