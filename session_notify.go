// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/schema"
)

// The goroutine that calls listeners. It has no queue: it stores the state last reported, compares it with the current
// state when something may have changed, and reports the difference. Its memory does not depend on the number of
// changes.

// A notifier calls the listeners of a session. The methods of a nil notifier do nothing.
type notifier struct {
	s         *Session
	cfg       *MetadataConfig
	wake      chan struct{}
	schemaDue atomic.Bool // the schema may have changed
	done      chan struct{}

	reported map[cql.UUID]reportedHost   // used by the goroutine alone
	schemas  map[string]*schema.Keyspace // likewise

	mu      sync.Mutex
	started bool
	stopped bool
	busy    bool // a listener is running
}

// reportedHost is the state of a node last reported to listeners.
type reportedHost struct {
	info *HostInfo
	up   bool
}

func newNotifier(s *Session) *notifier {
	m := &s.cfg.Metadata
	if m.HostListener.HostStateChangeListener == nil && m.HostListener.TopologyChangeListener == nil &&
		!m.SchemaListener.any() && m.SessionReadyListener == nil {
		return nil
	}
	return &notifier{
		s: s, cfg: m, wake: make(chan struct{}, 1), done: make(chan struct{}),
		reported: map[cql.UUID]reportedHost{},
	}
}

// start takes the initial snapshot without notifying listeners, then starts the goroutine.
func (n *notifier) start(ctx context.Context) error {
	if n == nil {
		return nil
	}
	for _, node := range n.s.topo.Load().nodes {
		n.reported[node.info.id] = reportedHost{info: node.info, up: true}
	}
	if n.cfg.SchemaListener.any() {
		var err error
		if n.schemas, err = n.s.schema.all(ctx); err != nil {
			return errorf("read the schema for listeners: %w", err)
		}
	}
	n.mu.Lock()
	n.started = true
	n.mu.Unlock()
	go n.run(n.s.ctx)
	return nil
}

// stop ends the goroutine and waits for it until ctx ends. It does not wait for a running listener, which may be the
// caller of stop.
func (n *notifier) stop(ctx context.Context) error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	wait := n.started && !n.busy
	n.stopped = true
	n.mu.Unlock()
	if !wait {
		return nil
	}
	return background.Await(ctx, n.done)
}

// hosts wakes the goroutine to report changes of nodes. It does not block.
func (n *notifier) hosts() {
	if n == nil {
		return
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// schema wakes the goroutine to report changes of the schema. It does not block.
func (n *notifier) schema() {
	if n != nil && n.cfg.SchemaListener.any() {
		n.schemaDue.Store(true)
		n.hosts()
	}
}

// run reports changes to listeners until ctx ends.
func (n *notifier) run(ctx context.Context) {
	defer close(n.done)
	if l := n.cfg.SessionReadyListener; l != nil {
		n.call(func() { l.OnSessionReady(n.s) })
	}
	wait := reconnectMin
	again := time.NewTimer(0) // fires for the first comparison, and to retry reading the schema
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		case <-again.C:
		}
		n.reportHosts()
		if !n.schemaDue.Swap(false) {
			continue
		}
		now, err := n.s.schema.all(ctx)
		if err != nil {
			if ctx.Err() == nil && wait == reconnectMin { // one record, not one for each attempt
				n.s.log.Warn("reading the schema for listeners, retrying", "err", err)
			}
			n.schemaDue.Store(true)
			again.Reset(background.Jitter(wait))
			wait = min(2*wait, reconnectMax)
			continue
		}
		wait = reconnectMin
		changes := schema.Diff(n.schemas, now)
		n.schemas = now
		n.reportSchema(&changes)
	}
}

// call calls a listener, unless the session is closed.
func (n *notifier) call(f func()) {
	n.mu.Lock()
	if n.stopped {
		n.mu.Unlock()
		return
	}
	n.busy = true
	n.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			n.s.log.Error("panic in a listener", "panic", r, "stack", string(debug.Stack()))
		}
		n.mu.Lock()
		n.busy = false
		n.mu.Unlock()
	}()
	f()
}

// reportHosts reports the differences between the reported and the current state of nodes.
func (n *notifier) reportHosts() {
	status, topology := n.cfg.HostListener.HostStateChangeListener, n.cfg.HostListener.TopologyChangeListener
	reportStatus := func(info *HostInfo, up bool) {
		switch {
		case status == nil:
		case up:
			n.call(func() { status.OnHostUp(HostUpEvent{Host: info}) })
		default:
			n.call(func() { status.OnHostDown(HostDownEvent{Host: info}) })
		}
	}
	topo := n.s.topo.Load()
	for id, old := range n.reported {
		if topo.nodeByID(id) != nil {
			continue
		}
		delete(n.reported, id)
		if old.up {
			reportStatus(old.info, false)
		}
		if topology != nil {
			n.call(func() { topology.OnRemovedHost(RemovedHostEvent{Host: old.info}) })
		}
	}
	for _, node := range topo.nodes {
		old, known := n.reported[node.info.id]
		if !known && topology != nil {
			n.call(func() { topology.OnNewHost(NewHostEvent{Host: node.info}) })
		}
		now := reportedHost{info: node.info, up: node.pool.isUp()}
		n.reported[node.info.id] = now
		if now.up != old.up {
			reportStatus(now.info, now.up)
		}
	}
}

// reportSchema reports changes of the schema. A keyspace is created before its objects and dropped after them, a type
// likewise before and after the objects that use it.
func (n *notifier) reportSchema(c *schema.Changes) {
	keyspaces, tables := n.cfg.SchemaListener.KeyspaceChangeListener, n.cfg.SchemaListener.TableChangeListener
	types, functions := n.cfg.SchemaListener.UserTypeChangeListener, n.cfg.SchemaListener.FunctionChangeListener
	aggregates := n.cfg.SchemaListener.AggregateChangeListener
	if tables != nil {
		report(n, c.Tables.Dropped, func(t *cql.TableMetadata) { tables.OnTableDropped(OnTableDroppedEvent{t}) })
	}
	if aggregates != nil {
		report(n, c.Aggregates.Dropped, func(a *cql.AggregateMetadata) {
			aggregates.OnAggregateDropped(OnAggregateDroppedEvent{a})
		})
	}
	if functions != nil {
		report(n, c.Functions.Dropped, func(f *cql.FunctionMetadata) {
			functions.OnFunctionDropped(OnFunctionDroppedEvent{f})
		})
	}
	if types != nil {
		report(n, c.UserTypes.Dropped, func(t *cql.UserTypeMetadata) { types.OnUserTypeDropped(OnUserTypeDroppedEvent{t}) })
	}
	if keyspaces != nil {
		report(n, c.Keyspaces.Dropped, func(k *cql.KeyspaceMetadata) {
			keyspaces.OnKeyspaceDropped(OnKeyspaceDroppedEvent{k})
		})
		report(n, c.Keyspaces.Created, func(k *cql.KeyspaceMetadata) {
			keyspaces.OnKeyspaceCreated(OnKeyspaceCreatedEvent{k})
		})
		report(n, c.Keyspaces.Updated, func(u schema.Update[*cql.KeyspaceMetadata]) {
			keyspaces.OnKeyspaceUpdated(OnKeyspaceUpdatedEvent{u.Old, u.New})
		})
	}
	if types != nil {
		report(n, c.UserTypes.Created, func(t *cql.UserTypeMetadata) { types.OnUserTypeCreated(OnUserTypeCreatedEvent{t}) })
		report(n, c.UserTypes.Updated, func(u schema.Update[*cql.UserTypeMetadata]) {
			types.OnUserTypeUpdated(OnUserTypeUpdatedEvent{u.Old, u.New})
		})
	}
	if functions != nil {
		report(n, c.Functions.Created, func(f *cql.FunctionMetadata) {
			functions.OnFunctionCreated(OnFunctionCreatedEvent{f})
		})
		report(n, c.Functions.Updated, func(u schema.Update[*cql.FunctionMetadata]) {
			functions.OnFunctionUpdated(OnFunctionUpdatedEvent{u.Old, u.New})
		})
	}
	if aggregates != nil {
		report(n, c.Aggregates.Created, func(a *cql.AggregateMetadata) {
			aggregates.OnAggregateCreated(OnAggregateCreatedEvent{a})
		})
		report(n, c.Aggregates.Updated, func(u schema.Update[*cql.AggregateMetadata]) {
			aggregates.OnAggregateUpdated(OnAggregateUpdatedEvent{u.Old, u.New})
		})
	}
	if tables != nil {
		report(n, c.Tables.Created, func(t *cql.TableMetadata) { tables.OnTableCreated(OnTableCreatedEvent{t}) })
		report(n, c.Tables.Updated, func(u schema.Update[*cql.TableMetadata]) {
			tables.OnTableUpdated(OnTableUpdatedEvent{u.Old, u.New})
		})
	}
}

// report calls a listener for each change.
func report[T any](n *notifier, changes []T, listener func(T)) {
	for _, c := range changes {
		n.call(func() { listener(c) })
	}
}

// anyConn returns a connection for the session's own statements. nil means that there is none.
func (s *Session) anyConn() *conn { return s.answeringConn(s.control.current()) }

// answeringConn returns best if it can take requests and is not silent, else another connection of the session, a
// silent one only if all are. nil means that there is none.
func (s *Session) answeringConn(best *conn) *conn {
	var silent *conn
	answers := func(c *conn) bool {
		if c != nil && !c.refuses() && c.silent.Load() {
			silent = cmp.Or(silent, c)
		}
		return c != nil && !c.refuses() && !c.silent.Load()
	}
	if answers(best) {
		return best
	}
	if c := s.control.current(); answers(c) {
		return c
	}
	for _, n := range s.topo.Load().nodes {
		if c := n.pool.pick(); answers(c) {
			return c
		}
	}
	return silent
}

// schemaChanged invalidates the cached schema and tablets that an event affects.
func (s *Session) schemaChanged(e schemaEvent) {
	s.schema.changed(e)
	s.routing.forgetTablets(e)
	s.forgetStatements(e)
}

// forgetStatements drops the statements that a change concerns. A node may have prepared such a statement for another
// client since, so that it accepts values encoded for the old types. Requests with such values that wait are encoded
// again.
func (s *Session) forgetStatements(e schemaEvent) {
	switch {
	case e.change == "UPDATED" && e.target == "": // of any kind, see control.gotView
		s.statements.DropWhere(func(stmt *statement) bool {
			stmt.outdated.Store(true)
			return true
		})
	case e.change == "CREATED", e.change == "UPDATED" && e.target == "KEYSPACE": // the latter changes the replication only
	case e.target == "KEYSPACE", e.target == "TABLE", e.target == "TYPE":
		s.statements.DropWhere(func(stmt *statement) bool {
			concerned := stmt.concerns(&e)
			if concerned {
				stmt.outdated.Store(true)
			}
			return concerned
		})
	}
}

// schemaSettled is called when schema events have ceased for a moment.
func (s *Session) schemaSettled() { s.notify.schema() }
