// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"
)

// This file sends a call: along its route, again where that is safe.

// walk hands out the nodes of a route, to several executions at once where it is shared.
type walk struct {
	route route
	mu    *sync.Mutex // nil: not shared. A pointer keeps the walk of most requests on their stack.
}

// next returns the next node and the shard that serves the request there, see route.next.
func (w *walk) next() (*node, int32) {
	if w.mu != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	return w.route.next()
}

// err returns why the route is not what it should be.
func (w *walk) err() error {
	if w.mu != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	return w.route.err
}

// restart begins anew: after a wait, nodes that were tried may do.
func (w *walk) restart(r route) {
	if w.mu != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	w.route = r
}

// send takes a request to a node, and to further ones where the first attempts fail and another is safe. On success c.answer is set, and
// its page the caller's to release.
func (s *Session) send(ctx context.Context, c *call) error {
	if s.closed.Load() {
		return &RequestFailure{Err: ErrSessionClosed}
	}
	if c.how == nil { // a PREPARE
		w := walk{route: s.routeOf(c)}
		return s.execute(ctx, c, &w)
	}
	s.counters.of(c).requests.Add(1)
	var err error
	if c.how.speculative != nil && c.idempotent {
		err = s.executeSpeculatively(ctx, c)
	} else {
		w := walk{route: s.routeOf(c)}
		err = s.execute(ctx, c, &w)
	}
	if err != nil {
		s.counters.failed.Add(1)
	}
	return err
}

// execution is the state of one walk along a route.
type execution struct {
	failure RequestFailure
	judged  int // attempts that the policy was asked about
	// A change of consistency needs another body, which belongs to the execution: others send the call's.
	consistency Consistency
	plain, own  *buffer
}

// execute sends a call along w until an attempt succeeds, or none is to follow.
func (s *Session) execute(ctx context.Context, c *call, w *walk) error {
	x := execution{failure: RequestFailure{Err: ErrNoConnections}, consistency: c.params.consistency, plain: c.req.body}
	err := s.walkRoute(ctx, c, w, &x)
	if x.own != nil {
		c.req.body = x.plain
		x.own.release()
	}
	return err
}

func (s *Session) walkRoute(ctx context.Context, c *call, w *walk, x *execution) error {
	n, shard := w.next()
	for n != nil {
		conn := n.pool.pickShard(c.shardOf(n, shard))
		if conn == nil {
			n, shard = w.next()
			continue
		}
		err := s.try(ctx, conn, n, c, x)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			break
		}
		judged := x.judged
		d := s.judge(ctx, c, conn, n, x, err)
		if d.Type == Ignore {
			c.answer = answer{page: getBuffer(0), res: result{kind: resultVoid}, node: n, attempts: x.failure.Attempts, began: c.req.began}
			return nil
		}
		if d.Type == Rethrow || !s.backOff(ctx, d.Wait, x) {
			break
		}
		if d.Type == RetryNextHost {
			if n, shard = w.next(); n == nil && d.Wait > 0 {
				w.restart(s.routeOf(c))
				n, shard = w.next()
			}
		}
		if n != nil && x.judged > judged {
			s.counters.retries.Add(1)
		}
		if d.SetConsistency {
			x.setConsistency(c, d.Consistency)
		}
	}
	if x.failure.Attempts == 0 && errors.Is(x.failure.Err, ErrNoConnections) {
		x.failure.Err = errors.Join(ErrNoConnections, w.err(), s.topo.Load().lastErrors())
		if s.closed.Load() {
			x.failure.Err = ErrSessionClosed
		}
	}
	outcome := x.failure // what succeeds allocates none
	return &outcome
}

// shardOf returns the shard of a node that serves the call, -1 when that is not known. Where no tablet tells it, the partition does.
func (c *call) shardOf(n *node, tablet int32) int32 {
	if tablet >= 0 || !c.hasToken {
		return tablet
	}
	return n.pool.shardOf(c.token)
}

// try is one attempt, and all that is told of it. The throttle's room is given back before anybody is told: who is may send requests too.
func (s *Session) try(ctx context.Context, conn *conn, n *node, c *call, x *execution) error {
	if s.throttle != nil {
		waited, err := s.throttle.acquire(ctx, int64(len(c.req.body.b)), c.timeout(ctx, s.cfg.Timeout))
		if err != nil {
			s.counters.errors[ClassThrottled].Add(1)
			if x.failure.Attempts > 0 {
				err = fmt.Errorf("%w, before another attempt after: %w", err, x.failure.Err)
			}
			x.failure.Err = &notSentError{err: err}
			return err
		}
		if waited {
			c.req.began = time.Now()
		}
	}
	if x.failure.Attempts > 0 {
		c.req.began = time.Now()
	}
	began := c.req.began
	err := s.attemptPrepared(ctx, conn, c)
	if s.throttle != nil {
		s.throttle.release(int64(len(c.req.body.b)))
	}
	x.failure.Attempts++
	stripe := s.counters.of(c)
	stripe.bytesOut.Add(uint64(len(c.req.body.b)))
	if err == nil {
		stripe.bytesIn.Add(uint64(len(c.answer.page.b)))
		c.answer.node, c.answer.attempts, c.answer.began = n, x.failure.Attempts, c.req.began
	} else {
		x.failure.Err, x.failure.Host = err, n.info.addr
		x.failure.applied = x.failure.applied || c.mayHaveApplied(err)
		s.counters.errors[ErrorClassOf(err)].Add(1)
	}
	if c.watch != nil {
		c.watch.saw(ctx, s, attemptSeen{node: n, began: began, ended: time.Now(), rows: c.answer.res.rows.rowCount, err: err})
	}
	return err
}

// judge says what follows a failed attempt. The rule that stands above every policy is kept here.
func (s *Session) judge(ctx context.Context, c *call, conn *conn, n *node, x *execution, err error) Decision {
	var notSent *notSentError
	switch {
	case errors.Is(err, ErrThrottled), errors.Is(err, ErrNoStreams), errors.Is(err, ErrFrameTooBig):
		return Decision{} // its time is over, or it is too large for any node
	case errors.As(err, &notSent):
		if errors.Is(err, ErrTimeoutNoResponse) {
			return Decision{}
		}
		if conn.refuses() && x.failure.Attempts < maxAttempts { // it was this connection: the node may have another one
			return Decision{Type: Retry}
		}
		return Decision{Type: RetryNextHost}
	}
	if x.judged++; x.judged > maxRetries {
		return Decision{}
	}
	a := Attempt{
		Number: x.judged, Err: err, Class: ErrorClassOf(err), Consistency: x.consistency, WriteType: writeTypeOf(err), Idempotent: c.idempotent,
		MayHaveApplied: x.failure.applied, Batch: c.req.op == opBatch, Host: n.info,
	}
	a.LWT = c.lwt || a.WriteType == "CAS" || a.Class == ClassCASWriteUnknown
	var policy RetryPolicy = DefaultRetryPolicy{}
	if c.how != nil {
		policy = c.how.retry
	}
	d, panicked := decide(ctx, policy, a)
	if panicked != nil {
		x.failure.Err = fmt.Errorf("retry policy: %w, after: %w", panicked, err)
		return Decision{}
	}
	if (d.Type == Retry || d.Type == RetryNextHost) && !c.idempotent && x.failure.applied || d.Type > Ignore {
		return Decision{}
	}
	return d
}

// backOff waits before another attempt and reports whether there may be one.
func (s *Session) backOff(ctx context.Context, wait time.Duration, x *execution) bool {
	if wait <= 0 {
		return true
	}
	t := time.NewTimer(jittered(wait))
	defer t.Stop()
	var ended error
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		ended = ctx.Err()
	case <-s.ctx.Done():
		ended = ErrSessionClosed
	}
	x.failure.Err = fmt.Errorf("%w, waiting to try again after: %w", ended, x.failure.Err)
	return false
}

// setConsistency changes the consistency of further attempts: in a copy of the body, which others may be sending.
func (x *execution) setConsistency(c *call, consistency Consistency) {
	if consistency == x.consistency || c.params.consistencyAt == 0 {
		return
	}
	if x.own == nil {
		x.own = getBuffer(len(x.plain.b))
		copy(x.own.b, x.plain.b)
		c.req.body = x.own
	}
	x.consistency = consistency
	binary.BigEndian.PutUint16(x.own.b[c.params.consistencyAt:], uint16(consistency))
}

// timeout returns how long an attempt may take, 0 when ctx alone decides.
func (c *call) timeout(ctx context.Context, def time.Duration) time.Duration {
	if c.req.timeout > 0 {
		return c.req.timeout
	}
	if _, ok := ctx.Deadline(); ok {
		return 0
	}
	return def
}

// mayHaveApplied reports whether an attempt that ended with err may have changed something.
func (c *call) mayHaveApplied(err error) bool {
	switch ErrorClassOf(err) {
	case ClassReadTimeout, ClassReadFailure: // of a lightweight transaction too, whose write may have begun
		if c.req.op == opExecute && len(c.stmts) == 1 && firstWord(c.stmts[0].text) == "SELECT" {
			return false
		}
	case ClassUnavailable:
		// A coordinator finds out about the statements of a batch one by one while it writes them, unless it is logged (Cassandra's
		// StorageProxy.mutate and mutateAtomically), and commits a conditional one after it was agreed on (commitPaxos).
		var unavailable *RequestErrUnavailable
		if c.several && !c.logged || c.lwt && errors.As(err, &unavailable) && !unavailable.Consistency.IsSerial() {
			return true
		}
	case ClassOverloaded: // so it does, and after it has written the log of a batch
		if c.several || c.lwt {
			return true
		}
	}
	return attemptMayHaveApplied(err)
}

// attempt sends a request on a connection and parses the answer into c.answer.
func (s *Session) attempt(ctx context.Context, conn *conn, c *call) error {
	resp, err := s.roundTrip(ctx, conn, c)
	if err != nil {
		return err
	}
	a := &c.answer
	*a = answer{page: resp.page}
	if err = a.parse(c, resp.header, conn); err == nil && a.res.kind == resultRows {
		err = a.useMetadata(c)
	}
	if err != nil {
		a.page.release()
		*a = answer{}
	} else if a.env.payload != nil {
		s.learnTablet(c, a.env.payload)
	}
	return err
}
