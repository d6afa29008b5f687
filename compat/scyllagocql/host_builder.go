// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"net"

	api "github.com/vecql/vecql/compat/api"
)

// Nodes that programs make.

// translatedAddresses are the addresses of a node after translation.
type translatedAddresses struct {
	CQL           AddressPort
	ShardAware    AddressPort
	ShardAwareTLS AddressPort
}

// Equal reports whether both are the same.
func (h translatedAddresses) Equal(o *translatedAddresses) bool {
	return h.CQL.Equal(o.CQL) && h.ShardAware.Equal(o.ShardAware) && h.ShardAwareTLS.Equal(o.ShardAwareTLS)
}

// A HostInfoBuilder makes a HostInfo.
type HostInfoBuilder struct {
	TranslatedAddresses *translatedAddresses
	Workload            string
	HostId              string
	SchemaVersion       string
	Hostname            string
	ClusterName         string
	Partitioner         string
	Rack                string
	DseVersion          string
	DataCenter          string
	ConnectAddress      net.IP
	BroadcastAddress    net.IP
	PreferredIP         net.IP
	RpcAddress          net.IP
	Peer                net.IP
	ListenAddress       net.IP
	Tokens              []string
	Version             cassVersion
	Port                int
}

// Build returns the HostInfo.
func (b HostInfoBuilder) Build() HostInfo {
	return HostInfo{host: api.NewHost(&api.HostRecord{
		ID: b.HostId, PortNumber: b.Port, DC: b.DataCenter, RackName: b.Rack, Release: b.Version.String(),
		Class: b.Partitioner, Cluster: b.ClusterName, PeerAddr: b.Peer, Broadcast: b.BroadcastAddress,
		Listen: b.ListenAddress, RPC: b.RpcAddress, Preferred: b.PreferredIP, DSE: b.DseVersion, Load: b.Workload,
		TokenList: b.Tokens, Connect: b.address(),
	})}
}

// address returns the first address that is known.
func (b *HostInfoBuilder) address() net.IP {
	if t := b.TranslatedAddresses; t != nil && t.CQL.IsValid() {
		return t.CQL.Address
	}
	for _, addr := range []net.IP{b.ConnectAddress, b.RpcAddress, b.PreferredIP, b.BroadcastAddress, b.Peer} {
		if len(addr) > 0 && !addr.IsUnspecified() {
			return addr
		}
	}
	return net.IPv4zero
}
