// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
)

// Charts of results: --chart, and --output svg.

// The values of --chart.
const (
	barChart  = "bar"
	lineChart = "line"
	histChart = "hist"
)

// chartKinds are the values of --chart, and what such a chart needs.
var chartKinds = []struct{ name, needs string }{
	{barChart, "a bar chart needs two columns, a label and a number"},
	{lineChart, "a line chart needs two columns, one of numbers, times or labels and one of numbers"},
	{histChart, "a histogram needs one column of numbers"},
}

// svgOutput is the value of --output for a chart as a picture.
const svgOutput = "svg"

// drawnOutputs are the values of --output of the verbs that draw.
var drawnOutputs = append(slices.Clone(outputs), svgOutput)

// addChartFlags defines the flags --output, with svg, and --chart of a verb.
func (e *env) addChartFlags(c *cobra.Command) {
	e.addFormatFlag(c, drawnOutputs)
	var names []string
	for _, kind := range chartKinds {
		names = append(names, kind.name)
	}
	c.Flags().StringVar(&e.chart, "chart", "", "draw the result as a `chart`: "+alternatives(names))
	must(c.RegisterFlagCompletionFunc("chart", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)))
	c.PreRun = func(*cobra.Command, []string) { e.draws = true }
}

// checkChart returns an error for flags that ask for no chart that there is.
func (e *env) checkChart() error {
	_, err := chartNeeds(e.chart)
	switch {
	case e.chart != "" && err != nil:
		return err
	case e.chart != "" && !slices.Contains([]string{"", "table", svgOutput}, e.output):
		return usagef("--chart is for --output table or svg, not %s", e.output)
	case e.output == svgOutput && e.isTerminal:
		return usagef("--output svg does not go to a terminal: redirect standard output to a file")
	}
	return nil
}

// chartNeeds returns what a kind of chart needs.
func chartNeeds(kind string) (string, error) {
	for _, k := range chartKinds {
		if k.name == kind {
			return k.needs, nil
		}
	}
	return "", usagef("--chart is %q, want bar, line or hist", kind)
}

// newChartSink returns a Writer that draws a result.
func (e *env) newChartSink() *chartSink {
	s := &chartSink{kind: e.chart}
	s.draw = func(c *chartData) error { return c.drawText(e.out, cmp.Or(e.width, textWidth), e.hasUnicode()) }
	if e.output == svgOutput {
		s.draw = func(c *chartData) error { return c.drawSVG(e.out) }
	}
	return s
}

// A chartError means that a result cannot be drawn as a chart.
type chartError struct{ kind, reason string }

func (e *chartError) Error() string {
	needs, _ := chartNeeds(e.kind)
	return needs + ": " + e.reason
}

// A chartSink draws a result after its last row. A result without batches is not drawn.
type chartSink struct {
	kind string // of --chart; "" means the kind that fits the columns
	draw func(*chartData) error
	data *chartData
}

// start checks the columns, before there are rows.
func (s *chartSink) start(schema column.Schema) (err error) {
	if s.data == nil {
		s.data, err = newChartData(s.kind, schema)
	}
	return err
}

// Write implements rowfile.Writer.
func (s *chartSink) Write(b *column.Batch) error {
	if err := s.start(b.Schema()); err != nil {
		return err
	}
	return s.data.add(b)
}

// Close implements rowfile.Writer.
func (s *chartSink) Close() error {
	if s.data == nil {
		return nil
	}
	if err := s.data.finish(); err != nil {
		return err
	}
	return s.draw(s.data)
}

// closeResult closes the writer of a result after its last row, or after err. There is no chart of a part of a result.
func closeResult(out rowfile.Writer, err error) error {
	if _, ok := out.(*chartSink); ok && err != nil {
		return err
	}
	return cmp.Or(err, out.Close())
}

// hasUnicode reports whether charts may use characters beyond ASCII: the locale is one of UTF-8, and neither NO_COLOR
// nor the type of the terminal asks for plain text.
func (e *env) hasUnicode() bool {
	locale := strings.ToLower(cmp.Or(e.getenv("LC_ALL"), e.getenv("LC_CTYPE"), e.getenv("LANG")))
	_, charset, _ := strings.Cut(locale, ".")
	term := e.getenv("TERM")
	plain := e.getenv("NO_COLOR") != "" || term == "dumb" || term == "ansi" || strings.HasPrefix(term, "vt")
	return !plain && strings.HasPrefix(strings.ReplaceAll(charset, "-", ""), "utf8")
}
