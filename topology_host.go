// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
)

// HostInfo, and the rows of the system tables that describe nodes. A row may be half-written, stale, or NULL in parts.
// parseHost reads what is there, and whole drops unusable rows.

// A HostInfo describes a node as of the last reading of the system tables. Only IsUp changes. A field is zero
// if its column is NULL or missing.
type HostInfo struct {
	id                                      cql.UUID
	addr                                    netip.AddrPort // the address for clients
	peer, broadcast, listen, rpc, preferred netip.Addr
	dc, rack, version, clusterName          string
	partitioner, dseVersion, workload       string
	graph                                   bool
	schema                                  cql.UUID
	tokens                                  []int64
	pool                                    atomic.Pointer[pool] // nil until the node is part of a snapshot

	// Set by the session before the HostInfo becomes part of a snapshot.
	excluded bool // not accepted by HostFilter: counts only for replica placement
	tier     int  // HostSelectionPolicy.Tier
	remote   bool // not local by the policy
}

// HostID returns the node's id, which does not change with its address. Empty means unknown.
func (h *HostInfo) HostID() string {
	if h.id == (cql.UUID{}) {
		return ""
	}
	return h.id.String()
}

// ConnectAddress returns the address for clients.
func (h *HostInfo) ConnectAddress() net.IP { return ipOf(h.addr.Addr()) }

// ConnectAddressAndPort returns the address and port for clients.
func (h *HostInfo) ConnectAddressAndPort() string { return h.addr.String() }

// HostnameAndPort is ConnectAddressAndPort: the system tables contain no host names.
func (h *HostInfo) HostnameAndPort() string { return h.ConnectAddressAndPort() }

// Port returns the port of the native protocol.
func (h *HostInfo) Port() int { return int(h.addr.Port()) }

// DataCenter returns the node's data center.
func (h *HostInfo) DataCenter() string { return h.dc }

// Rack returns the node's rack.
func (h *HostInfo) Rack() string { return h.rack }

// Version returns the server's release version, e.g. "5.0.9".
func (h *HostInfo) Version() string { return h.version }

// Partitioner returns the class name of the cluster's partitioner.
func (h *HostInfo) Partitioner() string { return h.partitioner }

// ClusterName returns the cluster's name.
func (h *HostInfo) ClusterName() string { return h.clusterName }

// Peer returns the node's address among its peers, nil for the node that the tables were read from.
func (h *HostInfo) Peer() net.IP { return ipOf(h.peer) }

// BroadcastAddress returns the address that the node announces to its peers, nil for all but the node that the tables
// were read from.
func (h *HostInfo) BroadcastAddress() net.IP { return ipOf(h.broadcast) }

// ListenAddress returns the address on which the node listens for its peers, nil for all but the node that the tables
// were read from.
func (h *HostInfo) ListenAddress() net.IP { return ipOf(h.listen) }

// RPCAddress returns the address that the node announces to clients, before AddressTranslator.
func (h *HostInfo) RPCAddress() net.IP { return ipOf(h.rpc) }

// PreferredIP returns the address that peers in the same data center use, nil if the tables lack it.
func (h *HostInfo) PreferredIP() net.IP { return ipOf(h.preferred) }

// DSEVersion returns the version of DataStax Enterprise.
func (h *HostInfo) DSEVersion() string { return h.dseVersion }

// WorkLoad returns the workload of a node of DataStax Enterprise.
func (h *HostInfo) WorkLoad() string { return h.workload }

// Graph reports whether a node of DataStax Enterprise has the graph workload.
func (h *HostInfo) Graph() bool { return h.graph }

// Tokens returns the node's tokens on the Murmur3 ring, in decimal.
func (h *HostInfo) Tokens() []string {
	s := make([]string, len(h.tokens))
	for i, t := range h.tokens {
		s[i] = strconv.FormatInt(t, 10)
	}
	return s
}

// IsUp reports whether a connection to the node currently takes requests.
func (h *HostInfo) IsUp() bool {
	p := h.pool.Load()
	return p != nil && p.isUp()
}

// Equal reports whether both are the same node: by host id, or by address if an id is unknown.
func (h *HostInfo) Equal(other *HostInfo) bool {
	switch {
	case h == nil || other == nil:
		return h == other
	case h.id != (cql.UUID{}) && other.id != (cql.UUID{}):
		return h.id == other.id
	}
	return h.addr == other.addr
}

// String returns the address and the data center.
func (h *HostInfo) String() string { return h.addr.String() + " (" + h.dc + ")" }

func ipOf(a netip.Addr) net.IP { return net.IP(a.AsSlice()) }

// NewHostInfoFromAddrPort returns a HostInfo with only an address, for tests of a HostFilter or HostSelectionPolicy. It
// returns an error unless addr has 4 or 16 bytes and port is 0 to 65535.
func NewHostInfoFromAddrPort(addr net.IP, port int) (*HostInfo, error) {
	a, ok := netip.AddrFromSlice(addr)
	if !ok || port < 0 || port > 0xFFFF {
		return nil, errtext.Errorf("NewHostInfoFromAddrPort: invalid address %v, port %d", addr, port)
	}
	return &HostInfo{addr: netip.AddrPortFrom(a.Unmap(), uint16(port))}, nil
}

// NewTestHostInfoFromRow returns the HostInfo of a row of system.local or system.peers, by column name, for tests of a
// HostFilter or HostSelectionPolicy. Values have the types of Iter.MapScan.
func NewTestHostInfoFromRow(row map[string]any) (*HostInfo, error) {
	h := parseHost(row, 9042)
	if !h.addr.IsValid() {
		return nil, errors.New("vecql: NewTestHostInfoFromRow: the row has no address")
	}
	return h, nil
}

// parseHost reads a row of system.local, peers or peers_v2. It ignores columns that are NULL or of another type.
func parseHost(row map[string]any, port uint16) *HostInfo {
	h := &HostInfo{
		id: get[cql.UUID](row, "host_id"), dc: get[string](row, "data_center"), rack: get[string](row, "rack"),
		version: get[string](row, "release_version"), schema: get[cql.UUID](row, "schema_version"),
		clusterName: get[string](row, "cluster_name"), partitioner: get[string](row, "partitioner"),
		dseVersion: get[string](row, "dse_version"), workload: get[string](row, "workload"), graph: get[bool](row, "graph"),
		peer: addrColumn(row, "peer"), broadcast: addrColumn(row, "broadcast_address"),
		listen: addrColumn(row, "listen_address"), rpc: addrColumn(row, "rpc_address"),
		preferred: addrColumn(row, "preferred_ip"),
	}
	if p := get[int](row, "native_port"); p > 0 && p <= 0xFFFF {
		port = uint16(p)
	}
	native := addrColumn(row, "native_address")
	if !h.rpc.IsValid() {
		h.rpc = native
	}
	for _, a := range []netip.Addr{native, h.rpc, h.peer} { // the address for clients, else that for peers
		if a.IsValid() && !a.IsUnspecified() {
			h.addr = netip.AddrPortFrom(a, port)
			break
		}
	}
	for _, s := range get[[]string](row, "tokens") {
		if t, err := strconv.ParseInt(s, 10, 64); err == nil {
			h.tokens = append(h.tokens, t)
		}
	}
	return h
}

func addrColumn(row map[string]any, name string) netip.Addr {
	a, _ := netip.AddrFromSlice(get[net.IP](row, name))
	return a.Unmap()
}

// whole reports whether a row of peers describes a usable node. Columns are NULL while a row is being written, or after
// its node has left. A node without tokens stores no data but serves requests (ScyllaDB's zero-token nodes): such a row
// must otherwise be complete.
func (h *HostInfo) whole() bool {
	if h.id == (cql.UUID{}) || !h.addr.IsValid() || h.dc == "" {
		return false
	}
	return len(h.tokens) > 0 || h.rack != "" && h.version != "" && h.schema != (cql.UUID{})
}

// hostsOf returns the nodes of system.local, read from the node at that address, and of peers. Nodes may have one
// address: that of a load balancer, or that of a node which another one replaces. Each connection verifies its node.
// translate maps an address of peers to the one for clients; an invalid result means unreachable. nil means no
// translation. A node that has moved may keep the row of its old address: instead reports whether the address of
// another row replaces that of the first one. nil means that the first one stays.
func hostsOf(local map[string]any, peers []systemRow, at netip.AddrPort, translate translateFunc,
	instead func(first, other *HostInfo) bool,
) ([]*HostInfo, error) {
	self := parseHost(local, at.Port())
	self.addr = at // the only address known to work
	hosts := make([]*HostInfo, 0, 1+len(peers))
	hosts = append(hosts, self)
	places := map[cql.UUID]int{self.id: 0}
	for _, row := range peers {
		h := parseHost(row, at.Port())
		place, again := places[h.id]
		if !h.whole() || again && (place == 0 || instead == nil) {
			continue
		}
		if translate != nil {
			var err error
			if h.addr, err = translate(h.addr); err != nil {
				return nil, err
			}
		}
		if !h.addr.IsValid() {
			continue
		}
		h.clusterName, h.partitioner = self.clusterName, self.partitioner
		switch {
		case !again:
			places[h.id] = len(hosts)
			hosts = append(hosts, h)
		case instead(hosts[place], h):
			hosts[place] = h
		}
	}
	return slices.Clip(hosts), nil
}
