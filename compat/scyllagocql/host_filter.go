// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"net"

	"github.com/vecql/vecql"
)

// Host filters.

// A HostFilter selects the nodes that a session uses.
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

// DataCentreHostFilter is DataCenterHostFilter.
//
// Deprecated: use DataCenterHostFilter.
func DataCentreHostFilter(dataCenter string) HostFilter { return DataCenterHostFilter(dataCenter) }

// WhiteListHostFilter accepts the nodes at the given addresses or names, which may have a port that is ignored. It
// panics if a name cannot be resolved.
func WhiteListHostFilter(hosts ...string) HostFilter {
	accepted := make(map[string]bool)
	for _, host := range hosts {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ips, err := net.LookupIP(host)
		if err != nil {
			panic(fmt.Errorf("gocql: WhiteListHostFilter: %w", err))
		}
		for _, ip := range ips {
			accepted[ip.String()] = true
		}
	}
	return HostFilterFunc(func(h *HostInfo) bool { return accepted[h.ConnectAddress().String()] })
}

// hostFilter adapts a HostFilter to vecql.
type hostFilter struct {
	filter HostFilter
	hosts  *hosts
}

func (f hostFilter) Accept(node *vecql.HostInfo) bool { return f.filter.Accept(f.hosts.of(node)) }
