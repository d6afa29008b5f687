// SPDX-License-Identifier: Apache-2.0

// Package hostpool has a host selection policy on the host pools of github.com/hailocab/go-hostpool.
package hostpool

import (
	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/hailocab/go-hostpool"
	api "github.com/vecql/vecql/compat/api"
)

// HostPoolHostPolicy returns a policy that takes the node of each attempt from hp and reports the outcome to it.
func HostPoolHostPolicy(hp hostpool.HostPool) *hostPoolHostPolicy {
	return &hostPoolHostPolicy{api.NewPooled[*gocql.HostInfo](hp)}
}

type hostPoolHostPolicy struct{ pool }

type pool = api.Pooled[*gocql.HostInfo, hostpool.HostPoolResponse]

// Init implements HostSelectionPolicy.
func (p *hostPoolHostPolicy) Init(*gocql.Session) {}

// Pick implements HostSelectionPolicy. The iterator has no end.
func (p *hostPoolHostPolicy) Pick(gocql.ExecutableStatement) gocql.NextHost {
	return api.PickPooled(&p.pool, func(h *gocql.HostInfo, mark func(error)) gocql.SelectedHost {
		return api.Choose(h, mark)
	})
}
