// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// This file holds what happens because time passes: calls without a context deadline time out, a stalled leader is relieved, and an idle
// connection is asked whether it lives. There is no goroutine for it: one timer ticks while calls are under way, another one beats.

// tickInterval is how exact timeouts are.
const tickInterval = 20 * time.Millisecond

type deadlines struct {
	tick    atomic.Int64 // ticks so far
	ticking atomic.Bool  // the timer is armed
	timer   *time.Timer  // under background.mu, as beats
	beats   *time.Timer
}

func (c *conn) startTimers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.timer = time.AfterFunc(time.Hour, c.onTick)
	c.timer.Stop()
	if c.cfg.heartbeat > 0 {
		c.beats = time.AfterFunc(c.cfg.heartbeat, c.beat)
	}
}

func (c *conn) stopTimers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range []*time.Timer{c.timer, c.beats} {
		if t != nil {
			t.Stop()
		}
	}
}

// rearm sets a timer again, unless the connection has ended.
func (c *conn) rearm(t *time.Timer, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		t.Reset(d)
	}
}

// watch sees that the timer ticks as long as callers wait: an answer that is overdue needs no clock.
func (c *conn) watch() {
	if !c.ticking.Load() && c.ticking.CompareAndSwap(false, true) {
		c.rearm(c.timer, tickInterval)
	}
}

func (c *conn) callersWait() bool { return c.inFlight() > int(c.orphans.Load()) }

func (c *conn) onTick() {
	if !c.enter() {
		return
	}
	defer c.leave()
	tick := c.tick.Add(1)
	if since := c.w.since.Load(); since != 0 && tick > since+1 && c.resumable {
		_ = c.sock.SetWriteDeadline(time.Unix(1, 0)) // relieves the leader: see lead
	}
	now := c.now()
	for i := range c.blocks {
		b := c.blocks[i].Load()
		if b == nil {
			continue
		}
		for j := range b {
			if s := &b[j]; s.state.Load() == slotWaiting && s.expired(now) {
				s.signal() // the caller gives up by itself
			}
		}
	}
	if c.callersWait() {
		c.rearm(c.timer, tickInterval)
		return
	}
	c.w.shrink()
	c.ticking.Store(false)
	if c.callersWait() { // a call came between the look and the store
		c.watch()
	}
}

// beat asks a peer from which nothing came for an interval for a sign of life: OPTIONS, which every server answers. When nothing comes
// for another interval, not a byte of any answer, the connection is closed; a request that times out closes nothing.
func (c *conn) beat() {
	if !c.enter() {
		return
	}
	defer c.leave()
	silence := func() time.Duration { return time.Duration(c.now() - c.lastRead.Load()) }
	if rest := c.cfg.heartbeat - silence(); rest > 0 {
		c.rearm(c.beats, rest)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.heartbeat)
	defer cancel()
	body := getBuffer(0)
	resp, err := c.call(ctx, &request{op: opOptions, body: body})
	body.release()
	if err == nil {
		resp.page.release()
	} else if silent := silence(); silent >= c.cfg.heartbeat {
		c.close(fmt.Errorf("no sign of life for %v: %w", silent.Round(time.Millisecond), err))
		return
	}
	c.rearm(c.beats, c.cfg.heartbeat)
}
