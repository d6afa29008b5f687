// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	api "github.com/vecql/vecql/compat/api"
)

// Addresses: translation, resolution of names, and a filter.

// An AddressTranslatorHostInfo is a node as an AddressTranslatorV2 sees it.
type AddressTranslatorHostInfo interface {
	HostID() string
	Rack() string
	DataCenter() string
	BroadcastAddress() net.IP
	ListenAddress() net.IP
	RPCAddress() net.IP
	PreferredIP() net.IP
	Peer() net.IP
	UntranslatedConnectAddress() net.IP
	Port() int
	Partitioner() string
	ClusterName() string
	ScyllaShardAwarePort() uint16
	ScyllaShardAwarePortTLS() uint16
	ScyllaShardCount() int
}

// An AddressTranslatorV2 translates the address of a node when a connection to it is opened.
type AddressTranslatorV2 interface {
	AddressTranslator
	TranslateHost(host AddressTranslatorHostInfo, addr AddressPort) (AddressPort, error)
}

// AddressTranslatorFuncV2 adapts a function to AddressTranslatorV2.
type AddressTranslatorFuncV2 func(hostID string, addr AddressPort) AddressPort

// Translate implements AddressTranslator.
func (fn AddressTranslatorFuncV2) Translate(addr net.IP, port int) (net.IP, int) {
	to := fn("", AddressPort{addr, uint16(port)})
	return to.Address, int(to.Port)
}

// TranslateHost implements AddressTranslatorV2.
func (fn AddressTranslatorFuncV2) TranslateHost(host AddressTranslatorHostInfo, addr AddressPort) (AddressPort, error) {
	return fn(host.HostID(), addr), nil
}

// An AddressPort is an address with a port.
type AddressPort struct {
	Address net.IP
	Port    uint16
}

// Equal reports whether both are the same.
func (a AddressPort) Equal(o AddressPort) bool { return a.Address.Equal(o.Address) && a.Port == o.Port }

// IsValid reports whether both parts are set.
func (a AddressPort) IsValid() bool {
	return len(a.Address) != 0 && !a.Address.IsUnspecified() && a.Port != 0
}

// String returns the address and the port.
func (a AddressPort) String() string { return fmt.Sprintf("%s:%d", a.Address, a.Port) }

// ToNetAddr returns the address and the port in the form of package net.
func (a AddressPort) ToNetAddr() string {
	return net.JoinHostPort(a.Address.String(), strconv.Itoa(int(a.Port)))
}

// A DNSResolver resolves the names of contact points.
type DNSResolver interface {
	LookupIP(host string) ([]net.IP, error)
}

// SimpleDNSResolver is the resolver of package net.
type SimpleDNSResolver struct{ preferV4 bool }

// NewSimpleDNSResolver returns a resolver. With hostLookupPreferV4 it leaves out IPv6 addresses if there are others.
func NewSimpleDNSResolver(hostLookupPreferV4 bool) *SimpleDNSResolver {
	return &SimpleDNSResolver{hostLookupPreferV4}
}

// LookupIP implements DNSResolver.
func (r SimpleDNSResolver) LookupIP(host string) ([]net.IP, error) {
	ips, err := net.LookupIP(host)
	if err != nil || !r.preferV4 {
		return ips, err
	}
	v4 := slices.DeleteFunc(slices.Clone(ips), func(ip net.IP) bool { return ip.To4() == nil })
	if len(v4) > 0 {
		return v4, nil
	}
	return ips, nil
}

// WhiteListHostFilter accepts the nodes at the given addresses or names, which may have a port that is ignored. It
// panics if a name cannot be resolved.
func WhiteListHostFilter(hosts ...string) HostFilter {
	f, _, err := api.FilterAddresses(hosts, func(h *HostInfo) []net.IP { return api.AddressesOf(&h.host) })
	if err != nil {
		panic(err)
	}
	return f
}
