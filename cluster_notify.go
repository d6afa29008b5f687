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
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/schema"
)

// The goroutine that calls Nodes.OnChange and Schema.OnChange. It has no queue: it stores the state last reported,
// compares it with the current state when something may have changed, and reports the difference. Its memory does not
// depend on the number of changes.

// A notifier calls the functions of the program. The methods of a nil notifier do nothing.
type notifier struct {
	s         *cluster
	wake      chan struct{}
	schemaDue atomic.Bool // the schema may have changed
	done      chan struct{}

	reported map[cql.UUID]reportedHost   // used by the goroutine alone
	schemas  map[string]*schema.Keyspace // likewise

	mu      sync.Mutex
	started bool
	stopped bool
	busy    bool // a function of the program is running
}

// reportedHost is the state of a node last reported.
type reportedHost struct {
	info *cql.Host
	up   bool
}

func newNotifier(s *cluster) *notifier {
	if s.cfg.Nodes.OnChange == nil && s.cfg.Schema.OnChange == nil {
		return nil
	}
	return &notifier{
		s: s, wake: make(chan struct{}, 1), done: make(chan struct{}),
		reported: map[cql.UUID]reportedHost{},
	}
}

// start takes the initial snapshot without reporting it, then starts the goroutine.
func (n *notifier) start(ctx context.Context) error {
	if n == nil {
		return nil
	}
	for _, node := range n.s.topo.Load().nodes {
		n.reported[node.info.ID] = reportedHost{info: node.info, up: true}
	}
	if n.s.cfg.Schema.OnChange != nil {
		var err error
		if n.schemas, err = n.s.schema.all(ctx); err != nil {
			return errtext.Errorf("read the schema for Schema.OnChange: %w", err)
		}
	}
	n.mu.Lock()
	n.started = true
	n.mu.Unlock()
	go n.run(n.s.ctx)
	return nil
}

// stop ends the goroutine and waits for it until ctx ends. It does not wait for a running function, which may be the
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
	if n != nil && n.s.cfg.Schema.OnChange != nil {
		n.schemaDue.Store(true)
		n.hosts()
	}
}

// run reports changes until ctx ends.
func (n *notifier) run(ctx context.Context) {
	defer close(n.done)
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
				n.s.log.Warn("reading the schema for Schema.OnChange, retrying", "err", err)
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

// call calls a function of the program, unless the session is closed.
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
			n.s.log.Error("panic in Nodes.OnChange or Schema.OnChange", "panic", r, "stack", string(debug.Stack()))
		}
		n.mu.Lock()
		n.busy = false
		n.mu.Unlock()
	}()
	f()
}

// reportHosts reports the differences between the reported and the current state of nodes. A node that has another host
// id is added next to its removal: a policy that follows the reports lacks one node at a time.
func (n *notifier) reportHosts() {
	topo := n.s.topo.Load()
	for id, old := range n.reported {
		if topo.nodeByID(id) != nil {
			continue
		}
		delete(n.reported, id)
		if old.up {
			n.reportHost(NodeDown, old.info)
		}
		n.reportHost(NodeRemoved, old.info)
		if i := topo.find(id); i >= 0 {
			n.reportNode(topo.nodes[i])
		}
	}
	for _, node := range topo.nodes {
		n.reportNode(node)
	}
}

// reportNode reports the difference between the reported and the current state of a node.
func (n *notifier) reportNode(node *node) {
	old, known := n.reported[node.info.ID]
	if !known {
		n.reportHost(NodeAdded, node.info)
	}
	now := reportedHost{info: node.info, up: node.pool.isUp()}
	n.reported[node.info.ID] = now
	switch {
	case now.up && !old.up:
		n.reportHost(NodeUp, now.info)
	case !now.up && old.up:
		n.reportHost(NodeDown, now.info)
	}
}

// reportHost reports a change of a node.
func (n *notifier) reportHost(kind NodeChangeKind, info *cql.Host) {
	if f := n.s.cfg.Nodes.OnChange; f != nil {
		n.call(func() { f(NodeChange{Kind: kind, Host: info}) })
	}
}

// reportSchema reports changes of the schema. A keyspace is created before its objects and dropped after them, a type
// likewise before and after the objects that use it.
func (n *notifier) reportSchema(c *schema.Changes) {
	reportDropped(n, c.Tables.Dropped)
	reportDropped(n, c.Aggregates.Dropped)
	reportDropped(n, c.Functions.Dropped)
	reportDropped(n, c.UserTypes.Dropped)
	reportDropped(n, c.Keyspaces.Dropped)
	reportOthers(n, &c.Keyspaces)
	reportOthers(n, &c.UserTypes)
	reportOthers(n, &c.Functions)
	reportOthers(n, &c.Aggregates)
	reportOthers(n, &c.Tables)
}

// reportDropped reports objects that were dropped.
func reportDropped[T any](n *notifier, objects []T) {
	for _, object := range objects {
		n.reportObject(SchemaChange{Old: object})
	}
}

// reportOthers reports objects that were created or updated.
func reportOthers[T any](n *notifier, d *schema.Difference[T]) {
	for _, object := range d.Created {
		n.reportObject(SchemaChange{New: object})
	}
	for _, u := range d.Updated {
		n.reportObject(SchemaChange{Old: u.Old, New: u.New})
	}
}

func (n *notifier) reportObject(c SchemaChange) { n.call(func() { n.s.cfg.Schema.OnChange(c) }) }

// anyConn returns a connection for the session's own statements. nil means that there is none.
func (k *cluster) anyConn() *conn.Conn { return k.answeringConn(k.control.current()) }

// answeringConn returns best if it can take requests and is not silent, else another connection of the session, a
// silent one only if all are. nil means that there is none.
func (k *cluster) answeringConn(best *conn.Conn) *conn.Conn {
	var silent *conn.Conn
	answers := func(c *conn.Conn) bool {
		if c != nil && !c.Refuses() && c.Silent.Load() {
			silent = cmp.Or(silent, c)
		}
		return c != nil && !c.Refuses() && !c.Silent.Load()
	}
	if answers(best) {
		return best
	}
	if c := k.control.current(); answers(c) {
		return c
	}
	for _, n := range k.topo.Load().nodes {
		if c := n.pool.pick(); answers(c) {
			return c
		}
	}
	return silent
}

// schemaChanged invalidates the cached schema and tablets that an event affects.
func (k *cluster) schemaChanged(e frame.SchemaEvent) {
	k.schema.changed(e)
	k.routing.forgetTablets(e)
	k.forgetStatements(e)
}

// forgetStatements drops the statements that a change concerns. A node may have prepared such a statement for another
// client since, so that it accepts values encoded for the old types. Requests with such values that wait are encoded
// again.
func (k *cluster) forgetStatements(e frame.SchemaEvent) {
	switch {
	case e.Change == "UPDATED" && e.Target == "": // of any kind, see control.gotView
		k.statements.DropWhere(func(stmt *statement) bool {
			stmt.outdated.Store(true)
			return true
		})
	case e.Change == "CREATED", e.Change == "UPDATED" && e.Target == "KEYSPACE": // the latter changes the replication only
	case e.Target == "KEYSPACE", e.Target == "TABLE", e.Target == "TYPE":
		k.statements.DropWhere(func(stmt *statement) bool {
			concerned := stmt.concerns(&e)
			if concerned {
				stmt.outdated.Store(true)
			}
			return concerned
		})
	}
}

// schemaSettled is called when schema events have ceased for a moment.
func (k *cluster) schemaSettled() { k.notify.schema() }
