// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// This file holds the session: its start, its end, and the snapshot of the cluster in between.

// driverVersion is sent in STARTUP and shows in the server's list of clients.
const driverVersion = "0.1.0"

// Session talks to one cluster. It is safe for use by any number of goroutines and meant to live as long as the program.
type Session struct {
	cfg         ClusterConfig
	id          UUID // sent in STARTUP: all connections of a session show the same
	log         *slog.Logger
	version     byte        // negotiated at the start
	metadataIDs atomic.Bool // the last connection opened has ScyllaDB's SCYLLA_USE_METADATA_ID
	tlsNames    sync.Map    // address -> the contact point's name that it was resolved from, for TLS
	topo        atomic.Pointer[topology]
	statements  *statements
	control     *control
	schema      *schemaCache
	notify      *notifier     // nil without listeners
	start       atomic.Uint32 // where the next request's route begins
	routing     routing
	timestamp   atomic.Int64 // the last one given out, microseconds

	ctx    context.Context // ends with the session: dialling and background work
	cancel context.CancelFunc
	mu     sync.Mutex     // guards the building of topo
	wg     sync.WaitGroup // retired pools
	retire context.Context
	hurry  context.CancelFunc // ends retire: the time of retired pools is over
	closed atomic.Bool
	done   chan struct{} // closed when Close has finished

	how      *policies // of requests that say nothing else
	throttle *throttle // nil: requests are not held back
	counters counters
	racing   background // speculative executions
}

// NewSession connects to the cluster that cfg describes. It returns when it has tried to connect to every node, but not later than a second
// after the first one was reached; connecting to the others goes on in the background. On an error nothing is left running.
func NewSession(cfg ClusterConfig) (*Session, error) {
	return NewSessionContext(context.Background(), cfg)
}

// NewSessionContext is NewSession, given up when ctx ends. ctx has no meaning for the session after that.
func NewSessionContext(ctx context.Context, cfg ClusterConfig) (*Session, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	id, err := RandomUUID()
	if err != nil {
		return nil, err
	}
	s := &Session{cfg: cfg, id: id, log: limitedLogger(cfg.Logger), statements: newStatements(cfg.MaxPreparedStmts), done: make(chan struct{})}
	s.how, s.throttle, s.racing.gone = newPolicies(&s.cfg), newThrottle(cfg.Throttle), make(chan struct{})
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.retire, s.hurry = context.WithCancel(context.Background())
	s.routing.rules = newRouteRules(cfg.PoolConfig.HostSelectionPolicy)
	s.topo.Store(&topology{routing: &s.routing})
	s.control = &control{
		dial: s.dial, contacts: s.contacts, onView: s.setView, onEvent: s.event, isUp: s.isUp, log: s.log,
		reach: translator(cfg.AddressTranslator), admit: s.admit,
		refresh: cfg.ReconnectInterval, timeout: cfg.ConnectTimeout,
		lost: make(chan struct{}, 1), poke: make(chan struct{}, 1),
		events: cfg.Events.names(), onSchema: s.schemaChanged, settled: s.schemaSettled,
	}
	s.schema = newSchemaCache(s.ctx, cfg.Metadata.CacheMode, s.anyConn)
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

// connect makes the control connection with the highest version that the cluster speaks, and one connection to every node it can.
func (s *Session) connect(ctx context.Context) error {
	s.version = protoV5
	if s.cfg.ProtoVersion != 0 {
		s.version = byte(s.cfg.ProtoVersion)
	} else if _, ok := s.cfg.Compressor.(SnappyCompressor); ok {
		s.version = protoV4 // v5 has no Snappy
	}
	err := s.control.connect(ctx)
	var refused *versionError
	if s.cfg.ProtoVersion == 0 && s.version > protoV4 && errors.As(err, &refused) {
		s.version = protoV4
		err = s.control.connect(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: %w", ErrNoConnectionsStarted, err)
	}
	return s.awaitNodes(ctx)
}

// quoteIdentifier returns a CQL identifier that means exactly name.
func quoteIdentifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// tlsConfig returns the TLS configuration for addr: a contact point is verified by the name the user wrote.
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

// contacts returns the addresses for a control connection: nodes that are connected, other nodes, then the contact points, which are
// resolved anew since every node may have got another address.
func (s *Session) contacts(ctx context.Context) ([]string, error) {
	up, down := failoverOrder(s.topo.Load().nodes, s.control.lastAddr(), func(n *node) bool { return n.pool.isUp() })
	points, err := s.contactPoints(ctx)
	addrs := append(up, points...)
	for _, a := range down {
		if !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	if len(addrs) == 0 {
		return nil, err
	}
	return addrs, nil
}

// setView swaps in a new snapshot. A node is who its host id says, and keeps its pool whatever its address is. Only one goroutine at a time
// calls it.
func (s *Session) setView(view clusterView) {
	old, nodes := s.swapTopology(view)
	for _, n := range nodes {
		addr := n.info.addr
		switch prev := old.nodeByID(n.info.id); {
		case prev != nil:
			n.pool.move(addr.String())
			n.pool.revive()
		case len(old.nodes) > 0: // at the start, connect fills them and looks at the errors
			s.log.Info("node added", "node", addr, "dc", n.info.dc, "rack", n.info.rack)
			n.pool.refill()
		}
	}
	for _, prev := range old.nodes {
		if !slices.ContainsFunc(nodes, func(n *node) bool { return n.pool == prev.pool }) {
			s.log.Info("node removed", "node", prev.info.addr)
			s.wg.Go(func() { s.retirePool(prev.pool) })
		}
	}
	s.notify.hosts()
}

// swapTopology makes the snapshot of a view the session's, and returns the one before and the nodes of the new one: none when the session
// is closed.
func (s *Session) swapTopology(view clusterView) (old *topology, nodes []*node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return &topology{}, nil
	}
	old = s.topo.Load()
	for _, h := range view.hosts {
		if h.barred {
			continue
		}
		n := &node{info: h}
		if prev := old.nodeByID(h.id); prev != nil {
			n.pool = prev.pool
		} else {
			n.pool = s.newPool(h)
		}
		nodes = append(nodes, n)
	}
	topo := newTopology(nodes, &view, &s.routing)
	s.topo.Store(topo)
	topo.followTablets(old)
	return old, nodes
}

// retirePool lets the requests of a removed node's connections end.
func (s *Session) retirePool(p *pool) {
	ctx, cancel := context.WithTimeout(s.retire, s.cfg.Timeout)
	defer cancel()
	_ = p.close(ctx)
}

// event reacts to what need not wait for the next view.
func (s *Session) event(e any) {
	if e, ok := e.(statusEvent); ok && e.change == "UP" {
		addr := s.reached(e.addr)
		for _, n := range s.topo.Load().nodes {
			if n.info.addr == addr {
				n.pool.retryNow()
			}
		}
	}
}

func (s *Session) isUp(id UUID) bool {
	n := s.topo.Load().nodeByID(id)
	return n != nil && n.pool.isUp()
}

// nextTimestamp returns the time in microseconds, always later than the one before it.
func (s *Session) nextTimestamp(now time.Time) int64 {
	for {
		last := s.timestamp.Load()
		next := max(now.UnixMicro(), last+1)
		if s.timestamp.CompareAndSwap(last, next) {
			return next
		}
	}
}

// Close ends the session: new requests are refused, those under way may end within ClusterConfig.Timeout, then all connections are
// closed. It returns when no goroutine and no socket of the session is left, but does not wait longer than that for the program's own code
// that the session has called. Further calls wait for the first.
func (s *Session) Close() { _ = s.CloseContext(context.Background()) }

// CloseContext is Close, without waiting any longer once ctx has ended; it then returns ctx's error.
func (s *Session) CloseContext(ctx context.Context) error {
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
	defer context.AfterFunc(ctx, s.hurry)()
	s.cancel()
	errs := []error{s.notify.stop(ctx), awaitAll(ctx, &s.control.wg)}
	s.schema.close()
	s.mu.Lock() // after this no view is set any more
	nodes := s.topo.Load().nodes
	s.mu.Unlock()
	ended := make([]error, len(nodes)+1)
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { ended[i] = n.pool.close(ctx) })
	}
	if c := s.control.take(); c != nil {
		ended[len(nodes)] = c.drain(ctx)
	}
	wg.Wait()
	s.wg.Wait()
	s.hurry()
	return errors.Join(append(append(errs, ended...), s.endRaces(ctx))...)
}

// Closed reports whether Close was called.
func (s *Session) Closed() bool { return s.closed.Load() }

// ProtoVersion returns the native protocol version in use.
func (s *Session) ProtoVersion() int { return int(s.version) }

// GetHosts returns the nodes of the cluster as last read from the system tables, by host id.
func (s *Session) GetHosts() []*HostInfo {
	nodes := s.topo.Load().nodes
	hosts := make([]*HostInfo, len(nodes))
	for i, n := range nodes {
		hosts[i] = n.info
	}
	return hosts
}

// AwaitSchemaAgreement waits until all nodes that are up report the same schema version, at most as long as ctx and
// ClusterConfig.MaxWaitSchemaAgreement allow; then it returns ErrSchemaAgreement. The session does so by itself after each schema change.
func (s *Session) AwaitSchemaAgreement(ctx context.Context) error {
	return s.awaitSchemaAgreement(ctx, s.control.current)
}

func (s *Session) awaitSchemaAgreement(ctx context.Context, pick func() *conn) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.MaxWaitSchemaAgreement)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	err := s.control.awaitSchemaAgreement(ctx, pick)
	if err != nil && s.closed.Load() {
		err = fmt.Errorf("%w: %w", ErrSessionClosed, err)
	}
	return err
}

// contactPoints resolves the configured hosts, and remembers which name an address came from.
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
