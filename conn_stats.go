// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"time"

	"github.com/vecql/vecql/stats"
)

// A snapshot of a connection.

// stats returns a snapshot. Its State is ConnOpen or ConnDraining.
func (c *conn) stats() stats.Conn {
	st := stats.Conn{
		Local: c.local, Remote: c.addr(), Shard: -1, Opened: c.born, LastAnswer: c.born.Add(time.Duration(c.answered.Load())),
		InFlight: c.inFlight(), Orphans: int(c.orphans.Load()), Limit: int(c.overload.limit.Load()),
		Silent: c.silent.Load(),
	}
	if c.features.shards > 0 {
		st.Shard = int(c.features.shard)
	}
	if c.refuses() {
		st.State = stats.ConnDraining
	}
	return st
}
