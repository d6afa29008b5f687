// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"slices"
	"time"

	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/stats"
)

// A snapshot of a pool.

// stats returns a snapshot without the node.
func (p *pool) stats() stats.Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := stats.Node{
		State: p.statsState(), NextDial: p.nextDial, LastError: p.err, LastEnd: p.lastEnd, Latency: p.ended.Clone(),
	}
	open := p.open.Load().conns
	for _, c := range p.live {
		st.Latency.Add(&c.Latencies)
		s := c.Stats()
		switch {
		case slices.Contains(open, c):
			st.Connections++
			st.InFlight += s.InFlight
			st.Orphans += s.Orphans
			if s.Silent {
				st.Silent++
			}
		case slices.Contains(p.shards.surplus, c):
			s.State = stats.ConnSurplus
		default:
			s.State = stats.ConnDraining
		}
		st.Conns = append(st.Conns, s)
	}
	slices.SortStableFunc(st.Conns, func(a, b stats.Conn) int { return a.Shard - b.Shard })
	return st
}

// statsState returns the state for stats.Node. Callers hold p.mu.
func (p *pool) statsState() stats.PoolState {
	switch {
	case p.state == poolStopped:
		return stats.PoolClosed
	case p.state == poolGaveUp:
		return stats.PoolGaveUp
	case !p.nextDial.IsZero():
		return stats.PoolWaiting
	case p.state == poolFilling || len(p.open.Load().conns) == 0:
		return stats.PoolConnecting
	}
	return stats.PoolOpen
}

// forget removes a connection that has ended from the snapshot and keeps its latencies. Callers hold p.mu.
func (p *pool) forget(c *conn.Conn, err error) {
	i := slices.Index(p.live, c)
	if i < 0 {
		return // it was never installed
	}
	p.live = slices.Delete(p.live, i, i+1)
	p.ended.Add(&c.Latencies)
	p.lastEnd = stats.End{At: time.Now(), Cause: conn.EndCauseOf(err), Err: err}
}
