// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"net/http"
	"slices"
	"time"
)

// Execution of searches by vectors.

// searchRows adds the rows of a search to the result.
func (b *builder) searchRows(target []byte, limit int64) error {
	st := b.p.t.store
	st.mu.RLock()
	defer st.mu.RUnlock()
	d := b.index.vector.data
	d.settle(b.x.e.options.Now())
	d.mu.RLock()
	defer d.mu.RUnlock()
	keep, err := b.keeps()
	if err != nil {
		return err
	}
	s := d.search(b.p.t, b.index.vector, target, keep)
	var rows []rowView
	if b.x.e.options.Scylla {
		rows, err = b.scyllaRows(s, int(limit))
	} else {
		rows, err = b.cassandraRows(s, int(limit))
	}
	if err != nil {
		return err
	}
	b.page = math.MaxInt64
	for i := range rows {
		if err := b.emit(&rows[i]); err != nil {
			return err
		}
	}
	return b.finish()
}

// keeps returns the filter of a search; nil means that there is none. ScyllaDB's index filters the rows as it saw them,
// and does not know when their cells expire.
func (b *builder) keeps() (func(e *annEntry) bool, error) {
	w, x := b.p.where, *b.x
	if b.x.e.options.Scylla {
		x.sec = unexpired
	}
	from, to, _, err := w.tokenRange(&x)
	if err != nil {
		return nil, err
	}
	var tests []func(v *rowView) bool
	for _, r := range w.all {
		test, err := r.test(&x)
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	if len(tests) == 0 && len(w.tokens) == 0 {
		return nil, nil
	}
	var v rowView
	return func(e *annEntry) bool {
		v = e.view(b.p.t)
		return e.part.token >= from && e.part.token <= to &&
			!slices.ContainsFunc(tests, func(test func(v *rowView) bool) bool { return !test(&v) })
	}, nil
}

// view returns the row as the index saw it.
func (e *annEntry) view(t *table) rowView {
	return rowView{t: t, p: &e.part.partitionHead, static: e.part.static, row: e.row}
}

// current returns the row as it is; false means that it is gone.
func (e *annEntry) current(t *table, sec int64) (rowView, bool) {
	v := e.view(t)
	v.row = e.part.row(t, e.row.clustering)
	return v, v.row.live(sec)
}

// cassandraRows returns the rows that a search of Cassandra finds: as many as LIMIT, if there are.
func (b *builder) cassandraRows(s *annSearch, limit int) (rows []rowView, err error) {
	missed := b.x.e.options.SAI.missesOf(b.index.vector, s.target, int64(limit), s.rows)
	for k := limit; ; k *= 4 {
		found, err := s.nearest(k)
		if err != nil {
			return nil, err
		}
		rows = rows[:0]
		for _, f := range found {
			e := &s.entries[f.slot]
			v, live := e.current(b.p.t, b.x.sec)
			if !live || len(v.value(b.p.annColumn, b.x.sec)) == 0 || missed.has(e.key) {
				continue
			}
			if rows = append(rows, v); len(rows) == limit {
				return rows, nil
			}
		}
		if len(found) == s.rows {
			return rows, nil
		}
	}
}

// scyllaRows returns the rows that a search of ScyllaDB finds: of the keys that the vector store returns, those whose
// rows still exist. With rescoring, they are sorted by the vectors of the rows.
func (b *builder) scyllaRows(s *annSearch, limit int) ([]rowView, error) {
	keys, err := b.storeKeys(s, int(math.Ceil(float64(limit)*b.index.vector.oversampling)))
	if err != nil {
		return nil, err
	}
	if !b.index.vector.rescoring {
		keys = keys[:min(limit, len(keys))]
	}
	var rows []rowView
	for _, e := range keys {
		if v, live := e.current(b.p.t, b.x.sec); live {
			rows = append(rows, v)
		}
	}
	if b.index.vector.rescoring {
		b.rescore(rows, s.target)
	}
	return rows[:min(limit, len(rows))], nil
}

// storeKeys returns the keys that the vector store finds, at most n.
func (b *builder) storeKeys(s *annSearch, n int) (keys []*annEntry, err error) {
	missed := b.x.e.options.VectorStore.missesOf(b.index.vector, s.target)
	for k := n; ; k *= 2 {
		found, err := s.nearest(k)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 && found[0].score != found[0].score {
			return nil, notADistance(b.index.vector.similarity)
		}
		keys = keys[:0]
		for _, f := range found {
			if e := &s.entries[f.slot]; len(keys) < n && !missed.has(e.key) {
				keys = append(keys, e)
			}
		}
		if len(keys) == n || len(found) == s.rows {
			return keys, nil
		}
	}
}

// notADistance is the error of the vector store for a distance that is NaN.
func notADistance(s similarity) error {
	why := "Cosine distance must be in range [0.0, 2.0]"
	switch s {
	case euclidean:
		why = "Euclidean distance must be >= 0.0"
	case dotProduct:
		why = "Dot Product distance must be a valid number, got NaN"
	}
	return storeError(http.StatusInternalServerError, "index.ann request error: %s", why)
}

// rescore sorts rows by their similarity, the greatest first. Rows without one are the last.
func (b *builder) rescore(rows []rowView, target []byte) {
	type rescored struct {
		rowView
		score float32
	}
	list := make([]rescored, len(rows))
	for i, v := range rows {
		list[i] = rescored{v, float32(math.Inf(-1))}
		if c := v.value(b.p.annColumn, b.x.sec); len(c) > 0 {
			if score := b.index.vector.similarity.of(c, target); score-score == 0 {
				list[i].score = score
			}
		}
	}
	slices.SortStableFunc(list, func(a, b rescored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	for i := range list {
		rows[i] = list[i].rowView
	}
}

// attachIndex fills a new vector index from the rows of its table, and lets it follow them.
func (e *Engine) attachIndex(t *table, i *index, now time.Time) {
	s, v := t.store, i.vector
	s.mu.Lock()
	defer s.mu.Unlock()
	accepts := v.accepts
	if e.options.Scylla {
		accepts = nil
	}
	v.data = newANNData(s, t.byName[i.column], v, accepts, now.Unix())
	if store := e.options.VectorStore; store != nil {
		v.data.lag = store.Lag
	}
	s.indexes = append(s.indexes, v.data)
}

// detachIndex ends what attachIndex began.
func (s *store) detachIndex(i *index) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexes = slices.DeleteFunc(s.indexes, func(d *annData) bool { return d == i.vector.data })
}
