// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// This file takes a request from its values to its answer: prepare, encode once, route by the bytes just written, send, send again
// where that is safe. All attempts share one body.

// call is one request on its way. Everything in it is fixed before the first attempt. Calls are pooled: who makes one releases it when
// its answer is there.
type call struct {
	req        request // its body is nil until begin
	params     queryParams
	bound      bindings     // of an EXECUTE
	stmts      []*statement // that may have to be prepared again
	one        [1]*statement
	plan       *resultPlan // to decode rows whose metadata the server leaves out; nil when it was not asked to
	keyspace   string      // of the table, for routing
	token      int64
	hasToken   bool
	idempotent bool
	hostID     UUID // send to this node only, when not zero
	answer     answer
}

var callPool = sync.Pool{New: func() any { return new(call) }}

// newCall returns a call with these options and no body yet.
func (s *Session) newCall(o *options) *call {
	c := callPool.Get().(*call)
	c.idempotent, c.hostID = o.idempotent, o.hostID
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
	if c.req.body != nil {
		c.req.body.release()
	}
	*c = call{bound: bindings{ends: c.bound.ends[:0]}}
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

// bindings are the values of one execution of a statement, in one of three forms.
type bindings struct {
	stmt    *statement
	values  []any          // one for each marker; or
	record  unsafe.Pointer // a struct,
	fields  []markerField  // with a field for each marker; or
	encoded []byte         // the cells themselves

	n     int   // markers
	ends  []int // ends[i] is where the cell of marker i ends in the body; cell i begins where cell i-1 ends
	begin int
}

// markerField is the field of a struct that a bind marker takes its value from.
type markerField struct {
	offset uintptr
	goType reflect.Type
	encode encodeAt // nil: the reference does it
}

// bind sets the values of stmt: their number must be right, named ones are put into the order of the markers.
func (b *bindings) bind(stmt *statement, values []any) error {
	if len(values) > 0 {
		if _, named := values[0].(namedValue); named {
			var err error
			if values, err = orderNamed(stmt, values); err != nil {
				return err
			}
		}
	}
	if len(values) != len(stmt.bind) {
		return fmt.Errorf("%w: %d values for %d bind markers of %q", ErrValueCount, len(values), len(stmt.bind), stmt.text)
	}
	b.stmt, b.values, b.n = stmt, values, len(values)
	return nil
}

func orderNamed(stmt *statement, values []any) ([]any, error) {
	ordered := make([]any, len(stmt.bind))
	bound := make([]bool, len(stmt.bind))
	for _, v := range values {
		nv, ok := v.(namedValue)
		if !ok {
			return nil, fmt.Errorf("%w: named and positional values are mixed", ErrValueCount)
		}
		found := false
		for i, col := range stmt.bind { // a name may stand at several markers
			if col.Name == nv.name {
				ordered[i], bound[i], found = nv.value, true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("%w: no bind marker %q in %q", ErrValueCount, nv.name, stmt.text)
		}
	}
	for i, ok := range bound {
		if !ok {
			return nil, fmt.Errorf("%w: no value for bind marker %q of %q", ErrValueCount, stmt.bind[i].Name, stmt.text)
		}
	}
	return ordered, nil
}

// count implements binder. Values are sent by position, also where the caller named them.
func (b *bindings) count() (int, bool) { return b.n, false }

// appendBound implements binder.
func (b *bindings) appendBound(dst []byte) ([]byte, error) {
	if b.encoded != nil {
		return append(dst, b.encoded...), nil
	}
	b.begin = len(dst)
	for i := range b.stmt.bind {
		var err error
		if b.fields != nil {
			dst, err = b.appendField(dst, i)
		} else {
			dst, err = b.appendValue(dst, i)
		}
		if err != nil {
			return dst, err
		}
		b.ends = append(b.ends, len(dst))
	}
	return dst, nil
}

func (b *bindings) appendValue(dst []byte, i int) ([]byte, error) {
	col, v := &b.stmt.bind[i], b.values[i]
	var err error
	switch v.(type) {
	case nil:
		dst = wire.AppendInt(dst, wire.Null)
	case unsetColumn:
		dst = wire.AppendInt(dst, wire.Unset)
	default:
		dst, err = b.stmt.encoder(i, reflect.TypeOf(v))(dst, col.TypeInfo, v)
	}
	if err != nil {
		err = &MarshalError{Column: col.Name, Type: col.TypeInfo, GoType: goTypeName(v), Err: err}
	}
	return dst, err
}

func (b *bindings) appendField(dst []byte, i int) ([]byte, error) {
	col, f := &b.stmt.bind[i], &b.fields[i]
	p := unsafe.Add(b.record, f.offset)
	var err error
	if f.encode != nil {
		dst, err = f.encode(dst, p)
	} else {
		dst, err = reflectEncode(dst, col.TypeInfo, reflect.NewAt(f.goType, p).Elem().Interface())
	}
	if err != nil {
		err = &MarshalError{Column: col.Name, Type: col.TypeInfo, GoType: f.goType.String(), Err: err}
	}
	return dst, err
}

// cell returns the content of cell i in body; ok is false when it is NULL or unset.
func (b *bindings) cell(body []byte, i int) (cell []byte, ok bool) {
	begin := b.begin
	if i > 0 {
		begin = b.ends[i-1]
	}
	r := wire.NewReader(body[begin:b.ends[i]])
	cell, null := r.Value()
	return cell, !null
}

// cells returns all cells in body.
func (b *bindings) cells(body []byte) []byte {
	if len(b.ends) == 0 {
		return nil
	}
	return body[b.begin:b.ends[len(b.ends)-1]]
}

// token returns the token of the partition that the values in body belong to; ok is false when the statement does not bind the whole
// partition key.
func (b *bindings) token(body []byte) (tok int64, ok bool) {
	switch pk := b.stmt.pkIndexes; len(pk) {
	case 0:
		return 0, false
	case 1:
		cell, ok := b.cell(body, pk[0])
		return token.Murmur3(cell), ok
	default:
		var stack [256]byte
		key := stack[:0]
		for _, i := range pk {
			cell, ok := b.cell(body, i)
			if !ok {
				return 0, false
			}
			var err error
			if key, err = token.AppendComposite(key, cell); err != nil {
				return 0, false // the server refuses it with a better message
			}
		}
		return token.Murmur3(key), true
	}
}

// firstWord returns the first word of a statement in upper case.
func firstWord(stmt string) string {
	stmt = strings.TrimLeft(stmt, " \t\r\n;(")
	end := strings.IndexFunc(stmt, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') })
	if end < 0 {
		end = len(stmt)
	}
	switch word := stmt[:end]; word { // the usual spelling needs no copy
	case "SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN":
		return word
	default:
		return strings.ToUpper(word)
	}
}

// preparable reports whether a statement without values is worth preparing: what may run again, not DDL.
func preparable(stmt string) bool {
	switch firstWord(stmt) {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN":
		return true
	}
	return false
}

// prepare returns the plan of a statement.
func (s *Session) prepare(ctx context.Context, keyspace, text string) (*statement, error) {
	if s.closed.Load() {
		return nil, ErrSessionClosed
	}
	key := statementKey{keyspace: keyspace, text: text}
	if stmt := s.statements.known(key); stmt != nil {
		return stmt, nil
	}
	return s.statements.get(ctx, key, func() (*statement, error) {
		c := call{req: request{op: opPrepare, body: getBuffer(len(text) + len(keyspace) + 16)}, idempotent: true}
		defer c.req.body.release()
		var err error
		if c.req.body.b, err = appendPrepare(c.req.body.b[:0], s.version, text, keyspace); err != nil {
			return nil, err
		}
		err = s.send(s.ctx, &c)
		if err != nil && s.closed.Load() {
			err = ErrSessionClosed // rather than that s.ctx ended, which no caller cancelled
		}
		if err != nil {
			return nil, fmt.Errorf("prepare %q: %w", text, err)
		}
		defer c.answer.page.release()
		if kind := c.answer.res.kind; kind != resultPrepared {
			return nil, &ProtocolError{Message: fmt.Sprintf("PREPARE answered with result kind %d", kind)}
		}
		return newStatement(text, keyspace, c.answer.res.prepared), nil
	})
}

// prepareAgain prepares stmt on a node that has forgotten it, or never knew.
func (s *Session) prepareAgain(ctx context.Context, c *conn, stmt *statement) error {
	body := getBuffer(len(stmt.text) + len(stmt.keyspace) + 16)
	defer body.release()
	var err error
	if body.b, err = appendPrepare(body.b[:0], s.version, stmt.text, stmt.keyspace); err != nil {
		return err
	}
	prepare := call{req: request{op: opPrepare, body: body}}
	if err := s.attempt(ctx, c, &prepare); err != nil {
		return fmt.Errorf("prepare %q again: %w", stmt.text, err)
	}
	a := &prepare.answer
	defer a.page.release()
	if a.res.kind != resultPrepared || string(a.res.prepared.id) != string(stmt.id) {
		// The bound values were encoded for the old metadata: another id means that they may not fit any more.
		s.statements.drop(statementKey{keyspace: stmt.keyspace, text: stmt.text}, stmt)
		return &ProtocolError{Message: fmt.Sprintf("prepare %q again: node %s gives it another id", stmt.text, c.addr())}
	}
	return nil
}

// send takes a request to a node, and to further ones where the first attempts fail and another is safe. On success c.answer is set, and
// its page the caller's to release.
func (s *Session) send(ctx context.Context, c *call) error {
	if s.closed.Load() {
		return &RequestFailure{Err: ErrSessionClosed}
	}
	topo := s.topo.Load()
	r := route{nodes: topo.nodes, start: s.start.Add(1)}
	if c.hasToken {
		r.replicas = topo.replicasOf(c.keyspace, c.token)
	}
	if c.hostID != (UUID{}) {
		r = route{}
		if n := topo.nodeByID(c.hostID); n != nil {
			r.nodes = []*node{n}
		}
	}
	failure := RequestFailure{Err: ErrNoConnections}
	n := r.next()
	for n != nil {
		conn := n.pool.pick()
		if conn == nil {
			n = r.next()
			continue
		}
		if failure.Attempts > 0 {
			c.req.began = time.Now()
		}
		err := s.attemptPrepared(ctx, conn, c)
		failure.Attempts++
		if err == nil {
			c.answer.node, c.answer.attempts, c.answer.began = n, failure.Attempts, c.req.began
			return nil
		}
		failure.Err, failure.Host = err, n.info.addr
		failure.applied = failure.applied || attemptMayHaveApplied(err)
		decision := decideRetry(err, c.idempotent, failure.Attempts)
		if ctx.Err() != nil || decision == retryNever {
			break
		}
		if decision == retryNextNode {
			if !conn.refuses() || failure.Attempts >= maxAttempts { // else it was this connection: the node may have another one
				n = r.next()
			}
		}
	}
	if failure.Attempts == 0 {
		failure.Err = errors.Join(ErrNoConnections, topo.lastErrors())
		if s.closed.Load() {
			failure.Err = ErrSessionClosed
		}
	}
	outcome := failure // what succeeds allocates none
	return &outcome
}

// attemptPrepared is attempt; a node that does not know a prepared statement gets it and is asked once more per statement.
func (s *Session) attemptPrepared(ctx context.Context, conn *conn, c *call) error {
	for again := 0; ; again++ {
		err := s.attempt(ctx, conn, c)
		if err == nil || again > len(c.stmts) || !errors.Is(err, CodeUnprepared) {
			return err
		}
		stmt, err := missingStatement(c, err)
		if err != nil {
			return err
		}
		if err := s.prepareAgain(ctx, conn, stmt); err != nil {
			return err
		}
		c.req.began = time.Now()
	}
}

// missingStatement returns which of the call's statements the node does not know.
func missingStatement(c *call, err error) (*statement, error) {
	var unprepared *RequestErrUnprepared
	if errors.As(err, &unprepared) {
		for _, known := range c.stmts {
			if string(known.id) == string(unprepared.StatementId) {
				return known, nil
			}
		}
	}
	return nil, &ProtocolError{Message: "the node misses a statement that the request does not hold", Err: err}
}

// attempt sends a request on a connection and parses the answer into c.answer.
func (s *Session) attempt(ctx context.Context, conn *conn, c *call) error {
	resp, err := conn.roundTrip(ctx, &c.req)
	if err != nil {
		return err
	}
	a := &c.answer
	*a = answer{page: resp.page}
	if err = a.parse(c, resp.header, s.version); err == nil && a.res.kind == resultRows {
		err = a.useMetadata(c)
	}
	if err != nil {
		a.page.release()
		*a = answer{}
	}
	return err
}

// parse reads the frame in a.page.
func (a *answer) parse(c *call, h wire.Header, version byte) error {
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
		return a.res.parse(&r, version, version >= protoV5, known)
	case opError:
		return parseError(&r, version, 0)
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
