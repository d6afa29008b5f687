// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/placement"
	"github.com/vecql/vecql/stats"
)

// The control connection, on which the driver reads the system tables and receives events (native_protocol_v5.spec,
// section 4.2.6). When it breaks, the driver connects to another node.

// eventDelay is the wait between an event and the next reading of the system tables, so that one reading serves many
// events. A node may announce itself before it listens; the delay also allows it to start.
const eventDelay = time.Second

// maxUpHints bounds the addresses remembered from UP events: a peer may send any number of them.
const maxUpHints = 1024

// maxEventNodes bounds the nodes whose rows are read after events. More of them are one reading of all rows: ScyllaDB
// refuses statements with more than 100 keys.
const maxEventNodes = 64

// control keeps one connection open and passes each new view of the cluster to the session.
type control struct {
	// opens a connection to a verified server and registers it for events
	dial func(ctx context.Context, addr string, onEvent func(any), closed func(*conn.Conn, error)) (*conn.Conn, error)
	// returns the addresses to try, the best first; called for every attempt
	contacts func(ctx context.Context) ([]string, error)
	onView   func(clusterView)
	// called for an UP event: at once, and again after eventDelay and a new view; not for repeats
	onEvent func(event any)
	// called at once; an empty keyspace means that anything may have changed, and with UPDATED that something has changed
	onSchema func(event frame.SchemaEvent)
	settled  func() // called after a delay, once for several onSchema
	// reads the cluster; conn leads to any node
	readView func(ctx context.Context, conn *conn.Conn) (clusterView, error)
	// returns a view, read through conn, after the rows of the nodes that announce the addresses were read again. It
	// reports false if that view must be read as a whole.
	readNodes func(ctx context.Context, conn *conn.Conn, view clusterView, addrs map[netip.Addr]bool) (clusterView, bool)
	// reads the distinct schema versions of the nodes that are up; conn leads to one of them
	readVersions func(ctx context.Context, conn *conn.Conn) ([]cql.UUID, error)
	admit        func(view *clusterView) error // filters the nodes of a view before onView
	log          *slog.Logger
	refresh      time.Duration // maximum interval between readings of the system tables, because events can be lost
	timeout      time.Duration // for one reading, and for connecting to one node

	mu          sync.Mutex
	conn        *conn.Conn // nil means none
	last        string     // address of conn, or of the last one
	due         dueEvents
	version     cql.UUID // schema version of the last view
	heard       bool     // a schema event has arrived since then
	lostWake    chan struct{}
	shortLived  int           // consecutive connections lost soon after they were opened
	failure     error         // error of run's last attempt to connect
	readAt      time.Time     // when the last view was read
	err         error         // of the last attempt to read a view, nil after a success
	refreshWake chan struct{} // a token when an event requires a refresh
	wg          sync.WaitGroup

	view clusterView // the last one that was read, of conn; only the goroutine that reads views uses it
}

// dueEvents is the work that events require. An event only reports that something changed; one reading serves all of
// them.
type dueEvents struct {
	view, schema bool                // view: all rows
	nodes        map[netip.Addr]bool // addresses of nodes whose rows must be read
	up           map[netip.AddrPort]bool
}

// addNode adds the node of an event, by the address that the node announces.
func (d *dueEvents) addNode(addr netip.Addr) {
	if d.nodes == nil {
		d.nodes = map[netip.Addr]bool{}
	}
	if d.nodes[addr.Unmap()] = true; len(d.nodes) > maxEventNodes {
		d.view, d.nodes = true, nil
	}
}

// reads reports whether a view must be read.
func (d *dueEvents) reads() bool { return d.view || len(d.nodes) > 0 }

// clusterView is the content of the system tables.
type clusterView struct {
	rows        *hostRows // nil if the nodes are the contact points
	nodes       []*node   // without pools
	partitioner string
	clusterName string
	keyspaces   map[string]placement.Strategy
	leaders     map[string]bool // the keyspaces whose tablets have leaders; nil means none
	routes      []systemRow     // of system.client_routes, with ClusterConfig.Nodes.ClientRoutes
	reading     uint64          // number of the reading of routes
	schema      cql.UUID        // schema version at the node that was read
	changes     uint64          // cluster.replication.count before the view was read
}

func (c *control) stats() stats.Control {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := stats.Control{LastRead: c.readAt, Err: c.err}
	if c.conn != nil {
		st.Node = c.conn.Addr()
	}
	return st
}

// setError stores the error of an attempt to read a view.
func (c *control) setError(err error) {
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
}

// gotView passes a view on. The schema version reveals schema changes without an event, and those without a connection.
func (c *control) gotView(view clusterView, fresh bool) {
	var event frame.SchemaEvent
	c.mu.Lock()
	missed := fresh || view.schema != c.version && !c.heard
	if view.schema != c.version {
		event.Change = "UPDATED"
	}
	c.version, c.heard, c.readAt, c.err = view.schema, false, time.Now(), nil
	c.mu.Unlock()
	c.view = view
	c.view.nodes = nil
	c.onView(view)
	if missed {
		c.onSchema(event)
		c.settled()
	}
}

// event stores the work that an event requires. It does not block, so that a storm of events ends as soon as it is
// read.
func (c *control) event(e any) {
	schema, isSchema := e.(frame.SchemaEvent)
	if isSchema {
		c.onSchema(schema)
	}
	first := false
	c.mu.Lock()
	switch e := e.(type) {
	case frame.SchemaEvent:
		c.heard, c.due.schema = true, true
		c.due.view = c.due.view || e.Target == "KEYSPACE" // replica placement is part of the view
	case conn.EventsLost:
		c.due.view = true // the schema version reveals a change of the schema
	case frame.TopologyEvent:
		c.due.addNode(e.Addr.Addr())
	case frame.StatusEvent:
		c.due.addNode(e.Addr.Addr())
		if e.Change == "UP" && len(c.due.up) < maxUpHints && !c.due.up[e.Addr] {
			if c.due.up == nil {
				c.due.up = map[netip.AddrPort]bool{}
			}
			c.due.up[e.Addr], first = true, true
		}
	default:
		c.due.view = true
	}
	c.mu.Unlock()
	if first {
		c.onEvent(e)
	}
	if _, ok := e.(conn.EventsLost); ok {
		c.onSchema(frame.SchemaEvent{})
	}
	c.wake()
}

// refreshSoon makes run read a new view.
func (c *control) refreshSoon() {
	c.mu.Lock()
	c.due.view = true
	c.mu.Unlock()
	c.wake()
}

func (c *control) wake() {
	select {
	case c.refreshWake <- struct{}{}:
	default:
	}
}

// takeDue returns the work that events required since the last call.
func (c *control) takeDue() dueEvents {
	c.mu.Lock()
	defer c.mu.Unlock()
	due := c.due
	c.due = dueEvents{}
	return due
}

// closed is called once for each connection of dial, when the connection has ended. If that was the control connection,
// closed wakes the goroutine that reconnects. A connection that ended within reconnectMax counts as short-lived, which
// lengthens the backoff.
func (c *control) closed(conn *conn.Conn, err error) {
	c.mu.Lock()
	mine := c.conn == conn
	if mine {
		c.conn = nil
		c.err = err
		if c.shortLived++; time.Since(conn.Born) > reconnectMax {
			c.shortLived = 0
		}
	}
	c.mu.Unlock()
	if !mine {
		return // never stored, or removed by take
	}
	c.log.Info("control connection lost", "node", conn.Addr(), "err", err)
	select {
	case c.lostWake <- struct{}{}:
	default:
	}
}

// run keeps the connection open and the view current until ctx ends.
func (c *control) run(ctx context.Context) {
	defer c.wg.Done()
	ticker := time.NewTicker(c.refresh)
	defer ticker.Stop()
	for {
		due := dueEvents{view: true}
		select {
		case <-ctx.Done():
			return
		case <-c.lostWake:
			if !c.awaitTurn(ctx) {
				return
			}
		case <-ticker.C:
		case <-c.refreshWake:
			if !background.Sleep(ctx, eventDelay) {
				return
			}
			select { // this refresh serves the events of the delay as well
			case <-c.refreshWake:
			default:
			}
			due = c.takeDue()
		}
		wait := reconnectMin
		for due.reads() && !c.refreshOnce(ctx, &due) {
			if !background.Sleep(ctx, controlWait(wait, c.failure)) {
				return
			}
			wait = min(2*wait, reconnectMax)
		}
		for addr := range due.up {
			c.onEvent(frame.StatusEvent{Change: "UP", Addr: addr})
		}
		if due.schema {
			c.settled()
		}
	}
}

// awaitTurn is an exponential backoff after short-lived connections, so that a cluster that drops new connections is
// not dialed in a loop.
func (c *control) awaitTurn(ctx context.Context) bool {
	c.mu.Lock()
	shortLived := c.shortLived
	c.mu.Unlock()
	return shortLived == 0 || background.Sleep(ctx,
		background.Jitter(background.Exponential(reconnectMin, reconnectMax, shortLived-1)))
}

// refreshOnce reads a view as events require, over a new connection if necessary, and reports whether it succeeded.
func (c *control) refreshOnce(ctx context.Context, due *dueEvents) bool {
	if link := c.current(); link != nil {
		one, cancel := context.WithTimeout(ctx, c.timeout)
		view, err := c.read(one, link, due)
		cancel()
		if err == nil {
			c.gotView(view, false)
			return true
		}
		if ctx.Err() != nil {
			return false // Close drains the connection
		}
		c.log.Warn("system tables not read", "node", link.Addr(), "err", err)
		c.setError(err)
		if old := c.take(); old != nil {
			old.Close(&conn.EndError{Cause: stats.EndControl, Err: err})
		}
	}
	if c.failure = c.connect(ctx); c.failure != nil {
		if ctx.Err() == nil {
			c.log.Warn("no control connection", "err", c.failure)
			c.setError(c.failure)
		}
		return false
	}
	c.log.Info("control connection", "node", c.lastAddr()) // it may already be lost again
	return true
}

// current returns the connection, nil if there is none.
func (c *control) current() *conn.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
}

// lastAddr returns the address of the connection, or of the last one; empty before the first.
func (c *control) lastAddr() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// take removes and returns the connection, nil if there is none. The caller closes it.
func (c *control) take() *conn.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn := c.conn
	c.conn = nil
	return conn
}

// read reads a view as events require, and filters its nodes. A new connection reads all rows, so the last view is one
// of conn.
func (c *control) read(ctx context.Context, conn *conn.Conn, due *dueEvents) (view clusterView, err error) {
	enough := false
	if !due.view && c.view.rows != nil {
		view, enough = c.readNodes(ctx, conn, c.view, due.nodes)
	}
	if !enough {
		view, err = c.readView(ctx, conn)
	}
	if err == nil {
		err = c.admit(&view)
	}
	return view, err
}

// readLocal reads the row of a node on itself.
func readLocal(ctx context.Context, conn *conn.Conn) (systemRow, error) {
	local, err := systemQuery(ctx, conn, "SELECT * FROM system.local WHERE key = 'local'")
	if err != nil {
		return nil, errtext.Errorf("read system.local: %w", err)
	}
	if len(local) != 1 {
		return nil, &cql.ProtocolError{Message: fmt.Sprintf("system.local has %d rows", len(local))}
	}
	return local[0], nil
}

// readCluster reads nodes and keyspaces from the system tables. See hostRows.hosts for at, reach and instead.
func readCluster(ctx context.Context, conn *conn.Conn, reach translateFunc,
	instead func(first, other *cql.Host) bool, at netip.AddrPort,
) (clusterView, error) {
	var view clusterView
	local, err := readLocal(ctx, conn)
	if err != nil {
		return view, err
	}
	view.partitioner = get[string](local, "partitioner")
	view.clusterName = get[string](local, "cluster_name")
	view.schema = get[cql.UUID](local, "schema_version")
	table := "system.peers_v2"
	peers, err := systemQuery(ctx, conn, "SELECT * FROM "+table)
	// ScyllaDB and Cassandra 3 lack this table
	if errors.Is(err, cql.CodeInvalid) || errors.Is(err, cql.CodeConfig) || errors.Is(err, cql.CodeServer) {
		table = "system.peers"
		peers, err = systemQuery(ctx, conn, "SELECT * FROM "+table)
	}
	if err != nil {
		return view, errtext.Errorf("read system.peers: %w", err)
	}
	view.rows = parseRows(local, table, peers, at)
	if err := view.setNodes(reach, instead); err != nil {
		return view, err
	}

	rows, err := systemQuery(ctx, conn, "SELECT keyspace_name, replication FROM system_schema.keyspaces")
	if err != nil {
		return view, errtext.Errorf("read system_schema.keyspaces: %w", err)
	}
	view.keyspaces = make(map[string]placement.Strategy, len(rows))
	for _, row := range rows {
		name, _ := row["keyspace_name"].(string)
		options, _ := row["replication"].(map[string]string)
		view.keyspaces[name] = placement.ParseStrategy(options)
	}
	view.leaders, err = readLeaders(ctx, conn)
	return view, err
}

// setNodes sets the nodes that the rows of the view describe.
func (v *clusterView) setNodes(reach translateFunc, instead func(first, other *cql.Host) bool) error {
	hosts, err := v.rows.hosts(reach, instead)
	v.nodes = make([]*node, len(hosts))
	for i, h := range hosts {
		v.nodes[i] = &node{info: h}
	}
	return err
}

// schemaVersions returns the distinct schema versions of the cluster's nodes. The tables of its peers keep the last
// version of a node that is down, so only the nodes that isUp accepts count.
func schemaVersions(ctx context.Context, conn *conn.Conn, isUp func(host cql.UUID) bool) ([]cql.UUID, error) {
	local, err := systemQuery(ctx, conn, "SELECT schema_version FROM system.local WHERE key = 'local'")
	if err != nil {
		return nil, err
	}
	peers, err := systemQuery(ctx, conn, "SELECT host_id, schema_version FROM system.peers")
	if err != nil {
		return nil, err
	}
	var versions []cql.UUID
	for _, row := range append(local, peers...) {
		if id, ok := row["host_id"].(cql.UUID); ok && !isUp(id) {
			continue
		}
		if v, ok := row["schema_version"].(cql.UUID); ok && !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	return versions, nil
}

// versionsPatience bounds the first reading of schema versions; it doubles with each one that it ends. A node that has
// become silent must not take all the time of the wait.
const versionsPatience = 2 * time.Second

// versionsWithin reads the schema versions within a time.
func (c *control) versionsWithin(ctx context.Context, patience time.Duration, conn *conn.Conn) ([]cql.UUID, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.readVersions(ctx, conn)
}

// gossipPatience is how long other nodes must agree in the place of a node that made a change and no longer answers.
// Nodes tell each other their schema versions once a second (Gossiper.intervalInMillis of Cassandra).
const gossipPatience = 3 * time.Second

// awaitSchemaAgreement blocks until all nodes that are up report the same schema version. It reads from the connection
// of pick. After a change own reports whether that is one of the node that made the change: the others may all still
// agree on the previous version, and count only when they have agreed for a while.
func (c *control) awaitSchemaAgreement(ctx context.Context, pick func() (conn *conn.Conn, own bool)) error {
	began, patience := time.Now(), versionsPatience
	var agreed time.Time
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		err := ErrNoConnections
		if conn, own := pick(); conn != nil {
			var versions []cql.UUID
			versions, err = c.versionsWithin(ctx, patience, conn)
			switch {
			case err == nil && len(versions) <= 1:
				if agreed.IsZero() {
					agreed = time.Now()
				}
				if own || time.Since(agreed) >= gossipPatience {
					return nil
				}
				err = errtext.Errorf("the node that made the change does not answer, and the others agree only since %v",
					errtext.Round(time.Since(agreed)))
			case err == nil:
				agreed = time.Time{}
				names := make([]string, len(versions))
				for i, v := range versions {
					names[i] = v.String()
				}
				err = errtext.Errorf("versions %s", strings.Join(names, ", "))
			case errors.Is(err, context.DeadlineExceeded):
				patience *= 2
			}
		}
		if !background.Sleep(ctx, wait) {
			return errtext.Errorf("%w (%v): %w", ErrSchemaAgreement, errtext.Round(time.Since(began)), err)
		}
	}
}

// failoverOrder returns the addresses for a new control connection after the one to last has ended: the connected nodes
// and the others. Both lists begin with the data center of last and end with last itself. Nodes of equal rank are
// shuffled, so that the clients of a failed node spread over the others.
func failoverOrder(nodes []*node, last string, addrOf func(*cql.Host) string, isUp func(*node) bool,
) (up, down []string) {
	var dc string
	for _, n := range nodes {
		if addrOf(n.info) == last {
			dc = n.info.DataCenter
		}
	}
	rank := func(n *node) int {
		switch {
		case addrOf(n.info) == last:
			return 2
		case n.info.DataCenter == dc:
			return 0
		}
		return 1
	}
	nodes = slices.Clone(nodes)
	rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	slices.SortStableFunc(nodes, func(a, b *node) int { return cmp.Compare(rank(a), rank(b)) })
	for _, n := range nodes {
		if isUp(n) {
			up = append(up, addrOf(n.info))
		} else {
			down = append(down, addrOf(n.info))
		}
	}
	return up, down
}
