// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"hash/fnv"
	"net/netip"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
)

// What a session reads of the cluster: from the system tables of one node, or, with DisableInitialHostLookup, from the
// contact points.

// readView reads nodes and keyspaces through a connection to any node.
func (k *cluster) readView(ctx context.Context, conn *conn.Conn) (view clusterView, err error) {
	changes := k.replication.count.Load()
	if k.cfg.Nodes.DisableInitialHostLookup {
		view, err = k.contactView(ctx, conn)
	} else {
		view, err = k.readTables(ctx, conn)
	}
	view.changes = changes
	return view, err
}

// readTables reads nodes, their client routes, and keyspaces from the system tables.
func (k *cluster) readTables(ctx context.Context, conn *conn.Conn) (clusterView, error) {
	at, err := k.ownAddress(conn)
	if err != nil {
		return clusterView{}, err
	}
	view, err := readCluster(ctx, conn, k.reach, k.otherAddress, at)
	if err == nil {
		err = k.leaveShared(view.nodes[0].info)
	}
	if err != nil {
		return view, err
	}
	return view, k.readRoutes(ctx, conn, &view)
}

// readNodes returns a view after it has read the rows of the nodes that announce the addresses. It reports false if
// these rows do not decide what a view of all rows would be; the schema version reveals changes of keyspaces.
func (k *cluster) readNodes(ctx context.Context, conn *conn.Conn, view clusterView,
	addrs map[netip.Addr]bool,
) (clusterView, bool) {
	keys, ok := view.rows.keysAt(addrs)
	if !ok {
		return view, false
	}
	local, err := systemQuery(ctx, conn, "SELECT schema_version FROM system.local WHERE key = 'local'")
	if err != nil || len(local) != 1 || get[cql.UUID](local[0], "schema_version") != view.schema {
		return view, false
	}
	peers, err := systemQuery(ctx, conn, peersQuery(view.rows.table, keys))
	if err != nil {
		return view, false
	}
	if view.rows, ok = view.rows.replace(keys, view.rows.parsePeers(peers)); !ok {
		return view, false
	}
	return view, view.setNodes(k.reach, k.otherAddress) == nil && k.leaveShared(view.nodes[0].info) == nil
}

// peersQuery returns the statement that reads the rows of peers with the keys.
func peersQuery(table string, keys []netip.Addr) string {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = "'" + key.String() + "'"
	}
	return "SELECT * FROM " + table + " WHERE peer IN (" + strings.Join(texts, ", ") + ")"
}

// leaveShared gives the node that was read the address that it announces, if other nodes answer at the address over
// which it was read: the address of a load balancer, such as a service of Kubernetes.
func (k *cluster) leaveShared(self *cql.Host) error {
	if !k.peers.isShared(self.Address.String(), self.ID) || !self.RPCAddress.IsValid() ||
		self.RPCAddress.IsUnspecified() {
		return nil
	}
	to := netip.AddrPortFrom(self.RPCAddress, self.Address.Port())
	if k.reach != nil {
		var err error
		if to, err = k.reach(to); err != nil || !to.IsValid() {
			return err
		}
	}
	self.Address = to
	return nil
}

// otherAddress reports whether the address of another row of a node replaces the address of the first one: the address
// of a connected node stays, and the address of a node without a connection gives way.
func (k *cluster) otherAddress(first, other *cql.Host) bool {
	n := k.topo.Load().nodeByID(first.ID)
	if n == nil {
		return false
	}
	if conn := n.pool.pick(); conn != nil { // the address of n may be another one: a view was read before it connected
		return conn.Addr() == other.Address.String()
	}
	return first.Address == n.info.Address
}

// contactView returns a view whose nodes are the contact points. A view without partitioner and keyspaces has no
// replicas. A connected node stays even if no name has its address any more, because some name servers return another
// part of the addresses each time.
func (k *cluster) contactView(ctx context.Context, conn *conn.Conn) (view clusterView, err error) {
	local, err := readLocal(ctx, conn)
	if err != nil {
		return view, err
	}
	view.clusterName, view.schema = get[string](local, "cluster_name"), get[cql.UUID](local, "schema_version")
	addrs, err := k.contactPoints(ctx)
	for _, n := range k.topo.Load().nodes {
		if err != nil || n.pool.isUp() { // a name that is not resolved for a moment removes no node
			addrs = append(addrs, n.info.Address.String())
		}
	}
	slices.Sort(addrs)
	for _, addr := range slices.Compact(addrs) {
		at, parseErr := netip.ParseAddrPort(addr)
		if parseErr != nil {
			return view, parseErr
		}
		host := &cql.Host{ID: contactID(at), Address: at, ClusterName: view.clusterName}
		view.nodes = append(view.nodes, &node{info: host})
	}
	if len(view.nodes) == 0 {
		return view, err
	}
	return view, nil
}

// contactID returns the id of a contact point whose host id is not read: a hash of its address, as a UUID of version 8
// (RFC 9562, section 5.8).
func contactID(addr netip.AddrPort) (id cql.UUID) {
	h := fnv.New128a()
	_, _ = h.Write([]byte(addr.String()))
	h.Sum(id[:0])
	id[6], id[8] = id[6]&0x0F|0x80, id[8]&0x3F|0x80
	return id
}

// readVersions returns the distinct schema versions of the nodes that are up.
func (k *cluster) readVersions(ctx context.Context, conn *conn.Conn) ([]cql.UUID, error) {
	if k.cfg.Nodes.DisableInitialHostLookup {
		return k.nodeVersions(ctx, conn)
	}
	versions, err := schemaVersions(ctx, conn, func(id cql.UUID) bool {
		n := k.topo.Load().nodeByID(id)
		return n != nil && n.pool.isUp()
	})
	if len(versions) == 1 && isEpoch(versions[0]) {
		return k.nodeVersions(ctx, conn)
	}
	return versions, err
}

// isEpoch reports whether a schema version is a number: an epoch of the log of Cassandra 6's metadata. A node of
// Cassandra 6 has its own version in the rows of its peers (PeersTable), so each node has to be asked.
func isEpoch(version cql.UUID) bool {
	return [8]byte(version[:8]) == [8]byte{} && version != cql.UUID{}
}

// versionReaders is how many nodes are asked for their schema versions at a time.
const versionReaders = 32

// nodeVersions asks the node of a connection and each other node for its schema version. It leaves out nodes without a
// connection, and silent ones.
func (k *cluster) nodeVersions(ctx context.Context, one *conn.Conn) ([]cql.UUID, error) {
	conns := []*conn.Conn{one}
	for _, n := range k.topo.Load().nodes {
		if c := n.pool.pick(); c != nil && !c.Silent.Load() {
			conns = append(conns, c)
		}
	}
	found := make([]cql.UUID, len(conns))
	err := background.Parallel(ctx, len(conns), versionReaders, func(ctx context.Context, i int) error {
		rows, err := systemQuery(ctx, conns[i], "SELECT schema_version FROM system.local WHERE key = 'local'")
		if err != nil {
			return errtext.Errorf("node %s: %w", conns[i].Addr(), err)
		}
		for _, row := range rows {
			found[i] = get[cql.UUID](row, "schema_version")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var versions []cql.UUID
	for _, v := range found {
		if v != (cql.UUID{}) && !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	return versions, nil
}
