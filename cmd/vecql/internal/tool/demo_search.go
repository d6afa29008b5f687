// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// The searches of the demo: by the vector index, and exactly, the reference for its recall.

// indexTimeout bounds the time in which the server builds the index of the demo.
const indexTimeout = 5 * time.Minute

// index builds the vector index after the rows are written. From data on disk the server builds a better graph in one
// pass than row by row in memory, where LIMIT 3 finds only nine in ten of the true neighbors.
func (d *demo) index(ctx context.Context) error {
	fmt.Fprintln(d.out, "Building the vector index ...")
	began := time.Now()
	if err := search.CreateIndex(ctx, d.session, d.table(), vector.Cosine, search.IndexOptions{}); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	if err := search.WaitReady(bounded, d.session, d.table(), nil); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "Built the index in %.1f s.\n", time.Since(began).Seconds())
	return nil
}

// found is a row of the table that a search found.
type found struct {
	ID      int64
	Package string
	Symbol  string
}

func (f found) name() string { return f.Package + "." + f.Symbol }

// search runs the queries and compares the rows of the index with the rows of an exact search.
func (d *demo) search(ctx context.Context) error {
	rows, err := search.Open[found](ctx, d.session, d.table())
	if err != nil {
		return err
	}
	rows = rows.Consistency(cql.One) // the keyspace has one replica, perhaps in another data center than the coordinator
	queries := make([][]float32, len(d.questions))
	for i, q := range d.questions {
		queries[i] = q.Embedding
	}
	exact, err := rows.Exact().Each(ctx, queries, neighbors)
	if err != nil {
		return err
	}
	t := newTable("question", "by index (ANN)", ">cosine", "exact")
	var latencies []time.Duration
	matches := 0
	for i, q := range d.questions {
		began := time.Now()
		answers, err := rows.All(ctx, q.Embedding, neighbors)
		if err != nil {
			return fmt.Errorf("search %q: %w", q.Text, err)
		}
		latencies = append(latencies, time.Since(began))
		matches += addAnswers(t, q.Text, answers.Hits, exact[i].Hits)
	}
	fmt.Fprintln(d.out)
	if err := t.write(d.out, cmp.Or(d.width, demoWidth)); err != nil {
		return err
	}
	slices.Sort(latencies)
	want := neighbors * len(d.questions)
	recall := float64(matches) / float64(want)
	fmt.Fprintf(d.out, "\nRecall of the %d answers by index against the exact ones: %.3f.\nMedian time of a query: %.1f ms.\n",
		want, recall, float64(latencies[len(latencies)/2].Microseconds())/1000)
	if recall < minimalRecall {
		return fmt.Errorf("recall of the index is %.3f, want at least %.1f", recall, minimalRecall)
	}
	return nil
}

// addAnswers adds a line for each exact answer to a question, and returns how many of them the index found.
func addAnswers(t *table, title string, answers, exact []search.Hit[found]) (matches int) {
	for i, hit := range exact {
		row := []string{title, "-", "", "same"}
		if title = ""; i < len(answers) {
			row[1], row[2] = answers[i].Row.name(), fmt.Sprintf("%.3f", 1-answers[i].Distance)
		}
		if slices.ContainsFunc(answers, func(a search.Hit[found]) bool { return a.Row.ID == hit.Row.ID }) {
			matches++
		}
		if i >= len(answers) || answers[i].Row.ID != hit.Row.ID {
			row[3] = hit.Row.name()
		}
		t.add(row...)
	}
	return matches
}
