// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vecql/vecql/cql"
)

// The vector index of the demo, and exact search, the reference for its recall.

// hit is a row of the result and its similarity.
type hit struct {
	row        int
	similarity float64 // cosine, because the vectors have unit length
}

// exact returns the k rows most similar to query, the most similar first.
func exact(rows []symbol, query []float32, k int) []hit {
	hits := make([]hit, len(rows))
	for i, r := range rows {
		hits[i] = hit{row: i, similarity: dot(r.Embedding, query)}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		switch {
		case a.similarity > b.similarity:
			return -1
		case a.similarity < b.similarity:
			return 1
		}
		return a.row - b.row
	})
	return hits[:min(k, len(hits))]
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// index builds the vector index after the rows are written. From data on disk the server builds a better graph in one
// pass than row by row in memory, where LIMIT 3 finds only nine in ten of the true neighbors.
func (d *demo) index(ctx context.Context) error {
	fmt.Fprintln(d.out, "Building the vector index ...")
	began := time.Now()
	if err := d.session.Query(fmt.Sprintf("CREATE CUSTOM INDEX IF NOT EXISTS symbols_embedding ON %s (embedding) USING 'StorageAttachedIndex' "+
		"WITH OPTIONS = {'similarity_function': 'cosine'}", d.table())).Exec(ctx); err != nil {
		return fmt.Errorf("CREATE CUSTOM INDEX: %w", err)
	}
	for {
		_, err := d.ask(ctx, d.questions[0].Embedding)
		if err == nil {
			fmt.Fprintf(d.out, "Built the index in %.1f s.\n", time.Since(began).Seconds())
			return nil
		}
		// a read failure means that the index is not built yet
		if !errors.Is(err, cql.CodeReadFailure) || time.Since(began) > 5*time.Minute {
			return fmt.Errorf("wait for the index: %w", err)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// answer is a row that the server's index returned.
type answer struct {
	id         int64
	name       string
	similarity float64
}

// search runs the queries and compares the rows of the index with the rows of an exact search.
func (d *demo) search(ctx context.Context, stored []symbol) error {
	t := newTable("question", "by index (ANN)", ">cosine", "exact")
	var latencies []time.Duration
	found := 0
	for _, q := range d.questions {
		began := time.Now()
		answers, err := d.ask(ctx, q.Embedding)
		if err != nil {
			return fmt.Errorf("search %q: %w", q.Text, err)
		}
		latencies = append(latencies, time.Since(began))
		hits := exact(stored, q.Embedding, neighbors)
		title := q.Text
		for i := range neighbors {
			row := []string{title, "-", "", "same"}
			if title = ""; i < len(answers) {
				row[1], row[2] = answers[i].name, fmt.Sprintf("%.3f", answers[i].similarity)
			}
			r := &stored[hits[i].row]
			if slices.ContainsFunc(answers, func(a answer) bool { return a.id == r.ID }) {
				found++
			}
			if i >= len(answers) || answers[i].id != r.ID {
				row[3] = r.Package + "." + r.Symbol
			}
			t.add(row...)
		}
	}
	fmt.Fprintln(d.out)
	if err := t.write(d.out, cmp.Or(d.width, demoWidth)); err != nil {
		return err
	}
	slices.Sort(latencies)
	want := neighbors * len(d.questions)
	recall := float64(found) / float64(want)
	fmt.Fprintf(d.out, "\nRecall of the %d answers by index against the exact ones: %.3f.\nMedian time of a query: %.1f ms.\n",
		want, recall, float64(latencies[len(latencies)/2].Microseconds())/1000)
	if recall < minimalRecall {
		return fmt.Errorf("recall of the index is %.3f, want at least %.1f", recall, minimalRecall)
	}
	return nil
}

// ask returns the rows that the server's index finds nearest to query.
func (d *demo) ask(ctx context.Context, query []float32) ([]answer, error) {
	it := d.session.Query(fmt.Sprintf("SELECT id, package, symbol, similarity_cosine(embedding, ?) FROM %s ORDER BY embedding ANN OF ? LIMIT %d",
		d.table(), neighbors), query, query).Consistency(cql.One).Idempotent(true).Iter(ctx)
	var answers []answer
	var a answer
	var pkg, name string
	var similarity float32
	for it.Scan(&a.id, &pkg, &name, &similarity) {
		a.name = pkg + "." + name
		a.similarity = 2*float64(similarity) - 1 // servers map the cosine to the range 0 to 1
		answers = append(answers, a)
	}
	return answers, it.Close()
}
