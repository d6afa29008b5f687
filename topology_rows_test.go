// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// Tests of rows that are read again after events, against reading all rows.

// randomPeer returns a row with that key, which may lack columns, and share its id or address with other rows.
func randomPeer(rnd *rand.Rand, key byte) systemRow {
	row := peerRow(key, set("peer", net.IPv4(192, 168, 0, key)), set("rpc_address", net.IPv4(10, 0, 0, key)))
	for _, c := range []struct {
		column string
		values []any
	}{
		{"host_id", []any{nil, hostID(byte(1 + rnd.IntN(8)))}},
		{"rpc_address", []any{nil, net.IPv4(10, 0, 0, byte(1+rnd.IntN(8))), net.IPv4zero}},
		{"tokens", []any{nil, []string{"7"}}},
		{"data_center", []any{nil, "dc2"}},
		{"rack", []any{nil, "r2"}},
		{"release_version", []any{nil, "5.0.1", "5.0.2"}},
		{"schema_version", []any{nil, cql.UUID{2}}},
	} {
		if rnd.IntN(14) == 0 {
			row[c.column] = c.values[rnd.IntN(len(c.values))]
		}
	}
	return row
}

// changePeers returns the rows after a random change of those with the keys. The others keep their order.
func changePeers(rnd *rand.Rand, peers []systemRow, keys []netip.Addr) (changed []systemRow) {
	for _, row := range peers {
		key, _ := netip.AddrFromSlice(row["peer"].(net.IP).To4())
		if !slices.Contains(keys, key) {
			changed = append(changed, row)
			continue
		}
		switch rnd.IntN(10) {
		case 0: // the row is gone
		case 1: // another node has the address
			changed = append(changed, randomPeer(rnd, key.As4()[3]))
		case 2: // the key has one row more
			changed = append(changed, row, randomPeer(rnd, key.As4()[3]))
		case 3, 4:
			upgraded := peerRow(1)
			for column, value := range row {
				upgraded[column] = value
			}
			upgraded["release_version"] = "5.0.9"
			changed = append(changed, upgraded)
		default:
			changed = append(changed, row)
		}
	}
	return changed
}

// testReplace compares the rows after an event with all rows, and reports whether the rows of the event were enough.
func testReplace(t *testing.T, seed uint64) bool {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	at := netip.MustParseAddrPort("10.0.0.1:9042")
	var peers []systemRow
	for range rnd.IntN(6) {
		peers = append(peers, randomPeer(rnd, byte(2+rnd.IntN(6))))
	}
	before := parseRows(peerRow(1), "system.peers", peers, at)
	addrs := map[netip.Addr]bool{}
	for range 1 + rnd.IntN(2) {
		addrs[netip.AddrFrom4([4]byte{10, 0, 0, byte(1 + rnd.IntN(7))})] = true
	}
	keys, ok := before.keysAt(addrs)
	if !ok {
		return false
	}
	for _, h := range before.peers { // each node of the event is read
		require.True(t, !addrs[h.Address.Addr()] || slices.Contains(keys, h.Peer), "seed %d", seed)
	}
	peers = changePeers(rnd, peers, keys)
	all := parseRows(peerRow(1), "system.peers", peers, at)
	var read []*cql.Host
	for _, h := range all.peers {
		if slices.Contains(keys, h.Peer) {
			read = append(read, h)
		}
	}
	now, ok := before.replace(keys, read)
	if !ok {
		return false
	}
	want, err := all.hosts(nil, nil)
	require.NoError(t, err)
	got, err := now.hosts(nil, nil)
	require.NoError(t, err)
	require.Equal(t, want, got, "seed %d", seed)
	return true
}

func TestReplaceEqualsAllRows(t *testing.T) {
	enough := 0
	for seed := range uint64(5000) {
		if testReplace(t, seed) {
			enough++
		}
	}
	require.Greater(t, enough, 300, "rows of an event that were enough")
}

func FuzzReplaceEqualsAllRows(f *testing.F) {
	f.Add(uint64(0))
	f.Fuzz(func(t *testing.T, seed uint64) { testReplace(t, seed) })
}

// TestKeysAt: rows of one node decide, unless its address is unknown, the address of the node that is read, or a node
// has several rows.
func TestKeysAt(t *testing.T) {
	at := netip.MustParseAddrPort("1.1.1.1:9042") // of node 1 behind a gateway
	addr := func(s string) netip.Addr { return netip.MustParseAddr(s) }
	rows := func(peers ...systemRow) *hostRows { return parseRows(peerRow(1), "system.peers", peers, at) }
	for _, c := range []struct {
		name  string
		rows  *hostRows
		addrs []string
		keys  []netip.Addr
		ok    bool
	}{
		{"one", rows(peerRow(2), peerRow(3)), []string{"10.0.0.3"}, []netip.Addr{addr("192.168.0.3")}, true},
		{"two", rows(peerRow(3), peerRow(2)), []string{"10.0.0.3", "10.0.0.2"}, []netip.Addr{addr("192.168.0.2"), addr("192.168.0.3")}, true},
		{"an address of two nodes", rows(peerRow(3), peerRow(2, set("rpc_address", net.IPv4(10, 0, 0, 3)))), []string{"10.0.0.3"}, []netip.Addr{addr("192.168.0.2"), addr("192.168.0.3")}, true},
		{"two rows of one key", rows(peerRow(3), peerRow(4, set("peer", net.IPv4(192, 168, 0, 3)))), []string{"10.0.0.3"}, []netip.Addr{addr("192.168.0.3")}, true},
		{"unknown", rows(peerRow(2)), []string{"10.0.0.2", "10.0.0.3"}, nil, false},
		{"the key of a row", rows(peerRow(2)), []string{"192.168.0.2"}, nil, false},
		{"the node that is read", rows(peerRow(2)), []string{"10.0.0.1"}, nil, false},
		{"the address of the connection", rows(peerRow(2)), []string{"1.1.1.1"}, nil, false},
		{"without a key", rows(peerRow(2, set("peer", nil))), []string{"10.0.0.2"}, nil, false},
		{"a node with two rows", rows(peerRow(2), peerRow(2, set("rpc_address", net.IPv4(10, 0, 0, 9))), peerRow(3)), []string{"10.0.0.3"}, nil, false},
		{"a row of the node that is read", rows(peerRow(1), peerRow(3)), []string{"10.0.0.3"}, nil, false},
		{"a second row that is not whole", rows(peerRow(2), peerRow(2, set("data_center", nil)), peerRow(3)), []string{"10.0.0.3"}, []netip.Addr{addr("192.168.0.3")}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			addrs := map[netip.Addr]bool{}
			for _, a := range c.addrs {
				addrs[addr(a)] = true
			}
			keys, ok := c.rows.keysAt(addrs)
			require.Equal(t, c.ok, ok)
			if ok {
				require.Equal(t, c.keys, keys)
			}
		})
	}
}

// TestReplace: rows that were read again replace the old ones unless a node, its address, its place or its tokens
// changed, or the rows are not those that were asked for.
func TestReplace(t *testing.T) {
	at := netip.MustParseAddrPort("10.0.0.1:9042")
	rows := parseRows(peerRow(1), "system.peers", []systemRow{peerRow(2), peerRow(3), peerRow(4, set("rack", nil), set("tokens", nil))}, at)
	for _, c := range []struct {
		name string
		read []systemRow
		ok   bool
	}{
		{"equal", []systemRow{peerRow(3)}, true},
		{"another version", []systemRow{peerRow(3, set("release_version", "6.0.0"))}, true},
		{"another internal address", []systemRow{peerRow(3, set("preferred_ip", net.IPv4(7, 7, 7, 7)))}, true},
		{"gone", nil, false},
		{"another id", []systemRow{peerRow(3, set("host_id", hostID(9)))}, false},
		{"no id", []systemRow{peerRow(3, set("host_id", nil))}, false},
		{"another address", []systemRow{peerRow(3, set("rpc_address", net.IPv4(10, 0, 0, 9)))}, false},
		{"another port", []systemRow{peerRow(3, set("native_port", 9999))}, false},
		{"another data center", []systemRow{peerRow(3, set("data_center", "dc2"))}, false},
		{"no data center", []systemRow{peerRow(3, set("data_center", nil))}, false},
		{"another rack", []systemRow{peerRow(3, set("rack", "r2"))}, false},
		{"other tokens", []systemRow{peerRow(3, set("tokens", []string{"100"}))}, false},
		{"no tokens", []systemRow{peerRow(3, set("tokens", nil))}, false},
		{"one more row", []systemRow{peerRow(3), peerRow(3)}, false},
		{"another row", []systemRow{peerRow(3), peerRow(2)}, false},
		{"no key", []systemRow{peerRow(3, set("peer", nil))}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			read := rows.parsePeers(c.read)
			next, ok := rows.replace([]netip.Addr{netip.MustParseAddr("192.168.0.3")}, read)
			require.Equal(t, c.ok, ok)
			if ok {
				require.Equal(t, []*cql.Host{rows.peers[0], read[0], rows.peers[2]}, next.peers)
				require.NotSame(t, read[0], rows.peers[1], "the old rows stay")
			}
		})
	}
	whole := rows.parsePeers([]systemRow{peerRow(4, set("tokens", nil))})
	_, ok := rows.replace([]netip.Addr{netip.MustParseAddr("192.168.0.4")}, whole)
	require.False(t, ok, "a row that has become whole is a node")
}
