// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
)

// The rows of the system tables that describe nodes. A row may be half-written, stale, or NULL in parts. parseHost
// reads what is there, and isWhole selects the usable rows.

// parseHost reads a row of system.local, peers or peers_v2. It ignores columns that are NULL or of another type.
func parseHost(row map[string]any, port uint16) *cql.Host {
	h := &cql.Host{
		ID: get[cql.UUID](row, "host_id"), DataCenter: get[string](row, "data_center"), Rack: get[string](row, "rack"),
		Version: get[string](row, "release_version"), SchemaVersion: get[cql.UUID](row, "schema_version"),
		ClusterName: get[string](row, "cluster_name"), Partitioner: get[string](row, "partitioner"),
		DSEVersion: get[string](row, "dse_version"), Workload: get[string](row, "workload"), Graph: get[bool](row, "graph"),
		Peer: addrColumn(row, "peer"), BroadcastAddress: addrColumn(row, "broadcast_address"),
		ListenAddress: addrColumn(row, "listen_address"), RPCAddress: addrColumn(row, "rpc_address"),
		PreferredIP: addrColumn(row, "preferred_ip"),
	}
	if p := get[int](row, "native_port"); p > 0 && p <= 0xFFFF {
		port = uint16(p)
	}
	native := addrColumn(row, "native_address")
	if !h.RPCAddress.IsValid() {
		h.RPCAddress = native
	}
	for _, a := range []netip.Addr{native, h.RPCAddress, h.Peer} { // the address for clients, else that for peers
		if a.IsValid() && !a.IsUnspecified() {
			h.Address = netip.AddrPortFrom(a, port)
			break
		}
	}
	for _, s := range get[[]string](row, "tokens") {
		if t, err := strconv.ParseInt(s, 10, 64); err == nil {
			h.Tokens = append(h.Tokens, t)
		}
	}
	return h
}

func addrColumn(row map[string]any, name string) netip.Addr {
	a, _ := netip.AddrFromSlice(get[net.IP](row, name))
	return a.Unmap()
}

// isWhole reports whether a row of peers describes a usable node. Columns are NULL while a row is being written, or
// after its node has left. A node without tokens stores no data but serves requests (ScyllaDB's zero-token nodes): such
// a row must otherwise be complete.
func isWhole(h *cql.Host) bool {
	if h.ID == (cql.UUID{}) || !h.Address.IsValid() || h.DataCenter == "" {
		return false
	}
	return len(h.Tokens) > 0 || h.Rack != "" && h.Version != "" && h.SchemaVersion != (cql.UUID{})
}

// hostsOf returns the nodes of system.local, read from the node at that address, and of peers. Nodes may have one
// address: a load balancer has it, or a node which another one replaces. Each connection verifies its node.
// translate maps an address of peers to the one for clients; an invalid result means unreachable. nil means no
// translation. A node that has moved may keep the row of its old address: instead reports whether the address of
// another row replaces the address of the first one. nil means that the first one stays.
func hostsOf(local map[string]any, peers []systemRow, at netip.AddrPort, translate translateFunc,
	instead func(first, other *cql.Host) bool,
) ([]*cql.Host, error) {
	self := parseHost(local, at.Port())
	self.Address = at // the only address known to work
	hosts := make([]*cql.Host, 0, 1+len(peers))
	hosts = append(hosts, self)
	places := map[cql.UUID]int{self.ID: 0}
	for _, row := range peers {
		h := parseHost(row, at.Port())
		place, again := places[h.ID]
		if !isWhole(h) || again && (place == 0 || instead == nil) {
			continue
		}
		if translate != nil {
			var err error
			if h.Address, err = translate(h.Address); err != nil {
				return nil, err
			}
		}
		if !h.Address.IsValid() {
			continue
		}
		h.ClusterName, h.Partitioner = self.ClusterName, self.Partitioner
		switch {
		case !again:
			places[h.ID] = len(hosts)
			hosts = append(hosts, h)
		case instead(hosts[place], h):
			hosts[place] = h
		}
	}
	return slices.Clip(hosts), nil
}

// samePlace reports whether two rows describe one node, at one address and one place in the ring.
func samePlace(a, b *cql.Host) bool {
	return a.ID == b.ID && a.Address == b.Address && a.DataCenter == b.DataCenter && a.Rack == b.Rack &&
		slices.Equal(a.Tokens, b.Tokens) && isWhole(a) == isWhole(b)
}

// sameHost reports whether all fields of two hosts are equal. Reflection takes ten times as long.
func sameHost(a, b *cql.Host) bool {
	return a == b || samePlace(a, b) && a.Version == b.Version && a.SchemaVersion == b.SchemaVersion &&
		a.ClusterName == b.ClusterName && a.Partitioner == b.Partitioner && a.RPCAddress == b.RPCAddress &&
		a.Peer == b.Peer && a.BroadcastAddress == b.BroadcastAddress && a.ListenAddress == b.ListenAddress &&
		a.PreferredIP == b.PreferredIP && a.DSEVersion == b.DSEVersion && a.Workload == b.Workload && a.Graph == b.Graph
}

// translateFunc is ClusterConfig.Nodes.AddressTranslator, whose panics are errors. An invalid result means that the
// node cannot be reached.
type translateFunc func(netip.AddrPort) (netip.AddrPort, error)

// translator returns t as a translateFunc, nil for nil.
func translator(t func(netip.AddrPort) netip.AddrPort) translateFunc {
	if t == nil {
		return nil
	}
	return func(a netip.AddrPort) (to netip.AddrPort, err error) {
		defer func() {
			if err != nil {
				err = errtext.Errorf("AddressTranslator: %v: %w", a, err)
			}
		}()
		defer background.Recover(&err)
		if to = t(a); !to.IsValid() || to.Port() == 0 {
			return netip.AddrPort{}, nil
		}
		return netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), nil
	}
}
