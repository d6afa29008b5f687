// SPDX-License-Identifier: Apache-2.0

// Command report writes tables in Markdown from the output of run.sh, and a chart.
//
//	cd bench && go run ./vector/report results/vector.svg <results/vector.txt >results/vector.md
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/bench/plot"
)

// A subject is what the implementations of a table do.
type subject struct {
	format, metric  string
	dim, rows, k    int
	threads         int
	least           map[cell]float64 // ms
	implementations []string
}

type cell struct {
	impl    string
	queries int
}

// own names the implementations of package vector. The first of them that was measured is compared with peers.
var own = []string{"avx512", "avx2", "neon", "go"}

// limits names what finds nothing, as read and sgemm.
const limits = "none"

func main() {
	if err := run(os.Stdin, os.Stdout, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(in io.Reader, out io.Writer, svg string) error {
	subjects, err := read(in)
	if err != nil {
		return err
	}
	bounds := subjects[slices.IndexFunc(subjects, func(s *subject) bool { return s.metric == limits })]
	fmt.Fprint(out, head)
	for _, s := range subjects {
		if s.metric != limits {
			s.write(out, bounds)
		}
	}
	return os.WriteFile(svg, []byte(chart(subjects)), 0o644)
}

const head = `# Exact search: vecql/vector and its peers

The least times in ms; less is better. Vectors of length 1 in random directions, in memory; [vector/run.sh](../vector/run.sh) says what each
implementation does, and compares their answers with those of vector. ` + "`avx512`, `avx2` and `go`" + ` are package vector with the kernels of
that name. ` + "`read`" + ` reads the rows once, ` + "`sgemm`" + ` multiplies them with the queries by OpenBLAS; both find nothing: they are the limits of memory
and of arithmetic. "vs best peer" is the time of the best peer divided by the least of avx512 and avx2. duckdb and lancedb answer one query after the other.

![Times for 1, 16 and 128 queries](vector.svg)
`

// read returns the subjects in the order of their first line.
func read(in io.Reader) ([]*subject, error) {
	var all []*subject
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") || fields[3] != "ns/op" {
			continue
		}
		ns, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return nil, err
		}
		if err := add(&all, fields[0], ns/1e6); err != nil {
			return nil, fmt.Errorf("%s: %w", fields[0], err)
		}
	}
	return all, lines.Err()
}

// add adds a time to its subject.
func add(all *[]*subject, name string, ms float64) error {
	s, c := subject{least: map[cell]float64{}}, cell{}
	for _, part := range strings.Split(name, "/")[1:] {
		key, value, _ := strings.Cut(part, "=")
		numbers := map[string]*int{"dim": &s.dim, "rows": &s.rows, "k": &s.k, "queries": &c.queries, "threads": &s.threads}
		switch {
		case key == "format":
			s.format = value
		case key == "metric":
			s.metric = value
		case key == "impl":
			c.impl, _, _ = strings.Cut(value, "-") // the suffix is the number of processors
		case numbers[key] != nil:
			n, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			*numbers[key] = n
		}
	}
	at := slices.IndexFunc(*all, func(o *subject) bool { return o.title() == s.title() })
	if at < 0 {
		at = len(*all)
		*all = append(*all, &s)
	}
	found := (*all)[at]
	if old, ok := found.least[c]; !ok || ms < old {
		found.least[c] = ms
	}
	if !slices.Contains(found.implementations, c.impl) {
		found.implementations = append(found.implementations, c.impl)
	}
	return nil
}

func (s *subject) title() string {
	return fmt.Sprintf("%s, %s: %d rows of %d, k = %d, %d threads", s.format, strings.ReplaceAll(s.metric, "-", " "), s.rows, s.dim, s.k, s.threads)
}

// queries returns the numbers of queries.
func (s *subject) queries() []int {
	var all []int
	for c := range s.least {
		all = append(all, c.queries)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ranked returns the names of implementations: own ones, peers, limits.
func (s *subject) ranked() []string {
	byRank := func(a, b string) int { return cmp.Compare(rank(a), rank(b)) }
	return slices.SortedStableFunc(slices.Values(s.implementations), byRank)
}

func rank(impl string) int {
	switch {
	case slices.Contains(own, impl):
		return slices.Index(own, impl)
	case impl == "reference":
		return len(own) + 1
	}
	return len(own)
}

// best returns the least time of implementations of a rank, +Inf if none was measured.
func (s *subject) best(queries int, of func(impl string) bool) (impl string, ms float64) {
	ms = math.Inf(1)
	for _, name := range s.implementations {
		if t, ok := s.least[cell{name, queries}]; ok && of(name) && t < ms {
			impl, ms = name, t
		}
	}
	return impl, ms
}

func isOwn(impl string) bool  { return impl == "avx512" || impl == "avx2" || impl == "neon" }
func isPeer(impl string) bool { return rank(impl) == len(own) }

// write writes a table: a line for each number of queries.
func (s *subject) write(out io.Writer, bounds *subject) {
	names := s.ranked()
	if s.format == "float32" {
		names = append(names, bounds.implementations...)
	}
	fmt.Fprintf(out, "\n## %s\n\n| queries | %s | vs best peer |\n|%s\n", s.title(), strings.Join(names, " | "), strings.Repeat(" ---: |", len(names)+2))
	for _, n := range s.queries() {
		fmt.Fprintf(out, "| %d |", n)
		for _, name := range names {
			ms, ok := s.least[cell{name, n}]
			if !ok {
				ms, ok = bounds.least[cell{name, n}]
			}
			if ok {
				fmt.Fprintf(out, " %s |", format(ms))
			} else {
				fmt.Fprint(out, " |")
			}
		}
		peer, theirs := s.best(n, isPeer)
		_, ours := s.best(n, isOwn)
		if math.IsInf(theirs/ours, 0) || math.IsNaN(theirs/ours) {
			fmt.Fprintln(out, " |")
		} else {
			fmt.Fprintf(out, " **%.2f×** (%s) |\n", theirs/ours, peer)
		}
	}
}

// format writes a time with three digits.
func format(ms float64) string {
	digits := max(0, 2-int(math.Floor(math.Log10(ms))))
	return strconv.FormatFloat(ms, 'f', min(digits, 3), 64)
}

// chart draws the times of floats with the inner product.
func chart(subjects []*subject) string {
	var groups []plot.Group
	for _, s := range subjects {
		if s.format != "float32" || s.metric != "dot" {
			continue
		}
		for _, n := range []int{1, 16, 128} {
			g := plot.Group{Title: fmt.Sprintf("The %d nearest of %d vectors of %d floats, queries at once: %d; their time (shorter is better)",
				s.k, s.rows, s.dim, n)}
			for _, name := range s.ranked() {
				ms, ok := s.least[cell{name, n}]
				if !ok || rank(name) > len(own) || name == "go" {
					continue
				}
				bar := plot.Bar{Name: name, Label: format(ms) + " ms", Color: plot.Colors[2], Value: ms}
				if isOwn(name) {
					bar.Name, bar.Color = "vecql "+name, plot.Colors[0]
				}
				g.Bars = append(g.Bars, bar)
			}
			if len(g.Bars) > 0 {
				groups = append(groups, g)
			}
		}
	}
	return plot.SVG(groups)
}
