// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"
	ptext "github.com/jedib0t/go-pretty/v6/text"

	"github.com/vecql/vecql/column"
)

// Charts in a terminal: lines by package asciigraph, bars as a table with a column of bars.

const (
	textWidth = 80 // characters of a line where there is no terminal
	minPlot   = 10 // characters of the bars or of the line, at least
	plotLines = 12 // lines of a line chart
	// tickWidth is the number of characters that a mark of the horizontal axis takes, at least.
	tickWidth = 14
)

// drawText draws the chart in lines of width characters, in ASCII unless hasUnicode is set.
func (c *chartData) drawText(w io.Writer, width int, hasUnicode bool) error {
	if c.kind == lineChart {
		return c.writeLine(w, width, hasUnicode)
	}
	return c.writeBars(w, width, hasUnicode)
}

// writeBars writes a table of the labels, the numbers and the bars.
func (c *chartData) writeBars(w io.Writer, width int, hasUnicode bool) error {
	label, value := c.label.Name, c.value.Name
	if c.kind == histChart {
		label, value = c.value.Name, "rows"
	}
	label, value = cut(label, width/3), cut(value, width/3)
	labels, values := ptext.StringWidth(label), ptext.StringWidth(value)
	for _, b := range c.bars {
		labels = max(labels, ptext.StringWidth(cut(b.label, width/3)))
		values = max(values, ptext.StringWidth(cut(b.text, width/3)))
	}
	ruler := c.newRuler(max(minPlot, width-labels-values-2*len(gap)))
	t := &table{names: []string{label, value, ruler.axis()}, right: []bool{false, true, false}}
	for _, b := range c.bars {
		t.add(cut(b.label, width/3), cut(b.text, width/3), ruler.bar(b.value, hasUnicode))
	}
	if err := t.write(w, 0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, c.lines(0, width))
	return err
}

// lines returns the note on one line, or on several if it is wider than width.
func (c *chartData) lines(parts, width int) string {
	note := c.note(parts)
	if ptext.StringWidth(note) > width {
		note = strings.ReplaceAll(note, "; ", "\n")
	}
	return note
}

// A ruler measures bars in characters.
type ruler struct {
	width, zero      int     // all characters; the characters to the left of zero
	perUnit          float64 // characters for a distance of 1
	lowest, greatest string  // the numbers at the ends
}

// newRuler returns a ruler of width characters for the bars of a chart.
func (c *chartData) newRuler(width int) ruler {
	low, high, r := 0.0, 0.0, ruler{width: width, lowest: "0", greatest: "0"}
	for _, b := range c.bars {
		if b.value < low {
			low, r.lowest = b.value, b.text
		}
		if b.value > high {
			high, r.greatest = b.value, b.text
		}
	}
	cells := width
	if low < 0 {
		cells -= 2 // the mark of zero, and what rounding adds
	}
	if distance := high/2 - low/2; distance > 0 {
		r.perUnit = float64(cells) / 2 / distance
	}
	if low < 0 {
		r.zero = max(1, int(-low*r.perUnit))
	}
	return r
}

// axis returns the numbers at the ends of the bars, "" if there is no room for them.
func (r ruler) axis() string {
	space := r.width - ptext.StringWidth(r.lowest) - ptext.StringWidth(r.greatest)
	if space < 1 {
		return ""
	}
	return r.lowest + strings.Repeat(" ", space) + r.greatest
}

// eighths are blocks of an eighth to seven eighths of a character.
const eighths = "▏▎▍▌▋▊▉"

// bar returns a bar from zero to v. A bar of a number other than zero has a length.
func (r ruler) bar(v float64, hasUnicode bool) string {
	if math.IsNaN(v) {
		return ""
	}
	block, mark := "#", "|"
	if hasUnicode {
		block, mark = "█", "│"
	}
	if r.zero == 0 {
		mark = ""
	}
	length := math.Abs(v) * r.perUnit
	whole := int(math.Round(length))
	if v < 0 {
		whole = min(max(whole, 1), r.zero)
		return strings.Repeat(" ", r.zero-whole) + strings.Repeat(block, whole) + mark
	}
	rest := ""
	if hasUnicode {
		whole = int(length)
		if part := int((length - float64(whole)) * 8); part > 0 || whole == 0 && v > 0 {
			rest = string([]rune(eighths)[max(0, part-1)])
		}
	} else if v > 0 {
		whole = max(whole, 1)
	}
	return strings.Repeat(" ", r.zero) + mark + strings.Repeat(block, whole) + rest
}

// boxes replaces the characters of asciigraph by ASCII.
var boxes = strings.NewReplacer("┤", "|", "┼", "+", "└", "+", "┬", "+", "─", "-", "│", "|",
	"╭", ".", "╮", ".", "╰", "'", "╯", "'", "╴", "-", "╶", "-")

// writeLine writes the names of the axes, and the line between them.
func (c *chartData) writeLine(w io.Writer, width int, hasUnicode bool) error {
	y := c.yScale(c.points, 6)
	each := max(1, plotLines/int(y.last-y.first)) // lines from mark to mark
	height := each * int(y.last-y.first)
	margin := 0
	for i := y.first; i <= y.last; i++ {
		margin = max(margin, len(y.short(i)))
	}
	labelOf := c.xLabels()
	columns := max(minPlot, width-margin-4-ptext.StringWidth(labelOf(1))/2) // the last label is below the last column
	line, isMerged := c.columns(columns, y)
	plot := asciigraph.Plot(line, asciigraph.Height(height), asciigraph.LowerBound(0), asciigraph.UpperBound(1),
		asciigraph.YAxisValueFormatter(func(v float64) string {
			if n := int(math.Round(v * float64(height))); n%each == 0 {
				return y.short(y.first + float64(n/each))
			}
			return ""
		}),
		asciigraph.XAxisRange(0, 1), asciigraph.XAxisTickCount(1+c.xParts(max(1, columns/tickWidth))),
		asciigraph.XAxisValueFormatter(labelOf))
	if !hasUnicode {
		plot = boxes.Replace(plot)
	}
	parts := 0
	if isMerged {
		parts = columns
	}
	_, err := fmt.Fprintf(w, "%s\n%s%*s%s\n%s\n", cut(c.value.Name, width), trimLines(plot), margin+3, "",
		cut(c.xName(), max(minPlot, width-margin-3)), c.lines(parts, width))
	return err
}

// columns returns the line as a number from 0 to 1 for each of n columns. Columns without a point are on the straight
// line between their neighbors.
func (c *chartData) columns(n int, y scale) (line []float64, isMerged bool) {
	means, isMerged := c.thin(n)
	bottom, top := y.mark(y.first), y.mark(y.last)
	line = make([]float64, 0, n)
	for i, p := range means {
		share := min(1, max(0, (p.y/2-bottom/2)/(top/2-bottom/2)))
		if i > 0 {
			from, steps := line[len(line)-1], int(p.x-means[i-1].x)
			for k := 1; k < steps; k++ {
				line = append(line, from+(share-from)*float64(k)/float64(steps))
			}
		}
		line = append(line, share)
	}
	return line, isMerged
}

// xParts returns the number of equal parts, at most most, into which marks divide the horizontal axis. The marks of
// days, integers and texts are where these are, unless there are many between them.
func (c *chartData) xParts(most int) int {
	span := c.points[len(c.points)-1].x - c.points[0].x
	switch {
	case c.label.Type.Kind == column.Date:
		span /= 24 * 60 * 60
	case !c.hasTexts() && !c.label.Type.Kind.IsInteger():
		return most
	}
	for parts := most; parts > 1; parts-- {
		if math.Mod(span, float64(parts)) == 0 {
			return parts
		}
	}
	if span > float64(5*most) {
		return most
	}
	return 1
}

// xLabels returns a function that formats a place on the horizontal axis, from 0 to 1.
func (c *chartData) xLabels() func(share float64) string {
	first, last := c.points[0].x, c.points[len(c.points)-1].x
	format := func(x float64) string { return formatNumber(x, last-first) }
	switch {
	case c.hasTexts():
		format = func(x float64) string { return cut(c.labels[int(math.Round(x))], tickWidth-2) }
	case isTime(c.label):
		layout := c.timeLayout()
		format = func(x float64) string { return timeOf(x).Format(layout) }
	case c.label.Type.Kind.IsInteger():
		format = func(x float64) string { return formatNumber(math.Round(x), 1e3) }
	}
	return func(share float64) string { return format(first + (last-first)*share) }
}

// formatNumber formats a number of an axis that extends over span, with three digits of the span.
func formatNumber(x, span float64) string {
	if math.Abs(x) >= 1e12 || span < 1e-9 {
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	return strconv.FormatFloat(x, 'f', max(0, 2-int(math.Floor(math.Log10(span)))), 64)
}

// timeOf returns the time of a number of seconds since 1970.
func timeOf(seconds float64) time.Time {
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)).UTC()
}

// timeLayout returns the layout of the times on the horizontal axis, which are as exact as their distances need.
func (c *chartData) timeLayout() string {
	span := timeOf(c.points[len(c.points)-1].x).Sub(timeOf(c.points[0].x))
	switch {
	case c.label.Type.Kind == column.Date || span > 72*time.Hour:
		return time.DateOnly
	case c.label.Type.Kind == column.Timestamp && span > 10*time.Minute:
		return "01-02 15:04"
	case span > 10*time.Second:
		return time.TimeOnly
	}
	return "15:04:05.000"
}

// xName returns the name of the horizontal axis, with the zone and the first time of timestamps.
func (c *chartData) xName() string {
	name := c.label.Name
	if c.label.Type.Kind != column.Timestamp {
		return name
	}
	zone := "local time"
	if c.label.Type.UTC {
		zone = "UTC"
	}
	return fmt.Sprintf("%s (%s, from %s)", name, zone, timeOf(c.points[0].x).Format(time.DateTime))
}
