// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/vectorcheck"
	"github.com/vecql/vecql/vector"
)

// Nearest yields the k rows nearest to a query of as many elements as the vectors have, the nearest first. An error
// ends the loop as its last pair. All has the warnings of the server besides.
func (q *Query[T]) Nearest(ctx context.Context, query []float32, k int) iter.Seq2[Hit[T], error] {
	return func(yield func(Hit[T], error) bool) {
		result, err := q.All(ctx, query, k)
		for _, hit := range result.Hits {
			if !yield(hit, nil) {
				return
			}
		}
		if err != nil {
			yield(Hit[T]{}, err)
		}
	}
}

// All returns the k rows nearest to a query. Each hit has memory of its own. The errors, before a request is sent, are
// *vector.DimensionError, *vector.ElementError and vector.ErrZero for the query, ErrK, ErrNoIndex and ErrMetric, and
// *FilterError; afterwards *IndexNotReadyError, or a *vecql.RequestFailure. A search that fails because ScyllaDB's
// vector store starts is repeated for up to 13 s, or until the context ends.
func (q *Query[T]) All(ctx context.Context, query []float32, k int) (Result[T], error) {
	results, err := q.Each(ctx, [][]float32{query}, k)
	if err != nil {
		return Result[T]{}, err
	}
	return results[0], nil
}

// Each returns a result for each of several queries, as All does. By an index it sends some requests at a time; an
// exact search reads the table once for all queries.
func (q *Query[T]) Each(ctx context.Context, queries [][]float32, k int) ([]Result[T], error) {
	p, answers, err := q.find(ctx, queries, k)
	if err != nil {
		return nil, err
	}
	infos := p.table.infosOf(q.columns)
	results := make([]Result[T], len(queries))
	for i, f := range answers {
		results[i] = Result[T]{Hits: make([]Hit[T], len(f.rows)), K: k, Outside: f.outside, Warnings: f.warnings}
		for j, r := range f.rows {
			hit := Hit[T]{Score: r.score, Distance: r.distance, key: r.key}
			if hit.Row, err = decodeRow[T](infos, r.cells); err != nil {
				return nil, errorf("rows of %s: %w", p.Index, err)
			}
			results[i].Hits[j] = hit
		}
	}
	return results, nil
}

// An answer is the rows of one query, in order and within the bounds of the search.
type answer struct {
	rows     []row
	outside  int
	warnings []string
}

// A row is a row of a result: the cells of the columns that T reads and the cells of the primary key, as [bytes].
type row struct {
	cells, key      []byte
	score, distance float32
}

// find searches by the plan.
func (q *Query[T]) find(ctx context.Context, queries [][]float32, k int) (Plan, []answer, error) {
	t, err := q.schema.read(ctx, q.session)
	if err != nil {
		return Plan{}, nil, err
	}
	p, err := q.plan(t, k)
	if err != nil {
		return p, nil, err
	}
	for i, query := range queries {
		err := t.check(query, p.Metric)
		if err == nil && !p.Exact {
			err = t.checkIndexed(query)
		}
		if err != nil {
			return p, nil, errorf("query %d: %w", i, err)
		}
	}
	if p.Exact {
		answers, err := q.findExact(ctx, &p, queries, k)
		return p, answers, err
	}
	out := make([]answer, len(queries))
	err = background.Parallel(ctx, len(queries), searchesInFlight, func(ctx context.Context, i int) error {
		rows, warnings, err := q.ask(ctx, &p, queries[i])
		out[i] = q.cut(rows, k)
		out[i].warnings = warnings
		return err
	})
	return p, out, err
}

// findExact searches by a scan, for all queries at once.
func (q *Query[T]) findExact(ctx context.Context, p *Plan, queries [][]float32, k int) ([]answer, error) {
	f, err := p.table.exact(ctx, q.session, exactRequest{
		columns: q.columns, filter: q.filter, queries: queries, k: k, metric: p.Metric, cutoff: q.cutoff,
		consistency: q.consistency, progress: q.progress,
	})
	if err != nil {
		return nil, err
	}
	plan, err := newCellPlan(p.table.infosOf(q.columns), f.batch.Schema())
	if err != nil {
		return nil, err
	}
	answers := make([]answer, len(queries))
	for i := range answers {
		answers[i].outside = f.outside[i]
	}
	for i, query := range f.queries {
		r := row{key: f.keys[i], score: f.scores[i], distance: f.distances[i]}
		if r.cells, err = plan.append(nil, f.batch, i); err != nil {
			return nil, errorf("%w", err)
		}
		answers[query].rows = append(answers[query].rows, r)
	}
	return answers, nil
}

// searchesInFlight is the number of searches that Each and Batch send at a time.
const searchesInFlight = 16

// check returns the error of a query that servers refuse, or whose answer would have no meaning.
func (t *table) check(query []float32, metric vector.Metric) error {
	return vectorcheck.Check("query", query, t.dim, metric)
}

// maxElement is the greatest element that an index of Cassandra takes (OnHeapGraph.validateIndexable).
const maxElement = 1e17

// checkIndexed returns the error of a query that stops an index of Cassandra: 5.0.9 fails a search for a vector that it
// does not index, and from then on no search of the index ends until the node restarts. Zero with cosine and NaN do the
// same.
func (t *table) checkIndexed(query []float32) error {
	if t.server.Scylla {
		return nil
	}
	for i, x := range query {
		if x < -maxElement || x > maxElement {
			return errorf("%w: element %d is %v: an index of Cassandra takes at most 1e17", ErrElement, i, x)
		}
	}
	return nil
}

// ask sends a search to the server, again while its vector store starts.
func (q *Query[T]) ask(ctx context.Context, p *Plan, query []float32) (rows []row, warnings []string, err error) {
	values := slices.Concat([]any{query}, p.values, []any{query})
	for wait := firstWait; ; wait *= 2 {
		rows, warnings, err = q.read(ctx, q.statement(p, values), p)
		switch {
		case err == nil:
			return rows, warnings, nil
		case !transient(err) || wait > longestWait || !background.Sleep(ctx, wait):
			return nil, nil, q.failed(ctx, p, err)
		}
	}
}

// The waits between searches while ScyllaDB's vector store starts, together 13 s.
const (
	firstWait   = 50 * time.Millisecond
	longestWait = 7 * time.Second
)

// failed returns the error of a search. An index may have been dropped since the plan was made.
func (q *Query[T]) failed(ctx context.Context, p *Plan, err error) error {
	t, readErr := q.schema.read(ctx, q.session)
	if readErr == nil && !slices.ContainsFunc(t.indexes, func(i index) bool { return i.name == p.index.name }) {
		return errorf("%w: %s was dropped: %w", ErrNoIndex, p.Index, err)
	}
	return notReady(p.Index, err)
}

// statement returns the request of a search: one page with all rows.
func (q *Query[T]) statement(p *Plan, values []any) *vecql.Query {
	query := q.session.Query(p.CQL, values...).Idempotent(true).PageSize(p.Limit)
	if p.cl != nil {
		query.Consistency(*p.cl)
	}
	return query
}

// read reads the rows of a search.
func (q *Query[T]) read(ctx context.Context, query *vecql.Query, p *Plan) (rows []row, warnings []string, err error) {
	it := query.Iter(ctx)
	cells := make([][]byte, len(it.Columns()))
	for it.NextRaw(cells) {
		var r row
		for i, cell := range cells[:len(cells)-1] {
			if i < len(q.columns) {
				r.cells = appendCell(r.cells, cell)
			} else {
				r.key = appendCell(r.key, cell)
			}
		}
		r.score = float32(math.NaN()) // of a NULL
		if score := cells[len(cells)-1]; len(score) == 4 {
			r.score = math.Float32frombits(binary.BigEndian.Uint32(score))
		}
		r.distance = p.Metric.DistanceOf(r.score, p.table.dim)
		rows = append(rows, r)
	}
	warnings = it.Warnings()
	return rows, warnings, it.Close()
}

// cut returns the k nearest rows within the bounds of the search.
func (q *Query[T]) cut(rows []row, k int) answer {
	slices.SortFunc(rows, func(a, b row) int { return compareScores(a.score, b.score, a.key, b.key) })
	rows = rows[:min(k, len(rows))]
	inside := rows[:0]
	for _, r := range rows {
		if !q.leavesOut(r.score, r.distance) {
			inside = append(inside, r)
		}
	}
	return answer{rows: inside, outside: len(rows) - len(inside)}
}
