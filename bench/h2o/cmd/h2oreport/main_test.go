// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

const sample = `BenchmarkH2O/case=k100/source=memory/question=q02/impl=vecql/threads=2	1	9000000 ns/op
BenchmarkH2O/case=k100/source=memory/question=q02/impl=duckdb/threads=2	1	3000000 ns/op
BenchmarkH2O/case=k100/source=memory/question=q01/impl=vecql/threads=2	1	1000000 ns/op
BenchmarkH2O/case=k100/source=memory/question=q01/impl=vecql/threads=2	1	3000000 ns/op
BenchmarkH2O/case=k100/source=memory/question=q01/impl=duckdb/threads=2	1	6000000 ns/op
BenchmarkH2O/case=k2/source=memory/question=q01/impl=vecql/threads=2	1	1000000 ns/op
BenchmarkH2O/case=k2/source=memory/question=q01/impl=polars/threads=2	1	8000000 ns/op
BenchmarkH2O/case=k100/source=file/question=q01/impl=vecql/threads=2	1	5000000 ns/op
`

// The fastest of a question is bold, and geometric means are over all cases and over each one.
func TestReport(t *testing.T) {
	text, _, err := report(strings.NewReader(sample), "h2o")
	if err != nil {
		t.Fatal(err)
	}
	memory, file, _ := strings.Cut(text, "## From the file, 2 threads")
	for _, want := range []string{
		"## Tables in memory, 2 threads",
		"| case, question | vecql | duckdb | polars | vs best peer |",
		"| k100 q01 | **2.00** | 6.00 |  | **3.00×** (duckdb) |\n| k100 q02 | 9.00 | **3.00** |  | **0.33×** (duckdb) |\n",
		"| k2 q01 | **1.00** |  | 8.00 | **8.00×** (polars) |",
		"| best peer | 3 | 2.00 | 0.33 (k100 q02) | 2 |",
		"| duckdb | 2 | 1.00 | 0.33 (k100 q02) | 1 |",
		"| k100 | 2 | 1.00 | 0.33 (k100 q02) | 1 |\n| k2 | 1 | 8.00 | 8.00 (k2 q01) | 1 |",
	} {
		if !strings.Contains(memory, want) {
			t.Errorf("no %q in\n%s", want, memory)
		}
	}
	if want := "| k100 q01 | **5.00** |  |  |  |"; !strings.Contains(file, want) || strings.Contains(file, "q02") {
		t.Errorf("no %q, or q02, in\n%s", want, file)
	}
	if _, _, err := report(strings.NewReader("BenchmarkH2O/case=a/source=b/question=c/impl=d/threads=1\t1\tx ns/op\n"), "h2o"); err == nil {
		t.Error("no error for a line without a number")
	}
}
