// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/schema"
)

// The schema cache: an immutable snapshot behind an atomic pointer. A keyspace is read when its metadata is first
// requested. A change marks a table, a keyspace or the whole schema stale; it is read again when it is requested next.
// A session that never requests metadata pays nothing, and a burst of events costs a few words of memory.

// A MetadataMode sets how much of the schema a session caches.
type MetadataMode uint8

// The modes. In every mode a session without Schema.OnChange reads nothing until metadata is requested.
const (
	MetadataFull      MetadataMode = iota // keyspaces with all their objects
	MetadataKeyspaces                     // keyspaces without tables, types, functions and aggregates
	MetadataNone                          // nothing: every call reads the system tables
)

// schemaSnapshot is the part of the schema read so far. It is immutable.
type schemaSnapshot struct {
	keyspaces map[string]*schema.Keyspace
	complete  bool // keyspaces has every keyspace of the cluster
}

// has reports whether the snapshot covers a keyspace, or all keyspaces if the name is empty.
func (s *schemaSnapshot) has(keyspace string) bool {
	if s.complete || keyspace == "" {
		return s.complete
	}
	_, ok := s.keyspaces[keyspace]
	return ok
}

// schemaCache reads the schema on demand, by singleflight: one read runs at a time, shared by all callers that wait for
// it. It is canceled when the last caller has left.
type schemaCache struct {
	mode MetadataMode
	ctx  context.Context   // of the session
	pick func() *conn.Conn // returns a connection for reads; nil means that there is none
	snap atomic.Pointer[schemaSnapshot]

	dirty  atomic.Bool // some part is stale, or a read of a stale part is running
	mu     sync.Mutex
	stale  staleSchema
	last   *schemaFlight // the running read; nil means none
	count  int           // reads started
	closed bool
	wg     sync.WaitGroup
}

func newSchemaCache(ctx context.Context, mode MetadataMode, pick func() *conn.Conn) *schemaCache {
	c := &schemaCache{mode: mode, ctx: ctx, pick: pick}
	c.snap.Store(&schemaSnapshot{})
	return c
}

// Beyond these numbers of names the next larger unit is stale, which bounds memory for any number of events.
const (
	maxStaleTables    = 32
	maxStaleKeyspaces = 32
)

// staleSchema is the part of the schema that must be read again.
type staleSchema struct {
	all       bool
	keyspaces map[string][]string // keyspace -> tables; nil means the whole keyspace
}

func (s *staleSchema) empty() bool { return !s.all && len(s.keyspaces) == 0 }

// touches reports whether any part of a keyspace is stale, or any part of the schema if the name is empty.
func (s *staleSchema) touches(keyspace string) bool {
	if s.all || keyspace == "" {
		return !s.empty()
	}
	_, ok := s.keyspaces[keyspace]
	return ok
}

// add marks a table stale, or the whole keyspace if table is empty.
func (s *staleSchema) add(keyspace, table string) {
	if s.all {
		return
	}
	tables, known := s.keyspaces[keyspace]
	switch {
	case keyspace == "" || !known && len(s.keyspaces) >= maxStaleKeyspaces:
		*s = staleSchema{all: true}
		return
	case known && (tables == nil || slices.Contains(tables, table)):
		return
	case table == "" || len(tables) >= maxStaleTables:
		tables = nil
	default:
		tables = append(tables, table)
	}
	if s.keyspaces == nil {
		s.keyspaces = map[string][]string{}
	}
	s.keyspaces[keyspace] = tables
}

// merge adds the stale parts of other.
func (s *staleSchema) merge(other staleSchema) {
	if other.all {
		*s = other
	}
	for keyspace, tables := range other.keyspaces {
		if tables == nil {
			s.add(keyspace, "")
		}
		for _, t := range tables {
			s.add(keyspace, t)
		}
	}
}

// changed marks the target of an event stale, or everything if the event names no keyspace. Servers report changes of
// views as events of tables.
func (c *schemaCache) changed(e frame.SchemaEvent) {
	if c.mode == MetadataNone || c.mode == MetadataKeyspaces && e.Keyspace != "" && e.Target != "KEYSPACE" {
		return
	}
	if e.Keyspace == "" {
		c.lost()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.snap.Load(); c.last == nil && !s.complete && !s.has(e.Keyspace) {
		return // the keyspace is not cached
	}
	if e.Target == "TABLE" && e.Name != "" {
		c.stale.add(e.Keyspace, e.Name)
	} else { // a changed type may be used by tables, a function by aggregates
		c.stale.add(e.Keyspace, "")
	}
	c.dirty.Store(true)
}

// lost marks everything stale, since events may have been lost.
func (c *schemaCache) lost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.snap.Load(); c.last != nil || s.complete || len(s.keyspaces) > 0 {
		c.stale = staleSchema{all: true}
		c.dirty.Store(true)
	}
}

// schemaFlight is one read.
type schemaFlight struct {
	number   int
	keyspace string // requested; empty means all
	stale    staleSchema
	cancel   context.CancelFunc
	waiting  int           // callers
	done     chan struct{} // closed after snap and err are set
	snap     *schemaSnapshot
	err      error
}

// get returns a snapshot with the keyspace, or with all keyspaces if the name is empty, as of the call or later.
func (c *schemaCache) get(ctx context.Context, keyspace string) (*schemaSnapshot, error) {
	if !c.dirty.Load() { // before snap: a read stores snap first and clears dirty then
		if s := c.snap.Load(); s.has(keyspace) {
			return s, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for began := -1; ; {
		c.mu.Lock()
		if s := c.snap.Load(); s.has(keyspace) && !c.stale.touches(keyspace) &&
			(c.last == nil || !c.last.stale.touches(keyspace)) {
			c.mu.Unlock()
			return s, nil
		}
		if began < 0 {
			began = c.count
		}
		f := c.last
		if f == nil {
			if c.closed {
				c.mu.Unlock()
				return nil, ErrSessionClosed
			}
			f = c.startReading(keyspace)
		}
		f.waiting++
		c.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			c.leave(f)
			return nil, ctx.Err()
		}
		// an earlier read may have missed a change before the call
		if f.number > began && (f.keyspace == "" || f.keyspace == keyspace) {
			return f.snap, f.err
		}
	}
}

// leave removes a caller from f. It cancels f if no other caller waits.
func (c *schemaCache) leave(f *schemaFlight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiting--; f.waiting == 0 && c.last == f {
		c.last = nil
		c.stale.merge(f.stale)
		f.cancel()
	}
}

// startReading starts a read. Callers hold c.mu.
func (c *schemaCache) startReading(keyspace string) *schemaFlight {
	c.count++
	ctx, cancel := context.WithCancel(c.ctx)
	f := &schemaFlight{number: c.count, keyspace: keyspace, cancel: cancel, done: make(chan struct{})}
	switch tables, ok := c.stale.keyspaces[keyspace]; {
	case keyspace == "" || c.stale.all:
		f.stale, c.stale = c.stale, staleSchema{}
	case ok:
		f.stale.keyspaces = map[string][]string{keyspace: tables}
		delete(c.stale.keyspaces, keyspace)
	}
	c.last = f
	old := c.snap.Load()
	c.wg.Go(func() {
		defer cancel()
		snap, err := c.read(ctx, old, f)
		c.mu.Lock()
		defer c.mu.Unlock()
		if f.snap, f.err = snap, err; c.last == f {
			c.last = nil
			if err != nil {
				c.stale.merge(f.stale)
			} else {
				c.snap.Store(snap)
				c.dirty.Store(!c.stale.empty())
			}
		}
		close(f.done)
	})
	return f
}

// read returns the snapshot that replaces old.
func (c *schemaCache) read(ctx context.Context, old *schemaSnapshot, f *schemaFlight) (*schemaSnapshot, error) {
	next := &schemaSnapshot{keyspaces: map[string]*schema.Keyspace{}, complete: f.keyspace == ""}
	if f.keyspace == "" && (f.stale.all || !old.complete) {
		return next, c.readScope(ctx, next, schema.Scope{})
	}
	if !f.stale.all { // otherwise all keyspaces of old are stale
		maps.Copy(next.keyspaces, old.keyspaces)
		next.complete = old.complete
	}
	again := maps.Clone(f.stale.keyspaces)
	if f.keyspace != "" && (f.stale.all || !old.has(f.keyspace)) {
		again = map[string][]string{f.keyspace: nil}
	}
	for _, keyspace := range slices.Sorted(maps.Keys(again)) {
		if err := c.readKeyspace(ctx, next, keyspace, again[keyspace]); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// readKeyspace reads a keyspace, or only the given tables if next has the keyspace already, into next.
func (c *schemaCache) readKeyspace(ctx context.Context, next *schemaSnapshot, keyspace string, tables []string) error {
	if next.keyspaces[keyspace] == nil {
		tables = nil
	}
	return c.readScope(ctx, next, schema.Scope{Keyspace: keyspace, Tables: tables})
}

// readScope reads a scope into next. If its connection is closed meanwhile, it retries on another one, up to 3 times in
// all.
func (c *schemaCache) readScope(ctx context.Context, next *schemaSnapshot, scope schema.Scope) error {
	scope.KeyspacesOnly = c.mode == MetadataKeyspaces
	err := ErrNoConnections
	for range 3 {
		conn := c.pick()
		if conn == nil {
			break
		}
		var rows *schema.Rows
		if rows, err = readSchema(ctx, conn, scope); err == nil {
			rows.Update(next.keyspaces)
			return nil
		}
		if ctx.Err() != nil || !conn.Refuses() && !conn.Closed() {
			break
		}
	}
	if c.ctx.Err() != nil {
		err = ErrSessionClosed
	}
	var refused *cql.ServerError
	if errors.As(err, &refused) || errors.Is(err, ErrNoConnections) {
		err = errtext.Errorf("%w: %w", ErrNoMetadata, err)
	}
	return err
}

// close refuses further reads and waits for the running one. The context of the session has ended.
func (c *schemaCache) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.wg.Wait()
}

// keyspace returns the metadata of a keyspace, or ErrKeyspaceDoesNotExist.
func (c *schemaCache) keyspace(ctx context.Context, name string) (*cql.KeyspaceMetadata, error) {
	if name == "" {
		return nil, ErrNoKeyspace
	}
	var snap *schemaSnapshot
	var err error
	if c.mode == MetadataNone {
		snap = &schemaSnapshot{keyspaces: map[string]*schema.Keyspace{}}
		err = c.readKeyspace(ctx, snap, name, nil)
	} else {
		snap, err = c.get(ctx, name)
	}
	if err != nil {
		return nil, errtext.Errorf("read the metadata of keyspace %q: %w", name, err)
	}
	if ks := snap.keyspaces[name]; ks != nil {
		return ks.Metadata, nil
	}
	return nil, errtext.Errorf("%w: %q", ErrKeyspaceDoesNotExist, name)
}

// all returns all keyspaces by name. The map is shared.
func (c *schemaCache) all(ctx context.Context) (map[string]*schema.Keyspace, error) {
	var snap *schemaSnapshot
	var err error
	if c.mode == MetadataNone {
		snap, err = c.read(ctx, &schemaSnapshot{}, &schemaFlight{})
	} else {
		snap, err = c.get(ctx, "")
	}
	if err != nil {
		return nil, errtext.Errorf("read the metadata of all keyspaces: %w", err)
	}
	return snap.keyspaces, nil
}

// allMetadata returns the metadata of all keyspaces by name. The caller owns the map.
func (c *schemaCache) allMetadata(ctx context.Context) (map[string]*cql.KeyspaceMetadata, error) {
	keyspaces, err := c.all(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[string]*cql.KeyspaceMetadata, len(keyspaces))
	for name, ks := range keyspaces {
		all[name] = ks.Metadata
	}
	return all, nil
}

// Queries of the system tables for the schema. The queries run one after the other. If the schema changes between two
// of them, an event follows, and the changed part is read again.

// readSchema reads the rows of a scope. If the server refuses to return an optional table, the error becomes a fault of
// the keyspaces.
func readSchema(ctx context.Context, conn *conn.Conn, scope schema.Scope) (*schema.Rows, error) {
	rows := schema.NewRows(scope)
	for _, q := range scope.Queries() {
		err := systemEach(ctx, conn, q.Statement, func(row systemRow) { rows.Add(&q, row) })
		var refused *cql.ServerError
		switch {
		case err == nil:
		case q.Optional && (errors.Is(err, cql.CodeInvalid) || errors.Is(err, cql.CodeConfig)):
			// The server does not have this table.
		case q.Optional && errors.As(err, &refused) && !errors.Is(err, cql.CodeOverloaded) &&
			!errors.Is(err, cql.CodeBootstrapping):
			rows.AddFault(errtext.Errorf("read system_schema.%s: %w", q.Table, err))
		default:
			return nil, errtext.Errorf("read system_schema.%s: %w", q.Table, err)
		}
	}
	return rows, nil
}
