// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
)

// Faults 20 to 28: nodes that move, restart, report contradictory state or refuse the login.

// TestFault21RollingRestart: six nodes restart in turn under idempotent reads with three replicas. No read may fail,
// and every node must serve again after its return, although it has forgotten the prepared statements.
func TestFault21RollingRestart(t *testing.T) {
	const stmt, nodes, workers = "SELECT id FROM ks.t WHERE id = ?", 6, 12
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, nodes)
		columns := fakecql.Columns("id bigint")
		c.Prepare(stmt, fakecql.Prepared{Bind: columns, PK: []int{0}, Result: columns, ResultID: "m"})
		var mu sync.Mutex
		prepared, hits := map[*fakecql.Node]bool{}, map[*fakecql.Node]int{}
		c.On(func(r *fakecql.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case strings.Contains(r.Stmt, "FROM system_schema.keyspaces"):
				r.Rows(fakecql.Rows{Columns: fakecql.Columns("keyspace_name text", "replication map<text, text>"), Cells: [][]byte{
					fakecql.Cell("text", "ks"), fakecql.Cell("map<text, text>", map[string]string{"class": "SimpleStrategy", "replication_factor": "3"}),
				}})
			case r.Op == fakecql.OpPrepare:
				prepared[r.Node] = true
				return false
			case r.Op == fakecql.OpExecute && !prepared[r.Node]:
				r.Unprepared(fakecql.StatementID(stmt))
			case r.Op == fakecql.OpExecute:
				hits[r.Node]++
				res := fakecql.Rows{Columns: columns, Cells: r.Values}
				time.AfterFunc(5*time.Millisecond, func() { r.Rows(res) }) // so that many requests are in flight when a node stops
			default:
				return false
			}
			return true
		})
		s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.Defaults.Idempotent = true })
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(context.Background())
		var done, failed atomic.Int64
		var load sync.WaitGroup
		for w := range workers {
			load.Go(func() {
				for key := int64(w); ctx.Err() == nil; key += workers {
					var got int64
					if err := s.Query(stmt, key).Scan(t.Context(), &got); err != nil || got != key {
						failed.Add(1)
						t.Errorf("read of %d: got %d, %v", key, got, err)
						return
					}
					done.Add(1)
					time.Sleep(time.Duration(key%11) * time.Millisecond)
				}
			})
		}
		for _, n := range c.Nodes {
			time.Sleep(time.Second/4 + 333*time.Microsecond)
			n.Stop()
			mu.Lock()
			prepared[n] = false
			mu.Unlock()
			before := done.Load()
			time.Sleep(time.Second)
			require.Greater(t, done.Load()-before, int64(workers*40), "the other nodes serve")
			mu.Lock()
			hits[n] = 0
			mu.Unlock()
			n.Start()
			c.Event("STATUS_CHANGE", "UP", n.Inet())
			began := time.Now()
			require.True(t, fakecql.Within(func() bool {
				mu.Lock()
				defer mu.Unlock()
				return hits[n] > 100
			}), "%s serves again", n.IP)
			require.Less(t, time.Since(began), 3*time.Second)
		}
		cancel()
		load.Wait()
		require.Zero(t, failed.Load())
		t.Logf("%d reads, %d retries", done.Load(), s.Stats().Retries)
		require.Positive(t, s.Stats().Retries, "some requests were in flight")
	})
}

// TestFault24NodeContradictsItself: a node reports another number of shards on every connection. It must not be dialed
// in a loop.
func TestFault24NodeContradictsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newCluster(t, fakecql.V4, 1, fakecql.Sharded(8))
		n := m.Nodes[0]
		var calls atomic.Int32
		n.Server.Supported = func(p *fakecql.Conn) map[string][]string {
			return fakecql.ScyllaSupported("SCYLLA_NR_SHARDS", fmt.Sprint(2+calls.Add(1)%7), "SCYLLA_SHARD", "1", "SCYLLA_HOST_ID", n.ID.String())
		}
		s := sessionOn(m)
		began := time.Now()
		time.Sleep(10 * time.Minute)
		require.Less(t, len(m.DialsSince(began, "")), 400)
		require.NoError(t, s.Query("INSERT").Exec(t.Context()))
	})
}

// TestFault20NodeMoves: a node restarts with another address and the same host id, without an event. It must be
// connected again.
func TestFault20NodeMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newCluster(t, fakecql.V4, 3, fakecql.Sharded(4))
		s := sessionOn(m)
		n := m.Nodes[2]
		n.Stop()
		n.MoveTo("10.0.9.3")
		n.Start()
		time.Sleep(2 * time.Minute) // there is no event; the system tables are read again
		require.Equal(t, []int{1, 1, 1, 1}, n.ShardCounts())
		require.NoError(t, s.Query("INSERT").HostID(cql.UUID(n.ID)).Exec(t.Context()))
		require.Len(t, s.GetHosts(), 3)
	})
}

// TestFault20AllNodesMove: all nodes get other addresses at once. The session must reach them through its contact
// points.
func TestFault20AllNodesMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newCluster(t, fakecql.V4, 3)
		s := sessionOn(m, func(cfg *vecql.ClusterConfig) { cfg.Hosts = []string{"10.0.9.1", "127.0.0.1"} })
		for i := range 3 {
			n := m.Nodes[i]
			n.Stop()
			n.MoveTo(fmt.Sprintf("10.0.9.%d", i+1))
		}
		time.Sleep(time.Minute)
		require.ErrorIs(t, s.Query("INSERT").Exec(t.Context()), vecql.ErrNoConnections)
		for i := range 3 {
			m.Nodes[i].Start()
		}
		time.Sleep(2 * time.Minute)
		for i := range 3 {
			n := m.Nodes[i]
			require.Positive(t, n.Connections())
			require.NoError(t, s.Query("INSERT").HostID(cql.UUID(n.ID)).Exec(t.Context()))
		}
	})
}

// TestFault23UpBeforeItListens: UP arrives for a node that does not listen yet, DOWN for a node that responds. The node
// that responds must stay in use; attempts to connect to the other must be limited, with jitter.
func TestFault23UpBeforeItListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newCluster(t, fakecql.V4, 2, fakecql.Sharded(2))
		s := sessionOn(m)
		time.Sleep(time.Second)
		n := m.Nodes[1]
		made, used := m.MadeCount(), n.Connections()
		for range 100 {
			m.Event("STATUS_CHANGE", "DOWN", n.Inet())
		}
		time.Sleep(5 * time.Second)
		require.Equal(t, used, n.Connections(), "an event alone does not close a connection")
		require.Equal(t, made, m.MadeCount())
		require.NoError(t, s.Query("INSERT").HostID(cql.UUID(n.ID)).Exec(t.Context()))

		n.Stop()
		time.Sleep(time.Minute)
		began := time.Now()
		time.Sleep(time.Minute)
		quiet := m.DialsSince(began, n.IP)
		require.True(t, len(quiet) >= 12 && len(quiet) <= 24, "%d attempts per minute, want intervals of 5 s less up to half", len(quiet))
		gaps := map[time.Duration]bool{}
		for i := 1; i < len(quiet); i++ {
			gap := quiet[i].At.Sub(quiet[i-1].At)
			require.True(t, gap >= 5*time.Second/2 && gap <= 5*time.Second, "%v", gap)
			gaps[gap] = true
		}
		require.Greater(t, len(gaps), 5, "the intervals vary")

		m.Event("STATUS_CHANGE", "UP", n.Inet())
		began = time.Now()
		time.Sleep(time.Second)
		require.NotEmpty(t, m.DialsSince(began, n.IP), "an attempt follows the event immediately")
		n.Start() // the node listens a second later
		time.Sleep(2 * time.Second)
		require.NoError(t, s.Query("INSERT").HostID(cql.UUID(n.ID)).Exec(t.Context()), "the backoff has started over")

		n.Stop()
		synctest.Wait()
		began = time.Now()
		for range 1000 { // a storm of events for 10 s
			m.Event("STATUS_CHANGE", "UP", n.Inet())
			time.Sleep(10 * time.Millisecond)
		}
		require.LessOrEqual(t, len(m.DialsSince(began, n.IP)), 10*20+5, "at most one attempt per 50 ms")
	})
}

// TestFault28LoginRefused: the password of a running cluster changes, and later the password of the Authenticator.
// Attempts must be limited, and the node must be connected again without a restart.
func TestFault28LoginRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newCluster(t, fakecql.V4, 2, fakecql.Sharded(2))
		var valid atomic.Value
		valid.Store("old")
		for i := range 2 {
			m.Nodes[i].Server.Auth = passwordAuthenticator
		}
		m.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpAuthResponse {
				return false
			}
			if string(r.Body[4:]) == "\x00u\x00"+valid.Load().(string) {
				r.Conn.Reply(r.Stream, fakecql.OpAuthSuccess, []byte{0xFF, 0xFF, 0xFF, 0xFF})
			} else {
				r.Fail(int32(cql.CodeCredentials))
			}
			return true
		})

		cfg := configOf(m)
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: "u", Password: "never"}
		began := time.Now()
		_, err := vecql.NewSession(t.Context(), *cfg)
		require.ErrorIs(t, err, cql.CodeCredentials)
		require.Zero(t, time.Since(began), "the start fails at once")

		auth := new(rotating)
		auth.password.Store("old")
		logged, logger := fakecql.NewLogCounter()
		s := sessionOn(m, func(cfg *vecql.ClusterConfig) { cfg.Authenticator, cfg.Logger = auth, logger })
		time.Sleep(time.Second)
		valid.Store("new")
		n := m.Nodes[1]
		n.HangUp()
		began = time.Now()
		time.Sleep(10 * time.Minute)
		require.Zero(t, n.Connections())
		require.LessOrEqual(t, len(m.DialsSince(began, n.IP)), 24, "at most one attempt per 10 s, then per minute, less up to half")
		require.Equal(t, 1, logged.Of("node not reached"))
		began = time.Now()
		for range 100 {
			m.Event("STATUS_CHANGE", "UP", n.Inet())
			time.Sleep(10 * time.Millisecond)
		}
		require.LessOrEqual(t, len(m.DialsSince(began, n.IP)), 1, "events do not cause attempts after a refused login")
		require.NoError(t, s.Query("INSERT").Exec(t.Context()), "the connected node serves")
		auth.password.Store("new")
		time.Sleep(time.Minute + time.Second)
		require.Equal(t, []int{1, 1}, n.ShardCounts(), "without a restart")
		require.Equal(t, 1, logged.Of("node reached again"))
	})
}

// TestFault28AllLoginsRefused: the password changes while no connection is left, including the control connection.
func TestFault28AllLoginsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newCluster(t, fakecql.V4, 2, fakecql.Sharded(2))
		var refuse atomic.Bool
		for i := range 2 {
			m.Nodes[i].Server.Auth = passwordAuthenticator
		}
		m.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpAuthResponse && refuse.Load() {
				r.Fail(int32(cql.CodeCredentials))
			} else if r.Op == fakecql.OpAuthResponse {
				r.Conn.Reply(r.Stream, fakecql.OpAuthSuccess, []byte{0xFF, 0xFF, 0xFF, 0xFF})
			}
			return r.Op == fakecql.OpAuthResponse
		})
		s := sessionOn(m, func(cfg *vecql.ClusterConfig) {
			cfg.Authenticator = vecql.PasswordAuthenticator{Username: "u", Password: "p"}
		})
		time.Sleep(time.Second)
		refuse.Store(true)
		for i := range 2 {
			m.Nodes[i].HangUp()
		}
		began := time.Now()
		time.Sleep(10 * time.Minute)
		for i := range 2 {
			require.LessOrEqual(t, len(m.DialsSince(began, m.Nodes[i].IP)), 24+30, "the pool's and the control connection's attempts")
		}
		require.ErrorIs(t, s.Query("INSERT").Exec(t.Context()), cql.CodeCredentials, "the error names the reason")
		refuse.Store(false)
		time.Sleep(time.Minute + time.Second)
		require.NoError(t, s.Query("INSERT").Exec(t.Context()))
		require.Equal(t, 2+2+1, m.Nodes[0].Connections()+m.Nodes[1].Connections(), "a connection to each shard, and the control connection")
	})
}

// A rotating is an Authenticator whose password changes.
type rotating struct{ password atomic.Value }

func (a *rotating) Challenge(req []byte) ([]byte, cql.Authenticator, error) {
	return vecql.PasswordAuthenticator{Username: "u", Password: a.password.Load().(string)}.Challenge(req)
}

func (a *rotating) Success([]byte) error { return nil }

// TestFault27NullsOverTheWire: rows of system_schema contain only names, all other cells are NULL, and access to one
// table is denied.
func TestFault27NullsOverTheWire(t *testing.T) {
	f := fakecql.NewSchema()
	f.Add("keyspaces", fakecql.Row{"keyspace_name": "ks"}, fakecql.Row{})
	f.Add("tables", fakecql.Row{"keyspace_name": "ks", "table_name": "t"}, fakecql.Row{"keyspace_name": "ks"}, fakecql.Row{})
	f.Add("columns", fakecql.Row{"keyspace_name": "ks", "table_name": "t", "column_name": "c"},
		fakecql.Row{"keyspace_name": "ks", "table_name": "t"}, fakecql.Row{"keyspace_name": "ks"},
		fakecql.Row{"keyspace_name": "ks", "table_name": "no such", "column_name": "c"})
	f.Add("types", fakecql.Row{"keyspace_name": "ks", "type_name": "u"})
	f.Lacks["functions"] = int32(cql.CodeUnauthorized)
	c := newCluster(t, fakecql.V5, 1)
	c.On(func(r *fakecql.Request) bool {
		if strings.HasPrefix(r.Stmt, "SELECT * FROM system_schema.indexes") {
			r.Rows(fakecql.Rows{Columns: fakecql.Columns("keyspace_name text", "index_name uuid"), Cells: [][]byte{[]byte("ks"), []byte("short")}})
			return true
		}
		return f.Answer(r)
	})
	s := sessionOn(c)
	ks, err := s.KeyspaceMetadata(t.Context(), "ks")
	require.NoError(t, err)
	require.Equal(t, cql.CustomType{}, ks.Tables["t"].Columns["c"].Type)
	require.Contains(t, ks.UserTypes, "u")
	require.Len(t, ks.Tables, 1)
	require.ErrorIs(t, errors.Join(ks.Faults...), cql.CodeUnauthorized)
	all, err := s.AllKeyspaceMetadata(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
}

// A hostLog records the changes of nodes.
type hostLog struct {
	mu    sync.Mutex
	calls []string
}

func (r *hostLog) record(c vecql.NodeChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c.Kind.String()+" "+c.Host.Address.Addr().String())
}

// take returns the calls since the last take.
func (r *hostLog) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := strings.Join(r.calls, ", ")
	r.calls = nil
	return calls
}

// after waits for d, then until all other goroutines of the bubble are blocked.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestFault23FalseEvents: UP and NEW_NODE arrive for a node that does not listen yet, DOWN for a node that responds.
// No change must be reported.
func TestFault23FalseEvents(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		c.Nodes[2].Stop()
		var r hostLog
		s := sessionOn(c, func(cfg *vecql.ClusterConfig) {
			cfg.Nodes.OnChange = r.record
		})
		after(time.Minute) // by now the attempts to reach the third node are far apart
		require.Equal(t, "down 127.0.0.3", r.take())
		dials := c.Nodes[2].DialCount()
		for range 100 { // ten seconds of false events
			for _, e := range []string{"UP", "DOWN", "UP"} {
				c.Event("STATUS_CHANGE", e, net.IP{127, 0, 0, 3})
			}
			c.Event("TOPOLOGY_CHANGE", "NEW_NODE", net.IP{127, 0, 0, 3})
			c.Event("STATUS_CHANGE", "DOWN", net.IP{127, 0, 0, 2})
			require.NoError(t, s.Query("INSERT").HostID(cql.UUID(c.Nodes[1].ID)).Exec(t.Context()), "the node is reported down but responds")
			after(100 * time.Millisecond)
		}
		after(2 * time.Second)
		require.Empty(t, r.take(), "no listener is called")
		require.Less(t, c.Nodes[2].DialCount()-dials, 100, "200 false events cause fewer attempts")
		require.EqualValues(t, 1, c.Nodes[1].DialCount(), "the connection is kept")

		c.Nodes[2].Start()
		c.Event("STATUS_CHANGE", "UP", net.IP{127, 0, 0, 3})
		after(time.Second + 100*time.Millisecond)
		require.Equal(t, "up 127.0.0.3", r.take(), "after the delays")
	})
}
