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

// Nodes. vecql has a new HostInfo after each reading of the system tables; here a node has one HostInfo for the life of
// a session, because programs compare the pointers.

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
	host

	mu sync.RWMutex
	dc string // by SetDatacenter

	_ []string // not comparable, as in gocql
}

// HostID returns the id of the node.
func (h *HostInfo) HostID() string { return api.HostID(api.DataOf(&h.host)) }

// ConnectAddress returns the address for clients. It panics if there is none.
func (h *HostInfo) ConnectAddress() net.IP {
	addr := h.UntranslatedConnectAddress()
	if len(addr) == 0 || addr.IsUnspecified() {
		panic(fmt.Sprintf("gocql: the host has no address: %v", h))
	}
	return addr
}

// UntranslatedConnectAddress returns the address for clients that the node announces, nil for none.
func (h *HostInfo) UntranslatedConnectAddress() net.IP {
	if addr := api.DataOf(&h.host).Connect; !addr.IsUnspecified() {
		return addr
	}
	return nil
}

// ConnectAddressAndPort returns the address and the port for clients.
func (h *HostInfo) ConnectAddressAndPort() string {
	return net.JoinHostPort(api.DataOf(&h.host).Connect.String(), strconv.Itoa(h.Port()))
}

// DataCenter returns the data center.
func (h *HostInfo) DataCenter() string {
	h.mu.RLock()
	dc := h.dc
	h.mu.RUnlock()
	if dc != "" {
		return dc
	}
	return h.host.DataCenter()
}

// SetDatacenter sets what DataCenter returns.
func (h *HostInfo) SetDatacenter(dc string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dc = dc
}

// Equal reports whether both are the same node: by host id, or by address if an id is unknown.
func (h *HostInfo) Equal(host *HostInfo) bool {
	return api.SameNode(h, host, (*HostInfo).UntranslatedConnectAddress)
}

// String returns the most important fields.
func (h *HostInfo) String() string {
	return fmt.Sprintf("[HostInfo connect_address=%q port=%d data_center=%q rack=%q host_id=%q version=%q state=%s]",
		h.UntranslatedConnectAddress(), h.Port(), h.DataCenter(), h.Rack(), h.HostID(), h.Version(), h.State())
}
