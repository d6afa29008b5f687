// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/stats"
)

// Connections of a pool to all shards of a ScyllaDB node (scylladb docs/dev/protocols.md, protocol-extensions.md). The
// first connection reports the number of shards. On the shard-aware port the client selects the shard by its local
// port. If that fails, because the port is not reachable, because a NAT changes local ports, or because none is free,
// the pool uses the plain port for a while. There the node selects the shard and prefers shards with few connections.
// Surplus connections stay open until all shards are reached or there are too many of them.

const (
	// portCoolDown is the first pause of the shard-aware port after a failure; it doubles up to the maximum.
	portCoolDown    = 5 * time.Minute
	portCoolDownMax = time.Hour
	// surplusPause is the pause after a round of connections over the plain port that did not reach all shards. It
	// doubles after each further round that reached no new shard.
	surplusPause    = time.Second
	surplusPauseMax = time.Minute
	// A round ends with surplusPerShard surplus connections a shard, but not before surplusLeast or after surplusMost.
	surplusPerShard, surplusLeast, surplusMost = 2, 8, 64
)

// shardAccess is the state of a pool's access to the shards of its node. pool.mu guards it.
type shardAccess struct {
	surplus   []*conn.Conn  // connections to shards that already had enough
	portAfter time.Time     // the shard-aware port is not used before this time
	coolDown  time.Duration // the last pause; 0 means none since the port worked
	portWrong bool          // the port led to another shard than the local port selects

	plainAfter time.Time // no surplus connection is opened before this time
	pause      time.Duration
}

// perShard returns the number of connections to each shard: size divided among the shards, at least one each.
func perShard(size int, shards int) int { return max(1, (size+shards-1)/shards) }

// missingShard returns a shard with too few connections, -1 if all have enough.
func (v *poolView) missingShard(size int) int32 {
	for shard, conns := range v.byShard {
		if len(conns) < perShard(size, len(v.byShard)) {
			return int32(shard)
		}
	}
	return -1
}

// stepShard is step for a node with shards. Callers hold p.mu.
func (p *pool) stepShard(to *dialTarget, v *poolView, now time.Time) (end bool, wait time.Duration) {
	shard := v.missingShard(p.cfg.size)
	if shard < 0 {
		p.drainSurplus()
		p.shards.pause = 0
		return true, 0
	}
	var port uint16
	if p.cfg.shardPort != nil {
		port = p.cfg.shardPort(v.conns[0])
	}
	if port != 0 && !now.Before(p.shards.portAfter) {
		to.port, to.shard, to.shards = port, shard, int32(len(v.byShard))
		return false, 0
	}
	if len(p.shards.surplus) >= min(max(surplusPerShard*len(v.byShard), surplusLeast), surplusMost) {
		p.drainSurplus()
		p.shards.pause = background.Double(p.shards.pause, surplusPause, surplusPauseMax)
		p.shards.plainAfter = now.Add(background.Jitter(p.shards.pause))
	}
	if now.Before(p.shards.plainAfter) {
		wait = p.shards.plainAfter.Sub(now)
		if port != 0 {
			wait = min(wait, p.shards.portAfter.Sub(now))
		}
	}
	return false, wait
}

// wanted reports whether a new connection has a place among conns. It also records from the connection's shard whether
// the port works. Callers hold p.mu.
func (p *pool) wanted(c *conn.Conn, to dialTarget, conns []*conn.Conn) bool {
	f := &c.Features
	if f.Shards == 0 {
		return true
	}
	switch now := time.Now(); {
	case to.port != 0 && (f.Shard != to.shard || f.Shards != to.shards):
		if f.Shards == to.shards { // otherwise the node was restarted: the port may be right
			p.shards.portWrong = true
			p.avoidPort(now)
			p.note(slog.LevelInfo, "shard-aware port leads to another shard than the local port selects; using the plain port for a while",
				"node", c.Addr(), "shard", f.Shard, "want", to.shard, "while", p.shards.coolDown)
		}
	case to.port != 0:
		p.shards.coolDown, p.shards.portWrong = 0, false
	case len(conns) == 0 && !p.shards.portWrong:
		p.shards.portAfter = time.Time{} // the node is back: its outage may have caused the port's failure
	}
	have := 0
	for _, other := range conns {
		if other.Features.Shard == f.Shard {
			have++
		}
	}
	if have >= perShard(p.cfg.size, int(f.Shards)) {
		return false
	}
	p.shards.pause = 0
	return true
}

// portFailed handles a failed dial of the shard-aware port. Callers hold p.mu.
func (p *pool) portFailed(now time.Time, err error) {
	p.avoidPort(now)
	p.note(slog.LevelInfo, "shard-aware port does not work; using the plain port for a while", "node", p.addr, "while",
		p.shards.coolDown, "err", err)
}

func (p *pool) avoidPort(now time.Time) {
	p.shards.coolDown = background.Double(p.shards.coolDown, portCoolDown, portCoolDownMax)
	p.shards.portAfter = now.Add(p.shards.coolDown)
}

// resetPorts resets the state of the ports after the node has moved. Callers hold p.mu.
func (p *pool) resetPorts() {
	p.shards = shardAccess{surplus: p.shards.surplus}
}

// drainSurplus drains the surplus connections. Callers hold p.mu.
func (p *pool) drainSurplus() {
	for _, c := range p.shards.surplus {
		p.drainConn(c, stats.EndSurplus)
	}
	p.shards.surplus = nil
}

// portRange is a range of local ports.
type portRange struct{ first, last uint16 }

// errPortsTaken means that no local port that selects a shard is free.
var errPortsTaken = errors.New("no local port is free")

// dialShard calls dial with local ports that select a shard, starting at a random one, until one is free.
func dialShard(
	ctx context.Context, ports portRange, shard, shards int32, dial func(ctx context.Context, port int) (net.Conn, error),
) (net.Conn, error) {
	first := int(ports.first) + (int(shard)-int(ports.first)%int(shards)+int(shards))%int(shards)
	if first > int(ports.last) {
		return nil, errtext.Errorf("%w: none from %d to %d selects shard %d of %d", errPortsTaken, ports.first, ports.last, shard,
			shards)
	}
	n := (int(ports.last)-first)/int(shards) + 1
	start := rand.IntN(n)
	var err error
	for i := range n {
		var sock net.Conn
		if sock, err = dial(ctx, first+(start+i)%n*int(shards)); err == nil {
			return sock, nil
		}
		if !portTaken(err) || ctx.Err() != nil {
			return nil, err
		}
	}
	return nil, errtext.Errorf("%w from %d to %d for shard %d of %d: %w", errPortsTaken, ports.first, ports.last, shard,
		shards, err)
}

// portTaken reports whether a dial failed because of its local port.
func portTaken(err error) bool {
	var code syscall.Errno
	return errors.As(err, &code) && slices.Contains(takenCodes(runtime.GOOS), code)
}

// takenCodes returns the errors of a local port that cannot be used.
func takenCodes(goos string) []syscall.Errno {
	if goos == "windows" {
		return []syscall.Errno{10048, 10049} // WSAEADDRINUSE, WSAEADDRNOTAVAIL
	}
	return []syscall.Errno{syscall.EADDRINUSE, syscall.EADDRNOTAVAIL}
}
