// SPDX-License-Identifier: Apache-2.0

// Command pqdata writes the data of the Parquet benchmarks to a folder: table t in one, ten and a hundred files,
// embeddings by codec, and manifest.json with the cases and the right answers. It keeps tables that exist. The same
// seed makes the same files.
//
// By default each layout of t takes about 1 GB, each table of embeddings 0.6 GB; -cases selects some:
//
//	pqdata -dir data -cases layout=one
//	pqdata -dir data -cases 'query=count/layout=(ten|hundred)|codec=zstd'
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"

	"github.com/vecql/vecql/bench/parquet/data"
)

func main() {
	var o data.Options
	dir := flag.String("dir", os.Getenv("VECQL_PARQUET_DATA"), "folder to write to, by default $VECQL_PARQUET_DATA")
	flag.Uint64Var(&o.Seed, "seed", 1, "seed of all randomness")
	flag.IntVar(&o.Rows, "rows", 20_000_000, "rows of t")
	flag.StringVar(&o.Codec, "codec", "snappy", "compression of t: none, snappy or zstd")
	flag.IntVar(&o.Vectors, "vectors", 200_000, "rows of embeddings")
	flag.IntVar(&o.Dim, "dim", 768, "float32 in a vector")
	cases := flag.String("cases", "", "regular expression of the cases: only tables that they need are made (default all)")
	flag.Parse()
	if err := run(*dir, o, *cases); err != nil {
		fmt.Fprintln(os.Stderr, "pqdata:", err)
		os.Exit(1)
	}
}

func run(dir string, o data.Options, cases string) error {
	if dir == "" {
		return errors.New("-dir is required")
	}
	match, err := regexp.Compile(cases)
	if err != nil {
		return err
	}
	set, err := data.Write(dir, o, match, func(what string) { fmt.Fprintln(os.Stderr, "writing", what) })
	if err != nil {
		return err
	}
	for _, t := range set.Tables {
		fmt.Fprintf(os.Stderr, "%-22s %3d files %4d row groups %9d rows %6d MB\n", t.Name, t.Files, t.RowGroups, t.Rows,
			t.Bytes/1e6)
	}
	return nil
}
