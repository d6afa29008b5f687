// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"sync/atomic"
	"time"
)

// Long requests. The goroutine that reads from a connection executes its requests, one after the other. When a request
// runs for longer than handoverTime, another goroutine goes on to read, so that the requests behind it, a heartbeat
// among them, are answered meanwhile. A request that is fast costs two atomic writes.

const (
	// handoverTime is about how long a request runs before another goroutine reads the next one.
	handoverTime = 50 * time.Millisecond
	// maxLong is the number of long requests of a connection at a time. With more the connection reads nothing.
	maxLong = 128
)

// turn is the state of the reading goroutine of a connection.
type turn struct {
	number  uint64        // of the request; only the reading goroutine uses it
	running atomic.Uint64 // the number of the request that the reading goroutine executes; 0 means none
	long    atomic.Int32  // requests whose goroutine reads no more
	endWake chan struct{} // a token when a long request has ended
}

// runs marks the start of a request that may be handed over, and returns its number.
func (c *conn) runs() uint64 {
	t := &c.turn
	number := t.number + 1
	t.number = number // another goroutine may read and write it as soon as running has it
	t.running.Store(number)
	c.cluster.watch.begin()
	return number
}

// ran marks the end of a request. It reports whether the goroutine still reads from the connection.
func (c *conn) ran(number uint64) bool {
	t := &c.turn
	if t.running.CompareAndSwap(number, 0) {
		return true
	}
	c.flushLater()
	t.long.Add(-1)
	select {
	case t.endWake <- struct{}{}:
	default:
	}
	return false
}

// handOver lets another goroutine read, if the request of that number still runs.
func (c *conn) handOver(number uint64) {
	t := &c.turn
	if t.long.Load() >= maxLong {
		return
	}
	t.long.Add(1)
	if !t.running.CompareAndSwap(number, 0) {
		t.long.Add(-1)
		return
	}
	c.cluster.wg.Go(c.readOn)
}

// awaitLong blocks until no long request runs, and reports whether the connection is still open: some messages change
// how others are read and executed.
func (c *conn) awaitLong() bool {
	for c.turn.long.Load() > 0 {
		select {
		case <-c.turn.endWake:
		case <-c.done:
			return false
		}
	}
	return true
}

// watch is the state of the goroutine that hands long requests over. It sleeps while no request runs.
type watch struct {
	awake atomic.Bool
	wakes chan struct{} // a token when a request has begun
}

// begin wakes the goroutine.
func (w *watch) begin() {
	if !w.awake.Load() && w.awake.CompareAndSwap(false, true) {
		select {
		case w.wakes <- struct{}{}:
		default:
		}
	}
}

// watchRequests hands over the requests that run at two looks in a row, until done is closed.
func (c *Cluster) watchRequests(done <-chan struct{}) {
	timer := time.NewTimer(handoverTime)
	defer timer.Stop()
	for {
		select {
		case <-c.watch.wakes:
		case <-done:
			return
		}
		for seen := map[*conn]uint64{}; ; {
			timer.Reset(handoverTime)
			select {
			case <-timer.C:
			case <-done:
				return
			}
			if seen = c.look(seen); len(seen) > 0 {
				continue
			}
			c.watch.awake.Store(false)
			if seen = c.look(seen); len(seen) == 0 || !c.watch.awake.CompareAndSwap(false, true) {
				break // a request that begins from now on sends a token
			}
		}
	}
}

// look hands over the requests that ran at the last look, seen, and returns the requests that run now.
func (c *Cluster) look(seen map[*conn]uint64) map[*conn]uint64 {
	next := map[*conn]uint64{}
	for _, n := range c.Nodes() {
		n.mu.Lock()
		for conn := range n.conns {
			if number := conn.turn.running.Load(); number != 0 {
				next[conn] = number
			}
		}
		n.mu.Unlock()
	}
	for conn, number := range next {
		if seen[conn] == number {
			conn.handOver(number)
		}
	}
	return next
}
