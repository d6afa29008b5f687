// SPDX-License-Identifier: Apache-2.0

package vecql

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
	// probeTimeout is how long the answer to a probe may take. It is also the longest patience, see conn.checkWait.
	probeTimeout = 250 * time.Millisecond
	// leastPatience is the shortest patience: a pause of a few milliseconds is no sign of a silent server.
	leastPatience = 10 * time.Millisecond
	// probeInterval is the pause between two probes that were answered in time.
	probeInterval = 100 * time.Millisecond
	// probesGood is how many probes in a row must be answered in time to end a silence.
	probesGood = 3
	// probeLost is how long an unanswered probe is waited for. Then it is taken for lost, and another one is sent.
	probeLost = 5 * time.Second
	// probeStatement reads the only key of a table that every server has.
	probeStatement = "SELECT key FROM system.local"
)

// errSilent means that a movable call ended because its connection is silent.
var errSilent = errtext.Errorf("%w: the connection answers no request", ErrTimeoutNoResponse)

// silence returns the time since the last answer.
func (c *conn) silence() time.Duration { return time.Duration(c.now() - c.answered.Load()) }

// checkWait returns the error that ends a call without an answer, or nil if the call waits on: ErrTimeoutNoResponse at
// the deadline; errSilent for a movable call when the connection has become silent, or has answered nothing for twice
// the patience of the call. checkWait starts probes after one patience, so a healthy server that is slow with this
// request answers a probe. While the connection drains its calls wait on: after Session.Close there is no other one.
func (c *conn) checkWait(w *waiter) error {
	now := c.now()
	since := max(c.answered.Load(), w.sent) // answers to earlier requests do not count for this one
	quiet := now - since
	if quiet >= w.patience {
		c.suspect()
	}
	switch {
	case w.deadline != 0 && now >= w.deadline:
		return ErrTimeoutNoResponse
	case w.movable && !c.refuses() && (quiet >= 2*w.patience || !w.silent && c.silent.Load()):
		return errSilent
	}
	due := now + w.patience
	for n := int64(1); n <= 2; n++ {
		if at := since + n*w.patience; at > now {
			due = at
			break
		}
	}
	if w.deadline != 0 {
		due = min(due, w.deadline)
	}
	w.due.Store(due)
	return nil
}

// suspect starts probes unless they are under way.
func (c *conn) suspect() {
	if !c.probing.Load() && !c.refuses() && c.probing.CompareAndSwap(false, true) {
		c.tasks.Go(c.probe)
	}
}

// probe is the goroutine of the probes. It ends when the connection is not silent, or refuses calls.
func (c *conn) probe() {
	defer c.probing.Store(false)
	for good := 0; good < probesGood; {
		sent := c.now()
		err := c.sendProbe()
		switch {
		case c.refuses(), err == nil && !c.silent.Load():
			return
		case err == nil:
			good++
			c.pause(probeInterval)
		default:
			good = 0
			c.setSilent(true)
			for c.answered.Load() < sent && time.Duration(c.now()-sent) < probeLost && c.pause(probeInterval) {
			}
		}
	}
	c.setSilent(false)
}

// pause waits for d. It returns false early if the connection ends.
func (c *conn) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return !c.refuses()
	case <-c.done:
		return false
	}
}

// sendProbe sends one probe. Any answer within probeTimeout is a success, an error of the server included.
func (c *conn) sendProbe() error {
	if c.refuses() {
		return c.closedError()
	}
	body := getBuffer(len(probeStatement) + 32)
	defer body.release()
	var err error
	body.b, err = frame.AppendQuery(body.b[:0], c.cfg.version, probeStatement, &frame.QueryParams{Consistency: cql.One})
	if err != nil {
		return err
	}
	req := request{op: frame.OpQuery, body: body, timeout: probeTimeout, probe: true}
	resp, err := c.roundTrip(context.Background(), &req)
	if err == nil {
		resp.body.release()
	}
	return err
}

// setSilent changes the state and reports a change. A heartbeat follows at once: it closes the connection if the server
// does not even answer OPTIONS.
func (c *conn) setSilent(silent bool) {
	if c.silent.Swap(silent) == silent {
		return
	}
	if silent {
		c.wakeCallers()
		if c.cfg.heartbeat > 0 {
			c.deadlines.beats.Reset(0)
		}
	}
	if c.cfg.onSilence != nil {
		c.cfg.onSilence(c)
	}
}
