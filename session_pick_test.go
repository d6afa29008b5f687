// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
)

// Requests with a HostPicker.

// recorder is a HostPicker that selects the hosts in the order of order, without end, and records what it is passed.
type recorder struct {
	RoundRobinPolicy
	order []int // indexes into hosts by address

	mu    sync.Mutex
	ctxs  []context.Context
	infos []RouteInfo
	marks []string
}

func (p *recorder) Pick(ctx context.Context, r RouteInfo, hosts []*cql.Host) NextHost {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ctxs, p.infos = append(p.ctxs, ctx), append(p.infos, r)
	slices.SortFunc(hosts, func(a, b *cql.Host) int { return a.Address.Compare(b.Address) })
	turn := 0
	return func() SelectedHost {
		n := p.order[turn%len(p.order)]
		turn++
		return SelectedHost{Host: hosts[n], Mark: func(err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.marks = append(p.marks, fmt.Sprint(n, " ", outcome(err)))
		}}
	}
}

// take returns and forgets the record.
func (p *recorder) take() (ctxs []context.Context, infos []RouteInfo, marks []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctxs, infos, marks = p.ctxs, p.infos, p.marks
	p.ctxs, p.infos, p.marks = nil, nil, nil
	return ctxs, infos, marks
}

// outcome returns the code of a server error, and the text of any other error.
func outcome(err error) string {
	for _, code := range []cql.Code{cql.CodeOverloaded, cql.CodeServer} {
		if errors.Is(err, code) {
			return code.Error()
		}
	}
	return fmt.Sprint(err)
}

// TestHostPickerDescription requires the description of each request: PREPARE, query, page, batch.
func TestHostPickerDescription(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		p := &recorder{order: []int{0}}
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.HostSelectionPolicy = p })
		const read, insert = "SELECT v FROM ks.t WHERE k = ? AND l = ?", "INSERT INTO ks.t (k) VALUES (?) IF NOT EXISTS"
		ints := fakecql.Columns("v int")
		c.Prepare(read, fakecql.Prepared{Bind: fakecql.Columns("k int", "l text"), PK: []int{0, 1}, Result: ints})
		c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("k int"), PK: []int{0}})
		c.Answer(func(r *fakecql.Request, nth int) {
			switch {
			case r.Op == fakecql.OpBatch || nth > 1:
				r.Void()
			case nth == 0:
				r.Rows(fakecql.Rows{Columns: ints, Cells: [][]byte{{0, 0, 0, 1}}, State: "more"})
			default:
				r.Rows(fakecql.Rows{Columns: ints, Cells: [][]byte{{0, 0, 0, 2}}})
			}
		})
		_, _, _ = p.take()
		type key struct{}
		ctx := context.WithValue(t.Context(), key{}, "mine")
		it := s.Query(read, 7, "x").Iter(ctx)
		var v int
		for it.Scan(&v) {
		}
		require.NoError(t, it.Close())
		ctxs, infos, marks := p.take()
		require.Equal(t, []string{"0 <nil>", "0 <nil>", "0 <nil>"}, marks)
		require.Len(t, infos, 3)
		page := RouteInfo{
			Keyspace: "ks", Table: "t", HasToken: true, Idempotent: true, Statement: read,
			RoutingKey: []byte{0, 4, 0, 0, 0, 7, 0, 0, 1, 'x', 0},
		}
		page.Token, page.Replicas = infos[1].Token, infos[1].Replicas
		require.Equal(t, []RouteInfo{{Statement: read, Prepare: true, Idempotent: true}, page, page}, infos)
		for _, ctx := range ctxs {
			require.Equal(t, "mine", ctx.Value(key{}), "also in a PREPARE and for later pages")
		}
		require.Nil(t, ctxs[0].Value(0))

		require.NoError(t, s.Batch(cql.LoggedBatch).Query("INSERT INTO u (k) VALUES (1)").Query(insert, 9).Exec(t.Context()))
		_, infos, _ = p.take()
		require.Equal(t, RouteInfo{
			Keyspace: "ks", Table: "t", HasToken: true, LWT: true, Statement: "INSERT INTO u (k) VALUES (1)",
			RoutingKey: []byte{0, 0, 0, 9}, Token: infos[1].Token, Replicas: infos[1].Replicas,
		}, infos[1])
		require.NoError(t, s.Query(insert, 9).RoutingKey([]byte("own")).Exec(t.Context()))
		_, infos, _ = p.take()
		require.Equal(t, "own", string(infos[0].RoutingKey))
	})
}

// TestHostPickerMarks requires that a node is selected for each attempt, and that its Mark gets the outcome.
func TestHostPickerMarks(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		p := &recorder{order: []int{2, 2, 0, 1}}
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.HostSelectionPolicy = p })
		requireAllUp(t, s)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		_, _, _ = p.take()
		var nodes []string
		c.Answer(func(r *fakecql.Request, nth int) {
			nodes = append(nodes, r.Node.IP)
			if nth < 4 {
				r.Fail(int32([]cql.Code{cql.CodeOverloaded, cql.CodeOverloaded, cql.CodeServer, cql.CodeServer}[nth]))
				return
			}
			r.Void()
		})
		n := 0
		policy := retryFunc(func(Attempt) Decision {
			if n++; n == 3 {
				return Decision{Type: Retry}
			}
			return Decision{Type: RetryNextHost}
		})
		require.NoError(t, s.Query(idempotentInsert).Idempotent(true).RetryPolicy(policy).Exec(t.Context()))
		_, _, marks := p.take()
		require.Equal(t, []string{"2 overloaded", "2 overloaded", "0 server error", "0 server error", "1 <nil>"}, marks)
		ips := []string{c.Nodes[2].IP, c.Nodes[2].IP, c.Nodes[0].IP, c.Nodes[0].IP, c.Nodes[1].IP}
		require.Equal(t, ips, nodes)
	})
}

// TestHostPickerMarkPanics requires that a panic in Mark does not reach the request.
func TestHostPickerMarkPanics(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		var host *cql.Host
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.HostSelectionPolicy = nextPicker{next: func() NextHost {
				return func() SelectedHost { return SelectedHost{Host: host, Mark: func(error) { panic("mine") }} }
			}}
		})
		host = s.GetHosts()[0]
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
	})
}

// TestHostPickerSpeculation requires that the executions of one request share the nodes of one NextHost, and that both
// are marked.
func TestHostPickerSpeculation(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		p := &recorder{order: []int{0, 1}}
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.HostSelectionPolicy = p })
		requireAllUp(t, s)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		_, _, _ = p.take()
		c.Answer(func(r *fakecql.Request, nth int) {
			if nth == 1 {
				r.Void()
			}
		})
		again := &SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: 10 * time.Millisecond}
		require.NoError(t, s.Query(idempotentInsert).Idempotent(true).SpeculativeExecutionPolicy(again).Exec(t.Context()))
		_, infos, marks := p.take()
		require.Len(t, infos, 1)
		require.ElementsMatch(t, []string{"1 <nil>", "0 context canceled"}, marks)
	})
}

// ownHosts is a HostPicker that receives its nodes from listeners only.
type ownHosts struct {
	RoundRobinPolicy
	mu    sync.Mutex
	hosts map[string]*cql.Host
}

func (p *ownHosts) set(h *cql.Host, up bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.hosts, h.ID.String()); up {
		p.hosts[h.ID.String()] = h
	}
}

func (p *ownHosts) changed(c NodeChange) { p.set(c.Host, c.Kind == NodeUp || c.Kind == NodeAdded) }

func (p *ownHosts) Pick(context.Context, RouteInfo, []*cql.Host) NextHost {
	p.mu.Lock()
	defer p.mu.Unlock()
	return HostsInOrder(slices.Collect(maps.Values(p.hosts))...)
}

// TestHostPickerWithChanges requires that the hosts of a new session, and the changes after it, are all that a
// HostPicker with nodes of its own needs.
func TestHostPickerWithChanges(t *testing.T) {
	bubble(t, 4, func(t *testing.T, c *fakecql.Cluster) {
		c.Peers = c.Nodes[:3]
		c.Nodes[2].Stop()
		p := &ownHosts{hosts: map[string]*cql.Host{}}
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.HostSelectionPolicy = p
			cfg.Nodes.OnChange = p.changed
		})
		for _, h := range s.GetHosts() {
			p.set(h, true)
		}
		hits := hitsOf(c)
		used := func() []string {
			after(10 * time.Second)
			hits()
			for range 100 {
				require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
			}
			return slices.Sorted(maps.Keys(hits()))
		}
		require.Equal(t, []string{"127.0.0.1", "127.0.0.2"}, used())
		c.Nodes[2].Start()
		require.Equal(t, []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}, used())
		c.Peers = []*fakecql.Node{c.Nodes[0], c.Nodes[2], c.Nodes[3]}
		c.Event(frame.EventTopology, "NEW_NODE", net.IP{127, 0, 0, 4})
		c.Nodes[1].Stop()
		require.Equal(t, []string{"127.0.0.1", "127.0.0.3", "127.0.0.4"}, used())
		c.Nodes[2].MoveTo("127.0.0.9")
		c.Nodes[2].Stop()
		c.Event(frame.EventStatus, "DOWN", net.IP{127, 0, 0, 3})
		require.Equal(t, []string{"127.0.0.1", "127.0.0.4"}, used())
		c.Nodes[2].Start()
		require.Equal(t, []string{"127.0.0.1", "127.0.0.4", "127.0.0.9"}, used())
	})
}
