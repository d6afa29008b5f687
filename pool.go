// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// This file holds the connections to one node. Requests pick from an immutable view; while connections are missing, one goroutine dials
// them, one at a time, and it ends as soon as none is missing. A pool belongs to a node, not to an address: when the node moves, the pool
// dials the new address, and the connections to the old one serve until there is one to the new. pool_shard.go has what is ScyllaDB's.

// Reconnection waits this long after the first failure, twice as long after each further one up to the maximum.
const (
	reconnectMin = 100 * time.Millisecond
	reconnectMax = 5 * time.Second
)

// youngForget is after how long without another one connections that did not last are forgotten.
const youngForget = time.Minute

// dialTarget is where a connection shall go.
type dialTarget struct {
	addr   string // of the node
	port   uint16 // the shard-aware port to dial in place of that in addr; 0: none
	shard  int32  // to reach through port
	shards int32
}

// dialFunc opens one ready connection: dialled, authenticated, its keyspace in use. closed is called once when it has ended.
type dialFunc func(ctx context.Context, to dialTarget, closed func(c *conn, err error)) (*conn, error)

type poolConfig struct {
	size      int // connections to a node; see perShard for one with shards
	dial      dialFunc
	shardPort func(f *features) uint16 // of a node's shard-aware port; 0: none, or not to be used; nil: the same
	policy    ReconnectionPolicy
	changed   func()        // called after a connection came or went; nil: nobody is told
	drain     time.Duration // how long the calls of a connection that is replaced may take
	log       *slog.Logger
}

type pool struct {
	cfg    poolConfig
	ctx    context.Context // ends dialling; cancelled by close
	cancel context.CancelFunc
	open   atomic.Pointer[poolView]
	next   atomic.Uint32
	wake   chan struct{} // ends a wait between two attempts
	tried  chan struct{} // closed when the first attempt has an outcome

	mu      sync.Mutex
	addr    string
	filling bool
	stopped bool
	gaveUp  bool               // after the policy's last retry; an event or a new view starts over
	trouble bool               // the last attempt failed, and it was logged
	abandon context.CancelFunc // ends the attempt under way, nil when there is none
	err     error              // why there is no connection, nil after a success
	notes   []poolNote         // to be logged when mu is free
	shardFill
	young      int       // times that connections ended soon after they were opened
	notBefore  time.Time // no attempt before, because of them
	lastPunish time.Time

	filler   sync.WaitGroup // the filling goroutine
	retiring sync.WaitGroup // connections that are drained
	retire   context.Context
	hurry    context.CancelFunc // ends retire
}

// poolView is what requests see of a pool. All its connections go to one address, and agree on the node's shards.
type poolView struct {
	conns   []*conn
	byShard [][]*conn // nil: a node without shards, or no connection
}

func newPoolView(conns []*conn) *poolView {
	v := &poolView{conns: conns}
	if len(conns) > 0 && conns[0].features.shards > 0 {
		v.byShard = make([][]*conn, conns[0].features.shards)
		for _, c := range conns {
			v.byShard[c.features.shard] = append(v.byShard[c.features.shard], c)
		}
	}
	return v
}

// newPool returns the pool of a node at addr. It dials nothing before refill.
func newPool(ctx context.Context, addr string, cfg poolConfig) *pool {
	p := &pool{cfg: cfg, addr: addr, wake: make(chan struct{}, 1), tried: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(ctx)
	p.retire, p.hurry = context.WithCancel(context.Background())
	p.open.Store(&poolView{})
	return p
}

// pick returns a connection that takes requests, the less busy of the next two; nil when there is none.
func (p *pool) pick() *conn { return p.lessBusy(p.open.Load().conns) }

// pickShard is pick among the connections to a shard, and among all where that has none. A negative shard is not known.
func (p *pool) pickShard(shard int32) *conn {
	v := p.open.Load()
	if uint32(shard) < uint32(len(v.byShard)) { // it may be that of a tablet, from before the node had fewer
		if c := p.lessBusy(v.byShard[shard]); c != nil {
			return c
		}
	}
	return p.lessBusy(v.conns)
}

func (p *pool) lessBusy(conns []*conn) *conn {
	if len(conns) == 1 {
		if c := conns[0]; !c.refuses() {
			return c
		}
		return nil
	}
	var best *conn
	start := p.next.Add(1)
	for i, seen := uint32(0), 0; i < uint32(len(conns)) && seen < 2; i++ {
		c := conns[(start+i)%uint32(len(conns))]
		if c.refuses() { // it is ending and will be replaced
			continue
		}
		if seen++; best == nil || c.inFlight() < best.inFlight() {
			best = c
		}
	}
	return best
}

// shardOf returns the shard of the node that owns tok, -1 when it has no shards or is not connected.
func (p *pool) shardOf(tok int64) int32 {
	if v := p.open.Load(); len(v.conns) > 0 {
		return v.conns[0].features.shardOf(tok)
	}
	return -1
}

// isUp reports whether there is a connection that takes requests.
func (p *pool) isUp() bool {
	return slices.ContainsFunc(p.open.Load().conns, func(c *conn) bool { return !c.refuses() })
}

// lastError returns why there is no connection.
func (p *pool) lastError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// poolNote is a record for the log. The logger may be a user's code, which never runs under a lock.
type poolNote struct {
	level   slog.Level
	message string
	args    []any
}

// note logs a record when mu is unlocked by unlock. p.mu is held.
func (p *pool) note(level slog.Level, message string, args ...any) {
	p.notes = append(p.notes, poolNote{level, message, args})
}

// unlock unlocks mu and logs what was noted under it.
func (p *pool) unlock() {
	notes := p.notes
	p.notes = nil
	p.mu.Unlock()
	for _, n := range notes {
		p.cfg.log.Log(p.ctx, n.level, n.message, n.args...)
	}
}

// refill starts the filling goroutine unless it runs.
func (p *pool) refill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.filling || p.stopped {
		return
	}
	p.filling, p.gaveUp = true, false
	p.filler.Add(1)
	go p.fill()
}

// retryNow ends the wait before the next attempt: the node is said to be up.
func (p *pool) retryNow() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
	p.revive()
}

// revive lets a pool try again that had given up.
func (p *pool) revive() {
	p.mu.Lock()
	gaveUp := p.gaveUp
	p.mu.Unlock()
	if gaveUp {
		p.refill()
	}
}

// move gives the node another address. It does nothing when it is the one the pool has.
func (p *pool) move(addr string) {
	p.mu.Lock()
	if p.addr == addr {
		p.mu.Unlock()
		return
	}
	p.note(slog.LevelInfo, "node has another address", "from", p.addr, "to", addr)
	p.addr = addr
	p.resetPorts()
	if p.abandon != nil {
		p.abandon()
	}
	p.unlock()
	p.refill()
	p.retryNow()
}

// step says what the filling goroutine does next: dial, or wait, or end, because nothing is missing or the pool is stopped.
func (p *pool) step(now time.Time) (to dialTarget, wait time.Duration, end bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to = dialTarget{addr: p.addr}
	v := p.open.Load()
	switch {
	case p.stopped || p.ctx.Err() != nil:
		end = true
	case now.Before(p.notBefore):
		wait = p.notBefore.Sub(now)
	case len(v.conns) == 0 || v.conns[0].addr() != p.addr:
	case v.byShard == nil:
		end = len(v.conns) >= p.cfg.size
	default:
		end, wait = p.stepShard(&to, v, now)
	}
	if end {
		p.filling = false
	}
	return to, wait, end
}

// fill is the filling goroutine.
func (p *pool) fill() {
	defer p.filler.Done()
	failures := 0
	for {
		to, wait, end := p.step(time.Now())
		if end {
			return
		}
		if wait > 0 {
			p.sleep(wait)
			continue
		}
		select {
		case <-p.wake: // what it told is not news any more
		default:
		}
		err := p.add(to)
		next := p.settle(to, err, failures+1)
		select {
		case <-p.tried:
		default:
			close(p.tried) // who waits for it asks for lastError
		}
		if next {
			failures = 0
			continue
		}
		failures++
		if !p.backOff(err, &failures) {
			return
		}
	}
}

// settle notes the outcome of an attempt, the attempts-th in a row, and reports whether the next may follow at once.
func (p *pool) settle(to dialTarget, err error, attempts int) bool {
	p.mu.Lock()
	defer p.unlock()
	moved := p.addr != to.addr || p.ctx.Err() != nil // nobody wants to know any more
	if err == nil || moved {
		if err == nil && p.trouble {
			p.trouble = false
			p.note(slog.LevelInfo, "node reached again", "addr", to.addr, "attempts", attempts)
		}
		return true
	}
	if to.port != 0 {
		p.portFailed(time.Now(), err)
		return true // the plain port is next
	}
	if p.err = err; !p.trouble { // one line per change of state, not per attempt
		p.trouble = true
		p.note(slog.LevelWarn, "node not reached", "addr", to.addr, "err", err)
	}
	return false
}

// backOff waits after failures attempts in a row that failed, and reports whether there is to be another one. An event that the node is up
// starts the count over.
func (p *pool) backOff(err error, failures *int) bool {
	wait, again := reconnectWait(p.cfg.policy, *failures-1)
	if !again {
		p.mu.Lock()
		p.filling, p.gaveUp = false, true
		p.retireExcess()
		p.mu.Unlock()
		return false
	}
	var login *loginError
	if errors.As(err, &login) {
		// Events are no reason to hurry: they say nothing of passwords.
		sleep(p.ctx, jittered(max(wait, loginWait(*failures-1))))
		return true
	}
	if p.sleep(jittered(wait)) {
		*failures = 0
		sleep(p.ctx, jittered(min(wait, reconnectMin))) // events may come in storms
	}
	return true
}

// sleep waits for d, and reports whether it was woken before.
func (p *pool) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.wake:
		return true
	case <-p.ctx.Done():
	}
	return false
}

// add dials one connection.
func (p *pool) add(to dialTarget) error {
	p.mu.Lock()
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	p.abandon = cancel
	if p.addr != to.addr {
		cancel()
	}
	p.mu.Unlock()
	c, err := p.cfg.dial(ctx, to, p.remove)
	p.mu.Lock()
	p.abandon = nil
	switch {
	case err != nil:
	case p.stopped:
		err = ErrSessionClosed
	case p.addr != to.addr:
		err = errors.New("the node has another address now")
	case c.closed(): // it ended before it was listed: remove found nothing
		err = ErrConnectionClosed
	default:
		p.adopt(c, to)
		p.err = nil
	}
	p.unlock()
	if err != nil && c != nil {
		c.close(err)
		_ = c.drain(p.ctx) // there are no calls on it
	}
	if err == nil && p.cfg.changed != nil {
		p.cfg.changed()
	}
	return err
}

// adopt takes a new connection in. It tells how the node is now: connections to what it was before, at another address or with other
// shards, are drained. p.mu is held.
func (p *pool) adopt(c *conn, to dialTarget) {
	v := p.open.Load()
	var keep []*conn
	for _, old := range v.conns {
		if old.addr() == c.addr() && old.features.sameSharding(&c.features) {
			keep = append(keep, old)
		} else {
			p.retireConn(old)
		}
	}
	resharded := len(v.conns) > 0 && len(keep) == 0 && v.conns[0].addr() == c.addr()
	if resharded {
		p.note(slog.LevelInfo, "node has other shards", "addr", c.addr(), "from", v.conns[0].features.shards, "to", c.features.shards)
		p.punish(time.Now()) // a node that says something else each time must not be dialled in a loop
	}
	if len(v.conns) == 0 || len(keep) == 0 {
		p.retireExcess()
	}
	if !p.wanted(c, to, keep) {
		p.excess = append(p.excess, c)
	} else {
		keep = append(keep, c)
	}
	p.open.Store(newPoolView(keep))
}

// remove takes a connection that has ended out of the pool and dials another one. It looks for that very connection: there may be others
// to its shard.
func (p *pool) remove(c *conn, err error) {
	p.mu.Lock()
	is := func(other *conn) bool { return other == c }
	p.excess = slices.DeleteFunc(p.excess, is)
	v := p.open.Load()
	found := slices.ContainsFunc(v.conns, is)
	left := len(v.conns)
	if found {
		rest := slices.DeleteFunc(slices.Clone(v.conns), is)
		if i := slices.IndexFunc(p.excess, func(e *conn) bool { return e.features.shard == c.features.shard }); i >= 0 {
			rest = append(rest, p.excess[i]) // it was kept for another reason, but here it is
			p.excess = slices.Delete(p.excess, i, i+1)
		}
		p.open.Store(newPoolView(rest))
		left = len(rest)
		now := time.Now()
		// One that was lost together with one that was counted does not count, nor one that the driver ended.
		if now.Sub(c.born) < reconnectMax && c.born.After(p.lastPunish) && !errors.Is(err, errOrphans) {
			p.punish(now)
		}
	}
	stopped := p.stopped
	switch {
	case !found || stopped:
	case left > 0:
		p.note(slog.LevelDebug, "connection lost", "addr", c.addr(), "open", left, "err", err)
	default:
		p.err = err
		p.note(slog.LevelInfo, "node lost", "addr", c.addr(), "err", err)
	}
	p.unlock()
	if found && p.cfg.changed != nil {
		p.cfg.changed()
	}
	if !found || stopped {
		return
	}
	p.refill()
	if left == 0 {
		select { // a wait for better times ends with them
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// punish puts off the next attempt after a connection that did not last: a node that accepts connections and drops them is not to be
// dialled in a loop. p.mu is held.
func (p *pool) punish(now time.Time) {
	if now.Sub(p.lastPunish) > youngForget {
		p.young = 0
	}
	p.young++
	p.lastPunish = now
	p.notBefore = now.Add(jittered(ExponentialReconnectionPolicy{}.GetInterval(p.young - 1)))
}

// retireConn drains a connection that is not in the view any more. Only the filling goroutine calls it. p.mu is held.
func (p *pool) retireConn(c *conn) {
	p.retiring.Go(func() {
		ctx, cancel := context.WithTimeout(p.retire, p.cfg.drain)
		defer cancel()
		_ = c.drain(ctx)
	})
}

// close ends dialling, lets calls under way end as long as ctx allows, and closes all connections. Nothing of the pool is left then.
func (p *pool) close(ctx context.Context) error {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.cancel()
	filled := awaitAll(ctx, &p.filler)
	p.mu.Lock()
	conns := append(slices.Clone(p.open.Load().conns), p.excess...)
	p.open.Store(&poolView{})
	p.excess = nil
	p.mu.Unlock()
	defer context.AfterFunc(ctx, p.hurry)()
	errs := make([]error, len(conns))
	for i, c := range conns {
		p.retiring.Go(func() { errs[i] = c.drain(ctx) })
	}
	p.retiring.Wait()
	p.hurry()
	return errors.Join(append(errs, filled)...)
}

// awaitAll waits for goroutines that may be in the program's code, which may not return, or may be what waits here.
func awaitAll(ctx context.Context, g *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		g.Wait()
		close(done)
	}()
	return awaitEnd(ctx, done)
}
