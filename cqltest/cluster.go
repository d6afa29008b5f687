// SPDX-License-Identifier: Apache-2.0

// Package cqltest is a CQL cluster inside the test that uses it: nodes that speak the native protocol (v4 and v5) on loopback sockets or in
// memory, one set of data behind them, the system tables and events that drivers live by, ScyllaDB's shards and tablets, and faults on
// demand. Nothing needs to be installed.
//
//	func TestMyProgram(t *testing.T) {
//		cluster := cqltest.New(t, cqltest.Config{})
//		err := cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
//			CREATE TABLE shop.items (id int PRIMARY KEY, name text)`)
//		...
//		session, err := vecql.NewCluster(cluster.Hosts()...).CreateSession()
//
// The data is the cluster's, not the nodes': a node that was killed has missed nothing when it comes back, and there is no hint, repair or
// stale read. What nodes do have of their own is their connections, prepared statements, shards, state (up, down, paused) and faults.
// A request whose consistency level needs more replicas than are up gets Unavailable, with the numbers that Cassandra would send.
// CQL that is not implemented gets an error that names it.
//
// Other things that real clusters do not do: news of nodes that come and go spread at once, all nodes agree on the schema at once (but see
// Node.SetSchemaVersion), a replica that is paused still counts as alive, ANY never fails, a request with the beta flag is refused, and the
// bytes that a client sends too many are dropped without closing the connection.
package cqltest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// database is what the nodes need of the data. It is engine.Engine, or a script in tests of the nodes alone.
type database interface {
	AddVirtual(engine.Virtual)
	Prepare(keyspace, text string) (*engine.Statement, error)
	Valid(s *engine.Statement) bool
	Token(s *engine.Statement, values []engine.Value, named bool) (tok int64, ok bool)
	Execute(ctx context.Context, s *engine.Statement, r *engine.Request) (*engine.Result, error)
	Batch(ctx context.Context, typ engine.BatchType, entries []engine.BatchEntry, r *engine.Request) (*engine.Result, error)
	Replication(keyspace string) (map[string]string, bool)
	SchemaVersion() [16]byte
}

// Cluster is a running cluster. Its methods may be called by many at a time.
type Cluster struct {
	cfg    Config
	db     database
	memory *memNet // nil unless Config.Network is InMemory
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	topo      atomic.Pointer[topology]
	placed    atomic.Pointer[placements]
	rules     list[Rule]
	connRules list[ConnRule]
	clock     atomic.Int64 // nanoseconds that StepClock has added
	mute      atomic.Bool
	edit      atomic.Pointer[func(*Node, string, []Row) []Row]
	nextConn  atomic.Uint64
	tablets   struct{ count, generation atomic.Uint64 }
	traces    traces

	mu     sync.Mutex // changes of nodes and addresses; held over listening, not over requests
	nodes  int        // numbers given so far
	prefix [2]byte    // Addresses: 127.prefix.
	ports  [2]uint16  // Addresses: plain and shard-aware
	users  map[string]string
	class  string // of the authenticator
	tls    *tls.Config
	closed bool
}

// TB is what New needs of testing.TB.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// New starts a cluster that is closed when the test ends. It fails the test when that is not possible.
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

// Start starts a cluster. It is the caller's to close.
func Start(cfg Config) (*Cluster, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Cluster{}
	return c, c.start(cfg, engine.New(engine.Options{
		Now: c.now, Version: cfg.Version, Scylla: cfg.Scylla != nil, BatchSizeFail: cfg.BatchSizeFail, DataCenters: c.dataCenters,
	}))
}

// start makes the nodes over db.
func (c *Cluster) start(cfg Config, db database) error {
	c.cfg, c.db, c.users, c.class, c.tls = cfg, db, cfg.Users, cfg.Authenticator, cfg.TLS
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if cfg.Network == InMemory {
		c.memory = newMemNet(cfg.Window)
	}
	if cfg.Scylla != nil {
		c.tablets.count.Store(uint64(cfg.Scylla.Tablets))
	}
	c.topo.Store(newTopology(nil))
	c.addSystemTables()
	for _, dc := range cfg.DataCenters {
		for i := range dc.Nodes {
			if _, err := c.addNode(dc.Name, dc.Racks[i%len(dc.Racks)]); err != nil {
				c.Close()
				return err
			}
		}
	}
	return nil
}

// dataCenters returns the names of the data centres that have nodes.
func (c *Cluster) dataCenters() []string { return sortedKeys(c.topo.Load().byDC) }

// Close ends all nodes and connections, and waits for everything that the cluster has started. Closing it again does nothing.
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

// now is the cluster's clock.
func (c *Cluster) now() time.Time { return c.cfg.Now().Add(time.Duration(c.clock.Load())) }

// StepClock moves the cluster's clock by d, which may be negative.
func (c *Cluster) StepClock(d time.Duration) { c.clock.Add(int64(d)) }

// Nodes returns the nodes, in the order of their numbers.
func (c *Cluster) Nodes() []*Node { return slices.Clone(c.topo.Load().nodes) }

// Node returns node i of Nodes.
func (c *Cluster) Node(i int) *Node { return c.topo.Load().nodes[i] }

// Hosts returns the addresses of all nodes, "address:port": contact points for a driver.
func (c *Cluster) Hosts() []string {
	var hosts []string
	for _, n := range c.topo.Load().nodes {
		hosts = append(hosts, n.Addr().String())
	}
	return hosts
}

// Exec runs CQL without a driver: one statement, or several with ";" between them. It is for schemas and fixtures: there is no consistency
// level, no counting and no fault, and rows of SELECT are dropped. Clients hear of schema changes. The error is an *Error.
func (c *Cluster) Exec(cql string) error {
	keyspace := ""
	for _, text := range splitStatements(cql) {
		s, err := c.db.Prepare(keyspace, text)
		if err != nil {
			return execError(text, err)
		}
		res, err := c.db.Execute(c.ctx, s, &engine.Request{Consistency: clOne})
		if err != nil {
			return execError(text, err)
		}
		if res.Kind == engine.ResultSetKeyspace {
			keyspace = res.Keyspace
		}
		c.announce(res)
	}
	return nil
}

func execError(text string, err error) error {
	if len(text) > 100 {
		text = text[:100] + "..."
	}
	return fmt.Errorf("%q: %w", text, errorOf(err))
}

// announce tells clients about what a statement has changed in the schema.
func (c *Cluster) announce(res *engine.Result) {
	if c.mute.Load() {
		return
	}
	changes := res.Changes
	if len(changes) == 0 && res.Change != nil {
		changes = []engine.Change{*res.Change}
	}
	if len(changes) > 1 && changes[0].Change == "DROPPED" { // what was in a keyspace goes before it
		changes = append(slices.Clone(changes[1:]), changes[0])
	}
	for _, ch := range changes {
		c.Event(Event{Type: "SCHEMA_CHANGE", Change: ch.Change, Target: ch.Target, Keyspace: ch.Keyspace, Name: ch.Name})
	}
}

// Event pushes an event, true or not, to all connections that registered for its type.
func (c *Cluster) Event(e Event) {
	body := e.body()
	for _, n := range c.topo.Load().nodes {
		n.event(e.Type, body)
	}
}

// MuteEvents says whether the events that changes of nodes and schema cause are held back, for tests of clients that miss them.
func (c *Cluster) MuteEvents(mute bool) { c.mute.Store(mute) }

// happened pushes an event about node n from all others, and from itself when it is up.
func (c *Cluster) happened(typ, change string, addr netip.AddrPort) {
	if !c.mute.Load() {
		c.Event(Event{Type: typ, Change: change, Node: addr})
	}
}

// SetUsers replaces the passwords by user name, for connections to come; nil: no authentication.
func (c *Cluster) SetUsers(users map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users = users
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

// SetTLS replaces the configuration of TLS, for connections to come; nil: plain TCP.
func (c *Cluster) SetTLS(cfg *tls.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tls = cfg
}

func (c *Cluster) security() (map[string]string, *tls.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.users, c.tls
}

// AddNode adds a node to a data centre. Clients hear NEW_NODE and UP.
func (c *Cluster) AddNode(dc, rack string) (*Node, error) {
	n, err := c.addNode(dc, rack)
	if err != nil {
		return nil, err
	}
	c.happened("TOPOLOGY_CHANGE", "NEW_NODE", n.Addr())
	c.happened("STATUS_CHANGE", "UP", n.Addr())
	return n, nil
}

var errClosed = errors.New("cqltest: the cluster is closed, or the node removed")

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

// RemoveNode stops a node and takes it out of the ring. Clients hear DOWN and REMOVED_NODE.
func (c *Cluster) RemoveNode(n *Node) {
	addr := n.Addr()
	c.mu.Lock()
	c.topo.Store(newTopology(slices.DeleteFunc(c.Nodes(), func(o *Node) bool { return o == n })))
	c.mu.Unlock()
	n.removed.Store(true)
	n.stop()
	c.happened("STATUS_CHANGE", "DOWN", addr)
	c.happened("TOPOLOGY_CHANGE", "REMOVED_NODE", addr)
}
