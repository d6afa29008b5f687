// SPDX-License-Identifier: Apache-2.0

package conn

import "time"

// Latencies: a histogram of each connection, always on. The reader records each answer to a request of the program,
// also one whose caller has left. It reads no clock: a call has read the time at its start, and the reader reads the
// time when bytes arrive.

// recordLatency records the latency of the call in a slot, whose answer has arrived, and returns it; 0 means unknown.
func (c *Conn) recordLatency(s *slot) time.Duration {
	if s.began == 0 {
		return 0
	}
	took := c.readAt - s.began
	c.Latencies.Record(time.Duration(took))
	c.smooth(took)
	return time.Duration(max(took, 0))
}
