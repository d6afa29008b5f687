// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// Random chains on random rows, over batches and files, are equal to the reference.

// A chooser makes choices from bytes, and from a counter when these are used up.
type chooser struct {
	*rand.Rand
	data []byte
	n    uint64
}

func newChooser(data []byte) *chooser {
	c := &chooser{data: data}
	c.Rand = rand.New(c)
	return c
}

func (c *chooser) Uint64() uint64 {
	c.n++
	if len(c.data) == 0 {
		return (c.n * 0x9e3779b97f4a7c15) ^ c.n<<32
	}
	v := uint64(c.data[0]) * 0x0101010101010101
	c.data = c.data[1:]
	return v
}

func pick[T any](c *chooser, from ...T) T { return from[c.IntN(len(from))] }

// rows returns a random batch of n rows.
func (c *chooser) rows(n int) *column.Batch {
	r := rand.New(rand.NewPCG(c.Uint64(), 1))
	var i []int32
	var j []int64
	var f []float64
	var s, coded []string
	var null []bool
	for k := range n {
		i = append(i, r.Int32N(20)-5)
		j = append(j, int64(k/3))
		f = append(f, odd(r, float64(r.IntN(40)-20)/4))
		s = append(s, pick(c, "", "a", "ab", "b", "a\x00", "a\x00b", "é")+strings.Repeat("x", r.IntN(12)))
		coded = append(coded, fmt.Sprint("word", r.IntN(6)))
		null = append(null, r.IntN(7) == 0)
	}
	other := slices.Clone(null)
	slices.Reverse(other)
	as := func(c column.Column, t column.Type) column.Column {
		typed, err := c.WithType(t)
		if err != nil {
			panic(err)
		}
		return typed
	}
	at := as(column.Of("at", j), column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true})
	price := as(column.Of("price", j).WithNulls(null), column.Type{Kind: column.Decimal64, Precision: 9, Scale: 1})
	day := as(column.Of("day", i), column.Type{Kind: column.Date})
	return column.NewBatch(price, day, column.Of("i", i).WithNulls(null), column.Of("j", j), column.Of("f", f).WithNulls(other),
		column.Strings("s", s).WithNulls(other), columntest.WithDictionary(column.Strings("coded", coded).WithNulls(null)), at,
		columntest.Column(r, column.Field{Name: "flag", Type: column.Type{Kind: column.Bool}, Nullable: true}, n, 0.2),
		columntest.Column(r, column.Field{Name: "id", Type: column.Type{Kind: column.UUID}, Nullable: true}, n, 0.2),
		columntest.Column(r, column.Field{Name: "v", Type: column.VectorOf(column.Float32, 3)}, n, 0))
}

// odd returns one of the floats that break the rules of numbers, or f.
func odd(r *rand.Rand, f float64) float64 {
	switch r.IntN(16) {
	case 0:
		return math.NaN()
	case 1:
		return math.Copysign(0, -1)
	case 2:
		return math.Inf(1 - 2*r.IntN(2))
	}
	return f
}

// source returns the rows as batches or as up to three files.
func (c *chooser) source(t *testing.T, b *column.Batch) pipe.Pipe {
	t.Helper()
	var batches []*column.Batch
	for from := 0; from < b.Rows || from == 0; {
		to := min(from+1+c.IntN(b.Rows/2+1), b.Rows)
		batches = append(batches, b.Slice(from, to))
		if from = to; to == 0 {
			break
		}
	}
	if c.IntN(2) == 0 {
		return pipe.Batches(batches...)
	}
	o := parquetscan.WriterOptions{RowGroupRows: 1 + c.IntN(b.Rows+1), PageBytes: 1 + c.IntN(400)}
	var files [][]*column.Batch
	for size := 1 + c.IntN(len(batches)); len(batches) > size && len(files) < 2; batches = batches[size:] {
		files = append(files, batches[:size])
	}
	return pipe.Dataset(openFiles(t, o, append(files, batches)...))
}

// openFile returns the batches as a file in memory.
func openFile(t *testing.T, o parquetscan.WriterOptions, batches ...*column.Batch) *parquetscan.Dataset {
	t.Helper()
	return openFiles(t, o, batches)
}

// openFiles returns each list of batches as a file in memory: rows.parquet, rows1.parquet, ...
func openFiles(t *testing.T, o parquetscan.WriterOptions, files ...[]*column.Batch) *parquetscan.Dataset {
	t.Helper()
	var sources []parquetscan.Source
	for i, batches := range files {
		var file bytes.Buffer
		w, err := parquetscan.NewWriter(&file, batches[0].Schema(), o)
		require.NoError(t, err)
		for _, b := range batches {
			require.NoError(t, w.Write(b))
		}
		require.NoError(t, w.Close())
		name := "rows.parquet"
		if i > 0 {
			name = fmt.Sprintf("rows%d.parquet", i)
		}
		sources = append(sources, parquetscan.Source{Name: name, Size: int64(file.Len()), Reader: bytes.NewReader(file.Bytes())})
	}
	ds, err := parquetscan.OpenSources(context.Background(), sources...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ds.Close() })
	return ds
}

// A chain is a Pipe beside the reference.
type chain struct {
	*chooser
	ref  *table
	pipe pipe.Pipe
	text []string // the verbs
	full bool     // the reference found an error in a row, and the chain ends
}

func (c *chain) add(p pipe.Pipe, format string, args ...any) {
	c.pipe = p
	c.text = append(c.text, fmt.Sprintf(format, args...))
}

// names returns the columns of the reference.
func (c *chain) names() (names []string) {
	for _, f := range c.ref.schema() {
		names = append(names, f.Name)
	}
	return names
}

// some returns some of the names whose kinds groups and sorts take.
func (c *chain) some(n int) (names []string) {
	for _, name := range c.names() {
		if c.ref.empty.Column(name).Type.Kind != column.Vector {
			names = append(names, name)
		}
	}
	c.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:min(n, len(names))]
}

// expressions are texts for a column of a type; # is its name.
var (
	conditions = map[string][]string{
		"int": {
			"# > 3", "# <> 2", "# in (1, 2, -3)", "# between 0 and 5", "not (# < 2 or # > 7)", "# = 2.5", "# % 3 = 1",
			"# is null", "# is not null and # >= -1", "10 / # > 2", "# <> 0 and 10 / # > 2", "# not in (1, 2)", "# not in (1, null)",
			"# in ()", "# = null or # > 4", "coalesce(# > 2, true)", "not (# > 1 and # < 9)", "# < 9 and # > -2 and # <> 4",
			"# > 3 and null", "5 between 3 and #",
		},
		"float64": {
			"# < 1.5", "# >= 0", "# is not null", "# * 2 = 3", "not # > 2", "# = float64 'NaN'", "# not in (0, 1.5, null)", "# < 0",
			"# <> float64 'Inf'", "# between -1 and float64 'NaN'", "# > float64 '-Inf' or # is null",
		},
		"string": {
			"# = 'a'", "# <> ''", "# like 'a%'", "# in ('', 'word1', 'b')", "length(#) > 3", "# < 'ab'", "# >= 'word3'",
			"case when # like '%x' then true else false end",
		},
		"decimal64": {"# >= 0.5", "# = 1.2", "# in (0.1, 0.7, 3)", "# < '2.05'", "# is null or # > 2", "cast(# as float64) < 1.1"},
		"date":      {"# > date '1970-01-03'", "# = '1970-01-01'", "extract('dow', #) = 4", "# not between '1969-12-30' and '1970-01-05'"},
		"timestamp": {"# > timestamp '1970-01-01T00:00:00.010Z'", "extract('millisecond', #) < 7"},
		"bool":      {"#", "not #", "# = false", "# is null"},
		"uuid":      {"# is not null", "# > uuid '80000000-0000-0000-0000-000000000000'"},
		"vector":    {"# is not null", "norm(#) >= 0"},
	}
	values = map[string][]string{
		"int":       {"# + 1", "# % 4", "# * #", "100 / #", "-#", "cast(# as float64)", "#", "coalesce(#, 7)"},
		"float64":   {"# / 2", "case when # between -100 and 100 then cast(# as int64) end", "#", "coalesce(#, -1)"},
		"decimal64": {"#", "cast(# as float64)", "coalesce(#, 0.3)"},
		"date":      {"#", "date_trunc('week', #)", "# + interval '1mo'", "extract('doy', #)"},
		"string":    {"upper(#)", "# || 'y'", "length(#)", "strlen(#)", "strlen(#)", "#", "substring(#, 1, 2)", "coalesce(#, 'none')"},
		"timestamp": {"date_trunc('second', #)", "extract('millisecond', #)"},
		"bool":      {"not #", "case when # then 1 else 2 end"},
		"uuid":      {"# is null"},
		"vector":    {"element(#, 1) is null", "#"},
	}
)

// expression returns a text of one of the columns.
func (c *chain) expression(of map[string][]string) string {
	f := pick(c.chooser, c.ref.schema()...)
	kind := f.Type.Kind.String()
	if strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint") {
		kind = "int"
	}
	if strings.HasPrefix(kind, "float") {
		kind = "float64"
	}
	return strings.ReplaceAll(pick(c.chooser, of[kind]...), "#", expr.Col(f.Name).String())
}

// verb adds a random verb.
func (c *chain) verb() {
	switch c.IntN(10) {
	case 8:
		c.union()
	case 9:
		c.limit()
	case 0, 1:
		text := c.expression(conditions)
		c.full = !c.ref.where(text)
		c.add(c.pipe.Where(text), "Where(%s)", text)
	case 2:
		name, text := pick(c.chooser, "x", "y", "i", "a b"), c.expression(values)
		c.full = !c.ref.with(name, text)
		c.add(c.pipe.With(name, text), "With(%s, %s)", name, text)
	case 3:
		names := c.names()
		c.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		names = names[:1+c.IntN(len(names))]
		c.ref.selects(names...)
		c.add(c.pipe.Select(names...), "Select(%q)", names)
	case 4:
		if names := c.some(1 + c.IntN(2)); len(names) > 0 {
			c.ref.group(names)
			c.add(c.pipe.Distinct(names...), "Distinct(%q)", names)
		}
	case 5:
		c.group()
	default:
		c.order()
	}
}

// group adds groups by columns and an expression of one of them.
func (c *chain) group() {
	keys := c.some(1 + c.IntN(3))
	if len(keys) == 0 {
		return
	}
	if text := c.expression(values); c.IntN(2) == 0 && !slices.Contains(keys, text) &&
		c.ref.program(text).Type().Kind != column.Vector {
		if c.full = !c.ref.with(text, text); c.full {
			c.add(c.pipe.GroupBy(text).Aggregate(), "GroupBy(%q)", text)
			return
		}
		keys = slices.Insert(keys, c.IntN(len(keys)+1), text)
	}
	c.aggregate(keys)
}

// aggregate adds groups by the keys with aggregates of some columns.
func (c *chain) aggregate(keys []string) {
	arg, step := pick(c.chooser, c.names()...), len(c.text)
	as := func(a groupby.Aggregate, name string) groupby.Aggregate { return a.As(fmt.Sprint(name, step)) }
	aggregates := []groupby.Aggregate{as(groupby.Count(), "rows")}
	if k := c.ref.empty.Column(arg).Type.Kind; k != column.Vector {
		aggregates = append(aggregates, as(groupby.CountOf(arg), "values "), as(groupby.Min(arg), "min"),
			as(groupby.CountDistinct(arg), "distinct"), as(groupby.Max(arg), "max"))
		if strings.Contains("int32 int64 float64", k.String()) {
			aggregates = append(aggregates, as(groupby.Sum(arg), "sum"), as(groupby.Mean(arg), "mean"))
		}
	}
	c.ref.group(keys, aggregates...)
	c.add(c.pipe.GroupBy(keys...).Aggregate(aggregates...), "GroupBy(%q).Aggregate(%s)", keys, arg)
}

// union adds the rows once more, or the rows of a condition.
func (c *chain) union() {
	if len(c.ref.rows) > 200 {
		return
	}
	rows, p := slices.Clone(c.ref.rows), c.pipe
	if text := c.expression(conditions); c.IntN(2) == 0 && c.ref.where(text) {
		p = p.Where(text)
	}
	c.ref.rows, c.ref.unique = append(rows, c.ref.rows...), nil
	c.add(pipe.Union(c.pipe, p), "Union")
}

// limit adds a window without an order, and aggregates that do not depend on which rows it has.
func (c *chain) limit() {
	n, offset := c.IntN(30), c.IntN(10)
	c.ref.offset(offset)
	c.ref.limit(n)
	c.add(c.pipe.Offset(int64(offset)).Limit(int64(n)).Aggregate(groupby.Count()), "Offset(%d).Limit(%d).Aggregate", offset, n)
	c.ref.group(nil, groupby.Count())
}

// order adds an order and perhaps a window.
func (c *chain) order() {
	var orders []order
	var args []pipe.Order
	before, names := c.names(), c.some(1+c.IntN(2))
	if text := c.expression(values); c.IntN(4) == 0 && !slices.Contains(before, text) && hasOrder(c.ref.program(text).Type().Kind) {
		if c.full = !c.ref.with(text, text); c.full {
			c.add(c.pipe.OrderBy(pipe.Ascending(text)), "OrderBy(%q)", text)
			return
		}
		names = append([]string{text}, names...)
	}
	for _, name := range names {
		o := order{name, c.IntN(2) == 0, c.IntN(4) == 0}
		orders, args = append(orders, o), append(args, o.pipe())
	}
	c.ref.orderBy(before, orders...)
	if len(c.names()) > len(before) {
		c.ref.selects(before...)
	}
	c.add(c.pipe.OrderBy(args...), "OrderBy(%v)", orders)
	for range c.IntN(3) {
		if n := c.IntN(20); c.IntN(2) == 0 {
			c.ref.limit(n)
			c.add(c.pipe.Limit(int64(n)), "Limit(%d)", n)
		} else {
			c.ref.offset(n / 2)
			c.add(c.pipe.Offset(int64(n/2)), "Offset(%d)", n/2)
		}
	}
}

// check runs a random chain.
func check(t *testing.T, data []byte) {
	t.Helper()
	c := &chain{chooser: newChooser(data)}
	b := c.rows(pick(c.chooser, 0, 1, 10, 100))
	c.ref = tableOf(t, b)
	c.pipe = c.source(t, b)
	if c.IntN(4) == 0 {
		more := c.rows(10)
		c.ref.rows = append(c.ref.rows, tableOf(t, more).rows...)
		c.pipe = pipe.Union(c.pipe, c.source(t, more))
	}
	for range 1 + c.IntN(6) {
		if c.verb(); c.full {
			break
		}
	}
	for _, workers := range []int{1, 3} {
		stats := &pipe.Stats{}
		p := c.pipe.Configure(pipe.Config{Workers: workers, Stats: stats})
		note := fmt.Sprintf("%d workers: %s", workers, strings.Join(c.text, "."))
		if !c.full {
			c.ref.require(p, note)
			requireStats(t, p, stats, len(c.ref.rows), note)
		} else if _, err := p.Batch(context.Background()); err != nil { // unless the column is not needed
			var e *pipe.Error
			require.ErrorAs(t, err, &e, note)
		}
	}
}

// hasOrder reports whether OrderBy takes a kind.
func hasOrder(k column.Kind) bool { return k != column.Vector && k != column.List }

// requireStats fails unless the steps of a run are the steps of its plan, and the last one has passed on the result.
func requireStats(t *testing.T, p pipe.Pipe, stats *pipe.Stats, rows int, note string) {
	t.Helper()
	plan, err := p.Explain(context.Background())
	require.NoError(t, err, note)
	var steps []string
	last := 0 // the last step that is not one of a member of a union
	for line := range strings.Lines(plan) {
		step := strings.TrimSpace(line)
		if strings.HasPrefix(step, "pushed: ") || strings.HasPrefix(step, "selected: ") {
			continue
		}
		if line[0] != ' ' {
			last = len(steps)
		}
		steps = append(steps, step)
	}
	got := make([]string, len(stats.Steps))
	for i, s := range stats.Steps {
		got[i] = s.Step
	}
	require.Equal(t, steps, got, note)
	require.Equal(t, int64(rows), stats.Steps[last].Rows, note+"\n"+plan+stats.String())
}

func TestPipeEqualsReference(t *testing.T) {
	for i := range 100 {
		r := rand.New(rand.NewPCG(uint64(i), 18))
		data := make([]byte, 100)
		for k := range data {
			data[k] = byte(r.Uint32())
		}
		check(t, data)
	}
}

func FuzzPipe(f *testing.F) {
	for i := range 20 {
		f.Add(bytes.Repeat([]byte{byte(i), byte(17 * i), byte(i ^ 0x55)}, 20))
	}
	f.Fuzz(check)
}
