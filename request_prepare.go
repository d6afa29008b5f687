// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/flight"
	"github.com/vecql/vecql/internal/frame"
)

// Preparing statements: once per session, in the background on the other nodes, and again on a node that has evicted
// one.

// A PREPARE is idempotent and rare, so it is always executed speculatively: a node that does not respond delays a new
// statement by prepareDelay, or by a quarter of the request's timeout if that is less.
const (
	prepareDelay      = 250 * time.Millisecond
	prepareExecutions = 2 // besides the first one
	// spreadTimeout bounds a PREPARE in the background, which no request waits for, and a reading of the partition key.
	spreadTimeout = time.Second
)

// prepareFor is prepare for a call: it counts a hit, ends with the call's timeout, and restarts the clock of the call
// after a miss. A PREPARE that failed counts as the attempts of the call, which its observer sees.
func (s *sender) prepareFor(ctx context.Context, c *call, keyspace, text string) (*statement, error) {
	if stmt := s.statements.Known(flight.Key{Scope: keyspace, Text: text}); stmt != nil {
		s.counters.of(c.stripe).preparedHits.Add(1)
		return stmt, nil
	}
	stmt, err := s.prepareWithin(ctx, c.timeout(ctx, s.cfg.Timeout), c.policies, keyspace, text)
	c.req.Began = time.Now() // preparing may have taken long
	var failed *failedPrepare
	if !errors.As(err, &failed) {
		return stmt, err
	}
	if c.observer != nil {
		for _, seen := range failed.attempts {
			c.observer.record(ctx, s.core, seen)
		}
	}
	if failed.ignored && len(failed.attempts) > 0 {
		return nil, &ignoredPrepare{failed.RequestFailure, failed.attempts[len(failed.attempts)-1].node}
	}
	return nil, failed.RequestFailure
}

// ignoredPrepare is the error of a PREPARE that the retry policy of the call has ignored.
type ignoredPrepare struct {
	*RequestFailure
	node *node
}

// Unwrap returns the failure.
func (e *ignoredPrepare) Unwrap() error { return e.RequestFailure }

// unlessIgnored returns err, or nil for an ignoredPrepare, in whose place it stores an empty answer.
func (c *call) unlessIgnored(err error) error {
	var ignored *ignoredPrepare
	if !errors.As(err, &ignored) {
		return err
	}
	c.ignore(ignored.node, ignored.Attempts)
	return nil
}

// ignoreRecorder is a retry policy that fails a PREPARE whose failure the policy ignores, and stores that it did: there
// is no statement without a PREPARE, so the request is ignored instead.
type ignoreRecorder struct {
	RetryPolicy
	ignored *atomic.Bool
}

// Decide implements RetryPolicy.
func (r ignoreRecorder) Decide(ctx context.Context, a Attempt) Decision {
	d := r.RetryPolicy.Decide(ctx, a)
	if d.Type == Ignore {
		r.ignored.Store(true)
		d.Type = Rethrow
	}
	return d
}

// failedPrepare is the error of a PREPARE with its attempts.
type failedPrepare struct {
	*RequestFailure
	attempts attemptLog
	ignored  bool // by the retry policy of the call
}

// prepare returns a statement from the cache, or prepares it with the policies of a query. The PREPARE is all that the
// verb requests, so it ends with the timeout of the query.
func (s *sender) prepare(ctx context.Context, p *policies, keyspace, text string) (*statement, error) {
	c := call{callState: callState{req: conn.Request{Timeout: p.timeout}}}
	stmt, err := s.prepareWithin(ctx, c.timeout(ctx, s.cfg.Timeout), p, keyspace, text)
	var failed *failedPrepare
	if errors.As(err, &failed) {
		err = failed.RequestFailure
	}
	return stmt, err
}

// prepareWithin is prepare with a timeout, 0 for none, and the policies of the request. The error of a PREPARE that was
// sent is a failedPrepare. Concurrent calls for one text share one PREPARE, which has the policies of the first call.
// The PREPARE ends with none of the calls, so that a short timeout of one call does not fail the others.
func (s *sender) prepareWithin(ctx context.Context, timeout time.Duration, p *policies, keyspace, text string,
) (*statement, error) {
	if s.closed.Load() {
		return nil, &RequestFailure{Err: ErrSessionClosed, Statement: text, request: "prepare"}
	}
	key := flight.Key{Scope: keyspace, Text: text}
	if stmt := s.statements.Known(key); stmt != nil {
		return stmt, nil
	}
	began := time.Now()
	bounded := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	var ignored atomic.Bool // another call that waits for the PREPARE has a policy of its own
	stmt, err := s.statements.Get(bounded, key, func() (*statement, error) {
		return s.prepareOnce(ctx, keyspace, text, began, preparePolicies(bounded, p, &ignored))
	})
	if err != nil && ctx.Err() == nil && bounded.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
		err = conn.ErrTimeout
	}
	var failed *failedPrepare
	if err != nil && !errors.As(err, &failed) { // the wait ended, or no node was asked
		err = s.abandonedPrepare(key, began, err)
	}
	if ignored.Load() && errors.As(err, &failed) {
		err = &failedPrepare{failed.RequestFailure, failed.attempts, true}
	}
	return stmt, err
}

// abandonedPrepare returns the error of a wait that ended with err before its PREPARE.
func (s *sender) abandonedPrepare(key flight.Key, began time.Time, err error) error {
	failure := &RequestFailure{Err: err, Statement: key.Text, Elapsed: time.Since(began), request: "prepare"}
	asked, _ := s.preparing.Load(key)
	at, _ := asked.(*atomic.Pointer[node])
	if at == nil || at.Load() == nil {
		return failure
	}
	n := at.Load()
	failure.Host, failure.Attempts = n.info.Address, 1
	attempts := attemptLog{{node: n, began: began, ended: time.Now(), err: err}}
	return &failedPrepare{RequestFailure: failure, attempts: attempts}
}

// preparePolicies returns the policies of a PREPARE for a request with that context and policies. They store in ignored
// that the retry policy has ignored a failure.
func preparePolicies(ctx context.Context, p *policies, ignored *atomic.Bool) *policies {
	delay := prepareDelay
	if deadline, ok := ctx.Deadline(); ok {
		delay = min(delay, max(0, time.Until(deadline)/4))
	}
	if p.speculative != nil {
		if _, d, err := askSpeculativePolicy(p.speculative); err == nil {
			delay = min(delay, max(0, d))
		}
	}
	return &policies{
		retry:       ignoreRecorder{p.retry, ignored},
		speculative: &SimpleSpeculativeExecution{NumAttempts: prepareExecutions, TimeoutDelay: delay},
	}
}

// valuesContext is a context with the values of another one.
type valuesContext struct {
	context.Context
	values context.Context
}

// Value returns a value of the other context.
func (c valuesContext) Value(key any) any {
	if v := c.values.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// prepareOnce prepares a statement on one node, and then in the background on the others. ctx is the context of the
// request, whose values the policies of the program see.
func (s *sender) prepareOnce(ctx context.Context, keyspace, text string, began time.Time, p *policies,
) (*statement, error) {
	s.counters.prepares.Add(1)
	c := newPrepareCall(conn.GetBuffer(len(text) + len(keyspace) + 16))
	c.text, c.began, c.idempotent, c.policies = text, began, true, p
	var attempts attemptLog
	c.observer, c.asked = &observation{log: &attempts}, new(atomic.Pointer[node])
	key := flight.Key{Scope: keyspace, Text: text}
	s.preparing.Store(key, c.asked)
	defer s.preparing.Delete(key)
	defer c.releaseBody()
	var err error
	if c.req.Body.B, err = frame.AppendPrepare(c.req.Body.B[:0], s.version, text, keyspace); err != nil {
		return nil, err
	}
	err = s.send(valuesContext{s.ctx, context.WithoutCancel(ctx)}, c)
	if err != nil && s.closed.Load() {
		err = ErrSessionClosed // rather than context.Canceled, since no caller canceled s.ctx
	}
	var failure *RequestFailure
	if errors.As(err, &failure) {
		failure.applied = false // a PREPARE never executes the statement
		return nil, &failedPrepare{RequestFailure: failure, attempts: attempts}
	}
	if err != nil {
		return nil, err
	}
	defer c.answer.resp.Body.Release()
	if kind := c.answer.res.Kind; kind != frame.ResultPrepared {
		return nil, &cql.ProtocolError{Message: fmt.Sprintf("PREPARE answered with result kind %d", kind)}
	}
	prepared := c.answer.res.Prepared
	if s.version < frame.V4 {
		prepared.PKIndexes = s.keyOf(c.answer.node, text, prepared.Bind.Columns)
	}
	s.spread(keyspace, text, c.answer.node)
	return newStatement(text, keyspace, prepared), nil
}

// keyOf returns the bind markers of the partition key of a statement, which servers report from protocol v4 on: it
// reads the key of the table from the node that has prepared the statement, else from others. Without an answer it
// returns nil, and requests of the statement go to any node.
func (s *sender) keyOf(first *node, text string, bind []cql.ColumnInfo) []int {
	other := func(c cql.ColumnInfo) bool { return c.Keyspace != bind[0].Keyspace || c.Table != bind[0].Table }
	if len(bind) == 0 || slices.ContainsFunc(bind, other) { // a transaction may have several tables
		return nil
	}
	err := ErrNoConnections
	nodes := append([]*node{first}, s.topo.Load().nodes...)
	for _, n := range nodes[:min(len(nodes), 1+prepareExecutions)] {
		link := n.pool.pick()
		if link == nil {
			continue
		}
		var key []string
		if key, err = s.readKey(link, &bind[0]); err == nil {
			return keyMarkers(text, bind, key)
		}
	}
	s.log.Warn("partition key not read: requests of the statement go to any node", "keyspace", bind[0].Keyspace, "err", err)
	return nil
}

// readKey reads the partition key of the table of a column.
func (s *sender) readKey(link *conn.Conn, of *cql.ColumnInfo) ([]string, error) {
	ctx, cancel := context.WithTimeout(s.ctx, spreadTimeout)
	defer cancel()
	return readPartitionKey(ctx, link, of.Keyspace, of.Table)
}

// spread prepares a statement in the background on all connected nodes but one, one after the other. It ignores errors:
// a node that does not have a statement returns UNPREPARED when it is executed there.
func (s *sender) spread(keyspace, text string, first *node) {
	s.tasks.Go(func() {
		for _, n := range s.topo.Load().nodes {
			if conn := n.pool.pick(); n != first && conn != nil && s.ctx.Err() == nil {
				s.prepareOn(conn, keyspace, text)
			}
		}
	})
}

// prepareOn sends a PREPARE and discards the response.
func (s *sender) prepareOn(link *conn.Conn, keyspace, text string) {
	body := conn.GetBuffer(len(text) + len(keyspace) + 16)
	defer body.Release()
	var err error
	if body.B, err = frame.AppendPrepare(body.B[:0], s.version, text, keyspace); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, spreadTimeout)
	defer cancel()
	c := newPrepareCall(body)
	if s.exchange(ctx, link, c) == nil {
		c.answer.resp.Body.Release()
	}
}

// timeoutAgain returns the timeout of a PREPARE within an attempt of the call, 0 for the timeout of the connection: the
// rest of the attempt, half of it if another node can be asked after this one.
func (c *call) timeoutAgain(ctx context.Context, def time.Duration) time.Duration {
	rest := c.timeout(ctx, def)
	if end, ok := ctx.Deadline(); ok && rest == 0 {
		rest = max(time.Until(end), conn.TickInterval)
	}
	switch {
	case !c.others:
		return rest
	case rest == 0:
		return spreadTimeout
	}
	return rest / 2
}

// prepareAgain prepares a statement of the call on a node that has evicted it or never prepared it. If the node does
// not answer in time and there are others, the error is conn.ErrSilent: the request, which was not executed, goes on to
// them.
func (s *sender) prepareAgain(ctx context.Context, c *conn.Conn, of *call, stmt *statement) error {
	body := conn.GetBuffer(len(stmt.text) + len(stmt.keyspace) + 16)
	defer body.Release()
	var err error
	if body.B, err = frame.AppendPrepare(body.B[:0], s.version, stmt.text, stmt.keyspace); err != nil {
		return err
	}
	s.counters.preparesAgain.Add(1)
	prepare := newPrepareCall(body)
	prepare.req.Timeout, prepare.req.Movable = of.timeoutAgain(ctx, s.cfg.Timeout), of.others
	if err := s.exchange(ctx, c, prepare); err != nil {
		if of.others && errors.Is(err, conn.ErrTimeout) {
			err = conn.ErrSilent
		}
		return errtext.Errorf("prepare %q again: %w", shortened(stmt.text), err)
	}
	a := prepare.answer
	defer a.resp.Body.Release()
	if p := a.res.Prepared; a.res.Kind == frame.ResultPrepared && stmt.isSame(p) {
		return nil
	}
	s.statements.Drop(flight.Key{Scope: stmt.keyspace, Text: stmt.text}, stmt)
	switch p := a.res.Prepared; {
	case a.res.Kind != frame.ResultPrepared:
		return &cql.ProtocolError{Message: fmt.Sprintf("prepare %q again: node %s returned result kind %d", shortened(stmt.text),
			c.Addr(), a.res.Kind)}
	case bytes.Equal(p.ID, stmt.id) && stmt.hasTypes(p.Bind.Columns):
		return nil // only the names or the partition key differ, so that the encoded values are valid
	}
	stmt.outdated.Store(true) // requests with the old types that wait must not reach the node, which accepts them now
	return errtext.Errorf("prepare %q again on node %s: %w", shortened(stmt.text), c.Addr(), ErrStatementChanged)
}

// prepareAndSend follows an exchange that failed. If the node does not have a statement of the call, it prepares the
// statement and sends the request again, all within the time of one attempt. Else it returns the error.
func (s *sender) prepareAndSend(ctx context.Context, conn *conn.Conn, c *call, err error) error {
	timeout, began := c.req.Timeout, c.req.Began
	for again := 0; err != nil && again <= len(c.stmts) && errors.Is(err, cql.CodeUnprepared); again++ {
		stmt, failed := missingStatement(c, err)
		if failed == nil {
			s.spendNow(ctx, c)
			failed = s.prepareAgain(ctx, conn, c, stmt)
		}
		if failed != nil {
			err = &refusedError{failed}
			break
		}
		s.spendNow(ctx, c)
		err = s.exchange(ctx, conn, c)
	}
	c.req.Timeout = timeout
	if err != nil {
		c.req.Began = began // the caller takes the time of the whole attempt from the next one
	}
	return err
}

// spendNow takes the time since c.req.began from the timeout of the call and starts its clock again.
func (s *sender) spendNow(ctx context.Context, c *call) {
	c.spend(ctx, s.cfg.Timeout)
	c.req.Began = time.Now()
}

// missingStatement returns the statement of the call that err, an UNPREPARED error, names.
func missingStatement(c *call, err error) (*statement, error) {
	var unprepared *cql.UnpreparedError
	if errors.As(err, &unprepared) {
		for _, known := range c.stmts {
			if string(known.id) == string(unprepared.StatementID) {
				return known, nil
			}
		}
	}
	return nil, &cql.ProtocolError{Message: "UNPREPARED error with an id that the request does not use", Err: err}
}
