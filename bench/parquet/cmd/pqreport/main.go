// SPDX-License-Identifier: Apache-2.0

// Command pqreport formats the output of the Parquet benchmarks as tables: pqreport results/parquet.txt
// [requirements.txt] [go.mod] writes parquet.md beside the first file. The other files contain the versions of peers.
package main

import (
	"errors"
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
	err := tables.Parse(in, line, func(m []string, values map[string]float64) error {
		threads, err := strconv.Atoi(m[4])
		if err != nil {
			return err
		}
		v, ok := values["ns/op"]
		if !ok {
			return errors.New("no ns/op")
		}
		k := key{m[2], m[3], m[1], threads}
		r.times[k] = append(r.times[k], v)
		r.cases = tables.Once(r.cases, key{query: k.query, layout: k.layout})
		r.impls, r.threads = tables.Once(r.impls, k.impl), tables.Once(r.threads, threads)
		return nil
	})
	slices.Sort(r.threads)
	// vecql is first, the other Go libraries are last.
	rank := map[string]int{"vecql": -1, "pqarrow": 1, "parquet-go": 2}
	slices.SortStableFunc(r.impls, func(a, b string) int { return rank[a] - rank[b] })
	return r, err
}

func (r *results) at(c key, impl string, threads int) []float64 {
	c.impl, c.threads = impl, threads
	return r.times[c]
}

func (r *results) write(w io.Writer) {
	fmt.Fprintf(w, "# Queries on Parquet files: vecql and its peers\n\n%s", legend)
	for _, n := range r.threads {
		tables.Threads(w, n)
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
		at := func(impl string) []float64 { return r.at(c, impl, n) }
		if !slices.ContainsFunc(impls, func(impl string) bool { return len(at(impl)) > 0 }) {
			continue
		}
		row := []string{c.name()}
		for _, impl := range impls {
			row = append(row, tables.MS(at(impl)))
		}
		best := tables.Best(slices.DeleteFunc(slices.Clone(impls), func(impl string) bool { return impl == "vecql" }), at)
		tables.Row(w, append(row, tables.Ratio(at("vecql"), at(best), best))...)
	}
}

func (r *results) writeLayouts(w io.Writer, n int) {
	impls := r.with(n)
	var rows [][]string
	for _, c := range r.cases {
		row, some := []string{c.query, "one/" + c.layout}, false
		for _, impl := range impls {
			one, many := r.at(key{query: c.query, layout: "one"}, impl, n), r.at(c, impl, n)
			row = append(row, tables.Cell(func() string {
				some = true
				return fmt.Sprintf("%.2f", tables.Median(one)/tables.Median(many))
			}, one, many))
		}
		if some && c.layout != "one" {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n### By layout\n\n%s\n", layoutsLegend)
	tables.Header(w, slices.Concat([]string{"query", "layout"}, impls)...)
	for _, row := range rows {
		tables.Row(w, row...)
	}
}
