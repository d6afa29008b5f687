// SPDX-License-Identifier: Apache-2.0

// Package cqltest runs a CQL cluster inside a test: nodes that serve the native protocol (v3 to v5) on loopback
// sockets or in memory, one set of data behind them, the system tables and events that drivers depend on, ScyllaDB's
// shards and tablets, and faults on demand. Nothing needs to be installed.
//
//	func TestMyProgram(t *testing.T) {
//		cluster := cqltest.New(t, cqltest.Config{})
//		err := cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
//			CREATE TABLE shop.items (id int PRIMARY KEY, name text)`)
//		...
//		session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: cluster.Hosts()})
//
// The data belongs to the cluster, not to the nodes: a killed node has missed nothing when it restarts, and there are
// no hints, repairs or stale reads. Each node has its own connections, prepared statements, shards, state (up, down,
// paused) and faults. A request whose consistency level needs more replicas than are up gets Unavailable, with the
// numbers that Cassandra would send. CQL that is not implemented gets an error that names it.
//
// Not supported: statements that change roles or grant permissions (every user of Config.Users is a superuser, and
// the tables of system_auth are read-only), functions, aggregates, materialized views, triggers, SASI indexes,
// COMPACT STORAGE and custom types. The settings in system_views are only Config's and the addresses, and the
// keyspace system_distributed has only ScyllaDB's tables of change data capture.
//
// Other differences from real clusters: changes of the topology spread at once; all nodes agree on the schema at once
// (but see Node.SetSchemaVersion); a paused replica still counts as alive; ANY never fails; surplus bytes in a request
// are dropped without closing the connection.
package cqltest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cqltest/internal/engine"
	"github.com/vecql/vecql/internal/cqltext"
)

// database is the part of the data that the nodes use: an engine.Engine, or a script in tests of the nodes alone.
type database interface {
	AddVirtual(engine.Virtual)
	Prepare(keyspace, text string) (*engine.Statement, error)
	Valid(s *engine.Statement) bool
	Token(s *engine.Statement, values []engine.Value, named bool) (tok int64, ok bool)
	Execute(ctx context.Context, s *engine.Statement, r *engine.Request) (*engine.Result, error)
	Batch(ctx context.Context, typ engine.BatchType, entries []engine.BatchEntry, r *engine.Request) (*engine.Result,
		error)
	Replication(keyspace string) (map[string]string, bool)
	Consistency(keyspace string) string
	UsesTablets(keyspace string) bool
	SchemaVersion() [16]byte
}

// A Cluster is a running cluster. Its methods are safe for concurrent use.
type Cluster struct {
	cfg    Config
	db     database
	memory *memNet // nil unless Config.Network is InMemory
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	watch  watch

	topo      atomic.Pointer[topology]
	placed    atomic.Pointer[placements]
	rules     list[Rule]
	observed  list[Rule] // of Observe
	connRules list[ConnRule]
	clock     atomic.Int64 // nanoseconds that StepClock has added
	mute      atomic.Bool
	edit      atomic.Pointer[func(*Node, string, []Row) []Row]
	nextConn  atomic.Uint64
	tablets   struct{ count, generation, leaders atomic.Uint64 }
	routes    atomic.Pointer[map[routeKey]ClientRoute] // nil means none
	traces    traces
	streams   streams

	mu     sync.Mutex // guards changes of nodes and addresses; held while listening, not during requests
	nodes  int        // numbers assigned so far
	prefix [2]byte    // for Addresses: 127.prefix.
	port   uint16     // for Addresses
	users  passwords
	class  string // of the authenticator, named in AUTHENTICATE
	tls    *tls.Config
	closed bool
}

// TB is the part of testing.TB that New uses.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// New starts a cluster and closes it when the test ends. If the start fails, the test fails.
func New(t TB, cfg Config) *Cluster {
	t.Helper()
	c, err := Start(cfg)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(c.Close)
	return c
}

// Start starts a cluster. The caller closes it.
func Start(cfg Config) (*Cluster, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Cluster{}
	c.cfg.Now = cfg.Now
	options := engine.Options{
		Now: c.now, Version: cfg.Version, Scylla: cfg.Scylla != nil, BatchSizeFail: cfg.BatchSizeFail,
		DataCenters: c.dataCenters, Cluster: cfg.ClusterName, Roles: c.roles, SAI: engine.SAI(cfg.SAI),
	}
	if s := cfg.Scylla; s != nil {
		options.Release, options.Tablets, options.Streams = s.Version, s.Tablets > 0, &c.streams
		c.streams.cluster = c
		options.VectorStore = (*engine.VectorStore)(s.VectorStore)
	}
	return c, c.start(cfg, engine.New(options))
}

// start creates the nodes over db.
func (c *Cluster) start(cfg Config, db database) error {
	c.cfg, c.db, c.users, c.class, c.tls = cfg, db, hide(cfg.Users), cfg.Authenticator, cfg.TLS
	c.cfg.Users = nil
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if cfg.Network == InMemory {
		c.memory = newMemNet(cfg.Window)
	}
	if cfg.Scylla != nil {
		c.tablets.count.Store(uint64(cfg.Scylla.Tablets))
	}
	if len(cfg.Addrs) > 0 {
		c.port = cfg.Addrs[0].Port() // also of further nodes
	}
	c.topo.Store(newTopology(nil))
	c.addSystemTables()
	c.watch.wakes = make(chan struct{}, 1)
	done := c.ctx.Done()
	c.wg.Go(func() { c.watchRequests(done) })
	for _, dc := range cfg.DataCenters {
		for i := range dc.Nodes {
			if _, err := c.addNode(dc.Name, dc.Racks[i%len(dc.Racks)]); err != nil {
				c.Close()
				return err
			}
		}
	}
	c.streams.renew(0, false)
	return nil
}

// dataCenters returns the number of nodes by data center.
func (c *Cluster) dataCenters() map[string]int {
	out := map[string]int{}
	for dc, nodes := range c.topo.Load().byDC {
		out[dc] = len(nodes)
	}
	return out
}

// Close stops all nodes and connections, and waits for all goroutines of the cluster. Closing a closed cluster does
// nothing.
func (c *Cluster) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	for _, n := range c.Nodes() {
		n.stop()
	}
	c.wg.Wait()
}

// now returns the time of the cluster's clock.
func (c *Cluster) now() time.Time { return c.cfg.Now().Add(time.Duration(c.clock.Load())) }

// StepClock moves the cluster's clock by d, which may be negative.
func (c *Cluster) StepClock(d time.Duration) { c.clock.Add(int64(d)) }

// Nodes returns the nodes, ordered by number.
func (c *Cluster) Nodes() []*Node { return slices.Clone(c.topo.Load().nodes) }

// Node returns node i of Nodes.
func (c *Cluster) Node(i int) *Node { return c.topo.Load().nodes[i] }

// Hosts returns the addresses of all nodes, "address:port": the contact points for a driver.
func (c *Cluster) Hosts() []string {
	var hosts []string
	for _, n := range c.topo.Load().nodes {
		hosts = append(hosts, n.Addr().String())
	}
	return hosts
}

// Exec executes CQL without a driver: one statement, or several separated by ";". It is for schemas and fixtures: it
// applies no consistency level and no fault, counts nothing, and drops the rows of SELECT. Clients receive the events
// of schema changes. The error is an *Error.
func (c *Cluster) Exec(cql string) error {
	keyspace := ""
	for _, text := range cqltext.Statements(cql) {
		s, err := c.db.Prepare(keyspace, text)
		if err != nil {
			return newExecError(text, err)
		}
		res, err := c.db.Execute(c.ctx, s, &engine.Request{Consistency: clOne})
		if err != nil {
			return newExecError(text, err)
		}
		if res.Kind == engine.ResultSetKeyspace {
			keyspace = res.Keyspace
		}
		c.announce(res)
	}
	return nil
}

// ExecFS executes the CQL in files: for each pattern (see fs.Glob; none means "*.cql") those that it matches, ordered
// by name. A pattern that matches no file is an error. Errors name the file, and wrap an *Error or an error of the
// file system.
func (c *Cluster) ExecFS(fsys fs.FS, patterns ...string) error {
	if len(patterns) == 0 {
		patterns = []string{"*.cql"}
	}
	for _, pattern := range patterns {
		files, err := fs.Glob(fsys, pattern)
		if err != nil {
			return fmt.Errorf("cqltest: execute %s: %w", pattern, err)
		}
		if len(files) == 0 {
			return fmt.Errorf("cqltest: execute %s: %w", pattern, fs.ErrNotExist)
		}
		for _, name := range files {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return fmt.Errorf("cqltest: execute %s: %w", name, err)
			}
			if err := c.Exec(strings.TrimPrefix(string(text), "\ufeff")); err != nil {
				return fmt.Errorf("%w (%s)", err, name)
			}
		}
	}
	return nil
}

// An execError is the error of a statement of Exec.
type execError struct {
	text string // shortened
	err  *Error
}

func (e *execError) Error() string {
	return fmt.Sprintf("cqltest: execute %q: error 0x%04X: %s", e.text, e.err.Code, e.err.message())
}

func (e *execError) Unwrap() error { return e.err }

func newExecError(text string, err error) error {
	if len(text) > 100 {
		text = text[:100] + "..."
	}
	return &execError{text, errorOf(err)}
}

// announce pushes the schema changes of a statement to clients.
func (c *Cluster) announce(res *engine.Result) {
	if c.mute.Load() {
		return
	}
	changes := res.Changes
	if len(changes) == 0 && res.Change != nil {
		changes = []engine.Change{*res.Change}
	}
	// clients hear of a keyspace's contents before the keyspace itself
	if len(changes) > 1 && changes[0].Change == "DROPPED" {
		changes = append(slices.Clone(changes[1:]), changes[0])
	}
	for _, ch := range changes {
		c.Event(Event{Type: "SCHEMA_CHANGE", Change: ch.Change, Target: ch.Target, Keyspace: ch.Keyspace, Name: ch.Name})
	}
}

// Event pushes an event to all connections that registered for its type. The event need not be true.
func (c *Cluster) Event(e Event) {
	body := e.body()
	for _, n := range c.topo.Load().nodes {
		n.event(e.Type, body)
	}
}

// MuteEvents sets whether the events of changes to nodes and schema are suppressed, for tests of clients that miss
// them.
func (c *Cluster) MuteEvents(mute bool) { c.mute.Store(mute) }

// happened pushes an event about the node at addr from all nodes that are up.
func (c *Cluster) happened(typ, change string, addr netip.AddrPort) {
	if !c.mute.Load() {
		c.Event(Event{Type: typ, Change: change, Node: addr})
	}
}

// SetUsers replaces the passwords by user name for future connections; nil means no authentication.
func (c *Cluster) SetUsers(users map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users = hide(users)
}

// SetAuthenticator replaces the class that AUTHENTICATE names.
func (c *Cluster) SetAuthenticator(class string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.class = class
}

func (c *Cluster) authenticator() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.class
}

// SetTLS replaces the configuration of TLS for future connections; nil means plain TCP.
func (c *Cluster) SetTLS(cfg *tls.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tls = cfg
}

func (c *Cluster) security() (passwords, *tls.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.users, c.tls
}

// AddNode adds a node to a data center. Clients receive NEW_NODE and UP.
func (c *Cluster) AddNode(dc, rack string) (*Node, error) {
	n, err := c.addNode(dc, rack)
	if err != nil {
		return nil, err
	}
	c.streams.renew(0, false)
	c.happened("TOPOLOGY_CHANGE", "NEW_NODE", n.Addr())
	c.happened("STATUS_CHANGE", "UP", n.Addr())
	return n, nil
}

var errClosed = errors.New("cqltest: the cluster is closed or the node was removed")

// addNode starts a node and publishes the topology that contains it. It sends no events.
func (c *Cluster) addNode(dc, rack string) (*Node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	n := newNode(c, c.nodes, dc, rack)
	if err := n.listen(); err != nil {
		return nil, err
	}
	c.nodes++
	c.topo.Store(newTopology(append(c.Nodes(), n)))
	return n, nil
}

// RemoveNode stops a node and removes it from the ring. Clients receive DOWN and REMOVED_NODE.
func (c *Cluster) RemoveNode(n *Node) {
	addr := n.Addr()
	c.mu.Lock()
	c.topo.Store(newTopology(slices.DeleteFunc(c.Nodes(), func(o *Node) bool { return o == n })))
	c.streams.renew(0, false)
	c.mu.Unlock()
	n.removed.Store(true)
	n.stop()
	c.happened("STATUS_CHANGE", "DOWN", addr)
	c.happened("TOPOLOGY_CHANGE", "REMOVED_NODE", addr)
}
