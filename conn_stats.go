// SPDX-License-Identifier: Apache-2.0

package vecql

import "time"

// A snapshot of a connection.

// A ConnState is the state of a connection.
type ConnState uint8

// States of a connection.
const (
	ConnOpen     ConnState = iota // takes requests
	ConnSurplus                   // takes no request: its shard had enough connections
	ConnDraining                  // takes no further request, and closes when those in flight have ended
)

// String returns "open", "surplus" or "draining".
func (s ConnState) String() string {
	switch s {
	case ConnOpen:
		return "open"
	case ConnSurplus:
		return "surplus"
	default:
		return "draining"
	}
}

// MarshalText implements encoding.TextMarshaler: the text of String.
func (s ConnState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *ConnState) UnmarshalText(text []byte) error { return setNamed(s, text, ConnDraining) }

// ConnStats is a snapshot of one connection.
type ConnStats struct {
	Local      string // host:port; empty means unknown
	Remote     string // host:port of the node; the shard-aware port is not shown
	Shard      int    // -1 means a node without shards
	State      ConnState
	Opened     time.Time
	LastAnswer time.Time // to a request; before the first one the time of opening
	InFlight   int       // requests without a response, orphans included
	Orphans    int       // requests canceled or timed out that still have no response
	Limit      int       // bound of InFlight while most answers come too late; 0 means none
	Silent     bool      // answers no request
}

// stats returns a snapshot. Its State is ConnOpen or ConnDraining.
func (c *conn) stats() ConnStats {
	st := ConnStats{
		Local: c.local, Remote: c.addr(), Shard: -1, Opened: c.born, LastAnswer: c.born.Add(time.Duration(c.answered.Load())),
		InFlight: c.inFlight(), Orphans: int(c.orphans.Load()), Limit: int(c.overload.limit.Load()),
		Silent: c.silent.Load(),
	}
	if c.features.shards > 0 {
		st.Shard = int(c.features.shard)
	}
	if c.refuses() {
		st.State = ConnDraining
	}
	return st
}
