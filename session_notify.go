// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// This file tells listeners of changes. There is no queue: one goroutine remembers what it has told last, compares it with what there is
// whenever something may have changed, and tells the difference. So its memory does not depend on how much happens.

// notifier is what a session with listeners has; the methods of a nil one do nothing.
type notifier struct {
	s         *Session
	cfg       *MetadataConfig
	poke      chan struct{}
	schemaDue atomic.Bool // there may be differences in the schema
	done      chan struct{}

	told    map[UUID]toldHost            // used by the goroutine alone
	schemas map[string]*KeyspaceMetadata // likewise

	mu      sync.Mutex
	started bool
	stopped bool
	busy    bool // a listener runs
}

// toldHost is what listeners know of a node.
type toldHost struct {
	info *HostInfo
	up   bool
}

func newNotifier(s *Session) *notifier {
	m := &s.cfg.Metadata
	if m.HostListener.HostStateChangeListener == nil && m.HostListener.TopologyChangeListener == nil && !m.SchemaListener.any() && m.SessionReadyListener == nil {
		return nil
	}
	return &notifier{s: s, cfg: m, poke: make(chan struct{}, 1), done: make(chan struct{}), told: map[UUID]toldHost{}}
}

// start notes how things are, which nobody is told of, and begins.
func (n *notifier) start(ctx context.Context) error {
	if n == nil {
		return nil
	}
	for _, node := range n.s.topo.Load().nodes {
		n.told[node.info.id] = toldHost{info: node.info, up: true}
	}
	if n.cfg.SchemaListener.any() {
		var err error
		if n.schemas, err = n.s.schema.all(ctx); err != nil {
			return fmt.Errorf("vecql: read the schema for its listeners: %w", err)
		}
	}
	n.mu.Lock()
	n.started = true
	n.mu.Unlock()
	go n.run(n.s.ctx)
	return nil
}

// stop ends the goroutine. A listener that runs is not waited for: it may be what calls. Nor is a logger, for longer than ctx allows.
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
	return awaitEnd(ctx, n.done)
}

// hosts has listeners told of changes of nodes. It takes no time.
func (n *notifier) hosts() {
	if n == nil {
		return
	}
	select {
	case n.poke <- struct{}{}:
	default:
	}
}

// schema has listeners told of changes of the schema. It takes no time.
func (n *notifier) schema() {
	if n != nil && n.cfg.SchemaListener.any() {
		n.schemaDue.Store(true)
		n.hosts()
	}
}

// run tells listeners until ctx ends.
func (n *notifier) run(ctx context.Context) {
	defer close(n.done)
	if l := n.cfg.SessionReadyListener; l != nil {
		n.call(func() { l.OnSessionReady(n.s) })
	}
	wait := reconnectMin
	again := time.NewTimer(0) // the first look, and the next attempt after one to read the schema has failed
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.poke:
		case <-again.C:
		}
		n.tellHosts()
		if !n.schemaDue.Swap(false) {
			continue
		}
		now, err := n.s.schema.all(ctx)
		if err != nil {
			if ctx.Err() == nil && wait == reconnectMin { // one line, not one for each attempt
				n.s.log.Warn("reading the schema for its listeners", "err", err)
			}
			n.schemaDue.Store(true)
			again.Reset(jittered(wait))
			wait = min(2*wait, reconnectMax)
			continue
		}
		wait = reconnectMin
		changes := diffSchema(n.schemas, now)
		n.schemas = now
		n.tellSchema(&changes)
	}
}

// call calls a listener, unless the session is being closed.
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
			n.s.log.Error("a listener panicked", "panic", r, "stack", string(debug.Stack()))
		}
		n.mu.Lock()
		n.busy = false
		n.mu.Unlock()
	}()
	f()
}

// tellHosts tells the differences between what is known of nodes and what there is.
func (n *notifier) tellHosts() {
	status, topology := n.cfg.HostListener.HostStateChangeListener, n.cfg.HostListener.TopologyChangeListener
	tellStatus := func(info *HostInfo, up bool) {
		switch {
		case status == nil:
		case up:
			n.call(func() { status.OnHostUp(HostUpEvent{Host: info}) })
		default:
			n.call(func() { status.OnHostDown(HostDownEvent{Host: info}) })
		}
	}
	topo := n.s.topo.Load()
	for id, old := range n.told {
		if topo.nodeByID(id) != nil {
			continue
		}
		delete(n.told, id)
		if old.up {
			tellStatus(old.info, false)
		}
		if topology != nil {
			n.call(func() { topology.OnRemovedHost(RemovedHostEvent{Host: old.info}) })
		}
	}
	for _, node := range topo.nodes {
		old, known := n.told[node.info.id]
		if !known && topology != nil {
			n.call(func() { topology.OnNewHost(NewHostEvent{Host: node.info}) })
		}
		now := toldHost{info: node.info, up: node.pool.isUp()}
		n.told[node.info.id] = now
		if now.up != old.up {
			tellStatus(now.info, now.up)
		}
	}
}

// tellSchema tells changes: a keyspace is there before what is in it, and is gone after it; so it is for types and those who use them.
func (n *notifier) tellSchema(c *schemaChanges) {
	keyspaces, tables := n.cfg.SchemaListener.KeyspaceChangeListener, n.cfg.SchemaListener.TableChangeListener
	types, functions := n.cfg.SchemaListener.UserTypeChangeListener, n.cfg.SchemaListener.FunctionChangeListener
	aggregates := n.cfg.SchemaListener.AggregateChangeListener
	if tables != nil {
		tell(n, c.tables.dropped, func(t *TableMetadata) { tables.OnTableDropped(OnTableDroppedEvent{t}) })
	}
	if aggregates != nil {
		tell(n, c.aggregates.dropped, func(a *AggregateMetadata) { aggregates.OnAggregateDropped(OnAggregateDroppedEvent{a}) })
	}
	if functions != nil {
		tell(n, c.functions.dropped, func(f *FunctionMetadata) { functions.OnFunctionDropped(OnFunctionDroppedEvent{f}) })
	}
	if types != nil {
		tell(n, c.userTypes.dropped, func(t *UserTypeMetadata) { types.OnUserTypeDropped(OnUserTypeDroppedEvent{t}) })
	}
	if keyspaces != nil {
		tell(n, c.keyspaces.dropped, func(k *KeyspaceMetadata) { keyspaces.OnKeyspaceDropped(OnKeyspaceDroppedEvent{k}) })
		tell(n, c.keyspaces.created, func(k *KeyspaceMetadata) { keyspaces.OnKeyspaceCreated(OnKeyspaceCreatedEvent{k}) })
		tell(n, c.keyspaces.updated, func(u update[*KeyspaceMetadata]) {
			keyspaces.OnKeyspaceUpdated(OnKeyspaceUpdatedEvent{u.before, u.after})
		})
	}
	if types != nil {
		tell(n, c.userTypes.created, func(t *UserTypeMetadata) { types.OnUserTypeCreated(OnUserTypeCreatedEvent{t}) })
		tell(n, c.userTypes.updated, func(u update[*UserTypeMetadata]) {
			types.OnUserTypeUpdated(OnUserTypeUpdatedEvent{u.before, u.after})
		})
	}
	if functions != nil {
		tell(n, c.functions.created, func(f *FunctionMetadata) { functions.OnFunctionCreated(OnFunctionCreatedEvent{f}) })
		tell(n, c.functions.updated, func(u update[*FunctionMetadata]) {
			functions.OnFunctionUpdated(OnFunctionUpdatedEvent{u.before, u.after})
		})
	}
	if aggregates != nil {
		tell(n, c.aggregates.created, func(a *AggregateMetadata) { aggregates.OnAggregateCreated(OnAggregateCreatedEvent{a}) })
		tell(n, c.aggregates.updated, func(u update[*AggregateMetadata]) {
			aggregates.OnAggregateUpdated(OnAggregateUpdatedEvent{u.before, u.after})
		})
	}
	if tables != nil {
		tell(n, c.tables.created, func(t *TableMetadata) { tables.OnTableCreated(OnTableCreatedEvent{t}) })
		tell(n, c.tables.updated, func(u update[*TableMetadata]) { tables.OnTableUpdated(OnTableUpdatedEvent{u.before, u.after}) })
	}
}

// tell calls a listener for each change.
func tell[T any](n *notifier, changes []T, listener func(T)) {
	for _, c := range changes {
		n.call(func() { listener(c) })
	}
}

// anyConn returns a connection for the session's own statements, nil when there is none.
func (s *Session) anyConn() *conn {
	if c := s.control.current(); c != nil && !c.refuses() {
		return c
	}
	for _, n := range s.topo.Load().nodes {
		if c := n.pool.pick(); c != nil {
			return c
		}
	}
	return nil
}

// schemaChanged notes that something of the schema is not what it was.
func (s *Session) schemaChanged(e schemaEvent) {
	s.schema.changed(e)
	s.routing.forgetTablets(e)
}

// schemaSettled says that no change was heard of for a moment.
func (s *Session) schemaSettled() { s.notify.schema() }
