// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/vecql/vecql/cql"
)

// Host filters.

// A HostFilter selects the nodes that a session uses.
type HostFilter[H any] interface {
	Accept(host H) bool
}

// HostFilterFunc adapts a function to HostFilter.
type HostFilterFunc[H any] func(host H) bool

// Accept implements HostFilter.
func (fn HostFilterFunc[H]) Accept(host H) bool { return fn(host) }

// AdaptHostFilter returns f as vecql's function, nil for nil.
func AdaptHostFilter[H any](f HostFilter[H], hostOf func(*cql.Host) H) func(*cql.Host) bool {
	if f == nil {
		return nil
	}
	return func(node *cql.Host) bool { return f.Accept(hostOf(node)) }
}

// FilterAll returns a HostFilter that accepts every node or none.
func FilterAll[H any](accept bool) HostFilter[H] {
	return HostFilterFunc[H](func(H) bool { return accept })
}

// FilterDataCenter returns a HostFilter that accepts the nodes of a data center.
func FilterDataCenter[H interface{ DataCenter() string }](dataCenter string) HostFilter[H] {
	return HostFilterFunc[H](func(h H) bool { return h.DataCenter() == dataCenter })
}

// FilterAddresses returns a HostFilter that accepts the nodes at one of the given addresses or names, which may have a
// port that is ignored. addresses returns the addresses of a node. FilterAddresses returns the number of addresses, and
// the errors of the names that cannot be resolved.
func FilterAddresses[H any](hosts []string, addresses func(H) []net.IP) (HostFilter[H], int, error) {
	var unresolved error
	accepted := make(map[string]bool)
	for _, host := range hosts {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ips, err := net.LookupIP(host)
		if err != nil {
			unresolved = errors.Join(unresolved, fmt.Errorf("gocql: WhiteListHostFilter: %w", err))
		}
		for _, ip := range ips {
			accepted[ip.String()] = true
		}
	}
	return HostFilterFunc[H](func(h H) bool {
		return slices.ContainsFunc(addresses(h), func(ip net.IP) bool { return accepted[ip.String()] })
	}), len(accepted), unresolved
}

// ConnectAddressOf returns the address of a node for clients.
func ConnectAddressOf[H interface{ ConnectAddress() net.IP }](h H) []net.IP {
	return []net.IP{h.ConnectAddress()}
}

// AddressesOf returns all addresses of a node that are known.
func AddressesOf(h *Host) []net.IP {
	d := DataOf(h)
	all := []net.IP{
		d.RPC, d.Broadcast, d.Listen, d.PeerAddr, d.Preferred, d.Connect,
	}
	return slices.DeleteFunc(all, func(ip net.IP) bool { return len(ip) == 0 || ip.IsUnspecified() })
}
