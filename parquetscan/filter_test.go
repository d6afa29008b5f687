// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// seeded returns a generator and logs its seed.
func seeded(t testing.TB) generator {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	return generator{r.IntN}
}

// A testTable is a table of columns of cells.
type testTable struct {
	paths   []string
	types   map[string]column.Type
	cells   map[string][]cell
	columns map[string]*column.Column
	rows    int
}

func (g generator) table(columns, rows int) *testTable {
	t := &testTable{types: map[string]column.Type{}, cells: map[string][]cell{}, columns: map[string]*column.Column{}, rows: rows}
	for i := range columns {
		path := pick(g, "", "s.") + fmt.Sprint("c", i)
		t.paths = append(t.paths, path)
		t.types[path] = g.typ()
		cells := make([]cell, rows)
		noNulls := g.intn(3) == 0
		for j := range cells {
			if cells[j] = g.cell(t.types[path]); noNulls && cells[j] == nil {
				cells[j] = g.withoutNull(t.types[path])
			}
		}
		t.cells[path] = cells
		t.columns[path] = columnOf(path, t.types[path], cells, g.intn(2) == 0)
	}
	return t
}

// withoutNull returns a cell that is not NULL.
func (g generator) withoutNull(typ column.Type) cell {
	for range 20 {
		if c := g.cell(typ); c != nil {
			return c
		}
	}
	switch predicate.OrderOf(typ.Kind) {
	case predicate.OrderFloats:
		return 0.0
	case predicate.OrderTexts:
		return strings.Repeat("a", typ.ValueWidth())
	}
	return big.NewInt(0)
}

func (t *testTable) typeOf(path string) (column.Type, bool) {
	typ, ok := t.types[path]
	return typ, ok
}

// selected returns the rows that the reference selects.
func (t *testTable) selected(f Filter) []int {
	rows := []int{}
	for i := range t.rows {
		if referenceEval(f, func(path string) (cell, column.Type) { return t.cells[path][i], t.types[path] }) == yes {
			rows = append(rows, i)
		}
	}
	return rows
}

// checkEval fails unless the evaluator selects the rows of the reference.
func (t *testTable) checkEval(tb testing.TB, f Filter) {
	p, err := f.node.Compile(t.typeOf)
	require.NoError(tb, err, "%v", f)
	var cols []*column.Column
	for _, path := range f.node.ColumnNames() {
		cols = append(cols, t.columns[path])
	}
	want := t.selected(f)
	e := predicate.NewEvaluator(p)
	for range 2 { // the second time with cached dictionaries
		sel := make([]byte, (t.rows+7)/8)
		for i := range sel {
			sel[i] = 0xa5
		}
		count := e.Eval(cols, t.rows, sel)
		got := []int{}
		for i := range 8 * len(sel) {
			if sel[i/8]>>(i%8)&1 != 0 {
				got = append(got, i)
			}
		}
		require.Equal(tb, want, got, "%v on %v", f, t.types)
		require.Equal(tb, len(want), count)
	}
	if p.Everything() {
		require.Len(tb, want, t.rows)
	}
}

func TestFilterEqualsReference(t *testing.T) {
	soak.NoRace(t)
	g := seeded(t)
	selected := map[column.Kind]int{}
	for range 400 {
		table := g.table(1+g.intn(4), g.intn(40))
		for range 15 {
			f := g.filter(table.types, table.paths, g.intn(4))
			table.checkEval(t, f)
			for _, path := range f.node.ColumnNames() {
				if n := len(table.selected(f)); n > 0 && n < table.rows {
					selected[table.types[path].Kind]++
				}
			}
		}
	}
	for _, kind := range comparedKinds() {
		require.NotZero(t, selected[kind], "no filter of %v selects some rows but not all", kind)
	}
}

// TestFilterValues checks the meaning of constants by the rows that are selected.
func TestFilterValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ints := func(v ...int64) (cells []cell) {
		for _, i := range v {
			cells = append(cells, big.NewInt(i))
		}
		return append(cells, nil)
	}
	floats := []cell{-inf, -1.0, math.Copysign(0, -1), 0.0, float64(float32(0.1)), 1.0, inf, nan, nil}
	int8s := column.Type{Kind: column.Int8}
	decimals := column.Type{Kind: column.Decimal64, Precision: 10, Scale: 2}
	millis := column.Type{Kind: column.Timestamp, Unit: column.Millis}
	noon := time.Date(1970, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		filter Filter
		typ    column.Type
		cells  []cell
		want   []int
	}{
		{Lt("c", 2.5), int8s, ints(1, 2, 3), []int{0, 1}},
		{Gt("c", 2.5), int8s, ints(1, 2, 3), []int{2}},
		{Eq("c", 2.5), int8s, ints(1, 2, 3), []int{}},
		{Ne("c", 2.5), int8s, ints(1, 2, 3), []int{0, 1, 2}},
		{Lt("c", 1000), int8s, ints(-128, 0, 127), []int{0, 1, 2}},
		{Ge("c", 1000), int8s, ints(-128, 0, 127), []int{}},
		{Not(Eq("c", 1000)), int8s, ints(-128, 127), []int{0, 1}},
		{Gt("c", -129), int8s, ints(-128, 127), []int{0, 1}},
		{Le("c", -128.5), int8s, ints(-128, 127), []int{}},
		{Lt("c", nan), int8s, ints(-128, 127), []int{0, 1}},
		{Gt("c", nan), int8s, ints(-128, 127), []int{}},
		{Lt("c", inf), int8s, ints(1), []int{0}},
		{Lt("c", -inf), int8s, ints(1), []int{}},
		{In("c", 1, 3.0, 2.5, 1000, uint8(1)), int8s, ints(1, 2, 3), []int{0, 2}},
		{Not(In("c", 1, 3)), int8s, ints(1, 2, 3), []int{1}},
		{In("c"), int8s, ints(1, 2), []int{}},
		{Not(In("c")), int8s, ints(1, 2), []int{0, 1}},
		{Gt("c", uint64(math.MaxUint64)), column.Type{Kind: column.Uint64}, ints(0), []int{}},
		{Gt("c", -1), column.Type{Kind: column.Uint64}, ints(0), []int{0}},
		{Eq("c", float32(1<<24)), column.Type{Kind: column.Int32}, ints(1<<24, 1<<24+1), []int{0}},
		{Gt("c", 0.1), column.Type{Kind: column.Float32}, floats, []int{4, 5, 6, 7}},
		{Eq("c", 0.1), column.Type{Kind: column.Float32}, floats, []int{}},
		{Eq("c", float32(0.1)), column.Type{Kind: column.Float32}, floats, []int{4}},
		{Eq("c", 0), column.Type{Kind: column.Float64}, floats, []int{2, 3}},
		{Lt("c", 0), column.Type{Kind: column.Float64}, floats, []int{0, 1}},
		{Eq("c", nan), column.Type{Kind: column.Float64}, floats, []int{7}},
		{Ge("c", nan), column.Type{Kind: column.Float64}, floats, []int{7}},
		{Gt("c", nan), column.Type{Kind: column.Float64}, floats, []int{}},
		{Le("c", nan), column.Type{Kind: column.Float64}, floats, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{Lt("c", nan), column.Type{Kind: column.Float64}, floats, []int{0, 1, 2, 3, 4, 5, 6}},
		{Gt("c", inf), column.Type{Kind: column.Float64}, floats, []int{7}},
		{Lt("c", -inf), column.Type{Kind: column.Float64}, floats, []int{}},
		{In("c", nan, 1), column.Type{Kind: column.Float64}, floats, []int{5, 7}},
		{Not(In("c", nan, 1)), column.Type{Kind: column.Float64}, floats, []int{0, 1, 2, 3, 4, 6}},
		{Lt("c", column.Int256{0, 0, 0, 1}), column.Type{Kind: column.Float32}, floats, []int{0, 1, 2, 3, 4, 5}},
		{Lt("c", uint64(1<<53+1)), column.Type{Kind: column.Float64}, []cell{float64(1 << 53), float64(1<<53 + 2)}, []int{0}},
		{Le("c", uint64(1<<53+3)), column.Type{Kind: column.Float64}, []cell{float64(1<<53 + 2), float64(1<<53 + 4)}, []int{0}},
		{Gt("c", uint64(1<<53+3)), column.Type{Kind: column.Float64}, []cell{float64(1<<53 + 2), float64(1<<53 + 4)}, []int{1}},
		{Gt("c", "1.005"), decimals, ints(99, 100, 101), []int{2}},
		{Eq("c", "1.00"), decimals, ints(99, 100, 101), []int{1}},
		{Eq("c", 1), decimals, ints(99, 100, 101), []int{1}},
		{Eq("c", column.Int128{Lo: 1}), decimals, ints(1, 100), []int{1}},
		{Eq("c", "+010."), decimals, ints(1000), []int{0}},
		{Lt("c", "-.01"), decimals, ints(-2, -1), []int{0}},
		{Gt("c", noon.Add(time.Nanosecond)), millis, ints(129600000, 129600001), []int{1}},
		{Eq("c", noon.In(time.FixedZone("", 7200))), millis, ints(129600000, 129600001), []int{0}},
		{Lt("c", noon), column.Type{Kind: column.Date}, ints(0, 1, 2), []int{0, 1}},
		{Eq("c", noon), column.Type{Kind: column.Date}, ints(0, 1, 2), []int{}},
		{Eq("c", noon.Add(-12*time.Hour)), column.Type{Kind: column.Date}, ints(0, 1, 2), []int{1}},
		{Ge("c", 1500*time.Microsecond), column.Type{Kind: column.Time, Unit: column.Millis}, ints(1, 2), []int{1}},
		{Lt("c", true), column.Type{Kind: column.Bool}, ints(0, 1), []int{0}},
		{Gt("c", "a"), column.Type{Kind: column.String}, []cell{"", "a", "a\x00", "\xff", nil}, []int{2, 3}},
		{Le("c", ""), column.Type{Kind: column.Binary}, []cell{"", "a"}, []int{0}},
		{Lt("c", []byte{}), column.Type{Kind: column.Binary}, []cell{"", "a"}, []int{}},
		{Eq("c", json.RawMessage("ab")), column.Type{Kind: column.Fixed, Width: 2}, []cell{"ab", "ac"}, []int{0}},
		{Lt("c", []byte("b")), column.Type{Kind: column.UUID}, []cell{strings.Repeat("a", 16), strings.Repeat("b", 16)}, []int{0}},
		{Filter{}, int8s, ints(1), []int{0, 1}},
		{Not(Filter{}), int8s, ints(1), []int{}},
		{Or(), int8s, ints(1), []int{}},
		{IsNull("c"), int8s, ints(1), []int{1}},
		{Not(IsNull("c")), int8s, ints(1), []int{0}},
		{Not(NotNull("c")), int8s, ints(1), []int{1}},
		{Not(And(Eq("c", 1), IsNull("c"))), int8s, ints(1, 2), []int{0, 1}},
		{Not(Or(Eq("c", 1), NotNull("c"))), int8s, ints(1), []int{}},
	} {
		for _, dictionary := range []bool{false, true} {
			table := &testTable{
				paths: []string{"c"}, types: map[string]column.Type{"c": c.typ}, cells: map[string][]cell{"c": c.cells}, rows: len(c.cells),
				columns: map[string]*column.Column{"c": columnOf("c", c.typ, c.cells, dictionary)},
			}
			require.Equal(t, c.want, table.selected(c.filter), "%v of %v", c.filter, c.typ)
			table.checkEval(t, c.filter)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	types := map[string]column.Type{
		"i": {Kind: column.Int32}, "f": {Kind: column.Float16}, "d": {Kind: column.Decimal64, Scale: 2}, "t": {Kind: column.Timestamp, Unit: column.Millis},
		"day": {Kind: column.Date}, "time": {Kind: column.Time, Unit: column.Micros}, "b": {Kind: column.Bool}, "s": {Kind: column.String}, "id": {Kind: column.UUID},
		"v": {Kind: column.Vector, Elem: column.Float32}, "l": {Kind: column.List}, "st": {Kind: column.Struct},
	}
	typeOf := func(path string) (column.Type, bool) {
		typ, ok := types[path]
		return typ, ok
	}
	for _, c := range []struct {
		filter  Filter
		is      error
		message string
	}{
		{Eq("nope", 1), ErrNoColumn, `"nope"`},
		{And(Eq("i", 1), Not(IsNull("st.x"))), ErrNoColumn, `"st.x"`},
		{Eq("i", nil), ErrFilter, "IsNull"},
		{Eq("i", "5"), ErrFilter, `column "i": filter does not fit the column: string "5" does not compare with int32, which takes integers, floats`},
		{Eq("i", time.Second), ErrFilter, "Duration"},
		{Eq("i", true), ErrFilter, "bool"},
		{Eq("i", new(int)), ErrFilter, "*int"},
		{In("i", 1, "x"), ErrFilter, `"x"`},
		{Eq("f", "1.5"), ErrFilter, "float16"},
		{Eq("d", "1e5"), ErrFilter, `"12.50"`},
		{Eq("d", "1/3"), ErrFilter, "string"},
		{Eq("d", "+-1"), ErrFilter, "string"},
		{Eq("d", "--1"), ErrFilter, "string"},
		{Eq("d", "."), ErrFilter, "string"},
		{Eq("d", ""), ErrFilter, "string"},
		{Eq("d", "1.2.3"), ErrFilter, "string"},
		{Eq("d", "1 2"), ErrFilter, "string"},
		{Eq("t", int64(5)), ErrFilter, "time.Time"},
		{Eq("day", time.Second), ErrFilter, "time.Time"},
		{Eq("time", time.Time{}), ErrFilter, "time.Duration"},
		{Eq("b", 1), ErrFilter, "bool"},
		{Eq("s", 1), ErrFilter, "string and []byte"},
		{Eq("s", [16]byte{}), ErrFilter, "string and []byte"},
		{Eq("id", "550e8400-e29b-41d4-a716-446655440000"), ErrFilter, "[16]byte and []byte"},
		{Eq("id", [15]byte{}), ErrFilter, "[16]byte and []byte"},
		{Eq("v", 1), ErrFilter, "IsNull and NotNull only"},
		{Eq("l", 1), ErrFilter, "IsNull and NotNull only"},
		{Eq("st", 1), ErrFilter, "IsNull and NotNull only"},
	} {
		_, err := c.filter.node.Compile(typeOf)
		require.ErrorIs(t, err, c.is, "%v", c.filter)
		require.ErrorContains(t, err, c.message)
	}
	for _, f := range []Filter{{}, IsNull("v"), NotNull("l"), Not(IsNull("st"))} {
		_, err := f.node.Compile(typeOf)
		require.NoError(t, err)
	}
}

func TestFilterNested(t *testing.T) {
	c := &column.Column{Type: column.Type{Kind: column.List}, Len: 3, Nulls: 1, Validity: []byte{0b101}, Offsets: []int32{0, 1, 1, 2}}
	for _, n := range []int{0, 1} {
		f := []Filter{IsNull("l"), NotNull("l")}[n]
		p, err := f.node.Compile(func(string) (column.Type, bool) { return c.Type, true })
		require.NoError(t, err)
		sel := []byte{0xff}
		require.Equal(t, 1+n, predicate.NewEvaluator(p).Eval([]*column.Column{c}, 3, sel))
		require.Equal(t, []byte{[]byte{0b010, 0b101}[n]}, sel)
	}
}

func TestFilterColumns(t *testing.T) {
	f := And(Eq("b", 1), Or(IsNull("a.x"), Not(Lt("b", 3))), Filter{}, In("c"))
	require.Equal(t, []string{"b", "a.x", "c"}, f.node.ColumnNames())
	require.Empty(t, Filter{}.node.ColumnNames())
	require.Equal(t, `(b = 1) AND ((a.x IS NULL) OR (NOT (b < 3))) AND (true) AND (c IN ())`, f.String())
	require.Equal(t, `s = "x"`, Eq("s", "x").String())
	require.Equal(t, "false", Or().String())
}

// TestFilterWithoutColumns requires that a filter without a column selects all rows or none.
func TestFilterWithoutColumns(t *testing.T) {
	b := column.NewBatch(column.Strings("s", []string{"", "x", ""}), column.Of("i", []int64{1, 2, 3}))
	d := openBytes(t, writeBatches(t, b.Schema(), WriterOptions{}, b))
	all := []Filter{{}, And(), Not(Or()), Or(And(), Or())}
	none := []Filter{Or(), And(Or()), Not(And()), And(And(), Or())}
	for k, filter := range slices.Concat(all, none) {
		want := 3
		if k >= len(all) {
			want = 0
		}
		for _, columns := range [][]string{nil, {"i"}, {}} {
			s, err := d.Scan(Options{Filter: filter, Columns: columns, Narrow: []string{"s"}})
			require.NoError(t, err)
			require.Equal(t, want, rowsRead(t, s), "%v", filter)
			require.NoError(t, s.Narrow(Eq("s", "x")))
			require.Equal(t, min(want, 1), rowsRead(t, s), "%v", filter)
		}
	}
}

func rowsRead(t *testing.T, s *Scan) (rows int) {
	for b, err := range s.All(context.Background()) {
		require.NoError(t, err)
		rows += b.Rows
	}
	return rows
}

// TestFilterImmutable checks that filters copy their arguments: slices of values and of filters.
func TestFilterImmutable(t *testing.T) {
	values, args, raw := []any{1}, []Filter{Eq("c", 1)}, []byte("a")
	in, and, eq := In("c", values...), And(args...), Eq("s", raw)
	values[0], args[0] = 2, Eq("c", 2)
	require.Equal(t, "c IN (1)", in.String())
	require.Equal(t, "(c = 1)", and.String())
	p, err := eq.node.Compile(func(string) (column.Type, bool) { return column.Type{Kind: column.String}, true })
	require.NoError(t, err)
	raw[0] = 'b'
	require.Equal(t, 1, predicate.NewEvaluator(p).Eval([]*column.Column{columnOf("s", column.Type{Kind: column.String}, []cell{"a"}, false)}, 1, []byte{0}))
}

// TestFilterDictionary checks that entries are tested once per dictionary.
func TestFilterDictionary(t *testing.T) {
	p, err := Eq("s", "a").node.Compile(func(string) (column.Type, bool) { return column.Type{Kind: column.String}, true })
	require.NoError(t, err)
	e := predicate.NewEvaluator(p)
	first := columnOf("s", column.Type{Kind: column.String}, []cell{"a", "b", nil, "a"}, true)
	sel := []byte{0}
	require.Equal(t, 2, e.Eval([]*column.Column{first}, 4, sel))
	entries, _ := first.Dict.Buffers()
	entries[0] = 'x' // programs must not do this
	require.Equal(t, 2, e.Eval([]*column.Column{first}, 4, sel))
	second := columnOf("s", column.Type{Kind: column.String}, []cell{"b", "a", nil, "c"}, true)
	require.Equal(t, 1, e.Eval([]*column.Column{second}, 4, sel))
	require.Equal(t, byte(0b10), sel[0])
	empty := columnOf("s", column.Type{Kind: column.String}, []cell{nil, nil}, true)
	require.Zero(t, empty.Dict.Len())
	require.Zero(t, e.Eval([]*column.Column{empty}, 2, sel))
}

func TestFilterAllocations(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(1, 2)).IntN}
	for _, kind := range comparedKinds() {
		typ := column.Type{Kind: kind, Unit: column.Millis, Scale: 1}
		if kind == column.Fixed {
			typ.Width = 3
		}
		cells := make([]cell, 100)
		for i := range cells {
			cells[i] = g.cell(typ)
		}
		for _, dictionary := range []bool{false, true} {
			cols := []*column.Column{columnOf("c", typ, cells, dictionary)}
			a, b, c := g.constant(typ), g.constant(typ), g.constant(typ)
			f := Or(And(Ge("c", a), Not(In("c", a, b, c))), And(Or(IsNull("c"), Eq("c", b)), NotNull("c")))
			p, err := f.node.Compile(func(string) (column.Type, bool) { return typ, true })
			require.NoError(t, err)
			e, sel := predicate.NewEvaluator(p), make([]byte, 13)
			e.Eval(cols, 100, sel)
			require.Zero(t, testing.AllocsPerRun(10, func() { e.Eval(cols, 100, sel) }), "%v", typ)
		}
	}
}
