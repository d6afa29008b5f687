// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"math"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

func TestReconnectionPolicies(t *testing.T) {
	none, constant := &NoReconnectionPolicy{}, &ConstantReconnectionPolicy{MaxRetries: 3, Interval: time.Second}
	require.Zero(t, none.GetInterval(1))
	require.Equal(t, 1, none.GetMaxRetries())
	require.Equal(t, time.Second, constant.GetInterval(7))
	require.Equal(t, 3, constant.GetMaxRetries())
	e := &ExponentialReconnectionPolicy{MaxRetries: 5, InitialInterval: 100 * time.Millisecond, MaxInterval: time.Second}
	require.Equal(t, 5, e.GetMaxRetries())
	require.InDelta(t, 400*time.Millisecond, e.GetInterval(3), float64(50*time.Millisecond))
	require.Equal(t, time.Second, e.GetInterval(20))
	e.MaxInterval = 50 * time.Millisecond // less than the first one: no maximum of the program
	require.InDelta(t, 1600*time.Millisecond, e.GetInterval(5), float64(50*time.Millisecond))
	require.Equal(t, math.MaxInt16*time.Second, e.GetInterval(30))
	e.MaxInterval = e.InitialInterval
	require.LessOrEqual(t, e.GetInterval(5), e.MaxInterval)
}

func TestPoliciesThatDecideNothing(t *testing.T) {
	conviction := &SimpleConvictionPolicy[string]{}
	require.True(t, conviction.AddFailure(errors.New("refused"), "a"))
	conviction.Reset("a")
	require.Zero(t, NonSpeculativeExecution{}.Attempts())
	require.Positive(t, NonSpeculativeExecution{}.Delay())
}

// told is a HostSelectionPolicy of a program. It records its calls.
type told struct{ calls []string }

func (p *told) tell(method, what string)              { p.calls = append(p.calls, method+" "+what) }
func (p *told) SetPartitioner(name string)            { p.tell("partitioner", name) }
func (p *told) AddHost(h string)                      { p.tell("add", h) }
func (p *told) RemoveHost(h string)                   { p.tell("remove", h) }
func (p *told) HostUp(h string)                       { p.tell("up", h) }
func (p *told) HostDown(h string)                     { p.tell("down", h) }
func (p *told) KeyspaceChanged(e KeyspaceUpdateEvent) { p.tell("keyspace", e.Keyspace+" "+e.Change) }

// toldAtOnce takes all nodes at once.
type toldAtOnce struct{ told }

func (p *toldAtOnce) AddHosts(hosts []string) { p.tell("add all", hosts[0]+hosts[1]+hosts[2]) }

// newPicker returns a Picker of a policy, and the nodes of a session with the names a, b and c.
func newPicker(t *testing.T, policy PickingPolicy[string]) (*Picker[string], *vecql.Session, []*cql.Host) {
	t.Helper()
	s := openSession(t)
	nodes := s.GetHosts()
	names := map[string]string{} // by host id
	for i, node := range nodes {
		names[node.ID.String()] = string(rune('a' + i))
	}
	hostOf := func(node *cql.Host) string { return names[node.ID.String()] }
	pick := func(context.Context, vecql.RouteInfo) vecql.NextHost { return vecql.HostsInOrder(nodes[2]) }
	return NewPicker(policy, hostOf, pick), s, nodes
}

// tellAll passes an event of each kind.
func tellAll(p *Picker[string], node *cql.Host) {
	k := &cql.KeyspaceMetadata{Name: "shop"}
	p.NodeChanged(vecql.NodeChange{Kind: vecql.NodeAdded, Host: node})
	p.NodeChanged(vecql.NodeChange{Kind: vecql.NodeRemoved, Host: node})
	p.NodeChanged(vecql.NodeChange{Kind: vecql.NodeUp, Host: node})
	p.NodeChanged(vecql.NodeChange{Kind: vecql.NodeDown, Host: node})
	p.SchemaChanged(vecql.SchemaChange{New: k})
	p.SchemaChanged(vecql.SchemaChange{Old: &cql.KeyspaceMetadata{Name: "old"}, New: k})
	p.SchemaChanged(vecql.SchemaChange{Old: k})
	p.SchemaChanged(vecql.SchemaChange{New: &cql.TableMetadata{}})
}

var toldAll = []string{
	"add b", "remove b", "up b", "down b", "keyspace shop CREATED", "keyspace shop UPDATED", "keyspace shop DROPPED",
}

// TestPolicyOfTheProgramGetsTheCallsOfASession: the nodes of the start, then the events.
func TestPolicyOfTheProgramGetsTheCallsOfASession(t *testing.T) {
	policy := &told{}
	p, s, nodes := newPicker(t, policy)
	require.Zero(t, p.Tier(nodes[0]))
	next := p.Pick(t.Context(), vecql.RouteInfo{}, nodes)
	for _, node := range nodes {
		require.True(t, next().Host == node, "until the start the order is that of vecql")
	}
	require.Nil(t, next().Host)
	p.Start(s, func() { policy.tell("init", "") }, func() { p.StartKeyspace("shop") })
	require.Equal(t, []string{
		"init ", "partitioner " + nodes[0].Partitioner, "add a", "add b", "add c", "up a", "up b", "up c", "keyspace shop ",
	}, policy.calls)
	require.True(t, p.Pick(t.Context(), vecql.RouteInfo{}, nodes)().Host == nodes[2])
	policy.calls = nil
	tellAll(p, nodes[1])
	require.Equal(t, toldAll, policy.calls)
	policy.calls = nil
	p.StartKeyspace("")
	require.Empty(t, policy.calls, "the session has no keyspace")
}

func TestPolicyOfTheProgramGetsAllNodesAtOnce(t *testing.T) {
	policy := &toldAtOnce{}
	p, s, _ := newPicker(t, policy)
	p.Start(s, func() {}, func() {})
	require.Contains(t, policy.calls, "add all abc")
	require.False(t, slices.Contains(policy.calls, "add a"))
}

func TestPolicyOfASessionThatDidNotStartGetsNoCalls(t *testing.T) {
	policy := &told{}
	p, _, nodes := newPicker(t, policy)
	p.Start(nil, func() { policy.tell("init", "") }, func() { p.StartKeyspace("shop") })
	tellAll(p, nodes[1])
	require.Empty(t, policy.calls)
}

// TestSelectedNodesAreThoseOfTheSession: a mark gets the error of the API.
func TestSelectedNodesAreThoseOfTheSession(t *testing.T) {
	nodes := openSession(t).GetHosts()
	hosts := hostsOfModule()
	plain := errors.New("plain")
	var marks []error
	choices := []Selection[*host]{
		Choose(&host{}, nil), Choose(hosts.Of(nodes[1]), func(err error) { marks = append(marks, err) }), Choose(hosts.Of(nodes[0]), nil),
	}
	next := Selected(func() (none Selection[*host]) {
		if len(choices) == 0 {
			return none
		}
		defer func() { choices = choices[1:] }()
		return choices[0]
	}, hosts, func(error) error { return plain })
	first := next()
	require.True(t, first.Host == nodes[1], "a node that no session has is left out")
	first.Mark(errors.New("of vecql"))
	require.Equal(t, []error{plain}, marks)
	second := next()
	require.True(t, second.Host == nodes[0])
	second.Mark(plain) // is ignored
	require.Nil(t, next().Host)
	require.Nil(t, Selected((func() Selection[*host])(nil), hosts, nil)().Host)
}

type inKeyspace string

func (k inKeyspace) Keyspace() string { return string(k) }

func TestRequestOfAPolicyHasItsRoute(t *testing.T) {
	nodes := openSession(t).GetHosts()
	hosts := hostsOfModule()
	route := vecql.RouteInfo{Keyspace: "shop", Table: "items", RoutingKey: []byte{1}, Replicas: nodes[:2]}
	r := NewRouted(inKeyspace("other"), route, hosts)
	key, err := r.GetRoutingKey()
	require.NoError(t, err)
	require.Equal(t, []byte{1}, key)
	require.Equal(t, "shop", r.Keyspace())
	require.Equal(t, "items", r.Table())
	require.Equal(t, hosts.All(nodes[:2]), r.replicas())
	require.Equal(t, route, RouteOf(&r))
	unknown := NewRouted(inKeyspace("other"), vecql.RouteInfo{}, hosts)
	require.Equal(t, "other", unknown.Keyspace())
	require.Empty(t, unknown.replicas())

	require.Equal(t, "query", RequestOf(WithRequest(t.Context(), "query")))
	require.Nil(t, RequestOf(t.Context()))
}

// drawn is a host pool that always selects one name. It records what it receives.
type drawn struct {
	name  string
	names []string
	marks []error
}

func (d *drawn) Get() *drawn { return d }
func (d *drawn) SetHosts(names []string) {
	d.names = names
	slices.Sort(d.names)
}
func (d *drawn) Host() string   { return d.name }
func (d *drawn) Mark(err error) { d.marks = append(d.marks, err) }

func TestHostPoolSelectsTheNodesByTheirAddresses(t *testing.T) {
	at := func(last byte) *host { return newHost(HostRecord{Connect: net.IPv4(10, 0, 0, last)}) }
	d := &drawn{}
	p := NewPooled[*host](HostPool[*drawn](d))
	choose := func(h *host, mark func(error)) Selection[*host] { return Choose(h, mark) }
	next := PickPooled(&p, choose)
	require.Nil(t, next(), "no node")
	a, b, c := at(1), at(2), at(3)
	p.AddHost(a)
	p.HostUp(b)
	require.Equal(t, []string{"10.0.0.1", "10.0.0.2"}, d.names)
	p.AddHost(at(1))
	d.name = "10.0.0.1"
	require.True(t, next().Info() == a, "the node was added before")

	selected := next()
	failure := errors.New("refused")
	selected.Mark(failure)
	require.Equal(t, []error{failure}, d.marks)
	p.RemoveHost(c)
	p.HostDown(a)
	require.Equal(t, []string{"10.0.0.2"}, d.names)
	selected.Mark(failure)
	require.Len(t, d.marks, 1, "the node is no longer in the pool")
	require.Nil(t, next())
	d.names = nil
	p.RemoveHost(a)
	require.Nil(t, d.names, "the pool is as before")

	p.SetHosts([]*host{c, a})
	require.Equal(t, []string{"10.0.0.1", "10.0.0.3"}, d.names)
	d.name = "10.0.0.3"
	require.True(t, next().Info() == c)
	require.True(t, p.IsLocal(c))
	p.SetPartitioner("")
	p.KeyspaceChanged(KeyspaceUpdateEvent{})
	require.True(t, p.mu.TryLock(), "the lock is free")
}

// TestTiersOfNodes by data center and rack.
func TestTiersOfNodes(t *testing.T) {
	near, far, other := placedHost("dc1", "r1"), placedHost("dc1", "r2"), placedHost("dc2", "r1")
	for _, test := range []struct {
		tiers *Tiers[*host]
		want  []uint
		most  uint
	}{
		{RoundRobin[*host](), []uint{0, 0, 0}, 0},
		{DCAware[*host]("dc1"), []uint{0, 0, 1}, 1},
		{RackAware[*host]("dc1", "r1"), []uint{0, 1, 2}, 2},
	} {
		for i, h := range []*host{near, far, other} {
			require.Equal(t, test.want[i], test.tiers.HostTier(h))
			require.Equal(t, test.want[i] == 0, test.tiers.IsLocal(h))
		}
		require.Equal(t, test.most, test.tiers.MaxHostTier())
		require.Empty(t, test.tiers.Plan())
	}
}

// placedHost returns a node of a data center and a rack.
func placedHost(dc, rack string) *host {
	return newHost(HostRecord{ID: dc + rack, DC: dc, RackName: rack})
}

// TestPlanHasTheNodesByTier, each once, in each tier beginning with another one.
func TestPlanHasTheNodesByTier(t *testing.T) {
	tiers := RackAware[*host]("dc1", "r1")
	a, b, c, d := placedHost("dc1", "r1"), placedHost("dc1", "r2"), placedHost("dc2", "r1"), placedHost("dc2", "r2")
	for _, h := range []*host{d, c, b, a, a} {
		tiers.HostUp(h)
	}
	tiers.AddHost(placedHost("dc1", "r1")) // the same node
	last := map[*host]bool{}
	for range 2 {
		plan := tiers.Plan()
		require.Equal(t, []*host{a, b}, plan[:2])
		require.ElementsMatch(t, []*host{c, d}, plan[2:])
		last[plan[3]] = true
	}
	require.Len(t, last, 2)
	tiers.HostDown(b)
	tiers.RemoveHost(placedHost("dc2", "r1"))
	require.Equal(t, []*host{a, d}, tiers.Plan())
	DisableFailover(tiers)
	require.Equal(t, []*host{a}, tiers.Plan())
	tiers.SetPartitioner("")
	tiers.KeyspaceChanged(KeyspaceUpdateEvent{})
}

func TestNodesThatAreDownAreNotTried(t *testing.T) {
	up, other := placedHost("dc1", "r1"), placedHost("dc1", "r2")
	down := newHost(HostRecord{isUp: func(*cql.Host) bool { return false }})
	next := NextUp([]*host{down, up, down, other},
		func(h *host, mark func(error)) Selection[*host] {
			require.Nil(t, mark)
			return Choose(h, mark)
		})
	require.True(t, next().Info() == up)
	require.True(t, next().Info() == other)
	require.Nil(t, next())
}

// TestPoliciesOfTheAPIAreThoseOfVecql where vecql has them.
func TestPoliciesOfTheAPIAreThoseOfVecql(t *testing.T) {
	roundRobin := RoundRobin[*host]()
	require.Equal(t, vecql.RoundRobinPolicy{}, NativeOf(roundRobin))
	require.Equal(t, vecql.DCAwarePolicy{DataCenter: "dc1"}, NativeOf(DCAware[*host]("dc1")))
	require.Equal(t, vecql.RackAwarePolicy{DataCenter: "dc1", Rack: "r1"}, NativeOf(RackAware[*host]("dc1", "r1")))
	for _, p := range []*Tiers[*host]{DCAware[*host](""), RackAware[*host]("", "r1"), RackAware[*host]("dc1", "")} {
		require.Nil(t, NativeOf(p))
	}
	ready := NewReadiness(roundRobin)
	require.Equal(t, vecql.RoundRobinPolicy{}, NativeOf(&ready))
	for _, test := range []struct {
		order TokenOrder[*host]
		want  vecql.TokenAwarePolicy
	}{
		{TokenOrder[*host]{}, vecql.TokenAwarePolicy{KeepOrder: true}},
		{TokenOrder[*host]{Shuffle: true}, vecql.TokenAwarePolicy{}},
		{TokenOrder[*host]{NonLocal: true, Slow: 7}, vecql.TokenAwarePolicy{KeepOrder: true, RemoteReplicas: true, MaxInFlight: 7}},
	} {
		p := NewTokenAware[*host](roundRobin, test.order.Shuffle)
		require.Equal(t, test.order.Shuffle, OrderOf(&p).Shuffle)
		OrderOf(&p).NonLocal, OrderOf(&p).Slow = test.order.NonLocal, test.order.Slow
		test.want.Fallback = vecql.RoundRobinPolicy{}
		require.Equal(t, test.want, NativeOf(&p), "%+v", test.order)
	}
}

// readyWhen is a ReadyPolicy of a program.
type readyWhen struct{ ready bool }

func (r *readyWhen) Ready() bool { return r.ready }

func TestPolicyIsReadyOnceANodeIsUp(t *testing.T) {
	inner := &readyWhen{}
	r, plain := NewReadiness(inner), NewReadiness("no ReadyPolicy")
	require.False(t, plain.Ready())
	SetUp(&plain)
	require.True(t, plain.Ready())
	SetUp(&r)
	require.False(t, r.Ready(), "the policy inside is not")
	inner.ready = true
	require.True(t, r.Ready())
	before := NewReadiness(inner)
	require.False(t, before.Ready())
}
