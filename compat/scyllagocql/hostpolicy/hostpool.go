// SPDX-License-Identifier: Apache-2.0

// Package hostpolicy has host selection policies.
package hostpolicy

import (
	"github.com/gocql/gocql"
	"github.com/hailocab/go-hostpool"
	api "github.com/vecql/vecql/compat/api"
)

// Host selection by a host pool, which learns from the outcome of requests.

// HostPool sends requests to the nodes that hp returns.
func HostPool(hp hostpool.HostPool) gocql.HostSelectionPolicy {
	return &hostPoolHostPolicy{api.NewPooled[*gocql.HostInfo](hp)}
}

// hostPoolHostPolicy is the policy of HostPool. Nodes have their addresses as names in the pool.
type hostPoolHostPolicy struct{ pool }

type pool = api.Pooled[*gocql.HostInfo, hostpool.HostPoolResponse]

// Init implements HostSelectionPolicy.
func (p *hostPoolHostPolicy) Init(*gocql.Session) {}

// Reset implements HostSelectionPolicy.
func (p *hostPoolHostPolicy) Reset() {}

// IsOperational implements HostSelectionPolicy.
func (p *hostPoolHostPolicy) IsOperational(*gocql.Session) error { return nil }

// Pick implements HostSelectionPolicy. The iterator has no end.
func (p *hostPoolHostPolicy) Pick(gocql.ExecutableQuery) gocql.NextHost {
	return api.PickPooled(&p.pool, func(h *gocql.HostInfo, mark func(error)) gocql.SelectedHost {
		return chosen{api.Choose(h, mark)}
	})
}

// chosen is a node that a pool has returned.
type chosen struct{ api.Chosen[*gocql.HostInfo] }

// Token implements SelectedHost.
func (chosen) Token() gocql.Token { return nil }
