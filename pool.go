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

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/stats"
)

// A pool: the connections to one node. Requests pick from an immutable view. While connections are missing, one
// goroutine dials them, one at a time; it ends when none is missing. A pool belongs to a node, not to an address: after
// the node has moved, the pool dials the new address, and the connections to the old one serve requests until there is
// a new one. pool_shard.go contains the ScyllaDB parts.

// Bounds of the exponential backoff of reconnection.
const (
	reconnectMin = 100 * time.Millisecond
	reconnectMax = 5 * time.Second
)

// dialTarget is the target of a dial.
type dialTarget struct {
	addr   string  // of the node
	ids    hostIDs // of its server
	port   uint16  // the shard-aware port to dial in place of that in addr; 0 means none
	shard  int32   // the shard to reach through port
	shards int32
}

// hostIDs are the host ids by which a server is known as the node of a pool.
type hostIDs struct {
	now    cql.UUID // zero means any
	before cql.UUID // until a new connection is answered with now: the id that the node had; zero means none
}

// dialFunc opens one ready connection: dialed, authenticated, verified, with its keyspace set.
type dialFunc func(ctx context.Context, to dialTarget, hooks conn.Hooks) (*conn.Conn, error)

// poolConfig configures a pool.
type poolConfig struct {
	host cql.UUID // host id of the node before the first rename
	size int      // connections to a node; see perShard for one with shards
	dial dialFunc
	// returns the shard-aware port of a connection's node; 0 means none; nil means that no node has one
	shardPort    func(c *conn.Conn) uint16
	policy       ReconnectionPolicy
	changed      func()        // called after a connection was added, removed, or its silence has changed; nil means none
	drainTimeout time.Duration // limit for the calls of a replaced connection
	log          *slog.Logger
}

// pool holds the connections to one node and replaces those that end.
type pool struct {
	cfg       poolConfig
	ctx       context.Context // for dialing; canceled by close
	cancel    context.CancelFunc
	open      atomic.Pointer[poolView]
	next      atomic.Uint32
	wake      chan struct{} // ends a wait between two attempts
	firstDone chan struct{} // closed when the first attempt has an outcome

	mu      sync.Mutex
	addr    string
	ids     hostIDs
	state   poolState
	failing bool               // the last attempt failed and was logged
	lost    bool               // the end of the last connection was logged, and there is no other since
	abandon context.CancelFunc // cancels the attempt in progress; nil means none
	err     error              // error of the last attempt, nil after a success
	// when a missing connection is dialed; zero means that the pool does not wait
	nextDial time.Time
	live     []*conn.Conn    // installed and not ended: open, surplus and draining ones
	ended    stats.Histogram // of the connections that have ended
	lastEnd  stats.End
	notes    []poolNote // to log after mu is unlocked
	worn     *conn.Conn // to drain once its successor is open; nil means none
	shards   shardAccess
	backoff  background.Backoff // after short-lived connections

	filler     sync.WaitGroup // the filling goroutine
	draining   sync.WaitGroup // the goroutines that drain connections
	drainCtx   context.Context
	forceClose context.CancelFunc // cancels drainCtx
}

// poolState is the state of a pool's dialing.
type poolState int

const (
	poolIdle    poolState = iota // no connection is missing, or refill was not called yet
	poolFilling                  // the filling goroutine runs
	poolGaveUp                   // the policy allows no further retry; an event or a new view starts over
	poolStopped                  // close was called
)

// poolView is the snapshot of a pool that requests read. All its connections go to one address and agree on the node's
// shards.
type poolView struct {
	conns   []*conn.Conn
	byShard [][]*conn.Conn // nil means a node without shards, or no connection
	silent  int            // number of silent connections
}

func newPoolView(conns []*conn.Conn) *poolView {
	v := &poolView{conns: conns}
	for _, c := range conns {
		if c.Silent.Load() {
			v.silent++
		}
	}
	if len(conns) > 0 && conns[0].Features.Shards > 0 {
		v.byShard = make([][]*conn.Conn, conns[0].Features.Shards)
		for _, c := range conns {
			v.byShard[c.Features.Shard] = append(v.byShard[c.Features.Shard], c)
		}
	}
	return v
}

// newPool returns the pool of a node at addr. The pool does not dial before refill.
func newPool(ctx context.Context, addr string, cfg poolConfig) *pool {
	p := &pool{cfg: cfg, addr: addr, wake: make(chan struct{}, 1), firstDone: make(chan struct{})}
	p.ids.now = cfg.host
	p.backoff = background.Backoff{First: reconnectMin, Most: reconnectMax, Forget: shortLivedForget}
	p.ctx, p.cancel = context.WithCancel(ctx)
	p.drainCtx, p.forceClose = context.WithCancel(context.Background())
	p.open.Store(&poolView{})
	return p
}

// pick returns a connection that takes requests, the less busy of the next two that are not silent; nil means none.
func (p *pool) pick() *conn.Conn { return p.lessBusy(p.open.Load().conns) }

// pickShard is pick among the connections to a shard, and among all if that shard has none. A negative shard is
// unknown.
func (p *pool) pickShard(shard int32) *conn.Conn {
	v := p.open.Load()
	if uint32(shard) < uint32(len(v.byShard)) { // a tablet may name a shard that the node no longer has
		if c := p.lessBusy(v.byShard[shard]); c != nil {
			return c
		}
	}
	return p.lessBusy(v.conns)
}

// lessBusy returns a connection that accepts calls, nil if there is none. Of several it compares the next two in turn
// and returns that with fewer calls in flight ("power of two choices"), which spreads load without looking at all of
// them.
func (p *pool) lessBusy(conns []*conn.Conn) *conn.Conn {
	if len(conns) == 1 {
		if c := conns[0]; !c.Refuses() {
			return c
		}
		return nil
	}
	var best, silent *conn.Conn
	start := p.next.Add(1)
	for i, seen := uint32(0), 0; i < uint32(len(conns)) && seen < 2; i++ {
		c := conns[(start+i)%uint32(len(conns))]
		if c.Refuses() { // it is closing and will be replaced
			continue
		}
		if c.Silent.Load() {
			silent = c
			continue
		}
		if seen++; best == nil || c.InFlight() < best.InFlight() {
			best = c
		}
	}
	if best == nil {
		return silent
	}
	return best
}

// shardOf returns the shard of tok on the node, -1 if the node has no shards or no connection.
func (p *pool) shardOf(tok int64) int32 {
	if v := p.open.Load(); len(v.conns) > 0 {
		return v.conns[0].Features.ShardOf(tok)
	}
	return -1
}

// isUp reports whether a connection takes requests.
func (p *pool) isUp() bool {
	return slices.ContainsFunc(p.open.Load().conns, func(c *conn.Conn) bool { return !c.Refuses() })
}

// lastError returns the error of the last attempt to connect, nil after a success.
func (p *pool) lastError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// poolNote is a log record. The log handler may be a user's code, which never runs under a lock.
type poolNote struct {
	level   slog.Level
	message string
	args    []any
}

// note adds a record for unlock to log. Callers hold p.mu.
func (p *pool) note(level slog.Level, message string, args ...any) {
	p.notes = append(p.notes, poolNote{level, message, append([]any{"host_id", p.ids.now}, args...)})
}

// unlock unlocks p.mu and logs the records added under it.
func (p *pool) unlock() {
	notes := p.notes
	p.notes = nil
	p.mu.Unlock()
	for _, n := range notes {
		p.cfg.log.Log(p.ctx, n.level, n.message, n.args...)
	}
}

// refill starts the filling goroutine unless it is running.
func (p *pool) refill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == poolFilling || p.state == poolStopped {
		return
	}
	p.state = poolFilling
	p.filler.Add(1)
	go p.fill()
}

// retryNow ends the wait before the next attempt. It is called after an UP event of the node.
func (p *pool) retryNow() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
	p.revive()
}

// revive restarts a pool that gave up.
func (p *pool) revive() {
	p.mu.Lock()
	gaveUp := p.state == poolGaveUp
	p.mu.Unlock()
	if gaveUp {
		p.refill()
	}
}

// move changes the node's address. It does nothing if the address is the same.
func (p *pool) move(addr string) {
	p.mu.Lock()
	if p.addr == addr {
		p.mu.Unlock()
		return
	}
	p.note(slog.LevelInfo, "node has another address", "node", addr, "from", p.addr)
	p.addr, p.ids.before = addr, cql.UUID{}
	p.resetPorts()
	if p.abandon != nil {
		p.abandon()
	}
	p.unlock()
	p.refill()
	p.retryNow()
}

// rename sets another host id of the node. Connections stay. The server at the address may have the new id already, or
// only some time later.
func (p *pool) rename(id cql.UUID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids = hostIDs{now: id, before: p.ids.now}
}

// idBefore returns the host id that the node had before it got another one, zero if it has none or a new connection was
// answered with the other one.
func (p *pool) idBefore() cql.UUID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ids.before
}

// step returns the next action of the filling goroutine: dial to, wait, or end because nothing is missing or the pool
// is stopped.
func (p *pool) step(now time.Time) (to dialTarget, wait time.Duration, end bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to = dialTarget{addr: p.addr, ids: p.ids}
	v := p.open.Load()
	if p.worn != nil {
		v = newPoolView(p.without(p.worn))
	}
	switch {
	case p.state == poolStopped || p.ctx.Err() != nil:
		end = true
	case p.backoff.Wait(now) > 0:
		wait = p.backoff.Wait(now)
	case len(v.conns) == 0 || v.conns[0].Addr() != p.addr:
	case v.byShard == nil:
		end = len(v.conns) >= p.cfg.size
	default:
		end, wait = p.stepShard(&to, v, now)
	}
	if end && p.state == poolFilling {
		p.state = poolIdle
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
			p.sleep(wait, p.wake)
			continue
		}
		select {
		case <-p.wake: // the next attempt serves this wake-up
		default:
		}
		err := p.add(to)
		next := p.settle(to, err, failures+1)
		select {
		case <-p.firstDone:
		default:
			close(p.firstDone) // the waiter calls lastError
		}
		if next {
			failures = 0
			continue
		}
		failures++
		if !p.awaitRetry(err, &failures) {
			return
		}
	}
}

// settle stores the outcome of an attempt, number attempts in a row, and reports whether the next one may follow at
// once.
func (p *pool) settle(to dialTarget, err error, attempts int) bool {
	p.mu.Lock()
	defer p.unlock()
	moved := p.addr != to.addr || p.ids.now != to.ids.now || p.ctx.Err() != nil // the outcome no longer matters
	if err == nil || moved {
		if err == nil && (p.failing || p.lost) {
			p.failing, p.lost = false, false
			p.note(slog.LevelInfo, "node reached again", "node", to.addr, "attempts", attempts)
		}
		return true
	}
	var wrong *PeerError
	isWrong := errors.As(err, &wrong) // the dial has logged it
	if to.port != 0 && !isWrong {
		p.portFailed(time.Now(), err)
		return true // the next attempt uses the plain port
	}
	p.err = err
	if !p.failing && !isWrong { // log changes of state, not attempts
		p.note(slog.LevelWarn, "node not reached", "node", to.addr, "err", err)
	}
	p.failing = true
	return false
}

// awaitRetry waits after a number of failures in a row, and reports whether another attempt follows. An UP event of the
// node resets the number.
func (p *pool) awaitRetry(err error, failures *int) bool {
	wait, again := reconnectWait(p.cfg.policy, *failures-1)
	if !again {
		p.mu.Lock()
		if p.state == poolFilling {
			p.state = poolGaveUp
		}
		p.worn = nil
		p.drainSurplus()
		p.mu.Unlock()
		return false
	}
	var login *conn.LoginError
	if errors.As(err, &login) {
		// An event does not shorten this wait: it does not change a password.
		p.sleep(background.Jitter(max(wait, loginWait(*failures-1))), nil)
		return true
	}
	if p.sleep(background.Jitter(wait), p.wake) {
		*failures = 0
		p.sleep(background.Jitter(min(wait, reconnectMin)), nil) // events may come in storms
	}
	return true
}

// sleep waits for d before the next attempt, and reports whether a wake-up ended the wait. A nil wake means that none
// does.
func (p *pool) sleep(d time.Duration, wake <-chan struct{}) bool {
	p.setNextDial(time.Now().Add(d))
	defer p.setNextDial(time.Time{})
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
		return true
	case <-p.ctx.Done():
	}
	return false
}

func (p *pool) setNextDial(at time.Time) {
	p.mu.Lock()
	p.nextDial = at
	p.mu.Unlock()
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
	c, err := p.cfg.dial(ctx, to, conn.Hooks{OnClose: p.remove, OnSilence: p.silenceChanged, OnOverdue: p.replace})
	p.mu.Lock()
	p.abandon = nil
	switch {
	case err != nil:
	case p.state == poolStopped:
		err = &conn.EndError{Cause: stats.EndClosed, Err: ErrSessionClosed}
	case p.addr != to.addr:
		err = &conn.EndError{Cause: stats.EndMoved, Err: errors.New("the node has moved to another address")}
	case c.Closed(): // it ended before install, so remove did not find it
		err = conn.ErrClosed
	default:
		p.live = append(p.live, c)
		p.install(c, to)
		p.err = nil
		if c.Features.HostID == p.ids.now {
			p.ids.before = cql.UUID{}
		}
	}
	p.unlock()
	if err != nil && c != nil {
		c.Close(err)
		_ = c.Drain(p.ctx, stats.EndOther) // it is closed, and has no calls
	}
	if err == nil && p.cfg.changed != nil {
		p.cfg.changed()
	}
	return err
}

// install adds a new connection, which shows the current state of the node: connections to another address or with
// other shards are drained. Callers hold p.mu.
func (p *pool) install(c *conn.Conn, to dialTarget) {
	v := p.open.Load()
	var keep []*conn.Conn
	for _, old := range v.conns {
		switch {
		case old.Addr() != c.Addr():
			p.drainConn(old, stats.EndMoved)
		case !old.Features.SameSharding(&c.Features):
			p.drainConn(old, stats.EndResharded)
		default:
			keep = append(keep, old)
		}
	}
	resharded := len(v.conns) > 0 && len(keep) == 0 && v.conns[0].Addr() == c.Addr()
	if resharded {
		p.note(slog.LevelInfo, "node has other shards", "node", c.Addr(), "from", v.conns[0].Features.Shards, "to",
			c.Features.Shards)
		p.backoff.Fail(time.Now()) // a node that reports other shards each time must not be dialed in a loop
	}
	if len(v.conns) == 0 || len(keep) == 0 {
		p.drainSurplus()
	}
	if !slices.Contains(keep, p.worn) {
		p.worn = nil
	}
	others := slices.DeleteFunc(slices.Clone(keep), func(old *conn.Conn) bool { return old == p.worn })
	switch {
	case !p.wanted(c, to, others):
		p.shards.surplus = append(p.shards.surplus, c)
	case p.worn != nil && p.worn.Features.Shard == c.Features.Shard:
		p.drainConn(p.worn, stats.EndOrphans)
		p.worn = nil
		keep = append(others, c)
	default:
		keep = append(keep, c)
	}
	p.open.Store(newPoolView(keep))
}

// remove removes a connection that has ended and starts the replacement. It compares pointers, because several
// connections may have the same shard.
func (p *pool) remove(c *conn.Conn, err error) {
	p.mu.Lock()
	p.forget(c, err)
	is := func(other *conn.Conn) bool { return other == c }
	p.shards.surplus = slices.DeleteFunc(p.shards.surplus, is)
	if p.worn == c {
		p.worn = nil
	}
	v := p.open.Load()
	found := slices.ContainsFunc(v.conns, is)
	left := len(v.conns)
	if found {
		rest := slices.DeleteFunc(slices.Clone(v.conns), is)
		if i := slices.IndexFunc(p.shards.surplus, func(e *conn.Conn) bool {
			return e.Features.Shard == c.Features.Shard
		}); i >= 0 {
			rest = append(rest, p.shards.surplus[i]) // a surplus connection to the same shard replaces it
			p.shards.surplus = slices.Delete(p.shards.surplus, i, i+1)
		}
		p.open.Store(newPoolView(rest))
		left = len(rest)
		p.shortLived(c, left)
	}
	stopped := p.state == poolStopped || p.ctx.Err() != nil
	switch {
	case !found || stopped:
	case left > 0:
		p.note(slog.LevelDebug, "connection lost", "node", c.Addr(), "open", left, "cause", conn.EndCauseOf(err), "err", err)
	default:
		p.err, p.lost = err, true
		p.note(slog.LevelWarn, "node lost", "node", c.Addr(), "cause", conn.EndCauseOf(err), "err", err)
	}
	p.unlock()
	if found && p.cfg.changed != nil {
		p.cfg.changed()
	}
	if !found || stopped {
		return
	}
	if left == 0 {
		select { // end a backoff that was set while there were connections
		case p.wake <- struct{}{}: // before refill: a wake-up after the first attempt would restart the policy's count
		default:
		}
	}
	p.refill()
}

// drainConn drains a connection that is no longer in the view. Only the filling goroutine calls it. Callers hold p.mu.
func (p *pool) drainConn(c *conn.Conn, cause stats.EndCause) {
	p.draining.Go(func() {
		ctx, cancel := context.WithTimeout(p.drainCtx, p.cfg.drainTimeout)
		defer cancel()
		_ = c.Drain(ctx, cause)
	})
}

// close stops dialing, waits for calls in flight until ctx ends, and closes all connections for a cause. It
// returns when all goroutines of the pool have ended.
func (p *pool) close(ctx context.Context, cause stats.EndCause) error {
	p.mu.Lock()
	p.state = poolStopped
	p.mu.Unlock()
	p.cancel()
	filled := background.AwaitAll(ctx, &p.filler)
	p.mu.Lock()
	conns := append(slices.Clone(p.open.Load().conns), p.shards.surplus...)
	p.open.Store(&poolView{})
	p.shards.surplus = nil
	p.mu.Unlock()
	defer context.AfterFunc(ctx, p.forceClose)()
	errs := make([]error, len(conns))
	for i, c := range conns {
		p.draining.Go(func() { errs[i] = c.Drain(ctx, cause) })
	}
	p.draining.Wait()
	p.forceClose()
	return errors.Join(append(errs, filled)...)
}
