// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/flight"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/hooks"
	"github.com/vecql/vecql/internal/queue"
	"github.com/vecql/vecql/internal/quietlog"
	"github.com/vecql/vecql/stats"
)

// Session: opening and closing, the snapshot of the cluster, and the methods that return schema metadata.

// driverVersion is sent in STARTUP; the server lists it among its clients.
const driverVersion = "0.1.0"

// A Session sends requests to one cluster. It is safe for use by any number of goroutines and meant to live as long as
// the program.
type Session struct {
	cfg         ClusterConfig
	id          cql.UUID // sent in STARTUP by all connections of the session
	log         *slog.Logger
	version     byte        // negotiated by the first connection
	metadataIDs atomic.Bool // the last connection opened has ScyllaDB's SCYLLA_USE_METADATA_ID
	tlsNames    sync.Map    // address -> name of the contact point that was resolved to it, for TLS
	topo        atomic.Pointer[topology]
	statements  *flight.Cache[statement]
	preparing   sync.Map // flight.Key to call.asked of its PREPARE
	control     *control
	reach       translateFunc // translates an address of the system tables; nil means none
	peers       peers
	schema      *schemaCache
	notify      *notifier     // nil means no listeners
	changes     broadcast     // of the connections to nodes
	start       atomic.Uint32 // where the next request's query plan begins
	routing     routing
	replication replication
	timestamp   atomic.Int64 // the last write timestamp used, in microseconds

	ctx        context.Context // ends with the session: dialing and background work
	cancel     context.CancelFunc
	mu         sync.Mutex     // held while a new topo is built
	wg         sync.WaitGroup // draining pools
	drainCtx   context.Context
	forceClose context.CancelFunc // ends drainCtx
	closed     atomic.Bool
	done       chan struct{} // closed when Close has finished

	defaultPolicies *policies     // of requests that do not set their own
	throttle        *queue.Queue  // nil means none
	memory          *queue.Budget // nil means none
	counters        counters
	hook            hooks.Exchange   // nil means none
	tasks           background.Group // speculative executions, and PREPAREs in the background
	races           raceBudget
}

// NewSession connects to the cluster that cfg describes. It returns after one attempt to connect to every node, or one
// second after the first node was reached; it then connects to the others in the background. After an error no
// goroutine or connection is left. NewSession returns early when ctx ends; the session does not use ctx afterwards.
func NewSession(ctx context.Context, cfg ClusterConfig) (*Session, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	cfg.Authenticator = conceal(cfg.Authenticator)
	id, err := cql.RandomUUID()
	if err != nil {
		return nil, err
	}
	s := &Session{
		cfg: cfg, id: id, log: quietlog.New(cfg.Logger, "node"),
		statements: flight.New[statement](cfg.MaxPreparedStmts), done: make(chan struct{}),
	}
	s.peers.cluster, s.reach = cfg.ClusterName, translator(cfg.AddressTranslator)
	s.hook = hooks.Of(ctx)
	s.defaultPolicies, s.throttle = newPolicies(&s.cfg), newThrottle(cfg.Throttle)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if cfg.MemoryBudget > 0 {
		s.memory = queue.NewBudget(cfg.MemoryBudget, s.ctx.Done())
	}
	s.drainCtx, s.forceClose = context.WithCancel(context.Background())
	s.routing.rules = newPlanRules(cfg.PoolConfig.HostSelectionPolicy)
	s.topo.Store(&topology{routing: &s.routing})
	s.control = &control{
		dial: s.dialControl, contacts: s.contacts, onView: s.setView, onEvent: s.event, log: s.log,
		readView: s.readView, readVersions: s.readVersions, admit: s.admit,
		refresh: cfg.ReconnectInterval, timeout: cfg.ConnectTimeout,
		lostWake: make(chan struct{}, 1), refreshWake: make(chan struct{}, 1),
		onSchema: s.schemaChanged, settled: s.schemaSettled,
	}
	s.schema = newSchemaCache(s.ctx, cfg.Metadata, s.anyConn)
	s.notify = newNotifier(s)
	err = s.connect(ctx)
	if err == nil {
		err = s.notify.start(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.control.wg.Add(1)
	go s.control.run(s.ctx)
	return s, nil
}

// connect opens the control connection with the highest version that the cluster supports, then connections to the
// nodes.
func (s *Session) connect(ctx context.Context) error {
	s.version = frame.V5
	if s.cfg.ProtoVersion != 0 {
		s.version = byte(s.cfg.ProtoVersion)
	} else if _, ok := s.cfg.Compressor.(SnappyCompressor); ok {
		s.version = frame.V4 // v5 has no Snappy
	}
	err := s.control.connect(ctx)
	var refused *conn.VersionError
	if s.cfg.ProtoVersion == 0 && s.version > frame.V4 && errors.As(err, &refused) {
		s.version = frame.V4
		err = s.control.connect(ctx)
	}
	if err == nil {
		return s.awaitNodes(ctx)
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = errtext.Errorf("%w: %w", ctx.Err(), err)
	}
	return errtext.Errorf("%w: %w", ErrNoConnectionsStarted, err)
}

// tlsConfig returns the TLS configuration for addr. The certificate of a contact point is verified against its
// configured name.
func (s *Session) tlsConfig(addr string) *tls.Config {
	cfg := s.cfg.TLS
	if cfg == nil || cfg.ServerName != "" {
		return cfg
	}
	if name, ok := s.tlsNames.Load(addr); ok {
		cfg = cfg.Clone()
		cfg.ServerName = name.(string)
	}
	return cfg
}

// contacts returns the addresses to try for a control connection: connected nodes, contact points, then the other
// nodes. It resolves the contact points again, since the address of every node may have changed.
func (s *Session) contacts(ctx context.Context) ([]string, error) {
	up, down := failoverOrder(s.topo.Load().nodes, s.control.lastAddr(), func(n *node) bool { return n.pool.isUp() })
	points, err := s.contactPoints(ctx)
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

// setView installs the snapshot of a view, starts the pools of new nodes and drains those of removed nodes. Nodes are
// identified by host id; a pool survives a change of address. Calls do not overlap.
func (s *Session) setView(view clusterView) {
	s.peers.expect(view.clusterName)
	old, nodes := s.swapTopology(view)
	for _, n := range nodes {
		addr := n.info.Address
		switch prev := old.nodeByID(n.info.ID); {
		case prev != nil:
			n.pool.move(addr.String())
			n.pool.revive()
		case len(old.nodes) > 0: // for the first view, connect fills the pools and returns their errors
			s.log.Info("node added", "node", addr, "host_id", n.info.ID, "dc", n.info.DataCenter, "rack", n.info.Rack)
			n.pool.refill()
		}
	}
	for _, prev := range old.nodes {
		if s.topo.Load().nodeByID(prev.info.ID) == nil {
			s.log.Info("node removed", "node", prev.info.Address, "host_id", prev.info.ID)
			s.wg.Go(func() { s.drainPool(prev.pool) })
		}
	}
	s.nodesChanged()
}

// nodesChanged is called after the nodes or their connections have changed.
func (s *Session) nodesChanged() {
	s.notify.hosts()
	s.changes.notify()
}

// swapTopology installs the snapshot of a view. It returns the previous snapshot and the nodes of the new one, no nodes
// if the session is closed.
func (s *Session) swapTopology(view clusterView) (old *topology, nodes []*node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return &topology{}, nil
	}
	old = s.topo.Load()
	for _, n := range view.nodes {
		if n.excluded {
			continue
		}
		if prev := old.nodeByID(n.info.ID); prev != nil {
			n.pool = prev.pool
		} else {
			n.pool = s.newPool(n.info)
		}
		nodes = append(nodes, n)
	}
	s.replication.carryOver(&view)
	topo := newTopology(nodes, &view, &s.routing)
	s.topo.Store(topo)
	topo.followTablets(old)
	return old, nodes
}

// drainPool closes the pool of a removed node once its requests have ended.
func (s *Session) drainPool(p *pool) {
	ctx, cancel := context.WithTimeout(s.drainCtx, s.cfg.Timeout)
	defer cancel()
	_ = p.close(ctx, stats.EndRemoved)
}

// event handles an event ahead of the next view: a node that is up is dialed at once.
func (s *Session) event(e any) {
	if e, ok := e.(frame.StatusEvent); ok && e.Change == "UP" {
		addr := s.reached(e.Addr)
		for _, n := range s.topo.Load().nodes {
			if n.info.Address == addr {
				n.pool.retryNow()
			}
		}
	}
}

// nextTimestamp returns now in microseconds, or the previous timestamp plus 1 if that is later.
func (s *Session) nextTimestamp(now time.Time) int64 {
	for {
		last := s.timestamp.Load()
		next := max(now.UnixMicro(), last+1)
		if s.timestamp.CompareAndSwap(last, next) {
			return next
		}
	}
}

// Close closes the session. It refuses new requests, waits up to ClusterConfig.Timeout for the requests in flight, and
// closes all connections. When it returns, no goroutine and no socket of the session is left, except goroutines in the
// program's own code that did not return within that time. Further calls block until the first has returned.
func (s *Session) Close() { _ = s.Shutdown(context.Background()) }

// Shutdown is Close and stops waiting when ctx ends; it then returns the error of ctx.
func (s *Session) Shutdown(ctx context.Context) error {
	if !s.closed.CompareAndSwap(false, true) {
		select {
		case <-s.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer close(s.done)
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	defer context.AfterFunc(ctx, s.forceClose)()
	s.cancel()
	errs := []error{s.notify.stop(ctx), background.AwaitAll(ctx, &s.control.wg)}
	s.schema.close()
	s.mu.Lock() // no view is installed after this
	nodes := s.topo.Load().nodes
	s.mu.Unlock()
	ended := make([]error, len(nodes)+1)
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { ended[i] = n.pool.close(ctx, stats.EndClosed) })
	}
	if c := s.control.take(); c != nil {
		ended[len(nodes)] = c.Drain(ctx, stats.EndClosed)
	}
	wg.Wait()
	s.wg.Wait()
	s.forceClose()
	return errors.Join(append(append(errs, ended...), s.endTasks(ctx))...)
}

// Closed reports whether Close was called.
func (s *Session) Closed() bool { return s.closed.Load() }

// ProtoVersion returns the native protocol version in use.
func (s *Session) ProtoVersion() int { return int(s.version) }

// GetHosts returns the nodes of the cluster as last read from the system tables, ordered by host id.
func (s *Session) GetHosts() []*cql.Host {
	nodes := s.topo.Load().nodes
	hosts := make([]*cql.Host, len(nodes))
	for i, n := range nodes {
		hosts[i] = n.info
	}
	return hosts
}

// IsUp reports whether a connection to a node of the cluster takes requests.
func (s *Session) IsUp(host *cql.Host) bool {
	n := s.topo.Load().nodeByID(host.ID)
	return n != nil && n.pool.isUp()
}

// AwaitSchemaAgreement blocks until all nodes that are up report the same schema version. It returns ErrSchemaAgreement
// when ctx or ClusterConfig.MaxWaitSchemaAgreement ends first. The session itself waits for agreement after each of its
// schema changes.
func (s *Session) AwaitSchemaAgreement(ctx context.Context) error {
	return s.awaitSchemaAgreement(ctx, s.control.current)
}

// awaitSchemaAgreement reads from the connection of pick, or from another one if that is silent or nil.

func (s *Session) awaitSchemaAgreement(ctx context.Context, pick func() *conn.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.MaxWaitSchemaAgreement)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	err := s.control.awaitSchemaAgreement(ctx, func() *conn.Conn { return s.answeringConn(pick()) })
	if err != nil && s.closed.Load() {
		err = errtext.Errorf("%w: %w", ErrSessionClosed, err)
	}
	return err
}

// contactPoints resolves the configured hosts and stores the name of each address in tlsNames.
func (s *Session) contactPoints(ctx context.Context) ([]string, error) {
	points, err := s.cfg.contactPoints(ctx)
	addrs := make([]string, 0, len(points))
	for _, p := range points {
		addr := netip.AddrPortFrom(p.addr, p.port).String()
		if p.name != "" {
			s.tlsNames.Store(addr, p.name)
		}
		if !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	return addrs, err
}

// admit applies the program's filter and policy to the nodes of a view.
func (s *Session) admit(view *clusterView) error {
	if err := s.routing.rules.filterNodes(view.nodes, s.cfg.HostFilter); err != nil {
		return err
	}
	if s.cfg.ProtoVersion == 0 && s.version > frame.V4 && len(s.topo.Load().nodes) == 0 {
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
func (s *Session) reached(addr netip.AddrPort) netip.AddrPort {
	if s.reach == nil {
		return addr
	}
	to, err := s.reach(addr)
	if err != nil {
		s.log.Warn("translating the address of an event", "address", addr, "err", err)
	}
	return to
}

// KeyspaceMetadata returns the metadata of a keyspace with its tables, types, functions and aggregates. The first call
// reads it from the system tables; later calls return the cached metadata. A schema change by this session or an event
// of the server invalidates the cache; the event may arrive shortly after another session's change. Names are
// case-sensitive.
//
// Errors are ErrKeyspaceDoesNotExist, ErrNoKeyspace, ErrNoMetadata and those of requests.
func (s *Session) KeyspaceMetadata(ctx context.Context, keyspace string) (*cql.KeyspaceMetadata, error) {
	if s.closed.Load() {
		return nil, errtext.Errorf("read the metadata of keyspace %q: %w", keyspace, ErrSessionClosed)
	}
	return s.schema.keyspace(ctx, keyspace)
}

// AllKeyspaceMetadata returns the metadata of all keyspaces by name, system keyspaces included. The caller owns the
// map. From the first call on, the session caches all keyspaces; see KeyspaceMetadata.
func (s *Session) AllKeyspaceMetadata(ctx context.Context) (map[string]*cql.KeyspaceMetadata, error) {
	if s.closed.Load() {
		return nil, errtext.Errorf("read the metadata of all keyspaces: %w", ErrSessionClosed)
	}
	return s.schema.allMetadata(ctx)
}

// TableMetadata returns the metadata of a table; see KeyspaceMetadata. Errors are those of KeyspaceMetadata,
// ErrNoTable, and ErrNoMetadata if ClusterConfig.Metadata is MetadataKeyspaces.
func (s *Session) TableMetadata(ctx context.Context, keyspace, table string) (*cql.TableMetadata, error) {
	ks, err := s.KeyspaceMetadata(ctx, keyspace)
	if err != nil {
		return nil, err
	}
	if s.cfg.Metadata == MetadataKeyspaces {
		return nil, errtext.Errorf("%w: table %q.%q: ClusterConfig.Metadata is MetadataKeyspaces", ErrNoMetadata, keyspace, table)
	}
	if t := ks.Tables[table]; t != nil {
		return t, nil
	}
	return nil, errtext.Errorf("%w: %q.%q", ErrNoTable, keyspace, table)
}
