// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// This file keeps the schema that was read: an immutable snapshot behind an atomic pointer. Nothing is read before somebody asks, and then
// only the keyspace that was asked for; a change makes a table, a keyspace or all of it stale, and it is read again when somebody asks next.
// So a session that never asks pays nothing, and a storm of events costs a few words of memory.

// MetadataCacheMode says how much of the schema a session keeps.
type MetadataCacheMode int

// The modes. In each of them a session reads nothing until it is asked, or has listeners.
const (
	// Full keeps keyspaces with all that is in them.
	Full MetadataCacheMode = iota
	// KeyspaceOnly keeps keyspaces without tables, types, functions and aggregates.
	KeyspaceOnly
	// Disabled keeps nothing: the system tables are read on every call.
	Disabled
)

// schemaSnapshot is what was read. It is immutable.
type schemaSnapshot struct {
	keyspaces map[string]*KeyspaceMetadata
	complete  bool // a keyspace that is not here does not exist
}

// has reports whether the snapshot tells of that keyspace, or of all when the name is empty.
func (s *schemaSnapshot) has(keyspace string) bool {
	if s.complete || keyspace == "" {
		return s.complete
	}
	_, ok := s.keyspaces[keyspace]
	return ok
}

// schemaCache reads the schema on demand. Readings are shared: one runs at a time, for all who wait for it, until the last of them has
// given up.
type schemaCache struct {
	mode MetadataCacheMode
	ctx  context.Context // of the session
	pick func() *conn    // a connection to read by, nil when there is none
	snap atomic.Pointer[schemaSnapshot]

	dirty  atomic.Bool // something is stale, or is being read because it was
	mu     sync.Mutex
	stale  staleSchema
	last   *schemaFlight // running; nil: none is
	count  int           // of readings begun
	closed bool
	wg     sync.WaitGroup
}

func newSchemaCache(ctx context.Context, mode MetadataCacheMode, pick func() *conn) *schemaCache {
	c := &schemaCache{mode: mode, ctx: ctx, pick: pick}
	c.snap.Store(&schemaSnapshot{})
	return c
}

// Beyond this many names the next larger unit is stale: memory is bounded whatever the events say.
const (
	maxStaleTables    = 32
	maxStaleKeyspaces = 32
)

// staleSchema is what has to be read again. For a keyspace nil means that all of it is stale.
type staleSchema struct {
	all       bool
	keyspaces map[string][]string
}

func (s *staleSchema) empty() bool { return !s.all && len(s.keyspaces) == 0 }

// touches reports whether something of a keyspace is stale, or anything when the name is empty.
func (s *staleSchema) touches(keyspace string) bool {
	if s.all || keyspace == "" {
		return !s.empty()
	}
	_, ok := s.keyspaces[keyspace]
	return ok
}

// add makes a table stale, or all of the keyspace when table is empty.
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

// merge adds what other holds.
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

// changed makes stale what the event tells of, everything when it names no keyspace. The server tells of a view by an event of a table.
func (c *schemaCache) changed(e schemaEvent) {
	if c.mode == Disabled || c.mode == KeyspaceOnly && e.keyspace != "" && e.target != "KEYSPACE" {
		return
	}
	if e.keyspace == "" {
		c.lost()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.snap.Load(); c.last == nil && !s.complete && !s.has(e.keyspace) {
		return // it is not kept
	}
	if e.target == "TABLE" && e.name != "" {
		c.stale.add(e.keyspace, e.name)
	} else { // tables may use a type that has changed, aggregates a function
		c.stale.add(e.keyspace, "")
	}
	c.dirty.Store(true)
}

// lost makes everything stale: events may have been missed.
func (c *schemaCache) lost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.snap.Load(); c.last != nil || s.complete || len(s.keyspaces) > 0 {
		c.stale = staleSchema{all: true}
		c.dirty.Store(true)
	}
}

// schemaFlight is one reading.
type schemaFlight struct {
	number   int
	keyspace string // asked for; empty: all
	stale    staleSchema
	cancel   context.CancelFunc
	waiting  int
	done     chan struct{} // closed when the rest is set
	snap     *schemaSnapshot
	err      error
}

// get returns a snapshot that tells of the keyspace, or of all when the name is empty, as it was at the time of the call or later.
func (c *schemaCache) get(ctx context.Context, keyspace string) (*schemaSnapshot, error) {
	if !c.dirty.Load() { // in this order: what was stale is in the snapshot before it is no longer said to be
		if s := c.snap.Load(); s.has(keyspace) {
			return s, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for began := -1; ; {
		c.mu.Lock()
		if s := c.snap.Load(); s.has(keyspace) && !c.stale.touches(keyspace) && (c.last == nil || !c.last.stale.touches(keyspace)) {
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
			f = c.begin(keyspace)
		}
		f.waiting++
		c.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			c.leave(f)
			return nil, ctx.Err()
		}
		if f.number > began && (f.keyspace == "" || f.keyspace == keyspace) { // else it may have begun before the change that is looked for
			return f.snap, f.err
		}
	}
}

// leave gives up waiting for f. When nobody waits any more, it ends.
func (c *schemaCache) leave(f *schemaFlight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiting--; f.waiting == 0 && c.last == f {
		c.last = nil
		c.stale.merge(f.stale)
		f.cancel()
	}
}

// begin starts a reading, with mu held.
func (c *schemaCache) begin(keyspace string) *schemaFlight {
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

// read makes the snapshot that follows old.
func (c *schemaCache) read(ctx context.Context, old *schemaSnapshot, f *schemaFlight) (*schemaSnapshot, error) {
	next := &schemaSnapshot{keyspaces: map[string]*KeyspaceMetadata{}, complete: f.keyspace == ""}
	if f.keyspace == "" && (f.stale.all || !old.complete) {
		rows, err := c.readScope(ctx, schemaScope{})
		for name, k := range rows {
			if ks := k.build(c.mode == KeyspaceOnly); ks != nil {
				next.keyspaces[name] = ks
			}
		}
		return next, err
	}
	if !f.stale.all { // else nothing of the old one is good any more
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

// readKeyspace reads a keyspace, or some tables of it, into next.
func (c *schemaCache) readKeyspace(ctx context.Context, next *schemaSnapshot, keyspace string, tables []string) error {
	old := next.keyspaces[keyspace]
	if old == nil {
		tables = nil
	}
	rows, err := c.readScope(ctx, schemaScope{keyspace: keyspace, tables: tables})
	if err != nil {
		return err
	}
	k := rows[keyspace]
	if k == nil {
		k = &keyspaceRows{name: keyspace}
	}
	if tables != nil && k.keyspace != nil {
		next.keyspaces[keyspace] = k.merge(old, tables)
		return nil
	}
	if ks := k.build(c.mode == KeyspaceOnly); ks != nil {
		next.keyspaces[keyspace] = ks
	} else {
		delete(next.keyspaces, keyspace)
	}
	return nil
}

// readScope reads from the system tables. A connection that ends meanwhile is replaced by another one.
func (c *schemaCache) readScope(ctx context.Context, scope schemaScope) (map[string]*keyspaceRows, error) {
	scope.keyspacesOnly = c.mode == KeyspaceOnly
	err := ErrNoConnections
	for range 3 {
		conn := c.pick()
		if conn == nil {
			break
		}
		var rows map[string]*keyspaceRows
		if rows, err = readSchema(ctx, conn, scope); err == nil {
			return rows, nil
		}
		if ctx.Err() != nil || !conn.refuses() && !conn.closed() {
			break
		}
	}
	if c.ctx.Err() != nil {
		err = ErrSessionClosed
	}
	var refused RequestError
	if errors.As(err, &refused) || errors.Is(err, ErrNoConnections) {
		err = fmt.Errorf("%w: %w", ErrNoMetadata, err)
	}
	return nil, err
}

// close refuses further readings and returns when none is left. The session's context has ended.
func (c *schemaCache) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.wg.Wait()
}

// keyspace returns the metadata of a keyspace, ErrKeyspaceDoesNotExist when there is none.
func (c *schemaCache) keyspace(ctx context.Context, name string) (*KeyspaceMetadata, error) {
	if name == "" {
		return nil, ErrNoKeyspace
	}
	var snap *schemaSnapshot
	var err error
	if c.mode == Disabled {
		snap = &schemaSnapshot{keyspaces: map[string]*KeyspaceMetadata{}}
		err = c.readKeyspace(ctx, snap, name, nil)
	} else {
		snap, err = c.get(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	if ks := snap.keyspaces[name]; ks != nil {
		return ks, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrKeyspaceDoesNotExist, name)
}

// all returns the metadata of all keyspaces.
func (c *schemaCache) all(ctx context.Context) (map[string]*KeyspaceMetadata, error) {
	var snap *schemaSnapshot
	var err error
	if c.mode == Disabled {
		snap, err = c.read(ctx, &schemaSnapshot{}, &schemaFlight{})
	} else {
		snap, err = c.get(ctx, "")
	}
	if err != nil {
		return nil, err
	}
	return maps.Clone(snap.keyspaces), nil
}
