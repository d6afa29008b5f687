// SPDX-License-Identifier: Apache-2.0

package conn

import "sync/atomic"

// Overload: a server that executes requests in the order of arrival, and gets more of them than it executes, soon
// answers only requests that have timed out. All its work is then lost, until the clients stop. So a connection on
// which most answers come late admits no more requests than the server answers in half of a timeout. The others fail at
// once and were not sent.

const (
	// For lateTicks in a row most answers must be late before there is a bound, for lateTicksBound before it shrinks. A
	// server that pauses answers all late requests within a few ticks.
	lateTicks, lateTicksBound = 15, 3
	// leastLimit is the least bound of the requests in flight.
	leastLimit = 16
	// Growth of the bound a tick while most answers are in time: while it is in use, and while less than half is.
	limitGrowth, limitGrowthIdle = 1.0 / 1024, 1.0 / 16
)

// overload is the state of the bound. Fields without a comment belong to onTick.
type overload struct {
	Limit     atomic.Int32  // bound of the requests in flight; 0 means none
	Answers   atomic.Uint64 // answers received
	late      atomic.Uint64 // answers to orphans
	lateAfter atomic.Int64  // how long the last request that timed out had waited, in nanoseconds

	seen, seenLate uint64  // answers and late at the last tick
	rate           float64 // answers a tick, an exponential moving average
	ticks          int     // in a row in which most answers were late
	bound          float64 // limit before rounding
}

// busy reports whether a further request would time out.
func (c *Conn) busy() bool {
	limit := c.Overload.Limit.Load()
	return limit != 0 && c.InFlight() >= int(limit)
}

// adjustLimit sets the bound at each tick.
func (c *Conn) adjustLimit() {
	o := &c.Overload
	answers, late := o.Answers.Load(), o.late.Load()
	answered, wereLate := answers-o.seen, late-o.seenLate
	o.seen, o.seenLate = answers, late
	o.rate += (float64(answered) - o.rate) / 8
	switch {
	case 2*wereLate > answered:
		o.ticks++
	case answered > 0:
		o.ticks = 0
	}
	switch {
	case o.ticks >= lateTicks, o.ticks >= lateTicksBound && o.bound > 0:
		o.bound = max(leastLimit, o.rate*float64(o.lateAfter.Load())/2/float64(TickInterval))
	case o.bound == 0:
		return
	case 2*c.InFlight() < int(o.bound):
		o.bound *= 1 + limitGrowthIdle
	default:
		o.bound *= 1 + limitGrowth
	}
	if o.bound > float64(c.Streams.Cap()) {
		o.bound = 0
	}
	o.Limit.Store(int32(o.bound))
}

// endLimit removes the bound when no caller waits.
func (c *Conn) endLimit() {
	c.Overload.ticks, c.Overload.bound = 0, 0
	c.Overload.Limit.Store(0)
}
