// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"net"
	"sync"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Nodes. vecql has a new HostInfo after each reading of the system tables; in the API a node has one HostInfo for the
// life of a session, because programs compare the pointers.

// NodeState is the state of a node.
type NodeState int32

// The states of a node.
const (
	NodeUp NodeState = iota
	NodeDown
)

// String returns "UP" or "DOWN".
func (s NodeState) String() string {
	switch s {
	case NodeUp:
		return "UP"
	case NodeDown:
		return "DOWN"
	}
	return fmt.Sprintf("UNKNOWN_%d", int32(s))
}

// HostData are the properties of a node: a *vecql.HostInfo, or what a program has set.
type HostData interface {
	HostID() string
	ConnectAddress() net.IP
	Port() int
	DataCenter() string
	Rack() string
	Version() string
	Partitioner() string
	ClusterName() string
	Peer() net.IP
	BroadcastAddress() net.IP
	ListenAddress() net.IP
	RPCAddress() net.IP
	PreferredIP() net.IP
	DSEVersion() string
	WorkLoad() string
	Graph() bool
	Tokens() []string
	IsUp() bool
}

// A Host is embedded in the HostInfo of a module, which has its methods. The zero Host is one that a program made.
type Host struct {
	mu   sync.RWMutex
	data HostData // nil for a HostInfo that the program has not set
}

// NewHost returns a node that a program made.
func NewHost(data HostData) Host { return Host{data: data} }

// SetHostData sets the properties of a node.
func SetHostData(h *Host, data HostData) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.data = data
}

// DataOf returns the properties of a node.
func DataOf(h *Host) HostData {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.data == nil {
		return emptyHost
	}
	return h.data
}

// NodeOf returns the node of a session, nil if the program made h.
func NodeOf(h *Host) *vecql.HostInfo {
	node, _ := DataOf(h).(*vecql.HostInfo)
	return node
}

// Port returns the port of the native protocol.
func (h *Host) Port() int { return DataOf(h).Port() }

// DataCenter returns the data center.
func (h *Host) DataCenter() string { return DataOf(h).DataCenter() }

// Rack returns the rack.
func (h *Host) Rack() string { return DataOf(h).Rack() }

// Partitioner returns the class of the partitioner.
func (h *Host) Partitioner() string { return DataOf(h).Partitioner() }

// ClusterName returns the name of the cluster.
func (h *Host) ClusterName() string { return DataOf(h).ClusterName() }

// Peer returns the address among the nodes.
func (h *Host) Peer() net.IP { return DataOf(h).Peer() }

// BroadcastAddress returns the address that the node announces to other nodes.
func (h *Host) BroadcastAddress() net.IP { return DataOf(h).BroadcastAddress() }

// ListenAddress returns the address on which the node listens for other nodes.
func (h *Host) ListenAddress() net.IP { return DataOf(h).ListenAddress() }

// RPCAddress returns the address that the node announces to clients.
func (h *Host) RPCAddress() net.IP { return DataOf(h).RPCAddress() }

// PreferredIP returns the address for nodes of the same data center.
func (h *Host) PreferredIP() net.IP { return DataOf(h).PreferredIP() }

// DSEVersion returns the version of DataStax Enterprise.
func (h *Host) DSEVersion() string { return DataOf(h).DSEVersion() }

// WorkLoad returns the workload of a node of DataStax Enterprise.
func (h *Host) WorkLoad() string { return DataOf(h).WorkLoad() }

// Graph reports whether a node of DataStax Enterprise has the graph workload.
func (h *Host) Graph() bool { return DataOf(h).Graph() }

// Tokens returns the tokens.
func (h *Host) Tokens() []string { return DataOf(h).Tokens() }

// State returns NodeUp if a connection to the node takes requests. A HostInfo that the program made is up.
func (h *Host) State() NodeState {
	if DataOf(h).IsUp() {
		return NodeUp
	}
	return NodeDown
}

// A HostRecord holds the properties of a node that no session has. It is up.
type HostRecord struct {
	ID, DC, RackName, Release, Class, Cluster, DSE, Load string
	Connect, PeerAddr, Broadcast, Listen, RPC, Preferred net.IP
	PortNumber                                           int
	HasGraph                                             bool
	TokenList                                            []string
}

var emptyHost HostData = &HostRecord{Connect: net.IPv4zero}

// HostID returns the host id.
func (r *HostRecord) HostID() string { return r.ID }

// ConnectAddress returns the address for clients.
func (r *HostRecord) ConnectAddress() net.IP { return r.Connect }

// Port returns the port of the native protocol.
func (r *HostRecord) Port() int { return r.PortNumber }

// DataCenter returns the data center.
func (r *HostRecord) DataCenter() string { return r.DC }

// Rack returns the rack.
func (r *HostRecord) Rack() string { return r.RackName }

// Version returns the server's release.
func (r *HostRecord) Version() string { return r.Release }

// Partitioner returns the class of the partitioner.
func (r *HostRecord) Partitioner() string { return r.Class }

// ClusterName returns the name of the cluster.
func (r *HostRecord) ClusterName() string { return r.Cluster }

// Peer returns the address among the nodes.
func (r *HostRecord) Peer() net.IP { return r.PeerAddr }

// BroadcastAddress returns the address that the node announces to other nodes.
func (r *HostRecord) BroadcastAddress() net.IP { return r.Broadcast }

// ListenAddress returns the address on which the node listens for other nodes.
func (r *HostRecord) ListenAddress() net.IP { return r.Listen }

// RPCAddress returns the address that the node announces to clients.
func (r *HostRecord) RPCAddress() net.IP { return r.RPC }

// PreferredIP returns the address for nodes of the same data center.
func (r *HostRecord) PreferredIP() net.IP { return r.Preferred }

// DSEVersion returns the version of DataStax Enterprise.
func (r *HostRecord) DSEVersion() string { return r.DSE }

// WorkLoad returns the workload of a node of DataStax Enterprise.
func (r *HostRecord) WorkLoad() string { return r.Load }

// Graph reports whether a node of DataStax Enterprise has the graph workload.
func (r *HostRecord) Graph() bool { return r.HasGraph }

// Tokens returns the tokens.
func (r *HostRecord) Tokens() []string { return r.TokenList }

// IsUp returns true: no connection reports another state.
func (r *HostRecord) IsUp() bool { return true }

// noID is the id of a node whose id is unknown.
var noID = cql.UUID{}.String()

// HostID returns the id of a node, "" if it is unknown.
func HostID(data HostData) string {
	if id := data.HostID(); id != noID {
		return id
	}
	return ""
}

// Hosts are the nodes of a session by host id, those that have left included: a node that returns is the same. H is the
// module's HostInfo.
type Hosts[H any] struct {
	host func(*H) *Host // returns the embedded Host
	mu   sync.Mutex
	byID map[string]*H
}

// NewHosts returns the nodes of a session. host returns the Host that is embedded in a HostInfo.
func NewHosts[H any](host func(*H) *Host) *Hosts[H] {
	return &Hosts[H]{host: host, byID: make(map[string]*H)}
}

// Of returns the HostInfo of a node, nil for nil. A node without an id gets a new one.
func (hs *Hosts[H]) Of(node *vecql.HostInfo) *H {
	if node == nil {
		return nil
	}
	id := HostID(node)
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h := hs.byID[id]
	if h == nil {
		h = new(H)
		if id != "" {
			hs.byID[id] = h
		}
	}
	if at := hs.host(h); NodeOf(at) != node {
		SetHostData(at, node)
	}
	return h
}

// Node returns the node of a HostInfo, nil for nil and for one that a program made.
func (hs *Hosts[H]) Node(h *H) *vecql.HostInfo {
	if h == nil {
		return nil
	}
	return NodeOf(hs.host(h))
}

// All returns the HostInfos of nodes.
func (hs *Hosts[H]) All(nodes []*vecql.HostInfo) []*H {
	hosts := make([]*H, len(nodes))
	for i, node := range nodes {
		hosts[i] = hs.Of(node)
	}
	return hosts
}

// Before reports whether the first release is older than the second one.
func Before(major, minor, patch, otherMajor, otherMinor, otherPatch int) bool {
	switch {
	case major != otherMajor:
		return major < otherMajor
	case minor != otherMinor:
		return minor < otherMinor
	}
	return patch < otherPatch
}

// ReleaseOf returns the release of a node in a module's type V, the zero value if the text is none.
func ReleaseOf[V any, P interface {
	*V
	Set(text string) error
}](h *Host) V {
	var v, none V
	if P(&v).Set(DataOf(h).Version()) != nil {
		return none
	}
	return v
}

// SameNode reports whether a and b, which may be nil, are the same node: by host id, or by address if an id is unknown.
func SameNode[H any, P interface {
	*H
	HostID() string
	Port() int
}](a, b P, address func(P) net.IP) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	if x, y := a.HostID(), b.HostID(); x != "" && y != "" {
		return x == y
	}
	return address(a).Equal(address(b)) && a.Port() == b.Port()
}
