// SPDX-License-Identifier: Apache-2.0

// Package plot draws bars as SVG.
package plot

import (
	"fmt"
	"strings"
)

// A Bar is one value of a group.
type Bar struct {
	Name, Label, Color string
	Value              float64
}

// A Group has bars of one unit. The longest has the whole width.
type Group struct {
	Title string
	Bars  []Bar
}

const (
	left, right, top, bar, gap = 150, 700, 20, 14, 30
	headline                   = 18
)

// SVG returns a drawing of the groups, one below the other.
func SVG(groups []Group) string {
	var b strings.Builder
	y := top
	for _, g := range groups {
		biggest := 0.0
		for _, one := range g.Bars {
			biggest = max(biggest, one.Value)
		}
		fmt.Fprintf(&b, `<text x="10" y="%d" font-weight="bold">%s</text>`+"\n", y, xml(g.Title))
		y += headline
		for _, one := range g.Bars {
			width := one.Value / biggest * (right - left)
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-6, y, xml(one.Name))
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, y-bar+3, max(width, 1), bar-2, one.Color)
			fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", left+width+6, y, xml(one.Label))
			y += bar
		}
		y += gap - bar
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n"+
		`<rect width="100%%" height="100%%" fill="white"/>`+"\n%s</svg>\n", right+90, y, b.String())
}

func xml(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// Colors are the colors of bars by the rank of their driver: vecql, its variants, peers, limits.
var Colors = [...]string{"#1f6f54", "#63b08f", "#b0b6bd", "#e0c36a"}
