// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/vecql/vecql/bench/plot"
)

// Pictures of tables.

// shown selects the cases of a benchmark to plot, because a plot of all cases is unreadable. The tables have all cases.
var shown = map[string]*regexp.Regexp{
	"Marshal":    regexp.MustCompile(`dim=1536`),
	"Unmarshal":  regexp.MustCompile(`dim=1536`),
	"Collection": regexp.MustCompile(``),
	"Insert":     regexp.MustCompile(`version=4`),
	"ReadRow":    regexp.MustCompile(`version=4`),
	"Scan":       regexp.MustCompile(`version=4`),
	"Production": regexp.MustCompile(`(plain none 1 none|tls lz4 4 each) v5 (16|256)$`),
}

// svg plots a group of bars for each case: the time per operation, or a rate if operations are requests or rows.
func (t *table) svg() string {
	perSecond := slices.Contains([]string{"Insert", "ReadRow", "Scan", "Production"}, t.name)
	var groups []plot.Group
	for _, c := range t.cases {
		if re := shown[t.name]; re != nil && !re.MatchString(c) {
			continue
		}
		g := plot.Group{Title: t.title(c) + ": time (shorter is better)"}
		if t.name == "Bulk" || t.name == "ADBC" {
			g.Title = t.title(c) + ": time of a row (shorter is better)"
		}
		if perSecond {
			g.Title = t.title(c) + ": per second (longer is better)"
		}
		for _, d := range t.drivers {
			v := median(t.cells[[2]string{c, d}][nsOp])
			if v <= 0 {
				continue
			}
			label := duration(v)
			if perSecond {
				v = 1e9 / v
				label = rate(v)
			}
			g.Bars = append(g.Bars, plot.Bar{Name: plot.DriverName(d), Label: label, Color: plot.Colors[rank(d)], Value: v})
		}
		groups = append(groups, g)
	}
	return plot.SVG(groups)
}

// The case of the first picture that a reader of the project sees, and its drivers.
const firstCase = "row=vector inflight=256 version=4"

var firstDrivers = []struct{ driver, name string }{
	{"vecql-typed", "vecql (Go)"},
	{"rust", "ScyllaDB's driver for Rust"},
	{"scylla", "scylladb/gocql (Go)"},
	{"apache2", "Apache gocql 2 (Go)"},
	{"floor", "limit: a bare socket"},
}

// first returns the first picture: the inserts of vectors of each driver in a second. It reports whether the table has
// their times.
func (t *table) first() (plot.Picture, bool) {
	g := plot.Group{Title: "Inserts of one embedding per second, one core (longer is better)"}
	for _, d := range firstDrivers {
		ns := median(t.cells[[2]string{firstCase, d.driver}][nsOp])
		if t.name != "Insert" || ns <= 0 {
			return plot.Picture{}, false
		}
		color := plot.Colors[rank(d.driver)]
		if rank(d.driver) < 2 {
			color = plot.Colors[0]
		}
		g.Bars = append(g.Bars, plot.Bar{Name: d.name, Label: thousands(1e9 / ns), Color: color, Value: 1e9 / ns})
	}
	return plot.Picture{Groups: []plot.Group{g}, Note: []string{
		"An embedding is a vector of 1,536 floats. 256 requests are in flight on one connection, protocol v4; vecql has a typed statement.",
		"The test server answers at once, on a core of its own. The bare socket sends and receives the same bytes.",
	}}, true
}

// thousands formats a rate with three digits, and a comma between thousands.
func thousands(v float64) string {
	n := strconv.FormatFloat(v, 'g', 3, 64)
	whole, _ := strconv.ParseFloat(n, 64)
	text := fmt.Sprintf("%.0f", whole)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
