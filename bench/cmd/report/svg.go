// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// shown selects the cases of a benchmark to plot, because a plot of all cases is unreadable. The tables have all cases.
var shown = map[string]*regexp.Regexp{
	"Marshal":    regexp.MustCompile(`dim=1536`),
	"Unmarshal":  regexp.MustCompile(`dim=1536`),
	"Collection": regexp.MustCompile(``),
	"Insert":     regexp.MustCompile(`version=4`),
	"ReadRow":    regexp.MustCompile(`version=4`),
	"Scan":       regexp.MustCompile(`version=4`),
}

const (
	left, right, top, bar, gap = 150, 700, 20, 14, 30
	headline                   = 18
)

// svg plots a group of bars for each case: the time per operation, or a rate if operations are requests or rows.
func (t *table) svg() string {
	perSecond := slices.Contains([]string{"Insert", "ReadRow", "Scan"}, t.name)
	var b strings.Builder
	y := top
	for _, c := range t.cases {
		if re := shown[t.name]; re != nil && !re.MatchString(c) {
			continue
		}
		values, biggest := map[string]float64{}, 0.0
		for _, d := range t.drivers {
			if v := median(t.cells[[2]string{c, d}][nsOp]); v > 0 {
				if perSecond {
					v = 1e9 / v
				}
				values[d] = v
				biggest = max(biggest, v)
			}
		}
		title := c + ", time per operation (less is better)"
		if perSecond {
			title = c + ", per second (more is better)"
		}
		fmt.Fprintf(&b, `<text x="10" y="%d" font-weight="bold">%s</text>`+"\n", y, xml(title))
		y += headline
		for _, d := range t.drivers {
			v, ok := values[d]
			if !ok {
				continue
			}
			label := duration(v)
			if perSecond {
				label = rate(v)
			}
			width := v / biggest * (right - left)
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-6, y, xml(d))
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, y-bar+3, max(width, 1), bar-2,
				colors[rank(d)])
			fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", left+width+6, y, xml(label))
			y += bar
		}
		y += gap - bar
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n"+
		`<rect width="100%%" height="100%%" fill="white"/>`+"\n%s</svg>\n", right+90, y, b.String())
}

// colors are the colors of bars by rank.
var colors = [...]string{"#1f6f54", "#63b08f", "#b0b6bd", "#e0c36a"}

func xml(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
