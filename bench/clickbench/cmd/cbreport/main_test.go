// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"
	"testing"
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
	want := []summary{
		{against: "best peer", queries: 2, faster: 1, mean: 1, least: 0.5, worst: "q01"},
		{against: "duckdb", queries: 2, faster: 1, mean: math.Sqrt2, least: 0.5, worst: "q01"},
		{against: "chdb", queries: 1, faster: 1, mean: 2, least: 2, worst: "q02"},
	}
	got := r.summaries(warm)
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if math.Abs(got[i].mean-want[i].mean) < 1e-12 {
			got[i].mean = want[i].mean
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
