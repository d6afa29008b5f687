// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"io"
	"math"

	chart "github.com/go-analyze/charts/chartdraw"
	"github.com/go-analyze/charts/chartdraw/drawing"
)

// Charts as SVG, in the colors of the chart of recall.

// Distances in the chart of bars, in pixels, and the size of its texts, in points.
const (
	barPitch, barHeight  = 24, 16 // from bar to bar; of a bar
	barsTop, barsBottom  = 92, 52 // above the first bar, below the last one
	barsLeft, barsSpace  = 20, 10 // the margin; between a text and a bar
	textSize, titleSize  = 10, 13
	mostDots, mostOfLine = 60, 1000 // points of a line with dots; points of a line
)

// drawSVG draws the chart as SVG.
func (c *chartData) drawSVG(w io.Writer) error {
	if c.kind == lineChart {
		return c.drawLine(w)
	}
	return c.drawBars(w)
}

// drawLine draws a line, with a dot for each point if they are few.
func (c *chartData) drawLine(w io.Writer) error {
	points, parts := c.points, 0
	if len(points) > mostOfLine {
		points, parts = c.spread(mostOfLine), mostOfLine
	}
	y := c.yScale(points, 8)
	out := lineFrame(cut(c.title(), 100), c.xName(), c.xTicks(), y.ticks(y.short))
	series := chart.ContinuousSeries{YAxis: chart.YAxisSecondary, Style: chart.Style{
		StrokeColor: drawing.ColorFromHex(lineColors[0]), StrokeWidth: 2,
	}}
	if len(points) <= mostDots {
		series.Style.DotColor, series.Style.DotWidth = series.Style.StrokeColor, 3
	}
	for _, p := range points {
		series.XValues, series.YValues = append(series.XValues, p.x), append(series.YValues, p.y)
	}
	out.Series = []chart.Series{series}
	out.Elements = []chart.Renderable{func(out chart.Renderer, box chart.Box, _ chart.Style) {
		setText(out, textSize)
		out.Text(cut(c.value.Name, 60), marginLeft, box.Top-legendLine)
		note := c.note(parts)
		textRight(out, note, chartWidth-barsLeft, box.Top-legendLine)
	}}
	return out.Render(chart.SVGWithCSS(darkStyle, ""), w)
}

// spread returns the points that thin returns, at the middles of their parts.
func (c *chartData) spread(n int) []point {
	first, last := c.points[0].x, c.points[len(c.points)-1].x
	means, _ := c.thin(n)
	for i := range means {
		means[i].x = first + (last-first)*means[i].x/float64(n-1)
	}
	return means
}

// xTicks returns the marks of the horizontal axis: multiples for numbers, else equal parts.
func (c *chartData) xTicks() []chart.Tick {
	first, last := c.points[0].x, c.points[len(c.points)-1].x
	if isNumber(c.label) {
		x := newScale(first, last, 8)
		if c.label.Type.Kind.IsInteger() {
			x = wholeScale(first, last, 8)
		}
		return x.ticks(x.short)
	}
	parts, format := float64(c.xParts(6)), c.xLabels()
	var marks []chart.Tick
	for i := 0.0; i <= parts; i++ {
		share := i / parts
		if c.hasTexts() {
			share = math.Round(last*share) / last
		}
		marks = append(marks, chart.Tick{Value: first + (last-first)*share, Label: format(share)})
	}
	return marks
}

// drawBars draws the labels, the bars and the numbers, one below the other.
func (c *chartData) drawBars(w io.Writer) error {
	label, value := c.label.Name, c.value.Name
	if c.kind == histChart {
		label, value = c.value.Name, "rows"
	}
	out := chart.SVGWithCSS(darkStyle, "")(chartWidth, barsTop+barPitch*len(c.bars)+barsBottom)
	out.SetDPI(drawing.DefaultDPI)
	fillBox(out, 0, 0, chartWidth, barsTop+barPitch*len(c.bars)+barsBottom, drawing.ColorWhite)
	setText(out, titleSize)
	title := cut(c.title(), 100)
	out.Text(title, (chartWidth-out.MeasureText(title).Width())/2, barsTop/2-10)
	setText(out, textSize)
	labels := textWidthOf(out, cut(label, labelWidth))
	for _, b := range c.bars {
		labels = max(labels, textWidthOf(out, b.label))
	}
	end := barsLeft + labels
	out.Text(cut(label, labelWidth), barsLeft, barsTop-barPitch/2)
	out.Text(cut(value, 60), end+barsSpace, barsTop-barPitch/2)
	c.drawEach(out, end)
	out.Text(c.note(0), end+barsSpace, barsTop+barPitch*len(c.bars)+barsBottom/2)
	return out.Save(w)
}

// drawEach draws the bars to the right of their labels, which end at a pixel, each with its number at its end.
func (c *chartData) drawEach(out chart.Renderer, labelsEnd int) {
	texts, low, high := 0, 0.0, 0.0
	for _, b := range c.bars {
		texts = max(texts, textWidthOf(out, b.text)+barsSpace)
		if !math.IsNaN(b.value) {
			low, high = min(low, b.value), max(high, b.value)
		}
	}
	left, right := labelsEnd+barsSpace, chartWidth-barsLeft-texts
	if low < 0 {
		left += texts // the numbers of bars to the left of zero
	}
	place := func(float64) int { return left }
	if low < high {
		place = func(v float64) int { // halves, because the distance of two float64 may be infinite
			return left + int(math.Round((v/2-low/2)/(high/2-low/2)*float64(right-left)))
		}
	}
	zero := place(0)
	for i, b := range c.bars {
		top := barsTop + barPitch*i
		base := top + barHeight - 3
		out.Text(b.label, barsLeft, base)
		if b.value < 0 {
			end := min(place(b.value), zero-1)
			fillBox(out, end, top, zero, top+barHeight, drawing.ColorFromHex(lineColors[0]))
			textRight(out, b.text, end-barsSpace/2, base)
			continue
		}
		end := zero
		if b.value > 0 {
			end = max(place(b.value), zero+1)
			fillBox(out, zero, top, end, top+barHeight, drawing.ColorFromHex(lineColors[0]))
		}
		out.Text(b.text, end+barsSpace/2, base)
	}
	drawRule(out, zero, barsTop-4, barsTop+barPitch*len(c.bars))
}

// drawRule draws a vertical line.
func drawRule(out chart.Renderer, x, top, bottom int) {
	out.SetStrokeColor(inkColor)
	out.SetStrokeWidth(1)
	out.MoveTo(x, top)
	out.LineTo(x, bottom)
	out.Stroke()
}

// setText sets the font of the texts that follow.
func setText(out chart.Renderer, points float64) {
	chart.FontStyle{Font: chart.GetDefaultFont(), FontColor: inkColor, FontSize: points}.WriteTextOptionsToRenderer(out)
}

// textRight draws a text that ends at x.
func textRight(out chart.Renderer, text string, x, y int) {
	out.Text(text, x-textWidthOf(out, text), y)
}

// textWidthOf returns the width of a text, with room for readers that have another font than the package measures.
func textWidthOf(out chart.Renderer, text string) int { return out.MeasureText(text).Width() * 23 / 20 }

// fillBox draws a rectangle.
func fillBox(out chart.Renderer, left, top, right, bottom int, color drawing.Color) {
	out.SetStrokeColor(drawing.ColorTransparent)
	out.SetFillColor(color)
	out.MoveTo(left, top)
	out.LineTo(right, top)
	out.LineTo(right, bottom)
	out.LineTo(left, bottom)
	out.Close()
	out.Fill()
}
