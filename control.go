// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds the control connection: one connection on which the driver reads the system tables and hears the server's events
// (native_protocol_v5.spec, section 4.2.6). When it breaks, another node takes its place.

// eventDelay gathers events before the system tables are read again. A node may announce itself before it listens, so the delay also
// gives it the time to start.
const eventDelay = time.Second

// control keeps one connection alive and hands each new view of the cluster to its owner.
type control struct {
	dial     func(ctx context.Context, addr string, onEvent func(any), closed func(c *conn, err error)) (*conn, error)
	contacts func(ctx context.Context) ([]string, error) // addresses to try, the best first; asked again for every attempt
	onView   func(clusterView)
	onEvent  func(event any) // called for each event, before the view is read again
	isUp     func(host UUID) bool
	log      *slog.Logger
	refresh  time.Duration // the system tables are read at least this often: events can be lost
	timeout  time.Duration // for reading them

	mu   sync.Mutex
	conn *conn // nil while there is none
	lost chan struct{}
	poke chan struct{} // an event asks for a refresh
	wg   sync.WaitGroup
}

// clusterView is what the system tables say.
type clusterView struct {
	hosts       []*HostInfo
	partitioner string
	clusterName string
	keyspaces   map[string]replication
}

// connect dials the first contact that answers and reads the cluster from it.
func (c *control) connect(ctx context.Context) error {
	addrs, err := c.contacts(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, addr := range addrs {
		err := c.connectTo(ctx, addr)
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
	body := getBuffer(64)
	defer body.release()
	if body.b, err = appendRegister(body.b[:0], []string{"TOPOLOGY_CHANGE", "STATUS_CHANGE", "SCHEMA_CHANGE"}); err == nil {
		err = expect(ctx, conn, &request{op: opRegister, body: body}, opReady)
	}
	var view clusterView
	if err == nil {
		view, err = readCluster(ctx, conn)
	}
	if err != nil {
		conn.close(err)
		return err
	}
	c.mu.Lock()
	c.conn = conn
	c.mu.Unlock()
	c.onView(view)
	return nil
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

func (c *control) event(e any) {
	c.onEvent(e)
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

func (c *control) closed(conn *conn, err error) {
	c.mu.Lock()
	mine := c.conn == conn
	if mine {
		c.conn = nil
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
	wait := reconnectMin
	ticker := time.NewTicker(c.refresh)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.lost:
		case <-ticker.C:
		case <-c.poke:
			if !sleep(ctx, eventDelay) {
				return
			}
			select { // the events of the delay are answered by the same refresh
			case <-c.poke:
			default:
			}
		}
		for !c.refreshOnce(ctx) {
			if !sleep(ctx, wait) {
				return
			}
			wait = min(2*wait, reconnectMax)
		}
		wait = reconnectMin
	}
}

// refreshOnce reads the view, over a new connection if need be, and reports success.
func (c *control) refreshOnce(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if conn := c.current(); conn != nil {
		view, err := readCluster(ctx, conn)
		if err == nil {
			c.onView(view)
			return true
		}
		c.log.Warn("reading the system tables", "node", conn.addr(), "err", err)
		if old := c.take(); old != nil {
			old.close(err)
		}
	}
	if err := c.connect(ctx); err != nil {
		c.log.Warn("no control connection", "err", err)
		return false
	}
	c.log.Info("control connection", "node", c.current().addr())
	return true
}

// current returns the connection, nil while there is none.
func (c *control) current() *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
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

// systemQuery runs a statement without values and returns its rows by column name; NULL is nil.
func systemQuery(ctx context.Context, conn *conn, stmt string) ([]map[string]any, error) {
	body := getBuffer(len(stmt) + 32)
	defer body.release()
	var err error
	if body.b, err = appendQuery(body.b[:0], conn.version(), stmt, &queryParams{consistency: One}); err != nil {
		return nil, err
	}
	resp, err := conn.roundTrip(ctx, &request{op: opQuery, body: body})
	if err != nil {
		return nil, err
	}
	defer resp.page.release()
	_, r, err := parseEnvelope(resp.header, resp.page.b)
	if err != nil {
		return nil, err
	}
	if opcode(resp.header.Opcode) == opError {
		return nil, parseError(&r, conn.version(), 0)
	}
	res, err := parseResult(&r, conn.version(), false, nil)
	if err != nil {
		return nil, err
	}
	if res.kind != resultRows {
		return nil, nil
	}
	rows := make([]map[string]any, 0, res.rows.rowCount)
	cells := wire.NewReader(res.rows.cells)
	for range res.rows.rowCount {
		row := make(map[string]any, len(res.rows.meta.columns))
		for _, col := range res.rows.meta.columns {
			cell, null := cells.Value()
			if null {
				row[col.Name] = nil
				continue
			}
			var v any
			if err := decodeCell(col.TypeInfo, cell, &v); err != nil {
				return nil, err
			}
			row[col.Name] = v
		}
		rows = append(rows, row)
	}
	return rows, cells.Err()
}

// readCluster reads nodes and keyspaces from the system tables.
func readCluster(ctx context.Context, conn *conn) (clusterView, error) {
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
	self := parseHost(local[0], at.Port())
	self.addr = at // what we reached it by is the one address known to work
	view.partitioner, _ = local[0]["partitioner"].(string)
	view.clusterName, _ = local[0]["cluster_name"].(string)
	view.hosts = append(view.hosts, self)

	peers, err := systemQuery(ctx, conn, "SELECT * FROM system.peers_v2")
	if errors.Is(err, CodeInvalid) || errors.Is(err, CodeConfig) || errors.Is(err, CodeServer) { // ScyllaDB and Cassandra 3 lack it
		peers, err = systemQuery(ctx, conn, "SELECT * FROM system.peers")
	}
	if err != nil {
		return view, fmt.Errorf("read system.peers: %w", err)
	}
	for _, row := range peers {
		h := parseHost(row, at.Port())
		if h.id == (UUID{}) || !h.addr.IsValid() || len(h.tokens) == 0 || slices.ContainsFunc(view.hosts, func(o *HostInfo) bool {
			return o.id == h.id || o.addr == h.addr
		}) {
			continue // a row that is being written, or was left behind
		}
		view.hosts = append(view.hosts, h)
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

// parseHost reads a row of system.local, peers or peers_v2. Columns that are NULL or of another type are left out.
func parseHost(row map[string]any, port uint16) *HostInfo {
	h := &HostInfo{}
	h.id, _ = row["host_id"].(UUID)
	h.dc, _ = row["data_center"].(string)
	h.rack, _ = row["rack"].(string)
	h.version, _ = row["release_version"].(string)
	h.schema, _ = row["schema_version"].(UUID)
	if p, ok := row["native_port"].(int); ok && p > 0 && p <= 0xFFFF {
		port = uint16(p)
	}
	for _, col := range []string{"native_address", "rpc_address", "peer"} { // the address for clients, else that of the node
		ip, _ := row[col].(net.IP)
		if a, ok := netip.AddrFromSlice(ip); ok && !a.IsUnspecified() {
			h.addr = netip.AddrPortFrom(a.Unmap(), port)
			break
		}
	}
	tokens, _ := row["tokens"].([]string)
	for _, s := range tokens {
		if t, err := strconv.ParseInt(s, 10, 64); err == nil {
			h.tokens = append(h.tokens, t)
		}
	}
	return h
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
