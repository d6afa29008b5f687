// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// The route of a request: its partition key, table and replicas.

// route returns the route of the query. It prepares the statement unless that has been done.
func (q *Query) route() (vecql.RouteInfo, error) {
	if q.binding != nil && len(q.Values()) == 0 {
		return vecql.RouteInfo{}, nil // the values are unknown
	}
	s, err := q.session.started()
	if err != nil {
		return vecql.RouteInfo{}, err
	}
	r, err := q.build(s, nil).Route(q.Context())
	return r, plain(err)
}

// known returns the route of a query that was executed or routed before, else the zero value: asking for a keyspace or
// a table sends no request.
func (q *Query) known() vecql.RouteInfo {
	if !api.MetricsOf(&q.counted).Used() {
		return vecql.RouteInfo{}
	}
	r, err := q.route()
	if err != nil {
		return vecql.RouteInfo{}
	}
	return r
}

// GetRoutingKey returns the serialized partition key, nil if it is unknown. It may prepare the statement.
func (q *Query) GetRoutingKey() ([]byte, error) {
	if _, st := api.QueryOf(&q.query); st.RoutingKey != nil {
		return st.RoutingKey, nil
	}
	r, err := q.route()
	if err == nil {
		api.MetricsOf(&q.counted).Use()
	}
	return r.RoutingKey, err
}

// Keyspace returns the keyspace of the query's table if the query was executed, else that of the session.
func (q *Query) Keyspace() string {
	if keyspace := q.known().Keyspace; keyspace != "" {
		return keyspace
	}
	if q.keyspace != "" || q.session == nil {
		return q.keyspace
	}
	return q.session.cfg.Keyspace
}

// Table returns the table of the query if the query was executed.
func (q *Query) Table() string { return q.known().Table }

// IsLWT reports whether the query is conditional, as far as that is known: if it was executed, or by its consistency.
func (q *Query) IsLWT() bool { return q.lwt || q.GetConsistency().IsSerial() || q.known().LWT }

// GetCustomPartitioner returns nil: vecql routes by the partitioner of the cluster.
func (q *Query) GetCustomPartitioner() Partitioner { return nil }

func (q *Query) replicas() []*HostInfo { return nil }

// GetRoutingKey returns the serialized partition key of the first statement, nil if it is unknown. It may prepare the
// statement.
func (b *Batch) GetRoutingKey() ([]byte, error) {
	if b.session == nil || len(b.Entries) == 0 {
		return nil, nil
	}
	if b.Entries[0].binding != nil {
		return nil, nil // the values are unknown
	}
	on, err := b.session.started()
	if err != nil {
		return nil, err
	}
	r, err := b.build(b.session, on, nil).Route(b.Context())
	return r.RoutingKey, plain(err)
}

// Table returns "": a batch may write to several tables.
func (b *Batch) Table() string { return "" }

// IsLWT reports whether the batch is conditional, as far as that is known.
func (b *Batch) IsLWT() bool { return b.lwt || b.Cons.IsSerial() }

// GetCustomPartitioner returns nil: vecql routes by the partitioner of the cluster.
func (b *Batch) GetCustomPartitioner() Partitioner { return nil }

func (b *Batch) replicas() []*HostInfo { return nil }

// picked is a request with its route, as a HostSelectionPolicy of the program receives it.
type picked struct {
	ExecutableQuery
	route vecql.RouteInfo
	hosts *api.Hosts[HostInfo]
}

// GetRoutingKey implements ExecutableQuery.
func (p *picked) GetRoutingKey() ([]byte, error) { return p.route.RoutingKey, nil }

// Keyspace implements ExecutableQuery.
func (p *picked) Keyspace() string {
	if p.route.Keyspace != "" {
		return p.route.Keyspace
	}
	return p.ExecutableQuery.Keyspace()
}

// IsLWT implements ExecutableQuery.
func (p *picked) IsLWT() bool { return p.route.LWT || p.ExecutableQuery.GetConsistency().IsSerial() }

// Table implements ExecutableQuery.
func (p *picked) Table() string { return p.route.Table }

func (p *picked) replicas() []*HostInfo { return p.hosts.All(p.route.Replicas) }

// requestContext returns the context of a request.
func (s *Session) requestContext(ctx context.Context, request ExecutableQuery) context.Context {
	if s.picker == nil {
		return ctx
	}
	return api.WithRequest(ctx, request)
}
