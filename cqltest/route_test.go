// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/google/uuid"
)

// TestClientRoutes reads system.client_routes and the event of its changes, as ScyllaDB has them (pull request 27323,
// docs/dev/system_keyspace.md and docs/dev/protocol-extensions.md).
func TestClientRoutes(t *testing.T) {
	c := New(t, Config{Scylla: &Scylla{}, Network: InMemory, Nodes: 1})
	host := c.Node(0).HostID()
	tc := connect(t, c, c.Node(0), 4)
	require.Empty(t, tc.query("SELECT * FROM system.client_routes").rows(t).cells)
	require.Equal(t, OpReady, tc.call(OpRegister, 0, appendStringList(nil, []string{eventRoutes})).op)

	heard := func() (connections, hosts []string) {
		t.Helper()
		m := tc.read()
		require.Equal(t, OpEvent, m.op)
		r := reader{b: m.body}
		require.Equal(t, eventRoutes, r.string())
		require.Equal(t, "UPDATE_NODES", r.string())
		connections, hosts = r.stringList(), r.stringList()
		require.NoError(t, r.err)
		require.Empty(t, r.b)
		return connections, hosts
	}
	a := ClientRoute{ConnectionID: "a", HostID: host, Address: "proxy.test", Port: 9001, TLSPort: 9002}
	b := ClientRoute{ConnectionID: "b", HostID: host, Address: "192.0.2.1"}
	c.SetClientRoutes(a, b)
	connections, hosts := heard()
	require.ElementsMatch(t, []string{"a", "b"}, connections)
	require.Equal(t, []string{uuid.UUID(host).String(), uuid.UUID(host).String()}, hosts)
	const read = "SELECT connection_id, host_id, address, port, tls_port FROM system.client_routes WHERE connection_id IN "
	require.Equal(t, [][]byte{[]byte("a"), host[:], []byte("proxy.test"), {0, 0, 0x23, 0x29}, {0, 0, 0x23, 0x2A}},
		tc.query(read+"('a', 'c')").rows(t).cells)
	require.Equal(t, [][]byte{[]byte("b"), host[:], []byte("192.0.2.1"), nil, nil}, tc.query(read+"('b')").rows(t).cells)

	c.SetClientRoutes(a, b) // the same: no event
	b.Port = 9003
	c.SetClientRoutes(b)
	connections, _ = heard()
	require.ElementsMatch(t, []string{"a", "b"}, connections, "one deleted, one updated")
	c.MuteEvents(true)
	c.SetClientRoutes()
	require.Empty(t, tc.query("SELECT * FROM system.client_routes").rows(t).cells)
}
