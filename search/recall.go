// SPDX-License-Identifier: Apache-2.0

package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/cqltext"
)

// A RecallConfig configures a measurement of recall. The zero value samples 100 rows.
type RecallConfig struct {
	// Queries are the queries. nil means the vectors of Sample rows of the table. A row does not count as its own
	// neighbor.
	Queries [][]float32
	// Sample is the number of rows whose vectors are the queries. Default 100. They are the first rows of the
	// partitions that follow random tokens; Seed determines the tokens.
	Sample int
	Seed   uint64
	// Truth is the exact answer of each of Queries, if it is known: the values of the primary key, which is one integer,
	// the nearest first, as many as the greatest K at least. nil means that an exact search of the table finds it.
	Truth [][]int64
	// K are the numbers of hits. Default 1, 10 and 100.
	K []int
	// Oversample are the factors of Query.Oversample. Default 1, 2 and 4.
	Oversample []float64
}

// A RecallReport is the recall and the latency of searches by an index, compared with the exact answer.
type RecallReport struct {
	Index   string // keyspace.index
	Queries int
	Exact   time.Duration // of the exact search for all queries; 0 if the answer was given
	Rows    []RecallRow   // by K, then by Oversample
}

// A RecallRow is the recall and the latency of searches for K hits.
type RecallRow struct {
	K          int
	Oversample float64
	Limit      int // rows that were requested from the server
	// Recall is the mean part of the exact answers that the index found; Lowest is the smallest of a query. A hit as near
	// as the last row of the exact answer counts as found.
	Recall, Lowest float64
	Short          int // queries with fewer hits than the exact answer has
	// The latencies of searches that are sent one after the other.
	P50, P95, P99 time.Duration
}

// String returns the report as a table.
func (r *RecallReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "index %s, %d queries", r.Index, r.Queries)
	if r.Exact > 0 {
		fmt.Fprintf(&b, ", exact answer in %v", r.Exact.Round(time.Millisecond))
	}
	fmt.Fprintf(&b, "\n%5s  %10s  %5s  %7s  %7s  %5s  %9s  %9s  %9s\n", "k", "oversample", "limit", "recall", "lowest", "short", "p50", "p95", "p99")
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "%5d  %10g  %5d  %7.4f  %7.4f  %5d  %9v  %9v  %9v\n", row.K, row.Oversample, row.Limit, row.Recall, row.Lowest,
			row.Short, short(row.P50), short(row.P95), short(row.P99))
	}
	return b.String()
}

func short(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// Recall measures the recall and the latency of searches by the index, with the filter, similarity and consistency
// level of q, and without its bounds. The exact answer is found by one exact search for all queries, unless it is
// given. It has the errors of All, and ErrOption for a configuration.
func (q *Query[T]) Recall(ctx context.Context, cfg RecallConfig) (*RecallReport, error) {
	keys := *q
	keys.columns, keys.cutoff, keys.exact = nil, cutoff{}, false
	r := recall[T]{query: &keys, cfg: cfg}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	report := &RecallReport{Index: r.plan.Index, Queries: len(r.queries)}
	var err error
	if report.Exact, err = r.findTruth(ctx); err != nil {
		return nil, err
	}
	for _, k := range r.cfg.K {
		for _, factor := range r.cfg.Oversample {
			row, err := r.measure(ctx, k, factor)
			if err != nil {
				return nil, err
			}
			report.Rows = append(report.Rows, row)
		}
	}
	return report, nil
}

// recall is a measurement.
type recall[T any] struct {
	query   *Query[T] // for keys
	cfg     RecallConfig
	plan    Plan
	queries [][]float32
	own     [][]byte // the primary key of the row that a query is; nil for queries that are given
	truth   [][]row  // by query; distance is NaN in answers that are given
	most    int      // the greatest of K
}

// prepare applies the defaults, and makes the queries.
func (r *recall[T]) prepare(ctx context.Context) (err error) {
	if len(r.cfg.K) == 0 {
		r.cfg.K = []int{1, 10, 100}
	}
	if len(r.cfg.Oversample) == 0 {
		r.cfg.Oversample = []float64{1, 2, 4}
	}
	r.cfg.Sample = cmp.Or(r.cfg.Sample, 100)
	r.most = slices.Max(r.cfg.K)
	if r.plan, err = r.query.plan(r.query.schema.table(), r.most); err != nil {
		return err
	}
	switch r.queries = r.cfg.Queries; {
	case r.cfg.Truth != nil && len(r.cfg.Truth) != len(r.queries):
		return errorf("%w: exact answers of %d queries for %d queries", ErrOption, len(r.cfg.Truth), len(r.queries))
	case r.queries == nil:
		err = r.sample(ctx)
	}
	if err == nil && len(r.queries) == 0 {
		return errorf("%w: recall of no query: the table %s is empty", ErrOption, r.plan.table.target)
	}
	if r.own == nil {
		r.own = make([][]byte, len(r.queries))
	}
	return err
}

// sample reads the first rows of the partitions that follow random tokens. A row without a vector, or without a
// direction, is left out.
func (r *recall[T]) sample(ctx context.Context) error {
	t := r.plan.table
	var keys, partition []string
	for i, name := range t.keyNames() {
		keys = append(keys, cqltext.QuoteIdentifier(name))
		if i < len(t.meta.PartitionKey) {
			partition = append(partition, cqltext.QuoteIdentifier(name))
		}
	}
	text := fmt.Sprintf("SELECT %s, %s FROM %s WHERE token(%s) >= ? LIMIT 1", cqltext.QuoteIdentifier(t.column), strings.Join(keys, ", "),
		t.inCQL(), strings.Join(partition, ", "))
	random := rand.New(rand.NewPCG(r.cfg.Seed, 1))
	for range r.cfg.Sample {
		found, err := r.sampleFrom(ctx, text, int64(random.Uint64()))
		if err == nil && !found { // no partition has a greater token: the ring begins again
			_, err = r.sampleFrom(ctx, text, math.MinInt64)
		}
		if err != nil {
			return errorf("sample rows of %s: %w", t.target, err)
		}
	}
	return nil
}

// sampleFrom reads the first row of the first partition from a token on, and reports whether there is one.
func (r *recall[T]) sampleFrom(ctx context.Context, text string, token int64) (found bool, err error) {
	it := r.query.session.Query(text, token).Iter(ctx)
	cells := make([][]byte, len(it.Columns()))
	for it.NextRaw(cells) {
		found = true
		var v []float32
		if err := vecql.Unmarshal(it.Columns()[0].TypeInfo, cells[0], &v); err != nil {
			return found, errors.Join(err, it.Close())
		}
		var key []byte
		for _, cell := range cells[1:] {
			key = appendCell(key, cell)
		}
		if t := r.plan.table; t.check(v, r.plan.Metric) == nil && t.checkIndexed(v) == nil {
			r.queries, r.own = append(r.queries, v), append(r.own, key)
		}
	}
	return found, it.Close()
}

// findTruth finds the exact answers.
func (r *recall[T]) findTruth(ctx context.Context) (time.Duration, error) {
	if r.cfg.Truth != nil {
		return 0, r.givenTruth()
	}
	exact := r.query.Exact().Metric(r.plan.Metric)
	began := time.Now()
	_, answers, err := exact.find(ctx, r.queries, r.most+1)
	if err != nil {
		return 0, err
	}
	for i, f := range answers {
		r.truth = append(r.truth, without(f.rows, r.own[i]))
	}
	return time.Since(began), nil
}

// givenTruth encodes the exact answers that are given.
func (r *recall[T]) givenTruth() error {
	t := r.plan.table
	names := t.keyNames()
	if len(names) != 1 {
		return errorf("%w: exact answers are values of one integer, the primary key of %s has %s", ErrOption, t.target, strings.Join(names, ", "))
	}
	info := t.meta.Columns[names[0]].Type
	for i, ids := range r.cfg.Truth {
		if len(ids) < r.most {
			return errorf("%w: the exact answer of query %d has %d rows, want %d", ErrOption, i, len(ids), r.most)
		}
		answer := make([]row, len(ids))
		for j, id := range ids {
			cell, err := vecql.Marshal(info, id)
			if err != nil {
				return errorf("exact answer of query %d: primary key %s: %w", i, names[0], err)
			}
			answer[j] = row{key: appendCell(nil, cell), distance: float32(math.NaN())}
		}
		r.truth = append(r.truth, answer)
	}
	return nil
}

// without returns rows without the row of a key.
func without(rows []row, key []byte) []row {
	return slices.DeleteFunc(rows, func(r row) bool { return key != nil && bytes.Equal(r.key, key) })
}

// measure searches for each query, one after the other.
func (r *recall[T]) measure(ctx context.Context, k int, factor float64) (RecallRow, error) {
	q := r.query.Oversample(factor)
	out := RecallRow{K: k, Oversample: factor, Lowest: 1}
	var latencies []time.Duration
	for i, query := range r.queries {
		wanted := k
		if r.own[i] != nil {
			wanted = min(k+1, MaxHits)
		}
		began := time.Now()
		plan, answers, err := q.find(ctx, [][]float32{query}, wanted)
		if err != nil {
			return out, err
		}
		latencies = append(latencies, time.Since(began))
		out.Limit = plan.Limit
		rows := without(answers[0].rows, r.own[i])
		truth := r.truth[i][:min(k, len(r.truth[i]))]
		if len(rows) < len(truth) {
			out.Short++
		}
		part := part(rows[:min(k, len(rows))], truth)
		out.Recall += part / float64(len(r.queries))
		out.Lowest = min(out.Lowest, part)
	}
	slices.Sort(latencies)
	at := func(p float64) time.Duration { return latencies[min(len(latencies)-1, int(p*float64(len(latencies))))] }
	out.P50, out.P95, out.P99 = at(0.5), at(0.95), at(0.99)
	return out, nil
}

// tolerance is the relative difference of distances that rounding explains.
const tolerance = 1e-5

// part returns the part of the exact answer that was found.
func part(rows, truth []row) float64 {
	if len(truth) == 0 {
		return 1
	}
	last := truth[len(truth)-1].distance
	bound := last + tolerance*max(1, float32(math.Abs(float64(last))))
	n := 0
	for _, r := range rows {
		if r.distance <= bound || slices.ContainsFunc(truth, func(t row) bool { return bytes.Equal(t.key, r.key) }) {
			n++
		}
	}
	return min(1, float64(n)/float64(len(truth)))
}
