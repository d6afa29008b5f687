// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
)

// Fault 37: another cluster, or another node, answers at a node's address.

// askPeer is the statement that verifies a server.
const askPeer = "SELECT cluster_name, host_id FROM system.local WHERE key = 'local'"

const (
	peerRead  = "SELECT name FROM ks.t WHERE id = ?"
	peerWrite = "INSERT INTO ks.t (id, name) VALUES (?, ?)"
)

// namedCluster returns a cluster whose rows contain its name, and its requests other than reads of system tables.
func namedCluster(t *testing.T, version byte, name string, n int) (*fakecql.Cluster, *requestLog) {
	t.Helper()
	c := newCluster(t, version, n)
	c.Name = name
	columns := fakecql.Columns("name text")
	c.Prepare(peerRead, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}, Result: columns, ResultID: name})
	c.Prepare(peerWrite, fakecql.Prepared{Bind: fakecql.Columns("id bigint", "name text"), PK: []int{0}})
	log := &requestLog{}
	c.On(func(r *fakecql.Request) bool {
		log.add(r)
		if r.Op == fakecql.OpExecute && r.Stmt == peerRead {
			r.Rows(fakecql.Rows{Columns: columns, Cells: [][]byte{[]byte(name)}})
			return true
		}
		return false
	})
	return c, log
}

// A requestLog contains the requests that a cluster received after the handshakes.
type requestLog struct {
	mu   sync.Mutex
	seen []string
}

func (l *requestLog) add(r *fakecql.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := r.Stmt
	if r.Op == fakecql.OpRegister {
		text = "REGISTER"
	}
	l.seen = append(l.seen, text)
}

// beyond returns the requests except the given texts.
func (l *requestLog) beyond(texts ...string) (other []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.seen {
		known := false
		for _, text := range texts {
			known = known || s == text
		}
		if !known {
			other = append(other, s)
		}
	}
	return other
}

// answerAt makes n answer at the address ip of the cluster c.
func answerAt(c *fakecql.Cluster, ip string, n *fakecql.Node) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.Hosts[ip] = n
}

// connectErrors collects the errors of attempts to connect.
type connectErrors struct {
	mu   sync.Mutex
	errs []error
}

func (c *connectErrors) observe(o vecql.ObservedConnect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.Err != nil {
		c.errs = append(c.errs, o.Err)
	}
}

func (c *connectErrors) wrongPeers() (n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, err := range c.errs {
		var wrong *vecql.PeerError
		if errors.As(err, &wrong) {
			n++
		}
	}
	return n
}

// TestFault37AnotherCluster: one of three nodes stops, and a node of another cluster answers at its address, direct or
// behind address translation. No read and no write may reach the other cluster, and the node is used again when it is
// back.
func TestFault37AnotherCluster(t *testing.T) {
	for _, version := range []byte{fakecql.V4, fakecql.V5} {
		for _, translated := range []bool{false, true} {
			t.Run(fmt.Sprintf("v%d, translated %v", version, translated), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					prod, _ := namedCluster(t, version, "prod", 3)
					staging, received := namedCluster(t, version, "staging", 1)
					logged, logger := fakecql.NewLogCounter()
					seen := &connectErrors{}
					network := "127.0.0."
					s := sessionOn(prod, func(cfg *vecql.ClusterConfig) {
						cfg.Logger, cfg.Pool.ConnectObserver, cfg.Nodes.ReconnectInterval = logger, seen.observe, time.Hour
						if !translated {
							return
						}
						network = "10.0.0."
						for i, n := range prod.Nodes {
							answerAt(prod, fmt.Sprint(network, i+1), n)
						}
						cfg.Hosts = []string{"10.0.0.1"}
						cfg.Nodes.AddressTranslator = func(a netip.AddrPort) netip.AddrPort {
							return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, a.Addr().As4()[3]}), a.Port())
						}
					})
					lost, own := prod.Nodes[2], network+"3"
					lost.Stop()
					answerAt(prod, own, staging.Nodes[0])
					opened := s.Stats().ConnectionsOpened
					time.Sleep(10 * time.Second)
					for i := range 1200 {
						var name string
						require.NoError(t, s.Query(peerRead, int64(i)).Scan(t.Context(), &name))
						require.Equal(t, "prod", name)
					}
					for i := range 1000 {
						require.NoError(t, s.Query(peerWrite, int64(i), "x").Exec(t.Context()))
					}
					time.Sleep(10 * time.Minute)
					wrong := received.beyond(askPeer)
					evidence(t, "another cluster at a node's address", "1200 reads and 1000 writes, %d requests reached the other cluster", len(wrong))
					require.Empty(t, wrong)
					require.Equal(t, 1, logged.Of("peer refused"), "one record, though the node was dialed many times")
					st := s.Stats()
					require.Equal(t, seen.wrongPeers(), st.WrongPeers)
					require.Greater(t, st.WrongPeers, uint64(100))
					require.Less(t, st.WrongPeers, uint64(300), "exponential backoff")
					require.Equal(t, opened, st.ConnectionsOpened, "a refused connection was not opened")
					require.EqualValues(t, 1, st.ConnectionsLost)

					err := s.Query(peerRead, int64(1)).HostID(cql.UUID(lost.ID)).Exec(t.Context())
					require.ErrorIs(t, err, vecql.ErrNoConnections)
					require.ErrorContains(t, err, `"staging"`)
					require.ErrorContains(t, err, `"prod"`)
					var refused *vecql.PeerError
					require.ErrorAs(t, err, &refused)
					require.True(t, refused.WrongCluster())
					require.Equal(t, &vecql.PeerError{
						Address: own + ":9042", Want: vecql.Peer{ClusterName: "prod", HostID: cql.UUID(lost.ID)},
						Got: vecql.Peer{ClusterName: "staging", HostID: cql.UUID(staging.Nodes[0].ID)},
					}, refused)

					lost.Start()
					answerAt(prod, own, lost)
					time.Sleep(10 * time.Second)
					require.NoError(t, s.Query(peerRead, int64(1)).HostID(cql.UUID(lost.ID)).Exec(t.Context()))
					require.Equal(t, 1, logged.Of("node reached again"))
				})
			})
		}
	}
}

// TestFault37OnlyContactPoint: the only node stops, and another cluster answers at its address. The session must not
// move there: requests fail with an error that names both clusters until the node is back.
func TestFault37OnlyContactPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prod, _ := namedCluster(t, fakecql.V5, "prod", 1)
		staging, received := namedCluster(t, fakecql.V5, "staging", 3)
		logged, logger := fakecql.NewLogCounter()
		s := sessionOn(prod, func(cfg *vecql.ClusterConfig) { cfg.Logger, cfg.Nodes.ReconnectInterval = logger, time.Second })
		n := prod.Nodes[0]
		n.Stop()
		answerAt(prod, n.IP, staging.Nodes[0])
		for range 60 {
			time.Sleep(10 * time.Second)
			err := s.Query(peerWrite, int64(1), "x").Exec(t.Context())
			var wrong *vecql.PeerError
			require.ErrorAs(t, err, &wrong)
			require.True(t, wrong.WrongCluster())
			require.ErrorContains(t, err, `"staging"`)
			require.ErrorContains(t, err, `"prod"`)
		}
		require.Empty(t, received.beyond(askPeer, "REGISTER"), "no system table is read")
		require.Len(t, s.GetHosts(), 1)
		require.Equal(t, n.ID.String(), s.GetHosts()[0].ID.String())
		require.Equal(t, 1, logged.Of("peer refused"))
		n.Start()
		answerAt(prod, n.IP, n)
		time.Sleep(10 * time.Second)
		require.NoError(t, s.Query(peerWrite, int64(1), "x").Exec(t.Context()))
		prod.Event("SCHEMA_CHANGE", "CREATED", "KEYSPACE", "ks2")
		time.Sleep(time.Minute)
		require.Equal(t, 1, logged.Of("control connection"), "the control connection is back")
	})
}

// TestFault37ClonedNode: the other cluster is a clone with the same host ids. Only the names differ.
func TestFault37ClonedNode(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		clone, received := namedCluster(t, fakecql.V5, "clone", 2)
		s := sessionOn(c)
		c.Nodes[1].Stop()
		answerAt(c, c.Nodes[1].IP, clone.Nodes[1])
		time.Sleep(time.Minute)
		require.ErrorContains(t, s.Query("INSERT").HostID(cql.UUID(c.Nodes[1].ID)).Exec(t.Context()), `"clone"`)
		require.Empty(t, received.beyond(askPeer))
	})
}

// TestFault37NodeReplaced: a new node of the same cluster gets the address of a dead one. There is no event, and the
// next regular reading of the system tables is an hour away. The session must find the new node.
func TestFault37NodeReplaced(t *testing.T) {
	for name, shards := range map[string]int{"Cassandra": 0, "ScyllaDB": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, fakecql.V4, 3, fakecql.Sharded(shards))
				logged, logger := fakecql.NewLogCounter()
				s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.Nodes.ReconnectInterval, cfg.Logger = time.Hour, logger })
				n, old := c.Nodes[2], c.Nodes[2].ID
				n.Stop()
				n.Change(func(n *fakecql.Node) { n.ID = fakecql.UUID{0xFB, 3} })
				n.Start()
				time.Sleep(time.Minute)
				require.NoError(t, s.Query("INSERT").HostID(cql.UUID(n.ID)).Exec(t.Context()))
				require.ErrorIs(t, s.Query("INSERT").HostID(cql.UUID(old)).Exec(t.Context()), vecql.ErrNoConnections)
				require.Len(t, s.GetHosts(), 3)
				require.Equal(t, 1, logged.Of("peer refused"))
			})
		})
	}
}

// TestFault37OnlyNodeReplaced: the only node loses its data and returns with another host id and the same cluster name.
func TestFault37OnlyNodeReplaced(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		n := c.Nodes[0]
		n.Stop()
		n.Change(func(n *fakecql.Node) { n.ID = fakecql.UUID{0xFB, 1} })
		n.Start()
		time.Sleep(time.Minute)
		require.NoError(t, s.Query("INSERT").HostID(cql.UUID(n.ID)).Exec(t.Context()))
	})
}

// TestFault37FirstContact: another cluster answers at the first contact point of a new session.
func TestFault37FirstContact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prod, _ := namedCluster(t, fakecql.V5, "prod", 2)
		staging, received := namedCluster(t, fakecql.V5, "staging", 1)
		answerAt(prod, "10.0.0.9", staging.Nodes[0])
		cfg := configOf(prod)
		cfg.Nodes.ClusterName = "prod"
		cfg.Hosts = []string{"10.0.0.9"}
		_, err := vecql.NewSession(t.Context(), *cfg)
		require.ErrorIs(t, err, vecql.ErrNoConnectionsStarted)
		var wrong *vecql.PeerError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "staging", wrong.Got.ClusterName)

		cfg.Hosts = []string{"10.0.0.9", prod.Nodes[1].IP}
		s := openSession(t, cfg)
		require.Len(t, s.GetHosts(), 2)
		require.EqualValues(t, 1, s.Stats().WrongPeers)
		require.Empty(t, received.beyond(askPeer, "REGISTER"))
	})
}

// TestFault37LoadBalancer: different nodes of the cluster answer at one address.
func TestFault37LoadBalancer(t *testing.T) {
	for _, accepted := range []bool{true, false} {
		t.Run(fmt.Sprint(accepted), func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
				s := sessionOn(c, func(cfg *vecql.ClusterConfig) {
					cfg.Nodes.LoadBalanced, cfg.Nodes.ReconnectInterval = accepted, time.Hour
				})
				c.Nodes[1].Stop()
				answerAt(c, c.Nodes[1].IP, c.Nodes[0])
				time.Sleep(time.Minute)
				err := s.Query("INSERT").HostID(cql.UUID(c.Nodes[1].ID)).Exec(t.Context())
				if accepted {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, "ClusterConfig.Nodes.LoadBalanced")
				var wrong *vecql.PeerError
				require.ErrorAs(t, err, &wrong)
				require.False(t, wrong.WrongCluster())
			})
		})
	}
}

// TestFault37NodesAtOneAddress: the system tables are read at the address of node 2, where node 1 answers. Node 2 must
// remain part of the cluster: it owns its token range, and behind a load balancer it answers there too.
func TestFault37NodesAtOneAddress(t *testing.T) {
	for _, balanced := range []bool{true, false} {
		t.Run(fmt.Sprint(balanced), func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
				logged, logger := fakecql.NewLogCounter()
				answerAt(c, c.Nodes[1].IP, c.Nodes[0])
				s := sessionOn(c, func(cfg *vecql.ClusterConfig) {
					cfg.Hosts, cfg.Nodes.LoadBalanced, cfg.Logger = []string{c.Nodes[1].IP}, balanced, logger
				})
				require.Len(t, s.GetHosts(), 3)
				for range 60 {
					time.Sleep(10 * time.Second)
					require.NoError(t, s.Query("INSERT").Exec(t.Context()))
				}
				err := s.Query("INSERT").HostID(cql.UUID(c.Nodes[1].ID)).Exec(t.Context())
				if balanced {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, "ClusterConfig.Nodes.LoadBalanced")
				require.Equal(t, 1, logged.Of("peer refused"))
				answerAt(c, c.Nodes[1].IP, c.Nodes[1])
				time.Sleep(time.Minute)
				require.NoError(t, s.Query("INSERT").HostID(cql.UUID(c.Nodes[1].ID)).Exec(t.Context()))
			})
		})
	}
}

// TestFault37Unverifiable: the server, a proxy perhaps, refuses the question or leaves out the answer. The connection
// is used, and one record is logged. Errors that pass are not taken for that.
func TestFault37Unverifiable(t *testing.T) {
	columns := fakecql.Columns("cluster_name text", "host_id uuid")
	for name, test := range map[string]struct {
		answer func(r *fakecql.Request)
		refuse bool
	}{
		"invalid":      {answer: func(r *fakecql.Request) { r.Fail(0x2200) }},
		"unauthorized": {answer: func(r *fakecql.Request) { r.Fail(0x2100) }},
		"syntax":       {answer: func(r *fakecql.Request) { r.Fail(0x2000) }},
		"NULLs":        {answer: func(r *fakecql.Request) { r.Rows(fakecql.Rows{Columns: columns, Cells: [][]byte{nil, nil}}) }},
		"no row":       {answer: func(r *fakecql.Request) { r.Rows(fakecql.Rows{Columns: columns}) }},
		"overloaded":   {answer: func(r *fakecql.Request) { r.Fail(0x1001) }, refuse: true},
		"server error": {answer: func(r *fakecql.Request) { r.Fail(0) }, refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
				var fixed sync.Once
				working := make(chan struct{})
				c.On(func(r *fakecql.Request) bool {
					select {
					case <-working:
						return false
					default:
					}
					if r.Stmt != askPeer {
						return false
					}
					test.answer(r)
					return true
				})
				logged, logger := fakecql.NewLogCounter()
				cfg := configOf(c)
				cfg.Logger = logger
				if test.refuse {
					time.AfterFunc(500*time.Millisecond, func() { fixed.Do(func() { close(working) }) })
					_, err := vecql.NewSession(t.Context(), *cfg)
					require.ErrorContains(t, err, "verify the peer")
				}
				time.Sleep(time.Second)
				s := openSession(t, cfg)
				for _, n := range c.Nodes {
					require.NoError(t, s.Query("INSERT").HostID(cql.UUID(n.ID)).Exec(t.Context()))
				}
				if !test.refuse {
					require.Equal(t, 1, logged.Of("peer not verified: the server reports neither its cluster nor its host id"))
				}
			})
		})
	}
}

// TestFault37HangsUp: the server hangs up at the question. The attempt counts as failed, not as a connection opened and
// lost.
func TestFault37HangsUp(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		c.On(func(r *fakecql.Request) bool {
			if r.Stmt == askPeer {
				r.HangUp()
			}
			return r.Stmt == askPeer
		})
		c.Nodes[0].HangUp()
		time.Sleep(time.Minute)
		st := s.Stats()
		require.EqualValues(t, 2, st.ConnectionsOpened, "of the start")
		require.EqualValues(t, 2, st.ConnectionsLost)
		require.Greater(t, st.ConnectionsFailed, uint64(10))
		require.Zero(t, st.WrongPeers)
	})
}

// TestVerificationAddsNoRoundTrip answers nothing on a connection before both the question and the first statement have
// arrived: none waits for the answer of the other.
func TestVerificationAddsNoRoundTrip(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.Keyspace = "ks" })
		var mu sync.Mutex
		waiting, pairs := map[*fakecql.Conn]*fakecql.Request{}, 0
		c.On(func(r *fakecql.Request) bool {
			if r.Stmt != askPeer && r.Op != fakecql.OpRegister && !strings.HasPrefix(r.Stmt, "USE ") {
				return false
			}
			mu.Lock()
			defer mu.Unlock()
			first := waiting[r.Conn]
			if waiting[r.Conn] = r; first == nil {
				return true
			}
			pairs++
			for _, r := range []*fakecql.Request{first, r} {
				switch {
				case r.Op == fakecql.OpRegister:
					r.Conn.Reply(r.Stream, fakecql.OpReady, nil)
				case r.Stmt == askPeer:
					rows := fakecql.Rows{Columns: fakecql.Columns("cluster_name text", "host_id uuid")}
					rows.Add("fake", r.Node.ID)
					r.Rows(rows)
				default:
					r.Void()
				}
			}
			return true
		})
		for _, n := range c.Nodes {
			n.HangUp()
		}
		time.Sleep(time.Minute)
		for _, n := range c.Nodes {
			require.NoError(t, s.Query("INSERT").HostID(cql.UUID(n.ID)).Exec(t.Context()))
		}
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, 3, pairs, "two connections to nodes and the control connection")
	})
}

// TestVerificationAsksOnce counts the questions of a session: one for a connection to a node of Cassandra, none for the
// first contact point, which nothing is known of, and none for a node of ScyllaDB, whose SUPPORTED has the host id.
func TestVerificationAsksOnce(t *testing.T) {
	for _, shards := range []int{0, 4} {
		t.Run(fmt.Sprint(shards, " shards"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, fakecql.V4, 3, fakecql.Sharded(shards))
				sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.Pool.NumConns = 2 })
				time.Sleep(time.Minute)
				asked, _ := c.Count(askPeer)
				if shards > 0 {
					require.Zero(t, asked)
				} else {
					require.Equal(t, 6, asked)
				}
			})
		})
	}
}

// TestFault37PeerErrorText: the text names both servers and what to do.
func TestFault37PeerErrorText(t *testing.T) {
	const addr = "10.0.0.3:9042"
	one, two := cql.UUID{15: 1}, cql.UUID{15: 2}
	other := &vecql.PeerError{Address: addr, Want: vecql.Peer{ClusterName: "prod", HostID: one}, Got: vecql.Peer{ClusterName: "staging", HostID: two}}
	require.EqualError(t, other, `vecql: connection to 10.0.0.3:9042 refused: node 00000000-0000-0000-0000-000000000002 of cluster "staging" `+
		`answers at an address of cluster "prod" (a renamed cluster needs a new session)`)
	other.Got.ClusterName = "prod"
	require.EqualError(t, other, `vecql: connection to 10.0.0.3:9042 refused: node 00000000-0000-0000-0000-000000000002 of cluster "prod" `+
		`answers at the address of node 00000000-0000-0000-0000-000000000001 (behind a load balancer set ClusterConfig.Nodes.LoadBalanced)`)
}
