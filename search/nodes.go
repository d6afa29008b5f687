// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Readiness of the nodes of Cassandra. Each node builds the indexes of its rows.

// pollNodes asks each connected node whether its indexes of the table serve. A node that has answered so is not asked
// again.
func (w *waiter) pollNodes(ctx context.Context, t *table, i *index) (Progress, error) {
	p := Progress{Index: t.indexName(i)}
	if w.built == nil {
		w.built, w.ready = map[cql.UUID]float64{}, map[cql.UUID]struct{}{}
	}
	var first error
	unknown := false
	for _, host := range w.session.GetHosts() {
		if !w.session.IsUp(host) {
			continue
		}
		p.Nodes++
		built, err := w.pollNode(ctx, t, i, host.ID)
		if err == nil {
			p.Ready++
		} else if first == nil {
			first = errorf("node %v: %w", host.Address, err)
		}
		p.Built += max(built, 0)
		unknown = unknown || built < 0
	}
	if p.Nodes == 0 {
		return Progress{}, errorf("wait for index %s: %w", p.Index, vecql.ErrNoConnections)
	}
	if p.Built /= float64(p.Nodes); unknown {
		p.Built = -1
	}
	return p, first
}

// pollNode asks one node, and returns the part that it has built.
func (w *waiter) pollNode(ctx context.Context, t *table, i *index, host cql.UUID) (float64, error) {
	if _, ok := w.ready[host]; ok {
		return 1, nil
	}
	err := w.attached(ctx, t, host)
	if err == nil {
		err = notReady(t.indexName(i), w.probe(ctx, t, i, host))
	}
	if err == nil {
		w.ready[host] = struct{}{}
		return 1, nil
	}
	built, ok := w.built[host]
	if !ok {
		built = -1
	}
	built = max(built, w.tasks(ctx, t, host)) // tasks that have ended are not counted any more
	w.built[host] = built
	var waiting *IndexNotReadyError
	if errors.As(err, &waiting) {
		waiting.Progress = built
	}
	return built, err
}

// An attachedIndex is a row of system_views.sai_column_indexes.
type attachedIndex struct {
	Name      string `cql:"index_name"`
	Table     string `cql:"table_name"`
	Building  bool   `cql:"is_building"`
	Queryable bool   `cql:"is_queryable"`
}

// attached returns an *IndexNotReadyError if the vector index, or a storage-attached index of another column of the
// table, does not serve on a node. A node that does not answer the question serves as far as is known.
func (w *waiter) attached(ctx context.Context, t *table, host cql.UUID) error {
	q := w.session.Query("SELECT index_name, table_name, is_building, is_queryable FROM system_views.sai_column_indexes "+
		"WHERE keyspace_name = ?", t.keyspace).Idempotent(true).HostID(host)
	for a, err := range vecql.Rows[attachedIndex](ctx, q) {
		switch {
		case errors.Is(err, cql.CodeInvalid), errors.Is(err, cql.CodeUnauthorized):
			return nil
		case err == nil:
			err = t.checkAttached(a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkAttached returns an *IndexNotReadyError if an index of the table does not serve on the node that reported it.
func (t *table) checkAttached(a attachedIndex) error {
	if a.Table != t.table || a.Queryable || t.isOtherVector(a.Name) {
		return nil
	}
	reason := errors.New("the node builds it")
	if !a.Building {
		reason = fmt.Errorf("the node does not build it; if that stays so, its log states why: nodetool rebuild_index %s %s %s builds it again",
			t.keyspace, t.table, a.Name)
	}
	return &IndexNotReadyError{Index: t.keyspace + "." + a.Name, Progress: -1, Err: reason}
}

// isOtherVector reports whether a name is an index of vectors of another column.
func (t *table) isOtherVector(name string) bool {
	for _, o := range t.columns {
		_, isVector := floatsOf(t.typeOf(o.column))
		if o.name == name && isVector {
			return true
		}
	}
	return false
}

func (t *table) typeOf(column string) cql.TypeInfo {
	if c := t.meta.Columns[column]; c != nil {
		return c.Type
	}
	return nil
}

// A task is a row of system_views.sstable_tasks.
type task struct {
	Kind            string
	Progress, Total int64 // bytes
}

// tasks returns the part of the running builds of indexes of the table that a node has done, -1 if it does not say.
func (w *waiter) tasks(ctx context.Context, t *table, host cql.UUID) float64 {
	q := w.session.Query("SELECT kind, progress, total FROM system_views.sstable_tasks WHERE keyspace_name = ? AND table_name = ?",
		t.keyspace, t.table).Idempotent(true).HostID(host)
	var tasks []task
	for k, err := range vecql.Rows[task](ctx, q) {
		if err != nil {
			return -1
		}
		tasks = append(tasks, k)
	}
	return partOf(tasks)
}

// partOf returns the part of the builds of indexes that is done, -1 if there are none.
func partOf(tasks []task) float64 {
	var done, total int64
	for _, k := range tasks {
		if k.Kind == "secondary index build" {
			done, total = done+k.Progress, total+k.Total
		}
	}
	if total <= 0 {
		return -1
	}
	return min(max(float64(done)/float64(total), 0), 1)
}
