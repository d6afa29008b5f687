// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// This file executes a request speculatively. The first execution runs on the caller's goroutine; each further one on the goroutine of the
// timer that was set for it, so that a request that is answered in time costs a timer and no goroutine. All walk one route. The first answer
// ends the others' context: they leave their stream ids to the connection and are not waited for, so that the body, which they may still be
// sending, belongs to all of them.

// sharedBody is a request's body that several executions send.
type sharedBody struct {
	body *buffer
	refs atomic.Int32
}

// drop gives back one reference, with the last one the body.
func (b *sharedBody) drop() {
	if b.refs.Add(-1) == 0 {
		b.body.release()
	}
}

// race is a request that is executed several times at once.
type race struct {
	session *Session
	ctx     context.Context // ends with the first answer
	cancel  context.CancelFunc
	walk    walk
	call    call // what further executions are copies of
	delay   time.Duration
	watched bool

	mu      sync.Mutex
	timer   *time.Timer
	left    int // executions that may still start
	running int
	over    bool   // won, or given up
	won     bool   // by an execution other than the caller's
	final   bool   // an execution ended with an error that all others would end with
	answer  answer // if won
	failure *RequestFailure
	seen    []attemptSeen // by executions other than the caller's: observers are told on the caller's goroutine
	changed chan struct{} // capacity 1: an execution other than the caller's has ended
}

// executeSpeculatively is execute, several times if need be.
func (s *Session) executeSpeculatively(ctx context.Context, c *call) error {
	attempts, delay, err := askSpeculative(c.how.speculative)
	if err != nil {
		return &RequestFailure{Err: fmt.Errorf("speculative execution policy: %w", err)}
	}
	if attempts <= 0 {
		w := walk{route: s.routeOf(c)}
		return s.execute(ctx, c, &w)
	}
	x := &race{session: s, delay: max(delay, 0), watched: c.watch != nil, left: attempts, running: 1, changed: make(chan struct{}, 1)}
	x.walk = walk{route: s.routeOf(c), mu: new(sync.Mutex)}
	c.shared = &sharedBody{body: c.req.body}
	c.shared.refs.Store(1)
	x.call = *c
	x.call.watch, x.call.bound, x.call.params.values = nil, bindings{}, nil
	if len(c.stmts) == 1 { // c is used again for other requests, its room for one statement with it
		x.call.stmts = x.call.one[:]
	}
	x.ctx, x.cancel = context.WithCancel(ctx)
	defer x.cancel()
	x.mu.Lock()
	x.timer = time.AfterFunc(x.delay, x.start)
	x.mu.Unlock()
	err = s.execute(x.ctx, c, &x.walk)
	err = x.finish(ctx, c, err)
	if c.watch != nil {
		for _, seen := range x.take() {
			c.watch.saw(ctx, s, seen)
		}
	}
	return err
}

// start is the timer's: one further execution.
func (x *race) start() {
	s := x.session
	if !s.racing.enter() {
		return
	}
	defer s.racing.leave()
	if !x.enter() {
		return
	}
	s.counters.speculations.Add(1)
	c := &call{}
	*c = x.call
	if len(c.stmts) == 1 {
		c.stmts = c.one[:]
	}
	c.req.began = time.Now()
	if x.watched {
		c.watch = &observation{race: x}
	}
	err := s.execute(x.ctx, c, &x.walk)
	x.ended(c, err)
	c.shared.drop()
}

// enter counts an execution in, and sets the timer for the one after it. It reports false when none is wanted any more, or where requests
// are being held back already.
func (x *race) enter() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || x.left <= 0 {
		return false
	}
	if x.left--; x.left > 0 {
		x.timer.Reset(x.delay)
	}
	if t := x.session.throttle; t != nil && t.busy(int64(len(x.call.req.body.b))) {
		return false
	}
	x.running++
	x.call.shared.refs.Add(1)
	return true
}

// ended takes the outcome of an execution other than the caller's. A page that nobody wants any more is released.
func (x *race) ended(c *call, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running--
	switch {
	case err != nil && x.over: // the caller has gone, with the failure that it got
	case err != nil:
		x.note(err)
	case x.over:
		c.answer.page.release()
	default:
		x.over, x.won = true, true
		x.answer = c.answer
		x.session.counters.speculationWins.Add(1)
		x.cancel() // the caller's execution among others
	}
	if x.final {
		x.cancel()
	}
	select {
	case x.changed <- struct{}{}:
	default:
	}
}

// note keeps the error of an execution. x.mu is held.
func (x *race) note(err error) {
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
	x.final = x.final || ErrorClassOf(err) == ClassInvalid
}

// finish takes the outcome of the caller's execution, and waits for the others where that is an error. The answer gets into c.
func (x *race) finish(ctx context.Context, c *call, err error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running--
	if err == nil {
		if x.won { // two answers at once: one of them is enough
			x.answer.page.release()
		}
		x.end()
		return nil
	}
	if !x.won {
		x.note(err)
	}
	for x.running > 0 && !x.won && !x.final && ctx.Err() == nil {
		x.mu.Unlock()
		select {
		case <-x.changed:
		case <-ctx.Done():
		}
		x.mu.Lock()
	}
	x.end()
	if x.won {
		c.answer = x.answer
		return nil
	}
	x.failure.applied = x.failure.applied || x.running > 0 // nobody waits to see what becomes of those
	return x.failure
}

// end lets nothing further start. x.mu is held.
func (x *race) end() {
	x.over = true
	x.timer.Stop()
	x.cancel()
}

// add and take hand over what executions saw.
func (x *race) add(seen attemptSeen) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen = append(x.seen, seen)
}

func (x *race) take() []attemptSeen {
	x.mu.Lock()
	defer x.mu.Unlock()
	seen := x.seen
	x.seen = nil
	return seen
}

// endRaces lets no further execution start beside a first one, and waits for those under way: their calls have ended with the connections.
func (s *Session) endRaces(ctx context.Context) error {
	s.racing.end()
	return awaitEnd(ctx, s.racing.gone) // a program's policy may not return
}
