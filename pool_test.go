// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// This file tests how a session gets at its nodes again: after they moved, were down, or refused the login; and that nothing is left of it.

// TestFault20NodeMoves restarts a node with another address and the same host id.
func TestFault20NodeMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 3, sharded(4))
		s := m.session()
		n := m.nodes[2]
		p := poolOf(s, n)
		n.stop()
		n.moveTo("10.0.9.3")
		n.start()
		time.Sleep(2 * time.Minute) // no event tells: the system tables are read again
		require.Same(t, p, poolOf(s, n), "the node is the same")
		require.Equal(t, repeat(4, 1), p.shardCounts())
		require.Equal(t, "10.0.9.3:9042", p.pick().addr())
		require.NoError(t, s.Query("INSERT").SetHostID(n.id.String()).Exec())
		require.Len(t, s.GetHosts(), 3)
	})
}

// TestFault20AllNodesMove gives all nodes other addresses at once; the contact points lead to the new ones.
func TestFault20AllNodesMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 3)
		s := m.session(func(cfg *ClusterConfig) { cfg.Hosts = []string{"10.0.9.1", "127.0.0.1"} })
		for i := range 3 {
			n := m.nodes[i]
			n.stop()
			n.moveTo(fmt.Sprintf("10.0.9.%d", i+1))
		}
		time.Sleep(time.Minute)
		require.ErrorIs(t, s.Query("INSERT").Exec(), ErrNoConnections)
		for i := range 3 {
			m.nodes[i].start()
		}
		time.Sleep(2 * time.Minute)
		for i := range 3 {
			n := m.nodes[i]
			require.Equal(t, n.addr(), poolOf(s, n).pick().addr())
			require.NoError(t, s.Query("INSERT").SetHostID(n.id.String()).Exec())
		}
	})
}

// TestFault20RumourOfMove tells an address at which nobody answers: the connections that work go on working until one to the new address
// does.
func TestFault20RumourOfMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 2, sharded(4))
		s := m.session()
		time.Sleep(time.Second)
		n := m.nodes[1]
		p := poolOf(s, n)
		old := p.pick()
		p.move("10.0.9.2:9042")
		time.Sleep(30 * time.Second)
		require.False(t, old.closed())
		for range 20 {
			require.NoError(t, s.Query("INSERT").SetHostID(n.id.String()).Exec())
		}
		m.mu.Lock()
		m.hosts["10.0.9.2"] = n
		m.mu.Unlock()
		time.Sleep(10 * time.Second)
		require.True(t, old.closed(), "drained")
		require.Equal(t, "10.0.9.2:9042", p.pick().addr())
		require.Equal(t, repeat(4, 1), p.shardCounts())
	})
}

func TestPoolRefusesWrongNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 2, sharded(2))
		one, two := m.nodes[0], m.nodes[1]
		two.extra = map[string][]string{keyHostID: {one.id.String()}}
		s := m.session()
		p := poolOf(s, two)
		time.Sleep(10 * time.Second)
		require.False(t, p.isUp())
		var wrong *wrongNodeError
		require.ErrorAs(t, p.lastError(), &wrong)
		require.ErrorContains(t, s.Query("INSERT").SetHostID(two.id.String()).Exec(), "answers at the address of")
		two.change(func(n *fakeNode) { n.extra = nil })
		time.Sleep(10 * time.Second)
		require.NoError(t, s.Query("INSERT").SetHostID(two.id.String()).Exec())
	})
}

// TestFault23UpBeforeItListens announces nodes that do not listen yet, and buries one that answers.
func TestFault23UpBeforeItListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 2, sharded(2))
		s := m.session()
		time.Sleep(time.Second)
		n := m.nodes[1]
		p := poolOf(s, n)
		conns := p.open.Load().conns
		for range 100 {
			m.event(eventStatus, "DOWN", n.inet())
		}
		time.Sleep(5 * time.Second)
		require.Equal(t, conns, p.open.Load().conns, "no conviction by rumour")
		require.True(t, p.isUp())

		n.stop()
		time.Sleep(time.Minute)
		began := time.Now()
		time.Sleep(time.Minute)
		quiet := m.dialsSince(began, n.ip)
		require.True(t, len(quiet) >= 12 && len(quiet) <= 24, "%d attempts a minute, the interval being 5 s less up to half", len(quiet))
		gaps := map[time.Duration]bool{}
		for i := 1; i < len(quiet); i++ {
			gap := quiet[i].at.Sub(quiet[i-1].at)
			require.True(t, gap >= reconnectMax/2 && gap <= reconnectMax, "%v", gap)
			gaps[gap] = true
		}
		require.Greater(t, len(gaps), 5, "they differ at random")

		m.event(eventStatus, "UP", n.inet())
		began = time.Now()
		time.Sleep(time.Second)
		require.NotEmpty(t, m.dialsSince(began, n.ip), "tried at once")
		n.start() // it listens a second later
		time.Sleep(2 * time.Second)
		require.True(t, p.isUp(), "the wait has started over")

		n.stop()
		synctest.Wait()
		began = time.Now()
		for range 1000 { // a storm of events for 10 s
			m.event(eventStatus, "UP", n.inet())
			time.Sleep(10 * time.Millisecond)
		}
		require.LessOrEqual(t, len(m.dialsSince(began, n.ip)), 10*20+5, "at most one each 50 ms")
	})
}

// TestFault28LoginRefused changes the password of a running cluster, and the Authenticator's later.
func TestFault28LoginRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 2, sharded(2))
		var valid atomic.Value
		valid.Store("old")
		for i := range 2 {
			m.nodes[i].server.auth = passwordAuthenticators[0]
		}
		m.on(func(r *fakeRequest) bool {
			if r.op != opAuthResponse {
				return false
			}
			if string(r.body[4:]) == "\x00u\x00"+valid.Load().(string) {
				r.peer.reply(r.stream, opAuthSuccess, []byte{0xFF, 0xFF, 0xFF, 0xFF})
			} else {
				r.fail(CodeCredentials)
			}
			return true
		})

		cfg := m.config()
		cfg.Authenticator = PasswordAuthenticator{Username: "u", Password: "never"}
		began := time.Now()
		_, err := cfg.CreateSession()
		require.ErrorIs(t, err, CodeCredentials)
		require.Zero(t, time.Since(began), "it fails fast")

		auth := new(rotating)
		auth.password.Store("old")
		logged, logger := newCountedLogger()
		s := m.session(func(cfg *ClusterConfig) { cfg.Authenticator, cfg.Logger = auth, logger })
		time.Sleep(time.Second)
		valid.Store("new")
		n := m.nodes[1]
		p := poolOf(s, n)
		n.hangUp()
		began = time.Now()
		time.Sleep(10 * time.Minute)
		require.False(t, p.isUp())
		require.LessOrEqual(t, len(m.dialsSince(began, n.ip)), 24, "no storm: an attempt each 10 s, then each minute, less up to half")
		require.Equal(t, 1, logged.of("node not reached"))
		began = time.Now()
		for range 100 {
			m.event(eventStatus, "UP", n.inet())
			time.Sleep(10 * time.Millisecond)
		}
		require.LessOrEqual(t, len(m.dialsSince(began, n.ip)), 1, "events do not make the password right")
		require.NoError(t, s.Query("INSERT").Exec(), "the node that is connected serves")
		auth.password.Store("new")
		time.Sleep(loginMax + time.Second)
		require.Equal(t, repeat(2, 1), p.shardCounts(), "without a restart")
		require.Equal(t, 1, logged.of("node reached again"))
	})
}

// TestFault28NobodyLetsIn changes the password while no connection is left, the control connection neither.
func TestFault28NobodyLetsIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 2, sharded(2))
		var refuse atomic.Bool
		for i := range 2 {
			m.nodes[i].server.auth = passwordAuthenticators[0]
		}
		m.on(func(r *fakeRequest) bool {
			if r.op == opAuthResponse && refuse.Load() {
				r.fail(CodeCredentials)
			} else if r.op == opAuthResponse {
				r.peer.reply(r.stream, opAuthSuccess, []byte{0xFF, 0xFF, 0xFF, 0xFF})
			}
			return r.op == opAuthResponse
		})
		s := m.session(func(cfg *ClusterConfig) { cfg.Authenticator = PasswordAuthenticator{Username: "u", Password: "p"} })
		time.Sleep(time.Second)
		refuse.Store(true)
		for i := range 2 {
			m.nodes[i].hangUp()
		}
		began := time.Now()
		time.Sleep(10 * time.Minute)
		for i := range 2 {
			require.LessOrEqual(t, len(m.dialsSince(began, m.nodes[i].ip)), 24+30, "the pool's and the control connection's attempts")
		}
		require.ErrorIs(t, s.Query("INSERT").Exec(), CodeCredentials, "the error says why")
		refuse.Store(false)
		time.Sleep(loginMax + time.Second)
		require.NoError(t, s.Query("INSERT").Exec())
		require.NotNil(t, s.control.current())
	})
}

// rotating is an Authenticator whose password changes.
type rotating struct{ password atomic.Value }

func (a *rotating) Challenge(req []byte) ([]byte, Authenticator, error) {
	return PasswordAuthenticator{Username: "u", Password: a.password.Load().(string)}.Challenge(req)
}
func (a *rotating) Success([]byte) error { return nil }

// TestPoolLogsWithoutLocks has a logger that asks the session back.
func TestPoolLogsWithoutLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 2, sharded(4))
		logged, logger := newCountedLogger()
		s := m.session(func(cfg *ClusterConfig) { cfg.Logger, cfg.ReconnectInterval = logger, time.Second })
		n := m.nodes[1]
		p := poolOf(s, n)
		logged.mu.Lock()
		logged.call = func() {
			_ = p.lastError()
			_ = s.GetHosts()
			s.mu.Lock()
			defer s.mu.Unlock()
		}
		logged.mu.Unlock()
		time.Sleep(time.Second)
		n.change(func(n *fakeNode) { n.shards, n.portShift = 8, 1 })
		p.pick().close(errors.New("one breaks"))
		time.Sleep(10 * time.Second)
		n.stop()
		time.Sleep(10 * time.Second)
		n.moveTo("10.0.9.2")
		n.change(func(n *fakeNode) { n.noPort, n.portShift = true, 0 })
		n.start()
		time.Sleep(10 * time.Second)
		m.mu.Lock()
		m.peers = m.nodes[:1]
		m.mu.Unlock()
		time.Sleep(10 * time.Second)
		m.mu.Lock()
		m.peers = m.nodes
		m.mu.Unlock()
		time.Sleep(10 * time.Second)
		for _, message := range []string{
			"node has other shards", "node lost", "node not reached", "node reached again", "node has another address", "node removed", "node added",
			"shard-aware port gives another shard than that of the local port; using the plain port for a while",
			"shard-aware port does not work; using the plain port for a while",
		} {
			require.NotZero(t, logged.of(message), message)
		}
		require.Equal(t, repeat(8, 1), poolOf(s, n).shardCounts())
	})
}

func TestPoolPickAllocates(t *testing.T) {
	p := newPool(t.Context(), "127.0.0.1:9042", poolConfig{})
	defer p.hurry()
	var conns []*conn
	for shard := range int32(8) {
		c := newConn(&connConfig{version: protoV4}, "127.0.0.1:9042", nil)
		c.features = features{shards: 4, shard: shard % 4, ignoreMSB: 12}
		conns = append(conns, c)
	}
	p.open.Store(newPoolView(conns))
	var wrong int
	tok := int64(1)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		tok *= 6364136223846793005
		if shard := p.shardOf(tok); p.pickShard(shard).features.shard != shard || p.pickShard(-1) == nil {
			wrong++
		}
	}))
	require.Zero(t, wrong)
	busy, idle := p.open.Load().byShard[2][0], p.open.Load().byShard[2][1]
	_, ok := busy.streams.Claim()
	require.True(t, ok)
	for range 10 {
		require.Same(t, idle, p.pickShard(2), "the less busy of two")
	}
	idle.draining.Store(true)
	require.Same(t, busy, p.pickShard(2))
	busy.draining.Store(true)
	require.NotEqual(t, int32(2), p.pickShard(2).features.shard, "another shard's, when it has none that takes requests")
}

// TestPoolNodeDropsConnections accepts connections and drops them: it must not be dialled in a loop.
func TestPoolNodeDropsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 2)
		s := m.session(func(cfg *ClusterConfig) { cfg.NumConns = 4 })
		n := m.nodes[1]
		began := time.Now()
		for range 6000 {
			time.Sleep(10 * time.Millisecond)
			n.hangUp()
		}
		require.Less(t, len(m.dialsSince(began, n.ip)), 150, "in a minute, four at a time")
		time.Sleep(10 * time.Second)
		require.Len(t, poolOf(s, n).open.Load().conns, 4)
	})
}

func TestReconnectionPolicies(t *testing.T) {
	ms := time.Millisecond
	for _, m := range []struct {
		name   string
		policy ReconnectionPolicy
		want   []time.Duration
		again  int // retries; -1: without end
	}{
		{
			"default",
			ExponentialReconnectionPolicy{},
			[]time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 5000 * ms},
			-1,
		},
		{
			"exponential", &ExponentialReconnectionPolicy{MaxRetries: 3, InitialInterval: time.Second, MaxInterval: 3 * time.Second},
			[]time.Duration{time.Second, 2 * time.Second, 3 * time.Second},
			3,
		},
		{
			"initial above the default maximum",
			ExponentialReconnectionPolicy{InitialInterval: time.Minute},
			[]time.Duration{time.Minute, time.Minute},
			-1,
		},
		{"constant", &ConstantReconnectionPolicy{MaxRetries: 2, Interval: 50 * ms}, []time.Duration{50 * ms, 50 * ms}, 2},
		{"constant of nothing", ConstantReconnectionPolicy{}, []time.Duration{time.Second}, -1},
		{"too short", ConstantReconnectionPolicy{Interval: 1}, []time.Duration{10 * ms}, -1},
		{"none", NoReconnectionPolicy{}, nil, 0},
		{"panics", panickingPolicy{}, []time.Duration{100 * ms, 200 * ms}, -1},
	} {
		t.Run(m.name, func(t *testing.T) {
			for i, want := range m.want {
				got, again := reconnectWait(m.policy, i)
				require.True(t, again)
				require.Equal(t, want, got, "retry %d", i)
			}
			_, again := reconnectWait(m.policy, 1<<30)
			require.Equal(t, m.again < 0, again)
			if m.again >= 0 {
				_, again = reconnectWait(m.policy, m.again)
				require.False(t, again)
			}
		})
	}
	for range 1000 {
		d := jittered(time.Second)
		require.True(t, d > time.Second/2 && d <= time.Second)
	}
	require.EqualValues(t, 1, jittered(1))
}

type panickingPolicy struct{}

func (panickingPolicy) GetInterval(int) time.Duration { panic("mine") }
func (panickingPolicy) GetMaxRetries() int            { return 0 }

func TestPoolGivesUp(t *testing.T) {
	for _, m := range []struct {
		name   string
		policy ReconnectionPolicy
		series int // attempts
	}{
		{"three retries", ConstantReconnectionPolicy{MaxRetries: 3, Interval: 100 * time.Millisecond}, 4},
		{"none", NoReconnectionPolicy{}, 1},
	} {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := newFakeCluster(t, protoV4, 2)
				s := net.session(func(cfg *ClusterConfig) { cfg.ReconnectionPolicy = m.policy })
				time.Sleep(10 * time.Second)
				n := net.nodes[1]
				p := poolOf(s, n)
				began := time.Now()
				n.stop()
				time.Sleep(30 * time.Second)
				require.Len(t, net.dialsSince(began, n.ip), m.series)
				time.Sleep(time.Minute)
				require.Len(t, net.dialsSince(began, n.ip), 2*m.series, "the system tables still have it")
				n.start()
				net.event(eventStatus, "UP", n.inet())
				time.Sleep(eventDelay)
				synctest.Wait()
				require.True(t, p.isUp())
			})
		})
	}
}

// TestSessionStartGrace has nodes that do not answer: they hold up the start for a moment only, unless nobody answers.
func TestSessionStartGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 3, sharded(2))
		m.nodes[2].silent = true
		began := time.Now()
		s := m.session(func(cfg *ClusterConfig) { cfg.ConnectTimeout = 30 * time.Second })
		require.Equal(t, startGrace, time.Since(began))
		require.True(t, poolOf(s, m.nodes[1]).isUp())
		require.False(t, poolOf(s, m.nodes[2]).isUp())
		m.nodes[2].change(func(n *fakeNode) { n.silent = false })
		time.Sleep(time.Minute)
		require.True(t, poolOf(s, m.nodes[2]).isUp())
	})
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 3, sharded(2))
		m.nodes[2].down = true
		began := time.Now()
		m.session()
		require.Zero(t, time.Since(began), "every node has been tried")
	})
}

// TestFault36OpenClose opens and closes sessions, in memory and on sockets.
func TestFault36OpenClose(t *testing.T) {
	for _, row := range []struct {
		name  string
		c     *fakeCluster
		times int
	}{
		{"shards", newFakeCluster(t, protoV4, 1, sharded(2)), 1000},
		{"sockets", newSocketCluster(t, protoV4, 2), 200},
	} {
		t.Run(row.name, func(t *testing.T) {
			for i := range row.times {
				s, err := row.c.config().CreateSession()
				require.NoError(t, err)
				if i%2 == 0 {
					go s.Close()
				}
				s.Close() // often while the pools fill
			}
		})
	}
}

// TestFault36StartFails ends the start of a session at each of its stages.
func TestFault36StartFails(t *testing.T) {
	stages := map[string]func(r *fakeRequest) bool{
		"REGISTER": func(r *fakeRequest) bool { return r.op == opRegister },
		"system.local": func(r *fakeRequest) bool {
			return r.stmt == "SELECT * FROM system.local WHERE key = 'local'"
		},
		"system.peers": func(r *fakeRequest) bool { return r.stmt == "SELECT * FROM system.peers_v2" },
		"keyspaces": func(r *fakeRequest) bool {
			return r.stmt == "SELECT keyspace_name, replication FROM system_schema.keyspaces"
		},
		"USE": func(r *fakeRequest) bool { return r.stmt == `USE "ks"` },
	}
	ends := map[string]func(r *fakeRequest, cancel func()){
		"error":     func(r *fakeRequest, _ func()) { r.fail(CodeUnauthorized) },
		"hang up":   func(r *fakeRequest, _ func()) { r.hangUp() },
		"silence":   func(*fakeRequest, func()) {},
		"cancelled": func(_ *fakeRequest, cancel func()) { cancel() },
	}
	for stage, is := range stages {
		for end, do := range ends {
			t.Run(stage+", "+end, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := newFakeCluster(t, protoV4, 2, sharded(2))
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					m.on(func(r *fakeRequest) bool {
						if is(r) {
							do(r, cancel)
							return true
						}
						return false
					})
					cfg := m.config()
					cfg.Keyspace = "ks"
					began := time.Now()
					_, err := NewSessionContext(ctx, *cfg)
					require.Error(t, err)
					require.LessOrEqual(t, time.Since(began), 30*time.Second)
				})
			})
		}
	}
}

// TestFault36CloseDuringFill closes sessions at any moment of the filling of their pools, also with nodes that do not answer.
func TestFault36CloseDuringFill(t *testing.T) {
	for i := range 40 {
		synctest.Test(t, func(t *testing.T) {
			m := newFakeCluster(t, protoV4, 3, sharded(8))
			m.nodes[0].delay = 3 * time.Millisecond
			m.nodes[1].delay = 7 * time.Millisecond
			m.nodes[2].silent = i%2 == 0
			cfg := m.config()
			cfg.DisableShardAwarePort = i%3 == 0
			s, err := cfg.CreateSession()
			require.NoError(t, err)
			time.Sleep(time.Duration(i) * 2 * time.Millisecond)
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.NoError(t, s.CloseContext(ctx))
			require.Less(t, time.Since(began), time.Second)
		})
	}
}

// TestFault36CloseInFlight closes a session with a thousand requests under way, some of which are never answered, twice at once.
func TestFault36CloseInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 2, sharded(4))
		m.on(func(r *fakeRequest) bool {
			if r.op == opExecute && r.stmt == "SELECT slow" {
				time.AfterFunc(500*time.Millisecond, r.void)
			}
			return r.op == opExecute
		})
		cfg := m.config()
		s, err := cfg.CreateSession()
		require.NoError(t, err)
		time.Sleep(time.Second)
		var wg sync.WaitGroup
		var ok, lost atomic.Int32
		for i := range 1000 {
			stmt := "SELECT slow"
			if i%10 == 0 {
				stmt = "SELECT never"
			}
			wg.Go(func() {
				switch err := s.Query(stmt).ExecContext(t.Context()); {
				case err == nil:
					ok.Add(1)
				case errors.Is(err, ErrConnectionClosed) || errors.Is(err, ErrTimeoutNoResponse):
					lost.Add(1)
				default:
					t.Errorf("%v", err)
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		began := time.Now()
		for range 2 {
			wg.Go(s.Close)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = s.CloseContext(ctx)
		wg.Wait()
		require.LessOrEqual(t, time.Since(began), cfg.Timeout+closeGrace)
		require.EqualValues(t, 900, ok.Load(), "what is answered in time ends well")
		require.EqualValues(t, 100, lost.Load())
		require.True(t, s.Closed())
		require.ErrorIs(t, s.Query("SELECT new").Exec(), ErrSessionClosed)
		require.ErrorIs(t, s.Query("CREATE new").Exec(), ErrSessionClosed)
		require.False(t, MayHaveApplied(s.Query("INSERT new").Exec()))
	})
}
