// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	api "github.com/vecql/vecql/compat/api"
)

// Nodes.

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

// String returns the release: "v4.1.3".
func (v cassVersion) String() string { return fmt.Sprintf("v%d.%d.%d", v.Major, v.Minor, v.Patch) }

// A HostInfo describes a node.
type HostInfo struct {
	host

	mu      sync.RWMutex
	address net.IP // by SetConnectAddress
	id      string // by SetHostID
}

// HostID returns the id of the node.
func (h *HostInfo) HostID() string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.id != "" {
		return h.id
	}
	return api.HostID(api.DataOf(&h.host))
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
	if h.address != nil {
		return h.address
	}
	return api.DataOf(&h.host).Connect
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
	if node := api.NodeOf(&h.host); node != nil {
		return node.Address.String()
	}
	return h.ConnectAddressAndPort()
}

// Equal reports whether both are the same node: by host id, or by address if an id is unknown.
func (h *HostInfo) Equal(host *HostInfo) bool {
	return api.SameNode(h, host, (*HostInfo).connectAddress)
}

// String returns the most important fields.
func (h *HostInfo) String() string {
	return fmt.Sprintf("[HostInfo connect_address=%q port=%d data_centre=%q rack=%q host_id=%q version=%q state=%s]",
		h.connectAddress(), h.Port(), h.DataCenter(), h.Rack(), h.HostID(), h.Version(), h.State())
}
