// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	ptext "github.com/jedib0t/go-pretty/v6/text"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// The rows of a result as what charts show: bars, or points.

const (
	// mostBars is the number of rows of a bar chart. Rows after them are counted.
	mostBars = 40
	// mostPoints bounds the memory of the other charts.
	mostPoints = 10_000_000
	// largestNumber bounds the numbers that charts show, so that distances between them are finite.
	largestNumber = 1e300
	// labelWidth is the number of characters of a label.
	labelWidth = 40
)

// A chartData is what a chart shows of a result.
type chartData struct {
	kind         string
	label, value column.Field
	labelAt      int // the column of labels, -1 for none
	valueAt      int // the column of numbers

	rows                  int
	nulls, nans, infinite int // rows that are left out: NULL, NaN, beyond largestNumber

	bars   []bar    // of a bar chart, and of a histogram once it is finished
	points []point  // of a line, in the order of x once it is finished; of a histogram, without x
	labels []string // of the points of a line whose labels are texts: x is their number
	bins   scale    // of a histogram
}

// A bar is one bar of a chart.
type bar struct {
	label, text string
	value       float64 // NaN for a bar without length
}

// A point is one point of a line, and a row of a histogram.
type point struct{ x, y float64 }

// newChartData returns the data of a chart of a kind, "" for the kind that fits, of a result with these columns.
func newChartData(kind string, schema column.Schema) (*chartData, error) {
	if kind == "" {
		kind = fittingKind(schema)
	}
	columns := 2
	if kind == histChart {
		columns = 1
	}
	if len(schema) != columns {
		return nil, &chartError{kind, "the result has " + counted(len(schema), "column") + ", " + listFields(schema)}
	}
	c := &chartData{kind: kind, labelAt: columns - 2, valueAt: columns - 1}
	if !isNumber(schema[c.valueAt]) && isNumber(schema[0]) {
		c.labelAt, c.valueAt = 1, 0
	}
	if c.value = schema[c.valueAt]; !isNumber(c.value) {
		return nil, &chartError{kind, "the result has no number, " + listFields(schema)}
	}
	if c.labelAt >= 0 {
		c.label = schema[c.labelAt]
	}
	c.label.Name, c.value.Name = printableLine(c.label.Name), printableLine(c.value.Name)
	return c, nil
}

// fittingKind returns the kind of chart for columns: a histogram of one, a line along numbers and times, else bars.
func fittingKind(schema column.Schema) string {
	switch {
	case len(schema) == 1:
		return histChart
	case len(schema) == 2 && (isNumber(schema[0]) && isNumber(schema[1]) || isTime(schema[0])):
		return lineChart
	}
	return barChart
}

// listFields returns the names and types of columns, cut to one line.
func listFields(schema column.Schema) string {
	var fields []string
	for _, f := range schema {
		fields = append(fields, f.Name+" ("+f.Type.Kind.String()+")")
	}
	return cut(strings.Join(fields, ", "), 100)
}

func isNumber(f column.Field) bool {
	switch f.Type.Kind {
	case column.Decimal64, column.Decimal128, column.Decimal256, column.Decimal, column.Varint:
		return true
	}
	return f.Type.Kind.IsInteger() || f.Type.Kind.IsFloat()
}

func isTime(f column.Field) bool {
	return f.Type.Kind == column.Date || f.Type.Kind == column.Time || f.Type.Kind == column.Timestamp
}

// add adds the rows of a batch.
func (c *chartData) add(b *column.Batch) error {
	for r := range b.Rows {
		c.rows++
		v := &b.Columns[c.valueAt]
		switch {
		case c.kind != barChart:
			if err := c.addPoint(b, r); err != nil {
				return err
			}
		case len(c.bars) < mostBars:
			n, isNull := numberOf(v.Value(r))
			if isNull || !isDrawable(n) {
				n = math.NaN()
			}
			c.bars = append(c.bars, bar{c.labelOf(b, r), printableLine(v.Format(r, cellWidth)), n})
		}
	}
	return nil
}

// labelOf returns the label of a row as a text.
func (c *chartData) labelOf(b *column.Batch, r int) string {
	return cut(printableLine(b.Columns[c.labelAt].Format(r, labelWidth)), labelWidth)
}

// cut returns a text that takes at most limit characters on a terminal. Periods replace what it leaves out.
func cut(s string, limit int) string { return ptext.Snip(s, limit, "..."[:min(3, limit)]) }

// hasTexts reports whether the labels of a line are texts, which have no distances.
func (c *chartData) hasTexts() bool { return c.labelAt >= 0 && !isNumber(c.label) && !isTime(c.label) }

// addPoint adds a row of a line or a histogram, unless one of its values cannot be drawn.
func (c *chartData) addPoint(b *column.Batch, r int) error {
	y, isNull := numberOf(b.Columns[c.valueAt].Value(r))
	x := float64(len(c.points))
	if c.labelAt >= 0 && !c.hasTexts() {
		var noX bool
		x, noX = numberOf(b.Columns[c.labelAt].Value(r))
		isNull = isNull || noX
	}
	switch {
	case isNull:
		c.nulls++
	case math.IsNaN(x) || math.IsNaN(y):
		c.nans++
	case !isDrawable(x) || !isDrawable(y):
		c.infinite++
	case len(c.points) == mostPoints:
		return &chartError{c.kind, fmt.Sprintf("the result has more than %d rows: group them, or draw fewer", mostPoints)}
	default:
		c.points = append(c.points, point{x, y})
		if c.hasTexts() {
			c.labels = append(c.labels, c.labelOf(b, r))
		}
	}
	return nil
}

func isDrawable(v float64) bool { return math.Abs(v) <= largestNumber }

// numberOf returns a value of a column of numbers or times as a float64: seconds of a time. A value of another kind is
// NaN.
func numberOf(v any) (n float64, isNull bool) {
	switch v := v.(type) {
	case nil:
		return 0, true
	case time.Time:
		return float64(v.Unix()) + float64(v.Nanosecond())/1e9, false
	case time.Duration:
		return v.Seconds(), false
	case *big.Int:
		n, _ = new(big.Float).SetInt(v).Float64()
		return n, false
	case cql.Decimal:
		n, _ = strconv.ParseFloat(v.String(), 64) // infinite beyond a float64
		return n, false
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return float64(r.Int()), false
	case r.CanUint():
		return float64(r.Uint()), false
	case r.CanFloat():
		return r.Float(), false
	}
	return math.NaN(), false
}

// finish completes the data after the last row. It returns a *chartError if there is nothing to draw.
func (c *chartData) finish() error {
	noNumber := func(b bar) bool { return math.IsNaN(b.value) }
	switch {
	case c.rows == 0:
		return &chartError{c.kind, "the result has no rows"}
	case c.kind == barChart && !slices.ContainsFunc(c.bars, func(b bar) bool { return !noNumber(b) }):
		return &chartError{c.kind, fmt.Sprintf("no value of %s can be drawn in %s", c.value.Name, counted(c.rows, "row"))}
	case c.kind != barChart && len(c.points) == 0:
		return &chartError{c.kind, fmt.Sprintf("no value of %s can be drawn: %s", c.value.Name, c.leftOut())}
	case c.kind == histChart:
		c.fillBins()
	case c.kind == lineChart:
		slices.SortStableFunc(c.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
		if first, last := c.points[0].x, c.points[len(c.points)-1].x; first == last {
			return &chartError{c.kind, "all rows have the same " + c.label.Name}
		}
	}
	return nil
}

// leastBins and mostBins are the numbers of ranges of a histogram of few rows and of many.
const leastBins, mostBins = 5, 20

// fillBins counts the points in ranges of equal width, each with its lower bound and without its upper one.
func (c *chartData) fillBins() {
	low, high := extent(c.points)
	most := min(mostBins, max(leastBins, int(2*math.Sqrt(float64(len(c.points))))))
	c.bins = newScale(low, high, most)
	if c.value.Type.Kind.IsInteger() {
		c.bins = wholeScale(low, high, most)
	}
	first := c.bins.steps(low)
	counts := make([]int, int(c.bins.steps(high)-first)+1)
	for _, p := range c.points {
		counts[int(c.bins.steps(p.y)-first)]++
	}
	for i, n := range counts {
		label := c.bins.decimal(first + float64(i))
		if c.hasRanges() {
			label += " to " + c.bins.decimal(first+float64(i+1))
		}
		c.bars = append(c.bars, bar{label, strconv.Itoa(n), float64(n)})
	}
}

// hasRanges reports whether the bars of a histogram are ranges, rather than single integers.
func (c *chartData) hasRanges() bool { return !c.value.Type.Kind.IsInteger() || c.bins.mark(1) > 1 }

// extent returns the least and the greatest y.
func extent(points []point) (low, high float64) {
	low, high = points[0].y, points[0].y
	for _, p := range points {
		low, high = min(low, p.y), max(high, p.y)
	}
	return low, high
}

// yScale returns the scale of the vertical axis of a line.
func (c *chartData) yScale(points []point, most int) scale {
	low, high := extent(points)
	if c.value.Type.Kind.IsInteger() && low < high {
		return wholeScale(low, high, most)
	}
	return newScale(low, high, most)
}

// thin divides the extent of x into n parts and returns a point for each part that has points: its x is the number of
// the part, its y the mean of the points. isMerged reports whether a part has several points.
func (c *chartData) thin(n int) (means []point, isMerged bool) {
	first, last := c.points[0].x, c.points[len(c.points)-1].x
	count := 0 // of the points of the last part
	for _, p := range c.points {
		part := math.Round((p.x/2 - first/2) / (last/2 - first/2) * float64(n-1))
		if len(means) == 0 || means[len(means)-1].x != part {
			means, count = append(means, point{x: part}), 0
		}
		count++
		isMerged = isMerged || count > 1
		mean := &means[len(means)-1].y
		*mean += (p.y - *mean) / float64(count) // a sum would not be finite
	}
	return means, isMerged
}

// leftOut returns the rows that the chart has not, "" for none.
func (c *chartData) leftOut() string {
	var parts []string
	for _, n := range []struct {
		rows int
		what string
	}{{c.nulls, "NULL"}, {c.nans, "NaN"}, {c.infinite, fmt.Sprintf("beyond %g", largestNumber)}} {
		if n.rows > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.rows, n.what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "left out: " + strings.Join(parts, ", ")
}

// note returns what a reader of the chart needs to know about its rows. parts is the number of parts of a line if a
// point of the chart is the mean of several rows, else 0.
func (c *chartData) note(parts int) string {
	notes := []string{counted(c.rows, "row")}
	switch {
	case c.kind == barChart && c.rows > len(c.bars):
		notes[0] = fmt.Sprintf("the first %d of %d rows", len(c.bars), c.rows)
	case c.kind == histChart && c.hasRanges():
		notes = append(notes, "a range has its lower bound, not its upper one")
	case parts > 0:
		notes = append(notes, fmt.Sprintf("means of the rows in %d parts", parts))
	}
	if text := c.leftOut(); text != "" {
		notes = append(notes, text)
	}
	return strings.Join(notes, "; ")
}

// title returns the chart in words.
func (c *chartData) title() string {
	if c.kind == histChart {
		return "Rows by " + c.value.Name
	}
	return c.value.Name + " by " + c.label.Name
}
