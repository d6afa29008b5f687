// SPDX-License-Identifier: Apache-2.0

// Command h2oreport makes tables of the output of the group-by benchmark of h2o.ai: h2oreport results/h2o.txt
// [requirements.txt] writes h2o.md beside the first file. The other file contains the versions of the peers.
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

func main() { tables.Main("h2oreport results/h2o.txt [requirements.txt]", report) }

func report(in io.Reader, _ string) (text, svg string, err error) {
	r, err := parse(in)
	if err != nil {
		return "", "", err
	}
	var md strings.Builder
	fmt.Fprintf(&md, "# The group-by benchmark of h2o.ai: vecql and its peers\n\n%s", legend)
	for _, s := range r.settings {
		r.write(&md, s)
	}
	return md.String(), "", nil
}

const legend = `Medians in ms; less is better, and the fastest is bold. "vs best peer" is the time of the best peer divided by the time of
vecql; ~ means that the samples of the two overlap. The clock ends with the whole answer in memory. It starts with the
table in the engine's memory, or with the path of the Parquet file. Cases are tables of bench/h2o/data: k100 has 100 groups
in id1, id2, id4 and id5, and a hundredth of the rows in id3 and id6; k2 makes id3 and id6 nearly distinct; nulls5 has 5 %
of NULLs.

| question | keys | answer |
| --- | --- | --- |
| q01 | id1 | sum of v1 |
| q02 | id1, id2 | sum of v1 |
| q03 | id3 | sum of v1, mean of v3 |
| q04 | id4 | means of v1, v2, v3 |
| q05 | id6 | sums of v1, v2, v3 |
| q06 | id4, id5 | median and standard deviation of v3, exact |
| q07 | id3 | greatest v1 less the least v2 |
| q08 | id6 | the two largest v3, a row each |
| q09 | id2, id4 | square of the correlation of v1 and v2 |
| q10 | id1 to id6 | sum of v3, number of rows |
`

const ours = "vecql"

// A setting is where the clock starts, and the number of threads.
type setting struct {
	source  string
	threads int
}

// A key identifies a cell: query is a case and a question.
type key struct {
	setting
	query, impl string
}

type results struct {
	settings        []setting
	cases           []string
	queries, impls  []string
	times           map[key][]float64 // ns/op
	questionsOfCase map[string][]string
}

var line = regexp.MustCompile(`^BenchmarkH2O/case=([^/\s]+)/source=([^/\s]+)/question=([^/\s]+)/impl=([^/\s]+)/threads=(\d+)\s+\d+\s+(.*)$`)

// parse reads Go's benchmark format. vecql is first; its peers and the cases keep the order in which they come.
func parse(in io.Reader) (*results, error) {
	r := &results{impls: []string{ours}, times: map[key][]float64{}, questionsOfCase: map[string][]string{}}
	err := tables.Parse(in, line, func(m []string, values map[string]float64) error {
		threads, err := strconv.Atoi(m[5])
		if err != nil {
			return err
		}
		k := key{setting{m[2], threads}, m[1] + " " + m[3], m[4]}
		r.times[k] = append(r.times[k], values["ns/op"])
		r.settings, r.impls = tables.Once(r.settings, k.setting), tables.Once(r.impls, k.impl)
		r.cases = tables.Once(r.cases, m[1])
		r.questionsOfCase[m[1]] = tables.Once(r.questionsOfCase[m[1]], k.query)
		return nil
	})
	for _, c := range r.cases {
		slices.Sort(r.questionsOfCase[c])
		r.queries = append(r.queries, r.questionsOfCase[c]...)
	}
	return r, err
}

var titles = map[string]string{"memory": "Tables in memory", "file": "From the file"}

// write writes the tables of a setting: times, and comparisons of all cases and of each one.
func (r *results) write(w io.Writer, s setting) {
	samples := func(query, impl string) []float64 { return r.times[key{s, query, impl}] }
	fmt.Fprintf(w, "\n## %s, %d threads\n\n", titles[s.source], s.threads)
	tables.Header(w, slices.Concat([]string{"case, question"}, r.impls, []string{"vs best peer"})...)
	for _, q := range r.queries {
		fastest := tables.Best(r.impls, func(impl string) []float64 { return samples(q, impl) })
		if fastest == "" {
			continue
		}
		row := []string{q}
		for _, impl := range r.impls {
			cell := tables.MS(samples(q, impl))
			if impl == fastest {
				cell = "**" + cell + "**"
			}
			row = append(row, cell)
		}
		best := tables.Best(r.impls[1:], func(impl string) []float64 { return samples(q, impl) })
		tables.Row(w, append(row, tables.Ratio(samples(q, ours), samples(q, best), best))...)
	}
	fmt.Fprintf(w, "\nTime of the peers divided by the time of vecql, over the questions that both answered:\n\n")
	tables.WriteComparisons(w, "questions", ours, tables.Compare(ours, r.impls[1:], r.queries, samples))
	fmt.Fprintf(w, "\nThe same by case, against the best peer:\n\n")
	var byCase []tables.Comparison
	for _, c := range r.cases {
		for _, x := range tables.Compare(ours, r.impls[1:], r.questionsOfCase[c], samples) {
			if x.Against == tables.BestPeer {
				x.Against = c
				byCase = append(byCase, x)
			}
		}
	}
	tables.WriteComparisons(w, "questions", ours, byCase)
}
