// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"net"
	"net/netip"
)

// Address translation.

// An AddressTranslator maps the address of a node to the address at which clients reach the node.
type AddressTranslator interface {
	Translate(addr net.IP, port int) (net.IP, int)
}

// AddressTranslatorFunc adapts a function to AddressTranslator.
type AddressTranslatorFunc func(addr net.IP, port int) (net.IP, int)

// Translate implements AddressTranslator.
func (fn AddressTranslatorFunc) Translate(addr net.IP, port int) (net.IP, int) { return fn(addr, port) }

// AdaptTranslator returns t as vecql's function, nil for nil.
func AdaptTranslator(t AddressTranslator) func(netip.AddrPort) netip.AddrPort {
	if t == nil {
		return nil
	}
	return func(a netip.AddrPort) (none netip.AddrPort) {
		ip, port := t.Translate(ipOf(a.Addr()), int(a.Port()))
		addr, ok := netip.AddrFromSlice(ip)
		if !ok || port <= 0 || port > 0xFFFF {
			return none
		}
		return netip.AddrPortFrom(addr.Unmap(), uint16(port))
	}
}
