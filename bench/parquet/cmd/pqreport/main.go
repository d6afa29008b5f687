// SPDX-License-Identifier: Apache-2.0

// Command pqreport formats the output of the Parquet benchmarks as tables: pqreport results/parquet.txt
// [requirements.txt] [go.mod] writes parquet.md beside the first file. The other files contain the versions of peers.
package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/bench/tables"
)

func main() { tables.Main("pqreport results/parquet.txt [requirements.txt] [go.mod]", report) }

func report(in io.Reader, _ string) (text, svg string, err error) {
	r, err := parse(in)
	if err != nil {
		return "", "", err
	}
	var md strings.Builder
	r.write(&md)
	return md.String(), "", nil
}

const legend = `Medians, ms; less is better. The clock runs from the path of the files to the whole answer in memory; files are opened anew for
each query, and lie in the operating system's cache. pqarrow and parquet-go group with Go maps. "vs best peer" is how many times less time
vecql takes than the best peer; ~ means that the samples of the two overlap.
`

const layoutsLegend = `How long one file takes, as a part of what the same rows and row groups take in ten, and in a hundred: less than 1 means
that more files take longer.
`

// A key identifies a cell of a table, which has the times of one number of threads.
type key struct {
	query, layout, impl string
	threads             int
}

// name returns the case's name without the common prefix.
func (k key) name() string { return k.query + "/layout=" + k.layout }

type results struct {
	cases   []key // without impl and threads
	impls   []string
	threads []int
	times   map[key][]float64 // ns/op
}

var line = regexp.MustCompile(`^BenchmarkParquet/impl=([^/\s]+)/query=(\S+)/layout=([^/\s]+)/threads=(\d+)(?:-\d+)?\s+\d+\s+(.*)$`)

// parse reads Go's benchmark format. Cases and impls keep the order in which they come.
func parse(in io.Reader) (*results, error) {
	r := &results{times: map[key][]float64{}}
	s := bufio.NewScanner(in)
	for s.Scan() {
		m := line.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		threads, err := strconv.Atoi(m[4])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s.Text(), err)
		}
		values, err := tables.Values(m[5])
		if err != nil {
			return nil, err
		}
		v, ok := values["ns/op"]
		if !ok {
			return nil, fmt.Errorf("%q: no ns/op", s.Text())
		}
		k := key{m[2], m[3], m[1], threads}
		r.times[k] = append(r.times[k], v)
		r.cases = tables.Once(r.cases, key{query: k.query, layout: k.layout})
		r.impls, r.threads = tables.Once(r.impls, k.impl), tables.Once(r.threads, threads)
	}
	slices.Sort(r.threads)
	// vecql is first, the other Go libraries are last.
	rank := map[string]int{"vecql": -1, "pqarrow": 1, "parquet-go": 2}
	slices.SortStableFunc(r.impls, func(a, b string) int { return rank[a] - rank[b] })
	return r, s.Err()
}

func (r *results) at(c key, impl string, threads int) []float64 {
	c.impl, c.threads = impl, threads
	return r.times[c]
}

func (r *results) write(w io.Writer) {
	fmt.Fprintf(w, "# Queries on Parquet files: vecql and its peers\n\n%s", legend)
	for _, n := range r.threads {
		what := "threads"
		if n == 1 {
			what = "thread"
		}
		fmt.Fprintf(w, "\n## %d %s\n\n", n, what)
		r.writeTimes(w, n)
		r.writeLayouts(w, n)
	}
}

// with returns the impls that have results.
func (r *results) with(threads int) []string {
	return slices.DeleteFunc(slices.Clone(r.impls), func(impl string) bool {
		return !slices.ContainsFunc(r.cases, func(c key) bool { return len(r.at(c, impl, threads)) > 0 })
	})
}

func (r *results) writeTimes(w io.Writer, n int) {
	impls := r.with(n)
	tables.Header(w, slices.Concat([]string{"query"}, impls, []string{"vs best peer"})...)
	for _, c := range r.cases {
		row, some, best := fmt.Sprintf("| %s |", c.name()), false, ""
		for _, impl := range impls {
			v := r.at(c, impl, n)
			row += fmt.Sprintf(" %s |", tables.MS(v))
			if len(v) == 0 {
				continue
			}
			some = true
			if impl != "vecql" && (best == "" || tables.Median(v) < tables.Median(r.at(c, best, n))) {
				best = impl
			}
		}
		if some {
			fmt.Fprintf(w, "%s %s |\n", row, tables.Ratio(r.at(c, "vecql", n), r.at(c, best, n), best))
		}
	}
}

func (r *results) writeLayouts(w io.Writer, n int) {
	impls := r.with(n)
	var rows []string
	for _, c := range r.cases {
		if c.layout == "one" {
			continue
		}
		row, some := fmt.Sprintf("| %s | one/%s |", c.query, c.layout), false
		for _, impl := range impls {
			one, many := r.at(key{query: c.query, layout: "one"}, impl, n), r.at(c, impl, n)
			if len(one) == 0 || len(many) == 0 {
				row += "  |"
				continue
			}
			row += fmt.Sprintf(" %.2f |", tables.Median(one)/tables.Median(many))
			some = true
		}
		if some {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n### By layout\n\n%s\n", layoutsLegend)
	tables.Header(w, slices.Concat([]string{"query", "layout"}, impls)...)
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
}
