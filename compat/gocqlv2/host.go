// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/vecql/vecql"
)

// HostInfo: a node. A session has one HostInfo for each host id, so that programs may compare and keep the pointers.

type nodeState int32

// States of a node.
const (
	NodeUp nodeState = iota
	NodeDown
)

func (n nodeState) String() string {
	switch n {
	case NodeUp:
		return "UP"
	case NodeDown:
		return "DOWN"
	}
	return fmt.Sprintf("UNKNOWN_%d", n)
}

// A HostInfo describes a node.
type HostInfo struct {
	_  uncomparable
	at atomic.Pointer[hostRow]
}

// hostRow is the state of a HostInfo. It is replaced when the system tables have been read again.
type hostRow struct {
	node                                         *vecql.HostInfo // nil for a HostInfo that no session made
	hostname                                     string
	connect, peer, broadcast, listen, rpc, inner net.IP
	port                                         int
	dc, rack, id, workload, dse                  string
	graph                                        bool
	partitioner, cluster, version                string
	tokens                                       []string
}

// hostOf returns a HostInfo of a node of vecql.
func hostOf(n *vecql.HostInfo) *HostInfo {
	if n == nil {
		return nil
	}
	h := &HostInfo{}
	h.at.Store(rowOf(n))
	return h
}

func rowOf(n *vecql.HostInfo) *hostRow {
	r := &hostRow{
		node: n, connect: n.ConnectAddress(), peer: n.Peer(), broadcast: n.BroadcastAddress(), listen: n.ListenAddress(),
		rpc: n.RPCAddress(), inner: n.PreferredIP(), port: n.Port(), dc: n.DataCenter(), rack: n.Rack(), id: n.HostID(),
		workload: n.WorkLoad(), dse: n.DSEVersion(), graph: n.Graph(), partitioner: n.Partitioner(),
		cluster: n.ClusterName(), version: n.Version(), tokens: n.Tokens(),
	}
	r.hostname = r.connect.String()
	if r.id == (UUID{}).String() {
		r.id = ""
	}
	return r
}

// NewHostInfoFromAddrPort returns a HostInfo that has an address only.
func NewHostInfoFromAddrPort(addr net.IP, port int) (*HostInfo, error) {
	if !isReachable(addr) {
		return nil, errors.New("gocql: NewHostInfoFromAddrPort: the address is invalid")
	}
	h := &HostInfo{}
	h.at.Store(&hostRow{hostname: addr.String(), connect: addr, port: port})
	return h, nil
}

func isReachable(addr net.IP) bool { return addr != nil && !addr.IsUnspecified() }

func (h *HostInfo) row() *hostRow {
	if r := h.at.Load(); r != nil {
		return r
	}
	return &hostRow{}
}

// Equal reports whether both have one address.
func (h *HostInfo) Equal(host *HostInfo) bool {
	return h == host || h.ConnectAddress().Equal(host.ConnectAddress())
}

// Peer returns the node's address among its peers.
func (h *HostInfo) Peer() net.IP { return h.row().peer }

// ConnectAddress returns the address for clients.
func (h *HostInfo) ConnectAddress() net.IP {
	r := h.row()
	for _, a := range []net.IP{r.connect, r.rpc, r.inner, r.broadcast} {
		if isReachable(a) {
			return a
		}
	}
	return r.peer
}

// BroadcastAddress returns the address that the node broadcasts to its peers.
func (h *HostInfo) BroadcastAddress() net.IP { return h.row().broadcast }

// ListenAddress returns the address on which the node listens for its peers.
func (h *HostInfo) ListenAddress() net.IP { return h.row().listen }

// RPCAddress returns the address that the node announces to clients.
func (h *HostInfo) RPCAddress() net.IP { return h.row().rpc }

// PreferredIP returns the address that peers in the same data center use.
func (h *HostInfo) PreferredIP() net.IP { return h.row().inner }

// DataCenter returns the node's data center.
func (h *HostInfo) DataCenter() string { return h.row().dc }

// Rack returns the node's rack.
func (h *HostInfo) Rack() string { return h.row().rack }

// HostID returns the node's id.
func (h *HostInfo) HostID() string { return h.row().id }

// WorkLoad returns the workload of a node of DataStax Enterprise.
func (h *HostInfo) WorkLoad() string { return h.row().workload }

// Graph reports whether a node of DataStax Enterprise has the graph workload.
func (h *HostInfo) Graph() bool { return h.row().graph }

// DSEVersion returns the version of DataStax Enterprise.
func (h *HostInfo) DSEVersion() string { return h.row().dse }

// Partitioner returns the class name of the cluster's partitioner.
func (h *HostInfo) Partitioner() string { return h.row().partitioner }

// ClusterName returns the cluster's name.
func (h *HostInfo) ClusterName() string { return h.row().cluster }

// Version returns the server's release version; the zero version if it cannot be parsed.
func (h *HostInfo) Version() cassVersion {
	var v cassVersion
	_ = v.Set(h.row().version)
	return v
}

// State returns NodeUp if IsUp, else NodeDown.
func (h *HostInfo) State() nodeState {
	if r := h.row(); r.node == nil || r.node.IsUp() {
		return NodeUp
	}
	return NodeDown
}

// Tokens returns the node's tokens.
func (h *HostInfo) Tokens() []string { return h.row().tokens }

// Port returns the port of the native protocol.
func (h *HostInfo) Port() int { return h.row().port }

// IsUp reports whether a connection to the node takes requests. A HostInfo that no session made is up.
func (h *HostInfo) IsUp() bool { return h != nil && h.State() == NodeUp }

// HostnameAndPort returns the host and the port for clients.
func (h *HostInfo) HostnameAndPort() string {
	r := h.row()
	if r.hostname == "" {
		return h.ConnectAddressAndPort()
	}
	return net.JoinHostPort(r.hostname, strconv.Itoa(r.port))
}

// ConnectAddressAndPort returns the address and the port for clients.
func (h *HostInfo) ConnectAddressAndPort() string {
	return net.JoinHostPort(h.ConnectAddress().String(), strconv.Itoa(h.Port()))
}

func (h *HostInfo) String() string {
	r := h.row()
	return fmt.Sprintf("[HostInfo hostname=%q connectAddress=%q peer=%q rpc_address=%q broadcast_address=%q "+
		"preferred_ip=%q port=%d data_center=%q rack=%q host_id=%q version=%q state=%s num_tokens=%d]",
		r.hostname, h.ConnectAddress(), r.peer, r.rpc, r.broadcast, r.inner, r.port, r.dc, r.rack, r.id, h.Version(),
		h.State(), len(r.tokens))
}

// cassVersion is a release version such as 4.0.11-SNAPSHOT.
type cassVersion struct {
	Major, Minor, Patch int
	Qualifier           string
}

// Set parses a release version. The empty text leaves c unchanged.
func (c *cassVersion) Set(v string) error {
	if v == "" {
		return nil
	}
	return c.UnmarshalCQL(nil, []byte(v))
}

// UnmarshalCQL implements Unmarshaler.
func (c *cassVersion) UnmarshalCQL(_ TypeInfo, data []byte) error {
	text := strings.TrimPrefix(strings.TrimSuffix(string(data), "-SNAPSHOT"), "v")
	parts := strings.SplitN(text, ".", 4)
	if len(parts) < 2 {
		return fmt.Errorf("gocql: %q is not a release version", data)
	}
	numbers := []*int{&c.Major, &c.Minor, &c.Patch}
	for i, part := range parts[:min(len(parts), len(numbers))] {
		digits, qualifier, cut := strings.Cut(part, "-")
		n, err := strconv.Atoi(digits)
		if err != nil || cut && i == 0 {
			return fmt.Errorf("gocql: %q is not a release version: part %q", data, part)
		}
		*numbers[i] = n
		if cut {
			c.Qualifier = qualifier
			return nil
		}
	}
	return nil
}

// Before reports whether c is older than the version.
func (c cassVersion) Before(major, minor, patch int) bool {
	switch {
	case c.Major != major:
		return c.Major < major
	case c.Minor != minor:
		return c.Minor < minor
	}
	return c.Patch < patch
}

// AtLeast reports whether c is the version or a newer one.
func (c cassVersion) AtLeast(major, minor, patch int) bool { return !c.Before(major, minor, patch) }

func (c cassVersion) String() string {
	if c.Qualifier != "" {
		return fmt.Sprintf("%d.%d.%d-%s", c.Major, c.Minor, c.Patch, c.Qualifier)
	}
	return fmt.Sprintf("v%d.%d.%d", c.Major, c.Minor, c.Patch)
}
