// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/pooled"
)

// Query plans of a session: the nodes that receive its requests.

// hitsOf counts the requests of a test by node.
func hitsOf(c *fakecql.Cluster) func() map[string]int {
	var mu sync.Mutex
	hits := map[string]int{}
	c.On(func(r *fakecql.Request) bool {
		if r.Op == fakecql.OpExecute || r.Op == fakecql.OpBatch {
			mu.Lock()
			hits[r.Node.IP]++
			mu.Unlock()
		}
		return false
	})
	return func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		old := hits
		hits = map[string]int{}
		return old
	}
}

func TestSessionHostFilter(t *testing.T) {
	c := newFakeCluster(t, frame.V4, 3)
	const stmt = "INSERT INTO ks.t (id) VALUES (?)"
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
	hits := hitsOf(c)
	contactPoint := netip.MustParseAddr("127.0.0.1")
	s := sessionOn(c, func(cfg *ClusterConfig) {
		cfg.Nodes.HostFilter = func(h *cql.Host) bool { return h.Address.Addr() != contactPoint }
	})
	requireAllUp(t, s)
	require.Len(t, s.GetHosts(), 2)
	for key := range 40 {
		require.NoError(t, s.Query(stmt, key).Exec(t.Context()))
	}
	require.NotContains(t, hits(), "127.0.0.1", "the filter excludes the contact point")
	require.ErrorIs(t, s.Query(stmt, 1).HostID(cql.UUID(c.Nodes[0].ID)).Exec(t.Context()), ErrNoConnections)
}

// TestSessionPolicies counts the nodes that receive the requests for one key, by host selection policy.
func TestSessionPolicies(t *testing.T) {
	c := newFakeCluster(t, frame.V4, 3)
	const stmt = "INSERT INTO ks.t (id) VALUES (?)"
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
	hits := hitsOf(c)
	for _, row := range []struct {
		name   string
		policy HostSelectionPolicy
		nodes  int // that receive requests for one key
	}{
		{"default", nil, 1},
		{"tokens", TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "dc1"}, MaxInFlight: 1000}, 1},
		{"round robin", RoundRobinPolicy{}, 3},
		{"data center", DCAwarePolicy{DataCenter: "dc1"}, 3},
		{"another data center", DCAwarePolicy{DataCenter: "dc9"}, 3},
		{"the user's", pickerFunc(func(_ RouteInfo, hosts []*cql.Host) []*cql.Host { return hosts[1:2] }), 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := sessionOn(c, func(cfg *ClusterConfig) { cfg.HostSelectionPolicy = row.policy })
			defer s.Close()
			requireAllUp(t, s)
			hits()
			for range 30 {
				require.NoError(t, s.Query(stmt, 1).Exec(t.Context()))
			}
			require.Len(t, hits(), row.nodes)
			for range 10 {
				require.NoError(t, s.Batch(cql.LoggedBatch).Query(stmt, 1).HostID(cql.UUID(c.Nodes[2].ID)).Exec(t.Context()))
			}
			require.Equal(t, map[string]int{c.Nodes[2].IP: 10}, hits())
		})
	}
	require.Zero(t, new(Query).GetHostID())
	require.Equal(t, hostID(1), new(Query).HostID(hostID(1)).GetHostID())
	require.Equal(t, hostID(1), new(Batch).HostID(hostID(1)).GetHostID())
}

// TestSessionPolicyFaults has the program's filters, policies and translators panic, or accept no node.
func TestSessionPolicyFaults(t *testing.T) {
	c := newFakeCluster(t, frame.V4, 2)
	const stmt = "INSERT INTO ks.t (id) VALUES (?)"
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
	for _, row := range []struct {
		name   string
		change func(*ClusterConfig)
		want   string
	}{
		{"filter panics", func(cfg *ClusterConfig) { cfg.Nodes.HostFilter = func(*cql.Host) bool { panic("mine") } }, "HostFilter: panic: mine"},
		{"filter accepts none", func(cfg *ClusterConfig) { cfg.Nodes.HostFilter = acceptNone }, "HostFilter accepts none"},
		{"policy panics", func(cfg *ClusterConfig) { cfg.HostSelectionPolicy = panicPolicy{} }, "HostSelectionPolicy: panic: mine"},
		{"translator panics", func(cfg *ClusterConfig) {
			cfg.Nodes.AddressTranslator = func(netip.AddrPort) netip.AddrPort { panic("mine") }
		}, "AddressTranslator: 127.0.0.2"},
		{"no data center", func(cfg *ClusterConfig) {
			cfg.HostSelectionPolicy = TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: ""}}
		}, "the local data center is empty"},
		{"no rack", func(cfg *ClusterConfig) {
			cfg.HostSelectionPolicy = RackAwarePolicy{DataCenter: "a", Rack: ""}
		}, "the local rack is empty"},
		{"negative limit", func(cfg *ClusterConfig) {
			cfg.HostSelectionPolicy = TokenAwarePolicy{MaxInFlight: -1}
		}, "MaxInFlight is -1, must not be negative"},
	} {
		t.Run(row.name, func(t *testing.T) {
			leak.Require(t, pooled.Held.Load)
			cfg := configOf(c)
			row.change(cfg)
			_, err := NewSession(t.Context(), *cfg)
			require.ErrorContains(t, err, row.want)
		})
	}
	t.Run("later", func(t *testing.T) {
		var bad atomic.Bool
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Nodes.ReconnectInterval = 20 * time.Millisecond
			cfg.Nodes.HostFilter = func(*cql.Host) bool {
				if bad.Load() {
					panic("mine")
				}
				return true
			}
		})
		defer s.Close()
		bad.Store(true)
		require.Eventually(t, func() bool { return s.control.current() == nil }, 5*time.Second, time.Millisecond)
		require.NoError(t, s.Query(stmt, 1).Exec(t.Context()), "the known nodes remain in use")
		bad.Store(false)
		require.Eventually(t, func() bool { return s.control.current() != nil }, 5*time.Second, time.Millisecond)
	})
	t.Run("picker panics", func(t *testing.T) {
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.HostSelectionPolicy = pickerFunc(func(r RouteInfo, hosts []*cql.Host) []*cql.Host {
				if !r.Prepare {
					panic("mine")
				}
				return hosts // for PREPARE
			})
		})
		defer s.Close()
		require.ErrorContains(t, s.Query(stmt, 1).Exec(t.Context()), "HostPicker: panic: mine")
	})
}

func TestSessionTranslatesAddresses(t *testing.T) {
	c := newFakeCluster(t, frame.V4, 2)
	var inside atomic.Int32
	s := sessionOn(c, func(cfg *ClusterConfig) {
		cfg.Nodes.AddressTranslator = func(a netip.AddrPort) netip.AddrPort {
			inside.Add(1)
			return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, a.Addr().As4()[3]}), a.Port())
		}
	})
	require.Positive(t, inside.Load())
	requireAllUp(t, s)
	asked := inside.Load()
	s.event(frame.StatusEvent{Change: "UP", Addr: netip.MustParseAddrPort(fmt.Sprintf("10.9.9.2:%d", c.Port))})
	require.Greater(t, inside.Load(), asked, "addresses in events are translated")
	require.Equal(t, fmt.Sprintf("127.0.0.2:%d", c.Port), s.reached(netip.MustParseAddrPort(fmt.Sprintf("10.9.9.2:%d", c.Port))).String())
}

// TestSessionConditional sends conditional statements: the statements of one key go to its primary replica.
func TestSessionConditional(t *testing.T) {
	c := newFakeCluster(t, frame.V4, 3)
	const stmt = "INSERT INTO ks.t (id) VALUES (?) IF NOT EXISTS"
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
	s := sessionOn(c)
	p, err := s.prepare(t.Context(), s.defaultPolicies, "", stmt)
	require.NoError(t, err)
	require.True(t, p.lwt)
	target := (&call{callState: callState{lwt: true}}).planTarget()
	require.True(t, target.lwt)
	require.False(t, (&call{}).planTarget().lwt)
	require.True(t, (&call{callState: callState{params: frame.QueryParams{Consistency: cql.LocalSerial}}}).planTarget().lwt, "a serial read is conditional too")
}

// TestSessionCDCLog computes the tokens of ScyllaDB's CDC log tables.
func TestSessionCDCLog(t *testing.T) {
	blob := cql.NativeType(cql.TypeBlob)
	prepared := func(table, column string) *statement {
		return newStatement("SELECT", "", &frame.PreparedResult{Bind: frame.Metadata{Columns: []cql.ColumnInfo{{Keyspace: "ks", Table: table, Name: column, TypeInfo: blob}}}, PKIndexes: []int{0}})
	}
	key := binary.BigEndian.AppendUint64(nil, 12345)
	key = append(key, 9, 9, 9, 9, 9, 9, 9, 9)
	log := prepared("t_scylla_cdc_log", "cdc$stream_id")
	require.EqualValues(t, 12345, log.tokenOf(key))
	for _, other := range []*statement{prepared("t", "cdc$stream_id"), prepared("t_scylla_cdc_log", "id")} {
		require.NotEqualValues(t, 12345, other.tokenOf(key))
	}
	b := bindings{stmt: log, values: []any{key}, n: 1}
	body, err := b.AppendBound(nil)
	require.NoError(t, err)
	tok, ok, err := b.token(body)
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 12345, tok)
}

// A HostPicker is called once for each request.
func TestHostPickerIsCalledOnce(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		calls := 0
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.HostSelectionPolicy = pickerFunc(func(_ RouteInfo, hosts []*cql.Host) []*cql.Host {
				calls++
				return hosts
			})
		})
		const stmt = "INSERT INTO ks.t (k) VALUES (1)"
		require.NoError(t, s.Query(stmt).Exec(t.Context()))
		before := calls
		require.NoError(t, s.Query(stmt).Exec(t.Context()))
		require.Equal(t, 1, calls-before)
	})
}
