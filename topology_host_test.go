// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/placement"
)

// Tests of hosts parsed from rows of the system tables.

// peerRow is a complete row of system.peers; change may remove columns.
func peerRow(n byte, change ...func(row map[string]any)) map[string]any {
	row := map[string]any{
		"host_id": hostID(n), "data_center": "dc1", "rack": "r1", "release_version": "5.0.0", "schema_version": cql.UUID{1},
		"rpc_address": net.IPv4(10, 0, 0, n), "peer": net.IPv4(192, 168, 0, n), "tokens": []string{"100", "-5"},
	}
	for _, f := range change {
		f(row)
	}
	return row
}

// hostsOf returns the nodes of rows.
func hostsOf(local systemRow, peers []systemRow, at netip.AddrPort, translate translateFunc, instead func(first, other *cql.Host) bool) ([]*cql.Host, error) {
	return parseRows(local, "system.peers", peers, at).hosts(translate, instead)
}

func set(column string, v any) func(map[string]any) {
	return func(row map[string]any) { row[column] = v }
}

func TestParseHostKeepsWhatItCanRead(t *testing.T) {
	h := parseHost(map[string]any{"host_id": nil, "data_center": 5, "tokens": []string{"1", "x", "-9223372036854775808"}, "native_port": 99999}, 9042)
	require.Equal(t, []int64{1, -9223372036854775808}, h.Tokens)
	require.False(t, h.Address.IsValid())
	require.Equal(t, cql.UUID{}, h.ID)
}

// TestFault27PeersTable checks that incomplete, stale or duplicate rows leave a topology of the other nodes.
func TestFault27PeersTable(t *testing.T) {
	at := netip.MustParseAddrPort("10.0.0.1:9042")
	local := peerRow(1)
	for _, c := range []struct {
		name  string
		peers []systemRow
		want  []byte // hosts besides node 1
	}{
		{"whole", []systemRow{peerRow(2), peerRow(3)}, []byte{2, 3}},
		{"none", nil, nil},
		{"empty row", []systemRow{{}, peerRow(3)}, []byte{3}},
		{"all NULL", []systemRow{{"host_id": nil, "rpc_address": nil, "peer": nil, "tokens": nil, "data_center": nil}, peerRow(3)}, []byte{3}},
		{"no host id", []systemRow{peerRow(2, set("host_id", nil)), peerRow(3)}, []byte{3}},
		{"no address", []systemRow{peerRow(2, set("rpc_address", nil), set("peer", nil)), peerRow(3)}, []byte{3}},
		{"no address for clients", []systemRow{peerRow(2, set("rpc_address", nil))}, []byte{2}},
		{"any address for clients", []systemRow{peerRow(2, set("rpc_address", net.IPv4zero))}, []byte{2}},
		{"missing data center", []systemRow{peerRow(2, set("data_center", nil)), peerRow(3)}, []byte{3}},
		{"missing rack", []systemRow{peerRow(2, set("rack", nil))}, []byte{2}},
		{"zero tokens, otherwise complete", []systemRow{peerRow(2, set("tokens", nil))}, []byte{2}},
		{"zero tokens and more NULLs", []systemRow{peerRow(2, set("tokens", nil), set("schema_version", nil)), peerRow(3)}, []byte{3}},
		{"tokens that are not numbers, stale", []systemRow{peerRow(2, set("tokens", []string{"x"}), set("release_version", nil))}, nil},
		{"the same host twice", []systemRow{peerRow(2), peerRow(2, set("rpc_address", net.IPv4(10, 0, 0, 9)))}, []byte{2}},
		{"the same address twice", []systemRow{peerRow(2), peerRow(9, set("rpc_address", net.IPv4(10, 0, 0, 2)))}, []byte{2, 9}},
		{"stale row of the node that is read", []systemRow{peerRow(1, set("rpc_address", net.IPv4(10, 0, 0, 7))), peerRow(3)}, []byte{3}},
		{"another node at the address of the node that is read", []systemRow{peerRow(8, set("rpc_address", net.IPv4(10, 0, 0, 1))), peerRow(3)}, []byte{8, 3}},
		{"columns of other types", []systemRow{peerRow(2, set("rack", 7), set("tokens", "100"), set("native_port", "x")), peerRow(3)}, []byte{3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			hosts, err := hostsOf(local, c.peers, at, nil, nil)
			require.NoError(t, err)
			require.Equal(t, hostID(1), hosts[0].ID)
			require.Equal(t, at, hosts[0].Address)
			var got []byte
			var nodes []*node
			for _, h := range hosts {
				nodes = append(nodes, &node{info: h})
			}
			for _, h := range hosts[1:] {
				got = append(got, h.ID[15])
				require.True(t, h.Address.IsValid())
			}
			require.Equal(t, c.want, got)
			topo := testTopology(t, TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "dc1"}}, nodes, map[string]placement.Strategy{
				"ks": {Class: "NetworkTopologyStrategy", Factors: map[string]placement.Count{"dc1": {All: 3}, "": {All: 1}}},
			})
			require.Len(t, planNodes(topo.plan(planTarget{keyspace: "ks", token: 7, hasToken: true})), len(hosts))
		})
	}
	t.Run("empty local row", func(t *testing.T) {
		hosts, err := hostsOf(map[string]any{}, nil, at, nil, nil)
		require.NoError(t, err)
		require.Len(t, hosts, 1)
		topo := testTopology(t, nil, []*node{{info: hosts[0]}}, map[string]placement.Strategy{"ks": {Class: "SimpleStrategy", Factor: placement.Count{All: 3}}})
		require.Empty(t, topo.replicasOf("ks", 3), "no tokens, no ring")
		require.Len(t, planNodes(topo.plan(planTarget{keyspace: "ks", token: 7, hasToken: true})), 1)
	})
}

func TestHostsAreTranslated(t *testing.T) {
	at := netip.MustParseAddrPort("10.0.0.1:9042")
	gateway := translator(func(a netip.AddrPort) netip.AddrPort {
		switch n := a.Addr().As4()[3]; n {
		case 5:
			return netip.AddrPort{}
		case 6:
			return netip.AddrPortFrom(a.Addr(), 0)
		case 7:
			panic("mine")
		default:
			return netip.AddrPortFrom(netip.MustParseAddr("::ffff:1.1.1.1"), a.Port()+uint16(n))
		}
	})
	hosts, err := hostsOf(peerRow(1), []systemRow{peerRow(2), peerRow(3), peerRow(5), peerRow(6)}, at, gateway, nil)
	require.NoError(t, err)
	require.Len(t, hosts, 3, "two cannot be reached")
	require.Equal(t, at, hosts[0].Address, "a contact point is not translated")
	require.Equal(t, "1.1.1.1:9044", hosts[1].Address.String())
	require.Equal(t, "1.1.1.1:9045", hosts[2].Address.String(), "several nodes behind one address")
	require.Equal(t, "10.0.0.3", hosts[2].RPCAddress.String())
	_, err = hostsOf(peerRow(1), []systemRow{peerRow(7)}, at, gateway, nil)
	require.ErrorContains(t, err, "AddressTranslator: 10.0.0.7:9042: panic: mine")

	same := translator(func(a netip.AddrPort) netip.AddrPort { return a })
	to, err := same(netip.MustParseAddrPort("[::1]:7"))
	require.NoError(t, err)
	require.Equal(t, "[::1]:7", to.String())
	require.Nil(t, translator(nil))
}

// TestParseHost requires each field from its column.
func TestParseHost(t *testing.T) {
	row := peerRow(2, set("native_port", 9999), set("preferred_ip", net.IPv4(7, 7, 7, 7)), set("broadcast_address", net.IPv4(8, 8, 8, 8)),
		set("listen_address", net.IPv4(9, 9, 9, 9)), set("cluster_name", "c"), set("partitioner", murmur3), set("dse_version", "6"), set("workload", "w"), set("graph", true))
	h := parseHost(row, 9042)
	require.Equal(t, &cql.Host{
		ID: hostID(2), Address: netip.MustParseAddrPort("10.0.0.2:9999"), DataCenter: "dc1", Rack: "r1", Version: "5.0.0",
		Tokens: []int64{100, -5}, SchemaVersion: cql.UUID{1}, ClusterName: "c", Partitioner: murmur3,
		RPCAddress: netip.MustParseAddr("10.0.0.2"), Peer: netip.MustParseAddr("192.168.0.2"),
		BroadcastAddress: netip.MustParseAddr("8.8.8.8"), ListenAddress: netip.MustParseAddr("9.9.9.9"),
		PreferredIP: netip.MustParseAddr("7.7.7.7"), DSEVersion: "6", Workload: "w", Graph: true,
	}, h)
	require.Equal(t, "10.0.0.2:9999 (dc1)", h.String())
	require.Equal(t, "10.0.0.2:9042", parseHost(peerRow(2), 9042).Address.String(), "a row without a port")
}

// TestSameHost requires that each field of a host counts.
func TestSameHost(t *testing.T) {
	host := func() *cql.Host { return parseHost(peerRow(2), 9042) }
	require.True(t, sameHost(host(), host()))
	for i, field := range reflect.VisibleFields(reflect.TypeFor[cql.Host]()) {
		h := host()
		value := map[reflect.Type]any{
			reflect.TypeFor[cql.UUID](): cql.UUID{9}, reflect.TypeFor[netip.AddrPort](): netip.MustParseAddrPort("7.7.7.7:7"),
			reflect.TypeFor[netip.Addr](): netip.MustParseAddr("7.7.7.7"), reflect.TypeFor[string](): "other",
			reflect.TypeFor[[]int64](): []int64{100}, reflect.TypeFor[bool](): true,
		}[field.Type]
		require.NotNil(t, value, "a value for %s", field.Name)
		reflect.ValueOf(h).Elem().Field(i).Set(reflect.ValueOf(value))
		require.False(t, sameHost(h, host()), field.Name)
		require.False(t, sameHost(host(), h), field.Name)
	}
}

func acceptNone(*cql.Host) bool { return false }

func TestFilterNodes(t *testing.T) {
	nodes := func() []*node { return []*node{testNode(1, "a", "r"), testNode(2, "b", "r")} }
	rules := newPlanRules(TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b"}})
	list := nodes()
	require.NoError(t, rules.filterNodes(list, func(h *cql.Host) bool { return h.DataCenter == "b" }))
	require.True(t, list[0].excluded)
	require.False(t, list[1].excluded)
	require.NoError(t, rules.filterNodes(list, nil))
	require.False(t, list[0].excluded, "a filter replaces the earlier result")
	require.True(t, list[0].remote)
	require.False(t, list[1].remote)

	err := rules.filterNodes(nodes(), acceptNone)
	require.ErrorIs(t, err, ErrNoHosts)
	require.ErrorContains(t, err, "HostFilter accepts none")
	nowhere := newPlanRules(DCAwarePolicy{DataCenter: "x", NoFailover: true})
	err = nowhere.filterNodes(nodes(), nil)
	require.ErrorIs(t, err, ErrNoHosts)
	require.ErrorContains(t, err, "uses none of")
	err = rules.filterNodes(nodes(), func(*cql.Host) bool { panic("mine") })
	require.ErrorContains(t, err, "127.0.0.1:9042 (a): HostFilter: panic: mine")
	panics := newPlanRules(panicPolicy{})
	require.ErrorContains(t, panics.filterNodes(nodes(), nil), "HostSelectionPolicy: panic: mine")
}

type panicPolicy struct{}

func (panicPolicy) Tier(*cql.Host) int { panic(errors.New("mine")) }

// TestHostsOfRepeatedRows: peers has several rows of one node. The node that is read keeps the address of the
// connection.
func TestHostsOfRepeatedRows(t *testing.T) {
	at := netip.MustParseAddrPort("10.0.0.1:9042")
	row := func(n, address byte) systemRow { return peerRow(n, set("rpc_address", net.IPv4(10, 0, 0, address))) }
	peers := []systemRow{row(1, 9), row(2, 2), row(3, 3), row(2, 22), row(3, 33), row(2, 23)}
	var asked []string
	hosts, err := hostsOf(peerRow(1), peers, at, nil, func(first, other *cql.Host) bool {
		asked = append(asked, first.Address.String()+" "+other.Address.String())
		return other.Address.Addr() == netip.MustParseAddr("10.0.0.22") || other.ID == hostID(1)
	})
	require.NoError(t, err)
	var got []string
	for _, h := range hosts {
		got = append(got, h.Address.String())
	}
	require.Equal(t, []string{"10.0.0.1:9042", "10.0.0.22:9042", "10.0.0.3:9042"}, got)
	require.Equal(t, []string{"10.0.0.2:9042 10.0.0.22:9042", "10.0.0.3:9042 10.0.0.33:9042", "10.0.0.22:9042 10.0.0.23:9042"}, asked)
}

// TestOtherAddress: the row of a node without a connection gives way if the node was not reached at its address.
func TestOtherAddress(t *testing.T) {
	s := bareSession()
	known, err := hostsOf(peerRow(1), []systemRow{peerRow(2)}, netip.MustParseAddrPort("10.0.0.1:9042"), nil, nil)
	require.NoError(t, err)
	s.topo.Store(testTopology(t, nil, []*node{{info: known[0]}, {info: known[1]}}, nil))
	first := &cql.Host{ID: hostID(2), Address: known[1].Address}
	other := &cql.Host{ID: hostID(2), Address: netip.MustParseAddrPort("10.0.0.22:9042")}
	require.True(t, s.otherAddress(first, other))
	require.False(t, s.otherAddress(other, first), "the node has another address than the first row by now")
	first.ID, other.ID = hostID(3), hostID(3)
	require.False(t, s.otherAddress(first, other), "an unknown node keeps its first row")
}

// TestCommonVersion: a cluster of nodes before and since Cassandra 4 has protocol v4.
func TestCommonVersion(t *testing.T) {
	for name, m := range map[string]struct {
		versions []string // of nodes; a minus means excluded
		v4       bool
	}{
		"upgrade":              {[]string{"4.1.0", "3.11.19"}, true},
		"old":                  {[]string{"3.11.19", "3.0.9"}, false},
		"new":                  {[]string{"4.0", "5.0.9"}, false},
		"the old are excluded": {[]string{"5.0.9", "-3.11.19"}, false},
		"two digits":           {[]string{"10.0.1", "5.0.9"}, false},
		"unknown":              {[]string{"5.0.9", "", "x.1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var nodes []*node
			for _, v := range m.versions {
				version, excluded := strings.CutPrefix(v, "-")
				nodes = append(nodes, &node{info: &cql.Host{Version: version}, excluded: excluded})
			}
			var refused *conn.VersionError
			if err := commonVersion(nodes); m.v4 {
				require.ErrorAs(t, err, &refused)
				require.EqualValues(t, frame.V4, refused.Supported)
			} else {
				require.NoError(t, err)
			}
		})
	}
}

// TestWholeHosts requires which columns the row of a peer needs: one with tokens its id, address and data center, one
// without tokens also rack, version and schema.
func TestWholeHosts(t *testing.T) {
	full := func() *cql.Host {
		return &cql.Host{
			ID: hostID(1), Address: netip.MustParseAddrPort("127.0.0.1:9042"), DataCenter: "a", Rack: "r", Version: "5.0", SchemaVersion: hostID(2),
		}
	}
	for name, m := range map[string]struct {
		change         func(h *cql.Host)
		without, whole bool // tokens
	}{
		"all":             {func(*cql.Host) {}, true, true},
		"no id":           {func(h *cql.Host) { h.ID = cql.UUID{} }, false, false},
		"no address":      {func(h *cql.Host) { h.Address = netip.AddrPort{} }, false, false},
		"no data center":  {func(h *cql.Host) { h.DataCenter = "" }, false, false},
		"no rack":         {func(h *cql.Host) { h.Rack = "" }, false, true},
		"no version":      {func(h *cql.Host) { h.Version = "" }, false, true},
		"no schema":       {func(h *cql.Host) { h.SchemaVersion = cql.UUID{} }, false, true},
		"none of the two": {func(h *cql.Host) { h.Rack, h.Version = "", "" }, false, true},
	} {
		h := full()
		m.change(h)
		require.Equal(t, m.without, isWhole(h), name)
		h.Tokens = []int64{0}
		require.Equal(t, m.whole, isWhole(h), name)
	}
}

// TestIsUp requires that a node is up while a connection of its pool takes requests, and down when it has left.
func TestIsUp(t *testing.T) {
	s := bareSession()
	n := testNode(1, "a", "r")
	s.topo.Store(testTopology(t, nil, []*node{n}, nil))
	require.False(t, s.IsUp(n.info))
	open := idleConn()
	n.pool.open.Store(newPoolView([]*conn.Conn{open}))
	require.True(t, s.IsUp(n.info))
	require.True(t, s.IsUp(&cql.Host{ID: n.info.ID}), "a node is found by its id")
	require.False(t, s.IsUp(testNode(2, "a", "r").info), "no node of the cluster")
	open.Draining.Store(true)
	require.False(t, s.IsUp(n.info))
}

// TestErrorsOfNodes requires that the error of a request without connections has the error of each node, by its
// address.
func TestErrorsOfNodes(t *testing.T) {
	nodes := []*node{testNode(1, "a", "r"), testNode(2, "a", "r"), testNode(3, "a", "r")}
	topo := testTopology(t, nil, nodes, nil)
	require.NoError(t, topo.lastErrors())
	topo.node(1).pool.err, topo.node(3).pool.err = io.EOF, io.ErrUnexpectedEOF
	err := topo.lastErrors()
	require.ErrorIs(t, err, io.EOF)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.ErrorContains(t, err, "node 127.0.0.1:9042: EOF")
	require.ErrorContains(t, err, "node 127.0.0.3:9042: unexpected EOF")
	require.NotContains(t, err.Error(), "127.0.0.2")
}
