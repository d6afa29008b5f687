// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gocql/gocql"
	"github.com/hailocab/go-hostpool"
	"github.com/vecql/vecql/cqltest"
)

// programPolicy is a policy of a program around one of the package. It records the calls of its methods.
type programPolicy struct {
	gocql.HostSelectionPolicy
	mu          sync.Mutex
	session     *gocql.Session
	partitioner string
	keyspaces   []gocql.KeyspaceUpdateEvent
	hosts       []*gocql.HostInfo
	picked      []string // keyspace.table/key of each request
	marks       []error
}

func (p *programPolicy) Init(s *gocql.Session) { p.session = s; p.HostSelectionPolicy.Init(s) }

func (p *programPolicy) SetPartitioner(name string) { p.partitioner = name }

func (p *programPolicy) KeyspaceChanged(e gocql.KeyspaceUpdateEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keyspaces = append(p.keyspaces, e)
}

func (p *programPolicy) AddHost(h *gocql.HostInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts = append(p.hosts, h)
	p.HostSelectionPolicy.AddHost(h)
}

func (p *programPolicy) Pick(q gocql.ExecutableQuery) gocql.NextHost {
	key, err := q.GetRoutingKey()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.picked = append(p.picked, q.Keyspace()+"."+q.Table()+"/"+string(key))
	if err != nil {
		p.marks = append(p.marks, err)
	}
	next := p.HostSelectionPolicy.Pick(q)
	return func() gocql.SelectedHost {
		if s := next(); s != nil {
			return marked{s, p}
		}
		return nil
	}
}

// marked passes the outcome of an attempt to a policy.
type marked struct {
	gocql.SelectedHost
	policy *programPolicy
}

func (m marked) Mark(err error) {
	m.policy.mu.Lock()
	defer m.policy.mu.Unlock()
	m.policy.marks = append(m.policy.marks, err)
}

// TestPolicyOfTheProgram checks the calls of a policy: with the session, with its nodes, for each request, and with the
// error of each attempt.
func TestPolicyOfTheProgram(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	p := &programPolicy{HostSelectionPolicy: gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())}
	o := &observer{}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.PoolConfig.HostSelectionPolicy = p
		cfg.QueryObserver = o
	})
	if p.session != s || p.partitioner == "" || len(p.hosts) != 3 || len(p.keyspaces) == 0 || p.keyspaces[0].Keyspace != "shop" {
		t.Fatalf("%+v", p)
	}
	run(t, s, "INSERT INTO items (id, name) VALUES (?, ?)", 258, "lamp")
	p.picked, p.marks, o.Queries = nil, nil, nil
	q := s.Query("INSERT INTO items (id, name) VALUES (?, ?)", 258, "lamp")
	for range 4 {
		if err := q.Exec(); err != nil {
			t.Fatal(err)
		}
	}
	fail(c, "INSERT", cqltest.Error{Code: cqltest.CodeOverloaded, Message: "busy"})
	if err := q.Exec(); err == nil {
		t.Error("no error")
	}
	if len(p.picked) != 5 || p.picked[0] != "shop.items/\x00\x00\x01\x02" {
		t.Error(p.picked)
	}
	var e gocql.RequestError
	if len(p.marks) != 5 || p.marks[0] != nil || !errors.As(p.marks[4], &e) || e.Message() != "busy" {
		t.Error(p.marks)
	}
	for _, seen := range o.Queries {
		if seen.Host != o.Queries[0].Host || !slices.Contains(p.hosts, seen.Host) {
			t.Error("the first replica takes all requests of a partition:", seen.Host)
		}
	}
}

// only is a policy that picks one node.
type only struct {
	gocql.HostSelectionPolicy
	host func() *gocql.HostInfo
}

func (o only) Pick(gocql.ExecutableQuery) gocql.NextHost {
	host := o.host()
	return func() gocql.SelectedHost {
		if host == nil {
			return nil
		}
		h := host
		host = nil
		return chosen{h}
	}
}

type chosen struct{ host *gocql.HostInfo }

func (c chosen) Info() *gocql.HostInfo { return c.host }
func (chosen) Mark(error)              {}

// TestPolicyDecidesAlone: a request goes to the nodes that the policy picks, and to no other.
func TestPolicyDecidesAlone(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	recorder := &programPolicy{HostSelectionPolicy: gocql.RoundRobinHostPolicy()}
	var host *gocql.HostInfo
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.PoolConfig.HostSelectionPolicy = only{recorder, func() *gocql.HostInfo { return host }}
	})
	for _, host = range recorder.hosts {
		for range 3 {
			if it := s.Query("SELECT id FROM items").Iter(); it.Host() != host || it.Close() != nil {
				t.Error(it.Host(), "want", host)
			}
		}
	}
	host = nil
	if err := s.Query("SELECT id FROM items").Exec(); err != gocql.ErrNoConnections {
		t.Errorf("%T %v", err, err)
	}
}

// TestPolicyIsToldOfNewHosts and of those that went down.
func TestPolicyIsToldOfNewHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, cqltest.Config{Nodes: 2, Network: cqltest.InMemory})
		p := &eventPolicy{HostSelectionPolicy: gocql.DCAwareRoundRobinPolicy("datacenter1"), events: make(chan string, 16)}
		s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
			cfg.Dialer = c.Dialer()
			cfg.PoolConfig.HostSelectionPolicy, cfg.Consistency = p, gocql.One
		})
		expect := func(want string) {
			t.Helper()
			if got := <-p.events; got != want {
				t.Fatal(got, "want", want)
			}
		}
		expect("add")
		expect("add")
		added, err := c.AddNode("datacenter1", "rack1")
		if err != nil {
			t.Fatal(err)
		}
		expect("add")
		expect("up")
		added.Kill()
		expect("down")
		s.Close()
		c.Close()
	})
}

// eventPolicy sends a word for each event.
type eventPolicy struct {
	gocql.HostSelectionPolicy
	events chan string
}

func (p *eventPolicy) AddHost(h *gocql.HostInfo) { p.HostSelectionPolicy.AddHost(h); p.events <- "add" }

func (p *eventPolicy) HostUp(h *gocql.HostInfo) { p.HostSelectionPolicy.HostUp(h); p.events <- "up" }

func (p *eventPolicy) HostDown(h *gocql.HostInfo) {
	p.HostSelectionPolicy.HostDown(h)
	p.events <- "down"
}

// TestHostPool: the pool learns that a node fails.
func TestHostPool(t *testing.T) {
	c := newCluster(t, cqltest.Config{Network: cqltest.Addresses})
	pool := hostpool.New(nil)
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.Port = int(c.Node(0).Addr().Port())
		cfg.PoolConfig.HostSelectionPolicy = gocql.HostPoolHostPolicy(pool)
	})
	if hosts := pool.Hosts(); len(hosts) != 3 {
		t.Fatal(hosts)
	}
	seen := map[string]int{}
	for range 12 {
		it := s.Query("SELECT id FROM items").Iter()
		seen[it.Host().ConnectAddress().String()]++
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 3 {
		t.Error("not all nodes are used:", seen)
	}
	bad := c.Node(1)
	c.Inject(cqltest.Fault{Node: bad, Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	failures := 0
	for range 12 {
		if s.Query("SELECT id FROM items").Exec() != nil {
			failures++
		}
	}
	if failures != 1 {
		t.Error("a node that failed is not asked again before its wait has ended:", failures)
	}
}

// TestPoliciesWithoutASession: the policies pick from the nodes that they were told.
func TestPoliciesWithoutASession(t *testing.T) {
	host := func(last byte) *gocql.HostInfo {
		h := (&gocql.HostInfo{}).SetConnectAddress(net.IPv4(10, 0, 0, last))
		h.SetHostID(gocql.TimeUUID().String())
		return h
	}
	for name, p := range map[string]gocql.HostSelectionPolicy{
		"round robin":       gocql.RoundRobinHostPolicy(),
		"data center":       gocql.DCAwareRoundRobinPolicy("dc"),
		"rack":              gocql.RackAwareRoundRobinPolicy("dc", "r"),
		"token aware":       gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy(), gocql.ShuffleReplicas(), gocql.NonLocalReplicasFallback()),
		"single host ready": gocql.SingleHostReadyPolicy(gocql.RoundRobinHostPolicy()),
	} {
		hosts := []*gocql.HostInfo{host(1), host(2), host(3)}
		for _, h := range hosts {
			p.AddHost(h)
			p.HostUp(h)
		}
		first := map[*gocql.HostInfo]bool{}
		for range 3 {
			next, all := p.Pick(nil), map[*gocql.HostInfo]bool{}
			for s := next(); s != nil; s = next() {
				if len(all) == 0 {
					first[s.Info()] = true
				}
				all[s.Info()] = true
			}
			if len(all) != 3 {
				t.Error(name, "picks", len(all))
			}
		}
		if len(first) != 3 {
			t.Error(name, "begins with", len(first))
		}
		p.HostDown(hosts[0])
		p.RemoveHost(hosts[1])
		if next := p.Pick(nil); next().Info() != hosts[2] || next() != nil {
			t.Error(name, "does not forget nodes")
		}
	}
	if p := gocql.SingleHostReadyPolicy(gocql.RoundRobinHostPolicy()); p.Ready() {
		t.Error("ready without a node")
	} else if p.HostUp(host(1)); !p.Ready() {
		t.Error("not ready")
	}
}

// TestHostFilter: a filter of the program selects nodes.
func TestHostFilter(t *testing.T) {
	c := newCluster(t, cqltest.Config{DataCenters: []cqltest.DataCenter{{Name: "datacenter1", Nodes: 1}, {Name: "far", Nodes: 1}}})
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.HostFilter, cfg.Consistency = gocql.DataCentreHostFilter("far"), gocql.One
	})
	for range 4 {
		if dc := s.Query("SELECT key FROM system.local").Iter().Host().DataCenter(); dc != "far" {
			t.Error(dc)
		}
	}
	accept := gocql.WhiteListHostFilter("127.0.0.1", "10.0.0.1:9042")
	if !accept.Accept((&gocql.HostInfo{}).SetConnectAddress(net.IPv4(10, 0, 0, 1))) || accept.Accept((&gocql.HostInfo{}).SetConnectAddress(net.IPv4(10, 0, 0, 2))) {
		t.Error("white list")
	}
	if gocql.DenyAllFilter().Accept(nil) || !gocql.AcceptAllFilter().Accept(nil) {
		t.Error("all")
	}
}
