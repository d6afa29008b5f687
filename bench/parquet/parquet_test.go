// SPDX-License-Identifier: Apache-2.0

// Package parquet_test measures queries on Parquet files with vecql's parquetscan and groupby, and with other Go
// libraries; peers.py measures other engines on the same files. See run.sh.
package parquet_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vecql/vecql/bench/parquet/data"
	"github.com/vecql/vecql/bench/parquet/run"
	"github.com/vecql/vecql/bench/workload"
)

var (
	casesFlag   = flag.String("cases", "", "regular expression of the cases to measure (default all; -bench would split it at slashes)")
	threadsFlag = flag.String("threads", "2", "numbers of threads")
	implsFlag   = flag.String("impls", "", "which of vecql, pqarrow and parquet-go (default all)")
)

// small is the data used when VECQL_PARQUET_DATA is not set.
var small = data.Options{Seed: 1, Rows: 20_000, Codec: "snappy", Vectors: 600, Dim: 24}

// folder is a folder of all tests.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "parquet"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if err := os.RemoveAll(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

// open returns the data of VECQL_PARQUET_DATA, or small.
func open(tb testing.TB) *data.Set {
	tb.Helper()
	dir := os.Getenv("VECQL_PARQUET_DATA")
	if dir == "" {
		return openSmall(tb)
	}
	set, err := data.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// openSmall returns small, which is written once. Tests only read its files.
func openSmall(tb testing.TB) *data.Set {
	tb.Helper()
	return write(tb, folder, small)
}

func write(tb testing.TB, dir string, o data.Options) *data.Set {
	tb.Helper()
	set, err := data.Write(dir, o, nil, func(string) {})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

func BenchmarkParquet(b *testing.B) {
	match, err := regexp.Compile(*casesFlag)
	if err != nil {
		b.Fatal(err)
	}
	threads := workload.Threads(b, *threadsFlag)
	set := open(b)
	for _, e := range run.Engines() {
		if *implsFlag != "" && !slices.Contains(strings.Split(*implsFlag, ","), e.Name) {
			continue
		}
		for _, c := range set.Cases {
			if !match.MatchString(c.Name) {
				continue
			}
			for _, n := range threads {
				b.Run(fmt.Sprintf("impl=%s/%s/threads=%d", e.Name, c.Name, n), func(b *testing.B) { benchmark(b, e, set.Path(c), c, n) })
			}
		}
	}
}

func benchmark(b *testing.B, e run.Engine, path string, c *data.Case, threads int) {
	old := runtime.GOMAXPROCS(threads) // threads of the process, including the garbage collector's
	b.Cleanup(func() { runtime.GOMAXPROCS(old) })
	answer, err := e.Query(b.Context(), path, c, threads) // warms up
	if err != nil {
		b.Fatal(err)
	}
	if err := answer.Check(c); err != nil {
		b.Fatal(err)
	}
	answer = nil
	b.ReportAllocs()
	runtime.GC() // collect the check's garbage
	for b.Loop() {
		if answer, err = e.Query(b.Context(), path, c, threads); err != nil {
			b.Fatal(err)
		}
	}
	runtime.KeepAlive(answer)
}
