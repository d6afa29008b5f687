// SPDX-License-Identifier: Apache-2.0

// Package plot draws bars as SVG.
package plot

import (
	"fmt"
	"strings"
	"unicode/utf8"
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

// A Picture is groups of bars, one below the other, and a note in lines below them.
type Picture struct {
	Groups []Group
	Note   []string
}

// A Theme is the ground of a picture.
type Theme int

// The themes.
const (
	Reader Theme = iota // what the reader prefers, as far as the program that shows the picture tells it
	Light
	Dark
)

// Distances in pixels, and the size of texts.
const (
	margin, topLine, pitch, thickness, gap, headline = 16, 26, 17, 12, 22, 18
	width, labels                                    = 860, 80 // of the picture; of the texts behind the bars
	textSize, charWidth                              = 12, 6.6 // charWidth is the width of a character, a little more
)

// The rules of the themes. A green, a gray and a yellow of Colors hold on both grounds.
const (
	lightRules = "text { fill: #1f2328 } .ground { fill: #ffffff } .note { fill: #57606a }"
	darkRules  = "text { fill: #e6edf3 } .ground { fill: #0d1117 } .note { fill: #9198a1 }"
)

// Colors are the colors of bars by the rank of their driver: vecql, its variants, peers, limits.
var Colors = [...]string{"#2b8a66", "#79bfa0", "#98a1ab", "#d6ab3d"}

// SVG returns a drawing of the groups on the ground that the reader prefers.
func SVG(groups []Group) string { return Picture{Groups: groups}.SVG(Reader) }

// SVG returns the drawing.
func (p Picture) SVG(t Theme) string {
	var b strings.Builder
	left, y := p.left(), topLine
	for _, g := range p.Groups {
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", margin, y, xml(g.Title))
		y += headline + 2
		biggest := g.biggest()
		for _, one := range g.Bars {
			length := max(one.Value/biggest*float64(width-labels-margin-left), 1)
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-8, y, xml(one.Name))
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, y-thickness+2, length, thickness, one.Color)
			fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", float64(left)+length+6, y, xml(one.Label))
			y += pitch
		}
		y += gap
	}
	for _, line := range p.Note {
		fmt.Fprintf(&b, `<text class="note" x="%d" y="%d">%s</text>`+"\n", margin, y-8, xml(line))
		y += pitch
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%d" font-family="sans-serif" font-size="%d">`+
		"\n<style>%s</style>\n"+`<rect class="ground" width="100%%" height="100%%"/>`+"\n%s</svg>\n", width, y-pitch+4, textSize, t.rules(), b.String())
}

// left returns the pixel at which the bars begin, right of the longest name.
func (p Picture) left() int {
	longest := 0
	for _, g := range p.Groups {
		for _, b := range g.Bars {
			longest = max(longest, utf8.RuneCountInString(b.Name))
		}
	}
	return margin + int(float64(longest)*charWidth) + 8
}

func (g *Group) biggest() float64 {
	biggest := 0.0
	for _, b := range g.Bars {
		biggest = max(biggest, b.Value)
	}
	return biggest
}

// rules returns the style sheet of the theme.
func (t Theme) rules() string {
	switch t {
	case Light:
		return lightRules
	case Dark:
		return darkRules
	}
	return lightRules + " @media (prefers-color-scheme: dark) { " + darkRules + " }"
}

func xml(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
