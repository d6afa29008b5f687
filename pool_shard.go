// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"runtime"
	"syscall"
	"time"
)

// This file gets a pool the connections to all shards of a ScyllaDB node (scylladb docs/dev/protocols.md, protocol-extensions.md). The
// first connection tells how many there are. On the shard-aware port the client chooses the shard by its local port. Where that does not
// work, because the port is not reachable, a translation of addresses on the way changes local ports, or none is free, the plain port is
// used for a while: there the node chooses. It prefers shards with few connections, so those that are not needed are kept until all
// shards are reached, or there are too many of them.

const (
	// portCoolDown is how long the shard-aware port of a node is left alone after it did not work, twice as long each time up to the
	// maximum.
	portCoolDown    = 5 * time.Minute
	portCoolDownMax = time.Hour
	// excessPause is the wait after a round of connections over the plain port that did not reach all shards, twice as long after each
	// further one that reached none.
	excessPause    = time.Second
	excessPauseMax = time.Minute
)

// shardFill is what a pool remembers of its ways to the shards of its node. pool.mu guards it.
type shardFill struct {
	excess    []*conn       // connections to shards that had enough
	portAfter time.Time     // before it the shard-aware port is not used
	coolDown  time.Duration // the last one, 0: there was none since it worked
	portWrong bool          // it gave another shard than that of the local port

	plainAfter time.Time // before it no excess connections are opened
	pause      time.Duration
}

// perShard returns the connections to each shard: size is meant for the node, and every shard gets one.
func perShard(size int, shards int) int { return max(1, (size+shards-1)/shards) }

// missingShard returns a shard with too few connections, -1 when all have enough.
func (v *poolView) missingShard(size int) int32 {
	for shard, conns := range v.byShard {
		if len(conns) < perShard(size, len(v.byShard)) {
			return int32(shard)
		}
	}
	return -1
}

// stepShard is step for a node with shards. p.mu is held.
func (p *pool) stepShard(to *dialTarget, v *poolView, now time.Time) (end bool, wait time.Duration) {
	shard := v.missingShard(p.cfg.size)
	if shard < 0 {
		p.retireExcess()
		p.pause = 0
		return true, 0
	}
	var port uint16
	if p.cfg.shardPort != nil {
		port = p.cfg.shardPort(&v.conns[0].features)
	}
	if port != 0 && !now.Before(p.portAfter) {
		to.port, to.shard, to.shards = port, shard, int32(len(v.byShard))
		return false, 0
	}
	if len(p.excess) >= max(2*len(v.byShard), 8) {
		p.retireExcess()
		p.pause = min(max(2*p.pause, excessPause), excessPauseMax)
		p.plainAfter = now.Add(jittered(p.pause))
	}
	if now.Before(p.plainAfter) {
		wait = p.plainAfter.Sub(now)
		if port != 0 {
			wait = min(wait, p.portAfter.Sub(now))
		}
	}
	return false, wait
}

// wanted reports whether a new connection has a place among conns, and learns from its shard how well the ways work. p.mu is held.
func (p *pool) wanted(c *conn, to dialTarget, conns []*conn) bool {
	f := &c.features
	if f.shards == 0 {
		return true
	}
	switch now := time.Now(); {
	case to.port != 0 && (f.shard != to.shard || f.shards != to.shards):
		if f.shards == to.shards { // else the node was restarted, which says nothing of its ports
			p.portWrong = true
			p.avoidPort(now)
			p.note(slog.LevelInfo, "shard-aware port gives another shard than that of the local port; using the plain port for a while",
				"addr", c.addr(), "shard", f.shard, "want", to.shard, "while", p.coolDown)
		}
	case to.port != 0:
		p.coolDown, p.portWrong = 0, false
	case len(conns) == 0 && !p.portWrong:
		p.portAfter = time.Time{} // the node is back: whatever the port's trouble was, it may have been the node's
	}
	have := 0
	for _, other := range conns {
		if other.features.shard == f.shard {
			have++
		}
	}
	if have >= perShard(p.cfg.size, int(f.shards)) {
		return false
	}
	p.pause = 0
	return true
}

// portFailed notes that the shard-aware port could not be dialled. p.mu is held.
func (p *pool) portFailed(now time.Time, err error) {
	p.avoidPort(now)
	p.note(slog.LevelInfo, "shard-aware port does not work; using the plain port for a while", "addr", p.addr, "while", p.coolDown, "err", err)
}

func (p *pool) avoidPort(now time.Time) {
	p.coolDown = min(max(2*p.coolDown, portCoolDown), portCoolDownMax)
	p.portAfter = now.Add(p.coolDown)
}

// resetPorts forgets what was learnt of the ways to the shards: the node has moved. p.mu is held.
func (p *pool) resetPorts() {
	p.portAfter, p.coolDown, p.portWrong, p.plainAfter, p.pause = time.Time{}, 0, false, time.Time{}, 0
}

// retireExcess closes the connections that were not needed. p.mu is held.
func (p *pool) retireExcess() {
	for _, c := range p.excess {
		p.retireConn(c)
	}
	p.excess = nil
}

// portRange is a range of local ports.
type portRange struct{ first, last uint16 }

// errPortsTaken says that no local port that selects a shard is free.
var errPortsTaken = errors.New("no local port is free")

// dialShard calls dial with local ports that select a shard, from a random one on, until one of them is free.
func dialShard(
	ctx context.Context, ports portRange, shard, shards int32, dial func(ctx context.Context, port int) (net.Conn, error),
) (net.Conn, error) {
	first := int(ports.first) + (int(shard)-int(ports.first)%int(shards)+int(shards))%int(shards)
	if first > int(ports.last) {
		return nil, fmt.Errorf("%w: none from %d to %d selects shard %d of %d", errPortsTaken, ports.first, ports.last, shard, shards)
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
	return nil, fmt.Errorf("%w from %d to %d for shard %d of %d: %w", errPortsTaken, ports.first, ports.last, shard, shards, err)
}

// portTaken reports whether a dial failed because of its local port.
func portTaken(err error) bool {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return false
	}
	if runtime.GOOS == "windows" {
		const addressInUse, addressNotAvailable = 10048, 10049 // WSAEADDRINUSE, WSAEADDRNOTAVAIL
		return code == addressInUse || code == addressNotAvailable
	}
	return code == syscall.EADDRINUSE || code == syscall.EADDRNOTAVAIL
}
