// SPDX-License-Identifier: Apache-2.0

package cql

import "net/netip"

// Nodes of a cluster.

// A Host describes a node of a cluster as of one reading of the system tables: of system.local for the node that the
// session read them from, of system.peers_v2, or else system.peers, for the other nodes. The comments name the columns.
// A field is zero if its column is NULL or missing.
//
// A session returns the same value to all callers, and a new one after the next reading. It never changes; a caller may
// keep it but must not modify it or its Tokens. Hosts with the same ID are the same node.
type Host struct {
	// ID is the host id (host_id), which does not change with the address of the node.
	ID UUID
	// Address is the address for clients, as AddressTranslator returns it for native_address and native_port, or else
	// rpc_address. The node that the tables were read from has the address of that connection.
	Address    netip.AddrPort
	DataCenter string  // data_center
	Rack       string  // rack
	Version    string  // release_version, e.g. "5.0.9"
	Tokens     []int64 // tokens, on the ring of Murmur3Partitioner; others are left out

	SchemaVersion UUID   // schema_version
	ClusterName   string // cluster_name of system.local
	Partitioner   string // partitioner of system.local: the name of a Java class

	RPCAddress       netip.Addr // rpc_address or native_address, before AddressTranslator
	Peer             netip.Addr // peer: the address among the nodes, not in system.local
	BroadcastAddress netip.Addr // broadcast_address: announced to other nodes, in system.local only
	ListenAddress    netip.Addr // listen_address: where the node listens for other nodes, in system.local only
	PreferredIP      netip.Addr // preferred_ip: for nodes of the same data center

	// DataStax Enterprise has these columns.
	DSEVersion string // dse_version
	Workload   string // workload
	Graph      bool   // graph: the node has the graph workload
}

// String returns the address and the data center.
func (h *Host) String() string { return h.Address.String() + " (" + h.DataCenter + ")" }
