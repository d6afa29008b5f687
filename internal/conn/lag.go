// SPDX-License-Identifier: Apache-2.0

package conn

import "time"

// Connections that lag: requests wait, and none was answered for several times the usual latency. The server may pause
// for a moment, or be about to become silent (silence.go). New requests prefer other replicas meanwhile, so that a
// node that stops takes few requests with it. The first answer ends the lag.

const (
	// lagLeast is the least time without an answer, lagFactor that in usual latencies.
	lagLeast, lagFactor = 10 * time.Millisecond, 4
	// LagWaiting is the number of requests that must wait: a single one may just be slow.
	LagWaiting = 2
)

// waitBegan records that a call waits, at a time on the connection's clock.
func (c *Conn) waitBegan(now int64) {
	if c.InFlight()-int(c.Orphans.Load()) == 1 {
		c.waitingSince.Store(now)
	}
}

// Lags reports whether the connection lags.
func (c *Conn) Lags(now time.Time) bool {
	if c.InFlight()-int(c.Orphans.Load()) < LagWaiting { // orphans may never be answered
		return false
	}
	since := max(c.answered.Load(), c.waitingSince.Load()) + max(int64(lagLeast), lagFactor*c.usual.Load())
	return int64(now.Sub(c.Born)) >= since
}

// smooth adds a latency to the usual one, an exponential moving average. A pause at most doubles it.
func (c *Conn) smooth(took int64) {
	usual := c.usual.Load()
	took = min(took, 16*usual+int64(time.Millisecond))
	c.usual.Store(usual + (took-usual)/16)
}
