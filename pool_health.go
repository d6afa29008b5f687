// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"log/slog"
	"slices"
	"time"

	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/stats"
)

// Connections of a pool that do not serve: silent ones, those with too many orphans, and those that end soon after they
// were opened.

// After shortLivedForget without another short-lived connection the backoff starts over.
const shortLivedForget = time.Minute

// worthDial is the number of answers from which a connection is not short-lived.
const worthDial = 20

// isSilent reports whether pickShard returns a silent connection. A pool without connections is not silent: an attempt
// there fails at once.
func (p *pool) isSilent(shard int32) bool {
	c := p.pickShard(shard)
	return c != nil && c.Silent.Load()
}

// lags reports whether a connection for a shard lags; -1 means any shard. Silent connections do not count.
func (p *pool) lags(shard int32, now time.Time) bool {
	v := p.open.Load()
	conns := v.conns
	if uint32(shard) < uint32(len(v.byShard)) {
		conns = v.byShard[shard]
	}
	for _, c := range conns {
		if c.Lags(now) && !c.Silent.Load() {
			return true
		}
	}
	return false
}

// silenceChanged handles a connection that has become silent, or is no longer. It makes the other connections of the
// node prove that they are not.
func (p *pool) silenceChanged(c *conn.Conn) {
	p.mu.Lock()
	old := p.open.Load()
	v := newPoolView(old.conns)
	p.open.Store(v)
	switch {
	case old.silent == 0 && v.silent > 0:
		p.note(slog.LevelWarn, "node is silent", "node", c.Addr(), "connections", v.silent, "of", len(v.conns))
	case old.silent > 0 && v.silent == 0:
		p.note(slog.LevelInfo, "node answers again", "node", c.Addr())
	}
	p.unlock()
	if p.cfg.changed != nil {
		p.cfg.changed()
	}
	if c.Silent.Load() {
		for _, other := range v.conns {
			other.Suspect()
		}
	}
}

// serves reports whether a connection takes requests and is not silent.
func (p *pool) serves() bool {
	return slices.ContainsFunc(p.open.Load().conns, func(c *conn.Conn) bool { return !c.Refuses() && !c.Silent.Load() })
}

// without returns the open connections except c.
func (p *pool) without(c *conn.Conn) []*conn.Conn {
	return slices.DeleteFunc(slices.Clone(p.open.Load().conns), func(other *conn.Conn) bool { return other == c })
}

// replace opens a successor of a connection with too many orphans, and then drains the connection. A pool replaces one
// connection at a time, so that an overloaded node does not lose all of them at once.
func (p *pool) replace(c *conn.Conn) {
	p.mu.Lock()
	begin := p.worn == nil && p.state < poolGaveUp && slices.Contains(p.open.Load().conns, c)
	if begin {
		p.worn = c
		p.note(slog.LevelInfo, "replacing a connection with requests that were never answered", "node", c.Addr(), "orphans",
			c.Orphans.Load())
	}
	p.unlock()
	if begin {
		p.refill()
	}
}

// shortLived delays the next dial if a lost connection was short-lived. left is the number of connections that are
// left. A connection that has answered many requests was worth its dial, even if the next one breaks as soon. A
// connection lost together with one already counted does not count. Callers hold p.mu.
func (p *pool) shortLived(c *conn.Conn, left int) {
	now := time.Now()
	if now.Sub(c.Born) >= reconnectMax || c.Overload.Answers.Load() >= worthDial || !c.Born.After(p.backoff.Last()) {
		return
	}
	first := now.Sub(p.backoff.Last()) > shortLivedForget
	if p.backoff.Fail(now); first && left > 0 { // one bad frame costs one connection
		p.backoff.Forgive()
	}
}

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
