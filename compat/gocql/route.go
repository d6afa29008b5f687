// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"

	"github.com/vecql/vecql"
)

// The route of a request: its partition key, table and replicas.

var errNoRoute = errors.New("gocql: the routing key of the request is unknown")

// GetRoutingKey returns the serialized partition key, nil if it is unknown.
func (q *Query) GetRoutingKey() ([]byte, error) { return q.routingKey, nil }

// Keyspace returns the keyspace of the query's table, else that of the session.
func (q *Query) Keyspace() string {
	if q.session == nil {
		return ""
	}
	return q.session.cfg.Keyspace
}

// Table returns the table of the query.
func (q *Query) Table() string { return "" }

func (q *Query) replicas() []*HostInfo { return nil }

// GetRoutingKey returns the serialized partition key of the first statement, nil if it is unknown.
func (b *Batch) GetRoutingKey() ([]byte, error) { return nil, nil }

// Table returns the table of the batch.
func (b *Batch) Table() string { return "" }

func (b *Batch) replicas() []*HostInfo { return nil }

// picked is a request that a HostSelectionPolicy picks nodes for.
type picked struct {
	*Query
	route vecql.RouteInfo
	hosts *hosts
}

func (p *picked) replicas() []*HostInfo {
	out := make([]*HostInfo, len(p.route.Replicas))
	for i, node := range p.route.Replicas {
		out[i] = p.hosts.of(node)
	}
	return out
}
