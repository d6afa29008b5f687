// SPDX-License-Identifier: Apache-2.0

// Command cbdata makes the data of the ClickBench queries: the tables hits and lineitem as Parquet files in a folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/vecql/vecql/bench/clickbench/data"
)

func main() {
	dir := flag.String("dir", "", "folder of the data")
	var o data.Options
	flag.IntVar(&o.Rows, "rows", data.FullRows, "rows of hits")
	flag.Float64Var(&o.Scale, "scale", 10, "TPC-H's scale factor of lineitem; 10 is 60 million rows, 0 omits the table")
	flag.Uint64Var(&o.Seed, "seed", 1, "seed of all random numbers")
	flag.Parse()
	if *dir == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := data.Write(ctx, *dir, o, func(what string) { fmt.Fprintln(os.Stderr, "cbdata:", what) }); err != nil {
		fmt.Fprintln(os.Stderr, "cbdata:", err)
		stop()
		os.Exit(1)
	}
}
