// SPDX-License-Identifier: Apache-2.0

// Package groupby_test measures vecql's groupby beside Go maps; peers.py measures other engines on the same data. See
// run.sh.
package groupby_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/bench/groupby/run"
	"github.com/vecql/vecql/bench/workload"
	"github.com/vecql/vecql/groupby"
)

var (
	casesFlag   = flag.String("cases", "", "regular expression that selects cases (default all); -bench splits its own at slashes")
	threadsFlag = flag.String("threads", "1,2", "numbers of threads, separated by commas")
)

// smallRows is the size of generated tables if VECQL_GROUPBY_DATA is not set.
const smallRows = 20_000

// A source returns the tables of a set and keeps only the last one in memory, so that unused tables do not burden the
// garbage collector.
type source struct {
	*data.Set
	name    string
	columns data.Columns
}

func open(tb testing.TB) *source {
	tb.Helper()
	if dir := os.Getenv("VECQL_GROUPBY_DATA"); dir != "" {
		set, err := data.Open(dir)
		if err != nil {
			tb.Fatal(err)
		}
		return &source{Set: set}
	}
	return &source{Set: data.Make(smallRows, 1, nil)}
}

func (s *source) table(tb testing.TB, c *data.Case) data.Columns {
	tb.Helper()
	if s.name != c.Table {
		s.columns = nil
		columns, err := s.Table(c.Table)
		if err != nil {
			tb.Fatal(err)
		}
		s.name, s.columns = c.Table, columns
	}
	if c.Answer == nil {
		s.Answers(c.Table, s.columns)
	}
	return s.columns
}

// check fails if an answer is not the expected one. Small answers are compared group by group, others by their
// checksum, and group by group only to describe a difference.
func check(tb testing.TB, c *data.Case, t data.Columns, got *data.Answer) {
	tb.Helper()
	same := data.Sum(c, got, false).Equal(c.Answer)
	if same && t[c.Keys[0]].Len() > 100_000 {
		return
	}
	if diff := data.Diff(c, data.Group(t, c.Keys, c.Values()).Answer(c.Aggs), got); diff != "" || !same {
		tb.Fatalf("%s: %s\n got %s\nwant %s", c.Name, diff, data.Sum(c, got, false), c.Answer)
	}
}

func BenchmarkGroupBy(b *testing.B) {
	match, err := regexp.Compile(*casesFlag)
	if err != nil {
		b.Fatal(err)
	}
	threads := workload.Threads(b, *threadsFlag)
	src := open(b)
	for _, c := range src.Cases {
		if !match.MatchString(c.Name) {
			continue
		}
		for _, n := range threads {
			b.Run(fmt.Sprintf("impl=vecql/%s/threads=%d", c.Name, n), func(b *testing.B) { benchmark(b, src, c, groupby.Unordered, n) })
			if strings.HasPrefix(c.Name, "case=grid/") && strings.HasSuffix(c.Name, "agg=count+sum") {
				b.Run(fmt.Sprintf("impl=vecql-ordered/%s/threads=%d", c.Name, n), func(b *testing.B) { benchmark(b, src, c, groupby.FirstAppearance, n) })
			}
		}
		b.Run(fmt.Sprintf("impl=map/%s/threads=1", c.Name), func(b *testing.B) { benchmarkMap(b, src, c) })
	}
}

// limit sets the number of threads of the process, including the garbage collector's.
func limit(b *testing.B, threads int) {
	old := runtime.GOMAXPROCS(threads)
	b.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

func benchmark(b *testing.B, src *source, c *data.Case, order groupby.Order, threads int) {
	t := src.table(b, c)
	q := run.New(c, t, order, threads)
	limit(b, threads)
	res, err := q.Run(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if res == nil {
		b.Fatal("no answer")
	}
	answer, err := run.Answer(c, res)
	if err != nil {
		b.Fatal(err)
	}
	check(b, c, t, answer)
	answer, res = nil, nil //nolint:ineffassign // so that the memory is free during the measurement
	measure(b, t[c.Keys[0]].Len(), func() error {
		_, err := q.Run(b.Context())
		return err
	})
}

func benchmarkMap(b *testing.B, src *source, c *data.Case) {
	t := src.table(b, c)
	q, err := run.Map(c, t)
	if err != nil {
		b.Fatal(err)
	}
	limit(b, 1)
	check(b, c, t, q.Answer(q.Run()))
	measure(b, t[c.Keys[0]].Len(), func() error {
		runtime.KeepAlive(q.Run())
		return nil
	})
}

func measure(b *testing.B, rows int, f func() error) {
	b.ReportAllocs()
	runtime.GC() // collect the garbage of check
	for b.Loop() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
