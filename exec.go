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

	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// This file takes a request from its values to its answer: prepare, encode once, route by the bytes just written, send, send again
// where that is safe. All attempts share one body.

// call is one request on its way. Everything in it is fixed before the first attempt.
type call struct {
	req        request
	stmts      []*statement // that may have to be prepared again
	plan       *resultPlan  // to decode rows whose metadata the server leaves out; nil when it was not asked to
	keyspace   string       // of the table, for routing
	token      int64
	hasToken   bool
	idempotent bool
	hostID     UUID // send to this node only, when not zero
}

// answer is what came back. Rows are parts of page, which the receiver releases.
type answer struct {
	page     *buffer
	env      envelope
	res      result
	node     *node
	attempts int
	latency  time.Duration // of the last attempt
}

// bindings are the values of one execution of a statement. They are pooled: a request makes them, encodes, and gives them back.
type bindings struct {
	stmt   *statement
	values []any
	ends   []int // ends[i] is where the cell of values[i] ends in the body; cell i begins where cell i-1 ends
	begin  int
}

var bindingsPool = sync.Pool{New: func() any { return new(bindings) }}

// newBindings checks the number of values and puts named ones into the order of the markers.
func newBindings(stmt *statement, values []any) (*bindings, error) {
	if len(values) > 0 {
		if _, named := values[0].(namedValue); named {
			var err error
			if values, err = orderNamed(stmt, values); err != nil {
				return nil, err
			}
		}
	}
	if len(values) != len(stmt.bind) {
		return nil, fmt.Errorf("%w: %d values for %d bind markers of %q", ErrValueCount, len(values), len(stmt.bind), stmt.text)
	}
	b := bindingsPool.Get().(*bindings)
	b.stmt, b.values, b.ends = stmt, values, b.ends[:0]
	return b, nil
}

func (b *bindings) release() {
	b.stmt, b.values = nil, nil
	bindingsPool.Put(b)
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
func (b *bindings) count() (int, bool) { return len(b.values), false }

// appendBound implements binder.
func (b *bindings) appendBound(dst []byte) ([]byte, error) {
	b.begin = len(dst)
	for i, v := range b.values {
		var err error
		switch v.(type) {
		case nil:
			dst = wire.AppendInt(dst, wire.Null)
		case unsetColumn:
			dst = wire.AppendInt(dst, wire.Unset)
		default:
			dst, err = b.stmt.encoder(i, reflect.TypeOf(v))(dst, b.stmt.bind[i].TypeInfo, v)
		}
		if err != nil {
			return dst, &MarshalError{Column: b.stmt.bind[i].Name, Type: b.stmt.bind[i].TypeInfo, GoType: goTypeName(v), Err: err}
		}
		b.ends = append(b.ends, len(dst))
	}
	return dst, nil
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
	return s.statements.get(ctx, key, func() (*statement, error) {
		c := call{req: request{op: opPrepare, body: getBuffer(len(text) + len(keyspace) + 16)}, idempotent: true}
		defer c.req.body.release()
		var err error
		if c.req.body.b, err = appendPrepare(c.req.body.b[:0], s.version, text, keyspace); err != nil {
			return nil, err
		}
		a, err := s.send(s.ctx, &c)
		if err != nil && s.closed.Load() {
			err = ErrSessionClosed // rather than that s.ctx ended, which no caller cancelled
		}
		if err != nil {
			return nil, fmt.Errorf("prepare %q: %w", text, err)
		}
		defer a.page.release()
		if a.res.kind != resultPrepared {
			return nil, &ProtocolError{Message: fmt.Sprintf("PREPARE answered with result kind %d", a.res.kind)}
		}
		return newStatement(text, keyspace, a.res.prepared), nil
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
	a, err := s.attempt(ctx, c, &call{req: request{op: opPrepare, body: body}})
	if err != nil {
		return fmt.Errorf("prepare %q again: %w", stmt.text, err)
	}
	defer a.page.release()
	if a.res.kind != resultPrepared || string(a.res.prepared.id) != string(stmt.id) {
		// The bound values were encoded for the old metadata: another id means that they may not fit any more.
		s.statements.drop(statementKey{keyspace: stmt.keyspace, text: stmt.text}, stmt)
		return &ProtocolError{Message: fmt.Sprintf("prepare %q again: node %s gives it another id", stmt.text, c.addr())}
	}
	return nil
}

// send takes a request to a node, and to further ones where the first attempts fail and another is safe. On success the caller
// releases the answer's page.
func (s *Session) send(ctx context.Context, c *call) (answer, error) {
	if s.closed.Load() {
		return answer{}, &RequestFailure{Err: ErrSessionClosed}
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
		start := time.Now()
		a, err := s.attemptPrepared(ctx, conn, c)
		failure.Attempts++
		if err == nil {
			a.node, a.attempts, a.latency = n, failure.Attempts, time.Since(start)
			return a, nil
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
	return answer{}, &outcome
}

// attemptPrepared is attempt; a node that does not know a prepared statement gets it and is asked once more per statement.
func (s *Session) attemptPrepared(ctx context.Context, conn *conn, c *call) (answer, error) {
	for again := 0; ; again++ {
		a, err := s.attempt(ctx, conn, c)
		if err == nil || again > len(c.stmts) || !errors.Is(err, CodeUnprepared) {
			return a, err
		}
		stmt, err := missingStatement(c, err)
		if err != nil {
			return a, err
		}
		if err := s.prepareAgain(ctx, conn, stmt); err != nil {
			return a, err
		}
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

// attempt sends a request on a connection and parses the answer.
func (s *Session) attempt(ctx context.Context, conn *conn, c *call) (answer, error) {
	resp, err := conn.roundTrip(ctx, &c.req)
	if err != nil {
		return answer{}, err
	}
	a := answer{page: resp.page}
	env, r, err := parseEnvelope(resp.header, resp.page.b)
	if err == nil {
		a.env = env
		switch op := opcode(resp.header.Opcode); op {
		case opResult:
			a.res, err = parseResult(&r, s.version, s.version >= protoV5)
		case opError:
			err = parseError(&r, s.version, 0)
		default:
			err = &ProtocolError{Message: fmt.Sprintf("%v answered with %v", c.req.op, op)}
		}
	}
	if err == nil && a.res.kind == resultRows {
		err = a.useMetadata(c)
	}
	if err != nil {
		a.page.release()
		return answer{}, err
	}
	return a, nil
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
		meta.columns = c.plan.columns
	case meta.newID != nil && c.req.op == opExecute:
		c.stmts[0].result.Store(&resultPlan{metadataID: meta.newID, columns: meta.columns})
	}
	return nil
}

// newRequest returns a request with an empty body of about that size and the header flags that the options ask for.
func (s *Session) newRequest(op opcode, o *options, size int) request {
	r := request{op: op, body: getBuffer(size)}
	r.body.b = r.body.b[:0]
	if o.tracer != nil {
		r.flags |= wire.FlagTracing
	}
	if o.payload != nil {
		r.flags |= wire.FlagCustomPayload
	}
	return r
}

// encode writes the body: the custom payload, then the message.
func (c *call) encode(o *options, message func(dst []byte) ([]byte, error)) (err error) {
	b := c.req.body.b
	if o.payload != nil {
		if b, err = appendCustomPayload(b, o.payload); err != nil {
			return err
		}
	}
	b, err = message(b)
	c.req.body.b = b
	return err
}

// routeTo routes the call by a routing key given by the user.
func (c *call) routeTo(keyspace, defaultKeyspace string, key []byte) {
	if keyspace == "" {
		keyspace = defaultKeyspace
	}
	c.keyspace, c.token, c.hasToken = keyspace, token.Murmur3(key), true
}
