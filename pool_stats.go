// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"slices"
	"time"
)

// A snapshot of a pool.

// A PoolState is the state of the connections to a node. A pool that is connecting, is waiting or has given up may have
// some connections: NodeStats.Connections is their number.
type PoolState uint8

// States of a pool.
const (
	PoolOpen       PoolState = iota // no connection is missing
	PoolConnecting                  // a missing connection is being dialed
	PoolWaiting                     // backoff: a missing connection is dialed at NodeStats.NextDial
	PoolGaveUp                      // ReconnectionPolicy allows no further attempt until the node is named again
	PoolClosed                      // the session is closed, or the node has left
)

// String returns "open", "connecting", "waiting", "gave_up" or "closed".
func (s PoolState) String() string {
	switch s {
	case PoolOpen:
		return "open"
	case PoolConnecting:
		return "connecting"
	case PoolWaiting:
		return "waiting"
	case PoolGaveUp:
		return "gave_up"
	default:
		return "closed"
	}
}

// MarshalText implements encoding.TextMarshaler: the text of String.
func (s PoolState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *PoolState) UnmarshalText(text []byte) error { return setNamed(s, text, PoolClosed) }

// NodeStats is a snapshot of one node.
type NodeStats struct {
	Host        *HostInfo
	State       PoolState
	NextDial    time.Time // of a pool that is waiting, else zero
	LastError   error     // of the last attempt to connect, or the end of the last connection; nil after a success
	LastEnd     ConnectionEnd
	Connections int         // open
	InFlight    int         // requests without a response, orphans included
	Orphans     int         // requests canceled or timed out that still have no response
	Silent      int         // connections that answer no request; other connections and nodes are preferred
	Conns       []ConnStats // those that are surplus or draining too; ordered by shard, then by age
	Latency     LatencyHistogram
}

// A ConnectionEnd is the end of the connection to a node that has ended last. The zero value means that there was none.
type ConnectionEnd struct {
	At    time.Time
	Cause EndCause
	Err   error
}

// Serves reports whether a connection of the node takes requests and answers them.
func (n *NodeStats) Serves() bool {
	return slices.ContainsFunc(n.Conns, func(c ConnStats) bool { return c.State == ConnOpen && !c.Silent })
}

// stats returns a snapshot without Host.
func (p *pool) stats() NodeStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := NodeStats{
		State: p.statsState(), NextDial: p.nextDial, LastError: p.err, LastEnd: p.lastEnd, Latency: p.ended.clone(),
	}
	open := p.open.Load().conns
	for _, c := range p.live {
		st.Latency.add(&c.latencies)
		s := c.stats()
		switch {
		case slices.Contains(open, c):
			st.Connections++
			st.InFlight += s.InFlight
			st.Orphans += s.Orphans
			if s.Silent {
				st.Silent++
			}
		case slices.Contains(p.shards.surplus, c):
			s.State = ConnSurplus
		default:
			s.State = ConnDraining
		}
		st.Conns = append(st.Conns, s)
	}
	slices.SortStableFunc(st.Conns, func(a, b ConnStats) int { return a.Shard - b.Shard })
	return st
}

// statsState returns the state for NodeStats. Callers hold p.mu.
func (p *pool) statsState() PoolState {
	switch {
	case p.state == poolStopped:
		return PoolClosed
	case p.state == poolGaveUp:
		return PoolGaveUp
	case !p.nextDial.IsZero():
		return PoolWaiting
	case p.state == poolFilling || len(p.open.Load().conns) == 0:
		return PoolConnecting
	}
	return PoolOpen
}

// forget removes a connection that has ended from the snapshot and keeps its latencies. Callers hold p.mu.
func (p *pool) forget(c *conn, err error) {
	i := slices.Index(p.live, c)
	if i < 0 {
		return // it was never installed
	}
	p.live = slices.Delete(p.live, i, i+1)
	p.ended.add(&c.latencies)
	p.lastEnd = ConnectionEnd{At: time.Now(), Cause: endCauseOf(err), Err: err}
}
