// SPDX-License-Identifier: Apache-2.0

package cdc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The reader: its configuration and its state.

// A Config configures a reader. The zero value reads all changes that the log has, and then waits for further ones.
type Config struct {
	// Workers is the number of groups of streams that are read at a time. Default 8.
	Workers int
	// PageRows is the largest number of rows in a request's page. A batch has the rows of a page, and more if a change
	// has. Default 1000.
	PageRows int
	// Window is the largest span of time that is read of all streams before the next one. Default 1 hour.
	Window time.Duration
	// Confidence is the age from which changes are read. It must exceed the differences between the clocks of the
	// clients that write, of the nodes and of the reader, plus the time that a write may take, retries and hints
	// included. Default 30 s.
	Confidence time.Duration
	// Poll is the wait for new changes once all are read. Default 10 s.
	Poll time.Duration
	// Retries is the number of times that a request may fail in a row before Run fails. Default 10.
	Retries int
	// From is the time of the first changes to read, in milliseconds. Default: the oldest that the log has, except
	// those about to expire.
	From time.Time
	// Until ends the reader when all changes before it are read, in milliseconds. Default: none.
	Until time.Time
	// Checkpoint resumes another reader of the table. nil means none. It replaces From.
	Checkpoint *Checkpoint
	// Query, if not nil, is called for each request of rows of the log, on several goroutines at once, to set options
	// such as Consistency.
	Query func(q *vecql.Query)
}

func (c *Config) setDefaults() {
	c.Workers, c.PageRows = cmp.Or(max(c.Workers, 0), 8), cmp.Or(max(c.PageRows, 0), 1000)
	c.Window, c.Confidence = cmp.Or(max(c.Window, 0), time.Hour), cmp.Or(max(c.Confidence, 0), 30*time.Second)
	c.Poll, c.Retries = cmp.Or(max(c.Poll, 0), 10*time.Second), cmp.Or(max(c.Retries, 0), 10)
	c.Window = max(c.Window, time.Millisecond)
	c.Until = milli(c.Until)
}

// milli returns a time in milliseconds, as generations have it.
func milli(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

// A Reader reads the changes of a table. Its methods may be called by several goroutines, but only one Run or Batches
// at a time. After one of these has failed, another call continues where it ended.
type Reader struct {
	session         *vecql.Session
	cfg             Config
	keyspace, table string
	text            string // of requests of rows
	tablets         bool
	id              cql.UUID      // of the log
	ttl             time.Duration // of the log when the window began; 0 means none

	mu         sync.Mutex
	running    bool
	generation generation // of the window under way, or of the last one
	window     window
	done       map[string]bool     // groups whose window is read, by their first stream
	positions  map[string]position // in the window, by stream
	rows       int64
	failures   int64
}

// A window is the span of time that is read. to is zero while no window is under way; all changes before from are
// acknowledged.
type window struct{ from, to time.Time }

const logSuffix = "_scylla_cdc_log"

// Open prepares a reader of a table's changes. table is a name as in CQL: "shop.items", or "items" in the keyspace of
// the session. The error wraps ErrDisabled, ErrDropped, ErrCheckpoint or vecql.ErrNoTable, is an *ExpiredError, or
// comes from a request.
func Open(ctx context.Context, session *vecql.Session, table string, cfg Config) (*Reader, error) {
	cfg.setDefaults()
	keyspace, name, err := parseName(table)
	if err != nil {
		return nil, err
	}
	keyspace = cmp.Or(keyspace, session.Query("").GetKeyspace())
	r := &Reader{
		session: session, cfg: cfg, keyspace: keyspace, table: name,
		done: map[string]bool{}, positions: map[string]position{},
	}
	r.text = "SELECT * FROM " + cqltext.QuoteIdentifier(keyspace) + "." + cqltext.QuoteIdentifier(name+logSuffix) +
		` WHERE "cdc$stream_id" IN ? AND "cdc$time" >= ? AND "cdc$time" < ?`
	if r.id, err = r.tableID(ctx, name+logSuffix); errors.Is(err, vecql.ErrNotFound) {
		if _, err := r.tableID(ctx, name); errors.Is(err, vecql.ErrNotFound) {
			return nil, fmt.Errorf("cdc: open: %w: %s", vecql.ErrNoTable, r.name())
		}
		err = fmt.Errorf("%w: %s", ErrDisabled, r.name())
	}
	if err != nil {
		return nil, err
	}
	if r.tablets, err = r.hasTablets(ctx); err != nil {
		return nil, err
	}
	if cfg.Checkpoint != nil {
		if err := r.restore(cfg.Checkpoint); err != nil {
			return nil, err
		}
	}
	return r, r.start(ctx)
}

// start sets the first window of a reader without a checkpoint, and checks that the log still has its changes.
func (r *Reader) start(ctx context.Context) error {
	now := time.Now()
	if err := r.readTTL(ctx); err != nil {
		return err
	}
	if r.window.from.IsZero() && !r.cfg.From.IsZero() {
		r.window.from = milli(r.cfg.From)
	}
	if !r.window.from.IsZero() {
		if err := r.checkExpired(now); err != nil {
			return err
		}
	}
	if r.cfg.Checkpoint != nil {
		return nil
	}
	starts, err := r.starts(ctx)
	if err != nil {
		return err
	}
	if r.window.from.IsZero() && r.ttl > 0 {
		r.window.from = milli(now.Add(min(r.cfg.Window, r.ttl/10) - r.ttl)) // rows expire while others are read
	}
	if r.window.from.Before(starts[0]) {
		r.window.from = starts[0]
	}
	return nil
}

// checkExpired returns an error if rows of the window may have expired at a time.
func (r *Reader) checkExpired(now time.Time) error {
	if oldest := now.Add(-r.ttl); r.ttl > 0 && r.window.from.Before(oldest) {
		return &ExpiredError{Table: r.name(), From: r.window.from, Until: oldest}
	}
	return nil
}

// name returns the name of the table.
func (r *Reader) name() string { return r.keyspace + "." + r.table }

// parseName splits the name of a table.
func parseName(name string) (keyspace, table string, err error) {
	var words []string
	for _, word := range cqltext.Tokens(name) {
		words = append(words, cqltext.UnquoteIdentifier(word))
	}
	switch {
	case len(words) == 1:
		return "", words[0], nil
	case len(words) == 3 && words[1] == ".":
		return words[0], words[2], nil
	}
	return "", "", fmt.Errorf(`cdc: open: %q is no table: want "keyspace.table" or "table"`, name)
}

// tableID returns the id of a table of the keyspace; vecql.ErrNotFound means that there is none.
func (r *Reader) tableID(ctx context.Context, table string) (cql.UUID, error) {
	return vecql.OneRow[cql.UUID](ctx, r.session.Query(
		"SELECT id FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?", r.keyspace, table))
}

// checkLog returns ErrDropped unless the log is there.
func (r *Reader) checkLog(ctx context.Context) error {
	id, err := r.tableID(ctx, r.table+logSuffix)
	if errors.Is(err, vecql.ErrNotFound) || err == nil && id != r.id {
		return fmt.Errorf("%w: %s", ErrDropped, r.name())
	}
	return err
}

// hasTablets reports whether the keyspace has tablets: where it has, it has a row with initial_tablets. Releases before
// tablets do not have the table or the column.
func (r *Reader) hasTablets(ctx context.Context) (bool, error) {
	n, err := vecql.OneRow[*int](ctx, r.session.Query(
		"SELECT initial_tablets FROM system_schema.scylla_keyspaces WHERE keyspace_name = ?", r.keyspace))
	switch {
	case errors.Is(err, vecql.ErrNotFound), errors.Is(err, cql.CodeInvalid):
		return false, nil
	}
	return n != nil, err
}

// readTTL reads how long rows stay in the log.
func (r *Reader) readTTL(ctx context.Context) error {
	options, err := vecql.OneRow[map[string]string](ctx, r.session.Query(
		"SELECT cdc FROM system_schema.scylla_tables WHERE keyspace_name = ? AND table_name = ?", r.keyspace, r.table))
	if err != nil && !errors.Is(err, vecql.ErrNotFound) {
		return err
	}
	const day = 24 * 60 * 60
	seconds, err := strconv.Atoi(cmp.Or(options["ttl"], strconv.Itoa(day)))
	if err != nil {
		return fmt.Errorf("cdc: the TTL of the log of %s: %w", r.name(), err)
	}
	r.ttl = time.Duration(seconds) * time.Second
	return nil
}

// A Progress is a snapshot of a reader.
type Progress struct {
	Rows     int64     `json:"rows"`     // acknowledged, earlier readers of the checkpoint included
	Failures int64     `json:"failures"` // of requests that were then repeated
	Read     time.Time `json:"read"`     // all changes before it are acknowledged
	// Generation is the start of the streams that are read, zero before the first window, and Streams their number.
	Generation time.Time `json:"generation,omitzero"`
	Streams    int       `json:"streams"`
}

// Progress returns a snapshot. It may be called at any time.
func (r *Reader) Progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := Progress{Rows: r.rows, Failures: r.failures, Read: r.window.from, Generation: r.generation.start}
	for _, g := range r.generation.groups {
		p.Streams += len(g)
	}
	return p
}
