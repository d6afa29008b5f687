// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/tablet"
)

// Query plans of HostPickers.

// pickerFunc orders nodes by a function.
type pickerFunc func(r RouteInfo, hosts []*cql.Host) []*cql.Host

func (pickerFunc) Tier(h *cql.Host) int {
	if h.ID[15] == 9 {
		return -1
	}
	return 0
}

func (f pickerFunc) Pick(_ context.Context, r RouteInfo, hosts []*cql.Host) NextHost {
	return HostsInOrder(f(r, hosts)...)
}

func TestPlanHostPicker(t *testing.T) {
	var info RouteInfo
	var p pickerFunc = func(r RouteInfo, hosts []*cql.Host) []*cql.Host {
		info = r
		slices.Reverse(hosts)
		return append(append(hosts, hosts[0], &cql.Host{ID: cql.UUID{15: 77}}, &cql.Host{ID: cql.UUID{15: 9}}, hosts[1], nil), hosts...)
	}
	topo := threeByThree(t, p)
	topo.routing.tablets.Add("ks", "t", &tablet.Tablet{First: -5, Last: 5, Replicas: []tablet.Replica{{Host: cql.UUID{15: 5}, Shard: 6}, {Host: cql.UUID{15: 1}}}})
	target := onToken(0)
	target.lwt = true
	for range 2 {
		require.Equal(t, "8 7 6 5 4 3 2 1 8 7", names(planNodes(topo.plan(target))),
			"unknown and unused nodes are skipped, repeated ones are not, nil ends the plan")
	}
	r := topo.plan(target)
	for at := r.next(); at.node != nil; at = r.next() {
		require.EqualValues(t, map[byte]int{5: 6, 1: 0, 2: -1, 3: -1, 4: -1, 6: -1, 7: -1, 8: -1}[at.node.info.ID[15]], at.shard)
	}
	require.False(t, r.more())
	replicas := info.Replicas
	info.Replicas = nil
	require.Equal(t, RouteInfo{Keyspace: "ks", Table: "t", HasToken: true, LWT: true}, info)
	require.Equal(t, []*cql.Host{topo.node(5).info, topo.node(1).info}, replicas)
}

// TestPlanHostPickerFaults has HostPickers that panic, that return no function, and whose function never ends.
func TestPlanHostPickerFaults(t *testing.T) {
	picks := 0
	for name, row := range map[string]struct {
		next  NextHost // nil in the first row, where Pick panics
		nodes int
		err   string
	}{
		"Pick panics": {nil, 0, "HostPicker: panic: mine"},
		"next panics": {func() SelectedHost { panic("mine") }, 0, "HostPicker: panic: mine"},
		"no next":     {nil, 0, ""},
		"endless": {func() SelectedHost {
			picks++
			return SelectedHost{Host: &cql.Host{ID: cql.UUID{15: 1}}}
		}, maxRetries + 9, ""},
		"endless and unknown": {func() SelectedHost { return SelectedHost{Host: &cql.Host{}} }, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			topo := threeByThree(t, nextPicker{next: func() NextHost {
				if name == "Pick panics" {
					panic("mine")
				}
				return row.next
			}})
			r := topo.plan(onToken(0))
			plan := sharedPlan{plan: r}
			require.Len(t, planNodes(r), row.nodes)
			if row.err == "" {
				require.NoError(t, plan.err())
			} else {
				require.ErrorContains(t, plan.err(), row.err)
			}
		})
	}
	require.Equal(t, maxRetries+9, picks)
}

// nextPicker is a HostPicker that calls next for each request.
type nextPicker struct {
	RoundRobinPolicy
	next func() NextHost
}

func (p nextPicker) Pick(context.Context, RouteInfo, []*cql.Host) NextHost { return p.next() }

// TestPlanHostPickerIsLazy requires that a node is selected when it is about to be tried, and that its Mark goes with
// the node, also if the node is tried later because it is silent.
func TestPlanHostPickerIsLazy(t *testing.T) {
	selected := 0
	var marked []int
	topo := threeByThree(t, nextPicker{next: func() NextHost {
		return func() SelectedHost {
			if selected++; selected > 3 {
				return SelectedHost{}
			}
			n := selected
			return SelectedHost{Host: &cql.Host{ID: cql.UUID{15: byte(n)}}, Mark: func(error) { marked = append(marked, n) }}
		}
	}})
	c := conn.New(&conn.Config{Version: frame.V4}, "127.0.0.1:9042", nil)
	c.Silent.Store(true)
	topo.node(2).pool.open.Store(newPoolView([]*conn.Conn{c}))
	r := topo.plan(onToken(0))
	require.Zero(t, selected)
	var tried []int
	for at := r.next(); at.node != nil; at = r.next() {
		tried = append(tried, int(at.node.info.ID[15]))
		at.mark(errors.New("failed"))
		require.LessOrEqual(t, selected, len(tried)+2)
	}
	require.Equal(t, []int{1, 3, 2}, tried)
	require.Equal(t, tried, marked)
}

// TestPlanHostPickerThatEnds requires that a plan has no further node once its HostPicker has returned none, even if it
// has left nodes out, and that a plan whose HostPicker may be called once more may have one.
func TestPlanHostPickerThatEnds(t *testing.T) {
	selected := 0
	topo := threeByThree(t, nextPicker{next: func() NextHost {
		return func() SelectedHost {
			if selected++; selected > 1 {
				return SelectedHost{}
			}
			return SelectedHost{Host: &cql.Host{ID: cql.UUID{15: 1}}}
		}
	}})
	r := topo.plan(onToken(0))
	require.True(t, r.more())
	require.Same(t, topo.node(1), r.next().node)
	r.picked.left = 1
	require.True(t, r.more())
	require.Nil(t, r.next().node)
	require.False(t, r.more())
}

// pickAll is a HostPicker that returns all hosts.
type pickAll struct{ RoundRobinPolicy }

func (pickAll) Pick(_ context.Context, _ RouteInfo, hosts []*cql.Host) NextHost {
	return HostsInOrder(hosts...)
}
