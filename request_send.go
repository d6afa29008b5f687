// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/cqltext"
)

// Sending a call to the hosts of its query plan, with retries where they are safe. The steps are
//
//	send -> executeAlone or speculate -> tryHosts -> attempt -> exchange -> transmit -> conn.call
//
// executeAlone makes the first attempt, and calls tryHosts after a failure; speculate calls it for each execution.
// tryHosts advances along the plan, attempt reports the attempt and prepares a statement that the node has evicted,
// exchange parses the response, transmit writes the body in the encoding of the connection.

// sharedPlan is a query plan that several executions may share.
type sharedPlan struct {
	plan queryPlan
	// nil means that only one execution uses the plan. A pointer keeps the plan of most requests on their stack.
	mu *sync.Mutex
}

// next returns the next node and the shard that serves the request there. See queryPlan.next.
func (p *sharedPlan) next() (*node, int32) {
	if p.mu != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	return p.plan.next()
}

// more reports whether next returns another node.
func (p *sharedPlan) more() bool {
	if p.mu != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	return p.plan.more()
}

// err returns the error of the HostPicker. nil means that the plan did not fail.
func (p *sharedPlan) err() error {
	if p.mu != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	return p.plan.err
}

// restart replaces the plan by one that begins again: after a wait, a node that failed may succeed.
func (p *sharedPlan) restart(plan *queryPlan) {
	if p.mu != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	p.plan = *plan
}

// send sends a request to a node, and retries a failed attempt where that is safe. On success it sets c.answer, whose
// body the caller releases. The error is a *RequestFailure.
func (s *Session) send(ctx context.Context, c *call) error {
	if s.closed.Load() {
		err := &RequestFailure{Err: ErrSessionClosed}
		c.describe(err)
		return err
	}
	counted := c.req.op != opPrepare
	if counted {
		s.counters.of(c).requests.Add(1)
	}
	var err error
	if c.policies.speculative != nil && c.idempotent {
		err = s.speculate(ctx, c)
	} else {
		err = s.executeAlone(ctx, c)
	}
	if err == nil {
		return nil
	}
	if counted {
		s.counters.failed.Add(1)
	}
	c.describe(err)
	return err
}

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
	case c.req.op == opPrepare:
		f.request = "prepare"
	default:
		f.request = "execute"
	}
}

// executeAlone executes a call that has one execution. Its first attempt needs neither a plan nor an execution. Most
// requests need no second attempt: while they wait, little is on their stacks, and the stacks of many requests fit into
// the processor's cache.
func (s *Session) executeAlone(ctx context.Context, c *call) error {
	n, shard, conn := s.firstNode(c)
	if conn == nil {
		return s.executeAgain(ctx, c, nil)
	}
	made, err := s.attempt(ctx, conn, n, c, 0)
	if err == nil {
		return nil
	}
	return s.executeAgain(ctx, c, &attempted{n, shard, conn, made, err})
}

// firstNode returns the first node of the plan of a call, and the node's connection for the call. The connection is nil
// if another node may have one.
//
//go:noinline
func (s *Session) firstNode(c *call) (n *node, shard int32, open *conn) {
	s.newPlan(c)
	var plan queryPlan
	s.startPlan(&plan, c)
	if plan.order == pickedOnly { // a HostPicker is called once for each request
		return nil, -1, nil
	}
	if n, shard = plan.next(); n == nil {
		return nil, -1, nil
	}
	c.req.movable = c.idempotent && plan.more()
	return n, shard, n.pool.pickShard(c.shardOf(n, shard))
}

// attempted is a failed attempt.
type attempted struct {
	node  *node
	shard int32
	conn  *conn
	made  bool // false means that it was not admitted
	err   error
}

// executeAgain continues executeAlone after its attempt has failed. failed is nil if there was none.
//
//go:noinline
func (s *Session) executeAgain(ctx context.Context, c *call, failed *attempted) error {
	var plan sharedPlan
	s.startPlan(&plan.plan, c)
	if failed != nil {
		plan.plan.pass(failed.node)
	}
	return s.execute(ctx, c, &plan, failed)
}

// execution is the state of one execution of a call along a query plan.
type execution struct {
	failure RequestFailure
	decided int           // failed attempts passed to the retry policy
	timeout time.Duration // of each attempt, see request.timeout
	silent  bool          // the last attempt failed with errSilent
	again   bool          // the plan has begun again after its last node was silent
	waited  bool          // the last wait of the retry policy lets the plan begin again
	ignored bool          // the retry policy has ignored the last failure
	// retryBody is a copy of the body with another consistency. nil means that the execution sends callBody, which
	// other executions share.
	consistency         Consistency
	callBody, retryBody *buffer
}

// execute executes a call along plan, after a failed attempt; nil means that there was none. It restores the body of
// the call at the end.
func (s *Session) execute(ctx context.Context, c *call, plan *sharedPlan, failed *attempted) error {
	var x execution
	x.failure.Err = ErrNoConnections
	x.consistency, x.callBody, x.timeout = c.params.consistency, c.req.body, c.req.timeout
	err := s.tryHosts(ctx, c, plan, &x, failed)
	if x.retryBody != nil {
		c.req.body = x.callBody
		x.retryBody.release()
	}
	return err
}

// tryHosts sends a call to the nodes of plan until an attempt succeeds or no retry follows a failure. failed is the
// last attempt, nil if there was none.
func (s *Session) tryHosts(ctx context.Context, c *call, plan *sharedPlan, x *execution, failed *attempted) error {
	var n *node
	var shard int32
	if failed == nil {
		n, shard = plan.next()
	} else {
		n, shard = s.afterFailure(ctx, c, plan, x, failed)
	}
	for n != nil {
		conn := n.pool.pickShard(c.shardOf(n, shard))
		if conn == nil {
			n, shard = s.nextNode(c, plan, x)
			continue
		}
		c.req.movable = c.idempotent && !x.again && plan.more()
		made, err := s.attempt(ctx, conn, n, c, x.failure.Attempts)
		if err == nil {
			return nil
		}
		n, shard = s.afterFailure(ctx, c, plan, x, &attempted{n, shard, conn, made, err})
	}
	if x.ignored {
		return nil
	}
	if x.failure.Attempts == 0 && errors.Is(x.failure.Err, ErrNoConnections) {
		x.failure.Err = s.noConnections(c, plan)
	}
	return x.failure.clone()
}

// afterFailure returns the node and the shard of the attempt that follows a failed one, nil if none does.
func (s *Session) afterFailure(ctx context.Context, c *call, plan *sharedPlan, x *execution, a *attempted,
) (*node, int32) {
	x.note(c, a)
	if ended := ctx.Err(); ended != nil {
		if errors.Is(a.err, errSilent) { // the time ended before the request could go on to another node
			x.failure.Err = errorf("%w, after: %w", ended, a.err)
		}
		return nil, -1
	}
	if x.silent = errors.Is(a.err, errSilent); x.silent {
		s.counters.moved.Add(1)
		c.spend(ctx, s.cfg.Timeout)
		return s.nextNode(c, plan, x)
	}
	c.req.timeout = x.timeout
	decided := x.decided
	d := s.decideRetry(ctx, c, a.conn, a.node, x, a.err)
	if d.Type == Ignore {
		c.ignore(a.node, x.failure.Attempts)
		x.ignored = true
		return nil, -1
	}
	if d.Type == Rethrow || !s.awaitRetry(ctx, d.Wait, x) {
		return nil, -1
	}
	if x.decided > decided {
		x.waited = d.Type == RetryNextHost && d.Wait > 0
	}
	n, shard := a.node, a.shard
	if d.Type == RetryNextHost {
		n, shard = s.nextNode(c, plan, x)
	}
	if n != nil && x.decided > decided {
		s.counters.retries.Add(1)
	}
	if d.SetConsistency {
		x.setConsistency(c, d.Consistency)
	}
	return n, shard
}

// note records a failed attempt.
func (x *execution) note(c *call, a *attempted) {
	if !a.made {
		err := a.err
		if x.failure.Attempts > 0 {
			err = errorf("%w, before a retry after: %w", err, x.failure.Err)
		}
		x.failure.Err = &notSentError{err: err}
		return
	}
	x.failure.Attempts++
	x.failure.Err, x.failure.Host = a.err, a.node.info.addr
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
	a.body, a.env, a.res.kind, a.node, a.attempts = getBuffer(0), noParts, resultVoid, n, attempts
}

// noConnections returns the error of a call for which no node has a connection, with the last error of each node.
func (s *Session) noConnections(c *call, plan *sharedPlan) error {
	err := ErrNoConnections
	if s.closed.Load() {
		return ErrSessionClosed
	}
	if c.hostID != (UUID{}) {
		err = errorf("%w of the query plan, which has only the node with host id %v", err, c.hostID)
	}
	if cause := joinErrors(plan.err(), s.topo.Load().lastErrors()); cause != nil {
		err = errorf("%w: %w", err, cause)
	}
	return err
}

// nextNode returns the next node of the plan. After its last node the plan begins again, once for each wait of the
// retry policy. It also begins again once after a silent last node: the node may be the only one that is connected, and
// the request still has half of its time.
func (s *Session) nextNode(c *call, plan *sharedPlan, x *execution) (*node, int32) {
	n, shard := plan.next()
	switch {
	case n != nil:
		return n, shard
	case x.waited:
		x.waited = false
	case x.silent && !x.again:
		x.again = true
	default:
		return nil, -1
	}
	var again queryPlan
	s.newPlan(c)
	s.startPlan(&again, c)
	plan.restart(&again)
	return plan.next()
}

// spend takes the time since the start of the attempt from the timeout of the next one.
func (c *call) spend(ctx context.Context, def time.Duration) {
	if timeout := c.timeout(ctx, def); timeout > 0 {
		c.req.timeout = max(timeout-time.Since(c.req.began), tickInterval)
	}
}

// shardOf returns the shard of a node that serves the call: that of the tablet, else that of the token. -1 means that
// the shard is unknown.
func (c *call) shardOf(n *node, tablet int32) int32 {
	if tablet >= 0 || !c.hasToken {
		return tablet
	}
	return n.pool.shardOf(c.token)
}

// attempt makes one attempt and reports it; before is the number of attempts before it. made is false if throttle or
// memory budget did not admit it. It releases the throttle and the memory in flight first, because an observer may
// itself send requests.
func (s *Session) attempt(ctx context.Context, conn *conn, n *node, c *call, before int) (made bool, err error) {
	var acquired int64
	if s.throttle != nil || s.memory != nil {
		if acquired, err = s.admitAttempt(ctx, c); err != nil {
			return false, err
		}
	}
	if before > 0 {
		c.req.began = time.Now()
	}
	began := c.req.began
	if err = s.exchange(ctx, conn, c); err != nil {
		err = s.prepareAndSend(ctx, conn, c, err)
	}
	if s.throttle != nil {
		s.throttle.Release()
	}
	if s.memory != nil {
		s.releaseMemory(c, acquired, err)
	}
	stripe := s.counters.of(c)
	stripe.bytesOut.Add(uint64(len(c.req.body.b)))
	if err == nil {
		stripe.bytesIn.Add(uint64(len(c.answer.body.b)))
		c.answer.node, c.answer.attempts = n, before+1
	} else {
		s.counters.errors[ErrorClassOf(err)].Add(1)
	}
	if c.observer != nil {
		c.observe(ctx, s, n, began, err)
	}
	return true, err
}

// admitAttempt waits until memory budget and throttle admit the attempt. It returns the memory acquired. The budget is
// first: a request that waits for pages of the program must not occupy a place of the throttle.
func (s *Session) admitAttempt(ctx context.Context, c *call) (acquired int64, err error) {
	var waited, throttled bool
	if s.memory != nil {
		acquired, waited, err = s.acquireMemory(ctx, c)
	}
	if err == nil && s.throttle != nil {
		throttled, err = s.throttle.Acquire(ctx, c.timeout(ctx, s.cfg.Timeout))
		if err != nil && s.memory != nil {
			s.memory.Release(acquired)
		}
	}
	if err != nil {
		s.counters.errors[ErrorClassOf(err)].Add(1)
		return 0, err
	}
	if waited || throttled {
		c.req.began = time.Now()
	}
	return acquired, nil
}

// observe passes an attempt to the observer.
func (c *call) observe(ctx context.Context, s *Session, n *node, began time.Time, err error) {
	c.observer.record(ctx, s, attemptRecord{
		node: n, began: began, ended: time.Now(), rows: c.answer.res.rows.rowCount, err: err,
	})
}

// decideRetry returns the decision after a failed attempt. One rule overrides every policy: a request that is not
// idempotent and may have been executed is not retried.
func (s *Session) decideRetry(ctx context.Context, c *call, conn *conn, n *node, x *execution, err error) Decision {
	var notSent *notSentError
	var memory *MemoryBudgetError
	switch {
	case errors.Is(err, ErrThrottled), errors.Is(err, ErrNoStreams), errors.Is(err, ErrFrameTooBig),
		errors.As(err, &memory), errors.Is(err, ErrSessionClosed):
		return Decision{} // the request timed out, or its frame is too large for any node
	case errors.As(err, &notSent):
		if errors.Is(err, ErrTimeoutNoResponse) {
			return Decision{}
		}
		if conn.refuses() && x.failure.Attempts < maxAttempts { // the node may have another connection
			return Decision{Type: Retry}
		}
		return Decision{Type: RetryNextHost}
	}
	if x.decided++; x.decided > maxRetries {
		return Decision{}
	}
	a := Attempt{
		Number: x.decided, Err: err, Class: ErrorClassOf(err), Consistency: x.consistency, WriteType: writeTypeOf(err),
		Idempotent: c.idempotent, MayHaveApplied: x.failure.applied, Batch: c.req.op == opBatch, Host: n.info,
	}
	a.LWT = c.lwt || a.WriteType == "CAS" || a.Class == ClassCASWriteUnknown
	d, panicked := askRetryPolicy(ctx, c.policies.retry, a)
	if panicked != nil {
		x.failure.Err = errorf("retry policy: %w, after: %w", panicked, err)
		return Decision{}
	}
	if (d.Type == Retry || d.Type == RetryNextHost) && !c.idempotent && x.failure.applied || d.Type > Ignore {
		return Decision{}
	}
	return d
}

// awaitRetry waits before a retry and reports whether the retry may be sent.
func (s *Session) awaitRetry(ctx context.Context, wait time.Duration, x *execution) bool {
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
	x.failure.Err = errorf("%w, waiting for a retry after: %w", reason, x.failure.Err)
	return false
}

// setConsistency changes the consistency of further attempts. It changes a copy of the body, since other executions may
// be sending the body itself.
func (x *execution) setConsistency(c *call, consistency Consistency) {
	if consistency == x.consistency || c.params.consistencyAt == 0 {
		return
	}
	if x.retryBody == nil {
		x.retryBody = getBuffer(len(x.callBody.b))
		copy(x.retryBody.b, x.callBody.b)
		c.req.body = x.retryBody
	}
	x.consistency = consistency
	binary.BigEndian.PutUint16(x.retryBody.b[c.params.consistencyAt:], uint16(consistency))
}

// timeout returns the timeout of an attempt. 0 means that only ctx bounds it.
func (c *call) timeout(ctx context.Context, def time.Duration) time.Duration {
	if c.req.timeout > 0 {
		return c.req.timeout
	}
	if _, ok := ctx.Deadline(); ok {
		return 0
	}
	return def
}

// mayHaveApplied reports whether an attempt that failed with err may have modified data.
func (c *call) mayHaveApplied(err error) bool {
	switch ErrorClassOf(err) {
	case ClassReadTimeout, ClassReadFailure: // a lightweight transaction fails so too, and its write may have begun
		if c.req.op == opExecute && len(c.stmts) == 1 && c.stmts[0].reads {
			return false
		}
	case ClassUnavailable:
		// Unless a batch is logged, a coordinator checks the replicas of its partitions one by one while it writes them
		// (Cassandra's StorageProxy.mutate and mutateAtomically). It commits a conditional statement after agreement
		// (commitPaxos).
		var unavailable *RequestErrUnavailable
		if c.mayWriteSeveral() && !c.logged ||
			c.lwt && errors.As(err, &unavailable) && !unavailable.Consistency.IsSerial() {
			return true
		}
	case ClassOverloaded: // as above, and possible after the log of a batch was written
		if c.mayWriteSeveral() || c.lwt {
			return true
		}
	}
	return attemptMayHaveApplied(err)
}

// mayWriteSeveral reports whether the call may write several partitions.
func (c *call) mayWriteSeveral() bool { return c.batched > 1 || cqltext.MayWriteSeveral(c.text) }

// exchange sends a request on a connection and parses the response into c.answer, which must be zero.
func (s *Session) exchange(ctx context.Context, conn *conn, c *call) error {
	a := c.answer
	var err error
	if s.observesStreams() {
		err = s.observeStream(ctx, conn, c)
	} else {
		err = s.transmit(ctx, conn, c)
	}
	if err != nil {
		return err
	}
	if err = a.parse(c, conn); err == nil && a.res.kind == resultRows {
		err = a.useMetadata(c)
	}
	if err != nil {
		a.body.release()
		*a = answer{}
	} else if a.env.payload != nil {
		s.storeTablet(c, a.env.payload)
	}
	return err
}

// transmit sends the call on a connection in the encoding of the connection. It stores the response in c.answer.
func (s *Session) transmit(ctx context.Context, conn *conn, c *call) error {
	f := &conn.features
	translate := conn.version() < protoV5 && c.encoding.hasID != f.metadataID
	if c.req.op != opExecute || !translate && !f.tabletsV2 {
		return conn.call(ctx, &c.req, &c.answer.response)
	}
	return s.transmitCopy(ctx, conn, c, translate)
}

// transmitCopy sends a copy of the body: translated, or with a tablet block.
func (s *Session) transmitCopy(ctx context.Context, conn *conn, c *call, translate bool) error {
	f := &conn.features
	req := c.req
	body, start := c.req.body.b, c.encoding.message
	req.body = getBuffer(len(body) + 3)
	defer req.body.release()
	req.body.b = append(req.body.b[:0], body[:start]...)
	var err error
	if translate {
		req.body.b, err = translateExecute(req.body.b, body[start:], c.encoding.hasID, f.metadataID)
	} else {
		req.body.b = append(req.body.b, body[start:]...)
	}
	if err != nil {
		return &notSentError{err: err}
	}
	if f.tabletsV2 {
		req.body.b = s.appendTabletBlock(req.body.b, c)
	}
	return conn.call(ctx, &req, &c.answer.response)
}
