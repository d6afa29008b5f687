// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vecql/vecql/internal/flight"
)

// Preparing statements: once per session, in the background on the other nodes, and again on a node that has evicted
// one.

// A PREPARE is idempotent and rare, so it is always executed speculatively: a node that does not respond delays a new
// statement by prepareDelay, or by a quarter of the request's timeout if that is less.
const (
	prepareDelay      = 250 * time.Millisecond
	prepareExecutions = 2 // besides the first one
	// spreadTimeout bounds a PREPARE in the background, which no request waits for.
	spreadTimeout = time.Second
)

// prepareFor is prepare for a call: it counts a hit, ends with the call's timeout, and restarts the clock of the call
// after a miss.
func (s *Session) prepareFor(ctx context.Context, c *call, keyspace, text string) (*statement, error) {
	if stmt := s.statements.Known(flight.Key{Scope: keyspace, Text: text}); stmt != nil {
		s.counters.of(c).preparedHits.Add(1)
		return stmt, nil
	}
	stmt, err := s.prepareWithin(ctx, c.timeout(ctx, s.cfg.Timeout), c.policies.speculative, keyspace, text)
	c.req.began = time.Now() // preparing may have taken long
	return stmt, err
}

// prepare returns a statement from the cache, or prepares it.
func (s *Session) prepare(ctx context.Context, keyspace, text string) (*statement, error) {
	return s.prepareWithin(ctx, 0, nil, keyspace, text)
}

// prepareWithin is prepare with a timeout, 0 for none, and the speculative execution policy of the request, nil for
// none. Concurrent calls for one text share one PREPARE. It ends with none of them, so that a short timeout of one call
// does not fail the others.
func (s *Session) prepareWithin(ctx context.Context, timeout time.Duration, policy SpeculativeExecutionPolicy,
	keyspace, text string,
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
	stmt, err := s.statements.Get(bounded, key, func() (*statement, error) {
		return s.prepareOnce(keyspace, text, began, preparePolicies(bounded, policy))
	})
	if err != nil && ctx.Err() == nil && bounded.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
		err = ErrTimeoutNoResponse
	}
	var failure *RequestFailure
	if err != nil && !errors.As(err, &failure) { // the wait ended, or no node was asked
		err = &RequestFailure{Err: err, Statement: text, Elapsed: time.Since(began), request: "prepare"}
	}
	return stmt, err
}

// preparePolicies returns the policies of a PREPARE for a request with that context and speculative execution policy.
func preparePolicies(ctx context.Context, policy SpeculativeExecutionPolicy) *policies {
	delay := prepareDelay
	if deadline, ok := ctx.Deadline(); ok {
		delay = min(delay, max(0, time.Until(deadline)/4))
	}
	if policy != nil {
		if _, d, err := askSpeculativePolicy(policy); err == nil {
			delay = min(delay, max(0, d))
		}
	}
	return &policies{
		retry:       DefaultRetryPolicy{},
		speculative: &SimpleSpeculativeExecution{NumAttempts: prepareExecutions, TimeoutDelay: delay},
	}
}

// prepareOnce prepares a statement on one node, and then in the background on the others.
func (s *Session) prepareOnce(keyspace, text string, began time.Time, p *policies) (*statement, error) {
	s.counters.prepares.Add(1)
	c := newPrepareCall(getBuffer(len(text) + len(keyspace) + 16))
	c.text, c.began, c.idempotent, c.policies = text, began, true, p
	defer c.releaseBody()
	var err error
	if c.req.body.b, err = appendPrepare(c.req.body.b[:0], s.version, text, keyspace); err != nil {
		return nil, err
	}
	err = s.send(s.ctx, c)
	if err != nil && s.closed.Load() {
		err = ErrSessionClosed // rather than context.Canceled, since no caller canceled s.ctx
	}
	var failure *RequestFailure
	if errors.As(err, &failure) {
		failure.applied = false // a PREPARE never executes the statement
	}
	if err != nil {
		return nil, err
	}
	defer c.answer.body.release()
	if kind := c.answer.res.kind; kind != resultPrepared {
		return nil, &ProtocolError{Message: fmt.Sprintf("PREPARE answered with result kind %d", kind)}
	}
	s.spread(keyspace, text, c.answer.node)
	return newStatement(text, keyspace, c.answer.res.prepared), nil
}

// spread prepares a statement in the background on all connected nodes but one, one after the other. It ignores errors:
// a node that does not have a statement says so when it is executed there.
func (s *Session) spread(keyspace, text string, first *node) {
	s.tasks.Go(func() {
		for _, n := range s.topo.Load().nodes {
			if conn := n.pool.pick(); n != first && conn != nil && s.ctx.Err() == nil {
				s.prepareOn(conn, keyspace, text)
			}
		}
	})
}

// prepareOn sends a PREPARE and discards the response.
func (s *Session) prepareOn(conn *conn, keyspace, text string) {
	body := getBuffer(len(text) + len(keyspace) + 16)
	defer body.release()
	var err error
	if body.b, err = appendPrepare(body.b[:0], s.version, text, keyspace); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, spreadTimeout)
	defer cancel()
	c := newPrepareCall(body)
	if s.exchange(ctx, conn, c) == nil {
		c.answer.body.release()
	}
}

// prepareAgain prepares stmt on a node that has evicted it or never prepared it.
func (s *Session) prepareAgain(ctx context.Context, c *conn, stmt *statement) error {
	body := getBuffer(len(stmt.text) + len(stmt.keyspace) + 16)
	defer body.release()
	var err error
	if body.b, err = appendPrepare(body.b[:0], s.version, stmt.text, stmt.keyspace); err != nil {
		return err
	}
	s.counters.preparesAgain.Add(1)
	prepare := newPrepareCall(body)
	if err := s.exchange(ctx, c, prepare); err != nil {
		return errorf("prepare %q again: %w", shortened(stmt.text), err)
	}
	a := prepare.answer
	defer a.body.release()
	if a.res.kind != resultPrepared || string(a.res.prepared.id) != string(stmt.id) {
		// The values are encoded for the metadata of the old id. They may be invalid for another id.
		s.statements.Drop(flight.Key{Scope: stmt.keyspace, Text: stmt.text}, stmt)
		return &ProtocolError{Message: fmt.Sprintf("prepare %q again: node %s returned another id", shortened(stmt.text), c.addr())}
	}
	return nil
}

// prepareAndSend follows an exchange that failed. If the node does not have a statement of the call, it prepares the
// statement and sends the request again. Else it returns the error.
func (s *Session) prepareAndSend(ctx context.Context, conn *conn, c *call, err error) error {
	for again := 0; err != nil && again <= len(c.stmts) && errors.Is(err, CodeUnprepared); again++ {
		stmt, unknown := missingStatement(c, err)
		if unknown != nil {
			return &refusedError{unknown}
		}
		if err := s.prepareAgain(ctx, conn, stmt); err != nil {
			return &refusedError{err}
		}
		c.req.began = time.Now()
		err = s.exchange(ctx, conn, c)
	}
	return err
}

// missingStatement returns the statement of the call that err, an UNPREPARED error, names.
func missingStatement(c *call, err error) (*statement, error) {
	var unprepared *RequestErrUnprepared
	if errors.As(err, &unprepared) {
		for _, known := range c.stmts {
			if string(known.id) == string(unprepared.StatementId) {
				return known, nil
			}
		}
	}
	return nil, &ProtocolError{Message: "UNPREPARED error with an id that the request does not use", Err: err}
}
