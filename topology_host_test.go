// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"io"
	"net"
	"net/netip"
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

func set(column string, v any) func(map[string]any) {
	return func(row map[string]any) { row[column] = v }
}

func TestParseHostKeepsWhatItCanRead(t *testing.T) {
	h := parseHost(map[string]any{"host_id": nil, "data_center": 5, "tokens": []string{"1", "x", "-9223372036854775808"}, "native_port": 99999}, 9042)
	require.Equal(t, []int64{1, -9223372036854775808}, h.tokens)
	require.False(t, h.addr.IsValid())
	require.Equal(t, cql.UUID{}, h.id)
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
			require.Equal(t, hostID(1), hosts[0].id)
			require.Equal(t, at, hosts[0].addr)
			var got []byte
			var nodes []*node
			for _, h := range hosts {
				nodes = append(nodes, &node{info: h})
			}
			for _, h := range hosts[1:] {
				got = append(got, h.id[15])
				require.True(t, h.addr.IsValid())
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
	gateway := translator(AddressTranslatorFunc(func(ip net.IP, port int) (net.IP, int) {
		switch n := ip.To4()[3]; n {
		case 5:
			return nil, 0
		case 6:
			return ip, 70000
		case 7:
			panic("mine")
		default:
			return net.IPv4(1, 1, 1, 1), port + int(n)
		}
	}))
	hosts, err := hostsOf(peerRow(1), []systemRow{peerRow(2), peerRow(3), peerRow(5), peerRow(6)}, at, gateway, nil)
	require.NoError(t, err)
	require.Len(t, hosts, 3, "two cannot be reached")
	require.Equal(t, at, hosts[0].addr, "a contact point is not translated")
	require.Equal(t, "1.1.1.1:9044", hosts[1].ConnectAddressAndPort())
	require.Equal(t, "1.1.1.1:9045", hosts[2].ConnectAddressAndPort(), "several nodes behind one address")
	require.Equal(t, "10.0.0.3", hosts[2].RPCAddress().String())
	_, err = hostsOf(peerRow(1), []systemRow{peerRow(7)}, at, gateway, nil)
	require.ErrorContains(t, err, "AddressTranslator: 10.0.0.7:9042: panic: mine")

	same := translator(AddressTranslatorFunc(func(addr net.IP, port int) (net.IP, int) { return addr, port }))
	to, err := same(netip.MustParseAddrPort("[::1]:7"))
	require.NoError(t, err)
	require.Equal(t, "[::1]:7", to.String())
	require.Nil(t, translator(nil))
}

func TestHostInfo(t *testing.T) {
	h, err := NewTestHostInfoFromRow(peerRow(2, set("native_port", 9999), set("preferred_ip", net.IPv4(7, 7, 7, 7)), set("broadcast_address", net.IPv4(8, 8, 8, 8)),
		set("listen_address", net.IPv4(9, 9, 9, 9)), set("cluster_name", "c"), set("partitioner", murmur3), set("dse_version", "6"), set("workload", "w"), set("graph", true)))
	require.NoError(t, err)
	require.Equal(t, "10.0.0.2:9999", h.ConnectAddressAndPort())
	require.Equal(t, "10.0.0.2:9999", h.HostnameAndPort())
	require.Equal(t, "10.0.0.2", h.ConnectAddress().String())
	require.Equal(t, 9999, h.Port())
	require.Equal(t, "00000000-0000-0000-0000-000000000002", h.HostID())
	require.Equal(t, []string{"dc1", "r1", "5.0.0", "c", murmur3}, []string{h.DataCenter(), h.Rack(), h.Version(), h.ClusterName(), h.Partitioner()})
	require.Equal(t, []string{"192.168.0.2", "8.8.8.8", "9.9.9.9", "10.0.0.2", "7.7.7.7"},
		[]string{h.Peer().String(), h.BroadcastAddress().String(), h.ListenAddress().String(), h.RPCAddress().String(), h.PreferredIP().String()})
	require.Equal(t, []string{"100", "-5"}, h.Tokens())
	require.Equal(t, "6 w", h.DSEVersion()+" "+h.WorkLoad())
	require.True(t, h.Graph())
	require.Equal(t, "10.0.0.2:9999 (dc1)", h.String())
	require.False(t, h.IsUp())

	_, err = NewTestHostInfoFromRow(map[string]any{"host_id": hostID(1)})
	require.ErrorContains(t, err, "the row has no address")
	a, err := NewHostInfoFromAddrPort(net.IPv4(10, 0, 0, 2), 9999)
	require.NoError(t, err)
	require.Equal(t, "10.0.0.2:9999", a.ConnectAddressAndPort())
	for _, bad := range []struct {
		ip   net.IP
		port int
	}{{nil, 1}, {net.IP{1}, 1}, {net.IPv4zero, -1}, {net.IPv4zero, 65536}} {
		_, err = NewHostInfoFromAddrPort(bad.ip, bad.port)
		require.ErrorContains(t, err, "invalid address")
	}
	require.True(t, a.Equal(h), "by address, if one has no id")
	moved, err := NewTestHostInfoFromRow(peerRow(2))
	require.NoError(t, err)
	require.True(t, moved.Equal(h), "by id")
	require.False(t, moved.Equal(a))
	require.False(t, h.Equal(nil))
	require.True(t, (*HostInfo)(nil).Equal(nil))
	require.Nil(t, new(HostInfo).ConnectAddress())
}

func acceptNone(*HostInfo) bool { return false }

func TestFilterHosts(t *testing.T) {
	hosts := func() []*HostInfo { return []*HostInfo{testNode(1, "a", "r").info, testNode(2, "b", "r").info} }
	rules := newPlanRules(TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b"}})
	list := hosts()
	require.NoError(t, rules.filterHosts(list, func(h *HostInfo) bool { return h.DataCenter() == "b" }))
	require.True(t, list[0].excluded)
	require.False(t, list[1].excluded)
	require.NoError(t, rules.filterHosts(list, nil))
	require.False(t, list[0].excluded, "a filter replaces the earlier result")
	require.True(t, list[0].remote)
	require.False(t, list[1].remote)

	err := rules.filterHosts(hosts(), acceptNone)
	require.ErrorIs(t, err, ErrNoHosts)
	require.ErrorContains(t, err, "HostFilter accepts none")
	nowhere := newPlanRules(DCAwarePolicy{DataCenter: "x", NoFailover: true})
	err = nowhere.filterHosts(hosts(), nil)
	require.ErrorIs(t, err, ErrNoHosts)
	require.ErrorContains(t, err, "uses none of")
	err = rules.filterHosts(hosts(), func(*HostInfo) bool { panic("mine") })
	require.ErrorContains(t, err, "127.0.0.1:9042 (a): HostFilter: panic: mine")
	panics := newPlanRules(panicPolicy{})
	require.ErrorContains(t, panics.filterHosts(hosts(), nil), "HostSelectionPolicy: panic: mine")
}

type panicPolicy struct{}

func (panicPolicy) Tier(*HostInfo) int { panic(errors.New("mine")) }

// TestHostsOfRepeatedRows: peers has several rows of one node. The node that is read keeps the address of the
// connection.
func TestHostsOfRepeatedRows(t *testing.T) {
	at := netip.MustParseAddrPort("10.0.0.1:9042")
	row := func(n, address byte) systemRow { return peerRow(n, set("rpc_address", net.IPv4(10, 0, 0, address))) }
	peers := []systemRow{row(1, 9), row(2, 2), row(3, 3), row(2, 22), row(3, 33), row(2, 23)}
	var asked []string
	hosts, err := hostsOf(peerRow(1), peers, at, nil, func(first, other *HostInfo) bool {
		asked = append(asked, first.addr.String()+" "+other.addr.String())
		return other.addr.Addr() == netip.MustParseAddr("10.0.0.22") || other.id == hostID(1)
	})
	require.NoError(t, err)
	var got []string
	for _, h := range hosts {
		got = append(got, h.addr.String())
	}
	require.Equal(t, []string{"10.0.0.1:9042", "10.0.0.22:9042", "10.0.0.3:9042"}, got)
	require.Equal(t, []string{"10.0.0.2:9042 10.0.0.22:9042", "10.0.0.3:9042 10.0.0.33:9042", "10.0.0.22:9042 10.0.0.23:9042"}, asked)
}

// TestOtherAddress: the row of a node without a connection gives way if the node was not reached at its address.
func TestOtherAddress(t *testing.T) {
	s := &Session{}
	known, err := hostsOf(peerRow(1), []systemRow{peerRow(2)}, netip.MustParseAddrPort("10.0.0.1:9042"), nil, nil)
	require.NoError(t, err)
	s.topo.Store(testTopology(t, nil, []*node{{info: known[0]}, {info: known[1]}}, nil))
	first := &HostInfo{id: hostID(2), addr: known[1].addr}
	other := &HostInfo{id: hostID(2), addr: netip.MustParseAddrPort("10.0.0.22:9042")}
	require.True(t, s.otherAddress(first, other))
	require.False(t, s.otherAddress(other, first), "the node has another address than the first row by now")
	first.id, other.id = hostID(3), hostID(3)
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
			var hosts []*HostInfo
			for _, v := range m.versions {
				version, excluded := strings.CutPrefix(v, "-")
				hosts = append(hosts, &HostInfo{version: version, excluded: excluded})
			}
			var refused *conn.VersionError
			if err := commonVersion(hosts); m.v4 {
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
	full := func() *HostInfo {
		return &HostInfo{
			id: hostID(1), addr: netip.MustParseAddrPort("127.0.0.1:9042"), dc: "a", rack: "r", version: "5.0", schema: hostID(2),
		}
	}
	for name, m := range map[string]struct {
		change         func(h *HostInfo)
		without, whole bool // tokens
	}{
		"all":             {func(*HostInfo) {}, true, true},
		"no id":           {func(h *HostInfo) { h.id = cql.UUID{} }, false, false},
		"no address":      {func(h *HostInfo) { h.addr = netip.AddrPort{} }, false, false},
		"no data center":  {func(h *HostInfo) { h.dc = "" }, false, false},
		"no rack":         {func(h *HostInfo) { h.rack = "" }, false, true},
		"no version":      {func(h *HostInfo) { h.version = "" }, false, true},
		"no schema":       {func(h *HostInfo) { h.schema = cql.UUID{} }, false, true},
		"none of the two": {func(h *HostInfo) { h.rack, h.version = "", "" }, false, true},
	} {
		h := full()
		m.change(h)
		require.Equal(t, m.without, h.whole(), name)
		h.tokens = []int64{0}
		require.Equal(t, m.whole, h.whole(), name)
	}
}

// TestPortOfTestHosts requires the port of the native protocol in a HostInfo of a row without one.
func TestPortOfTestHosts(t *testing.T) {
	h, err := NewTestHostInfoFromRow(peerRow(1))
	require.NoError(t, err)
	require.Equal(t, 9042, h.Port())
	_, err = NewTestHostInfoFromRow(map[string]any{})
	require.Error(t, err)
}

// TestHostInfoOfAddrPort requires which addresses and ports make a HostInfo, which is down without a pool, and with one
// that has no connection.
func TestHostInfoOfAddrPort(t *testing.T) {
	for port, ok := range map[int]bool{-1: false, 0: true, 1: true, 0xFFFF: true, 0x10000: false} {
		h, err := NewHostInfoFromAddrPort(net.IPv4(10, 0, 0, 1), port)
		if !ok {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, port, h.Port())
		require.Equal(t, "10.0.0.1", h.ConnectAddress().String())
	}
	_, err := NewHostInfoFromAddrPort(net.IP{1, 2, 3}, 1)
	require.Error(t, err)
	h := &HostInfo{}
	require.False(t, h.IsUp())
	require.False(t, h.IsUp())
	h.pool.Store(emptyPool())
	require.False(t, h.IsUp())
	require.False(t, h.IsUp())
	open := idleConn()
	h.pool.Load().open.Store(newPoolView([]*conn.Conn{open}))
	require.True(t, h.IsUp())
	require.True(t, h.IsUp())
	open.Draining.Store(true)
	require.False(t, h.IsUp())
}

// TestErrorsOfNodes requires that the error of a request without connections has that of each node, by its address.
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
