// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/hailocab/go-hostpool"
	api "github.com/vecql/vecql/compat/api"
)

// Host selection by a host pool, which learns from the outcome of requests.

// HostPoolHostPolicy sends requests to the nodes that hp returns.
func HostPoolHostPolicy(hp hostpool.HostPool) HostSelectionPolicy {
	return &hostPoolHostPolicy{api.NewPooled[*HostInfo](hp)}
}

// hostPoolHostPolicy is HostPoolHostPolicy. Nodes have their addresses as names in the pool.
type hostPoolHostPolicy struct{ pool }

type pool = api.Pooled[*HostInfo, hostpool.HostPoolResponse]

// Init implements HostSelectionPolicy.
func (p *hostPoolHostPolicy) Init(*Session) {}

// Pick implements HostSelectionPolicy. The iterator has no end.
func (p *hostPoolHostPolicy) Pick(ExecutableQuery) NextHost { return api.PickPooled(&p.pool, choose) }
