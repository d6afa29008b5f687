// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vecql/vecql/bench/tables"
)

const sample = `BenchmarkClickBench/query=q02/cache=cold/impl=vecql/threads=2	1	9000000 ns/op
BenchmarkClickBench/query=q02/cache=warm/impl=vecql/threads=2	1	1000000 ns/op
BenchmarkClickBench/query=q02/cache=warm/impl=duckdb/threads=2	1	4000000 ns/op
BenchmarkClickBench/query=q02/cache=warm/impl=chdb/threads=2	1	2000000 ns/op
BenchmarkClickBench/query=q01/cache=warm/impl=vecql/threads=2	1	1000000 ns/op
BenchmarkClickBench/query=q01/cache=warm/impl=vecql/threads=2	1	3000000 ns/op
BenchmarkClickBench/query=q01/cache=warm/impl=duckdb/threads=2	1	1000000 ns/op
BenchmarkClickBench/query=tpch1/cache=warm/impl=vecql/threads=2	1	1000000 ns/op
BenchmarkClickBench/query=tpch1/cache=warm/impl=duckdb/threads=2	1	7000000 ns/op
`

// Geometric means are taken over the queries of ClickBench, against each peer and against the best one of each query.
func TestSummaries(t *testing.T) {
	r, err := parse(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	want := []tables.Comparison{
		{Against: "best peer", Queries: 2, Faster: 1, Mean: 1, Least: 0.5, Worst: "q01"},
		{Against: "duckdb", Queries: 2, Faster: 1, Mean: math.Sqrt2, Least: 0.5, Worst: "q01"},
		{Against: "chdb", Queries: 1, Faster: 1, Mean: 2, Least: 2, Worst: "q02"},
	}
	got := r.summaries(warm)
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if math.Abs(got[i].Mean-want[i].Mean) < 1e-12 {
			got[i].Mean = want[i].Mean
		}
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
	var md strings.Builder
	r.write(&md, warm)
	for _, want := range []string{
		"| q01 | 2.00 | 1.00 |  | **0.50×** (duckdb) ~ |", "| tpch1 | 1.00 | 7.00 |  | **7.00×** (duckdb) |",
		"| best peer | 2 | 1.00 | 0.50 (q01) | 1 |",
	} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("no %q in\n%s", want, md.String())
		}
	}
	if r.write(&md, cold); !strings.Contains(md.String(), "| q02 | 9.00 |") {
		t.Errorf("no cold run in\n%s", md.String())
	}
	if groups := r.bars(); len(groups) != 2 || len(groups[0].Bars) != 3 || len(groups[1].Bars) != 3 {
		t.Errorf("bars %+v", groups)
	}
}

// A row of shapes.md has the summary of a file, and the queries in which a peer is faster.
func TestShapes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clickbench-zipf.txt")
	cold := "BenchmarkClickBench/query=q02/cache=cold/impl=duckdb/threads=2\t1\t18000000 ns/op\n"
	if err := os.WriteFile(path, []byte(sample+cold), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeShapes([]string{path}); err != nil {
		t.Fatal(err)
	}
	md, err := os.ReadFile(filepath.Join(filepath.Dir(path), "clickbench-shapes.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| zipf | in memory | 1 of 2 | 1.00 | 0.50 (q01) | q01 0.50 |", "| zipf | cold | 1 of 1 | 2.00 | 2.00 (q02) |  |",
	} {
		if !strings.Contains(string(md), want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
	if err := writeShapes([]string{filepath.Join(t.TempDir(), "none.txt")}); err == nil {
		t.Error("a missing file is no error")
	}
}
