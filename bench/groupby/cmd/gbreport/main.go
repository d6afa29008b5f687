// SPDX-License-Identifier: Apache-2.0

// Command gbreport makes tables of the output of the grouping benchmarks: gbreport results/groupby.txt
// [requirements.txt] writes groupby.md beside the first file. The second file lists the versions of the peers.
package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/bench/tables"
)

func main() { tables.Main("gbreport results/groupby.txt [requirements.txt]", report) }

func report(in io.Reader, _ string) (text, svg string, err error) {
	r, err := parse(in)
	if err != nil {
		return "", "", err
	}
	var md strings.Builder
	r.write(&md)
	return md.String(), "", nil
}

const legend = `Medians in ms; less is better. vecql returns groups in any order, as its peers do; vecql-ordered returns them in the order of their first
appearance; map is a loop with a Go map, on one thread. "vs best peer" is the time of the best peer divided by that of vecql, "vs Daft" the
time of Daft divided by that of vecql; ~ means that the samples of the two overlap.
`

// key identifies a cell of a table.
type key struct {
	name, impl string
	threads    int
}

type results struct {
	cases, impls []string
	threads      []int
	times        map[key][]float64 // ns/op
	memory       map[key][]float64 // peak-bytes
	perGroup     map[key][]float64 // bytes/group
}

var line = regexp.MustCompile(`^BenchmarkGroupBy(?:Memory)?/impl=([^/\s]+)/(case=\S+)/threads=(\d+)(?:-\d+)?\s+\d+\s+(.*)$`)

// parse reads Go's benchmark format. Cases and impls keep their order of appearance.
func parse(in io.Reader) (*results, error) {
	r := &results{times: map[key][]float64{}, memory: map[key][]float64{}, perGroup: map[key][]float64{}}
	err := tables.Parse(in, line, func(m []string, values map[string]float64) error {
		threads, err := strconv.Atoi(m[3])
		if err != nil {
			return err
		}
		k := key{strings.TrimPrefix(m[2], "case="), m[1], threads}
		for unit, samples := range map[string]map[key][]float64{
			"ns/op": r.times, "peak-bytes": r.memory, "bytes/group": r.perGroup,
		} {
			if v, ok := values[unit]; ok {
				samples[k] = append(samples[k], v)
			}
		}
		r.cases, r.impls, r.threads = tables.Once(r.cases, k.name), tables.Once(r.impls, k.impl),
			tables.Once(r.threads, threads)
		return nil
	})
	slices.Sort(r.threads)
	slices.SortStableFunc(r.impls, func(a, b string) int { return rank(a) - rank(b) })
	return r, err
}

// rank orders implementations: vecql, its variants, peers, maps.
func rank(impl string) int {
	switch {
	case impl == "vecql":
		return 0
	case strings.HasPrefix(impl, "vecql-"):
		return 1
	case impl == "map":
		return 3
	}
	return 2
}

func (r *results) write(w io.Writer) {
	fmt.Fprintf(w, "# Grouped aggregation: vecql and its peers\n\n%s", legend)
	for _, n := range r.threads {
		r.writeTimes(w, n)
	}
	r.writeScaling(w)
	r.writeMemory(w)
}

// with returns the cases and impls that have values for the selected threads.
func (r *results) with(values map[key][]float64, threads func(int) bool) (cases, impls []string) {
	has := func(f func(key) bool) bool {
		for k := range values {
			if threads(k.threads) && f(k) {
				return true
			}
		}
		return false
	}
	for _, c := range r.cases {
		if has(func(k key) bool { return k.name == c }) {
			cases = append(cases, c)
		}
	}
	for _, i := range r.impls {
		if has(func(k key) bool { return k.impl == i }) {
			impls = append(impls, i)
		}
	}
	return cases, impls
}

func (r *results) writeTimes(w io.Writer, n int) {
	// Maps use one thread and are shown beside every number of threads.
	at := func(c, i string) []float64 {
		if i == "map" {
			return r.times[key{c, i, 1}]
		}
		return r.times[key{c, i, n}]
	}
	cases, _ := r.with(r.times, func(t int) bool { return t == n })
	_, impls := r.with(r.times, func(t int) bool { return t == n || t == 1 })
	impls = slices.DeleteFunc(impls, func(i string) bool {
		return !slices.ContainsFunc(cases, func(c string) bool { return len(at(c, i)) > 0 })
	})
	if len(cases) == 0 {
		return
	}
	tables.Threads(w, n)
	tables.Header(w, slices.Concat([]string{"case"}, impls, []string{"vs best peer", "vs Daft"})...)
	peers := slices.DeleteFunc(slices.Clone(impls), func(i string) bool { return rank(i) != 2 })
	for _, c := range cases {
		row := []string{c}
		for _, i := range impls {
			row = append(row, tables.MS(at(c, i)))
		}
		best := tables.Best(peers, func(i string) []float64 { return at(c, i) })
		tables.Row(w, append(row, tables.Ratio(at(c, "vecql"), at(c, best), best),
			tables.Ratio(at(c, "vecql"), at(c, "daft"), ""))...)
	}
}

func (r *results) writeScaling(w io.Writer) {
	if !slices.Contains(r.threads, 1) || !slices.Contains(r.threads, 2) {
		return
	}
	_, impls := r.with(r.times, func(t int) bool { return t == 2 })
	cases, _ := r.with(r.times, func(t int) bool { return t == 2 })
	fmt.Fprintf(w, "\n## From one thread to two\n\nTime of one thread divided by the time of two.\n\n")
	tables.Header(w, slices.Concat([]string{"case"}, impls)...)
	for _, c := range cases {
		row := []string{c}
		for _, i := range impls {
			one, two := r.times[key{c, i, 1}], r.times[key{c, i, 2}]
			row = append(row, tables.Cell(func() string {
				return fmt.Sprintf("%.2f", tables.Median(one)/tables.Median(two))
			}, one, two))
		}
		tables.Row(w, row...)
	}
}

func (r *results) writeMemory(w io.Writer) {
	if len(r.memory) == 0 {
		return
	}
	fmt.Fprintf(w, "\n## Memory\n\nPeak of the resident set during one query, less the resident set before: MB, and bytes per group.\n\n")
	cases, impls := r.with(r.memory, func(int) bool { return true })
	tables.Header(w, slices.Concat([]string{"case", "threads"}, impls)...)
	for _, c := range cases {
		for _, n := range r.threads {
			if !slices.ContainsFunc(impls, func(i string) bool { return len(r.memory[key{c, i, n}]) > 0 }) {
				continue
			}
			row := []string{c, strconv.Itoa(n)}
			for _, i := range impls {
				k := key{c, i, n}
				row = append(row, tables.Cell(func() string {
					return fmt.Sprintf("%.0f (%.0f)", tables.Median(r.memory[k])/1e6, tables.Median(r.perGroup[k]))
				}, r.memory[k]))
			}
			tables.Row(w, row...)
		}
	}
}
