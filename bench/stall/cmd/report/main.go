// SPDX-License-Identifier: Apache-2.0

// Command report writes the report of runs: "report results/stall.jsonl" writes results/stall.md.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/vecql/vecql/bench/stall"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: report results/stall.jsonl")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c, samples, err := stall.Read(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	var md strings.Builder
	stall.Report(&md, c, samples)
	return os.WriteFile(strings.TrimSuffix(path, filepath.Ext(path))+".md", []byte(md.String()), 0o644)
}
