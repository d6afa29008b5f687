// SPDX-License-Identifier: Apache-2.0

// Command h2odata makes the table of a case of the group-by benchmark of h2o.ai in a folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/vecql/vecql/bench/h2o/data"
)

func main() {
	dir, name := flag.String("dir", "", "folder of the table"), flag.String("case", "k100", "groups, NULLs and order")
	rows, seed := flag.Int("rows", 10_000_000, "number of rows"), flag.Uint64("seed", 1, "seed of all random numbers")
	flag.Parse()
	if *dir == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := data.ParseCase(*name, *rows, *seed)
	if err == nil {
		err = data.Write(ctx, *dir, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "h2odata:", err)
		stop()
		os.Exit(1)
	}
}
