// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/vecql/vecql/bench/tables"
)

// The queries on the table in several shapes: one row for each file of results.

const shapesLegend = `The queries of ClickBench on the table in other shapes (bench/clickbench/shape.py), each beside the peers of
[clickbench.md](clickbench.md), with the file in memory and cold. "fastest in" counts the queries in which vecql is faster than
all peers. A ratio is the time of the best peer of a query divided by that of vecql; those below 1 are listed.
`

// writeShapes writes the report of several files of results to clickbench-shapes.md beside the first one.
func writeShapes(paths []string) error {
	var md strings.Builder
	fmt.Fprintf(&md, "# The queries of ClickBench on other tables\n\n%s\n", shapesLegend)
	tables.Header(&md, "shape", "file", "fastest in", "geometric mean", "least", "below 1")
	for _, path := range paths {
		if err := addShape(&md, path); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
	return os.WriteFile(filepath.Join(filepath.Dir(paths[0]), "clickbench-shapes.md"), []byte(md.String()), 0o644)
}

// addShape adds the rows of a file.
func addShape(md *strings.Builder, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := parse(f)
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), ".txt"), "clickbench-")
	for _, cache := range []string{warm, cold} {
		all := r.summaries(cache)
		if len(all) == 0 {
			return fmt.Errorf("no %s runs of vecql and a peer", cache)
		}
		best := all[0]
		tables.Row(md, name, map[string]string{warm: "in memory", cold: "cold"}[cache],
			fmt.Sprintf("%d of %d", best.Faster, best.Queries), fmt.Sprintf("%.2f", best.Mean),
			fmt.Sprintf("%.2f (%s)", best.Least, best.Worst), strings.Join(r.behind(cache), ", "))
	}
	return nil
}

// behind returns the queries of ClickBench in which a peer is faster, with their ratios.
func (r *results) behind(cache string) (queries []string) {
	for _, q := range r.queries {
		if x, ok := r.ratio(q, cache, r.best(q, cache)); ok && x < 1 && strings.HasPrefix(q, "q") {
			queries = append(queries, fmt.Sprintf("%s %.2f", q, x))
		}
	}
	return queries
}
