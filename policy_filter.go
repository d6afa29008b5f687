// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// This file holds what tells the nodes of a cluster that a session connects to, and where it finds them.

// HostFilter says which nodes a session connects to. A node that it does not accept gets no request and no connection, but for a control
// connection where it is a contact point. It may be called by several sessions at once, never under a lock of the driver; a panic in it is
// an error of NewSession, later a line in the log. It is asked anew each time the system tables are read.
type HostFilter interface {
	Accept(host *HostInfo) bool
}

// HostFilterFunc is a function as a HostFilter.
type HostFilterFunc func(host *HostInfo) bool

// Accept implements HostFilter.
func (f HostFilterFunc) Accept(host *HostInfo) bool { return f(host) }

// AcceptAllFilter accepts every node.
func AcceptAllFilter() HostFilter { return HostFilterFunc(func(*HostInfo) bool { return true }) }

// DenyAllFilter accepts no node.
func DenyAllFilter() HostFilter { return HostFilterFunc(func(*HostInfo) bool { return false }) }

// DataCenterHostFilter accepts the nodes of a data centre.
func DataCenterHostFilter(dataCenter string) HostFilter {
	return HostFilterFunc(func(h *HostInfo) bool { return h.dc == dataCenter })
}

// DataCentreHostFilter is DataCenterHostFilter.
func DataCentreHostFilter(dataCenter string) HostFilter { return DataCenterHostFilter(dataCenter) }

// whiteList holds addresses; err says which host gave none.
type whiteList struct {
	addrs map[netip.Addr]bool
	err   error
}

// WhiteListHostFilter accepts the nodes at these hosts: addresses, or names, which are looked up now. A name that is not found is an error
// of NewSession.
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
			f.err = fmt.Errorf("vecql: ClusterConfig: HostFilter: %w", err)
		}
		for _, a := range addrs {
			f.addrs[a.Unmap()] = true
		}
	}
	return f
}

// Accept implements HostFilter.
func (f *whiteList) Accept(h *HostInfo) bool { return f.addrs[h.addr.Addr()] }

// validateFilter returns what is wrong with a filter of this package.
func validateFilter(f HostFilter) error {
	if w, ok := f.(*whiteList); ok {
		return w.err
	}
	return nil
}

// AddressTranslator gives the address at which clients reach a node for the one that the node tells: clients behind a gateway need another.
// It is asked for the addresses in system tables and events, not for contact points. Returning nil means that the node cannot be reached:
// it is left out. It may be called by several goroutines at once, never under a lock of the driver; a panic in it is an error of
// NewSession, later a line in the log.
type AddressTranslator interface {
	Translate(addr net.IP, port int) (net.IP, int)
}

// AddressTranslatorFunc is a function as an AddressTranslator.
type AddressTranslatorFunc func(addr net.IP, port int) (net.IP, int)

// Translate implements AddressTranslator.
func (f AddressTranslatorFunc) Translate(addr net.IP, port int) (net.IP, int) { return f(addr, port) }

// IdentityTranslator leaves addresses as they are.
func IdentityTranslator() AddressTranslator {
	return AddressTranslatorFunc(func(addr net.IP, port int) (net.IP, int) { return addr, port })
}

// translateFunc is an AddressTranslator with addresses that can be compared. One that is invalid cannot be reached.
type translateFunc func(netip.AddrPort) (netip.AddrPort, error)

// translator returns t as a translateFunc, nil for nil.
func translator(t AddressTranslator) translateFunc {
	if t == nil {
		return nil
	}
	return func(a netip.AddrPort) (to netip.AddrPort, err error) {
		defer func() {
			if err != nil {
				err = fmt.Errorf("AddressTranslator: %v: %w", a, err)
			}
		}()
		defer recovered(&err)
		ip, port := t.Translate(ipOf(a.Addr()), int(a.Port()))
		addr, ok := netip.AddrFromSlice(ip)
		if !ok || port <= 0 || port > 0xFFFF {
			return netip.AddrPort{}, nil
		}
		return netip.AddrPortFrom(addr.Unmap(), uint16(port)), nil
	}
}
