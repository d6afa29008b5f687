// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// hostPicker calls a HostSelectionPolicy of the program: Pick for each request, and its methods for changes of nodes.
type hostPicker struct {
	*api.Picker[*HostInfo]
	policy  HostSelectionPolicy
	session *Session
}

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
	p := &hostPicker{Picker: api.NewPicker[*HostInfo](policy, s.hosts.Of), policy: policy, session: s}
	s.picker = p
	c.PoolConfig.HostSelectionPolicy = p
	c.Metadata.HostListener = vecql.HostListenersConfig{HostStateChangeListener: p, TopologyChangeListener: p}
	if !s.cfg.Events.DisableSchemaEvents {
		c.Metadata.SchemaListener.KeyspaceChangeListener = p
	}
}

// start passes the session and its nodes to the policy, unless the session did not start.
func (p *hostPicker) start() {
	p.Start(p.session.Vecql(), p.session.cfg.Keyspace, func() { p.policy.Init(p.session) })
}

// Pick implements vecql.HostPicker.
func (p *hostPicker) Pick(ctx context.Context, r vecql.RouteInfo, nodes []*vecql.HostInfo) vecql.NextHost {
	if !p.Started() {
		return vecql.HostsInOrder(nodes...)
	}
	request, _ := api.RequestOf(ctx).(ExecutableQuery)
	if request == nil { // a request of Session.Vecql
		request = p.session.Query(r.Statement).WithContext(ctx).Idempotent(r.Idempotent)
	}
	next := p.policy.Pick(&picked{ExecutableQuery: request, route: r, hosts: p.session.hosts})
	return api.Selected(next, func(s SelectedHost) *vecql.HostInfo { return vecqlOf(s.Info()) }, plain)
}
