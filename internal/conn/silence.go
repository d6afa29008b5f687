// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
)

// Silent connections: the server or the network accepts requests and answers none of them, or a byte a second. A caller
// that has waited for a while on a connection without any answer starts probes: requests that every server answers at
// once, if it executes requests at all. The answer to OPTIONS proves less, so it does not count. A connection that does
// not answer a probe in time is silent: requests prefer other connections and other nodes, and movable calls that wait
// on it end. Probes that are answered in time end the silence.

const (
	// probeTimeout is how long the answer to a probe may take. It is also the longest patience, see Conn.checkWait.
	probeTimeout = 250 * time.Millisecond
	// leastPatience is the shortest patience: a pause of a few milliseconds is no sign of a silent server.
	leastPatience = 10 * time.Millisecond
	// probeInterval is the pause between two probes that were answered in time.
	probeInterval = 100 * time.Millisecond
	// probesGood is how many probes in a row must be answered in time to end a silence.
	probesGood = 3
	// longestLook is the longest pause after which a caller looks at its context.
	longestLook = 100 * time.Millisecond
	// probeLost is how long an unanswered probe is waited for. Then it is taken for lost, and another one is sent.
	probeLost = 5 * time.Second
	// probeStatement reads the only key of a table that every server has.
	probeStatement = "SELECT key FROM system.local"
)

// ErrSilent means that a movable call ended because its connection is silent.
var ErrSilent = errtext.Errorf("%w: the connection answers no request", ErrTimeout)

// silence returns the time since the last answer.
func (c *Conn) silence() time.Duration { return time.Duration(c.now() - c.answered.Load()) }

// checkWait returns the error that ends a call without an answer, or nil if the call waits on: the error of ctx when it
// has ended; ErrTimeoutNoResponse at the deadline; ErrSilent for a movable call when the connection has become silent,
// or has answered nothing for twice the patience of the call. checkWait starts probes after one patience, so a healthy
// server that is slow with this request answers a probe. While the connection drains its calls wait on: after
// Session.Close there is no other one.
func (c *Conn) checkWait(ctx context.Context, w *waiter) error {
	now := c.now()
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.ends != 0 && now >= w.ends { // the timer of ctx is late: the call ends with it
		w.prompt = true
		return nil
	}
	since := max(c.answered.Load(), w.sent) // answers to earlier requests do not count for this one
	quiet := now - since
	if quiet >= w.patience {
		c.Suspect()
	}
	switch {
	case w.deadline != 0 && now >= w.deadline:
		return ErrTimeout
	case w.movable && !c.Refuses() && (quiet >= 2*w.patience || !w.silent && c.Silent.Load()):
		return ErrSilent
	}
	due := now + w.patience
	for n := int64(1); n <= 2; n++ {
		if at := since + n*w.patience; at > now {
			due = at
			break
		}
	}
	w.due.Store(c.nextLook(w, now, due))
	return nil
}

// nextLook returns when a caller that waits is woken: at the time due, at its deadline, or when it looks at its context
// next, whichever is the earliest. A channel of the context would wake it at once, but would cost every request more
// than the request itself. The pauses grow with the time waited, so that many callers of a slow server do not wake for
// nothing.
func (c *Conn) nextLook(w *waiter, now, due int64) int64 {
	if w.deadline != 0 {
		due = min(due, w.deadline)
	}
	if w.polls {
		due = min(due, now+min(max((now-w.sent)/8, int64(TickInterval)), int64(longestLook)))
		if w.ends != 0 {
			due = min(due, w.ends)
		}
	}
	return due
}

// Suspect starts probes unless they are under way.
func (c *Conn) Suspect() {
	if !c.Probing.Load() && !c.Refuses() && c.Probing.CompareAndSwap(false, true) {
		c.tasks.Go(c.probe)
	}
}

// probe is the goroutine of the probes. It ends when the connection is not silent, or refuses calls.
func (c *Conn) probe() {
	defer c.Probing.Store(false)
	for good := 0; good < probesGood; {
		sent := c.now()
		err := c.sendProbe()
		switch {
		case c.Refuses(), err == nil && !c.Silent.Load():
			return
		case err == nil:
			good++
			c.pause(probeInterval)
		default:
			good = 0
			c.SetSilent(true)
			for c.answered.Load() < sent && time.Duration(c.now()-sent) < probeLost && c.pause(probeInterval) {
			}
		}
	}
	c.SetSilent(false)
}

// pause waits for d. It returns false early if the connection ends.
func (c *Conn) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return !c.Refuses()
	case <-c.done:
		return false
	}
}

// sendProbe sends one probe. Any answer within probeTimeout is a success, an error of the server included.
func (c *Conn) sendProbe() error {
	if c.Refuses() {
		return c.ClosedError()
	}
	body := GetBuffer(len(probeStatement) + 32)
	defer body.Release()
	var err error
	body.B, err = frame.AppendQuery(body.B[:0], c.Config.Version, probeStatement, &frame.QueryParams{Consistency: cql.One})
	if err != nil {
		return err
	}
	req := Request{Op: frame.OpQuery, Body: body, Timeout: probeTimeout, probe: true}
	resp, err := c.RoundTrip(context.Background(), &req)
	if err == nil {
		resp.Body.Release()
	}
	return err
}

// SetSilent changes the state and reports a change. A heartbeat follows at once: it closes the connection if the server
// does not even answer OPTIONS.
func (c *Conn) SetSilent(silent bool) {
	if c.Silent.Swap(silent) == silent {
		return
	}
	if silent {
		c.wakeCallers()
		if c.Config.Heartbeat > 0 {
			c.deadlines.beats.Reset(0)
		}
	}
	if c.Config.OnSilence != nil {
		c.Config.OnSilence(c)
	}
}
