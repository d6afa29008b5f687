// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	chart "github.com/go-analyze/charts/chartdraw"
	"github.com/go-analyze/charts/chartdraw/drawing"

	"github.com/vecql/vecql/search"
)

// The chart of recall: recall against latency, a line for each number of rows.

// The colors of the chart on a light ground. The lines are readable on a dark one, too.
var (
	lineColors = []string{"3b82c4", "d9730d", "2f9e6e", "b5579f", "8a7a2b", "6f6fd1"}
	inkColor   = drawing.ColorFromHex("333333")
	gridColor  = drawing.ColorFromHex("dddddd")
)

// darkStyle replaces ground, ink and grid where the reader prefers a dark ground. It finds them by their colors.
const darkStyle = `@media (prefers-color-scheme: dark) {
path[style*="fill:white"] { fill: #16181d !important }
text { fill: #d7d9dd !important }
path[style*="stroke:rgb(51,51,51)"] { stroke: #8d939c !important }
path[style*="stroke:rgb(221,221,221)"] { stroke: #343840 !important }
}`

// The size of the chart, and the margins around the lines, in pixels.
const (
	chartWidth, chartHeight                           = 860, 480
	marginTop, marginRight, marginBottom, marginLeft  = 70, 20, 20, 20
	marginLegend                                      = 190 // on the right
	legendGap, legendLine, legendSample, legendIndent = 24, 22, 26, 34
)

// drawRecall draws a report as SVG. Each number of rows has a line of median latencies and a dashed one of latencies of
// the 95th percentile, with a point for each factor of oversampling.
func drawRecall(w io.Writer, r *search.RecallReport) error {
	slowest, lowest := 0.0, 1.0
	for _, row := range r.Rows {
		slowest, lowest = max(slowest, milliseconds(row.P95)), min(lowest, row.Recall)
	}
	x, y := ticks(0, max(slowest, 0.001)), ticks(min(lowest, 0.99), 1)
	c := lineFrame(fmt.Sprintf("Recall and latency of the index %s, %d queries", r.Index, r.Queries),
		"Latency of a search (milliseconds)", x, y)
	c.Background.Padding.Right = marginLegend
	c.Elements = append(c.Elements, func(out chart.Renderer, box chart.Box, _ chart.Style) { drawLegend(out, box, r) })
	for i, k := range numbersOf(r) {
		c.Series = append(c.Series, linesOf(r, k, drawing.ColorFromHex(lineColors[i%len(lineColors)]))...)
	}
	return c.Render(chart.SVGWithCSS(darkStyle, ""), w)
}

// lineFrame returns a chart without lines: a title, a horizontal axis with a name, and a vertical axis on the right.
func lineFrame(title, xName string, x, y []chart.Tick) chart.Chart {
	grid := chart.Style{StrokeColor: gridColor, StrokeWidth: 1}
	margins := chart.Box{Top: marginTop, Right: marginRight, Bottom: marginBottom, Left: marginLeft, IsSet: true}
	return chart.Chart{
		Title:      title,
		TitleStyle: chart.Style{FontStyle: chart.FontStyle{FontSize: 13}},
		Width:      chartWidth, Height: chartHeight, Background: chart.Style{Padding: margins},
		XAxis:          chart.XAxis{Name: xName, Ticks: x, GridMajorStyle: grid, GridMinorStyle: grid},
		YAxis:          chart.YAxis{Style: chart.Hidden(), Ticks: y}, // the one on the right
		YAxisSecondary: chart.YAxis{Ticks: y, GridMajorStyle: grid, GridMinorStyle: grid},
	}
}

// dashes is the pattern of the lines of the 95th percentile, in pixels.
var dashes = []float64{6, 4}

// linesOf returns the lines of one number of rows.
func linesOf(r *search.RecallReport, k int, color drawing.Color) []chart.Series {
	var p50, p95, recall []float64
	for _, row := range r.Rows {
		if row.K == k {
			p50, p95, recall = append(p50, milliseconds(row.P50)), append(p95, milliseconds(row.P95)), append(recall, row.Recall)
		}
	}
	style := chart.Style{StrokeColor: color, StrokeWidth: 2, DotColor: color, DotWidth: 4}
	dashed := style
	dashed.StrokeDashArray = dashes
	return []chart.Series{
		chart.ContinuousSeries{YAxis: chart.YAxisSecondary, XValues: p50, YValues: recall, Style: style},
		chart.ContinuousSeries{YAxis: chart.YAxisSecondary, XValues: p95, YValues: recall, Style: dashed},
	}
}

// drawLegend draws what the lines and points are, to the right of the lines, and above them the name of the axis of
// recall, which the package would draw over the numbers.
func drawLegend(out chart.Renderer, box chart.Box, r *search.RecallReport) {
	left, line := box.Right+legendGap, box.Top
	sample := func(text string, color drawing.Color, dashes []float64) {
		line += legendLine
		out.SetStrokeColor(color)
		out.SetStrokeWidth(2)
		out.SetStrokeDashArray(dashes)
		out.MoveTo(left, line-4)
		out.LineTo(left+legendSample, line-4)
		out.Stroke()
		out.Text(text, left+legendIndent, line)
	}
	chart.FontStyle{Font: chart.GetDefaultFont(), FontColor: inkColor, FontSize: 10}.WriteTextOptionsToRenderer(out)
	out.Text("Recall (part of the exact answer)", marginLeft, box.Top-legendLine)
	for i, k := range numbersOf(r) {
		sample(fmt.Sprintf("k = %d", k), drawing.ColorFromHex(lineColors[i%len(lineColors)]), nil)
	}
	line += legendLine / 2
	sample("median", inkColor, nil)
	sample("95th percentile", inkColor, dashes)
	line += legendLine + legendLine/2
	out.Text("points: oversampled", left, line)
	out.Text(strings.Join(factorsOf(r), ", ")+" times", left, line+legendLine*2/3)
}

// numbersOf returns the numbers of rows of a report, in their order.
func numbersOf(r *search.RecallReport) []int {
	var numbers []int
	for _, row := range r.Rows {
		if !slices.Contains(numbers, row.K) {
			numbers = append(numbers, row.K)
		}
	}
	return numbers
}

// factorsOf returns the factors of oversampling of a report, in their order.
func factorsOf(r *search.RecallReport) []string {
	var factors []string
	for _, row := range r.Rows {
		if text := strconv.FormatFloat(row.Oversample, 'g', -1, 64); !slices.Contains(factors, text) {
			factors = append(factors, text)
		}
	}
	return factors
}
