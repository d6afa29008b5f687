// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// configurePolicy sets the selection of nodes.
func (s *Session) configurePolicy(c *vecql.ClusterConfig) {
	policy := s.cfg.PoolConfig.HostSelectionPolicy
	if policy == nil {
		policy = RoundRobinHostPolicy()
	}
	if native := nativeOf(policy); native != nil {
		c.PoolConfig.HostSelectionPolicy = native
		return
	}
	p := api.NewPicker[*HostInfo](policy, s.hosts.Of, s.pick)
	s.picker = p
	c.PoolConfig.HostSelectionPolicy = p
	if !s.cfg.Events.DisableSchemaEvents {
		c.Metadata.SchemaListener.KeyspaceChangeListener = p
	}
}

// pick returns the nodes of a request, in the order of a policy of the program.
func (s *Session) pick(ctx context.Context, r vecql.RouteInfo) vecql.NextHost {
	request, _ := api.RequestOf(ctx).(ExecutableQuery)
	if request == nil { // a request of Session.Vecql
		request = s.Query(r.Statement).WithContext(ctx).Idempotent(r.Idempotent)
	}
	next := s.cfg.PoolConfig.HostSelectionPolicy.Pick(&picked{ExecutableQuery: request, route: r, hosts: s.hosts})
	return api.Selected(next, func(at SelectedHost) *vecql.HostInfo { return s.hosts.Node(at.Info()) }, plain)
}
