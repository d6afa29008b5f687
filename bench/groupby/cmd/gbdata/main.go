// SPDX-License-Identifier: Apache-2.0

// Command gbdata writes the data of the grouping benchmarks to a folder: columns as raw little-endian files (strings as
// bytes and int32 offsets, validity as bits, as in Arrow), and manifest.json with the cases and the checksums of their
// answers. Equal seeds produce equal files.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"

	"github.com/vecql/vecql/bench/groupby/data"
)

func main() {
	dir := flag.String("dir", "", "folder to write to")
	rows := flag.Int("rows", 5_000_000, "rows per table")
	seed := flag.Uint64("seed", 1, "seed of all randomness")
	cases := flag.String("cases", "", "regular expression that selects cases (default all)")
	flag.Parse()
	if err := run(*dir, *rows, *seed, *cases); err != nil {
		fmt.Fprintln(os.Stderr, "gbdata:", err)
		os.Exit(1)
	}
}

func run(dir string, rows int, seed uint64, cases string) error {
	if dir == "" || rows < 100 {
		return errors.New("-dir is required, and -rows must be at least 100")
	}
	match, err := regexp.Compile(cases)
	if err != nil {
		return err
	}
	return data.Make(rows, seed, match).Write(dir, func(table string) { fmt.Fprintln(os.Stderr, table) })
}
