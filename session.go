// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
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
	cfg        ClusterConfig
	log        *slog.Logger
	version    byte     // negotiated at the start
	tlsNames   sync.Map // address -> the contact point's name that it was resolved from, for TLS
	topo       atomic.Pointer[topology]
	statements *statements
	control    *control
	start      atomic.Uint32 // where the next request's route begins
	timestamp  atomic.Int64  // the last one given out, microseconds

	ctx    context.Context // ends with the session: dialling and background work
	cancel context.CancelFunc
	mu     sync.Mutex     // guards the building of topo
	wg     sync.WaitGroup // retired pools
	closed atomic.Bool
	done   chan struct{} // closed when Close has finished
}

// NewSession connects to the cluster that cfg describes. On an error nothing is left running.
func NewSession(cfg ClusterConfig) (*Session, error) {
	return NewSessionContext(context.Background(), cfg)
}

// NewSessionContext is NewSession, given up when ctx ends. ctx has no meaning for the session after that.
func NewSessionContext(ctx context.Context, cfg ClusterConfig) (*Session, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Session{cfg: cfg, log: cfg.Logger, statements: newStatements(cfg.MaxPreparedStmts), done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.topo.Store(&topology{})
	s.control = &control{
		dial: s.dial, contacts: s.contacts, onView: s.setView, onEvent: s.event, isUp: s.isUp, log: s.log,
		refresh: cfg.ReconnectInterval, timeout: cfg.ConnectTimeout,
		lost: make(chan struct{}, 1), poke: make(chan struct{}, 1),
	}
	if err := s.connect(ctx); err != nil {
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
	nodes := s.topo.Load().nodes
	results := make(chan error, len(nodes))
	for _, n := range nodes {
		go func() { results <- n.pool.fill(ctx) }()
	}
	var errs []error
	for range nodes {
		if err := <-results; err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == len(nodes) {
		return fmt.Errorf("%w: %w", ErrNoConnectionsStarted, errors.Join(errs...))
	}
	return nil
}

// dial opens a connection to addr and puts the session's keyspace in use on it.
func (s *Session) dial(ctx context.Context, addr string, onEvent func(any), closed func(*conn, error)) (*conn, error) {
	heartbeat := max(s.cfg.HeartbeatInterval, 0)
	cfg := &connConfig{
		dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return s.cfg.Dialer.DialContext(ctx, "tcp", addr)
		},
		tls:     s.tlsConfig(addr),
		version: s.version, compressor: s.cfg.Compressor, auth: s.cfg.Authenticator,
		options: map[string]string{"CQL_VERSION": s.cfg.CQLVersion, "DRIVER_NAME": "vecql", "DRIVER_VERSION": driverVersion},
		timeout: s.cfg.Timeout, connectTimeout: s.cfg.ConnectTimeout, heartbeat: heartbeat,
		logger: s.log, onEvent: onEvent, onClose: closed,
	}
	return dialConn(ctx, cfg, addr)
}

// dialNode opens a connection for requests.
func (s *Session) dialNode(ctx context.Context, addr string, closed func(*conn, error)) (*conn, error) {
	c, err := s.dial(ctx, addr, nil, closed)
	if err != nil || s.cfg.Keyspace == "" {
		return c, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ConnectTimeout)
	defer cancel()
	if _, err := systemQuery(ctx, c, `USE `+quoteIdentifier(s.cfg.Keyspace)); err != nil {
		err = fmt.Errorf("use keyspace %q: %w", s.cfg.Keyspace, err)
		c.close(err)
		return nil, err
	}
	return c, nil
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
	var up, down []string
	for _, n := range s.topo.Load().nodes {
		if n.pool.pick() != nil {
			up = append(up, n.info.addr.String())
		} else {
			down = append(down, n.info.addr.String())
		}
	}
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

// setView swaps in a new snapshot. Nodes keep their pool as long as they keep their address.
func (s *Session) setView(view clusterView) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return
	}
	old := s.topo.Load()
	nodes := make([]*node, 0, len(view.hosts))
	for _, h := range view.hosts {
		n := &node{info: h}
		if prev := old.nodeByID(h.id); prev != nil && prev.info.addr == h.addr {
			n.pool = prev.pool
		} else {
			addr := h.addr.String()
			n.pool = newPool(s.ctx, s.cfg.NumConns, func(ctx context.Context, closed func(*conn, error)) (*conn, error) {
				return s.dialNode(ctx, addr, closed)
			}, s.log.With("node", addr))
			if len(old.nodes) > 0 { // at the start, connect fills them and looks at the errors
				s.log.Info("node added", "node", addr, "dc", h.dc, "rack", h.rack)
				n.pool.refill()
			}
		}
		nodes = append(nodes, n)
	}
	s.topo.Store(newTopology(nodes, view.partitioner, view.keyspaces))
	for _, prev := range old.nodes {
		if !slices.ContainsFunc(nodes, func(n *node) bool { return n.pool == prev.pool }) {
			s.log.Info("node removed", "node", prev.info.addr)
			s.wg.Go(func() { s.retire(prev.pool) })
		}
	}
}

// retire lets the requests of a removed node's connections end.
func (s *Session) retire(p *pool) {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Timeout)
	defer cancel()
	for _, c := range p.stop() {
		_ = c.drain(ctx)
	}
}

// event reacts to what need not wait for the next view.
func (s *Session) event(e any) {
	if e, ok := e.(statusEvent); ok && e.change == "UP" {
		for _, n := range s.topo.Load().nodes {
			if n.info.addr == e.addr {
				n.pool.retryNow()
			}
		}
	}
}

func (s *Session) isUp(id UUID) bool {
	n := s.topo.Load().nodeByID(id)
	return n != nil && n.pool.pick() != nil
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
// closed. It returns when no goroutine and no socket of the session is left. Further calls wait for the first.
func (s *Session) Close() { _ = s.CloseContext(context.Background()) }

// CloseContext is Close, without waiting for requests under way once ctx has ended; it then returns ctx's error.
func (s *Session) CloseContext(ctx context.Context) error {
	if !s.closed.CompareAndSwap(false, true) {
		<-s.done
		return nil
	}
	defer close(s.done)
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	s.cancel()
	s.control.wg.Wait()
	s.mu.Lock() // after this no view is set any more
	nodes := s.topo.Load().nodes
	s.mu.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, len(nodes)+1)
	for i, n := range nodes {
		wg.Go(func() {
			for _, c := range n.pool.stop() {
				errs[i] = errors.Join(errs[i], c.drain(ctx))
			}
		})
	}
	if c := s.control.take(); c != nil {
		errs[len(nodes)] = c.drain(ctx)
	}
	wg.Wait()
	s.wg.Wait()
	return errors.Join(errs...)
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
	return s.control.awaitSchemaAgreement(ctx, pick)
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
