// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// This file holds the connections to one node. Requests pick from an immutable slice; while connections are missing, one goroutine
// dials them, and it ends as soon as none is missing.

// Reconnection waits this long after the first failure, twice as long after each further one up to the maximum, less up to half at
// random so that clients of a restarted node do not all come back at once.
const (
	reconnectMin = 100 * time.Millisecond
	reconnectMax = 5 * time.Second
)

// dialFunc opens one ready connection: dialled, authenticated, its keyspace in use. closed is called once when it has ended.
type dialFunc func(ctx context.Context, closed func(c *conn, err error)) (*conn, error)

type pool struct {
	ctx    context.Context // ends dialling; cancelled by close
	cancel context.CancelFunc
	size   int
	dial   dialFunc
	log    *slog.Logger
	open   atomic.Pointer[[]*conn]
	next   atomic.Uint32
	wake   chan struct{} // ends a wait between two attempts

	mu      sync.Mutex
	filling bool
	stopped bool
	err     error          // of the last attempt, nil while connections are open
	wg      sync.WaitGroup // the filling goroutine
}

func newPool(ctx context.Context, size int, dial dialFunc, log *slog.Logger) *pool {
	ctx, cancel := context.WithCancel(ctx)
	p := &pool{ctx: ctx, cancel: cancel, size: size, dial: dial, log: log, wake: make(chan struct{}, 1)}
	p.open.Store(&[]*conn{})
	return p
}

// pick returns a connection that takes requests, the less busy of the next two; nil when there is none.
func (p *pool) pick() *conn {
	conns := *p.open.Load()
	var best *conn
	start := p.next.Add(1)
	for i, seen := uint32(0), 0; i < uint32(len(conns)) && seen < 2; i++ {
		c := conns[(start+i)%uint32(len(conns))]
		if c.refuses() { // it is ending and will be replaced
			continue
		}
		if seen++; best == nil || c.inFlight() < best.inFlight() {
			best = c
		}
	}
	return best
}

// lastError returns why there is no connection.
func (p *pool) lastError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// fill dials one connection and returns its error, then leaves the others to the filling goroutine.
func (p *pool) fill(ctx context.Context) error {
	err := p.add(ctx)
	p.refill()
	return err
}

// add dials one connection.
func (p *pool) add(ctx context.Context) error {
	c, err := p.dial(ctx, p.remove)
	p.mu.Lock()
	switch {
	case err != nil:
	case p.stopped:
		err = ErrSessionClosed
	case c.closed(): // it ended before it was listed: remove found nothing
		err = ErrConnectionClosed
	default:
		conns := append(append([]*conn{}, *p.open.Load()...), c)
		p.open.Store(&conns)
	}
	p.err = err
	p.mu.Unlock()
	if err != nil && c != nil {
		c.close(err)
	}
	return err
}

// remove takes a connection that has ended out of the pool and dials another one.
func (p *pool) remove(c *conn, err error) {
	p.mu.Lock()
	var rest []*conn
	for _, other := range *p.open.Load() {
		if other != c {
			rest = append(rest, other)
		}
	}
	p.open.Store(&rest)
	stopped := p.stopped
	p.mu.Unlock()
	if stopped {
		return
	}
	p.log.Info("connection lost", "node", c.addr(), "open", len(rest), "err", err)
	p.refill()
}

// retryNow ends the wait before the next attempt: the node is said to be up.
func (p *pool) retryNow() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// refill starts the filling goroutine unless it runs.
func (p *pool) refill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.filling || p.stopped || len(*p.open.Load()) >= p.size {
		return
	}
	p.filling = true
	p.wg.Add(1)
	go p.fillAll()
}

func (p *pool) fillAll() {
	defer p.wg.Done()
	wait := reconnectMin
	for failures := 0; ; {
		p.mu.Lock()
		if p.stopped || len(*p.open.Load()) >= p.size {
			p.filling = false
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		err := p.add(p.ctx)
		if err == nil {
			if failures > 0 {
				p.log.Info("node reached again", "attempts", failures+1)
			}
			wait, failures = reconnectMin, 0
			continue
		}
		if failures++; failures == 1 && p.ctx.Err() == nil { // one line per change of state, not per attempt
			p.log.Warn("node not reached", "err", err)
		}
		timer := time.NewTimer(wait - time.Duration(rand.Int64N(int64(wait/2))))
		select {
		case <-timer.C:
			wait = min(2*wait, reconnectMax)
		case <-p.wake:
			wait = reconnectMin
		case <-p.ctx.Done():
		}
		timer.Stop()
	}
}

// stop refuses further dialling and returns the connections that are open, for the caller to drain or close.
func (p *pool) stop() []*conn {
	p.mu.Lock()
	p.stopped = true
	conns := *p.open.Load()
	p.open.Store(&[]*conn{})
	p.mu.Unlock()
	p.cancel()
	p.wg.Wait()
	return conns
}
