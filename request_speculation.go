// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/stats"
)

// Speculative execution. The first execution of a request runs on the caller's goroutine, each further one on the
// goroutine of its timer. A request answered in time costs a timer and no goroutine. All executions share one query
// plan and, by reference count, one body. The first answer cancels the others; the caller does not wait for them, since
// they may still be sending the body.

// sharedBody is a request body with a reference count of the executions that send it.
type sharedBody struct {
	body *conn.Buffer
	refs atomic.Int32
}

// drop drops one reference and releases the body with the last one.
func (b *sharedBody) drop() {
	if b.refs.Add(-1) == 0 {
		b.body.Release()
	}
}

// speculation is the state of a request with speculative execution.
type speculation struct {
	session  *sender
	ctx      context.Context // canceled at the first answer
	cancel   context.CancelFunc
	plan     sharedPlan
	call     callState // copied by further executions
	delay    time.Duration
	observed bool

	mu      sync.Mutex
	timer   *time.Timer
	left    int // executions that may still start
	running int
	over    bool      // the request has its outcome
	won     bool      // an execution other than the caller's succeeded first
	final   bool      // an execution failed with an error that every execution would return
	answer  answer    // if won
	began   time.Time // of its attempt
	failure *RequestFailure
	records []attemptRecord // of executions other than the caller's: observers run on the caller's goroutine
	wake    chan struct{}   // an execution other than the caller's has ended
}

// A race is lost when an execution other than the first does not respond first. When servers are slow because they are
// overloaded, most races are lost, and the executions add to the load. So a session loses at most one race for
// requestsPerLoss requests, and lostRaces before it has made that many.
const (
	requestsPerLoss = 5
	lostRaces       = 100
)

// raceBudget counts lost races, in requests.
type raceBudget struct{ spent atomic.Int64 }

// earn counts a request.
func (b *raceBudget) earn() {
	if b.spent.Load() > 0 {
		b.spent.Add(-1)
	}
}

// enter counts a race as lost, until won. It reports whether the budget suffices.
func (b *raceBudget) enter() bool {
	if b.spent.Load() > requestsPerLoss*(lostRaces-1) {
		return false
	}
	b.spent.Add(requestsPerLoss)
	return true
}

// won takes back the loss that enter has counted.
func (b *raceBudget) won() { b.spent.Add(-requestsPerLoss) }

// speculate is executeAlone with speculative executions.
func (s *sender) speculate(ctx context.Context, c *call) error {
	attempts, delay, err := askSpeculativePolicy(c.policies.speculative)
	if err != nil {
		return &RequestFailure{Err: errtext.Errorf("speculative execution policy: %w", err)}
	}
	if attempts <= 0 {
		return s.executeAlone(ctx, c)
	}
	x := &speculation{
		session: s, delay: max(delay, 0), observed: c.observer != nil, left: attempts, running: 1,
		wake: make(chan struct{}, 1),
	}
	s.races.earn()
	x.plan.mu = new(sync.Mutex)
	c.req.Prompt = true // the execution that succeeds ends the others
	s.newPlan(c)
	s.startPlan(ctx, &x.plan.plan, c)
	c.shared = &sharedBody{body: c.req.Body}
	c.shared.refs.Store(1)
	x.call = c.callState
	x.call.observer, x.call.bound, x.call.params.Values = nil, bindings{}, nil
	if len(c.stmts) == 1 { // c is reused for other requests, and c.one with it; a batch does not use c.one
		x.call.one[0] = c.stmts[0]
		x.call.stmts = x.call.one[:]
	}
	x.ctx, x.cancel = context.WithCancel(ctx)
	defer x.cancel()
	x.mu.Lock()
	x.timer = time.AfterFunc(x.delay, x.start)
	x.mu.Unlock()
	err = s.execute(x.ctx, c, &x.plan, nil)
	err = x.finish(ctx, c, err)
	if c.observer != nil {
		for _, seen := range x.takeRecords() {
			c.observer.record(ctx, s.core, seen)
		}
	}
	return err
}

// start runs one further execution on the goroutine of the timer.
func (x *speculation) start() {
	s := x.session
	if !s.tasks.Enter() {
		return
	}
	defer s.tasks.Leave()
	if !x.enter() {
		return
	}
	if x.call.req.Op != frame.OpPrepare {
		s.counters.speculations.Add(1)
	}
	c := &call{callState: x.call}
	c.answer = &c.own
	if len(c.stmts) == 1 {
		c.stmts = c.one[:]
	}
	c.req.Began = time.Now()
	if x.observed {
		c.observer = &observation{speculation: x}
	}
	err := s.execute(x.ctx, c, &x.plan, nil)
	x.ended(c, err)
	c.shared.drop()
}

// enter registers an execution and starts the timer of the next one. It reports false if the request is over, the
// throttle or the memory budget is busy, or too many races were lost.
func (x *speculation) enter() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || x.left <= 0 {
		return false
	}
	if x.left--; x.left > 0 {
		x.timer.Reset(x.delay)
	}
	if t := x.session.throttle; t != nil && t.Busy() {
		return false
	}
	if x.session.memoryFull(&x.call) {
		return false
	}
	if !x.session.races.enter() {
		return false
	}
	x.running++
	x.call.shared.refs.Add(1)
	return true
}

// ended stores the outcome of an execution other than the caller's. It releases the body of a late answer.
func (x *speculation) ended(c *call, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running--
	switch {
	case err != nil && x.over: // the caller has its outcome already
	case err != nil:
		x.noteFailure(err)
	case x.over:
		c.answer.resp.Body.Release()
	default:
		x.over, x.won = true, true
		x.answer, x.began = *c.answer, c.req.Began
		if c.req.Op != frame.OpPrepare {
			x.session.counters.speculationWins.Add(1)
		}
		x.session.races.won()
		x.cancel() // cancels the caller's execution too
	}
	if x.final {
		x.cancel()
	}
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// noteFailure merges the error of an execution into x.failure. Callers hold x.mu.
func (x *speculation) noteFailure(err error) {
	var f *RequestFailure
	if !errors.As(err, &f) {
		return
	}
	if x.failure == nil {
		x.failure = &RequestFailure{}
	}
	if !x.over && !x.final && (f.Attempts > 0 || x.failure.Err == nil) {
		x.failure.Err, x.failure.Host = f.Err, f.Host
	}
	x.failure.Attempts += f.Attempts
	x.failure.applied = x.failure.applied || f.applied
	x.final = x.final || ErrorClassOf(err) == stats.ClassInvalid
}

// finish takes the outcome of the caller's execution. After an error it waits for the other executions, and stores the
// answer of the one that won in c.
func (x *speculation) finish(ctx context.Context, c *call, err error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running--
	if err == nil {
		if x.won { // two executions succeeded at once
			x.answer.resp.Body.Release()
		}
		x.end()
		return nil
	}
	if !x.won {
		x.noteFailure(err)
	}
	for x.running > 0 && !x.won && !x.final && ctx.Err() == nil {
		x.mu.Unlock()
		select {
		case <-x.wake:
		case <-ctx.Done():
		}
		x.mu.Lock()
	}
	x.end()
	if x.won {
		*c.answer, c.req.Began = x.answer, x.began
		return nil
	}
	x.failure.applied = x.failure.applied || x.running > 0 // the outcome of running executions is unknown
	return x.failure
}

// end prevents further executions and cancels the running ones. Callers hold x.mu.
func (x *speculation) end() {
	x.over = true
	x.timer.Stop()
	x.cancel()
}

// addRecord stores the record of an attempt for takeRecords, which the caller's goroutine calls.
func (x *speculation) addRecord(seen attemptRecord) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.records = append(x.records, seen)
}

func (x *speculation) takeRecords() []attemptRecord {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.records
}

// endTasks prevents further executions and waits for the running ones, whose calls ended with the connections.
func (s *sender) endTasks(ctx context.Context) error {
	s.tasks.End()
	return background.Await(ctx, s.tasks.Done()) // bounded, since a policy of the program may block
}
