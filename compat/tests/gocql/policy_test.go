// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// programPolicy is a policy of a program around one of the package. It records the calls of its methods.
type programPolicy struct {
	gocql.HostSelectionPolicy
	mu          sync.Mutex
	session     *gocql.Session
	partitioner string
	hosts       []*gocql.HostInfo
	picked      []string // keyspace.table/key of each request
	marks       []error
}

func (p *programPolicy) Init(s *gocql.Session) { p.session = s; p.HostSelectionPolicy.Init(s) }

func (p *programPolicy) SetPartitioner(name string) { p.partitioner = name }

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
	p := &programPolicy{HostSelectionPolicy: tokenAware(gocql.RoundRobinHostPolicy())}
	o := &observer{}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.PoolConfig.HostSelectionPolicy = p
		cfg.QueryObserver = o
	})
	if p.session != s || p.partitioner == "" || len(p.hosts) != 3 {
		t.Fatalf("%+v", p)
	}
	run(t, s, "INSERT INTO items (id, name) VALUES (?, ?)", 258, "lamp")
	p.picked, p.marks, o.Queries = nil, nil, nil
	q := s.Query("INSERT INTO items (id, name) VALUES (?, ?)", 258, "lamp").RetryPolicy(&gocql.SimpleRetryPolicy{})
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
	if len(p.marks) != 5 || p.marks[0] != nil || codeOf(p.marks[4]) != gocql.ErrCodeOverloaded {
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
		return chosen{host: h}
	}
}

type chosen struct {
	gocql.SelectedHost
	host *gocql.HostInfo
}

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

// TestPoliciesWithoutASession: the policies pick from the nodes that they were told.
func TestPoliciesWithoutASession(t *testing.T) {
	for name, p := range map[string]gocql.HostSelectionPolicy{
		"round robin":       gocql.RoundRobinHostPolicy(),
		"data center":       gocql.DCAwareRoundRobinPolicy("dc"),
		"rack":              gocql.RackAwareRoundRobinPolicy("dc", "r"),
		"token aware":       gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy(), gocql.ShuffleReplicas(), gocql.NonLocalReplicasFallback()),
		"single host ready": gocql.SingleHostReadyPolicy(gocql.RoundRobinHostPolicy()),
	} {
		hosts := []*gocql.HostInfo{newHost(1), newHost(2), newHost(3)}
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
	} else if p.HostUp(newHost(1)); !p.Ready() {
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
	if !accept.Accept(newHost(1)) || accept.Accept(newHost(2)) {
		t.Error("white list")
	}
	if gocql.DenyAllFilter().Accept(nil) || !gocql.AcceptAllFilter().Accept(nil) {
		t.Error("all")
	}
}

// TestPolicyTypes: programs compare the names of the types of policies, as scylla-bench does in its tests.
func TestPolicyTypes(t *testing.T) {
	for want, policy := range map[string]gocql.HostSelectionPolicy{
		"*gocql.roundRobinHostPolicy":  gocql.RoundRobinHostPolicy(),
		"*gocql.dcAwareRR":             gocql.DCAwareRoundRobinPolicy("dc1"),
		"*gocql.rackAwareRR":           gocql.RackAwareRoundRobinPolicy("dc1", "rack1"),
		"*gocql.tokenAwareHostPolicy":  gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy()),
		"*gocql.singleHostReadyPolicy": gocql.SingleHostReadyPolicy(gocql.RoundRobinHostPolicy()),
	} {
		if got := fmt.Sprintf("%T", policy); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestReconnectionPolicies: the waits and the number of attempts.
func TestReconnectionPolicies(t *testing.T) {
	c := &gocql.ConstantReconnectionPolicy{MaxRetries: 3, Interval: time.Second}
	e := &gocql.ExponentialReconnectionPolicy{MaxRetries: 5, InitialInterval: 100 * time.Millisecond, MaxInterval: time.Second}
	if c.GetInterval(2) != time.Second || c.GetMaxRetries() != 3 || e.GetInterval(20) != time.Second || e.GetMaxRetries() != 5 {
		t.Error(c.GetInterval(2), e.GetInterval(20))
	}
	if wait := e.GetInterval(3); wait < 349*time.Millisecond || wait > 451*time.Millisecond {
		t.Error(wait)
	}
}
