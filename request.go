// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/pooled"
	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// The call: one request from its values to its answer. Its statement is prepared (request_prepare.go), its body encoded
// once (request_bind.go) and sent to the hosts of a query plan (request_send.go). The query plan depends on the token
// of the encoded values. All attempts share one body.

// call is one request. Its values and options are fixed before the first attempt. Calls are pooled: the function that
// takes a call from the pool releases it after the answer.
type call struct {
	callState

	// Fields that a pooled call keeps:
	own    answer       // where answer points unless the caller keeps it elsewhere
	spare  *conn.Buffer // for the next body; nil means none
	stripe uint32       // of the counters, so that a call mostly stays with one processor
}

// callState is the part of a call that belongs to one request.
type callState struct {
	req        conn.Request // its body is nil until startBody
	answer     *answer      // zero until the response
	began      time.Time    // of the verb, or of a page
	params     frame.QueryParams
	bound      bindings     // of an EXECUTE
	stmts      []*statement // the prepared statements of the request
	one        [1]*statement
	plan       *resultPlan  // for rows without metadata; nil means that the request asks for metadata
	encoding   bodyEncoding // of an EXECUTE's body
	keyspace   string       // of the table, for routing
	table      string
	text       string // of the statement, of the first one of a batch, for errors
	batched    int    // statements of a batch; 0 means no batch
	token      int64
	routingKey []byte   // set by the program, for a HostPicker and for Route; nil means unknown
	hostID     cql.UUID // the only node to send to; zero means any
	policies   *policies
	observer   *observation          // nil means none
	shared     *sharedBody           // nil means no speculative execution
	asked      *atomic.Pointer[node] // of a PREPARE: the node of the last attempt; nil for other requests
	planStart  uint32                // selects one of the query plans
	lwt        bool                  // known to be conditional
	mixed      bool                  // may concern several tables
	logged     bool                  // a logged batch
	paged      bool                  // the program reads the answer row by row, and holds it meanwhile
	hasToken   bool
	idempotent bool
	rebound    bool // see mustRebind
	others     bool // another node can be asked after the current one
}

var callPool = sync.Pool{New: func() any { return &call{stripe: nextStripe.Add(1)} }}

// newCall returns a call with these options and no body yet.
func (s *sender) newCall(o *options) *call {
	c := callPool.Get().(*call)
	c.answer = &c.own
	s.startCall(c, o)
	return c
}

// startCall sets the options of a call.
func (s *sender) startCall(c *call, o *options) {
	c.idempotent, c.hostID, c.policies, c.req.Timeout = o.idempotent, o.hostID, o.policies, o.policies.timeout
	c.params.Consistency, c.params.SerialConsistency, c.params.Keyspace = o.consistency, o.serialConsistency, o.keyspace
	c.params.NowInSeconds, c.params.HasNowInSeconds = o.nowInSeconds, o.hasNowInSeconds
	c.params.Timestamp, c.params.HasTimestamp = o.timestamp, o.hasTimestamp
	c.began = time.Now()
	c.req.Began = c.began
	if !o.hasTimestamp && !o.serverTimestamps {
		c.params.Timestamp, c.params.HasTimestamp = s.nextTimestamp(c.req.Began), true
	}
}

// isOutdated reports whether a change of the schema has dropped a statement of the call since its values were encoded.
// A further page keeps the values of the first one.
func (c *call) isOutdated() bool {
	for _, stmt := range c.stmts {
		if stmt.outdated.Load() {
			return len(c.params.PagingState) == 0
		}
	}
	return false
}

// mustRebind reports whether a call that failed with err is made again, once, with its statements prepared anew. Its
// last attempt was not executed.
func (c *call) mustRebind(err error) bool {
	return !c.rebound && errors.Is(err, ErrStatementChanged) && (c.idempotent || !MayHaveApplied(err))
}

// rebind starts a call again: its body is encoded anew.
func (s *sender) rebind(c *call, o *options) {
	answer, paged, began := c.answer, c.paged, c.began
	c.clear()
	s.startCall(c, o)
	c.answer, c.paged, c.began, c.rebound = answer, paged, began, true
}

// newPrepareCall returns a call of a PREPARE, which is not pooled.
func newPrepareCall(body *conn.Buffer) *call {
	c := &call{}
	c.answer, c.req = &c.own, conn.Request{Op: frame.OpPrepare, Body: body}
	return c
}

// release returns the call and its body to their pools.
func (c *call) release() {
	c.clear()
	callPool.Put(c)
}

// clear releases the body and makes callState zero.
func (c *call) clear() {
	c.releaseBody()
	c.own.reset()
	offsets := c.bound.offsets[:0]
	c.callState = callState{}
	c.bound.offsets = offsets
}

// spareSize is the largest capacity of a body that a pooled call keeps.
const spareSize = 1 << conn.MinBufferBits

// releaseBody releases the body, or the call's reference to it.
func (c *call) releaseBody() {
	switch body := c.req.Body; {
	case c.shared != nil:
		c.shared.drop()
	case body == nil:
	case c.spare == nil && cap(body.B) <= spareSize && !pooled.Poisoned:
		c.spare = body
	default:
		body.Release()
	}
}

// newBody returns a buffer for a body of about size bytes.
func (c *call) newBody(size int) *conn.Buffer {
	if c.spare == nil || size > cap(c.spare.B) {
		return conn.GetBuffer(size)
	}
	body := c.spare
	c.spare = nil
	return body
}

// startBody allocates the body, with room for about size bytes, and writes the custom payload, which precedes the
// message.
func (c *call) startBody(version byte, op frame.Opcode, o *options, size int) (err error) {
	c.req.Op, c.req.Body = op, c.newBody(size)
	c.req.Body.B = c.req.Body.B[:0]
	if o.tracer != nil {
		c.req.Flags |= wire.FlagTracing
	}
	if len(o.payload) > 0 {
		c.req.Flags |= wire.FlagCustomPayload
		c.req.Body.B, err = frame.AppendCustomPayload(c.req.Body.B, version, o.payload)
	}
	return err
}

// answer is a parsed response. Its rows refer to body, which the receiver releases. The fields of an answer without
// rows come first.
type answer struct {
	resp     conn.Response
	env      *frame.Envelope // nil before parse
	node     *node
	attempts int
	plan     *resultPlan // of the rows
	res      frame.Result
}

// parts returns the envelope, an empty one without a response.
func (a *answer) parts() *frame.Envelope {
	if a.env == nil {
		return frame.NoParts
	}
	return a.env
}

// reset makes the answer zero. It writes no more than was set, since the answers of many calls leave the processor's
// cache.
func (a *answer) reset() {
	if a.res.Kind == frame.ResultVoid {
		a.resp, a.env, a.node, a.attempts, a.res.Kind = conn.Response{}, nil, nil, 0, 0
		return
	}
	*a = answer{}
}

// parse reads the response.
func (a *answer) parse(c *call, conn *conn.Conn) (err error) {
	version, f := conn.Version(), &conn.Features
	var r wire.Reader
	if a.env, r, err = frame.ReadEnvelope(a.resp.Header.Flags, a.resp.Body.B); err != nil {
		return err
	}
	switch op := frame.Opcode(a.resp.Header.Opcode); op {
	case frame.OpResult:
		var known *frame.KnownColumns
		if c.req.Op == frame.OpExecute {
			known = &c.stmts[0].seen.Load().KnownColumns
		}
		err := a.res.Parse(&r, version, f.MetadataID, known)
		if err == nil && a.res.Kind == frame.ResultPrepared {
			a.res.Prepared.LWT = f.IsLWT(a.res.Prepared.Bind.Flags)
		}
		return err
	case frame.OpError:
		return frame.ParseError(&r, version, f.RateLimitCode)
	default:
		return &cql.ProtocolError{Message: fmt.Sprintf("%v answered with %v", c.req.Op, op)}
	}
}

// useMetadata sets the plan of the rows: the call's for rows without metadata, else the statement's, which it
// updates.
func (a *answer) useMetadata(c *call) error {
	meta := &a.res.Rows.Meta
	switch {
	case meta.NoColumns && c.plan == nil:
		return &cql.ProtocolError{Message: "rows without metadata, although the request did not skip it"}
	case meta.NoColumns && meta.ColumnCount != len(c.plan.Columns):
		return &cql.ProtocolError{Message: fmt.Sprintf("rows of %d columns without metadata, the statement has %d columns",
			meta.ColumnCount, len(c.plan.Columns))}
	case meta.NoColumns:
		meta.Columns, a.plan = c.plan.Columns, c.plan
	case c.req.Op != frame.OpExecute:
		a.plan = newResultPlan(nil, frame.KnownColumns{Columns: meta.Columns})
	default:
		a.plan = c.stmts[0].planFor(meta)
	}
	return nil
}

// setRoutingKey sets the token from the routing key of a query.
func (c *call) setRoutingKey(keyspace, defaultKeyspace string, key []byte) {
	if keyspace == "" {
		keyspace = defaultKeyspace
	}
	c.keyspace, c.token, c.hasToken, c.routingKey = keyspace, token.Murmur3(key), true, key
}

// keepKey sets the routing key from the values of b in the body, unless it is known. bindings.token has accepted them.
func (c *call) keepKey(b *bindings) {
	if c.routingKey == nil {
		c.routingKey, _, _ = b.appendKey(nil, c.req.Body.B)
	}
}

// setTable sets the table for the query plan.
func (c *call) setTable(stmt *statement) {
	if keyspace, table := stmt.table(); table != "" {
		c.keyspace, c.table = keyspace, table
	}
	c.lwt = c.lwt || stmt.lwt
}

// newPlan makes startPlan select the next query plan.
func (s *sender) newPlan(c *call) { c.planStart = s.start.Add(startStep) }

// planTarget returns the input of the query plan of the call.
func (c *call) planTarget() planTarget {
	return planTarget{
		keyspace: c.keyspace, table: c.table, token: c.token, hasToken: c.hasToken,
		lwt:  c.lwt || c.params.Consistency.IsSerial(), // a read at a serial consistency runs a round of Paxos too
		host: c.hostID, consistency: c.params.Consistency,
	}
}

// startPlan sets p, which must be zero, to the query plan of a call that c.planStart selects. ctx is the context of the
// request.
func (s *sender) startPlan(ctx context.Context, p *queryPlan, c *call) {
	target := c.planTarget()
	target.start, target.now = c.planStart, c.began
	if s.picks() {
		target.picking = c.picking(ctx)
	}
	s.topo.Load().startPlan(p, &target)
}

// picks reports whether a HostPicker selects the nodes.
func (s *sender) picks() bool { return s.routing.rules.picker != nil }

// picking describes the call to a HostPicker.
func (c *call) picking(ctx context.Context) *picking {
	return &picking{
		ctx: ctx, statement: c.text, routingKey: bytes.Clone(c.routingKey), idempotent: c.idempotent,
		prepare: c.req.Op == frame.OpPrepare,
	}
}

// routeInfo describes the routing of an encoded call.
func (s *sender) routeInfo(ctx context.Context, c *call) RouteInfo {
	target := c.planTarget()
	target.picking = c.picking(ctx)
	p := queryPlan{topo: s.topo.Load()}
	p.setReplicas(&target)
	return p.routeInfo(&target)
}

// storeTablet stores the tablet in the custom payload of a response in topo, the current snapshot, if there is one. The
// payload does not name the table.
func (s *sender) storeTablet(topo *topology, c *call, payload map[string][]byte) {
	if c.mixed {
		return
	}
	target := c.planTarget()
	topo.storeTablet(&target, payload)
	// a snapshot installed meanwhile may have dropped tablets just before this one was stored
	if now := s.topo.Load(); now != topo {
		now.followTablets(topo)
	}
}

// appendTabletBlock appends the byte that ends an EXECUTE on connections with TABLETS_ROUTING_V2. The token of the call
// must be set.
func (s *sender) appendTabletBlock(dst []byte, c *call) []byte {
	target := c.planTarget()
	return s.topo.Load().appendTabletBlock(dst, &target)
}

// bodyEncoding is the encoding of the body of an EXECUTE. During the upgrade of a cluster, connections may differ in
// ScyllaDB's extensions, even two connections to one node. A body is encoded once for all attempts, for the features of
// the connection opened last (core.metadataIDs). For a connection with other features transmit makes a copy, so only
// requests to some nodes of a cluster that is being upgraded cost a copy.
type bodyEncoding struct {
	message int  // offset of the message, after a custom payload
	hasID   bool // the message has a result metadata id on v4
}

// unknownMetadata is the result metadata id that a client without one sends.
var unknownMetadata = []byte{}
