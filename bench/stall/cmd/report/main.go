// SPDX-License-Identifier: Apache-2.0

// Command report writes the report of runs: "report results/stall.jsonl" writes results/stall.md.
package main

import (
	"io"
	"strings"

	"github.com/vecql/vecql/bench/stall"
	"github.com/vecql/vecql/bench/tables"
)

func main() { tables.Main("report results/stall.jsonl", report) }

func report(in io.Reader, _ string) (text, svg string, err error) {
	c, samples, err := stall.Read(in)
	if err != nil {
		return "", "", err
	}
	var md strings.Builder
	stall.Report(&md, c, samples)
	return md.String(), "", nil
}
