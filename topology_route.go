// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/schema"
)

// Client routes: the addresses at which a private network, such as AWS PrivateLink, exposes the nodes of a ScyllaDB
// cluster. The table system.client_routes has them by connection id and host id (scylladb pull request 27323). With
// routes, the address that a node announces only names the node. A node is dialed at its route, whose host may be a
// name, and a node without a route is not dialed: its announced address could lead around the private network
// (scylladb/scylla-rust-driver, scylla/src/client/client_routes.rs).

// clientRoutes has the route of each node.
type clientRoutes struct {
	ids    []string      // the connection ids, the preferred first
	tls    bool          // routes use the port for TLS
	wake   chan struct{} // a token when an event requires a reading
	begun  atomic.Uint64 // readings
	chosen atomic.Pointer[map[cql.UUID]route]

	mu      sync.Mutex // held while chosen is replaced
	applied uint64     // number of the reading in chosen
}

// route is a row of system.client_routes.
type route struct {
	connection string
	addr       string // host:port
	missing    string // a column that is NULL or invalid; empty means that the route can be used
}

// newClientRoutes returns the routes of the connection ids, none so far; nil without ids.
func newClientRoutes(ids []string, tls bool) *clientRoutes {
	if len(ids) == 0 {
		return nil
	}
	r := &clientRoutes{ids: slices.Clone(ids), tls: tls, wake: make(chan struct{}, 1)}
	r.chosen.Store(&map[cql.UUID]route{})
	return r
}

// statement returns the SELECT of the rows of the connection ids.
func (r *clientRoutes) statement() string {
	quoted := make([]string, len(r.ids))
	for i, id := range r.ids {
		quoted[i] = schema.QuoteText(id)
	}
	return "SELECT connection_id, host_id, address, port, tls_port FROM system.client_routes WHERE connection_id IN (" +
		strings.Join(quoted, ", ") + ")"
}

// parse reads a row.
func (r *clientRoutes) parse(row systemRow) route {
	column := "port"
	if r.tls {
		column = "tls_port"
	}
	host, port := get[string](row, "address"), get[int](row, column)
	to := route{connection: get[string](row, "connection_id"), addr: net.JoinHostPort(host, strconv.Itoa(port))}
	switch {
	case host == "":
		to.missing = "address"
	case port <= 0 || port > 0xFFFF:
		to.missing = column
	}
	return to
}

// update chooses the routes from the rows of a reading, unless a reading that began later was applied before. It
// returns the host ids whose route is new or another one. A node keeps its connection id as long as that has a usable
// route, so that an unrelated change moves no connection; otherwise the first configured connection id with one is
// chosen.
func (r *clientRoutes) update(reading uint64, rows []systemRow) (changed []cql.UUID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if reading <= r.applied {
		return nil
	}
	r.applied = reading
	old, chosen := *r.chosen.Load(), map[cql.UUID]route{}
	preference := func(id cql.UUID, to route) int {
		switch {
		case to.missing != "":
			return len(r.ids)
		case to.connection == old[id].connection && old[id].missing == "":
			return -1
		}
		return slices.Index(r.ids, to.connection)
	}
	for _, row := range rows {
		id, to := get[cql.UUID](row, "host_id"), r.parse(row)
		if best, found := chosen[id]; !found || preference(id, to) < preference(id, best) {
			chosen[id] = to
		}
	}
	r.chosen.Store(&chosen)
	for id, to := range chosen {
		if to.missing == "" && to != old[id] {
			changed = append(changed, id)
		}
	}
	return changed
}

// addrOf returns the address, host:port, at which a node is dialed.
func (r *clientRoutes) addrOf(id cql.UUID) (string, error) {
	to, found := (*r.chosen.Load())[id]
	ids := strings.Join(r.ids, ", ")
	switch {
	case !found:
		return "", errtext.Errorf("%w: system.client_routes has no row with host id %v and a connection id of %s", ErrNoRoute,
			id, ids)
	case to.missing != "":
		return "", errtext.Errorf("%w: system.client_routes has no %s with host id %v and connection id %s", ErrNoRoute,
			to.missing, id, to.connection)
	}
	return to.addr, nil
}

// idAt returns the host id of the node at an address, false if no route leads there.
func (r *clientRoutes) idAt(addr string) (id cql.UUID, found bool) {
	for id, to := range *r.chosen.Load() {
		if to.addr == addr && to.missing == "" {
			return id, true
		}
	}
	return cql.UUID{}, false
}
