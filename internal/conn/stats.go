// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"time"

	"github.com/vecql/vecql/stats"
)

// A snapshot of a connection.

// Stats returns a snapshot. Its State is ConnOpen or ConnDraining.
func (c *Conn) Stats() stats.Conn {
	st := stats.Conn{
		Local: c.local, Remote: c.Addr(), Shard: -1, Opened: c.Born, LastAnswer: c.Born.Add(time.Duration(c.answered.Load())),
		InFlight: c.InFlight(), Orphans: int(c.Orphans.Load()), Limit: int(c.Overload.Limit.Load()),
		Silent: c.Silent.Load(),
	}
	if c.Features.Shards > 0 {
		st.Shard = int(c.Features.Shard)
	}
	if c.Refuses() {
		st.State = stats.ConnDraining
	}
	return st
}
