// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// order sorts rows by a column, NULLs first.
func (t *testTable) order(path string) {
	rows := make([]int, t.rows)
	for i := range rows {
		rows[i] = i
	}
	key := t.cells[path]
	slices.SortStableFunc(rows, func(a, b int) int {
		switch {
		case key[a] == nil || key[b] == nil:
			return int(truthOf(key[a] != nil)) - int(truthOf(key[b] != nil))
		}
		return compareMeanings(meaningOfCell(key[a], t.types[path]), meaningOfCell(key[b], t.types[path]))
	})
	for p, cells := range t.cells {
		sorted := make([]cell, t.rows)
		for i, r := range rows {
			sorted[i] = cells[r]
		}
		t.cells[p] = sorted
	}
}

// A testRange is rows [from, to) of a row group.
type testRange struct{ from, to int64 }

// testRanges returns ranges as the tests write them.
func testRanges(ranges []predicate.Range) (rows []testRange) {
	for _, r := range ranges {
		rows = append(rows, testRange{r.From, r.To})
	}
	return rows
}

// checkPrune fails if a row that the reference selects is not in the ranges. It returns how many rows the ranges skip.
func (f *testFile) checkPrune(t testing.TB, filter Filter) int {
	p, err := filter.node.Compile(f.typeOf)
	require.NoError(t, err)
	selected := map[int64]bool{}
	for _, row := range f.selected(filter) {
		selected[int64(row)] = true
	}
	from, dropped := int64(0), 0
	data := f.data(t)
	for i, rows := range f.groups {
		ranges := testRanges(p.Prune(data, i, f.leafOf))
		last := int64(-1)
		in := map[int64]bool{}
		for _, r := range ranges {
			require.True(t, last < r.from && r.from < r.to && r.to <= int64(rows), "%v", ranges)
			for row := r.from; row < r.to; row++ {
				in[row] = true
			}
			last = r.to
		}
		for row := range int64(rows) {
			require.True(t, in[row] || !selected[from+row], "%v on %v as %v: row %d of row group %d is pruned from %v",
				filter, f.types, f.physical, row, i, ranges)
			dropped += int(truthOf(!in[row]) / yes)
		}
		from += int64(rows)
	}
	return dropped
}

// storable replaces cells that a file cannot store.
func (t *testTable) storable() {
	for path, typ := range t.types {
		for i, c := range t.cells[path] {
			if v, ok := c.(*big.Int); ok && typ.Kind == column.Time && typ.Unit == column.Millis && v.BitLen() > 31 {
				t.cells[path][i] = big.NewInt(7)
			}
		}
	}
}

func testProperties(g generator) []parquet.WriterProperty {
	return []parquet.WriterProperty{
		parquet.WithStats(g.intn(5) != 0), parquet.WithPageIndexEnabled(g.intn(4) != 0), parquet.WithBloomFilterEnabled(g.intn(2) == 0),
		parquet.WithBloomFilterNDV(50), parquet.WithDictionaryDefault(g.intn(2) == 0), parquet.WithBatchSize(int64(1 + g.intn(20))),
		parquet.WithDataPageVersion(pick(g, parquet.DataPageV1, parquet.DataPageV2)), parquet.WithDataPageSize(int64(1 + g.intn(200))),
	}
}

func TestPruneEqualsReference(t *testing.T) {
	soak.NoRace(t)
	g := seeded(t)
	dropped := map[string]int{}
	for range 150 {
		table := g.table(1+g.intn(4), 1+g.intn(300))
		table.storable()
		if g.intn(4) != 0 {
			table.order(table.paths[g.intn(len(table.paths))])
		}
		f := g.file(t, table, 1+g.intn(120), testProperties(g)...)
		for range 30 {
			filter := g.filter(table.types, table.paths, g.intn(3))
			n := f.checkPrune(t, filter)
			for _, path := range filter.node.ColumnNames() {
				dropped[fmt.Sprint(table.types[path].Kind, " as ", f.physical[path])] += n
			}
		}
	}
	for _, kind := range comparedKinds() {
		require.True(t, slices.ContainsFunc(mapKeys(dropped), func(k string) bool {
			return strings.HasPrefix(k, kind.String()+" ") && dropped[k] > 0
		}), "nothing was left out by a filter of %v", kind)
	}
}

func mapKeys(m map[string]int) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// ramp returns a table with one column of rows cells.
func ramp(typ column.Type, rows int, value func(i int) cell) *testTable {
	t := &testTable{paths: []string{"c"}, types: map[string]column.Type{"c": typ}, cells: map[string][]cell{}, rows: rows}
	for i := range rows {
		t.cells["c"] = append(t.cells["c"], value(i))
	}
	return t
}

func intCell(i int) cell { return big.NewInt(int64(i)) }

func (f *testFile) pruned(t testing.TB, filter Filter) [][]testRange {
	p, err := filter.node.Compile(f.typeOf)
	require.NoError(t, err)
	var all [][]testRange
	for i := range f.groups {
		all = append(all, testRanges(p.Prune(f.data(t), i, f.leafOf)))
	}
	return all
}

// one is a generator that always chooses 0.
var one = generator{func(int) int { return 0 }}

// TestPruneStatistics prunes row groups by statistics: 40 rows in 4 row groups, without any index.
func TestPruneStatistics(t *testing.T) {
	id := func(i int) cell { return strings.Repeat(string(rune('A'+i)), 16) }
	all := []testRange{{0, 10}}
	for _, c := range []struct {
		name   string
		typ    column.Type
		value  func(i int) cell
		filter Filter
		want   string // a letter per row group; x is pruned
	}{
		{"int8", column.Type{Kind: column.Int8}, intCell, Gt("c", 29.5), "xxx."},
		{"int8 negative", column.Type{Kind: column.Int8}, func(i int) cell { return intCell(i - 20) }, Lt("c", -10), ".xxx"},
		{"int16", column.Type{Kind: column.Int16}, intCell, Lt("c", 10), ".xxx"},
		{"int32", column.Type{Kind: column.Int32}, intCell, In("c", 5, 35), ".xx."},
		{"int64", column.Type{Kind: column.Int64}, intCell, Not(Ge("c", 10)), ".xxx"},
		{"uint8", column.Type{Kind: column.Uint8}, func(i int) cell { return intCell(i + 200) }, Ge("c", 230), "xxx."},
		{"uint32", column.Type{Kind: column.Uint32}, func(i int) cell { return big.NewInt(int64(i) + 1<<31 - 10) }, Ge("c", int64(1<<31)), "x..."},
		{
			"uint64",
			column.Type{Kind: column.Uint64},
			func(i int) cell { return new(big.Int).SetUint64(1<<63 - 10 + uint64(i)) },
			Ge("c", uint64(1<<63)), "x...",
		},
		{"ne", column.Type{Kind: column.Int64}, func(i int) cell { return intCell(i / 10) }, Ne("c", 1), ".x.."},
		{"not in", column.Type{Kind: column.Int64}, func(i int) cell { return intCell(i / 10) }, Not(In("c", 1, 3)), ".x.x"},
		{"out of range", column.Type{Kind: column.Int8}, intCell, Gt("c", 1000), "xxxx"},
		{"out of range inverted", column.Type{Kind: column.Int8}, intCell, Le("c", 1000), "...."},
		{"and", column.Type{Kind: column.Int64}, intCell, And(Ge("c", 10), Lt("c", 20)), "x.xx"},
		{"or", column.Type{Kind: column.Int64}, intCell, Or(Lt("c", 10), Gt("c", 30)), ".xx."},
		{"not or", column.Type{Kind: column.Int64}, intCell, Not(Or(Lt("c", 10), Ge("c", 20))), "x.xx"},
		{"nothing", column.Type{Kind: column.Int64}, intCell, Or(), "xxxx"},
		{"everything", column.Type{Kind: column.Int64}, intCell, Filter{}, "...."},
		{"bool", column.Type{Kind: column.Bool}, func(i int) cell { return intCell(i / 20) }, Eq("c", true), "xx.."},
		{"date", column.Type{Kind: column.Date}, intCell, Lt("c", time.Unix(86400*10, 0)), ".xxx"},
		{"time ms", column.Type{Kind: column.Time, Unit: column.Millis}, intCell, Ge("c", 30*time.Millisecond), "xxx."},
		{"time us", column.Type{Kind: column.Time, Unit: column.Micros}, intCell, Ge("c", 30*time.Microsecond), "xxx."},
		{"timestamp", column.Type{Kind: column.Timestamp, Unit: column.Millis}, intCell, Gt("c", time.UnixMilli(29)), "xxx."},
		{"decimal", column.Type{Kind: column.Decimal64, Precision: 18, Scale: 1}, func(i int) cell { return intCell(i - 20) }, Lt("c", "-1.05"), ".xxx"},
		{"decimal128", column.Type{Kind: column.Decimal128, Precision: 38, Scale: 1}, func(i int) cell { return intCell(i - 20) }, Gt("c", "0.95"), "xxx."},
		{"decimal256", column.Type{Kind: column.Decimal256, Precision: 76, Scale: 1}, func(i int) cell { return intCell(i - 20) }, Lt("c", 0), "..xx"},
		{"float32", column.Type{Kind: column.Float32}, func(i int) cell { return float64(i) }, Lt("c", 9.5), ".xxx"},
		// NaN is greater
		{"float32 nan", column.Type{Kind: column.Float32}, func(i int) cell { return float64(i) }, Gt("c", 9.5), "...."},
		{"float64", column.Type{Kind: column.Float64}, func(i int) cell { return float64(i) }, Eq("c", 15), "x.xx"},
		{"float64 nan", column.Type{Kind: column.Float64}, func(i int) cell { return float64(i) }, Eq("c", math.NaN()), "...."},
		{"float64 and", column.Type{Kind: column.Float64}, func(i int) cell { return float64(i) }, And(Gt("c", 19), Lt("c", math.NaN())), "xx.."},
		{"float64 range", column.Type{Kind: column.Float64}, func(i int) cell { return float64(i) }, And(Ge("c", 10), IsNull("c"), And(Lt("c", 20))), "xxxx"},
		{"float64 between", column.Type{Kind: column.Float64}, func(i int) cell { return float64(i) }, Not(Or(Lt("c", 10), Ge("c", 20))), "x.xx"},
		{"float16", column.Type{Kind: column.Float16}, func(i int) cell { return float64(i) }, Le("c", 9), ".xxx"},
		{"string", column.Type{Kind: column.String}, func(i int) cell { return fmt.Sprintf("%02d", i) }, Ge("c", "3"), "xxx."},
		{"string unsigned", column.Type{Kind: column.String}, func(i int) cell { return string([]byte{byte(0x70 + i)}) }, Ge("c", "\x80"), "x..."},
		{"binary", column.Type{Kind: column.Binary}, func(i int) cell { return string([]byte{byte(0x70 + i)}) }, Lt("c", "\x7a"), ".xxx"},
		{"id", column.Type{Kind: column.UUID}, id, Eq("c", [16]byte([]byte(id(25).(string)))), "xx.x"},
		{"fixed", column.Type{Kind: column.Fixed, Width: 1}, func(i int) cell { return string([]byte{byte(0x70 + i)}) }, Gt("c", "\x79"), "x..."},
		{"null", column.Type{Kind: column.Int64}, func(i int) cell {
			if i == 15 {
				return nil
			}
			return intCell(i)
		}, IsNull("c"), "x.xx"},
		{"all null", column.Type{Kind: column.String}, func(i int) cell {
			if i < 20 {
				return nil
			}
			return "x"
		}, NotNull("c"), "xx.."},
		{"compare all null", column.Type{Kind: column.String}, func(i int) cell {
			if i < 20 {
				return nil
			}
			return "x"
		}, Ne("c", "y"), "xx.."},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := one.file(t, ramp(c.typ, 40, c.value), 10)
			f.checkPrune(t, c.filter)
			for i, ranges := range f.pruned(t, c.filter) {
				if c.want[i] == 'x' {
					require.Nil(t, ranges, "row group %d", i)
				} else {
					require.Equal(t, all, ranges, "row group %d", i)
				}
			}
		})
	}
}

// TestPrunePages prunes pages: 100 rows in one row group, in pages of 10.
func TestPrunePages(t *testing.T) {
	nulls := func(i int) cell {
		if i >= 80 { // arrow-go ends no page before it has a value
			return nil
		}
		return intCell(i)
	}
	for _, c := range []struct {
		name   string
		typ    column.Type
		value  func(i int) cell
		filter Filter
		want   []testRange
	}{
		{"one page", column.Type{Kind: column.Int64}, intCell, Eq("c", 42), []testRange{{40, 50}}},
		{"two", column.Type{Kind: column.Int64}, intCell, In("c", 42, 71), []testRange{{40, 50}, {70, 80}}},
		{"touching", column.Type{Kind: column.Int64}, intCell, In("c", 42, 51), []testRange{{40, 60}}},
		{"and", column.Type{Kind: column.Int64}, intCell, And(Ge("c", 25), Lt("c", 31)), []testRange{{20, 40}}},
		{"or", column.Type{Kind: column.Int64}, intCell, Or(Lt("c", 5), Gt("c", 95)), []testRange{{0, 10}, {90, 100}}},
		{"not", column.Type{Kind: column.Int64}, intCell, Not(And(Ge("c", 10), Lt("c", 90))), []testRange{{0, 10}, {90, 100}}},
		{"contradiction", column.Type{Kind: column.Int64}, intCell, And(Lt("c", 20), Gt("c", 80)), nil},
		{"null", column.Type{Kind: column.Int64}, nulls, IsNull("c"), []testRange{{80, 100}}},
		{"not null", column.Type{Kind: column.Int64}, nulls, NotNull("c"), []testRange{{0, 80}}},
		{"ne and null", column.Type{Kind: column.Int64}, nulls, Ne("c", 7), []testRange{{0, 80}}},
		{"string", column.Type{Kind: column.String}, func(i int) cell { return fmt.Sprintf("%02d", i) }, Lt("c", "3"), []testRange{{0, 30}}},
		{"double", column.Type{Kind: column.Float64}, func(i int) cell { return float64(i) }, Lt("c", 30), []testRange{{0, 30}}},
		{"double nan", column.Type{Kind: column.Float64}, func(i int) cell { return float64(i) }, Ge("c", 30), []testRange{{0, 100}}},
		{
			"decimal",
			column.Type{Kind: column.Decimal128, Precision: 38, Scale: 2},
			func(i int) cell { return intCell(i - 50) }, Lt("c", "-0.405"),
			[]testRange{{0, 10}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
				f := one.file(t, ramp(c.typ, 100, c.value), 100, parquet.WithPageIndexEnabled(true), parquet.WithBatchSize(10),
					parquet.WithDataPageSize(1), parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(version))
				f.checkPrune(t, c.filter)
				require.Equal(t, [][]testRange{c.want}, f.pruned(t, c.filter))
			}
		})
	}
}

// TestPruneBlooms prunes row groups by bloom filters. Row groups contain even numbers, so that statistics cannot
// exclude odd ones.
func TestPruneBlooms(t *testing.T) {
	all := []testRange{{0, 100}}
	for _, typ := range []column.Type{
		{Kind: column.Int8},
		{Kind: column.Uint16},
		{Kind: column.Int32},
		{Kind: column.Int64},
		{Kind: column.Uint64},
		{Kind: column.Decimal64, Precision: 18},
		{Kind: column.Decimal128, Precision: 38},
	} {
		f := one.file(t, ramp(typ, 100, func(i int) cell { return intCell(2 * (i % 60)) }), 100, parquet.WithBloomFilterEnabled(true),
			parquet.WithBloomFilterFPP(1e-9))
		for i := 1; i < 118; i += 2 {
			require.Equal(t, [][]testRange{nil}, f.pruned(t, Eq("c", i)), "%d of %v", i, typ)
			require.Equal(t, [][]testRange{all}, f.pruned(t, In("c", i, i+1)), "%d of %v", i, typ)
			require.Equal(t, [][]testRange{all}, f.pruned(t, Ne("c", i)), "%d of %v", i, typ)
		}
		require.Equal(t, [][]testRange{nil}, f.pruned(t, And(Ge("c", 0), Or(Eq("c", 1), In("c", 7, 11)))), "%v", typ)
	}
	for _, typ := range []column.Type{{Kind: column.Float16}, {Kind: column.Float32}, {Kind: column.Float64}} {
		f := one.file(t, ramp(typ, 100, func(i int) cell { return math.Copysign(float64(2*i), float64(i-1)) }), 100,
			parquet.WithBloomFilterEnabled(true), parquet.WithBloomFilterFPP(1e-9))
		require.Equal(t, [][]testRange{nil}, f.pruned(t, In("c", 1, 7, 2.5)), "%v", typ)
		require.Equal(t, [][]testRange{all}, f.pruned(t, Eq("c", 0.0)), "%v: the column has -0", typ)
		require.Equal(t, [][]testRange{all}, f.pruned(t, In("c", 1, math.NaN())), "%v", typ)
	}
	// 0.1 is not a float32. Its hash differs from the hash of the nearest float32.
	tenths := one.file(t, ramp(column.Type{Kind: column.Float32}, 100, func(int) cell { return float64(float32(0.1)) }), 100, parquet.WithStats(false),
		parquet.WithBloomFilterEnabled(true))
	require.Equal(t, [][]testRange{nil}, tenths.pruned(t, Eq("c", 0.1)))
	require.Equal(t, [][]testRange{all}, tenths.pruned(t, Eq("c", float32(0.1))))
	text := func(i int) cell { return fmt.Sprintf("%016d", 2*i) }
	for _, typ := range []column.Type{{Kind: column.String}, {Kind: column.Binary}, {Kind: column.UUID}, {Kind: column.Fixed, Width: 16}} {
		f := one.file(t, ramp(typ, 100, text), 100, parquet.WithBloomFilterEnabled(true), parquet.WithBloomFilterFPP(1e-9))
		require.Equal(t, [][]testRange{nil}, f.pruned(t, In("c", []byte("0000000000000005"), []byte("00"))), "%v", typ)
		require.Equal(t, [][]testRange{all}, f.pruned(t, Eq("c", []byte("0000000000000006"))), "%v", typ)
	}
}

// TestPruneConcurrently is for the race detector: goroutines share a predicate and a file.
func TestPruneConcurrently(t *testing.T) {
	f := one.file(t, ramp(column.Type{Kind: column.Int64}, 100, intCell), 50, parquet.WithBloomFilterEnabled(true), parquet.WithPageIndexEnabled(true),
		parquet.WithBatchSize(10), parquet.WithDataPageSize(1))
	p, err := And(In("c", 3, 70), Gt("c", 1)).node.Compile(f.typeOf)
	require.NoError(t, err)
	data := f.data(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range f.groups {
				if ranges := testRanges(p.Prune(data, i, f.leafOf)); len(ranges) != 1 || ranges[0].to-ranges[0].from > 20 {
					t.Errorf("%v", ranges)
				}
			}
		})
	}
	wg.Wait()
}

// TestPruneUnknown prunes nothing if a filter does not fit a file.
func TestPruneUnknown(t *testing.T) {
	f := one.file(t, ramp(column.Type{Kind: column.Int64}, 10, intCell), 10)
	p, err := Gt("c", 100).node.Compile(f.typeOf)
	require.NoError(t, err)
	for name, leaf := range map[string]predicate.LeafOf{
		"no leaf": func(string) (int, column.Type, bool) { return 0, column.Type{}, false },
		"other type": func(string) (int, column.Type, bool) {
			return 1, column.Type{Kind: column.Timestamp, Unit: column.Millis}, true
		},
		"repeated": func(string) (int, column.Type, bool) { return 0, column.Type{Kind: column.Int64}, true },
	} {
		require.Equal(t, []testRange{{0, 10}}, testRanges(p.Prune(f.data(t), 0, leaf)), name)
	}
	// Elements are not rows, even if their numbers are equal.
	f.reader.MetaData().RowGroups[0].Columns[0].MetaData.NumValues = 10
	f.types["c"], f.leaves["c"] = column.Type{Kind: column.Int32}, 0
	require.Equal(t, [][]testRange{{{0, 10}}}, f.pruned(t, Gt("c", 100)))
}
