// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"net"

	"github.com/vecql/vecql"
)

// Host filters and address translation.

// A HostFilter selects the nodes that a session connects to.
type HostFilter interface {
	Accept(host *HostInfo) bool
}

// HostFilterFunc adapts a function to HostFilter.
type HostFilterFunc func(host *HostInfo) bool

// Accept implements HostFilter.
func (fn HostFilterFunc) Accept(host *HostInfo) bool { return fn(host) }

// AcceptAllFilter accepts every node.
func AcceptAllFilter() HostFilter { return HostFilterFunc(func(*HostInfo) bool { return true }) }

// DenyAllFilter accepts no node.
func DenyAllFilter() HostFilter { return HostFilterFunc(func(*HostInfo) bool { return false }) }

// DataCenterHostFilter accepts the nodes of a data center.
func DataCenterHostFilter(dataCenter string) HostFilter {
	return HostFilterFunc(func(h *HostInfo) bool { return h.DataCenter() == dataCenter })
}

// DataCentreHostFilter accepts the nodes of a data center.
//
// Deprecated: use DataCenterHostFilter.
func DataCentreHostFilter(dataCenter string) HostFilter { return DataCenterHostFilter(dataCenter) }

// WhiteListHostFilter accepts the nodes at the given hosts. Names are resolved during this call. It panics if none can
// be resolved.
func WhiteListHostFilter(hosts ...string) HostFilter {
	accepted := map[string]bool{}
	var failed error
	for _, host := range hosts {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ips, err := LookupIP(host)
		if err != nil {
			failed = err
		}
		for _, ip := range ips {
			accepted[ip.String()] = true
		}
	}
	if len(accepted) == 0 {
		panic(fmt.Errorf("gocql: WhiteListHostFilter: no host of %q can be resolved: %w", hosts, failed))
	}
	return HostFilterFunc(func(h *HostInfo) bool { return accepted[h.ConnectAddress().String()] })
}

// LookupIP returns the addresses of a host.
func LookupIP(host string) ([]net.IP, error) { return net.LookupIP(host) }

type (
	// An AddressTranslator maps the address that a node announces to the address at which clients reach the node.
	AddressTranslator = vecql.AddressTranslator
	// AddressTranslatorFunc adapts a function to AddressTranslator.
	AddressTranslatorFunc = vecql.AddressTranslatorFunc
)

// IdentityTranslator returns every address unchanged.
func IdentityTranslator() AddressTranslator { return vecql.IdentityTranslator() }
