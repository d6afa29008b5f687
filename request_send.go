// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/hooks"
	"github.com/vecql/vecql/internal/queue"
)

// Sending a call to the hosts of its query plan, with retries where they are safe. The steps are
//
//	send -> executeAlone or speculate -> tryHosts -> attempt -> exchange -> transmit -> Conn.Call
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

// next returns the next node. See queryPlan.next.
func (p *sharedPlan) next() candidate {
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
	if p.plan.picked == nil {
		return nil
	}
	return p.plan.picked.err
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
func (s *sender) send(ctx context.Context, c *call) error {
	if s.closed.Load() {
		err := &RequestFailure{Err: ErrSessionClosed}
		c.describe(err)
		return err
	}
	counted := c.req.Op != frame.OpPrepare
	if counted {
		s.counters.of(c.stripe).requests.Add(1)
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

// executeAlone executes a call that has one execution. Its first attempt needs neither a plan nor an execution. Most
// requests need no second attempt: while they wait, little is on their stacks, and the stacks of many requests fit into
// the processor's cache.
func (s *sender) executeAlone(ctx context.Context, c *call) error {
	n, shard, conn := s.firstNode(c)
	if conn == nil {
		return s.executeAgain(ctx, c, nil)
	}
	made, err := s.attempt(ctx, conn, n, c, 0)
	if err == nil {
		return nil
	}
	return s.executeAgain(ctx, c, &attempted{candidate{node: n, shard: shard}, conn, made, err})
}

// firstNode returns the first node of the plan of a call, and the node's connection for the call. The connection is nil
// if another node may have one.
//
//go:noinline
func (s *sender) firstNode(c *call) (n *node, shard int32, open *conn.Conn) {
	s.newPlan(c)
	if s.picks() { // the HostPicker is called once for each plan
		return nil, -1, nil
	}
	var plan queryPlan
	s.startPlan(context.Background(), &plan, c)
	next := plan.next()
	if next.node == nil {
		return nil, -1, nil
	}
	c.others = plan.more()
	c.req.Movable = c.idempotent && c.others
	return next.node, next.shard, next.node.pool.pickShard(c.shardOf(next))
}

// attempted is a failed attempt.
type attempted struct {
	candidate
	conn *conn.Conn
	made bool // false means that it was not admitted
	err  error
}

// executeAgain continues executeAlone after its attempt has failed. failed is nil if there was none.
//
//go:noinline
func (s *sender) executeAgain(ctx context.Context, c *call, failed *attempted) error {
	var plan sharedPlan
	s.startPlan(ctx, &plan.plan, c)
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
	silent  bool          // the last attempt failed with conn.ErrSilent
	again   bool          // the plan has begun again after its last node was silent
	waited  bool          // the last wait of the retry policy lets the plan begin again
	ignored bool          // the retry policy has ignored the last failure
	// retryBody is a copy of the body with another consistency. nil means that the execution sends callBody, which
	// other executions share.
	consistency         cql.Consistency
	callBody, retryBody *conn.Buffer
}

// execute executes a call along plan, after a failed attempt; nil means that there was none. It restores the body of
// the call at the end.
func (s *sender) execute(ctx context.Context, c *call, plan *sharedPlan, failed *attempted) error {
	var x execution
	x.failure.Err = ErrNoConnections
	x.consistency, x.callBody, x.timeout = c.params.Consistency, c.req.Body, c.req.Timeout
	err := s.tryHosts(ctx, c, plan, &x, failed)
	if x.retryBody != nil {
		c.req.Body = x.callBody
		x.retryBody.Release()
	}
	return err
}

// tryHosts sends a call to the nodes of plan until an attempt succeeds or no retry follows a failure. failed is the
// last attempt, nil if there was none.
func (s *sender) tryHosts(ctx context.Context, c *call, plan *sharedPlan, x *execution, failed *attempted) error {
	var at candidate
	if failed == nil {
		at = plan.next()
	} else {
		at = s.afterFailure(ctx, c, plan, x, failed)
	}
	for at.node != nil {
		conn := at.node.pool.pickShard(c.shardOf(at))
		if conn == nil {
			at = s.nextNode(ctx, c, plan, x)
			continue
		}
		c.others = !x.again && plan.more()
		c.req.Movable = c.idempotent && c.others
		if c.asked != nil {
			c.asked.Store(at.node)
		}
		made, err := s.attempt(ctx, conn, at.node, c, x.failure.Attempts)
		if at.mark != nil && made {
			s.markHost(at.mark, err)
		}
		if err == nil {
			return nil
		}
		at = s.afterFailure(ctx, c, plan, x, &attempted{at, conn, made, err})
	}
	if x.ignored {
		return nil
	}
	if x.failure.Attempts == 0 && errors.Is(x.failure.Err, ErrNoConnections) {
		x.failure.Err = s.noConnections(c, plan)
	}
	return x.failure.clone()
}

// markHost passes the outcome of an attempt to the HostPicker.
func (s *sender) markHost(mark func(error), err error) {
	defer s.caught("HostPicker")
	mark(err)
}

// shardOf returns the shard of a node that serves the call: the shard of the tablet, else of the token. -1 means that
// the shard is unknown.
func (c *call) shardOf(at candidate) int32 {
	if at.shard >= 0 || !c.hasToken {
		return at.shard
	}
	return at.node.pool.shardOf(c.token)
}

// sender sends requests to the nodes of a cluster.
type sender struct {
	*core
	preparing       sync.Map         // flight.Key to call.asked of its PREPARE
	defaultPolicies *policies        // of requests that do not set their own
	throttle        *queue.Queue     // nil means none
	hook            hooks.Exchange   // nil means none
	tasks           background.Group // speculative executions, and PREPAREs in the background
	races           raceBudget
	// Each request writes the fields of this group. They have two cache lines, which processors fetch in pairs, of their
	// own: on a line with fields that each request reads, the readers would wait for the writers.
	_         [128]byte
	start     atomic.Uint32 // where the next request's query plan begins
	timestamp atomic.Int64  // the last write timestamp used, in microseconds
	_         [128]byte
}

// nextTimestamp returns now in microseconds, or the previous timestamp plus 1 if that is later.
func (s *sender) nextTimestamp(now time.Time) int64 {
	for {
		last := s.timestamp.Load()
		next := max(now.UnixMicro(), last+1)
		if s.timestamp.CompareAndSwap(last, next) {
			return next
		}
	}
}
