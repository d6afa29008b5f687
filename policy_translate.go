// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"net"
	"net/netip"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
)

// Address translation.

// An AddressTranslator maps the address that a node announces to the address at which clients reach the node, for
// example through a gateway. Translate is called for the addresses in system tables and events, not for contact points.
// A nil result means that the node cannot be reached; the session leaves the node out. Several goroutines may call
// Translate at once; the driver holds no lock during the call. A panic in Translate is an error of NewSession, and
// later a line in the log.
type AddressTranslator interface {
	Translate(addr net.IP, port int) (net.IP, int)
}

// AddressTranslatorFunc adapts a function to AddressTranslator.
type AddressTranslatorFunc func(addr net.IP, port int) (net.IP, int)

// Translate implements AddressTranslator.
func (f AddressTranslatorFunc) Translate(addr net.IP, port int) (net.IP, int) { return f(addr, port) }

// translateFunc is an AddressTranslator on comparable addresses. An invalid result means that the node cannot be
// reached.
type translateFunc func(netip.AddrPort) (netip.AddrPort, error)

// translator returns t as a translateFunc, nil for nil.
func translator(t AddressTranslator) translateFunc {
	if t == nil {
		return nil
	}
	return func(a netip.AddrPort) (to netip.AddrPort, err error) {
		defer func() {
			if err != nil {
				err = errtext.Errorf("AddressTranslator: %v: %w", a, err)
			}
		}()
		defer background.Recover(&err)
		ip, port := t.Translate(ipOf(a.Addr()), int(a.Port()))
		addr, ok := netip.AddrFromSlice(ip)
		if !ok || port <= 0 || port > 0xFFFF {
			return netip.AddrPort{}, nil
		}
		return netip.AddrPortFrom(addr.Unmap(), uint16(port)), nil
	}
}
