// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/stats"
)

// The half of a session that knows the cluster.

// cluster knows the nodes of a cluster and keeps connections to them.
type cluster struct {
	*core
	pointNames  sync.Map // address of each contact point -> its configured name, empty for an address
	control     *control
	reach       translateFunc // translates an address of the system tables; nil means none
	peers       peers
	schema      *schemaCache
	notify      *notifier // nil means no listeners
	changes     broadcast // of the connections to nodes
	replication replication
	mu          sync.Mutex     // held while a new topo is built
	wg          sync.WaitGroup // draining pools
	drainCtx    context.Context
	forceClose  context.CancelFunc // ends drainCtx
}

// newControl returns the control connection of the session, not yet open.
func (k *cluster) newControl() *control {
	return &control{
		dial: k.dialControl, contacts: k.contacts, onView: k.setView, onEvent: k.event, log: k.log,
		readView: k.readView, readNodes: k.readNodes, readVersions: k.readVersions, admit: k.admit,
		refresh: k.cfg.Nodes.ReconnectInterval, timeout: k.cfg.ConnectTimeout,
		lostWake: make(chan struct{}, 1), refreshWake: make(chan struct{}, 1),
		onSchema: k.schemaChanged, settled: k.schemaSettled,
	}
}

// connect opens the control connection with the highest version that the cluster supports, then connections to the
// nodes.
func (k *cluster) connect(ctx context.Context) error {
	k.version = k.cfg.highestVersion()
	err := k.control.connect(ctx)
	var refused *conn.VersionError // the version of an answer that refuses another one may be any
	for k.cfg.Protocol.Version == 0 && k.version > frame.V3 && errors.As(err, &refused) {
		k.version--
		err = k.control.connect(ctx)
	}
	if err == nil {
		if k.routes != nil {
			k.control.wg.Go(k.followRoutes)
		}
		return k.awaitNodes(ctx)
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = errtext.Errorf("%w: %w", ctx.Err(), err)
	}
	return errtext.Errorf("%w: %w", ErrNoConnectionsStarted, err)
}

// tlsConfig returns the TLS configuration for addr. The certificate of a contact point is verified against its
// configured name.
func (k *cluster) tlsConfig(addr string) *tls.Config {
	cfg := k.cfg.TLS
	if cfg == nil || cfg.ServerName != "" {
		return cfg
	}
	if name, _ := k.pointNames.Load(addr); name != nil && name != "" {
		cfg = cfg.Clone()
		cfg.ServerName = name.(string)
	}
	return cfg
}

// contacts returns the addresses to try for a control connection: connected nodes, contact points, then the other
// nodes. It resolves the contact points again, since the address of every node may have changed.
func (k *cluster) contacts(ctx context.Context) ([]string, error) {
	nodes := slices.Clone(k.topo.Load().nodes)
	nodes = slices.DeleteFunc(nodes, func(n *node) bool { return k.requireRoute(n.info.ID) != nil })
	up, down := failoverOrder(nodes, k.control.lastAddr(), k.addrOf, func(n *node) bool { return n.pool.isUp() })
	points, err := k.contactPoints(ctx)
	addrs := up
	for _, a := range append(points, down...) {
		if !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	if len(addrs) == 0 {
		return nil, err
	}
	return addrs, nil
}

// setView installs the snapshot of a view, starts the pools of new nodes, drains the pools of removed nodes. Nodes are
// identified by host id; a pool survives a change of address, and a change of the host id. Calls do not overlap.
func (k *cluster) setView(view clusterView) {
	k.peers.expect(view.clusterName)
	k.setRoutes(&view)
	old, nodes := k.swapTopology(view)
	for _, n := range nodes {
		addr := n.info.Address
		k.movePool(n) // also a new one: its route may have changed since
		switch prev := old.same(n); {
		case prev != nil && prev.info.ID != n.info.ID:
			k.log.Info("node has another host id", "node", addr, "host_id", n.info.ID, "from", prev.info.ID)
			n.pool.retryNow()
		case prev != nil:
			n.pool.revive()
		case len(old.nodes) > 0: // for the first view, connect fills the pools and returns their errors
			k.log.Info("node added", "node", addr, "host_id", n.info.ID, "dc", n.info.DataCenter, "rack", n.info.Rack)
			n.pool.refill()
		}
	}
	for _, prev := range old.nodes {
		if k.topo.Load().same(prev) == nil {
			k.log.Info("node removed", "node", prev.info.Address, "host_id", prev.info.ID)
			k.wg.Go(func() { k.drainPool(prev.pool) })
		}
	}
	k.nodesChanged()
}

// nodesChanged is called after the nodes or their connections have changed.
func (k *cluster) nodesChanged() {
	k.notify.hosts()
	k.changes.notify()
}

// swapTopology installs the snapshot of a view. A view of the same nodes keeps their ring, whose tokens take long to
// sort. It returns the previous snapshot and the nodes of the new one, no nodes if the session is closed.
func (k *cluster) swapTopology(view clusterView) (old *topology, nodes []*node) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed.Load() {
		return &topology{}, nil
	}
	old = k.topo.Load()
	k.replication.carryOver(&view)
	if old.hasNodes(view.nodes) {
		k.topo.Store(old.withKeyspaces(&view))
		return old, old.nodes
	}
	for _, n := range view.nodes {
		if n.excluded {
			continue
		}
		n.pool = k.poolOf(n.info, view.nodes, old)
		nodes = append(nodes, n)
	}
	topo := newTopology(nodes, &view, &k.routing)
	topo.setFormer()
	k.topo.Store(topo)
	topo.followTablets(old)
	return old, nodes
}

// poolOf returns the pool of a node of a view: the pool that the node has in the old snapshot, else a new one.
func (k *cluster) poolOf(h *cql.Host, view []*node, old *topology) *pool {
	if prev := old.nodeByID(h.ID); prev != nil {
		return prev.pool
	}
	if prev := old.renamed(h, view); prev != nil {
		prev.pool.rename(h.ID)
		return prev.pool
	}
	return k.newPool(h)
}

// drainPool closes the pool of a removed node once its requests have ended.
func (k *cluster) drainPool(p *pool) {
	ctx, cancel := context.WithTimeout(k.drainCtx, k.cfg.Timeout)
	defer cancel()
	_ = p.close(ctx, stats.EndRemoved)
}

// event handles an event ahead of the next view: a node that is up is dialed at once.
func (k *cluster) event(e any) {
	if e, ok := e.(frame.StatusEvent); ok && e.Change == "UP" {
		addr := k.reached(e.Addr)
		for _, n := range k.topo.Load().nodes {
			// without the port of a node, which ScyllaDB's system tables do not have, where the contact point is a proxy
			if n.info.Address == addr || k.routes != nil && n.info.Address.Addr() == addr.Addr() {
				n.pool.retryNow()
			}
		}
	}
}

// awaitSchemaAgreement reads from a connection of maker, the node that made a change, or from another one if that does
// not answer. Without a change maker is nil.
func (k *cluster) awaitSchemaAgreement(ctx context.Context, maker func() *conn.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, k.cfg.Schema.MaxWaitAgreement)
	defer cancel()
	defer context.AfterFunc(k.ctx, cancel)()
	err := k.control.awaitSchemaAgreement(ctx, func() (*conn.Conn, bool) {
		if maker == nil {
			return k.anyConn(), true
		}
		best := maker()
		c := k.answeringConn(best)
		return c, c == best
	})
	if err != nil && k.closed.Load() {
		err = errtext.Errorf("%w: %w", ErrSessionClosed, err)
	}
	return err
}

// contactPoints resolves the configured hosts and stores each address, with its name, in pointNames.
func (k *cluster) contactPoints(ctx context.Context) ([]string, error) {
	points, err := k.cfg.contactPoints(ctx)
	addrs := make([]string, 0, len(points))
	for _, p := range points {
		addr := netip.AddrPortFrom(p.addr, p.port).String()
		k.pointNames.Store(addr, p.name)
		if !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	return addrs, err
}

// admit applies the program's filter and policy to the nodes of a view.
func (k *cluster) admit(view *clusterView) error {
	if err := k.routing.rules.filterNodes(view.nodes, k.cfg.Nodes.HostFilter); err != nil {
		return err
	}
	if k.cfg.Protocol.Version == 0 && k.version > frame.V4 && len(k.topo.Load().nodes) == 0 {
		return commonVersion(view.nodes)
	}
	return nil
}

// commonVersion returns a *versionError if a cluster is being upgraded from Cassandra 3, whose nodes speak v4 at
// most: a session has one version for all nodes.
func commonVersion(nodes []*node) error {
	var before4, since4 *cql.Host
	for _, n := range nodes {
		major, err := strconv.Atoi(strings.SplitN(n.info.Version, ".", 2)[0])
		switch {
		case err != nil || n.excluded:
		case major < 4:
			before4 = n.info
		default:
			since4 = n.info
		}
	}
	if before4 == nil || since4 == nil {
		return nil
	}
	err := errtext.Errorf("node %s has version %s", before4.Address, before4.Version)
	return &conn.VersionError{Supported: frame.V4, Err: err}
}

// reached translates the address of a node in an event. An invalid address means that the session does not reach the
// node.
func (k *cluster) reached(addr netip.AddrPort) netip.AddrPort {
	if k.reach == nil {
		return addr
	}
	to, err := k.reach(addr)
	if err != nil {
		k.log.Warn("translating the address of an event", "address", addr, "err", err)
	}
	return to
}

// broadcast wakes any number of goroutines.
type broadcast struct {
	mu   sync.Mutex
	done chan struct{} // closed by the next notify; nil means that no goroutine waits
}

// next returns a channel that the next notify closes.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done == nil {
		b.done = make(chan struct{})
	}
	return b.done
}

// notify wakes the goroutines that wait.
func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done != nil {
		close(b.done)
		b.done = nil
	}
}
