// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/gocql/gocql/events"
	"github.com/gocql/gocql/tablets"
	"github.com/vecql/vecql/cqltest"
)

// scylla is a cluster of ScyllaDB.
var scylla = cqltest.Config{Nodes: 2, Scylla: &cqltest.Scylla{}}

// lwtPolicy records whether it was asked for conditional requests.
type lwtPolicy struct {
	gocql.SimpleRetryPolicy
	lwt, other int
}

func (p *lwtPolicy) Attempt(q gocql.RetryableQuery) bool {
	p.other++
	return p.SimpleRetryPolicy.Attempt(q)
}

func (p *lwtPolicy) AttemptLWT(q gocql.RetryableQuery) bool {
	p.lwt++
	return q.IsLWT() && p.SimpleRetryPolicy.AttemptLWT(q)
}

// TestRetryOfAConditionalStatement: the policy's own methods for it decide.
func TestRetryOfAConditionalStatement(t *testing.T) {
	c := newCluster(t, scylla)
	o := &observer{}
	p := &lwtPolicy{SimpleRetryPolicy: gocql.SimpleRetryPolicy{NumRetries: 1}}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.RetryPolicy, cfg.QueryObserver = p, o })
	q := s.Query("INSERT INTO items (id) VALUES (?) IF NOT EXISTS", 1).Idempotent(true)
	if q.IsLWT() {
		t.Error("known before the statement is prepared")
	}
	fail(c, "INSERT", cqltest.Error{Code: cqltest.CodeOverloaded})
	if applied, err := q.MapScanCAS(map[string]any{}); err != nil || !applied || !q.IsLWT() {
		t.Error(applied, err, q.IsLWT())
	}
	if p.lwt != 1 || p.other != 0 || len(o.Queries) != 2 || o.Queries[0].Host != o.Queries[1].Host {
		t.Errorf("%+v", p)
	}
	fail(c, "SELECT", cqltest.Error{Code: cqltest.CodeOverloaded})
	if err := s.Query("SELECT id FROM items").Exec(); err != nil || p.lwt != 1 || p.other != 1 {
		t.Error(err, p)
	}
}

// TestRequestsAreSentAgainByDefault: three times, on other nodes.
func TestRequestsAreSentAgainByDefault(t *testing.T) {
	c := newCluster(t, scylla)
	s := newSession(t, c)
	c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "FROM items", Times: 1, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	q := s.Query("SELECT id FROM items")
	if err := q.Exec(); err != nil || q.Attempts() != 2 {
		t.Error(err, q.Attempts())
	}
}

// TestRateLimit is an error of its own.
func TestRateLimit(t *testing.T) {
	c := newCluster(t, scylla)
	s := newSession(t, c)
	c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Error: &cqltest.Error{Code: cqltest.CodeRateLimit, Message: "slow down"}})
	err := s.Query("INSERT INTO items (id) VALUES (?)", 1).Exec()
	var e *gocql.RequestErrRateLimitReached
	if !errors.As(err, &e) || e.Message != "slow down" {
		t.Errorf("%T %v", err, err)
	}
}

// TestHostID: a request goes to the node that it names.
func TestHostID(t *testing.T) {
	s := newSession(t, newCluster(t, scylla))
	for _, h := range s.GetHosts() {
		for range 3 {
			if it := s.Query("SELECT id FROM items").SetHostID(h.HostID()).Iter(); it.Host() != h || it.Close() != nil || !it.LastPage() {
				t.Error(it.Host(), "want", h)
			}
		}
	}
	e, err := gocql.NewSingleHostQueryExecutor(gocql.NewCluster(s.GetHosts()[0].ConnectAddressAndPort()))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var cluster string
	if it := e.Iter("SELECT cluster_name FROM system.local"); !it.Scan(&cluster) || cluster == "" || it.Close() != nil {
		t.Error(cluster)
	}
	if err := e.Exec("INSERT INTO shop.items (id) VALUES (?)", 1); err != nil {
		t.Error(err)
	}
}

// TestRequestTimeout sets the timeout of a query or a batch, not of the session.
func TestRequestTimeout(t *testing.T) {
	c := newCluster(t, scylla)
	s := newSession(t, c)
	run(t, s, "INSERT INTO items (id) VALUES (?)", 1)
	c.Inject(cqltest.Fault{Drop: true, Statement: "INSERT"})
	q := s.Query("INSERT INTO items (id) VALUES (?)", 1)
	if q.GetRequestTimeout() != 11*time.Second {
		t.Error(q.GetRequestTimeout())
	}
	if err := q.SetRequestTimeout(10 * time.Millisecond).Exec(); !errors.Is(err, gocql.ErrTimeoutNoResponse) {
		t.Errorf("%T %v", err, err)
	}
	b := s.Batch(gocql.UnloggedBatch).Query("INSERT INTO items (id) VALUES (?)", 1).SetRequestTimeout(10 * time.Millisecond)
	if err := b.Exec(); !errors.Is(err, gocql.ErrTimeoutNoResponse) {
		t.Errorf("%T %v", err, err)
	}
}

// warnings records the warnings of servers.
type warnings struct {
	mu   sync.Mutex
	seen []string
}

func (w *warnings) HandleWarnings(q gocql.ExecutableQuery, h *gocql.HostInfo, texts []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, q.Keyspace()+": "+strings.Join(texts, ","))
}

// TestWarnings of a response go to the handler of the session.
func TestWarnings(t *testing.T) {
	c := newCluster(t, scylla)
	w := &warnings{}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.WarningsHandlerBuilder = func(*gocql.Session) gocql.WarningHandler { return w }
	})
	c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Times: 1, Warnings: []string{"tombstones"}})
	run(t, s, "INSERT INTO items (id) VALUES (?)", 1)
	run(t, s, "INSERT INTO items (id) VALUES (?)", 1)
	if len(w.seen) != 1 || w.seen[0] != "shop: tombstones" {
		t.Error(w.seen)
	}
}

// TestSessionThatConnectsInTheBackground.
func TestSessionThatConnectsInTheBackground(t *testing.T) {
	c := newCluster(t, scylla)
	gate := make(chan struct{})
	cfg := gocql.NewCluster(c.Hosts()...)
	cfg.Dialer = dialFunc(func(ctx context.Context, network, addr string) (net.Conn, error) {
		<-gate
		return new(net.Dialer).DialContext(ctx, network, addr)
	})
	s, err := cfg.CreateSessionNonBlocking()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Query("SELECT key FROM system.local").Exec(); err != gocql.ErrSessionNotReady || s.Ready() != err || s.Vecql() != nil {
		t.Error(err)
	}
	close(gate)
	if err := s.WaitUntilReady(); err != nil || s.Ready() != nil || s.ID() == "" {
		t.Fatal(err)
	}
	run(t, s, "SELECT key FROM system.local")
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

func (f dialFunc) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return f(ctx, network, addr)
}

// TestDialerReceivesTheSourcePort, by which ScyllaDB selects the shard.
func TestDialerReceivesTheSourcePort(t *testing.T) {
	c := newCluster(t, scylla)
	var mu sync.Mutex
	ports := map[uint16]bool{}
	newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.Dialer = dialFunc(func(ctx context.Context, network, addr string) (net.Conn, error) {
			mu.Lock()
			ports[gocql.ScyllaGetSourcePort(ctx)] = true
			mu.Unlock()
			return new(gocql.ScyllaShardAwareDialer).DialContext(ctx, network, addr)
		})
	}).Close()
	mu.Lock()
	defer mu.Unlock()
	if !ports[0] || len(ports) < 2 {
		t.Error(ports)
	}
}

// TestAddressTranslatorOfAHost translates when a connection is opened.
func TestAddressTranslatorOfAHost(t *testing.T) {
	c := newCluster(t, scylla)
	var mu sync.Mutex
	ids := map[string]int{}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.AddressTranslator = gocql.AddressTranslatorFuncV2(func(hostID string, addr gocql.AddressPort) gocql.AddressPort {
			mu.Lock()
			defer mu.Unlock()
			ids[hostID]++
			return addr
		})
	})
	run(t, s, "SELECT key FROM system.local")
	mu.Lock()
	defer mu.Unlock()
	for _, h := range s.GetHosts() {
		if ids[h.HostID()] == 0 {
			t.Error("not asked for", h)
		}
	}
}

// TestEventsOfNodes are published.
func TestEventsOfNodes(t *testing.T) {
	c := newCluster(t, scylla)
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.Consistency = gocql.One })
	sub := s.SubscribeToEvents("test", 16, func(e events.Event) bool { return e.Type().IsClusterEvent() })
	added, err := c.AddNode("datacenter1", "rack1")
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := (<-sub.Events()).(*events.TopologyChangeEvent); !ok || e.Change != "NEW_NODE" || e.Port != int(added.Addr().Port()) {
		t.Error(e)
	}
	if e, ok := (<-sub.Events()).(*events.StatusChangeEvent); !ok || e.Change != "UP" {
		t.Error(e)
	}
	if err := sub.Stop(); err != nil || sub.Stop() == nil {
		t.Error(err)
	}
	if _, open := <-sub.Events(); open {
		t.Error("the channel is open")
	}
}

// TestPools are snapshots of the connections.
func TestPools(t *testing.T) {
	s := newSession(t, newCluster(t, scylla))
	n := 0
	s.IterateHostPools(func(p gocql.HostPoolInfo) bool {
		n++
		if p.GetConnectionCount() < 1 || p.IsClosed() || p.Host().HostID() == "" || s.GetHostPoolByID(p.Host().HostID()) == nil {
			t.Error(p)
		}
		return true
	})
	if n != 2 || s.GetHostPoolByID("none") != nil || s.GetHosts()[0].IsBusy(s) {
		t.Error(n)
	}
}

// TestTracer stores the ids, and reads the traces of the server.
func TestTracer(t *testing.T) {
	s := newSession(t, newCluster(t, scylla))
	tracer := gocql.NewTracer(s)
	if err := s.Query("SELECT id FROM items").Trace(tracer).Exec(); err != nil {
		t.Fatal(err)
	}
	ids := tracer.AllTraceIDs()
	if len(ids) != 1 || len(ids[0]) != 16 {
		t.Fatal(ids)
	}
	if _, err := tracer.IsReady(ids[0]); err != nil {
		t.Error(err)
	}
	if _, err := tracer.GetActivities(ids[0]); err != nil {
		t.Error(err)
	}
}

// attempts is an observer of all attempts of an execution.
type attempts struct {
	observer
	seen []gocql.ObservedQueryWithAttemptMetrics
}

func (o *attempts) ObserveQueryWithAttemptMetrics(_ context.Context, q gocql.ObservedQueryWithAttemptMetrics) {
	o.seen = append(o.seen, q)
}

// TestObserverOfAttempts receives the attempts so far.
func TestObserverOfAttempts(t *testing.T) {
	c := newCluster(t, scylla)
	o := &attempts{}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.QueryObserver = o })
	c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "FROM items", Times: 1, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	run(t, s, "SELECT id FROM items")
	if len(o.Queries) != 0 || len(o.seen) != 2 || o.seen[0].AttemptMetrics.Attempts() != 1 || o.seen[1].AttemptMetrics.Attempts() != 2 {
		t.Fatalf("%+v", o.seen)
	}
	var order []int
	o.seen[1].AttemptMetrics.ForEachAttempt(func(a gocql.AttemptMetric) bool {
		order = append(order, a.Attempt)
		return a.Host != nil && a.Latency > 0
	})
	if len(order) != 2 || order[0] != 0 || order[1] != 1 || o.seen[1].AttemptMetrics.TotalLatency() <= 0 {
		t.Error(order)
	}
}

// TestConfiguration: the defaults are valid, and mistakes are found.
func TestConfiguration(t *testing.T) {
	cfg := gocql.NewCluster("h:9043", "i:9043")
	if err := cfg.Validate(); err != nil || cfg.Port != 9043 || cfg.ConnectTimeout != time.Minute || !cfg.DisableSkipMetadata {
		t.Error(err, cfg.Port)
	}
	for name, change := range map[string]func(*gocql.ClusterConfig){
		"no host":       func(c *gocql.ClusterConfig) { c.Hosts = nil },
		"port":          func(c *gocql.ClusterConfig) { c.Port = 70000 },
		"timeout":       func(c *gocql.ClusterConfig) { c.Timeout = -1 },
		"serial":        func(c *gocql.ClusterConfig) { c.SerialConsistency = gocql.Quorum },
		"no attempts":   func(c *gocql.ClusterConfig) { c.InitialReconnectionPolicy = nil },
		"no resolver":   func(c *gocql.ClusterConfig) { c.DNSResolver = nil },
		"CA":            func(c *gocql.ClusterConfig) { c.SslOpts = &gocql.SslOptions{CaPath: "/nonexistent"} },
		"compressor":    func(c *gocql.ClusterConfig) { c.ProtoVersion, c.Compressor = 5, gocql.SnappyCompressor{} },
		"client routes": func(c *gocql.ClusterConfig) { c.WithOptions(gocql.WithClientRoutes()) },
		"client routes of another table": func(c *gocql.ClusterConfig) {
			c.WithOptions(gocql.WithClientRoutes(gocql.WithEndpoints(gocql.ClientRoutesEndpoint{ConnectionID: "a"}), gocql.WithTable("ks.t")))
		},
		"client routes and a translator": func(c *gocql.ClusterConfig) {
			c.WithOptions(gocql.WithClientRoutes(gocql.WithEndpoints(gocql.ClientRoutesEndpoint{ConnectionID: "a"})))
			c.AddressTranslator = gocql.IdentityTranslator()
		},
		"client routes and a dialer of hosts": func(c *gocql.ClusterConfig) {
			c.WithOptions(gocql.WithClientRoutes(gocql.WithEndpoints(gocql.ClientRoutesEndpoint{ConnectionID: "a"})))
			c.HostDialer = (*hostDialer)(nil)
		},
	} {
		cfg := gocql.NewCluster("h")
		change(cfg)
		if cfg.Validate() == nil {
			t.Error(name)
		}
	}
}

// hostDialer is a HostDialer that is never called.
type hostDialer struct{ gocql.HostDialer }

// TestClientRoutes: a session dials the nodes at the routes of its connection ids only.
func TestClientRoutes(t *testing.T) {
	c := newCluster(t, scylla)
	routes := make([]cqltest.ClientRoute, 2)
	for i, n := range c.Nodes() {
		routes[i] = cqltest.ClientRoute{
			ConnectionID: "a", HostID: n.HostID(), Address: n.Addr().Addr().String(), Port: int(n.Addr().Port()),
		}
	}
	with := func(ids ...string) func(cfg *gocql.ClusterConfig) {
		var endpoints []gocql.ClientRoutesEndpoint
		for _, id := range ids {
			endpoints = append(endpoints, gocql.ClientRoutesEndpoint{ConnectionID: id, ConnectionAddr: c.Node(0).Addr().String()})
		}
		return func(cfg *gocql.ClusterConfig) {
			cfg.Hosts = nil
			cfg.WithOptions(gocql.WithClientRoutes(gocql.WithEndpoints(endpoints...)))
		}
	}
	c.SetClientRoutes(routes[0])
	s := newSession(t, c, with("b", "a"))
	if err := s.Query("INSERT INTO items (id) VALUES (?)", 1).Exec(); err != nil {
		t.Error(err)
	}
	if n := len(c.Node(1).Conns()); n != 0 {
		t.Error(n, "connections to a node without a route")
	}
	c.SetClientRoutes(routes...)
	for deadline := time.Now().Add(time.Minute); len(c.Node(1).Conns()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the new route is not dialed")
		}
	}
}

// TestTablets are those that the session has learned.
func TestTablets(t *testing.T) {
	c := newCluster(t, cqltest.Config{Nodes: 2, Scylla: &cqltest.Scylla{Tablets: 8}})
	if err := c.Exec("CREATE KEYSPACE one WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}; CREATE TABLE one.t (id int PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.Keyspace = "one" })
	if _, err := s.TableTabletsMetadata("one", "t"); err != gocql.ErrTabletsNotUsed {
		t.Error(err)
	}
	for id := range 64 {
		run(t, s, "INSERT INTO t (id) VALUES (?)", id)
	}
	entries, err := s.TableTabletsMetadata("one", "t")
	if err != nil || len(entries) == 0 || len(entries[0].Replicas()) != 1 || entries[0].FirstToken() >= entries[0].LastToken() {
		t.Fatal(entries, err)
	}
	all, err := s.TabletsMetadata()
	if err != nil || len(all) != len(entries) || all[0].TableName() != "t" || all[0].Replicas()[0] != entries[0].Replicas()[0] {
		t.Error(all, err)
	}
	tables := 0
	if err := s.ForEachTablet(func(keyspace, table string, of tablets.TabletEntryList) bool {
		tables++
		return len(of) == len(entries)
	}); err != nil || tables != 1 {
		t.Error(tables, err)
	}
}
