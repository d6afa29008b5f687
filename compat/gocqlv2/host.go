// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	api "github.com/vecql/vecql/compat/api"
)

// HostInfo: a node. A session has one HostInfo for each host id, so that programs may compare and keep the pointers.

// A HostInfo describes a node.
type HostInfo struct {
	host

	_ uncomparable
}

// NewHostInfoFromAddrPort returns a HostInfo that has an address only.
func NewHostInfoFromAddrPort(addr net.IP, port int) (*HostInfo, error) {
	if !isReachable(addr) {
		return nil, errors.New("gocql: NewHostInfoFromAddrPort: the address is invalid")
	}
	return &HostInfo{host: api.NewHost(&api.HostRecord{Connect: addr, PortNumber: port})}, nil
}

func isReachable(addr net.IP) bool { return addr != nil && !addr.IsUnspecified() }

// Equal reports whether both have one address.
func (h *HostInfo) Equal(host *HostInfo) bool {
	return h == host || h.ConnectAddress().Equal(host.ConnectAddress())
}

// ConnectAddress returns the address for clients.
func (h *HostInfo) ConnectAddress() net.IP { return connectAddress(api.DataOf(&h.host)) }

func connectAddress(d *api.HostRecord) net.IP {
	for _, a := range []net.IP{d.Connect, d.RPC, d.Preferred, d.Broadcast} {
		if isReachable(a) {
			return a
		}
	}
	return d.PeerAddr
}

// HostID returns the node's id.
func (h *HostInfo) HostID() string { return api.HostID(api.DataOf(&h.host)) }

// Version returns the server's release version; the zero version if it cannot be parsed.
func (h *HostInfo) Version() cassVersion {
	var v cassVersion
	_ = v.Set(api.DataOf(&h.host).Release)
	return v
}

// HostnameAndPort returns the host and the port for clients.
func (h *HostInfo) HostnameAndPort() string { return h.ConnectAddressAndPort() }

// ConnectAddressAndPort returns the address and the port for clients.
func (h *HostInfo) ConnectAddressAndPort() string {
	return net.JoinHostPort(h.ConnectAddress().String(), strconv.Itoa(h.Port()))
}

func (h *HostInfo) String() string {
	return fmt.Sprintf("[HostInfo hostname=%q connectAddress=%q peer=%q rpc_address=%q broadcast_address=%q "+
		"preferred_ip=%q port=%d data_center=%q rack=%q host_id=%q version=%q state=%s num_tokens=%d]",
		h.ConnectAddress(), h.ConnectAddress(), h.Peer(), h.RPCAddress(), h.BroadcastAddress(), h.PreferredIP(), h.Port(),
		h.DataCenter(), h.Rack(), h.HostID(), h.Version(), h.State(), len(h.Tokens()))
}

// cassVersion is a release version such as 4.0.11-SNAPSHOT.
type cassVersion struct {
	Major, Minor, Patch int
	Qualifier           string
}

// Set parses a release version. The empty text leaves v unchanged.
func (v *cassVersion) Set(text string) error {
	if text == "" {
		return nil
	}
	return v.UnmarshalCQL(nil, []byte(text))
}

// UnmarshalCQL implements Unmarshaler.
func (v *cassVersion) UnmarshalCQL(_ TypeInfo, data []byte) error {
	text := strings.TrimPrefix(strings.TrimSuffix(string(data), "-SNAPSHOT"), "v")
	parts := strings.SplitN(text, ".", 4)
	if len(parts) < 2 {
		return fmt.Errorf("gocql: %q is not a release version", data)
	}
	numbers := []*int{&v.Major, &v.Minor, &v.Patch}
	for i, part := range parts[:min(len(parts), len(numbers))] {
		digits, qualifier, cut := strings.Cut(part, "-")
		n, err := strconv.Atoi(digits)
		if err != nil || cut && i == 0 {
			return fmt.Errorf("gocql: %q is not a release version: part %q", data, part)
		}
		*numbers[i] = n
		if cut {
			v.Qualifier = qualifier
			return nil
		}
	}
	return nil
}

func (v cassVersion) String() string {
	if v.Qualifier != "" {
		return fmt.Sprintf("%d.%d.%d-%s", v.Major, v.Minor, v.Patch, v.Qualifier)
	}
	return fmt.Sprintf("v%d.%d.%d", v.Major, v.Minor, v.Patch)
}
