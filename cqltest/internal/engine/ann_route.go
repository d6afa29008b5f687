// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"net/http"
	"slices"
	"time"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Choice of the index that serves a search of ScyllaDB: the index that covers the filter best, then the newest index.

// vectorIndexes returns the vector indexes of a column, by name.
func (t *table) vectorIndexes(c *column) []*index {
	return slices.DeleteFunc(slices.Clone(t.indexes), func(i *index) bool { return i.vector == nil || i.column != c.name })
}

// route returns the index that serves a search. The coordinator asks for the first index of the column; the vector
// store answers from any index of the column that serves.
func (e *Engine) route(p *selectPlan, now time.Time) (*index, error) {
	store := e.options.VectorStore
	if store == nil {
		return nil, invalid("Vector Store is disabled")
	}
	indexes := p.t.vectorIndexes(p.annColumn)
	asked := indexes[0]
	if !store.discovered(asked, now) {
		return nil, storeError(http.StatusNotFound, "missing index: %s.%s", p.t.ks, asked.name)
	}
	var best *index
	uncovered, serving := 0, false
	for _, i := range indexes {
		if !store.serves(i, e.started, now) {
			continue
		}
		serving = true
		n, ok := p.where.uncovered(p.t, i.vector)
		if !ok || best != nil && (n > uncovered || n == uncovered && older(i, best)) {
			continue
		}
		best, uncovered = i, n
	}
	switch {
	case !serving:
		return nil, store.notServing(p.t.ks, asked, e.started, now)
	case best == nil:
		return nil, storeError(http.StatusBadRequest, "Global ANN query is not supported when only a local vector index is "+
			"available for %s.%s", p.t.ks, asked.name)
	case uncovered > 0 && !p.filtering:
		return nil, storeError(http.StatusBadRequest, "Index %s.%s requires ALLOW FILTERING for this query", p.t.ks,
			asked.name)
	}
	return best, nil
}

// older reports whether a was created before b.
func older(a, b *index) bool {
	if c := a.vector.created.Compare(b.vector.created); c != 0 {
		return c < 0
	}
	return bytes.Compare(a.vector.version[:], b.vector.version[:]) < 0
}

// uncovered returns the number of restricted columns that an index filters by; false means that it cannot serve the
// clause: it does not have a column, or is local and not all of its partition key is restricted by = or IN.
func (w *where) uncovered(t *table, v *vectorIndex) (int, bool) {
	equal := map[string]bool{}
	n := 0
	for _, r := range w.all {
		for _, c := range r.cols {
			if !c.isKey() && !slices.Contains(v.filters, c.name) {
				return 0, false
			}
			n++
			equal[c.name] = equal[c.name] || r.op == cql.Eq || r.op == cql.In
		}
	}
	for _, name := range v.local {
		if !equal[name] {
			return 0, false
		}
		n--
	}
	return n, true
}
