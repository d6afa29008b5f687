// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/stats"
)

// Timeouts and heartbeat of a connection: calls without a context deadline time out, a stalled leader is relieved, and
// an idle connection sends a heartbeat. Two timers replace waiting goroutines: one ticks while calls are in flight, the
// other one beats.

// TickInterval is the precision of timeouts.
const TickInterval = 20 * time.Millisecond

// deadlines are the timers of a connection.
type deadlines struct {
	tick    atomic.Int64      // ticks so far
	ticking atomic.Bool       // whether ticks is set
	ticks   *background.Timer // expires every TickInterval while calls are under way
	beats   *background.Timer // expires when a heartbeat may be due: see Conn.beat
}

// startTicking starts the timer that ticks while callers wait, so that a call needs no timer of its own.
func (c *Conn) startTicking() {
	d := &c.deadlines
	if !d.ticking.Load() && d.ticking.CompareAndSwap(false, true) {
		d.ticks.Reset(TickInterval)
	}
}

func (c *Conn) callersWait() bool { return c.InFlight() > int(c.Orphans.Load()) }

// onTick runs every TickInterval while callers wait. It wakes callers whose deadline has passed and interrupts a write
// that has lasted longer than a tick. When no caller waits, it releases the writer's memory and the timer stops.
func (c *Conn) onTick() {
	tick := c.deadlines.tick.Add(1)
	if since := c.w.since.Load(); since != 0 && tick > since+1 && c.resumable {
		_ = c.raw.SetWriteDeadline(time.Unix(1, 0)) // interrupts the stalled write of the leader: see lead
	}
	now, old := c.now(), 0
	c.slots.each(func(s *slot) {
		due := s.due.Load()
		switch state := s.state.Load(); {
		case state == slotWaiting && due != 0 && now >= due:
			s.signal() // the caller calls checkWait
		case state == slotOrphaned && now-due >= int64(orphanAge):
			old++
		}
	})
	c.adjustLimit()
	if old > c.orphanLimit() {
		c.overdue()
	}
	if c.callersWait() || !c.Closed() && int(c.Orphans.Load()) > c.orphanLimit() {
		c.deadlines.ticks.Reset(TickInterval)
		return
	}
	c.w.shrink()
	c.endLimit()
	c.deadlines.ticking.Store(false)
	if c.callersWait() { // a call started between the check and the store
		c.startTicking()
	}
}

// DefaultBeatTimeout is the default of Config.BeatTimeout.
const DefaultBeatTimeout = 5 * time.Second

// beat is the heartbeat. If no answer has arrived for an interval, or the connection is silent, it drops unused slots
// and sends OPTIONS, which every server answers. If neither that answer nor another one arrives within the heartbeat's
// timeout, it closes the connection. A request that times out closes nothing.
func (c *Conn) beat() {
	if rest := c.Config.Heartbeat - c.silence(); rest > 0 && !c.Silent.Load() {
		c.deadlines.beats.Reset(rest)
		return
	}
	c.slots.shrink(c.Streams)
	if c.waiting.Load() > 0 {
		c.passToken()
	}
	timeout := cmp.Or(c.Config.BeatTimeout, DefaultBeatTimeout)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	body := GetBuffer(0)
	resp, err := c.RoundTrip(ctx, &Request{Op: frame.OpOptions, Body: body, probe: true})
	body.Release()
	if err == nil {
		resp.Body.Release()
	} else if silence := c.silence(); silence >= timeout {
		err := errtext.Errorf("no answer received for %v, a heartbeat included", silence.Round(time.Millisecond))
		c.Close(&EndError{Cause: stats.EndHeartbeat, Err: err})
		return
	}
	next := c.Config.Heartbeat
	if c.Silent.Load() {
		next = min(next, timeout)
	}
	c.deadlines.beats.Reset(next)
}
