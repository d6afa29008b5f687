// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Nodes. vecql has a new Host after each reading of the system tables; in the API a node has one HostInfo for the
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

// A HostRecord holds the properties of a node.
type HostRecord struct {
	ID, DC, RackName, Release, Class, Cluster, DSE, Load string
	Connect, PeerAddr, Broadcast, Listen, RPC, Preferred net.IP
	PortNumber                                           int
	HasGraph                                             bool
	TokenList                                            []string

	node *cql.Host            // of a session; nil for a node that the program made
	isUp func(*cql.Host) bool // of the session of node
}

// recordOf returns the properties of a node of a session.
func recordOf(node *cql.Host, isUp func(*cql.Host) bool) *HostRecord {
	r := &HostRecord{
		DC: node.DataCenter, RackName: node.Rack, Release: node.Version, Class: node.Partitioner,
		Cluster: node.ClusterName, DSE: node.DSEVersion, Load: node.Workload, HasGraph: node.Graph,
		Connect: ipOf(node.Address.Addr()), PortNumber: int(node.Address.Port()), PeerAddr: ipOf(node.Peer),
		Broadcast: ipOf(node.BroadcastAddress), Listen: ipOf(node.ListenAddress), RPC: ipOf(node.RPCAddress),
		Preferred: ipOf(node.PreferredIP), TokenList: make([]string, len(node.Tokens)), node: node, isUp: isUp,
	}
	if node.ID != (cql.UUID{}) {
		r.ID = node.ID.String()
	}
	for i, t := range node.Tokens {
		r.TokenList[i] = strconv.FormatInt(t, 10)
	}
	return r
}

func ipOf(a netip.Addr) net.IP { return net.IP(a.AsSlice()) }

// A Host is embedded in the HostInfo of a module, which has its methods. The zero Host is one that a program made.
type Host struct {
	mu   sync.RWMutex
	data *HostRecord // nil for a HostInfo that the program has not set
}

// NewHost returns a node that a program made.
func NewHost(data *HostRecord) Host { return Host{data: data} }

// SetHostData sets the properties of a node.
func SetHostData(h *Host, data *HostRecord) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.data = data
}

var emptyHost = &HostRecord{Connect: net.IPv4zero}

// DataOf returns the properties of a node.
func DataOf(h *Host) *HostRecord {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.data == nil {
		return emptyHost
	}
	return h.data
}

// NodeOf returns the node of a session, nil if the program made h.
func NodeOf(h *Host) *cql.Host { return DataOf(h).node }

// Port returns the port of the native protocol.
func (h *Host) Port() int { return DataOf(h).PortNumber }

// DataCenter returns the data center.
func (h *Host) DataCenter() string { return DataOf(h).DC }

// Rack returns the rack.
func (h *Host) Rack() string { return DataOf(h).RackName }

// Partitioner returns the class of the partitioner.
func (h *Host) Partitioner() string { return DataOf(h).Class }

// ClusterName returns the name of the cluster.
func (h *Host) ClusterName() string { return DataOf(h).Cluster }

// Peer returns the address among the nodes.
func (h *Host) Peer() net.IP { return DataOf(h).PeerAddr }

// BroadcastAddress returns the address that the node announces to other nodes.
func (h *Host) BroadcastAddress() net.IP { return DataOf(h).Broadcast }

// ListenAddress returns the address on which the node listens for other nodes.
func (h *Host) ListenAddress() net.IP { return DataOf(h).Listen }

// RPCAddress returns the address that the node announces to clients.
func (h *Host) RPCAddress() net.IP { return DataOf(h).RPC }

// PreferredIP returns the address for nodes of the same data center.
func (h *Host) PreferredIP() net.IP { return DataOf(h).Preferred }

// DSEVersion returns the version of DataStax Enterprise.
func (h *Host) DSEVersion() string { return DataOf(h).DSE }

// WorkLoad returns the workload of a node of DataStax Enterprise.
func (h *Host) WorkLoad() string { return DataOf(h).Load }

// Graph reports whether a node of DataStax Enterprise has the graph workload.
func (h *Host) Graph() bool { return DataOf(h).HasGraph }

// Tokens returns the tokens.
func (h *Host) Tokens() []string { return DataOf(h).TokenList }

// State returns NodeUp if a connection to the node takes requests. A HostInfo that the program made is up.
func (h *Host) State() NodeState {
	if d := DataOf(h); d.isUp != nil && !d.isUp(d.node) {
		return NodeDown
	}
	return NodeUp
}

// noID is the id of a node whose id is unknown.
var noID = cql.UUID{}.String()

// HostID returns the id of a node, "" if it is unknown.
func HostID(data *HostRecord) string {
	if data.ID != noID {
		return data.ID
	}
	return ""
}

// Hosts are the nodes of a session by host id, those that have left included: a node that returns is the same. H is the
// module's HostInfo.
type Hosts[H any] struct {
	host    func(*H) *Host // returns the embedded Host
	session atomic.Pointer[vecql.Session]
	mu      sync.Mutex
	byID    map[cql.UUID]*H
}

// NewHosts returns the nodes of a session. host returns the Host that is embedded in a HostInfo.
func NewHosts[H any](host func(*H) *Host) *Hosts[H] {
	return &Hosts[H]{host: host, byID: make(map[cql.UUID]*H)}
}

// Attach sets the session, which has connected. Until then all nodes are down.
func (hs *Hosts[H]) Attach(s *vecql.Session) { hs.session.Store(s) }

func (hs *Hosts[H]) isUp(node *cql.Host) bool {
	s := hs.session.Load()
	return s != nil && s.IsUp(node)
}

// Of returns the HostInfo of a node, nil for nil. A node without an id gets a new one.
func (hs *Hosts[H]) Of(node *cql.Host) *H {
	if node == nil {
		return nil
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h := hs.byID[node.ID]
	if h == nil {
		h = new(H)
		if node.ID != (cql.UUID{}) {
			hs.byID[node.ID] = h
		}
	}
	if at := hs.host(h); NodeOf(at) != node {
		SetHostData(at, recordOf(node, hs.isUp))
	}
	return h
}

// Node returns the node of a HostInfo, nil for nil and for one that a program made.
func (hs *Hosts[H]) Node(h *H) *cql.Host {
	if h == nil {
		return nil
	}
	return NodeOf(hs.host(h))
}

// All returns the HostInfos of nodes.
func (hs *Hosts[H]) All(nodes []*cql.Host) []*H {
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
	if P(&v).Set(DataOf(h).Release) != nil {
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
