// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/stats"
)

// What follows a failed attempt: another node, a retry where it is safe, or the error of the request.

// describe adds the request and the time since its start to a RequestFailure.
func (c *call) describe(err error) {
	var f *RequestFailure
	if !errors.As(err, &f) {
		return
	}
	f.Statement, f.Elapsed = c.text, time.Since(c.began)
	switch {
	case c.batched > 0:
		f.request = fmt.Sprintf("execute batch of %d, the first", c.batched)
	case c.req.Op == frame.OpPrepare:
		f.request = "prepare"
	default:
		f.request = "execute"
	}
}

// afterFailure returns the node of the attempt that follows a failed one, if one does.
func (s *sender) afterFailure(ctx context.Context, c *call, plan *sharedPlan, x *execution, a *attempted) candidate {
	x.note(c, a)
	if ended := ctx.Err(); ended != nil {
		if errors.Is(a.err, conn.ErrSilent) { // the time ended before the request could go on to another node
			x.failure.Err = errtext.Errorf("%w, after: %w", ended, a.err)
		}
		return candidate{}
	}
	if x.silent = errors.Is(a.err, conn.ErrSilent); x.silent {
		s.counters.moved.Add(1)
		c.spend(ctx, s.cfg.Timeout)
		return s.nextNode(ctx, c, plan, x)
	}
	c.req.Timeout = x.timeout
	decided := x.decided
	d := s.decideRetry(ctx, c, a.conn, a.node, x, a.err)
	if d.Type == Ignore {
		c.ignore(a.node, x.failure.Attempts)
		x.ignored = true
		return candidate{}
	}
	if d.Type == Rethrow || !s.awaitRetry(ctx, d.Wait, x) {
		return candidate{}
	}
	if x.decided > decided {
		x.waited = d.Type == RetryNextHost && d.Wait > 0
	}
	at := a.candidate
	if d.Type == RetryNextHost {
		at = s.nextNode(ctx, c, plan, x)
	}
	if at.node != nil && x.decided > decided {
		s.counters.retries.Add(1)
	}
	if d.SetConsistency {
		x.setConsistency(c, d.Consistency)
	}
	return at
}

// note records a failed attempt.
func (x *execution) note(c *call, a *attempted) {
	if !a.made {
		err := a.err
		if x.failure.Attempts > 0 {
			err = errtext.Errorf("%w, before a retry after: %w", err, x.failure.Err)
		}
		x.failure.Err = &conn.NotSentError{Err: err}
		return
	}
	x.failure.Attempts++
	x.failure.Err, x.failure.Host = a.err, a.node.info.Address
	x.failure.applied = x.failure.applied || c.mayHaveApplied(a.err)
}

// clone returns a copy on the heap, so that a call without a failure does not allocate one.
func (e *RequestFailure) clone() error {
	outcome := *e
	return &outcome
}

// ignore stores an empty answer, in place of the last failure.
func (c *call) ignore(n *node, attempts int) {
	a := c.answer
	a.resp.Body, a.env, a.res.Kind, a.node, a.attempts = conn.GetBuffer(0), frame.NoParts, frame.ResultVoid, n, attempts
}

// noConnections returns the error of a call for which no node has a connection, with the last error of each node.
func (s *sender) noConnections(c *call, plan *sharedPlan) error {
	err := ErrNoConnections
	if s.closed.Load() {
		return ErrSessionClosed
	}
	if c.hostID != (cql.UUID{}) {
		err = errtext.Errorf("%w of the query plan, which has only the node with host id %v", err, c.hostID)
	}
	if cause := errtext.Join(plan.err(), s.topo.Load().lastErrors()); cause != nil {
		err = errtext.Errorf("%w: %w", err, cause)
	}
	return err
}

// nextNode returns the next node of the plan. After its last node the plan begins again, once for each wait of the
// retry policy. It also begins again once after a silent last node: the node may be the only one that is connected, and
// the request still has half of its time.
func (s *sender) nextNode(ctx context.Context, c *call, plan *sharedPlan, x *execution) candidate {
	at := plan.next()
	switch {
	case at.node != nil:
		return at
	case x.waited:
		x.waited = false
	case x.silent && !x.again:
		x.again = true
	default:
		return candidate{}
	}
	var again queryPlan
	s.newPlan(c)
	s.startPlan(ctx, &again, c)
	plan.restart(&again)
	return plan.next()
}

// spend takes the time since the start of the attempt from the timeout of the next one.
func (c *call) spend(ctx context.Context, def time.Duration) {
	if timeout := c.timeout(ctx, def); timeout > 0 {
		c.req.Timeout = max(timeout-time.Since(c.req.Began), conn.TickInterval)
	}
}

// decideRetry returns the decision after a failed attempt. One rule overrides every policy: a request that is not
// idempotent and may have been executed is not retried.
func (s *sender) decideRetry(
	ctx context.Context, c *call, link *conn.Conn, n *node, x *execution, err error,
) Decision {
	var notSent *conn.NotSentError
	var memory *MemoryBudgetError
	switch {
	case errors.Is(err, ErrThrottled), errors.Is(err, conn.ErrNoStreams), errors.Is(err, frame.ErrTooBig),
		errors.As(err, &memory), errors.Is(err, ErrSessionClosed), errors.Is(err, ErrStatementChanged):
		return Decision{} // the request timed out, or no node accepts its frame
	case errors.As(err, &notSent):
		if errors.Is(err, conn.ErrTimeout) {
			return Decision{}
		}
		if link.Refuses() && x.failure.Attempts < maxAttempts { // the node may have another connection
			return Decision{Type: Retry}
		}
		return Decision{Type: RetryNextHost}
	}
	if x.decided++; x.decided > maxRetries {
		return Decision{}
	}
	a := Attempt{
		Number: x.decided, Err: err, Class: ErrorClassOf(err), Consistency: x.consistency, WriteType: writeTypeOf(err),
		Idempotent: c.idempotent, MayHaveApplied: x.failure.applied, Batch: c.req.Op == frame.OpBatch, Host: n.info,
	}
	a.LWT = c.lwt || a.WriteType == "CAS" || a.Class == stats.ClassCASWriteUnknown
	d, panicked := askRetryPolicy(ctx, c.policies.retry, a)
	if panicked != nil {
		x.failure.Err = errtext.Errorf("retry policy: %w, after: %w", panicked, err)
		return Decision{}
	}
	if (d.Type == Retry || d.Type == RetryNextHost) && !c.idempotent && x.failure.applied || d.Type > Ignore {
		return Decision{}
	}
	return d
}

// awaitRetry waits before a retry and reports whether the retry may be sent.
func (s *sender) awaitRetry(ctx context.Context, wait time.Duration, x *execution) bool {
	if wait <= 0 {
		return true
	}
	t := time.NewTimer(background.Jitter(wait))
	defer t.Stop()
	var reason error
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		reason = ctx.Err()
	case <-s.ctx.Done():
		reason = ErrSessionClosed
	}
	x.failure.Err = errtext.Errorf("%w, waiting for a retry after: %w", reason, x.failure.Err)
	return false
}

// setConsistency changes the consistency of further attempts. It changes a copy of the body, since other executions may
// be sending the body itself.
func (x *execution) setConsistency(c *call, consistency cql.Consistency) {
	if consistency == x.consistency || c.params.ConsistencyAt == 0 {
		return
	}
	if x.retryBody == nil {
		x.retryBody = conn.GetBuffer(len(x.callBody.B))
		copy(x.retryBody.B, x.callBody.B)
		c.req.Body = x.retryBody
	}
	x.consistency = consistency
	binary.BigEndian.PutUint16(x.retryBody.B[c.params.ConsistencyAt:], uint16(consistency))
}

// mayHaveApplied reports whether an attempt that failed with err may have modified data.
func (c *call) mayHaveApplied(err error) bool {
	switch ErrorClassOf(err) {
	case stats.ClassReadTimeout, stats.ClassReadFailure:
		// A lightweight transaction fails so too, and its write may have begun.
		if c.req.Op == frame.OpExecute && len(c.stmts) == 1 && c.stmts[0].reads {
			return false
		}
	case stats.ClassUnavailable:
		// Unless a batch is logged, a coordinator checks the replicas of its partitions one by one while it writes them
		// (Cassandra's StorageProxy.mutate and mutateAtomically). It commits a conditional statement after agreement
		// (commitPaxos).
		var unavailable *cql.UnavailableError
		if c.mayWriteSeveral() && !c.logged ||
			c.lwt && errors.As(err, &unavailable) && !unavailable.Consistency.IsSerial() {
			return true
		}
	case stats.ClassOverloaded: // as above, and possible after the log of a batch was written
		if c.mayWriteSeveral() || c.lwt {
			return true
		}
	}
	return attemptMayHaveApplied(err)
}

// mayWriteSeveral reports whether the call may write several partitions.
func (c *call) mayWriteSeveral() bool { return c.batched > 1 || cqltext.MayWriteSeveral(c.text) }
