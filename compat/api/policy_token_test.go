// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"slices"
	"testing"
)

// node is a HostInfo of a module.
type node struct{ name, dc string }

func (n *node) DataCenter() string    { return n.dc }
func (n *node) Rack() string          { return "" }
func (n *node) IsUp() bool            { return true }
func (n *node) Equal(host *node) bool { return n == host }

// placed is a request with known replicas.
type placed []*node

func (p placed) replicas() []*node { return p }

// TestTokenAwarenessAroundAPolicyOfTheProgram: local replicas, then as asked the others, then the nodes of the
// fallback.
func TestTokenAwarenessAroundAPolicyOfTheProgram(t *testing.T) {
	fallback := DCAware[*node]("dc0")
	var hosts []*node
	for i, dc := range []string{"dc0", "dc0", "dc1", "dc1"} {
		hosts = append(hosts, &node{string(rune('a' + i)), dc})
		fallback.AddHost(hosts[i])
	}
	choose := func(host *node, mark func(error)) Selection[*node] { return Choose(host, mark) }
	rest := func() func() Selection[*node] { return NextUp(fallback.Plan(), choose) }
	p := NewTokenAware[*node](fallback, false)
	busy := func(h *node) int {
		if h == hosts[1] {
			return 1
		}
		return 0
	}
	for _, test := range []struct {
		order   TokenOrder[*node]
		request any
		want    []*node // the first ones
	}{
		{TokenOrder[*node]{}, placed{hosts[3], hosts[1]}, []*node{hosts[1], hosts[0]}},
		{TokenOrder[*node]{NonLocal: true}, placed{hosts[3], hosts[1]}, []*node{hosts[1], hosts[3], hosts[0], hosts[2]}},
		{TokenOrder[*node]{Busy: busy}, placed{hosts[1], hosts[0]}, []*node{hosts[0], hosts[1]}},
		{TokenOrder[*node]{}, placed{}, nil},
		{TokenOrder[*node]{}, "no request", nil},
	} {
		var picked []*node
		next := PickAware(&p, test.order, test.request, choose, rest)
		for s := next(); s != nil; s = next() {
			picked = append(picked, s.Info())
		}
		if len(picked) != 4 || !slices.Equal(picked[:len(test.want)], test.want) {
			t.Errorf("%+v: %d nodes: %v", test, len(picked), picked)
		}
	}
	if NativeOf(&p) == nil || NativeOf(fallback) == nil || NativeOf("a policy of the program") != nil {
		t.Error("the policies of the API are vecql's, those of programs are not")
	}
	if p.IsLocal(hosts[2]) || !p.IsLocal(hosts[0]) {
		t.Error("nodes are local by the policy inside")
	}
	if DisableFailover(fallback); NativeOf(&p) != nil || len(fallback.Plan()) != 2 {
		t.Error("without failover the nodes of other data centers are left out")
	}
}

// inner is a policy of a program inside of a token-aware one. It has no tiers.
type inner struct{ told }

func (p *inner) IsLocal(h string) bool { return h == "near" }

func TestPolicyInsideOfATokenAwareOneGetsTheEvents(t *testing.T) {
	of := &inner{}
	p := NewTokenAware[string](of, false)
	p.SetPartitioner("Murmur3Partitioner")
	p.AddHost("a")
	p.AddHosts([]string{"b", "c"})
	p.HostUp("a")
	p.HostDown("b")
	p.RemoveHost("c")
	want := []string{"partitioner Murmur3Partitioner", "add a", "add b", "add c", "up a", "down b", "remove c"}
	if !slices.Equal(of.calls, want) {
		t.Error(of.calls)
	}
	replicas := TokenOrder[string]{NonLocal: true}.replicas([]string{"far", "near", "other"}, tierOf[string](of))
	if !slices.Equal(replicas, []string{"near", "far", "other"}) {
		t.Error("local nodes first:", replicas)
	}
	if replicas = (TokenOrder[string]{}).replicas([]string{"far", "near"}, tierOf[string](of)); !slices.Equal(replicas, []string{"near"}) {
		t.Error("local nodes alone:", replicas)
	}
}

// TestReplicasAreShuffled into each order.
func TestReplicasAreShuffled(t *testing.T) {
	all := []string{"a", "b", "c"}
	seen := map[string]bool{}
	for range 1000 {
		replicas := TokenOrder[string]{Shuffle: true, NonLocal: true}.replicas(all, func(string) uint { return 0 })
		seen[replicas[0]+replicas[1]+replicas[2]] = true
	}
	if len(seen) != 6 || !slices.Equal(all, []string{"a", "b", "c"}) {
		t.Error(seen, all)
	}
}
