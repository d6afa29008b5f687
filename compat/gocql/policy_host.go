// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

//compat:copy scyllagocql

// Host selection. A policy of this package becomes vecql's of the same name. A policy of the program is asked for the
// nodes of each request.

// An ExecutableQuery is a request as a HostSelectionPolicy sees it.
type ExecutableQuery interface {
	// GetRoutingKey returns the serialized partition key, nil if it is unknown.
	GetRoutingKey() ([]byte, error)
	Keyspace() string
	Table() string
	IsIdempotent() bool

	RetryableQuery
	api.Placed[*HostInfo]
}

// picked is a request as a HostSelectionPolicy of the program receives it.
type picked struct {
	routed // its methods replace the request's
	request
}

type (
	routed  = api.Routed[HostInfo]
	request struct{ ExecutableQuery }
)

// configurePolicy sets the selection of nodes.
func (s *Session) configurePolicy(c *vecql.ClusterConfig) {
	policy := s.cfg.PoolConfig.HostSelectionPolicy
	if policy == nil {
		policy = RoundRobinHostPolicy()
	}
	if c.HostSelectionPolicy = api.NativeOf(policy); c.HostSelectionPolicy != nil {
		return
	}
	p := api.NewPicker[*HostInfo](policy, s.hosts.Of, s.pick)
	s.picker = p
	c.HostSelectionPolicy = p
	c.Nodes.OnChange = p.NodeChanged
	if !s.cfg.Events.DisableSchemaEvents {
		c.Schema.OnChange = p.SchemaChanged
	}
}

// pick returns the nodes of a request, in the order of a policy of the program.
func (s *Session) pick(ctx context.Context, r vecql.RouteInfo) vecql.NextHost {
	of, _ := api.RequestOf(ctx).(ExecutableQuery)
	if of == nil { // a request of Session.Vecql
		of = s.Query(r.Statement).WithContext(ctx).Idempotent(r.Idempotent)
	}
	next := s.cfg.PoolConfig.HostSelectionPolicy.Pick(&picked{api.NewRouted(of, r, s.hosts), request{of}})
	return api.Selected(next, s.hosts, plain)
}
