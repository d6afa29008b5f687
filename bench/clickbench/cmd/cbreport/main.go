// SPDX-License-Identifier: Apache-2.0

// Command cbreport formats the output of the ClickBench queries: cbreport results/clickbench.txt [requirements.txt]
// writes tables to clickbench.md and a plot to clickbench.svg beside the first file. The other file contains the
// versions of the peers. cbreport shapes results/clickbench-*.txt writes one table of all, clickbench-shapes.md.
package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/vecql/vecql/bench/plot"
	"github.com/vecql/vecql/bench/tables"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "shapes" {
		if err := writeShapes(os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "cbreport: %v\n", err)
			os.Exit(1)
		}
		return
	}
	tables.Main("cbreport results/clickbench.txt [requirements.txt]", report)
}

func report(in io.Reader, name string) (text, svg string, err error) {
	r, err := parse(in)
	if err != nil {
		return "", "", err
	}
	var md strings.Builder
	fmt.Fprintf(&md, "# The queries of ClickBench: vecql and its peers\n\n%s\n", legend)
	fmt.Fprintf(&md, "![ratios](%s.svg)\n", name)
	for _, cache := range []string{warm, cold} {
		r.write(&md, cache)
	}
	return md.String(), plot.SVG(r.bars()), nil
}

const legend = `Medians in ms; less is better. The clock runs from the path of the file to the whole answer in memory, in a
process that has started. Each query of each engine is a process of its own. Before the process starts, its file leaves
the operating system's cache: the first run is cold, the others are warm. "vs best peer" is the time of the best peer
divided by that of vecql; ~ means that the samples of the two overlap. The tables are those of bench/clickbench/data.
`

const (
	warm = "warm"
	cold = "cold"
	ours = "vecql"
)

// A key identifies a cell.
type key struct{ query, cache, impl string }

type results struct {
	queries, impls []string
	times          map[key][]float64 // ns/op
}

var line = regexp.MustCompile(`^BenchmarkClickBench/query=([^/\s]+)/cache=([^/\s]+)/impl=([^/\s]+)/threads=\d+\s+\d+\s+(.*)$`)

// parse reads Go's benchmark format. vecql is first, and its peers keep the order in which they come.
func parse(in io.Reader) (*results, error) {
	r := &results{impls: []string{ours}, times: map[key][]float64{}}
	err := tables.Parse(in, line, func(m []string, values map[string]float64) error {
		k := key{m[1], m[2], m[3]}
		r.times[k] = append(r.times[k], values["ns/op"])
		r.queries, r.impls = tables.Once(r.queries, k.query), tables.Once(r.impls, k.impl)
		return nil
	})
	slices.Sort(r.queries)
	return r, err
}

// best returns the fastest peer, "" if there is none.
func (r *results) best(query, cache string) string {
	return tables.Best(r.impls[1:], func(impl string) []float64 { return r.times[key{query, cache, impl}] })
}

// ratio returns the time of a peer divided by vecql's time, and whether both have one.
func (r *results) ratio(query, cache, impl string) (float64, bool) {
	us, them := r.times[key{query, cache, ours}], r.times[key{query, cache, impl}]
	if len(us) == 0 || len(them) == 0 {
		return 0, false
	}
	return tables.Median(them) / tables.Median(us), true
}

func (r *results) write(w io.Writer, cache string) {
	fmt.Fprintf(w, "\n## %s\n\n", strings.ToUpper(cache[:1])+cache[1:])
	tables.Header(w, slices.Concat([]string{"query"}, r.impls, []string{"vs best peer"})...)
	for _, q := range r.queries {
		row := []string{q}
		for _, impl := range r.impls {
			row = append(row, tables.MS(r.times[key{q, cache, impl}]))
		}
		best := r.best(q, cache)
		tables.Row(w, append(row, tables.Ratio(r.times[key{q, cache, ours}], r.times[key{q, cache, best}], best))...)
	}
	fmt.Fprintf(w, "\nTime of the peers divided by that of vecql, over the queries of ClickBench that both answered:\n\n")
	tables.WriteComparisons(w, "queries", ours, r.summaries(cache))
}

// summaries compares vecql with its peers over the queries of ClickBench.
func (r *results) summaries(cache string) []tables.Comparison {
	queries := slices.DeleteFunc(slices.Clone(r.queries), func(q string) bool { return !strings.HasPrefix(q, "q") })
	return tables.Compare(ours, r.impls[1:], queries, func(query, impl string) []float64 {
		return r.times[key{query, cache, impl}]
	})
}

// bars plots the geometric means, and the ratio to the best peer in each query.
func (r *results) bars() []plot.Group {
	means := plot.Group{Title: "Time of each engine / time of vecql, geometric mean of 43 queries, file in memory (longer is better)"}
	for _, s := range r.summaries(warm) {
		means.Bars = append(means.Bars, bar(s.Against, s.Mean))
	}
	each := plot.Group{Title: "Time of the best other engine / time of vecql in each query, file in memory (longer is better)"}
	for _, q := range r.queries {
		if x, ok := r.ratio(q, warm, r.best(q, warm)); ok {
			each.Bars = append(each.Bars, bar(q, x))
		}
	}
	return slices.DeleteFunc([]plot.Group{means, each}, func(g plot.Group) bool { return len(g.Bars) == 0 })
}

// bar returns a bar in the color of vecql where it is faster, else in the color of peers.
func bar(name string, ratio float64) plot.Bar {
	color := plot.Colors[0]
	if ratio < 1 {
		color = plot.Colors[2]
	}
	return plot.Bar{Name: name, Label: fmt.Sprintf("%.2f", ratio), Color: color, Value: ratio}
}
