// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
)

// This file holds HostInfo, and the rows of the system tables that it is read from. A row may be half-written, left behind or NULL in
// parts: it then counts for nothing or for what it says.

// NodeState says whether a node can be reached.
type NodeState int

// The states of a node.
const (
	NodeUp   NodeState = iota // a connection for requests is open
	NodeDown                  // none is
)

// String returns "UP" or "DOWN".
func (s NodeState) String() string {
	if s == NodeUp {
		return "UP"
	}
	return "DOWN"
}

// HostInfo describes a node, as the system tables did when they were read last. Only IsUp and State change. Columns that are NULL, or that
// the server's tables lack, are zero.
type HostInfo struct {
	id                                      UUID
	addr                                    netip.AddrPort // where clients connect
	peer, broadcast, listen, rpc, preferred netip.Addr
	dc, rack, version, clusterName          string
	partitioner, dseVersion, workload       string
	graph                                   bool
	schema                                  UUID
	tokens                                  []int64
	pool                                    atomic.Pointer[pool] // nil until the node is part of a snapshot

	// What the session makes of it, before the snapshot that it is part of.
	barred bool // HostFilter does not accept it: it counts for the placement of replicas only
	tier   int  // HostSelectionPolicy.Tier
	far    bool // it is not local to the policy
}

// HostID returns the node's id, which stays the same when its address changes.
func (h *HostInfo) HostID() string { return h.id.String() }

// ConnectAddress returns the address that clients connect to.
func (h *HostInfo) ConnectAddress() net.IP { return ipOf(h.addr.Addr()) }

// ConnectAddressAndPort returns address and port that clients connect to.
func (h *HostInfo) ConnectAddressAndPort() string { return h.addr.String() }

// HostnameAndPort is ConnectAddressAndPort: the system tables know no names.
func (h *HostInfo) HostnameAndPort() string { return h.ConnectAddressAndPort() }

// Port returns the native protocol's port.
func (h *HostInfo) Port() int { return int(h.addr.Port()) }

// DataCenter returns the node's data centre.
func (h *HostInfo) DataCenter() string { return h.dc }

// Rack returns the node's rack.
func (h *HostInfo) Rack() string { return h.rack }

// Version returns the server's release version, e.g. "5.0.9".
func (h *HostInfo) Version() string { return h.version }

// Partitioner returns the class name of the cluster's partitioner.
func (h *HostInfo) Partitioner() string { return h.partitioner }

// ClusterName returns the cluster's name.
func (h *HostInfo) ClusterName() string { return h.clusterName }

// Peer returns the address by which the node is known to its peers, nil for the node that the tables were read from.
func (h *HostInfo) Peer() net.IP { return ipOf(h.peer) }

// BroadcastAddress returns the address that the node tells its peers to use, nil for all but the node that the tables were read from.
func (h *HostInfo) BroadcastAddress() net.IP { return ipOf(h.broadcast) }

// ListenAddress returns the address that the node listens on for its peers, nil for all but the node that the tables were read from.
func (h *HostInfo) ListenAddress() net.IP { return ipOf(h.listen) }

// RPCAddress returns the address that the node tells clients to use, before AddressTranslator has seen it.
func (h *HostInfo) RPCAddress() net.IP { return ipOf(h.rpc) }

// PreferredIP returns the address that its peers in the same data centre use, nil where it is not told.
func (h *HostInfo) PreferredIP() net.IP { return ipOf(h.preferred) }

// DSEVersion returns the version of DataStax Enterprise, WorkLoad and Graph what the node does there.
func (h *HostInfo) DSEVersion() string { return h.dseVersion }

// WorkLoad is explained at DSEVersion.
func (h *HostInfo) WorkLoad() string { return h.workload }

// Graph is explained at DSEVersion.
func (h *HostInfo) Graph() bool { return h.graph }

// Tokens returns the node's tokens on the Murmur3 ring, as text.
func (h *HostInfo) Tokens() []string {
	s := make([]string, len(h.tokens))
	for i, t := range h.tokens {
		s[i] = strconv.FormatInt(t, 10)
	}
	return s
}

// IsUp reports whether a connection for requests is open to the node now.
func (h *HostInfo) IsUp() bool {
	p := h.pool.Load()
	return p != nil && p.isUp()
}

// State is IsUp as a NodeState.
func (h *HostInfo) State() NodeState {
	if h.IsUp() {
		return NodeUp
	}
	return NodeDown
}

// Equal reports whether both are the same node: by host id, or by address where an id is not known.
func (h *HostInfo) Equal(other *HostInfo) bool {
	switch {
	case h == nil || other == nil:
		return h == other
	case h.id != (UUID{}) && other.id != (UUID{}):
		return h.id == other.id
	}
	return h.addr == other.addr
}

// String returns the address and the data centre.
func (h *HostInfo) String() string { return h.addr.String() + " (" + h.dc + ")" }

func ipOf(a netip.Addr) net.IP { return net.IP(a.AsSlice()) }

// NewHostInfoFromAddrPort returns a node of which only the address is known, for tests of a HostFilter or HostSelectionPolicy.
func NewHostInfoFromAddrPort(addr net.IP, port int) (*HostInfo, error) {
	a, ok := netip.AddrFromSlice(addr)
	if !ok || port < 0 || port > 0xFFFF {
		return nil, fmt.Errorf("vecql: %v, port %d is no address", addr, port)
	}
	return &HostInfo{addr: netip.AddrPortFrom(a.Unmap(), uint16(port))}, nil
}

// NewTestHostInfoFromRow returns the node that a row of system.local or system.peers describes, by column name, for tests of a HostFilter
// or HostSelectionPolicy. Values have the types that Iter.MapScan gives.
func NewTestHostInfoFromRow(row map[string]any) (*HostInfo, error) {
	h := parseHost(row, 9042)
	if !h.addr.IsValid() {
		return nil, errors.New("vecql: the row has no address")
	}
	return h, nil
}

// parseHost reads a row of system.local, peers or peers_v2. Columns that are NULL or of another type are left out.
func parseHost(row map[string]any, port uint16) *HostInfo {
	h := &HostInfo{
		id: get[UUID](row, "host_id"), dc: get[string](row, "data_center"), rack: get[string](row, "rack"),
		version: get[string](row, "release_version"), schema: get[UUID](row, "schema_version"),
		clusterName: get[string](row, "cluster_name"), partitioner: get[string](row, "partitioner"),
		dseVersion: get[string](row, "dse_version"), workload: get[string](row, "workload"), graph: get[bool](row, "graph"),
		peer: addrColumn(row, "peer"), broadcast: addrColumn(row, "broadcast_address"), listen: addrColumn(row, "listen_address"),
		rpc: addrColumn(row, "rpc_address"), preferred: addrColumn(row, "preferred_ip"),
	}
	if p := get[int](row, "native_port"); p > 0 && p <= 0xFFFF {
		port = uint16(p)
	}
	native := addrColumn(row, "native_address")
	if !h.rpc.IsValid() {
		h.rpc = native
	}
	for _, a := range []netip.Addr{native, h.rpc, h.peer} { // the address for clients, else that of the node
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

// whole reports whether a row of peers describes a node that can be used. While it is being written, or after its node has gone, columns
// are NULL. A node without tokens holds no data but serves requests (ScyllaDB's zero-token nodes): such a row must be complete otherwise.
func (h *HostInfo) whole() bool {
	if h.id == (UUID{}) || !h.addr.IsValid() || h.dc == "" {
		return false
	}
	return len(h.tokens) > 0 || h.rack != "" && h.version != "" && h.schema != (UUID{})
}

// hostsOf returns the nodes that the rows of system.local, read from the node at that address, and of peers describe. translate, which may
// be nil, gives the address at which the client reaches an address of peers; it returns an invalid one where the client reaches none.
func hostsOf(local map[string]any, peers []systemRow, at netip.AddrPort, translate translateFunc) ([]*HostInfo, error) {
	self := parseHost(local, at.Port())
	self.addr = at // what we reached it by is the one address known to work
	hosts := make([]*HostInfo, 0, 1+len(peers))
	hosts = append(hosts, self)
	ids, addrs := map[UUID]bool{self.id: true}, map[netip.AddrPort]bool{at: true}
	for _, row := range peers {
		h := parseHost(row, at.Port())
		if !h.whole() || ids[h.id] {
			continue
		}
		if translate != nil {
			var err error
			if h.addr, err = translate(h.addr); err != nil {
				return nil, err
			}
		}
		if !h.addr.IsValid() || addrs[h.addr] {
			continue
		}
		h.clusterName, h.partitioner = self.clusterName, self.partitioner
		ids[h.id], addrs[h.addr] = true, true
		hosts = append(hosts, h)
	}
	return slices.Clip(hosts), nil
}
