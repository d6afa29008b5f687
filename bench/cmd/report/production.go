// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vecql/vecql/bench/tables"
)

// production is the name of the benchmark of requests as services send them. Its cases are values without names,
// because the settings have names of their own in the header of the table.
const production = "Production"

// short returns the values of "name=value" parts: "insert-small tls lz4 4 each v5 256".
func short(parts []string) string {
	var values []string
	for _, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		if name == "version" {
			value = "v" + value
		}
		values = append(values, value)
	}
	return strings.Join(values, " ")
}

const productionLegend = `Requests per second · client CPU per request · system calls of write per request · allocations per request. A scan counts rows.
Deadline "each" means that every request has a context with a timeout of its own, which is canceled after the request. The server
compresses each response that is LZ4, so that with LZ4 the server can be the limit of the first figure; the others are the client's.
`

// production writes a table for each operation, with a row for each setting and a column for each driver.
func (t *table) production(w io.Writer) {
	fmt.Fprint(w, productionLegend)
	var ops []string
	for _, c := range t.cases {
		op, _, _ := strings.Cut(c, " ")
		ops = tables.Once(ops, op)
	}
	for _, op := range ops {
		fmt.Fprintf(w, "\n### %s\n\n", op)
		has := func(d string) bool {
			return slices.ContainsFunc(t.cases, func(c string) bool {
				return strings.HasPrefix(c, op+" ") && t.cells[[2]string{c, d}] != nil
			})
		}
		drivers := slices.DeleteFunc(slices.Clone(t.drivers), func(d string) bool { return !has(d) })
		header := append([]string{"net", "compress", "conns", "deadline", "protocol", "in flight"}, drivers...)
		tables.Header(w, append(header, "vs best peer")...)
		for _, c := range t.cases {
			setting, ok := strings.CutPrefix(c, op+" ")
			if !ok {
				continue
			}
			fmt.Fprintf(w, "| %s |", strings.ReplaceAll(setting, " ", " | "))
			for _, d := range drivers {
				fmt.Fprintf(w, " %s |", productionCell(t.cells[[2]string{c, d}]))
			}
			fmt.Fprintf(w, " %s |\n", t.ratio(c))
		}
	}
}

func productionCell(r result) string {
	var parts []string
	for _, unit := range []struct {
		name   string
		format func(float64) string
	}{
		{"requests/s", rate},
		{"cpu-us/op", func(v float64) string { return duration(v * 1000) }},
		{"writes/op", number},
		{"allocs/op", number},
	} {
		if v := r[unit.name]; len(v) > 0 {
			parts = append(parts, unit.format(median(v)))
		}
	}
	return strings.Join(parts, " · ")
}
