// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ptext "github.com/jedib0t/go-pretty/v6/text"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// utf8Locale is an environment in which charts have Unicode.
var utf8Locale = map[string]string{"LANG": "en_US.UTF-8", "TERM": "xterm"}

// drawn returns the chart of columns.
func drawn(t *testing.T, e *env, columns ...column.Column) (string, error) {
	t.Helper()
	var w bytes.Buffer
	e.out = &w
	if e.getenv == nil {
		e.getenv = func(name string) string { return utf8Locale[name] }
	}
	s := e.newChartSink()
	err := s.Write(column.NewBatch(columns...))
	if err == nil {
		err = s.Close()
	}
	if e.output != svgOutput {
		for line := range strings.Lines(w.String()) {
			require.LessOrEqual(t, ptext.StringWidth(strings.TrimRight(line, "\n")), max(e.width, textWidth), line)
			require.Equal(t, strings.TrimRight(line, " \n"), strings.TrimRight(line, "\n"), "spaces at the end of a line")
		}
	}
	return w.String(), err
}

// requireChart is drawn for a chart that can be drawn, with a line break before it.
func requireChart(t *testing.T, e *env, columns ...column.Column) string {
	t.Helper()
	text, err := drawn(t, e, columns...)
	require.NoError(t, err)
	return "\n" + text
}

// timestamps returns a column of times in milliseconds.
func timestamps(t *testing.T, name string, times []time.Time) column.Column {
	t.Helper()
	var millis []int64
	for _, at := range times {
		millis = append(millis, at.UnixMilli())
	}
	c, err := column.Of(name, millis).WithType(column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true})
	require.NoError(t, err)
	return c
}

// plain is an environment without Unicode.
func plain(string) string { return "" }

// TestBarChart requires bars in proportion, in eighths of a character or in ASCII, the text of NULL and NaN, and the
// number of rows beyond the last bar.
func TestBarChart(t *testing.T) {
	names := column.Strings("name", []string{"chair", "desk", "stool", "lamp", "a\nb"})
	prices := column.Of("price", []float64{40, 10, 0, 1, math.NaN()}).WithNulls([]bool{false, false, false, true, false})
	require.Equal(t, `
name   price  0       40
-----  -----  ----------
chair     40  ██████████
desk      10  ██▌
stool      0
lamp    NULL
a�b      NaN
5 rows
`, requireChart(t, &env{chart: barChart, width: 24}, names, prices))
	require.Equal(t, `
name   price  0       40
-----  -----  ----------
chair     40  ##########
desk      10  ###
stool      0
lamp    NULL
a�b      NaN
5 rows
`, requireChart(t, &env{chart: barChart, width: 24, getenv: plain}, names, prices))
	require.Equal(t, `
x  balance  -50     50
-  -------  ----------
a      -50  ####|
b       50      |####
c        0      |
3 rows
`, requireChart(t, &env{chart: barChart, width: 22, getenv: plain},
		column.Strings("x", []string{"a", "b", "c"}), column.Of("balance", []int64{-50, 50, 0})))
	many := make([]int32, 1000)
	for i := range many {
		many[i] = int32(i)
	}
	text := requireChart(t, &env{chart: barChart}, column.Of("id", many), column.Of("n", many))
	require.Contains(t, text, "\n39  ")
	require.NotContains(t, text, "\n40  ")
	require.Contains(t, text, "\nthe first 40 of 1000 rows\n")
}

// TestHistogram requires ranges that have their lower bound and not their upper one, single integers where they are
// few, and the number of rows that are left out.
func TestHistogram(t *testing.T) {
	require.Equal(t, `
v  rows  0                         2
-  ----  ---------------------------
1     1  █████████████▌
2     0
3     2  ███████████████████████████
3 rows
`, requireChart(t, &env{chart: histChart, width: 36}, column.Of("v", []int8{3, 1, 3})))
	text := requireChart(t, &env{chart: histChart, getenv: plain},
		column.Of("v", []float32{0, 0.1, 0.3, 0.3, 2, float32(math.NaN()), float32(math.Inf(1)), 7}).
			WithNulls([]bool{7: true}))
	require.Contains(t, text, "\n0.0 to 0.5     4  ")
	require.Contains(t, text, "\n1.5 to 2.0     0\n", "2 is in the next range")
	require.Contains(t, text, "\n2.0 to 2.5     1  ")
	require.Contains(t, text, "\n8 rows\na range has its lower bound, not its upper one\nleft out: 1 NULL, 1 NaN, 1 beyond 1e+300\n")
	for range 200 { // every number is in one range, which has it
		values := make([]float64, 50)
		for i := range values {
			values[i] = (rand.Float64() - 0.3) * math.Pow(10, float64(rand.IntN(40)-20))
		}
		c, err := newChartData(histChart, column.Schema{{Name: "v", Type: column.Type{Kind: column.Float64}}})
		require.NoError(t, err)
		require.NoError(t, c.add(column.NewBatch(column.Of("v", values))))
		require.NoError(t, c.finish())
		sum := 0.0
		for _, b := range c.bars {
			sum += b.value
		}
		require.Equal(t, 50.0, sum)
		require.LessOrEqual(t, len(c.bars), mostBins+2)
	}
}

// TestLineChart requires a line in the order of x, marks at round numbers, and the names of the axes.
func TestLineChart(t *testing.T) {
	days := []time.Time{}
	prices := []float64{}
	for i := range 30 {
		days = append(days, time.Date(2026, 1, 30-i, 0, 0, 0, 0, time.UTC))
		prices = append(prices, float64(100+i%7*10))
	}
	text := requireChart(t, &env{chart: lineChart}, timestamps(t, "day", days), column.Of("price", prices))
	for _, want := range []string{"\nprice\n", " 160 ┤", "2026-01-01", "2026-01-30", "day (UTC, from 2026-01-01 00:00:00)\n", "\n30 rows\n", "╭"} {
		require.Contains(t, text, want)
	}
	text = requireChart(t, &env{chart: lineChart, getenv: plain}, timestamps(t, "day", days), column.Of("price", prices))
	require.Equal(t, len(text), utf8.RuneCountInString(text), text)
	xs, ys := make([]int64, 1000), make([]int64, 1000)
	for i := range xs {
		xs[i], ys[i] = int64(i), int64(i*1000)
	}
	text = requireChart(t, &env{chart: lineChart, width: 60}, column.Of("x", xs), column.Of("y", ys))
	require.Regexp(t, `1000 rows; means of the rows in \d\d parts\n$`, text)
	require.Contains(t, text, "1000k ┤")
	text = requireChart(t, &env{chart: lineChart}, column.Strings("month", []string{"may", "june", "july"}),
		column.Of("n", []uint16{1, 2, 9}))
	require.Contains(t, text, "may")
	require.Contains(t, text, "july")
}

// TestChartsOfAllNumbers draws numbers of every magnitude, in both forms.
func TestChartsOfAllNumbers(t *testing.T) {
	for _, values := range [][]float64{
		{5, 5, 5},
		{0, 0},
		{1e300, -1e300, 0},
		{1e18, 1e18 + 256},
		{5e-324, 0},
		{1e-12, 2e-12},
		{-1e-300, 1e300},
		{-7, -8, -9},
		{1, 1 + 1e-15},
		{math.MaxInt64, math.MinInt64},
		{1e15, 1.5e15},
		{123456.7, 123456.8},
	} {
		xs := make([]float64, len(values))
		for i := range xs {
			xs[i] = float64(i) * 1e10
		}
		for _, x := range []column.Column{column.Of("x", xs), column.Of("x", values), column.Of("x", xs).As("time")} {
			for _, output := range []string{"table", svgOutput} {
				for _, kind := range []string{barChart, lineChart} {
					_, err := drawn(t, &env{chart: kind, output: output}, x, column.Of("y", values))
					if x.Name != "x" || values[0] != values[1] || kind == barChart {
						require.NoError(t, err, "%v %s %s", values, kind, output)
					}
				}
				_, err := drawn(t, &env{chart: histChart, output: output}, column.Of("y", values))
				require.NoError(t, err, "%v %s", values, output)
			}
		}
	}
}

// TestNumberOf requires the numbers of all kinds of columns of numbers.
func TestNumberOf(t *testing.T) {
	for _, m := range []struct {
		value any
		want  float64
	}{
		{int8(-1), -1},
		{uint64(1 << 63), 1 << 63},
		{float32(0.5), 0.5},
		{big.NewInt(7), 7},
		{cql.Decimal{Unscaled: big.NewInt(125), Scale: 2}, 1.25},
		{time.Minute, 60},
		{time.Unix(-1, 5e8).UTC(), -0.5},
		{cql.Decimal{Unscaled: big.NewInt(1), Scale: -400}, math.Inf(1)},
	} {
		n, isNull := numberOf(m.value)
		require.False(t, isNull)
		require.Equal(t, m.want, n, "%v", m.value)
	}
	n, _ := numberOf("x")
	require.True(t, math.IsNaN(n))
	_, isNull := numberOf(nil)
	require.True(t, isNull)
}

// TestChartErrors requires a *chartError that says what a chart needs and what the result has.
func TestChartErrors(t *testing.T) {
	ids, names := column.Of("id", []int32{1, 1}), column.Strings("name", []string{"a", "b"})
	nulls := column.Of("n", []int32{0, 0}).WithNulls([]bool{true, true})
	const bars, lines = "a bar chart needs two columns, a label and a number: ",
		"a line chart needs two columns, one of numbers, times or labels and one of numbers: "
	for _, m := range []struct {
		kind    string
		columns []column.Column
		want    string
	}{
		{barChart, []column.Column{ids, names, ids.As("n")}, bars + "the result has 3 columns, id (int32), name (string), n (int32)"},
		{barChart, []column.Column{names, names.As("b")}, bars + "the result has no number, name (string), b (string)"},
		{barChart, []column.Column{names.Slice(0, 0), ids.Slice(0, 0)}, bars + "the result has no rows"},
		{barChart, []column.Column{names, nulls}, bars + "no value of n can be drawn in 2 rows"},
		{lineChart, []column.Column{names, nulls}, lines + "no value of n can be drawn: left out: 2 NULL"},
		{lineChart, []column.Column{ids, ids.As("n")}, lines + "all rows have the same id"},
		{histChart, []column.Column{names}, "a histogram needs one column of numbers: the result has no number, name (string)"},
		{histChart, []column.Column{names, ids}, "a histogram needs one column of numbers: the result has 2 columns, name (string), id (int32)"},
		{"", []column.Column{ids, ids.As("a"), ids.As("b")}, bars + "the result has 3 columns, id (int32), a (int32), b (int32)"},
	} {
		text, err := drawn(t, &env{chart: m.kind}, m.columns...)
		require.Empty(t, text)
		var chartErr *chartError
		require.ErrorAs(t, err, &chartErr)
		require.EqualError(t, err, m.want)
	}
	_, err := drawn(t, &env{chart: barChart}, ids, names)
	require.NoError(t, err, "the number may come first")
}

// TestHasUnicode requires ASCII for a locale or a terminal without Unicode, and with NO_COLOR.
func TestHasUnicode(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "LANG=C": false, "LANG=C.UTF-8": true, "LANG=de_DE.utf8": true, "LANG=de_DE.ISO-8859-1": false,
		"LANG=C.UTF-8 LC_ALL=C": false, "LC_CTYPE=en_US.UTF-8 LANG=C": true, "LANG=C.UTF-8 NO_COLOR=1": false,
		"LANG=C.UTF-8 TERM=dumb": false, "LANG=C.UTF-8 TERM=vt100": false, "LANG=C.UTF-8 TERM=xterm-256color": true,
	} {
		set := map[string]string{}
		for _, field := range strings.Fields(text) {
			name, value, _ := strings.Cut(field, "=")
			set[name] = value
		}
		require.Equal(t, want, (&env{getenv: func(name string) string { return set[name] }}).hasUnicode(), text)
	}
}

// TestChartVerbs draws the results of query, sql and agg, and requires usage errors for flags that contradict.
func TestChartVerbs(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	x.requireRun("unload", "shop.items", "items.parquet", "--summary", "json")
	const want = "name   price  0" // and the bars
	require.Contains(t, x.requireRun("query", "--chart", "bar", "SELECT name, price FROM shop.items"), want)
	require.Contains(t, x.requireRun("sql", "--chart", "bar", "SELECT name, price FROM shop.items"), want)
	require.Contains(t, x.requireRun("agg", "--chart", "bar", "items.parquet", "--by", "name", "--agg", "sum(price) as price"), want)
	require.Empty(t, x.requireRun("query", "--chart", "bar", "INSERT INTO shop.items (id) VALUES (3)"))
	for _, m := range []struct {
		args    []string
		title   string
		circles int
	}{
		{[]string{"agg", "items.parquet", "--by", "name"}, "count by name", 0},
		{[]string{"sql", "SELECT id, id * 2 AS twice FROM 'items.parquet'"}, "twice by id", 2},
		{[]string{"query", "SELECT price FROM shop.items WHERE id = 1"}, "Rows by price", 0},
		{[]string{"query", "--chart", "bar", "SELECT id, price FROM shop.items WHERE id = 1"}, "price by id", 0},
	} {
		texts, circles := parseChart(t, []byte(x.requireRun(append(m.args, "--output", "svg")...)))
		require.Contains(t, texts, m.title)
		require.Equal(t, m.circles, circles)
	}
	for args, want := range map[string]string{
		"sql --chart pie":               `vecql sql: --chart is "pie", want bar, line or hist; see vecql sql --help`,
		"sql --chart bar -o csv":        "vecql sql: --chart is for --output table or svg, not csv; see vecql sql --help",
		"sql -o xml":                    `vecql sql: --output is "xml", want table, json, csv, parquet, arrow or svg; see vecql sql --help`,
		"query --chart pie --hosts a.b": `vecql query: --chart is "pie", want bar, line or hist; see vecql query --help`,
	} {
		require.Equal(t, want, x.requireFailure(exitUsage, append(strings.Fields(args), "SELECT name FROM 'items.parquet'")...))
	}
	require.Equal(t, `vecql count: --output is "svg", want table, json, csv, parquet or arrow; see vecql count --help`,
		x.requireFailure(exitUsage, "count", "shop.items", "-o", "svg"))
	require.Equal(t, "vecql query: --output svg is for one statement, not 2; see vecql query --help",
		x.requireFailure(exitUsage, "query", "-o", "svg", "SELECT id FROM shop.items; SELECT id FROM shop.items"))
	x.out = 80
	require.Equal(t, "vecql sql: --output svg does not go to a terminal: redirect standard output to a file; see vecql sql --help",
		x.requireFailure(exitUsage, "sql", "-o", "svg", "SELECT id FROM 'items.parquet'"))
	x.out = 0
	// The columns are checked before rows are read: the second row has a value that is no number.
	require.NoError(t, os.WriteFile("bad.csv", []byte("a,b\n1,x\n"), 0o600))
	require.Equal(t, "vecql sql: a histogram needs one column of numbers: the result has 2 columns, a (int64), b (string)",
		x.requireFailure(exitFailed, "sql", "--chart", "hist", "SELECT a, b FROM 'bad.csv'"))
}

// TestNoChartOfHalfAResult requires that an error while rows are read draws nothing.
func TestNoChartOfHalfAResult(t *testing.T) {
	var w bytes.Buffer
	e := &env{out: &w, chart: histChart, output: "table", getenv: plain}
	failure := fmt.Errorf("the node left")
	err := e.writeResult(func(yield func(*column.Batch, error) bool) {
		_ = yield(column.NewBatch(column.Of("n", []int64{1, 2})), nil) && yield(nil, failure)
	})
	require.Equal(t, failure, err)
	require.Empty(t, w.String())
}
