// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
)

// Host filters and address translation.

// A HostFilter selects the nodes that a session connects to. The session sends no request to a node that is not
// accepted and opens no connection to it, except for a control connection to a contact point. Several sessions may call
// Accept at once; the driver holds no lock during the call. A panic in Accept is an error of NewSession, and later a
// line in the log. Accept is called again each time the system tables are read.
type HostFilter interface {
	Accept(host *HostInfo) bool
}

// HostFilterFunc adapts a function to HostFilter.
type HostFilterFunc func(host *HostInfo) bool

// Accept implements HostFilter.
func (f HostFilterFunc) Accept(host *HostInfo) bool { return f(host) }

// AcceptAllFilter accepts every node.
func AcceptAllFilter() HostFilter { return HostFilterFunc(func(*HostInfo) bool { return true }) }

// DenyAllFilter accepts no node.
func DenyAllFilter() HostFilter { return HostFilterFunc(func(*HostInfo) bool { return false }) }

// DataCenterHostFilter accepts the nodes of a data center.
func DataCenterHostFilter(dataCenter string) HostFilter {
	return HostFilterFunc(func(h *HostInfo) bool { return h.dc == dataCenter })
}

// whiteList is a set of addresses; err is the first failed lookup.
type whiteList struct {
	addrs map[netip.Addr]bool
	err   error
}

// WhiteListHostFilter accepts the nodes at the given hosts: addresses, or names, which are resolved during this call. A
// name that cannot be resolved is an error of NewSession.
func WhiteListHostFilter(hosts ...string) HostFilter {
	f := &whiteList{addrs: map[netip.Addr]bool{}}
	for _, h := range hosts {
		if a, err := netip.ParseAddr(h); err == nil {
			f.addrs[a.Unmap()] = true
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", h)
		cancel()
		if err != nil && f.err == nil {
			f.err = errtext.Errorf("ClusterConfig: HostFilter: %w", err)
		}
		for _, a := range addrs {
			f.addrs[a.Unmap()] = true
		}
	}
	return f
}

// Accept implements HostFilter.
func (f *whiteList) Accept(h *HostInfo) bool { return f.addrs[h.addr.Addr()] }

// validateFilter returns the configuration error of a filter of this package.
func validateFilter(f HostFilter) error {
	if w, ok := f.(*whiteList); ok {
		return w.err
	}
	return nil
}

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
