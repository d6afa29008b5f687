// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/vecql/vecql"
)

// Nodes. vecql has a new HostInfo after each reading of the system tables; here a node has one HostInfo for the life of
// a session, because programs compare the pointers.

// nodeState is the state of a node.
type nodeState int32

// The states of a node.
const (
	NodeUp nodeState = iota
	NodeDown
)

// String returns "UP" or "DOWN".
func (s nodeState) String() string {
	switch s {
	case NodeUp:
		return "UP"
	case NodeDown:
		return "DOWN"
	}
	return fmt.Sprintf("UNKNOWN_%d", int32(s))
}

// cassVersion is the release of a server.
type cassVersion struct {
	Qualifier string // "rc1" of "5.0-rc1"
	Major     int
	Minor     int
	Patch     int
}

// Set parses a release such as "4.1.3" or "5.0-rc1".
func (v *cassVersion) Set(text string) error {
	if text == "" {
		return nil
	}
	release, qualifier, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(text, "v"), "-SNAPSHOT"), "-")
	parts := strings.SplitN(release, ".", 3)
	if len(parts) < 2 {
		return fmt.Errorf("gocql: %q is not a release", text)
	}
	numbers := [3]int{}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return fmt.Errorf("gocql: %q is not a release", text)
		}
		numbers[i] = n
	}
	v.Major, v.Minor, v.Patch, v.Qualifier = numbers[0], numbers[1], numbers[2], qualifier
	return nil
}

// UnmarshalCQL implements Unmarshaler.
func (v *cassVersion) UnmarshalCQL(info TypeInfo, data []byte) error { return v.Set(string(data)) }

// Before reports whether v is older than the release.
func (v cassVersion) Before(major, minor, patch int) bool {
	switch {
	case v.Major != major:
		return v.Major < major
	case v.Minor != minor:
		return v.Minor < minor
	}
	return v.Patch < patch
}

// AtLeast reports whether v is the release or newer.
func (v cassVersion) AtLeast(major, minor, patch int) bool { return !v.Before(major, minor, patch) }

// String returns the release: "v4.1.3".
func (v cassVersion) String() string {
	release := fmt.Sprintf("v%d.%d.%d", v.Major, v.Minor, v.Patch)
	if v.Qualifier != "" {
		release += "-" + v.Qualifier
	}
	return release
}

// A HostInfo describes a node.
type HostInfo struct {
	mu   sync.RWMutex
	node hostData        // nil means an empty HostInfo of the program
	of   *vecql.HostInfo // what node is; nil means that the program made the HostInfo
	dc   string          // by SetDatacenter

	_ []string // not comparable, as in gocql
}

// hostData are the properties of a node: those of vecql, or of a HostInfoBuilder.
type hostData interface {
	HostID() string
	ConnectAddress() net.IP
	ConnectAddressAndPort() string
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

func (h *HostInfo) get() hostData {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.node == nil {
		return builtHost{}
	}
	return h.node
}

// vecql returns the node of a session, nil if the program made h.
func (h *HostInfo) vecql() *vecql.HostInfo {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.of
}

func (h *HostInfo) set(node *vecql.HostInfo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.node, h.of = node, node
}

// HostID returns the id of the node.
func (h *HostInfo) HostID() string { return h.get().HostID() }

// ConnectAddress returns the address for clients. It panics if there is none.
func (h *HostInfo) ConnectAddress() net.IP {
	addr := h.get().ConnectAddress()
	if len(addr) == 0 || addr.IsUnspecified() {
		panic(fmt.Sprintf("gocql: the host has no address: %v", h))
	}
	return addr
}

// UntranslatedConnectAddress returns the address for clients that the node announces.
func (h *HostInfo) UntranslatedConnectAddress() net.IP { return h.get().ConnectAddress() }

// ConnectAddressAndPort returns the address and the port for clients.
func (h *HostInfo) ConnectAddressAndPort() string { return h.get().ConnectAddressAndPort() }

// Port returns the port of the native protocol.
func (h *HostInfo) Port() int { return h.get().Port() }

// DataCenter returns the data center.
func (h *HostInfo) DataCenter() string {
	h.mu.RLock()
	dc := h.dc
	h.mu.RUnlock()
	if dc != "" {
		return dc
	}
	return h.get().DataCenter()
}

// SetDatacenter sets what DataCenter returns.
func (h *HostInfo) SetDatacenter(dc string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dc = dc
}

// Rack returns the rack.
func (h *HostInfo) Rack() string { return h.get().Rack() }

// Version returns the release of the server.
func (h *HostInfo) Version() cassVersion {
	var v cassVersion
	if err := v.Set(h.get().Version()); err != nil {
		return cassVersion{}
	}
	return v
}

// Partitioner returns the class of the partitioner.
func (h *HostInfo) Partitioner() string { return h.get().Partitioner() }

// ClusterName returns the name of the cluster.
func (h *HostInfo) ClusterName() string { return h.get().ClusterName() }

// Peer returns the address among the nodes.
func (h *HostInfo) Peer() net.IP { return h.get().Peer() }

// BroadcastAddress returns the address that the node announces to other nodes.
func (h *HostInfo) BroadcastAddress() net.IP { return h.get().BroadcastAddress() }

// ListenAddress returns the address on which the node listens for other nodes.
func (h *HostInfo) ListenAddress() net.IP { return h.get().ListenAddress() }

// RPCAddress returns the address that the node announces to clients.
func (h *HostInfo) RPCAddress() net.IP { return h.get().RPCAddress() }

// PreferredIP returns the address for nodes of the same data center.
func (h *HostInfo) PreferredIP() net.IP { return h.get().PreferredIP() }

// DSEVersion returns the version of DataStax Enterprise.
func (h *HostInfo) DSEVersion() string { return h.get().DSEVersion() }

// WorkLoad returns the workload of a node of DataStax Enterprise.
func (h *HostInfo) WorkLoad() string { return h.get().WorkLoad() }

// Graph reports whether a node of DataStax Enterprise has the graph workload.
func (h *HostInfo) Graph() bool { return h.get().Graph() }

// Tokens returns the tokens.
func (h *HostInfo) Tokens() []string { return h.get().Tokens() }

// State returns NodeUp if a connection to the node takes requests. A HostInfo that the program made is up.
func (h *HostInfo) State() nodeState {
	if !h.get().IsUp() {
		return NodeDown
	}
	return NodeUp
}

// IsUp reports whether State is NodeUp.
func (h *HostInfo) IsUp() bool { return h != nil && h.State() == NodeUp }

// Equal reports whether both are the same node: by host id, or by address if an id is unknown.
func (h *HostInfo) Equal(host *HostInfo) bool {
	if h == host || h == nil || host == nil {
		return h == host
	}
	if a, b := h.HostID(), host.HostID(); a != "" && b != "" {
		return a == b
	}
	return h.UntranslatedConnectAddress().Equal(host.UntranslatedConnectAddress()) && h.Port() == host.Port()
}

// String returns the most important fields.
func (h *HostInfo) String() string {
	return fmt.Sprintf("[HostInfo connect_address=%q port=%d data_center=%q rack=%q host_id=%q version=%q state=%s]",
		h.UntranslatedConnectAddress(), h.Port(), h.DataCenter(), h.Rack(), h.HostID(), h.Version(), h.State())
}

// hosts are the nodes of a session by host id, those that have left included: a node that returns is the same.
type hosts struct {
	mu   sync.Mutex
	byID map[string]*HostInfo
}

// of returns the HostInfo of a node. A node without an id gets a new one.
func (hs *hosts) of(node *vecql.HostInfo) *HostInfo {
	if node == nil {
		return nil
	}
	id := node.HostID()
	if id == "" {
		return &HostInfo{node: node, of: node}
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h := hs.byID[id]
	switch {
	case h == nil:
		h = &HostInfo{node: node, of: node}
		if hs.byID == nil {
			hs.byID = make(map[string]*HostInfo)
		}
		hs.byID[id] = h
	case h.vecql() != node:
		h.set(node)
	}
	return h
}
