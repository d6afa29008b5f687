// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest/internal/engine"
	"github.com/vecql/vecql/internal/token"
)

func TestConfig(t *testing.T) {
	for name, cfg := range map[string]Config{
		"nodes": {Nodes: -1}, "protocol": {Protocol: 6}, "scylla v5": {Protocol: 5, Scylla: &Scylla{}}, "shards": {Scylla: &Scylla{Shards: -1}},
		"data centers": {DataCenters: []DataCenter{{Name: "a"}, {Name: "a"}}}, "network": {Network: 9}, "request": {MaxRequest: -1},
		"addresses": {Addrs: make([]netip.AddrPort, 2)},
	} {
		_, err := Start(cfg)
		require.ErrorContains(t, err, "cqltest: Config: ", name)
	}
}

// eventsOf returns a client that registered for all events.
func eventsOf(t testing.TB, c *Cluster, n *Node) *testClient {
	tc := connect(t, c, n, 5)
	require.Equal(t, OpReady, tc.call(OpRegister, 0, appendStringList(nil, eventTypes)).op)
	return tc
}

// readEvent returns the type, change and address or target of an event.
func readEvent(t testing.TB, tc *testClient) string {
	t.Helper()
	m := tc.read()
	require.Equal(t, OpEvent, m.op)
	require.EqualValues(t, -1, m.stream)
	r := reader{b: m.body}
	s := r.string() + " " + r.string()
	if s[:3] == "SCH" {
		return s + " " + r.string() + " " + r.string() + " " + r.string()
	}
	a, _ := netip.AddrFromSlice(r.take(int(r.byte()), ""))
	return s + " " + netip.AddrPortFrom(a, uint16(r.int())).String()
}

// TestAddrs starts a cluster at the address of another one's killed node. Its nodes have other host ids.
func TestAddrs(t *testing.T) {
	for _, network := range []Network{Ports, Addresses, InMemory} {
		for name, scylla := range map[string]*Scylla{"Cassandra": nil, "ScyllaDB": {}} {
			t.Run(fmt.Sprint(network, name), func(t *testing.T) {
				defer requireNothingLeft(t)
				first, _ := startFake(t, Config{Network: network, Scylla: scylla})
				defer first.Close()
				n := first.Node(0)
				n.Kill()
				second, _ := startFake(t, Config{
					ClusterName: "second", Nodes: 1, Network: network, Scylla: scylla, Addrs: []netip.AddrPort{n.Addr()},
				})
				defer second.Close()
				require.Equal(t, n.Addr(), second.Node(0).Addr())
				require.Equal(t, n.ShardAwareAddr(), second.Node(0).ShardAwareAddr())
				require.NotEqual(t, n.HostID(), second.Node(0).HostID())
				connect(t, second, second.Node(0), 4)
				added, err := second.AddNode("datacenter1", "rack1")
				require.NoError(t, err)
				if network != Ports {
					require.Equal(t, n.Addr().Port(), added.Addr().Port())
				}
				second.Close()
				require.NoError(t, n.Restart())
			})
		}
	}
}

func TestNodesLive(t *testing.T) {
	for _, network := range []Network{Ports, Addresses, InMemory} {
		t.Run(fmt.Sprint(network), func(t *testing.T) {
			defer requireNothingLeft(t)
			c, _ := startFake(t, Config{Network: network})
			defer c.Close()
			n := c.Node(1)
			watch := eventsOf(t, c, c.Node(0))
			tc := connect(t, c, n, 4)
			id, _ := tc.prepare("GET ?", false)
			hostID, addr := n.HostID(), n.Addr()
			n.Kill()
			require.Equal(t, "STATUS_CHANGE DOWN "+addr.String(), readEvent(t, watch))
			_, err := tc.tryRead()
			require.Error(t, err)
			_, err = c.Dialer().DialContext(t.Context(), "tcp", addr.String())
			require.Error(t, err)
			n.Kill()

			require.NoError(t, n.Restart())
			require.Equal(t, "STATUS_CHANGE UP "+addr.String(), readEvent(t, watch))
			require.Equal(t, hostID, n.HostID())
			require.Equal(t, addr, n.Addr())
			tc = connect(t, c, n, 4)
			require.Equal(t, CodeUnprepared, tc.call(OpExecute, 0, tc.executeBody(id, nil, 0, "k")).errorCode(t), "restart forgets")

			require.NoError(t, n.Move(netip.Addr{}))
			require.NotEqual(t, addr, n.Addr())
			require.Equal(t, hostID, n.HostID())
			for _, want := range []string{
				"STATUS_CHANGE DOWN " + addr.String(), "TOPOLOGY_CHANGE REMOVED_NODE " + addr.String(), "TOPOLOGY_CHANGE NEW_NODE " + n.Addr().String(),
				"STATUS_CHANGE UP " + n.Addr().String(),
			} {
				require.Equal(t, want, readEvent(t, watch))
			}
			connect(t, c, n, 4)

			c.MuteEvents(true)
			require.NoError(t, n.Restart())
			c.MuteEvents(false)
			added, err := c.AddNode("datacenter1", "rack1")
			require.NoError(t, err)
			require.Equal(t, "TOPOLOGY_CHANGE NEW_NODE "+added.Addr().String(), readEvent(t, watch))
			require.Equal(t, "STATUS_CHANGE UP "+added.Addr().String(), readEvent(t, watch))
			require.Len(t, c.Hosts(), 4)
			c.RemoveNode(added)
			require.Equal(t, "STATUS_CHANGE DOWN "+added.Addr().String(), readEvent(t, watch))
			require.Equal(t, "TOPOLOGY_CHANGE REMOVED_NODE "+added.Addr().String(), readEvent(t, watch))
			require.Error(t, added.Restart())
			require.Len(t, c.Hosts(), 3)

			other := connect(t, c, c.Node(2), 4)
			require.Equal(t, OpResult, other.query("CHANGE").op)
			require.Equal(t, "SCHEMA_CHANGE UPDATED TABLE ks t", readEvent(t, watch))
			require.NoError(t, c.Exec("CHANGE; CHANGE"))
			require.Equal(t, "SCHEMA_CHANGE UPDATED TABLE ks t", readEvent(t, watch))
			require.Equal(t, "SCHEMA_CHANGE UPDATED TABLE ks t", readEvent(t, watch))
			var e *Error
			require.ErrorAs(t, c.Exec("NOT CQL"), &e)
			require.Equal(t, CodeSyntax, e.Code)
			for i := range 1000 { // events do not wait for a client that does not read
				c.Event(Event{Type: "STATUS_CHANGE", Change: "UP", Node: netip.AddrPortFrom(addr.Addr(), uint16(i))})
			}
			for i := range 1000 {
				require.Equal(t, fmt.Sprintf("STATUS_CHANGE UP %v:%d", addr.Addr(), i), readEvent(t, watch))
			}
			c.Close()
			c.Close()
			require.Error(t, n.Restart())
			_, err = c.AddNode("datacenter1", "rack1")
			require.Error(t, err)
		})
	}
}

func TestSystemTables(t *testing.T) {
	for name, cfg := range map[string]Config{"cassandra": {}, "scylla": {Scylla: &Scylla{}}, "addresses": {Network: Addresses}} {
		t.Run(name, func(t *testing.T) {
			c, _ := startFake(t, cfg)
			c.Node(2).Kill() // a killed node stays in the tables
			tc := connect(t, c, c.Node(0), 4)
			read := func(table string) []Row {
				m := tc.query("SELECT * FROM " + table).rows(t)
				var rows []Row
				for cells := range slices.Chunk(m.cells, m.columns) {
					row := Row{}
					for i, cell := range cells {
						row[m.names[i]] = cell
					}
					rows = append(rows, row)
				}
				return rows
			}
			local := read("system.local")
			require.Len(t, local, 1)
			id := c.Node(0).HostID()
			require.Equal(t, id[:], local[0]["host_id"])
			require.EqualValues(t, "datacenter1", local[0]["data_center"])
			peers := read("system.peers")
			require.Len(t, peers, 2)
			for i, p := range peers {
				n := c.Node(i + 1)
				id := n.HostID()
				require.Equal(t, id[:], p["host_id"])
				require.Equal(t, n.Addr().Addr().AsSlice(), p["rpc_address"])
			}
			if cfg.Scylla == nil {
				for i, p := range read("system.peers_v2") {
					require.EqualValues(t, fakeCell(int(c.Node(i+1).Addr().Port())), p["native_port"])
				}
				require.Len(t, read("system_views.clients"), 1)
			} else {
				require.Equal(t, CodeInvalid, tc.query("SELECT * FROM system.peers_v2").errorCode(t))
				require.Len(t, read("system.clients"), 1)
			}
			c.EditSystem(func(n *Node, table string, rows []Row) []Row {
				if table == "local" {
					rows[0]["rack"] = nil
				}
				return append(rows, Row{"peer": n.Addr().Addr()}, rows[0])
			})
			require.Len(t, read("system.peers"), 4)
			require.Nil(t, read("system.local")[0]["rack"])
			c.EditSystem(nil)
			require.Len(t, read("system.peers"), 2)
			other := [16]byte{1}
			c.Node(1).SetSchemaVersion(&other)
			require.Equal(t, other[:], read("system.peers")[0]["schema_version"])

			require.Zero(t, len(read("system_traces.sessions")))
			m := tc.call(OpQuery, flagTracing, tc.queryBody("GET ?", "k"))
			require.Equal(t, flagTracing, m.flags)
			sessions := read("system_traces.sessions")
			require.Len(t, sessions, 1)
			require.Equal(t, m.body[:16], sessions[0]["session_id"])
			require.NotEmpty(t, read("system_traces.events"))
			require.Equal(t, read("system_traces.events"), read("system_traces.events"))
		})
	}
}

func TestReplicas(t *testing.T) {
	c, db := startFake(t, Config{Network: InMemory, DataCenters: []DataCenter{
		{Name: "a", Racks: []string{"r1", "r2", "r3"}, Nodes: 7}, {Name: "b", Racks: []string{"r1", "r2"}, Nodes: 4}, {Name: "c", Nodes: 1},
	}})
	db.replication["simple"] = map[string]string{"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": "5"}
	db.replication["network"] = map[string]string{"class": "NetworkTopologyStrategy", "a": "3", "b": "3", "c": "2", "absent": "1"}
	db.replication["everywhere"] = map[string]string{"class": "EverywhereStrategy"}
	require.Nil(t, c.Replicas("none", "t", 0))
	require.Nil(t, c.Replicas("everywhere", "t", 0))
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		tok := int64(r.Uint64())
		simple := c.Replicas("simple", "t", tok)
		require.Len(t, simple, 5)
		topo := c.topo.Load()
		i := token.Search(topo.tokens, tok)
		require.Same(t, topo.owners[i], simple[0])
		network := c.Replicas("network", "t", tok)
		perDC, racks, seen := map[string]int{}, map[string]bool{}, map[*Node]bool{}
		for _, n := range network {
			require.False(t, seen[n])
			seen[n] = true
			perDC[n.dc]++
			racks[n.dc+n.rack] = true
		}
		require.Equal(t, map[string]int{"a": 3, "b": 3, "c": 1}, perDC)
		require.Len(t, racks, 3+2+1, "every rack has one")
	}
	for _, tok := range []int64{math.MinInt64, math.MaxInt64, c.topo.Load().tokens[0], c.topo.Load().tokens[0] + 1} {
		require.Len(t, c.Replicas("simple", "t", tok), 5)
	}
}

func TestConsistency(t *testing.T) {
	c, db := startFake(t, Config{Network: InMemory, DataCenters: []DataCenter{{Name: "a", Nodes: 3}, {Name: "b", Nodes: 3}}})
	db.replication["ks"] = map[string]string{"class": "NetworkTopologyStrategy", "a": "3", "b": "3"}
	tc := connect(t, c, c.Node(0), 4)
	type unavailable struct{ required, alive int32 }
	ask := func(text string, cl uint16, values ...string) *unavailable {
		t.Helper()
		m := tc.call(OpQuery, 0, tc.appendParams(append(appendInt(nil, int32(len(text))), text...), cl, 0, values...))
		if m.op == OpResult {
			return nil
		}
		require.Equal(t, CodeUnavailable, m.errorCode(t), "%q", m.body)
		r := reader{b: m.body}
		r.int()
		r.string()
		require.Equal(t, cl, r.short())
		return &unavailable{r.int(), r.int()}
	}
	get := func(cl uint16) *unavailable { t.Helper(); return ask("GET ?", cl, "k") }
	for cl := clOne; cl <= clLocalOne; cl++ {
		require.Nil(t, get(cl), engine.ConsistencyName(cl))
	}
	c.Node(1).Kill()
	c.Node(2).Kill() // one replica of three is down in a
	for cl, want := range map[uint16]*unavailable{
		clOne: nil, clTwo: nil, clThree: nil, clQuorum: nil, clAll: {6, 4}, clLocalQuorum: {2, 1}, clEachQuorum: {2, 1}, clLocalOne: nil,
		clSerial: nil, clLocalSerial: {2, 1},
	} {
		require.Equal(t, want, get(cl), engine.ConsistencyName(cl))
		require.Equal(t, want, ask("LIST", cl), "a scan at %s", engine.ConsistencyName(cl))
	}
	require.Nil(t, ask("PUT ?, ?", clAny, "k", "v"))
	require.Nil(t, ask("PUT ?, ? IF", clQuorum, "k", "v"))
	c.Node(3).Kill()
	c.Node(4).Kill() // two replicas of six are down
	require.Equal(t, &unavailable{4, 2}, get(clQuorum))
	m := tc.query("PUT ?, ? IF", "k", "v") // SERIAL is the default, and fails although ONE would succeed
	require.Equal(t, CodeUnavailable, m.errorCode(t))
	require.Contains(t, string(m.body), "SERIAL")
	require.Nil(t, ask("SELECT * FROM system.local", clAll), "every node's own")
	require.Equal(t, 20, c.Node(0).Stats().Unavailable+10)
	invalid := func(text string, cl uint16, values ...string) {
		t.Helper()
		m := tc.call(OpQuery, 0, tc.appendParams(append(appendInt(nil, int32(len(text))), text...), cl, 0, values...))
		require.Equal(t, CodeInvalid, m.errorCode(t))
	}
	invalid("GET ?", clAny, "k")
	invalid("PUT ?, ?", clSerial, "k", "v")
	invalid("PUT ?, ? IF", clLocalSerial, "k", "v")
	db.replication["ks"] = map[string]string{"class": "SimpleStrategy", "replication_factor": "1"}
	require.NoError(t, c.Exec("CHANGE"))
	require.Equal(t, int32(3), get(clThree).required)
}

func TestCounts(t *testing.T) {
	var seen []Request
	c, _ := startFake(t, Config{Network: InMemory, OnRequest: func(r Request) { seen = append(seen, r) }})
	n := c.Node(0)
	tc := connect(t, c, n, 4)
	replica := 0
	for i := range 20 {
		k := fmt.Sprint(i)
		tc.query("GET ?", k)
		if slices.Contains(c.Replicas("ks", "t", token.Murmur3([]byte(k))), n) {
			replica++
		}
	}
	tc.query("LIST")
	s := n.Stats()
	require.Equal(t, 20, s.Routable)
	require.Equal(t, replica, s.OnReplica)
	require.Equal(t, replica, s.OnShard)
	require.Equal(t, []int{21}, s.Shards)
	require.Equal(t, map[Opcode]int{OpStartup: 1, OpQuery: 21}, s.Requests)
	require.Equal(t, s.Requests, n.Conns()[0].Requests)
	require.Len(t, seen, 22)
	require.Equal(t, s, c.Stats())
	require.Equal(t, "GET ?", seen[1].Statement)
	require.True(t, seen[1].HasToken)
	c.ResetStats()
	require.Zero(t, n.Requests())
	require.Zero(t, n.Stats().Routable)
}

func TestPreparedMetadata(t *testing.T) {
	for name, cfg := range map[string]Config{"forget": {}, "keep": {KeepPrepared: true}} {
		for _, version := range []byte{4, 5} {
			t.Run(fmt.Sprint(name, version), func(t *testing.T) {
				cfg.Network = InMemory
				c, _ := startFake(t, cfg)
				tc := connect(t, c, c.Node(0), version)
				id, resultID := tc.prepare("GET ?", version >= 5)
				tc.query("PUT ?, ?", "k", "v")
				execute := func() message { return tc.call(OpExecute, 0, tc.executeBody(id, resultID, paramSkipMetadata, "k")) }
				require.EqualValues(t, metaNone|metaGlobalTable, execute().rows(t).flags)
				tc.query("CHANGE")
				m := execute()
				if !cfg.KeepPrepared {
					require.Equal(t, CodeUnprepared, m.errorCode(t))
					again, newID := tc.prepare("GET ?", version >= 5)
					require.Equal(t, id, again)
					require.True(t, version < 5 || string(newID) != string(resultID))
					m = execute() // with the old result metadata id
				}
				rows := m.rows(t)
				require.Equal(t, 2, rows.columns)
				if version < 5 {
					require.EqualValues(t, metaNone|metaGlobalTable, rows.flags)
					return
				}
				require.EqualValues(t, metaChanged|metaGlobalTable, rows.flags)
				require.Equal(t, []string{"v", "morea"}, rows.names)
				resultID = rows.newID
				require.EqualValues(t, metaNone|metaGlobalTable, execute().rows(t).flags)
			})
		}
	}
	c, _ := startFake(t, Config{Network: InMemory})
	tc := connect(t, c, c.Node(0), 5)
	id, resultID := tc.prepare("PUT ?, ? IF", true)
	rows := tc.call(OpExecute, 0, tc.executeBody(id, resultID, paramSkipMetadata, "k", "v")).rows(t)
	require.EqualValues(t, metaGlobalTable, rows.flags, "conditional: the columns are always sent")
	require.Equal(t, []string{"[applied]"}, rows.names)
	keyspace := tc.query("USE ks")
	require.Equal(t, appendString(appendInt(nil, 3), "ks"), keyspace.body)
	other, _ := tc.prepare("PUT ?, ? IF", true)
	require.Equal(t, id, other, "qualified names: one id for all keyspaces")
	id, _ = tc.prepare("HERE", true)
	tc.query("USE other")
	other, _ = tc.prepare("HERE", true)
	require.NotEqual(t, id, other, "unqualified names: one id per keyspace")
}

func TestTabletRanges(t *testing.T) {
	for _, count := range []int{1, 2, 3, 7, 256, 1000, 100_000} {
		require.EqualValues(t, int64(math.MaxInt64), tabletEnd(count-1, count))
		for _, i := range []int{0, 1, count / 2, count - 2} {
			if i < 0 || i >= count-1 {
				continue
			}
			end := tabletEnd(i, count)
			require.Equal(t, i, tabletIndex(end, count), "the end is inclusive")
			require.Equal(t, i+1, tabletIndex(end+1, count))
		}
		require.Zero(t, tabletIndex(math.MinInt64, count))
		require.Equal(t, count-1, tabletIndex(math.MaxInt64, count))
	}
	require.Equal(t, 0, shardOf(math.MinInt64, 8, 12))
	require.Equal(t, 4, shardOf(0, 8, 0))
	require.Equal(t, 7, shardOf(math.MaxInt64, 8, 12))
}

func TestScylla(t *testing.T) {
	c, db := startFake(t, Config{Scylla: &Scylla{Shards: 4, Tablets: 64}, Network: InMemory})
	db.replication["ks"] = map[string]string{"class": "NetworkTopologyStrategy", "datacenter1": "2"}
	n := c.Node(0)
	for range 8 { // connections to the plain port spread over shards
		connect(t, c, n, 4)
	}
	perShard := map[int]int{}
	for _, i := range n.Conns() {
		perShard[i.Shard]++
	}
	require.Equal(t, map[int]int{0: 2, 1: 2, 2: 2, 3: 2}, perShard)
	n.CloseConns()

	options := func(addr netip.AddrPort, port uint16) (message, *testClient) {
		sock, err := c.Dialer().From(port).DialContext(t.Context(), "tcp", addr.String())
		require.NoError(t, err)
		tc := newTestClient(t, sock, 4)
		return tc.call(OpOptions, 0, nil), tc
	}
	for port := uint16(50000); port < 50008; port++ {
		m, _ := options(n.ShardAwareAddr(), port)
		r := reader{b: m.body}
		supported := map[string][]string{}
		for k := r.short(); k > 0; k-- {
			key := r.string()
			supported[key] = r.stringList()
		}
		require.Equal(t, []string{fmt.Sprint(port % 4)}, supported["SCYLLA_SHARD"])
		require.Equal(t, []string{"4"}, supported["SCYLLA_NR_SHARDS"])
		require.Equal(t, []string{"12"}, supported["SCYLLA_SHARDING_IGNORE_MSB"])
		require.Equal(t, []string{fmt.Sprint(n.ShardAwareAddr().Port())}, supported["SCYLLA_SHARD_AWARE_PORT"])
		require.Equal(t, []string{"LWT_OPTIMIZATION_META_BIT_MASK=2147483648"}, supported["SCYLLA_LWT_ADD_METADATA_MARK"])
		require.Contains(t, supported, "TABLETS_ROUTING_V1")
		require.NotContains(t, supported, "TABLETS_ROUTING_V2_EXPERIMENTAL")
	}
	_, err := c.Dialer().From(50000).DialContext(t.Context(), "tcp", n.Addr().String())
	var op *net.OpError
	require.ErrorAs(t, err, &op, "the port is in use")

	n.SetShards(8)
	require.Equal(t, 4, n.Shards())
	require.NoError(t, n.Restart())
	require.Equal(t, 8, n.Shards())
	_, tc := options(n.ShardAwareAddr(), 50015)
	require.Equal(t, 7, n.Conns()[0].Shard)
	tc.startup(OpReady, "SCYLLA_USE_METADATA_ID", "", "SCYLLA_LWT_ADD_METADATA_MARK", "", "TABLETS_ROUTING_V1", "", "SCYLLA_RATE_LIMIT_ERROR", "")

	id, resultID := tc.prepare("PUT ?, ?", true)
	require.Len(t, resultID, 16)
	hints := 0
	for i := range 100 {
		k := fmt.Sprint(i)
		tok := token.Murmur3([]byte(k))
		m := tc.call(OpExecute, 0, tc.executeBody(id, resultID, 0, k, "v"))
		tablet, ok := c.Tablet("ks", "t", tok)
		require.True(t, ok)
		require.True(t, tok > tablet.First && tok <= tablet.Last)
		require.Len(t, tablet.Replicas, 2)
		if slices.Contains(tablet.Replicas, TabletReplica{n, 7}) {
			require.Zero(t, m.flags)
			continue
		}
		hints++
		require.Equal(t, flagPayload, m.flags)
		r := reader{b: m.body}
		require.Equal(t, map[string][]byte{"tablets-routing-v1": TabletPayload(tablet)}, r.bytesMap())
		require.Equal(t, c.Replicas("ks", "t", tok), []*Node{tablet.Replicas[0].Node, tablet.Replicas[1].Node})
	}
	require.NotZero(t, hints)
	require.Less(t, hints, 100)
	s := n.Stats()
	require.Equal(t, hints, s.TabletHints)
	require.Equal(t, 100-hints, s.OnShard)
	before, _ := c.Tablet("ks", "t", 0)
	c.MoveTablets()
	moved := 0
	for tok := int64(math.MinInt64 / 2); tok < math.MaxInt64/2; tok += math.MaxInt64 / 16 {
		if after, _ := c.Tablet("ks", "t", tok); fmt.Sprint(after.Replicas) != fmt.Sprint(before.Replicas) {
			moved++
		}
	}
	require.NotZero(t, moved)
	c.SetTablets(128)
	after, _ := c.Tablet("ks", "t", 0)
	require.Less(t, uint64(after.Last-after.First), uint64(before.Last-before.First))

	c.Inject(Fault{Op: OpQuery, Error: &Error{Code: CodeRateLimit, Write: true, Message: "m"}, Times: 2})
	require.Equal(t, fromHex(t, "0000f000 0001 6d 01 00"), tc.query("PUT ?, ?", "k", "v").body)
	plain := connect(t, c, n, 4)
	require.Equal(t, CodeConfig, plain.query("PUT ?, ?", "k", "v").errorCode(t))
	m := plain.call(OpPrepare, 0, append(appendInt(nil, 11), "PUT ?, ? IF"...))
	require.Equal(t, byte(0), m.body[4+2+16])
	m = tc.call(OpPrepare, 0, append(appendInt(nil, 11), "PUT ?, ? IF"...))
	require.Equal(t, byte(0x80), m.body[4+2+16+2+16], "lwtMark is set")
}

func TestScyllaVariants(t *testing.T) {
	c, db := startFake(t, Config{Scylla: &Scylla{Shards: 4, Tablets: 8, TabletsV2: true, NAT: true}, Network: InMemory, Nodes: 1})
	db.replication["ks"] = map[string]string{"class": "NetworkTopologyStrategy", "datacenter1": "1"}
	n := c.Node(0)
	wrong := 0
	for port := uint16(50000); port < 50040; port++ {
		_, err := c.Dialer().From(port).DialContext(t.Context(), "tcp", n.ShardAwareAddr().String())
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return len(n.Conns()) == 40 }, 5*time.Second, time.Millisecond)
	for _, i := range n.Conns() {
		if i.Shard != int(i.Remote.Port())%4 {
			wrong++
		}
	}
	require.Greater(t, wrong, 10, "NAT")

	tc := connect(t, c, n, 4, "TABLETS_ROUTING_V2_EXPERIMENTAL", "", "TABLETS_ROUTING_V1", "")
	id, _ := tc.prepare("GET ?", false)
	tablet, _ := c.Tablet("ks", "t", token.Murmur3([]byte("k")))
	for index := range 16 {
		nibble := byte(tablet.Version >> (4 * index) & 15)
		m := tc.call(OpExecute, 0, append(tc.executeBody(id, nil, 0, "k"), byte(index<<4)|nibble))
		require.Zero(t, m.flags)
		m = tc.call(OpExecute, 0, append(tc.executeBody(id, nil, 0, "k"), byte(index<<4)|nibble^1))
		require.Equal(t, flagPayload, m.flags)
		r := reader{b: m.body}
		payload := r.bytesMap()["tablets-routing-v2"]
		require.Equal(t, appendLong(appendInt(TabletPayload(tablet), 8), int64(tablet.Version)), payload)
	}
	require.Equal(t, CodeProtocol, tc.call(OpExecute, 0, tc.executeBody(id, nil, 0, "k")).errorCode(t), "EXECUTE without the byte of tablets v2")

	vnodes, db := startFake(t, Config{Scylla: &Scylla{Shards: 4, NoShardAwarePort: true, NoLWTMark: true, NoMetadataID: true, NoRateLimit: true}, Network: InMemory})
	require.False(t, vnodes.Node(0).ShardAwareAddr().IsValid())
	db.replication["ks"] = map[string]string{"class": "NetworkTopologyStrategy", "datacenter1": "3"}
	tc = connect(t, vnodes, vnodes.Node(0), 4)
	options := tc.call(OpOptions, 0, nil)
	for _, key := range []string{"SHARD_AWARE_PORT", "LWT", "METADATA_ID", "RATE_LIMIT", "TABLETS"} {
		require.NotContains(t, string(options.body), key)
	}
	onShard := 0
	for i := range 40 {
		tc.query("GET ?", fmt.Sprint(i))
		if shardOf(token.Murmur3([]byte(fmt.Sprint(i))), 4, 12) == vnodes.Node(0).Conns()[0].Shard {
			onShard++
		}
	}
	require.Equal(t, onShard, vnodes.Node(0).Stats().OnShard)
	require.Equal(t, 40, vnodes.Node(0).Stats().OnReplica)
	_, ok := vnodes.Tablet("ks", "t", 0)
	require.False(t, ok)
}

var _ database = (*engine.Engine)(nil)

// TestShutdownAnnouncesLater registers while the node waits for another client: the node announces its end to both.
func TestShutdownAnnouncesLater(t *testing.T) {
	c := New(t, Config{GracefulDisconnect: true})
	n := c.Nodes()[0]
	first, second := connect(t, c, n, 4), connect(t, c, n, 4)
	register := appendString(appendShort(nil, 1), gracefulDisconnect)
	require.Equal(t, OpReady, first.call(OpRegister, 0, register).op)
	closed := make(chan bool)
	go func() { closed <- n.Shutdown(10 * time.Second) }()
	require.Equal(t, OpEvent, first.read().op)
	second.send(OpRegister, 0, register)
	require.ElementsMatch(t, []Opcode{OpReady, OpEvent}, []Opcode{second.read().op, second.read().op}) // in any order
	require.NoError(t, first.sock.Close())
	require.NoError(t, second.sock.Close())
	require.True(t, <-closed)
}
