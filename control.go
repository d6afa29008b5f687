// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// This file holds the control connection: one connection on which the driver reads the system tables and hears the server's events
// (native_protocol_v5.spec, section 4.2.6). When it breaks, another node takes its place.

// eventDelay gathers events before the system tables are read again. A node may announce itself before it listens, so the delay also
// gives it the time to start.
const eventDelay = time.Second

// maxRumours bounds the addresses that are said to be up, of which any number may be told.
const maxRumours = 1024

// control keeps one connection alive and hands each new view of the cluster to its owner.
type control struct {
	dial     func(ctx context.Context, addr string, onEvent func(any), closed func(c *conn, err error)) (*conn, error)
	contacts func(ctx context.Context) ([]string, error) // addresses to try, the best first; asked again for every attempt
	onView   func(clusterView)
	onEvent  func(event any)         // a node is said to be up: called at once, and after eventDelay with the view read again; not for repeats
	onSchema func(event schemaEvent) // called at once; an empty keyspace says that anything may have changed
	settled  func()                  // called some time after onSchema, once for many
	isUp     func(host UUID) bool
	reach    translateFunc                 // nil, or where clients reach an address of the system tables
	admit    func(view *clusterView) error // judges the nodes of a view before onView
	log      *slog.Logger
	events   []string      // types of events that the server is asked for
	refresh  time.Duration // the system tables are read at least this often: events can be lost
	timeout  time.Duration // for reading them, and for connecting to one node

	mu      sync.Mutex
	conn    *conn  // nil while there is none
	last    string // where conn is or was connected to
	due     dueEvents
	version UUID // of the schema, when the view was read last
	heard   bool // of a change of the schema since then
	lost    chan struct{}
	young   int           // connections in a row that were lost soon after they were opened
	failure error         // of run's last attempt to connect
	poke    chan struct{} // an event asks for a refresh
	wg      sync.WaitGroup
}

// dueEvents is what events ask for: they say that something changed, and it is read once for all of them.
type dueEvents struct {
	view, schema bool
	up           map[netip.AddrPort]bool
}

// clusterView is what the system tables say.
type clusterView struct {
	hosts       []*HostInfo
	partitioner string
	clusterName string
	keyspaces   map[string]replication
	schema      UUID // version, at the node that was asked
}

// connect dials the first contact that answers and reads the cluster from it.
func (c *control) connect(ctx context.Context) error {
	addrs, err := c.contacts(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, addr := range addrs {
		one, cancel := context.WithTimeout(ctx, c.timeout) // a node that is silent does not use up the time of the next
		err := c.connectTo(one, addr)
		cancel()
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", addr, err))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

func (c *control) connectTo(ctx context.Context, addr string) error {
	conn, err := c.dial(ctx, addr, c.event, c.closed)
	if err != nil {
		return err
	}
	if len(c.events) > 0 {
		body := getBuffer(64)
		defer body.release()
		if body.b, err = appendRegister(body.b[:0], c.events); err == nil {
			err = expect(ctx, conn, &request{op: opRegister, body: body}, opReady)
		}
	}
	var view clusterView
	if err == nil {
		view, err = c.read(ctx, conn)
	}
	if err == nil {
		err = ctx.Err() // the program's code may have taken long to judge the view
	}
	if err != nil {
		conn.close(err)
		return err
	}
	c.mu.Lock()
	c.conn, c.last = conn, addr
	c.mu.Unlock()
	if conn.closed() { // perhaps before it was ours, when nobody wanted to know
		c.closed(conn, ErrConnectionClosed)
	}
	c.gotView(view, true)
	return nil
}

// gotView hands a view over. Whether the schema changed without an event, or while nobody listened, shows in its version.
func (c *control) gotView(view clusterView, fresh bool) {
	c.mu.Lock()
	missed := fresh || view.schema != c.version && !c.heard
	c.version, c.heard = view.schema, false
	c.mu.Unlock()
	c.onView(view)
	if missed {
		c.onSchema(schemaEvent{})
		c.settled()
	}
}

// expect sends a request whose answer is a bare opcode.
func expect(ctx context.Context, conn *conn, req *request, want opcode) error {
	resp, err := conn.roundTrip(ctx, req)
	if err != nil {
		return err
	}
	defer resp.page.release()
	_, r, err := parseEnvelope(resp.header, resp.page.b)
	if err != nil {
		return err
	}
	switch op := opcode(resp.header.Opcode); op {
	case want:
		return nil
	case opError:
		return parseError(&r, conn.version(), 0)
	default:
		return &ProtocolError{Message: fmt.Sprintf("%v answered with %v", req.op, op)}
	}
}

// event notes what an event asks for. It takes no time, so that a storm of events is over as soon as it has been read.
func (c *control) event(e any) {
	schema, isSchema := e.(schemaEvent)
	if isSchema {
		c.onSchema(schema)
	}
	first := false
	c.mu.Lock()
	switch e := e.(type) {
	case schemaEvent:
		c.heard, c.due.schema = true, true
		c.due.view = c.due.view || e.target == "KEYSPACE" // where replicas are is a part of the view
	case eventsLost:
		c.due.view = true // whether the schema has changed shows in its version
	case statusEvent:
		c.due.view = true
		if e.change == "UP" && len(c.due.up) < maxRumours && !c.due.up[e.addr] {
			if c.due.up == nil {
				c.due.up = map[netip.AddrPort]bool{}
			}
			c.due.up[e.addr], first = true, true
		}
	default:
		c.due.view = true
	}
	c.mu.Unlock()
	if first {
		c.onEvent(e)
	}
	if _, ok := e.(eventsLost); ok {
		c.onSchema(schemaEvent{})
	}
	c.wake()
}

// refreshSoon has the view read again.
func (c *control) refreshSoon() {
	c.mu.Lock()
	c.due.view = true
	c.mu.Unlock()
	c.wake()
}

func (c *control) wake() {
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

// takeDue returns what events asked for since it was called last.
func (c *control) takeDue() dueEvents {
	c.mu.Lock()
	defer c.mu.Unlock()
	due := c.due
	c.due = dueEvents{}
	return due
}

func (c *control) closed(conn *conn, err error) {
	c.mu.Lock()
	mine := c.conn == conn
	if mine {
		c.conn = nil
		if c.young++; time.Since(conn.born) > reconnectMax {
			c.young = 0
		}
	}
	c.mu.Unlock()
	if !mine {
		return // it never served, or was taken to be closed
	}
	c.log.Info("control connection lost", "node", conn.addr(), "err", err)
	select {
	case c.lost <- struct{}{}:
	default:
	}
}

// run keeps the connection and the view fresh until ctx ends.
func (c *control) run(ctx context.Context) {
	defer c.wg.Done()
	ticker := time.NewTicker(c.refresh)
	defer ticker.Stop()
	for {
		due := dueEvents{view: true}
		select {
		case <-ctx.Done():
			return
		case <-c.lost:
			if !c.awaitTurn(ctx) {
				return
			}
		case <-ticker.C:
		case <-c.poke:
			if !sleep(ctx, eventDelay) {
				return
			}
			select { // the events of the delay are answered by the same refresh
			case <-c.poke:
			default:
			}
			due = c.takeDue()
		}
		wait := reconnectMin
		for due.view && !c.refreshOnce(ctx) {
			if !sleep(ctx, controlWait(wait, c.failure)) {
				return
			}
			wait = min(2*wait, reconnectMax)
		}
		for addr := range due.up {
			c.onEvent(statusEvent{change: "UP", addr: addr})
		}
		if due.schema {
			c.settled()
		}
	}
}

// awaitTurn waits after connections that did not last: a cluster that accepts them and drops them is not to be dialled in a loop.
func (c *control) awaitTurn(ctx context.Context) bool {
	c.mu.Lock()
	young := c.young
	c.mu.Unlock()
	return young == 0 || sleep(ctx, jittered(ExponentialReconnectionPolicy{}.GetInterval(young-1)))
}

// refreshOnce reads the view, over a new connection if need be, and reports success.
func (c *control) refreshOnce(ctx context.Context) bool {
	if conn := c.current(); conn != nil {
		one, cancel := context.WithTimeout(ctx, c.timeout)
		view, err := c.read(one, conn)
		cancel()
		if err == nil {
			c.gotView(view, false)
			return true
		}
		c.log.Warn("reading the system tables", "node", conn.addr(), "err", err)
		if old := c.take(); old != nil {
			old.close(err)
		}
	}
	if c.failure = c.connect(ctx); c.failure != nil {
		c.log.Warn("no control connection", "err", c.failure)
		return false
	}
	c.log.Info("control connection", "node", c.lastAddr()) // it may be lost again by now
	return true
}

// current returns the connection, nil while there is none.
func (c *control) current() *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
}

// lastAddr returns where the connection is, or was last; empty before the first.
func (c *control) lastAddr() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// take returns the connection, nil if there is none, and leaves it to the caller to end it.
func (c *control) take() *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn := c.conn
	c.conn = nil
	return conn
}

// sleep waits for d and reports whether ctx let it.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// read reads a view and has its nodes judged.
func (c *control) read(ctx context.Context, conn *conn) (clusterView, error) {
	view, err := readCluster(ctx, conn, c.reach)
	if err == nil {
		err = c.admit(&view)
	}
	return view, err
}

// readCluster reads nodes and keyspaces from the system tables.
func readCluster(ctx context.Context, conn *conn, reach translateFunc) (clusterView, error) {
	var view clusterView
	local, err := systemQuery(ctx, conn, "SELECT * FROM system.local WHERE key = 'local'")
	if err != nil {
		return view, fmt.Errorf("read system.local: %w", err)
	}
	if len(local) != 1 {
		return view, &ProtocolError{Message: fmt.Sprintf("system.local has %d rows", len(local))}
	}
	at, err := netip.ParseAddrPort(conn.addr())
	if err != nil {
		return view, err
	}
	view.partitioner, _ = local[0]["partitioner"].(string)
	view.clusterName, _ = local[0]["cluster_name"].(string)
	view.schema = get[UUID](local[0], "schema_version")
	peers, err := systemQuery(ctx, conn, "SELECT * FROM system.peers_v2")
	if errors.Is(err, CodeInvalid) || errors.Is(err, CodeConfig) || errors.Is(err, CodeServer) { // ScyllaDB and Cassandra 3 lack it
		peers, err = systemQuery(ctx, conn, "SELECT * FROM system.peers")
	}
	if err != nil {
		return view, fmt.Errorf("read system.peers: %w", err)
	}
	if view.hosts, err = hostsOf(local[0], peers, at, reach); err != nil {
		return view, err
	}

	rows, err := systemQuery(ctx, conn, "SELECT keyspace_name, replication FROM system_schema.keyspaces")
	if err != nil {
		return view, fmt.Errorf("read system_schema.keyspaces: %w", err)
	}
	view.keyspaces = make(map[string]replication, len(rows))
	for _, row := range rows {
		name, _ := row["keyspace_name"].(string)
		options, _ := row["replication"].(map[string]string)
		view.keyspaces[name] = parseReplication(options)
	}
	return view, nil
}

// schemaVersions returns the different schema versions that the cluster's nodes report. A node that is down keeps its last version
// in its peers' tables, so that only those that isUp counts are asked.
func schemaVersions(ctx context.Context, conn *conn, isUp func(host UUID) bool) ([]UUID, error) {
	local, err := systemQuery(ctx, conn, "SELECT schema_version FROM system.local WHERE key = 'local'")
	if err != nil {
		return nil, err
	}
	peers, err := systemQuery(ctx, conn, "SELECT host_id, schema_version FROM system.peers")
	if err != nil {
		return nil, err
	}
	var versions []UUID
	for _, row := range append(local, peers...) {
		if id, ok := row["host_id"].(UUID); ok && !isUp(id) {
			continue
		}
		if v, ok := row["schema_version"].(UUID); ok && !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	return versions, nil
}

// awaitSchemaAgreement waits until all nodes that are up report the same schema version. It asks the node that pick connects to, which
// after a change must be the one that made it: the others may all still agree on the version before.
func (c *control) awaitSchemaAgreement(ctx context.Context, pick func() *conn) error {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		err := ErrNoConnections
		conn := pick()
		if conn == nil {
			conn = c.current()
		}
		if conn != nil {
			var versions []UUID
			if versions, err = schemaVersions(ctx, conn, c.isUp); err == nil && len(versions) <= 1 {
				return nil
			} else if err == nil {
				names := make([]string, len(versions))
				for i, v := range versions {
					names[i] = v.String()
				}
				err = fmt.Errorf("%w: versions %s", ErrSchemaAgreement, strings.Join(names, ", "))
			}
		}
		if !sleep(ctx, wait) {
			if errors.Is(err, ErrSchemaAgreement) {
				return err
			}
			return fmt.Errorf("%w: %w", ErrSchemaAgreement, err)
		}
	}
}
