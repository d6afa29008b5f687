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
	Major, Minor, Patch int
}

// Set parses a release such as "4.1.3".
func (v *cassVersion) Set(text string) error {
	if text == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(text, "v"), ".")
	if len(parts) < 2 {
		return fmt.Errorf("gocql: %q is not a release", text)
	}
	numbers := [3]*int{&v.Major, &v.Minor, &v.Patch}
	for i, number := range numbers[:min(len(parts), 3)] {
		digits, _, _ := strings.Cut(parts[i], "-") // "4.0-beta1", "5.0.0-SNAPSHOT"
		n, err := strconv.Atoi(digits)
		if err != nil {
			return fmt.Errorf("gocql: %q is not a release", text)
		}
		*number = n
	}
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
func (v cassVersion) String() string { return fmt.Sprintf("v%d.%d.%d", v.Major, v.Minor, v.Patch) }

// A HostInfo describes a node.
type HostInfo struct {
	mu      sync.RWMutex
	node    *vecql.HostInfo // nil means that the program made the HostInfo
	address net.IP          // by SetConnectAddress
	id      string          // by SetHostID
}

// emptyNode is the node of a HostInfo that the program made. The address is never shown.
var emptyNode = func() *vecql.HostInfo {
	h, err := vecql.NewHostInfoFromAddrPort(net.IPv4zero, 0)
	if err != nil {
		panic(err) // the address is valid
	}
	return h
}()

func (h *HostInfo) get() *vecql.HostInfo {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.node == nil {
		return emptyNode
	}
	return h.node
}

func (h *HostInfo) set(node *vecql.HostInfo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.node = node
}

// known reports whether h describes a node of a session.
func (h *HostInfo) known() bool { return h.get() != emptyNode }

// HostID returns the id of the node.
func (h *HostInfo) HostID() string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.id != "" || h.node == nil {
		return h.id
	}
	if id := h.node.HostID(); id != (UUID{}).String() {
		return id
	}
	return ""
}

// SetHostID sets the id that HostID returns.
func (h *HostInfo) SetHostID(hostID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.id = hostID
}

// ConnectAddress returns the address for clients. It panics if there is none.
func (h *HostInfo) ConnectAddress() net.IP {
	addr := h.connectAddress()
	if addr == nil || addr.IsUnspecified() {
		panic(fmt.Sprintf("gocql: the host has no address: %v", h))
	}
	return addr
}

func (h *HostInfo) connectAddress() net.IP {
	h.mu.RLock()
	defer h.mu.RUnlock()
	switch {
	case h.address != nil:
		return h.address
	case h.node != nil:
		return h.node.ConnectAddress()
	}
	return net.IPv4zero
}

// SetConnectAddress sets the address that ConnectAddress returns. The session does not connect to it.
func (h *HostInfo) SetConnectAddress(address net.IP) *HostInfo {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.address = address
	return h
}

// ConnectAddressAndPort returns the address and the port for clients.
func (h *HostInfo) ConnectAddressAndPort() string {
	return net.JoinHostPort(h.connectAddress().String(), strconv.Itoa(h.Port()))
}

// HostnameAndPort returns the name or the address, and the port.
func (h *HostInfo) HostnameAndPort() string {
	if h.known() {
		return h.get().HostnameAndPort()
	}
	return h.ConnectAddressAndPort()
}

// Port returns the port of the native protocol.
func (h *HostInfo) Port() int { return h.get().Port() }

// DataCenter returns the data center.
func (h *HostInfo) DataCenter() string { return h.get().DataCenter() }

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
	if node := h.get(); node != emptyNode && !node.IsUp() {
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
	return h.connectAddress().Equal(host.connectAddress()) && h.Port() == host.Port()
}

// String returns the most important fields.
func (h *HostInfo) String() string {
	return fmt.Sprintf("[HostInfo connect_address=%q port=%d data_centre=%q rack=%q host_id=%q version=%q state=%s]",
		h.connectAddress(), h.Port(), h.DataCenter(), h.Rack(), h.HostID(), h.Version(), h.State())
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
	if id == (UUID{}).String() {
		return &HostInfo{node: node}
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h := hs.byID[id]
	switch {
	case h == nil:
		h = &HostInfo{node: node}
		if hs.byID == nil {
			hs.byID = make(map[string]*HostInfo)
		}
		hs.byID[id] = h
	case h.get() != node:
		h.set(node)
	}
	return h
}

// A HostFilter selects the nodes that a session uses.
type HostFilter interface {
	Accept(host *HostInfo) bool
}

// HostFilterFunc adapts a function to HostFilter.
type HostFilterFunc func(host *HostInfo) bool

// Accept implements HostFilter.
func (fn HostFilterFunc) Accept(host *HostInfo) bool { return fn(host) }

// AcceptAllFilter accepts every node.
func AcceptAllFilter() HostFilter { return HostFilterFunc(func(*HostInfo) bool { return true }) }

// DenyAllFilter accepts no node.
func DenyAllFilter() HostFilter { return HostFilterFunc(func(*HostInfo) bool { return false }) }

// DataCentreHostFilter accepts the nodes of a data center.
func DataCentreHostFilter(dataCentre string) HostFilter {
	return HostFilterFunc(func(h *HostInfo) bool { return h.DataCenter() == dataCentre })
}

// WhiteListHostFilter accepts the nodes at the given addresses or names, which may have a port that is ignored. It
// panics if a name cannot be resolved.
func WhiteListHostFilter(hosts ...string) HostFilter {
	accepted := make(map[string]bool)
	for _, host := range hosts {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ips, err := LookupIP(host)
		if err != nil {
			panic(fmt.Errorf("gocql: WhiteListHostFilter: %w", err))
		}
		for _, ip := range ips {
			accepted[ip.String()] = true
		}
	}
	return HostFilterFunc(func(h *HostInfo) bool { return accepted[h.ConnectAddress().String()] })
}

// hostFilter adapts a HostFilter to vecql.
type hostFilter struct {
	filter HostFilter
	hosts  *hosts
}

func (f hostFilter) Accept(node *vecql.HostInfo) bool { return f.filter.Accept(f.hosts.of(node)) }
