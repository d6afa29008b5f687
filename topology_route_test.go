// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// The choice of client routes from rows of system.client_routes.

func routeRow(connection string, host byte, address string, port int) systemRow {
	return systemRow{
		"connection_id": connection, "host_id": hostID(host), "address": address, "port": port, "tls_port": port + 100,
	}
}

// chosenRoutes returns the addresses of nodes 1 to 3, "-" for a node without a route.
func chosenRoutes(r *clientRoutes) string {
	var addrs []string
	for n := range byte(3) {
		addr, err := r.addrOf(hostID(n + 1))
		if err != nil {
			addr = "-"
		}
		addrs = append(addrs, addr)
	}
	return strings.Join(addrs, " ")
}

// A node keeps the connection id in use as long as that has a route; otherwise another one is used
// (scylladb/scylla-rust-driver pull request 1582, replace_client_routes, "sticky"; scylladb/gocql pull request 675,
// client_routes.go, rebindCurrentConnectionIDsLocked). The first choice is the order of the configuration.
func TestClientRouteIsSticky(t *testing.T) {
	r := newClientRoutes([]string{"b", "a"}, false)
	changed := r.update(1, []systemRow{routeRow("a", 1, "one.a", 1), routeRow("a", 2, "two.a", 1), routeRow("b", 2, "two.b", 2)})
	require.ElementsMatch(t, []cql.UUID{hostID(1), hostID(2)}, changed)
	require.Equal(t, "one.a:1 two.b:2 -", chosenRoutes(r))

	// node 1 stays on a although b is preferred and known now
	changed = r.update(2, []systemRow{routeRow("b", 1, "one.b", 2), routeRow("a", 1, "one.a", 1), routeRow("b", 2, "two.b", 2)})
	require.Empty(t, changed)
	require.Equal(t, "one.a:1 two.b:2 -", chosenRoutes(r))

	// the route of a moves to another port, and node 2 loses b
	changed = r.update(3, []systemRow{routeRow("b", 1, "one.b", 2), routeRow("a", 1, "one.a", 7), routeRow("a", 2, "two.a", 1)})
	require.ElementsMatch(t, []cql.UUID{hostID(1), hostID(2)}, changed)
	require.Equal(t, "one.a:7 two.a:1 -", chosenRoutes(r))

	changed = r.update(4, []systemRow{routeRow("b", 1, "one.b", 2)})
	require.Equal(t, []cql.UUID{hostID(1)}, changed)
	require.Equal(t, "one.b:2 - -", chosenRoutes(r))
}

// TLS selects tls_port, and plain TCP selects port (scylladb/gocql pull request 675, client_routes.go, pickTLSPorts).
// An IPv6 address is put into brackets.
func TestClientRoutePorts(t *testing.T) {
	for tls, want := range map[bool]string{false: "one:1 [2001:db8::1]:2 -", true: "one:101 [2001:db8::1]:102 -"} {
		r := newClientRoutes([]string{"a"}, tls)
		r.update(1, []systemRow{routeRow("a", 1, "one", 1), routeRow("a", 2, "2001:db8::1", 2)})
		require.Equal(t, want, chosenRoutes(r))
	}
}

// A node without a complete row has no route, and its announced address is not used instead
// (scylladb/scylla-rust-driver, scylla/src/client/client_routes.rs, NoRuleForHost and MissingPortForHost;
// scylladb/python-driver pull request 706, _execute_routes_query, leaves out rows without an address or a port).
func TestClientRouteIncomplete(t *testing.T) {
	r := newClientRoutes([]string{"a", "b"}, false)
	whole := routeRow("a", 1, "one", 1)
	r.update(1, []systemRow{whole})
	_, err := r.addrOf(hostID(2))
	require.ErrorIs(t, err, ErrNoRoute)
	require.EqualError(t, err, "vecql: no client route to the node: system.client_routes has no row with host id "+
		"00000000-0000-0000-0000-000000000002 and a connection id of a, b")

	for column, values := range map[string][]any{
		"address": {nil, "", 5}, "port": {nil, 0, -1, 65536, "9042"},
	} {
		for _, v := range values {
			r.update(r.applied+1, []systemRow{whole})
			broken := routeRow("a", 1, "one", 1)
			broken[column] = v
			require.Empty(t, r.update(r.applied+1, []systemRow{broken}))
			_, err := r.addrOf(hostID(1))
			require.ErrorIs(t, err, ErrNoRoute)
			require.ErrorContains(t, err, "has no "+column+" with host id 00000000-0000-0000-0000-000000000001 and connection id a")
			require.Equal(t, []cql.UUID{hostID(1)}, r.update(r.applied+1, []systemRow{broken, routeRow("b", 1, "other", 5)}))
			require.Equal(t, "other:5 - -", chosenRoutes(r), "the complete row of another connection id")
			r.update(r.applied+1, nil)
		}
	}
}

// TestOlderReadingOfRoutes requires a reading to be dropped that began before the last one.
func TestOlderReadingOfRoutes(t *testing.T) {
	r := newClientRoutes([]string{"a"}, false)
	r.update(2, []systemRow{routeRow("a", 1, "new", 1)})
	require.Empty(t, r.update(1, []systemRow{routeRow("a", 1, "old", 1)}))
	require.Empty(t, r.update(0, nil), "a view without a reading")
	require.Equal(t, "new:1 - -", chosenRoutes(r))
}

// TestRoutesStatement requires the connection ids to be quoted: they are text of the program.
func TestRoutesStatement(t *testing.T) {
	require.Nil(t, newClientRoutes(nil, true))
	require.Equal(t, "SELECT connection_id, host_id, address, port, tls_port FROM system.client_routes WHERE connection_id IN ('a', 'it''s')",
		newClientRoutes([]string{"a", "it's"}, false).statement())
}
