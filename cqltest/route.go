// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"github.com/google/uuid"
)

// Client routes: the emulation of ScyllaDB's table system.client_routes and of its event (scylladb pull request 27323,
// docs/dev/protocol-extensions.md). A private network writes the table over REST; drivers dial the addresses in it.

// A ClientRoute is a row of ScyllaDB's system.client_routes: where the clients of a connection reach a node.
type ClientRoute struct {
	ConnectionID string
	HostID       [16]byte
	Address      string // an address or a name; empty is NULL
	Port         int    // 0 is NULL
	TLSPort      int    // 0 is NULL
}

// routeKey is the primary key of system.client_routes.
type routeKey struct {
	connection string
	host       [16]byte
}

// SetClientRoutes replaces the rows of system.client_routes, and pushes CLIENT_ROUTES_CHANGE with the rows that differ.
// The cluster must emulate ScyllaDB.
func (c *Cluster) SetClientRoutes(routes ...ClientRoute) {
	next := make(map[routeKey]ClientRoute, len(routes))
	for _, r := range routes {
		next[routeKey{r.ConnectionID, r.HostID}] = r
	}
	old := c.routes.Swap(&next)
	if c.mute.Load() {
		return
	}
	var connections, hosts []string
	note := func(k routeKey) {
		connections, hosts = append(connections, k.connection), append(hosts, uuid.UUID(k.host).String())
	}
	for k, r := range next {
		if old == nil || (*old)[k] != r {
			note(k)
		}
	}
	if old != nil {
		for k := range *old {
			if _, kept := next[k]; !kept {
				note(k)
			}
		}
	}
	if len(connections) > 0 {
		c.Event(routesEvent(connections, hosts))
	}
}

// eventRoutes is the type of the event.
const eventRoutes = "CLIENT_ROUTES_CHANGE"

// routesEvent returns CLIENT_ROUTES_CHANGE for the rows with these connection ids and host ids, which are pairs.
func routesEvent(connectionIDs, hostIDs []string) Event {
	body := appendString(appendString(nil, eventRoutes), "UPDATE_NODES")
	return Event{Type: eventRoutes, Body: appendStringList(appendStringList(body, connectionIDs), hostIDs)}
}

// routeRows returns the rows of system.client_routes.
func (c *Cluster) routeRows(*Node) []Row {
	routes := c.routes.Load()
	if routes == nil {
		return nil
	}
	rows := make([]Row, 0, len(*routes))
	for k, r := range *routes {
		row := Row{"connection_id": k.connection, "host_id": k.host}
		if r.Address != "" {
			row["address"] = r.Address
		}
		if r.Port != 0 {
			row["port"] = r.Port
		}
		if r.TLSPort != 0 {
			row["tls_port"] = r.TLSPort
		}
		rows = append(rows, row)
	}
	return rows
}
