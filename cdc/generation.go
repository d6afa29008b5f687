// SPDX-License-Identifier: Apache-2.0

package cdc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Generations: the streams of a span of time.

// A generation is the streams from a time on: of the table in keyspaces with tablets, else of the cluster.
type generation struct {
	start  time.Time
	groups []group // by the tokens of their streams, so that groups of one node are beside each other
}

// A group is the streams of one range of tokens, sorted: one vnode or one tablet. They have the same replicas.
type group [][]byte

// key identifies the group in its generation.
func (g group) key() string { return string(g[0]) }

// errNoStreams means that a node lists no generation, or fewer than another node has listed: it has just started.
var errNoStreams = errors.New("a node lists no streams of that time")

// starts returns the starts of the generations, at least one, in their order. Nodes list a generation before it starts.
func (r *Reader) starts(ctx context.Context) ([]time.Time, error) {
	q := r.session.Query("SELECT time FROM system_distributed.cdc_generation_timestamps WHERE key = 'timestamps'")
	if r.tablets {
		q = r.session.Query("SELECT timestamp FROM system.cdc_timestamps WHERE keyspace_name = ? AND table_name = ?",
			r.keyspace, r.table)
	}
	starts, err := rows[time.Time](ctx, r, q)
	if err != nil {
		return nil, err
	}
	if len(starts) == 0 {
		return nil, fmt.Errorf("cdc: read the streams of %s: %w", r.name(), errNoStreams)
	}
	slices.SortFunc(starts, time.Time.Compare)
	return starts, nil
}

// load returns a generation with its streams.
func (r *Reader) load(ctx context.Context, start time.Time) (generation, error) {
	g := generation{start: start}
	if r.tablets {
		const current = 0 // stream_state
		ids, err := rows[[]byte](ctx, r, r.session.Query("SELECT stream_id FROM system.cdc_streams WHERE keyspace_name = ? "+
			"AND table_name = ? AND timestamp = ? AND stream_state = ?", r.keyspace, r.table, start, int8(current)))
		if err != nil {
			return g, err
		}
		for _, id := range ids {
			g.groups = append(g.groups, group{id})
		}
	} else {
		sets, err := rows[[][]byte](ctx, r, r.session.Query(
			"SELECT streams FROM system_distributed.cdc_streams_descriptions_v2 WHERE time = ?", start))
		if err != nil {
			return g, err
		}
		for _, set := range sets {
			if len(set) > 0 {
				slices.SortFunc(set, bytes.Compare)
				g.groups = append(g.groups, set)
			}
		}
	}
	slices.SortFunc(g.groups, func(a, b group) int { return bytes.Compare(a[0], b[0]) })
	if len(g.groups) == 0 {
		return g, fmt.Errorf("cdc: read the streams of %s from %v on: %w", r.name(), start, errNoStreams)
	}
	return g, nil
}

// rows returns the rows of a table that describes streams. It reads with QUORUM, so that no generation is missed. A
// cluster of one node is read with ONE, since the keyspace system_distributed may have more replicas than nodes.
func rows[T any](ctx context.Context, r *Reader, q *vecql.Query) ([]T, error) {
	q.Consistency(cql.Quorum)
	if !r.tablets {
		peers, err := vecql.OneRow[int64](ctx, r.session.Query("SELECT count(*) FROM system.peers"))
		if err != nil {
			return nil, err
		}
		if peers == 0 {
			q.Consistency(cql.One)
		}
	}
	var out []T
	for row, err := range vecql.Rows[T](ctx, q.Idempotent(true)) {
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// plan sets the next window. wait is the time to the next attempt if there is none yet; ended means that all changes
// before Config.Until are read.
func (r *Reader) plan(ctx context.Context) (wait time.Duration, ended bool, err error) {
	from := r.window.from
	if !r.cfg.Until.IsZero() && !from.Before(r.cfg.Until) && r.window.to.IsZero() {
		return 0, true, nil
	}
	// The clock is read before the list of generations: a generation that is listed later starts later.
	now := time.Now()
	if err := r.checkLog(ctx); err != nil {
		return 0, false, err
	}
	starts, err := r.starts(ctx)
	if err != nil {
		return 0, false, err
	}
	i := len(starts) - 1
	for i >= 0 && starts[i].After(from) {
		i--
	}
	if i < 0 {
		return 0, false, &ExpiredError{Table: r.name(), From: from, Until: starts[0]}
	}
	if starts[i].Before(r.generation.start) {
		return 0, false, fmt.Errorf("cdc: read the streams of %s from %v on: %w", r.name(), r.generation.start, errNoStreams)
	}
	to := r.window.to
	if to.IsZero() {
		if to, wait = r.end(now, starts[i+1:]); wait > 0 {
			return wait, false, nil
		}
	}
	return 0, false, r.enter(ctx, starts[i], to)
}

// end returns the end of the next window: the confident past, but not after the start of the next generation. wait is
// the time until there is a window worth reading.
func (r *Reader) end(now time.Time, next []time.Time) (to time.Time, wait time.Duration) {
	from, confident := r.window.from, milli(now.Add(-r.cfg.Confidence))
	to = from.Add(r.cfg.Window)
	if len(next) > 0 && next[0].Before(to) {
		to = next[0]
	}
	if !r.cfg.Until.IsZero() && r.cfg.Until.Before(to) {
		to = r.cfg.Until
	}
	if !to.After(confident) {
		return to, 0
	}
	if wait = from.Add(r.cfg.Poll).Sub(confident); wait <= 0 {
		return confident, 0
	}
	return to, min(wait, to.Sub(confident))
}

// enter begins a window, in a generation.
func (r *Reader) enter(ctx context.Context, start, to time.Time) error {
	g := r.generation
	if !g.start.Equal(start) || g.groups == nil {
		var err error
		if g, err = r.load(ctx, start); err != nil {
			return err
		}
	}
	if err := r.checkStreams(g); err != nil {
		return err
	}
	if err := r.readTTL(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.generation, r.window.to = g, to
	return nil
}
