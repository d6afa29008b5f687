// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Tables of a report as Markdown.

const nsOp = "ns/op"

// units lists the metrics shown besides time.
var units = []struct {
	name, title string
	format      func(float64) string
}{
	{"rows/s", "rows per second", rate},
	{"cpu-us/op", "client CPU", func(v float64) string { return duration(v * 1000) }},
	{"server-cpu-us/op", "server CPU", func(v float64) string { return duration(v * 1000) }},
	{"B/op", "B", number},
	{"allocs/op", "allocs", number},
	{"peak-MB", "peak memory in MB", number},
}

// markdown writes a table of times, followed by a table for each other metric.
func (t *table) markdown(w io.Writer) {
	fmt.Fprintf(w, "| case | %s | vs best peer |\n|%s\n", strings.Join(t.drivers, " | "),
		strings.Repeat(" --- |", len(t.drivers)+2))
	for _, c := range t.cases {
		fmt.Fprintf(w, "| %s |", escape(c))
		for _, d := range t.drivers {
			fmt.Fprintf(w, " %s |", cell(t.cells[[2]string{c, d}][nsOp], duration))
		}
		fmt.Fprintf(w, " %s |\n", t.ratio(c))
	}
	for _, unit := range units {
		if !t.has(unit.name) {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n\n| case | %s |\n|%s\n", unit.title, strings.Join(t.drivers, " | "),
			strings.Repeat(" --- |", len(t.drivers)+1))
		for _, c := range t.cases {
			fmt.Fprintf(w, "| %s |", escape(c))
			for _, d := range t.drivers {
				fmt.Fprintf(w, " %s |", cell(t.cells[[2]string{c, d}][unit.name], unit.format))
			}
			fmt.Fprintln(w)
		}
	}
}

func (t *table) has(unit string) bool {
	for _, r := range t.cells {
		if len(r[unit]) > 0 {
			return true
		}
	}
	return false
}

// ratio returns the best peer's median divided by vecql's.
func (t *table) ratio(c string) string {
	ours := t.cells[[2]string{c, "vecql"}][nsOp]
	var best []float64
	name := ""
	for _, d := range t.drivers {
		if v := t.cells[[2]string{c, d}][nsOp]; rank(d) == 2 && len(v) > 0 && (best == nil || median(v) < median(best)) {
			best, name = v, d
		}
	}
	if len(ours) == 0 || best == nil || median(ours) == 0 {
		return ""
	}
	sure := ""
	if slices.Min(ours) <= slices.Max(best) && slices.Min(best) <= slices.Max(ours) {
		sure = " ~"
	}
	return fmt.Sprintf("**%s×** (%s)%s", number(median(best)/median(ours)), name, sure)
}

func cell(v []float64, format func(float64) string) string {
	if len(v) == 0 {
		return ""
	}
	return format(median(v))
}

// duration formats a duration in nanoseconds.
func duration(ns float64) string {
	switch {
	case ns >= 1e6:
		return number(ns/1e6) + " ms"
	case ns >= 1e3:
		return number(ns/1e3) + " µs"
	}
	return number(ns) + " ns"
}

// rate formats a rate per second.
func rate(v float64) string {
	switch {
	case v >= 1e6:
		return number(v/1e6) + " M"
	case v >= 1e3:
		return number(v/1e3) + " k"
	}
	return number(v)
}

// number formats v with three digits, or with all digits of its integer part.
func number(v float64) string {
	switch {
	case v >= 99.95 || v == 0:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func escape(s string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", "|", "\\|").Replace(s)
}
