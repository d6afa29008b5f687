// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"net"
	"strconv"
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
func (b HostInfoBuilder) Build() HostInfo { return HostInfo{node: builtHost{b}} }

// builtHost is a node that a program made.
type builtHost struct{ b HostInfoBuilder }

func (h builtHost) HostID() string           { return h.b.HostId }
func (h builtHost) Port() int                { return h.b.Port }
func (h builtHost) DataCenter() string       { return h.b.DataCenter }
func (h builtHost) Rack() string             { return h.b.Rack }
func (h builtHost) Version() string          { return h.b.Version.String() }
func (h builtHost) Partitioner() string      { return h.b.Partitioner }
func (h builtHost) ClusterName() string      { return h.b.ClusterName }
func (h builtHost) Peer() net.IP             { return h.b.Peer }
func (h builtHost) BroadcastAddress() net.IP { return h.b.BroadcastAddress }
func (h builtHost) ListenAddress() net.IP    { return h.b.ListenAddress }
func (h builtHost) RPCAddress() net.IP       { return h.b.RpcAddress }
func (h builtHost) PreferredIP() net.IP      { return h.b.PreferredIP }
func (h builtHost) DSEVersion() string       { return h.b.DseVersion }
func (h builtHost) WorkLoad() string         { return h.b.Workload }
func (h builtHost) Graph() bool              { return false }
func (h builtHost) Tokens() []string         { return h.b.Tokens }
func (h builtHost) IsUp() bool               { return true }

// ConnectAddress returns the first address that is known.
func (h builtHost) ConnectAddress() net.IP {
	if t := h.b.TranslatedAddresses; t != nil && t.CQL.IsValid() {
		return t.CQL.Address
	}
	for _, addr := range []net.IP{
		h.b.ConnectAddress, h.b.RpcAddress, h.b.PreferredIP, h.b.BroadcastAddress, h.b.Peer,
	} {
		if len(addr) > 0 && !addr.IsUnspecified() {
			return addr
		}
	}
	return net.IPv4zero
}

func (h builtHost) ConnectAddressAndPort() string {
	return net.JoinHostPort(h.ConnectAddress().String(), strconv.Itoa(h.b.Port))
}
