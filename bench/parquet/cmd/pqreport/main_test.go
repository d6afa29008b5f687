// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

const output = `goos: linux
BenchmarkParquet/impl=pqarrow/query=sum/col=v/layout=one/threads=2  	       1	   8000000 ns/op	  255216 B/op	      65 allocs/op
BenchmarkParquet/impl=vecql/query=sum/col=v/layout=one/threads=2-2  	       1	   1000000 ns/op	  255216 B/op
BenchmarkParquet/impl=vecql/query=sum/col=v/layout=one/threads=2         	       1	   3000000 ns/op
BenchmarkParquet/impl=vecql/query=sum/col=v/layout=hundred/threads=2	1	5000000 ns/op
BenchmarkParquet/impl=duckdb/query=sum/col=v/layout=one/threads=2	1	6000000 ns/op
BenchmarkParquet/impl=duckdb/query=embeddings/codec=none/layout=ten/threads=1	1	250000000 ns/op
BenchmarkGroupBy/impl=duckdb/case=pair/threads=2	1	1 ns/op
PASS
`

func TestReport(t *testing.T) {
	r, err := parse(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	r.write(&b)
	for _, want := range []string{
		"\n## 1 thread\n\n| query | duckdb | vs best peer |\n| --- | --- | --- |\n| embeddings/codec=none/layout=ten | 250 |  |\n\n## 2 threads\n",
		"| query | vecql | duckdb | pqarrow | vs best peer |\n",
		"| sum/col=v/layout=one | 2.00 | 6.00 | 8.00 | **3.00×** (duckdb) |\n| sum/col=v/layout=hundred | 5.00 |  |  |  |\n",
		"| query | layout | vecql | duckdb | pqarrow |\n| --- | --- | --- | --- | --- |\n| sum/col=v | one/hundred | 0.40 |  |  |\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks\n%s\nin\n%s", want, b.String())
		}
	}
	if _, err := parse(strings.NewReader("BenchmarkParquet/impl=a/query=count/layout=one/threads=2 1 5 rows/s\n")); err == nil {
		t.Error("no error without a time")
	}
}
