// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"

	"github.com/vecql/vecql/bench/plot"
)

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
		g := plot.Group{Title: c + ", time per operation (less is better)"}
		if perSecond {
			g.Title = c + ", per second (more is better)"
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
			g.Bars = append(g.Bars, plot.Bar{Name: d, Label: label, Color: plot.Colors[rank(d)], Value: v})
		}
		groups = append(groups, g)
	}
	return plot.SVG(groups)
}
