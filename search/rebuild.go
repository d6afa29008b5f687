// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Replacement of a vector index by one with other options: no server changes the options of an index.

// RebuildOptions are the options of RebuildIndex.
type RebuildOptions struct {
	// Index are the options of the new index. An option with the zero value is the one of the replaced index. Default of
	// Name: with Downtime the name of the replaced index, else that name with a number.
	Index IndexOptions
	// Replace is the name of the index that is replaced. Default the only vector index of the column.
	Replace string
	// Serves reports whether an index of ScyllaDB serves: by the status that each instance of the vector store has at
	// /api/v1/indexes/{keyspace}/{index}/status, or by its metrics. CQL does not show it while another index of the column
	// serves. An error ends the wait.
	Serves func(ctx context.Context, keyspace, index string) (bool, error)
	// Downtime drops the replaced index first: searches fail until the new one serves. Cassandra needs it.
	Downtime bool
}

// RebuildIndex replaces a vector index by one with other options and the same similarity. It creates the new index,
// waits until that serves, and drops the old one. progress is called as by WaitReady.
//
// Searches are answered all the time on ScyllaDB, if Serves is set; they may wait a second until each instance of the
// vector store knows the new index. Cassandra has one storage-attached index of a column: without Downtime the error
// wraps ErrDowntime, and nothing is changed. To build an index of Cassandra again with its options, run nodetool
// rebuild_index on one node after the other: meanwhile the other replicas answer.
//
// If ctx ends, or another error occurs after the first change, the error is a *RebuildError, which states what remains.
// Calling RebuildIndex again with its Old and New goes on.
func RebuildIndex(
	ctx context.Context, session *vecql.Session, target string, options RebuildOptions, progress func(Progress),
) error {
	t, err := tableNamed(ctx, session, target)
	if err != nil {
		return err
	}
	old, err := t.replaced(options.Replace)
	if err != nil {
		return err
	}
	if !options.Downtime {
		if err := t.checkRebuild(old, options); err != nil {
			return err
		}
	}
	c := creator{session: session, table: t, metric: old.metric, IndexOptions: options.Index}
	c.inherit(old)
	if c.Name == "" && options.Downtime {
		c.Name = old.name
	}
	c.Name = cmp.Or(c.Name, t.nextName(old.name))
	if err := c.check(); err != nil {
		return err
	}
	r := rebuilder{creator: c, old: old, serves: options.Serves, progress: progress}
	if options.Downtime {
		return r.dropFirst(ctx)
	}
	return r.dropLast(ctx)
}

// A RebuildError means that RebuildIndex has changed the indexes of a column, and could not complete the change.
type RebuildError struct {
	Old, New string // the names of the indexes
	Dropped  bool   // whether the old index is dropped; else it serves
	Err      error
}

func (e *RebuildError) Error() string {
	state := fmt.Sprintf("index %s serves; to go on, call RebuildIndex with Replace %q and Index.Name %q; to give up, drop %s",
		e.Old, e.Old, e.New, e.New)
	if e.Dropped {
		state = fmt.Sprintf("index %s is dropped: call CreateIndex for %s if there is none, and WaitReady", e.Old, e.New)
	}
	return fmt.Sprintf("search: rebuild index: %s: %s", state, unprefixed{e.Err})
}

func (e *RebuildError) Unwrap() error { return e.Err }

// replaced returns the index that is replaced.
func (t *table) replaced(name string) (*index, error) {
	if name == "" {
		return t.onlyIndex()
	}
	for i := range t.indexes {
		if t.indexes[i].name == name && t.indexes[i].isVector() {
			return &t.indexes[i], nil
		}
	}
	return nil, errorf("%w: column %s has no vector index %s", ErrNoIndex, t.target, name)
}

// checkRebuild returns an error if the index cannot be replaced without downtime.
func (t *table) checkRebuild(old *index, options RebuildOptions) error {
	switch {
	case !t.server.Scylla:
		return errorf("%w: %v has one vector index of a column: set Downtime, or build %s again with its options by nodetool rebuild_index %s %s %s, "+
			"on one node after the other", ErrDowntime, t.server, old.name, t.keyspace, t.table, old.name)
	case options.Serves == nil:
		return errorf("%w: no answer of %v shows when the new index serves: set Serves or Downtime", ErrDowntime, t.server)
	case options.Index.Name == old.name:
		return errorf("%w: Index.Name: the new index needs a name of its own, not %s", ErrOption, old.name)
	}
	return nil
}

// inherit sets the options that are not given to the ones of an index.
func (c *creator) inherit(old *index) {
	c.IfNotExists = true
	c.Other = maps.Clone(c.Other)
	given := map[string]bool{"class_name": true, "target": true, "index_version": true, "similarity_function": true}
	for _, o := range c.given() {
		given[o.name] = true
	}
	for name, value := range old.options {
		if _, ok := c.Other[name]; ok || given[name] {
			continue
		}
		if c.Other == nil {
			c.Other = map[string]string{}
		}
		c.Other[name] = value
	}
	if c.Filter == nil {
		c.Filter = old.filters
	}
	c.Local = c.Local || old.local != nil
}

// nextName returns a free name for the successor of an index: name_2, name_3.
func (t *table) nextName(name string) string {
	base, number := name, 1
	if at := strings.LastIndexByte(name, '_'); at > 0 {
		if n, err := strconv.Atoi(name[at+1:]); err == nil && n > 1 && n < 1e6 {
			base, number = name[:at], n
		}
	}
	for {
		number++
		if next := fmt.Sprintf("%s_%d", base, number); t.keyspaceMeta.Indexes[next] == nil {
			return next
		}
	}
}

// A rebuilder replaces an index by the one of its creator.
type rebuilder struct {
	creator
	old      *index
	serves   func(ctx context.Context, keyspace, index string) (bool, error)
	progress func(Progress)
}

// dropLast creates the new index, or continues with it, and drops the old one when the new one serves.
func (r *rebuilder) dropLast(ctx context.Context) error {
	exists, err := r.exists()
	if err != nil {
		return err
	}
	if err := r.create(ctx, exists); err != nil {
		if isRefused(err) {
			return err
		}
		return r.failed(false, err)
	}
	if err := r.wait(ctx); err != nil {
		return r.failed(false, err)
	}
	if err := r.drop(ctx); err != nil {
		return r.failed(false, err)
	}
	return nil
}

// dropFirst drops the old index before it creates the new one. If the server refuses the new one, it creates the old
// one again.
func (r *rebuilder) dropFirst(ctx context.Context) error {
	if err := r.drop(ctx); err != nil {
		return err
	}
	r.IfNotExists = false
	err := r.create(ctx, false)
	if isRefused(err) {
		again := creator{session: r.session, table: r.table, metric: r.metric, IndexOptions: IndexOptions{Name: r.old.name}}
		again.inherit(r.old)
		if failure := again.create(ctx, false); failure == nil {
			return errorf("rebuild index: index %s is built again with its options: %w", r.old.name, err)
		}
	}
	if err == nil {
		err = r.wait(ctx)
	}
	if err != nil {
		return r.failed(true, err)
	}
	return nil
}

// isRefused reports whether the server refused a statement, which then changed nothing.
func isRefused(err error) bool {
	var server *cql.ServerError
	return errors.As(err, &server) && !server.MayHaveApplied()
}

func (r *rebuilder) failed(dropped bool, err error) error {
	return &RebuildError{Old: r.old.name, New: r.Name, Dropped: dropped, Err: err}
}

// wait waits until the new index serves.
func (r *rebuilder) wait(ctx context.Context) error {
	sc, err := openSchema(ctx, r.session, r.table.target)
	if err != nil {
		return err
	}
	w := waiter{session: r.session, schema: sc, index: r.Name, progress: r.progress, serves: r.serves}
	return w.wait(ctx)
}

// drop drops the old index.
func (r *rebuilder) drop(ctx context.Context) error {
	name := target{keyspace: r.table.keyspace, table: r.old.name}
	if err := dropIndex(ctx, r.session, name); err != nil {
		return errorf("drop index %s.%s: %w", r.table.keyspace, r.old.name, err)
	}
	return nil
}
