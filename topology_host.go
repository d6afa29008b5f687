// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/schema"
)

// The rows of the system tables that describe nodes, and the client routes to them. A row may be half-written, stale,
// or NULL in parts. parseHost reads what is there, and isWhole selects the usable rows.

// parseHost reads a row of system.local, peers or peers_v2. It ignores columns that are NULL or of another type.
func parseHost(row map[string]any, port uint16) *cql.Host {
	h := &cql.Host{
		ID: get[cql.UUID](row, "host_id"), DataCenter: get[string](row, "data_center"), Rack: get[string](row, "rack"),
		Version: get[string](row, "release_version"), SchemaVersion: get[cql.UUID](row, "schema_version"),
		ClusterName: get[string](row, "cluster_name"), Partitioner: get[string](row, "partitioner"),
		DSEVersion: get[string](row, "dse_version"), Workload: get[string](row, "workload"), Graph: get[bool](row, "graph"),
		Peer: addrColumn(row, "peer"), BroadcastAddress: addrColumn(row, "broadcast_address"),
		ListenAddress: addrColumn(row, "listen_address"), RPCAddress: addrColumn(row, "rpc_address"),
		PreferredIP: addrColumn(row, "preferred_ip"),
	}
	if p := get[int](row, "native_port"); p > 0 && p <= 0xFFFF {
		port = uint16(p)
	}
	native := addrColumn(row, "native_address")
	if !h.RPCAddress.IsValid() {
		h.RPCAddress = native
	}
	for _, a := range []netip.Addr{native, h.RPCAddress, h.Peer} { // the address for clients, else that for peers
		if a.IsValid() && !a.IsUnspecified() {
			h.Address = netip.AddrPortFrom(a, port)
			break
		}
	}
	for _, s := range get[[]string](row, "tokens") {
		if t, err := strconv.ParseInt(s, 10, 64); err == nil {
			h.Tokens = append(h.Tokens, t)
		}
	}
	return h
}

func addrColumn(row map[string]any, name string) netip.Addr {
	a, _ := netip.AddrFromSlice(get[net.IP](row, name))
	return a.Unmap()
}

// isWhole reports whether a row of peers describes a usable node. Columns are NULL while a row is being written, or
// after its node has left. A node without tokens stores no data but serves requests (ScyllaDB's zero-token nodes): such
// a row must otherwise be complete.
func isWhole(h *cql.Host) bool {
	if h.ID == (cql.UUID{}) || !h.Address.IsValid() || h.DataCenter == "" {
		return false
	}
	return len(h.Tokens) > 0 || h.Rack != "" && h.Version != "" && h.SchemaVersion != (cql.UUID{})
}

// hostRows are the rows of the system tables that describe nodes, with the addresses that the nodes announce.
type hostRows struct {
	table string         // where the peers are: system.peers_v2, or system.peers
	at    netip.AddrPort // of the node with the row of system.local; without an address if a proxy was dialed
	local *cql.Host
	peers []*cql.Host // in the order of the table, with the rows that are not whole
}

// parseRows parses the row of system.local, read from the node at that address, and the rows of its peers.
func parseRows(local systemRow, table string, peers []systemRow, at netip.AddrPort) *hostRows {
	rows := &hostRows{table: table, at: at, local: parseHost(local, at.Port())}
	rows.peers = rows.parsePeers(peers)
	return rows
}

// parsePeers parses rows of peers.
func (r *hostRows) parsePeers(rows []systemRow) []*cql.Host {
	peers := make([]*cql.Host, len(rows))
	for i, row := range rows {
		h := parseHost(row, r.at.Port())
		h.ClusterName, h.Partitioner = r.local.ClusterName, r.local.Partitioner
		peers[i] = h
	}
	return peers
}

// hosts returns the nodes that the rows describe. Behind a proxy the node that was read has the address that it
// announces. Nodes may have one address: a load balancer has it, or a node which
// another one replaces. Each connection verifies its node. translate maps an address of peers to the one for clients;
// an invalid result means unreachable. nil means no translation. A node that has moved may keep the row of its old
// address: instead reports whether the address of another row replaces the address of the first one. nil means that the
// first one stays.
func (r *hostRows) hosts(translate translateFunc, instead func(first, other *cql.Host) bool) ([]*cql.Host, error) {
	self := *r.local
	switch {
	case r.at.Addr().IsValid():
		self.Address = r.at // the only address known to work
	case !self.Address.IsValid():
		self.Address = netip.AddrPortFrom(self.BroadcastAddress, r.at.Port())
	}
	hosts := make([]*cql.Host, 0, 1+len(r.peers))
	hosts = append(hosts, &self)
	places := make(map[cql.UUID]int, 1+len(r.peers))
	places[self.ID] = 0
	for _, h := range r.peers {
		place, again := places[h.ID]
		if !isWhole(h) || again && (place == 0 || instead == nil) {
			continue
		}
		h, err := translated(h, translate)
		if err != nil {
			return nil, err
		}
		switch {
		case !h.Address.IsValid():
		case !again:
			places[h.ID] = len(hosts)
			hosts = append(hosts, h)
		case instead(hosts[place], h):
			hosts[place] = h
		}
	}
	return slices.Clip(hosts), nil
}

// translated returns h with the address for clients.
func translated(h *cql.Host, translate translateFunc) (*cql.Host, error) {
	if translate == nil {
		return h, nil
	}
	to, err := translate(h.Address)
	if err != nil || to == h.Address {
		return h, err
	}
	moved := *h
	moved.Address = to
	return &moved, nil
}

// keysAt returns the keys of the rows of the nodes that announce the addresses. It reports false if rows cannot decide
// about a node: no row has the address, or the row of system.local has it; or a node has several rows, and the
// connections to the node choose one.
func (r *hostRows) keysAt(addrs map[netip.Addr]bool) (keys []netip.Addr, ok bool) {
	if addrs[r.at.Addr()] || addrs[r.local.Address.Addr()] {
		return nil, false
	}
	found := make(map[netip.Addr]bool, len(addrs))
	ids := make(map[cql.UUID]bool, 1+len(r.peers))
	ids[r.local.ID] = true
	for _, h := range r.peers {
		whole := isWhole(h)
		if whole && ids[h.ID] {
			return nil, false
		}
		ids[h.ID] = ids[h.ID] || whole
		if addr := h.Address.Addr(); addrs[addr] && h.Peer.IsValid() {
			found[addr] = true
			keys = append(keys, h.Peer)
		}
	}
	slices.SortFunc(keys, netip.Addr.Compare)
	return slices.Compact(keys), len(found) == len(addrs)
}

// replace returns the rows after those with the keys were read again. It reports false if that changed more than the
// descriptions of nodes, so that other rows may have changed too: a row is new or gone, or its node has another id,
// address, place or tokens.
func (r *hostRows) replace(keys []netip.Addr, read []*cql.Host) (next *hostRows, ok bool) {
	byKey := make(map[netip.Addr][]*cql.Host, len(keys))
	for _, h := range read {
		byKey[h.Peer] = append(byKey[h.Peer], h)
	}
	copied := *r
	next = &copied
	next.peers = slices.Clone(r.peers)
	used := 0
	for i, old := range next.peers {
		if !slices.Contains(keys, old.Peer) {
			continue
		}
		now := byKey[old.Peer]
		if len(now) == 0 || !samePlace(old, now[0]) {
			return nil, false
		}
		next.peers[i], byKey[old.Peer] = now[0], now[1:]
		used++
	}
	return next, used == len(read)
}

// samePlace reports whether two rows describe one node, at one address and one place in the ring.
func samePlace(a, b *cql.Host) bool { return a.ID == b.ID && sharePlace(a, b) }

// sharePlace reports whether two rows describe nodes at one address and one place in the ring.
func sharePlace(a, b *cql.Host) bool {
	return a.Address == b.Address && a.DataCenter == b.DataCenter && a.Rack == b.Rack &&
		slices.Equal(a.Tokens, b.Tokens) && isWhole(a) == isWhole(b)
}

// sameHost reports whether all fields of two hosts are equal. Reflection takes ten times as long.
func sameHost(a, b *cql.Host) bool {
	return a == b || samePlace(a, b) && a.Version == b.Version && a.SchemaVersion == b.SchemaVersion &&
		a.ClusterName == b.ClusterName && a.Partitioner == b.Partitioner && a.RPCAddress == b.RPCAddress &&
		a.Peer == b.Peer && a.BroadcastAddress == b.BroadcastAddress && a.ListenAddress == b.ListenAddress &&
		a.PreferredIP == b.PreferredIP && a.DSEVersion == b.DSEVersion && a.Workload == b.Workload && a.Graph == b.Graph
}

// translateFunc is ClusterConfig.Nodes.AddressTranslator, whose panics are errors. An invalid result means that the
// node cannot be reached.
type translateFunc func(netip.AddrPort) (netip.AddrPort, error)

// translator returns t as a translateFunc, nil for nil.
func translator(t func(netip.AddrPort) netip.AddrPort) translateFunc {
	if t == nil {
		return nil
	}
	return func(a netip.AddrPort) (to netip.AddrPort, err error) {
		defer func() {
			if err != nil {
				err = errtext.Errorf("AddressTranslator: %v: %w", a, err)
			}
		}()
		defer background.Recover(&err)
		if to = t(a); !to.IsValid() || to.Port() == 0 {
			return netip.AddrPort{}, nil
		}
		return netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), nil
	}
}

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

	noEvent sync.Once // a server without the event was logged

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
