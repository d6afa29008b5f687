// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"
)

// A testFile is a table as a Parquet file in memory: first a list that is no column of the table, then the struct s of all paths "s.…",
// then all others.
type testFile struct {
	*testTable
	leaves   map[string]int
	physical map[string]parquet.Type
	groups   []int // rows of row groups
	bytes    []byte
	reader   *file.Reader
}

// leafOf is the leafOf of the file.
func (f *testFile) leafOf(path string) (int, Type, bool) {
	typ, ok := f.types[path]
	return f.leaves[path], typ, ok
}

// physicalOf returns one of the ways to store a column, and the length of its values.
func (g generator) physicalOf(typ Type, cells []cell) (physical parquet.Type, logical schema.LogicalType, length int) {
	fits := !slices.ContainsFunc(cells, func(c cell) bool {
		i, ok := c.(*big.Int)
		return ok && (!i.IsInt64() || i.Int64() != int64(int32(i.Int64())))
	})
	unit := map[Unit]schema.TimeUnitType{Millis: schema.TimeUnitMillis, Micros: schema.TimeUnitMicros, Nanos: schema.TimeUnitNanos}[typ.Unit]
	logical, length = schema.NoLogicalType{}, -1
	switch typ.Kind {
	case Bool:
		physical = parquet.Types.Boolean
	case Int8, Int16, Int32, Uint8, Uint16, Uint32:
		physical = parquet.Types.Int32
		logical = schema.NewIntLogicalType(int8(typ.width()*8), typ.Kind < Uint8)
	case Int64, Uint64:
		physical = parquet.Types.Int64
		logical = schema.NewIntLogicalType(64, typ.Kind == Int64)
	case Float16:
		physical, logical, length = parquet.Types.FixedLenByteArray, schema.Float16LogicalType{}, 2
	case Float32:
		physical = parquet.Types.Float
	case Float64:
		physical = parquet.Types.Double
	case Date:
		physical, logical = parquet.Types.Int32, schema.DateLogicalType{}
	case Time:
		physical, logical = parquet.Types.Int64, schema.NewTimeLogicalType(typ.UTC, unit)
		if typ.Unit == Millis {
			physical = parquet.Types.Int32
		}
	case Timestamp:
		physical, logical = parquet.Types.Int64, schema.NewTimestampLogicalType(typ.UTC, unit)
		if typ.Unit == Nanos && !slices.ContainsFunc(cells, func(c cell) bool { return c != nil && c.(*big.Int).Sign() < 0 }) && g.intn(2) == 0 {
			physical, logical = parquet.Types.Int96, schema.NoLogicalType{}
		}
	case Decimal64, Decimal128, Decimal256:
		physical = pick(g, parquet.Types.FixedLenByteArray, parquet.Types.ByteArray)
		if typ.Kind == Decimal64 && g.intn(2) == 0 {
			physical = parquet.Types.Int64
		}
		precision := typ.Precision
		if typ.Kind == Decimal64 && fits && typ.Scale < 9 && g.intn(2) == 0 {
			physical, precision = parquet.Types.Int32, 9
		}
		if physical == parquet.Types.FixedLenByteArray {
			length = typ.width() + g.intn(3)
		}
		logical = schema.NewDecimalLogicalType(int32(precision), int32(typ.Scale))
	case String:
		physical, logical = parquet.Types.ByteArray, schema.StringLogicalType{}
	case Binary:
		physical = parquet.Types.ByteArray
	case ID:
		physical, length = parquet.Types.FixedLenByteArray, 16
		logical = pick[schema.LogicalType](g, schema.UUIDLogicalType{}, schema.NoLogicalType{})
	case Fixed:
		physical, length = parquet.Types.FixedLenByteArray, typ.Width
	}
	return physical, logical, length
}

// file writes the table, in row groups of up to groupRows rows.
func (g generator) file(t testing.TB, table *testTable, groupRows int, options ...parquet.WriterProperty) *testFile {
	f := &testFile{testTable: table, leaves: map[string]int{}, physical: map[string]parquet.Type{}}
	element := schema.MustPrimitive(schema.NewPrimitiveNode("element", parquet.Repetitions.Repeated, parquet.Types.Int32, -1, -1))
	fields := schema.FieldList{element}
	var nested schema.FieldList
	order := []string{}
	nodes := map[string]schema.Node{}
	for _, path := range table.paths {
		physical, logical, length := g.physicalOf(table.types[path], table.cells[path])
		name := strings.TrimPrefix(path, "s.")
		repetition := parquet.Repetitions.Optional
		if !slices.Contains(table.cells[path], nil) && g.intn(2) == 0 && name == path {
			repetition = parquet.Repetitions.Required
		}
		node, err := schema.NewPrimitiveNodeLogical(name, repetition, logical, physical, length, -1)
		require.NoError(t, err)
		nodes[path], f.physical[path] = node, physical
		if name != path {
			nested, order = append(nested, node), append(order, path)
		}
	}
	if len(nested) > 0 {
		fields = append(fields, schema.MustGroup(schema.NewGroupNode("s", parquet.Repetitions.Optional, nested, -1)))
	}
	for _, path := range table.paths {
		if !strings.HasPrefix(path, "s.") {
			fields, order = append(fields, nodes[path]), append(order, path)
		}
	}
	for i, path := range order {
		f.leaves[path] = 1 + i
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	for from := 0; from < table.rows; from += groupRows {
		rows := min(groupRows, table.rows-from)
		f.groups = append(f.groups, rows)
		rg, err := w.AppendRowGroupChecked()
		require.NoError(t, err)
		list, err := rg.NextColumn()
		require.NoError(t, err)
		levels := make([]int16, 2*rows) // two elements in each row
		for i := range levels {
			levels[i] = int16(i % 2)
		}
		_, err = list.(*file.Int32ColumnChunkWriter).WriteBatch(make([]int32, 2*rows), slices.Repeat([]int16{1}, 2*rows), levels)
		require.NoError(t, err)
		require.NoError(t, list.Close())
		for _, path := range order {
			cw, err := rg.NextColumn()
			require.NoError(t, err)
			writeCells(t, cw, table.cells[path][from:from+rows], table.types[path])
			require.NoError(t, cw.Close())
		}
		require.NoError(t, rg.Close())
	}
	require.NoError(t, w.Close())
	f.bytes = buf.Bytes()
	f.open(t)
	return f
}

func (f *testFile) open(t testing.TB) {
	var err error
	f.reader, err = file.NewParquetReader(bytes.NewReader(f.bytes))
	require.NoError(t, err)
}

// writeCells writes cells as a column chunk.
func writeCells(t testing.TB, cw file.ColumnChunkWriter, cells []cell, typ Type) {
	maxLevel := cw.Descr().MaxDefinitionLevel()
	levels := make([]int16, len(cells))
	var plain []cell
	for i, c := range cells {
		if c != nil {
			levels[i] = maxLevel
			plain = append(plain, c)
		} else if maxLevel == 2 {
			levels[i] = 1 // the struct is there
		}
	}
	var err error
	switch cw := cw.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) bool { return c.(*big.Int).Sign() != 0 }), levels, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) int32 { return int32(lowBits(c)) }), levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) int64 { return int64(lowBits(c)) }), levels, nil)
	case *file.Int96ColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) (v parquet.Int96) {
			const day = 86400e9
			binary.LittleEndian.PutUint64(v[:], lowBits(c)%day)
			binary.LittleEndian.PutUint32(v[8:], uint32(lowBits(c)/day)+2440588)
			return v
		}), levels, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) float32 { return float32(c.(float64)) }), levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) float64 { return c.(float64) }), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) parquet.ByteArray { return storedBytes(c, typ, -1) }), levels, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		n := cw.Descr().TypeLength()
		_, err = cw.WriteBatch(mapCells(plain, func(c cell) parquet.FixedLenByteArray { return storedBytes(c, typ, n) }), levels, nil)
	default:
		t.Fatalf("%T", cw)
	}
	require.NoError(t, err)
}

func mapCells[T any](cells []cell, f func(cell) T) []T {
	out := make([]T, len(cells))
	for i, c := range cells {
		out[i] = f(c)
	}
	return out
}

func lowBits(c cell) uint64 {
	i := c.(*big.Int)
	if i.Sign() < 0 {
		return uint64(i.Int64())
	}
	return i.Uint64()
}

// storedBytes returns a cell as bytes of a file; decimals in n bytes, or in any number that suffices.
func storedBytes(c cell, typ Type, n int) []byte {
	switch v := c.(type) {
	case string:
		return []byte(v)
	case *big.Int:
		out := slices.Clone(plainOf(v, typ))
		slices.Reverse(out)
		sign := byte(0)
		if v.Sign() < 0 {
			sign = 0xff
		}
		for n > len(out) {
			out = append([]byte{sign}, out...)
		}
		for n < 0 && len(out) > 1 && out[0] == sign && (out[1]^sign)>>7 == 0 && v.Bit(0) == 0 { // odd ones keep leading bytes
			out = out[1:]
		}
		return out
	}
	return plainOf(c, typ)
}

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

// checkPrune fails if a row that the reference selects is not in the ranges. It returns how many rows the ranges leave out.
func (f *testFile) checkPrune(t testing.TB, filter Filter) int {
	p, err := filter.compile(f.typeOf)
	require.NoError(t, err)
	selected := map[int64]bool{}
	for _, row := range f.selected(filter) {
		selected[int64(row)] = true
	}
	from, dropped := int64(0), 0
	for i, rows := range f.groups {
		ranges, err := p.prune(f.reader, i, f.leafOf)
		require.NoError(t, err)
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
			require.True(t, in[row] || !selected[from+row], "%v on %v as %v: row %d of row group %d is left out of %v",
				filter, f.types, f.physical, row, i, ranges)
			dropped += int(truthOf(!in[row]) / yes)
		}
		from += int64(rows)
	}
	return dropped
}

// storable replaces cells that a file does not hold.
func (t *testTable) storable() {
	for path, typ := range t.types {
		for i, c := range t.cells[path] {
			if v, ok := c.(*big.Int); ok && typ.Kind == Time && typ.Unit == Millis && v.BitLen() > 31 {
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
			for _, path := range filter.columns() {
				dropped[fmt.Sprint(table.types[path].Kind, " as ", f.physical[path])] += n
			}
		}
	}
	for kind := Bool; kind <= Fixed; kind++ {
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

// ramp returns a table of one column of rows cells.
func ramp(typ Type, rows int, value func(i int) cell) *testTable {
	t := &testTable{paths: []string{"c"}, types: map[string]Type{"c": typ}, cells: map[string][]cell{}, rows: rows}
	for i := range rows {
		t.cells["c"] = append(t.cells["c"], value(i))
	}
	return t
}

func intCell(i int) cell { return big.NewInt(int64(i)) }

func (f *testFile) pruned(t testing.TB, filter Filter) [][]rowRange {
	p, err := filter.compile(f.typeOf)
	require.NoError(t, err)
	var all [][]rowRange
	for i := range f.groups {
		ranges, err := p.prune(f.reader, i, f.leafOf)
		require.NoError(t, err)
		all = append(all, ranges)
	}
	return all
}

// one is a generator that always picks the first.
var one = generator{func(int) int { return 0 }}

// TestPruneStatistics holds that row groups are left out: of 40 rows in 4 row groups, without any index.
func TestPruneStatistics(t *testing.T) {
	id := func(i int) cell { return strings.Repeat(string(rune('A'+i)), 16) }
	all := []rowRange{{0, 10}}
	for _, c := range []struct {
		name   string
		typ    Type
		value  func(i int) cell
		filter Filter
		want   string // a letter per row group: x is left out
	}{
		{"int8", Type{Kind: Int8}, intCell, Gt("c", 29.5), "xxx."},
		{"int8 negative", Type{Kind: Int8}, func(i int) cell { return intCell(i - 20) }, Lt("c", -10), ".xxx"},
		{"int16", Type{Kind: Int16}, intCell, Lt("c", 10), ".xxx"},
		{"int32", Type{Kind: Int32}, intCell, In("c", 5, 35), ".xx."},
		{"int64", Type{Kind: Int64}, intCell, Not(Ge("c", 10)), ".xxx"},
		{"uint8", Type{Kind: Uint8}, func(i int) cell { return intCell(i + 200) }, Ge("c", 230), "xxx."},
		{"uint32", Type{Kind: Uint32}, func(i int) cell { return intCell(i + 1<<31 - 10) }, Ge("c", 1<<31), "x..."},
		{
			"uint64",
			Type{Kind: Uint64},
			func(i int) cell { return new(big.Int).SetUint64(1<<63 - 10 + uint64(i)) },
			Ge("c", uint64(1<<63)), "x...",
		},
		{"ne", Type{Kind: Int64}, func(i int) cell { return intCell(i / 10) }, Ne("c", 1), ".x.."},
		{"not in", Type{Kind: Int64}, func(i int) cell { return intCell(i / 10) }, Not(In("c", 1, 3)), ".x.x"},
		{"out of range", Type{Kind: Int8}, intCell, Gt("c", 1000), "xxxx"},
		{"out of range inverted", Type{Kind: Int8}, intCell, Le("c", 1000), "...."},
		{"and", Type{Kind: Int64}, intCell, And(Ge("c", 10), Lt("c", 20)), "x.xx"},
		{"or", Type{Kind: Int64}, intCell, Or(Lt("c", 10), Gt("c", 30)), ".xx."},
		{"not or", Type{Kind: Int64}, intCell, Not(Or(Lt("c", 10), Ge("c", 20))), "x.xx"},
		{"nothing", Type{Kind: Int64}, intCell, Or(), "xxxx"},
		{"everything", Type{Kind: Int64}, intCell, Filter{}, "...."},
		{"bool", Type{Kind: Bool}, func(i int) cell { return intCell(i / 20) }, Eq("c", true), "xx.."},
		{"date", Type{Kind: Date}, intCell, Lt("c", time.Unix(86400*10, 0)), ".xxx"},
		{"time ms", Type{Kind: Time, Unit: Millis}, intCell, Ge("c", 30*time.Millisecond), "xxx."},
		{"time us", Type{Kind: Time, Unit: Micros}, intCell, Ge("c", 30*time.Microsecond), "xxx."},
		{"timestamp", Type{Kind: Timestamp, Unit: Millis}, intCell, Gt("c", time.UnixMilli(29)), "xxx."},
		{"decimal", Type{Kind: Decimal64, Precision: 18, Scale: 1}, func(i int) cell { return intCell(i - 20) }, Lt("c", "-1.05"), ".xxx"},
		{"decimal128", Type{Kind: Decimal128, Precision: 38, Scale: 1}, func(i int) cell { return intCell(i - 20) }, Gt("c", "0.95"), "xxx."},
		{"decimal256", Type{Kind: Decimal256, Precision: 76, Scale: 1}, func(i int) cell { return intCell(i - 20) }, Lt("c", 0), "..xx"},
		{"float32", Type{Kind: Float32}, func(i int) cell { return float64(i) }, Lt("c", 9.5), ".xxx"},
		{"float32 nan", Type{Kind: Float32}, func(i int) cell { return float64(i) }, Gt("c", 9.5), "...."}, // NaN is greater
		{"float64", Type{Kind: Float64}, func(i int) cell { return float64(i) }, Eq("c", 15), "x.xx"},
		{"float64 nan", Type{Kind: Float64}, func(i int) cell { return float64(i) }, Eq("c", math.NaN()), "...."},
		{"float64 and", Type{Kind: Float64}, func(i int) cell { return float64(i) }, And(Gt("c", 19), Lt("c", math.NaN())), "xx.."},
		{"float64 range", Type{Kind: Float64}, func(i int) cell { return float64(i) }, And(Ge("c", 10), IsNull("c"), And(Lt("c", 20))), "xxxx"},
		{"float64 between", Type{Kind: Float64}, func(i int) cell { return float64(i) }, Not(Or(Lt("c", 10), Ge("c", 20))), "x.xx"},
		{"float16", Type{Kind: Float16}, func(i int) cell { return float64(i) }, Le("c", 9), ".xxx"},
		{"string", Type{Kind: String}, func(i int) cell { return fmt.Sprintf("%02d", i) }, Ge("c", "3"), "xxx."},
		{"string unsigned", Type{Kind: String}, func(i int) cell { return string([]byte{byte(0x70 + i)}) }, Ge("c", "\x80"), "x..."},
		{"binary", Type{Kind: Binary}, func(i int) cell { return string([]byte{byte(0x70 + i)}) }, Lt("c", "\x7a"), ".xxx"},
		{"id", Type{Kind: ID}, id, Eq("c", [16]byte([]byte(id(25).(string)))), "xx.x"},
		{"fixed", Type{Kind: Fixed, Width: 1}, func(i int) cell { return string([]byte{byte(0x70 + i)}) }, Gt("c", "\x79"), "x..."},
		{"null", Type{Kind: Int64}, func(i int) cell {
			if i == 15 {
				return nil
			}
			return intCell(i)
		}, IsNull("c"), "x.xx"},
		{"all null", Type{Kind: String}, func(i int) cell {
			if i < 20 {
				return nil
			}
			return "x"
		}, NotNull("c"), "xx.."},
		{"compare all null", Type{Kind: String}, func(i int) cell {
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

// TestPrunePages holds that pages are left out: of 100 rows in one row group, in pages of 10.
func TestPrunePages(t *testing.T) {
	nulls := func(i int) cell {
		if i >= 80 { // arrow-go ends no page before it has a value
			return nil
		}
		return intCell(i)
	}
	for _, c := range []struct {
		name   string
		typ    Type
		value  func(i int) cell
		filter Filter
		want   []rowRange
	}{
		{"one page", Type{Kind: Int64}, intCell, Eq("c", 42), []rowRange{{40, 50}}},
		{"two", Type{Kind: Int64}, intCell, In("c", 42, 71), []rowRange{{40, 50}, {70, 80}}},
		{"touching", Type{Kind: Int64}, intCell, In("c", 42, 51), []rowRange{{40, 60}}},
		{"and", Type{Kind: Int64}, intCell, And(Ge("c", 25), Lt("c", 31)), []rowRange{{20, 40}}},
		{"or", Type{Kind: Int64}, intCell, Or(Lt("c", 5), Gt("c", 95)), []rowRange{{0, 10}, {90, 100}}},
		{"not", Type{Kind: Int64}, intCell, Not(And(Ge("c", 10), Lt("c", 90))), []rowRange{{0, 10}, {90, 100}}},
		{"contradiction", Type{Kind: Int64}, intCell, And(Lt("c", 20), Gt("c", 80)), nil},
		{"null", Type{Kind: Int64}, nulls, IsNull("c"), []rowRange{{80, 100}}},
		{"not null", Type{Kind: Int64}, nulls, NotNull("c"), []rowRange{{0, 80}}},
		{"ne and null", Type{Kind: Int64}, nulls, Ne("c", 7), []rowRange{{0, 80}}},
		{"string", Type{Kind: String}, func(i int) cell { return fmt.Sprintf("%02d", i) }, Lt("c", "3"), []rowRange{{0, 30}}},
		{"double", Type{Kind: Float64}, func(i int) cell { return float64(i) }, Lt("c", 30), []rowRange{{0, 30}}},
		{"double nan", Type{Kind: Float64}, func(i int) cell { return float64(i) }, Ge("c", 30), []rowRange{{0, 100}}},
		{
			"decimal",
			Type{Kind: Decimal128, Precision: 38, Scale: 2},
			func(i int) cell { return intCell(i - 50) }, Lt("c", "-0.405"),
			[]rowRange{{0, 10}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
				f := one.file(t, ramp(c.typ, 100, c.value), 100, parquet.WithPageIndexEnabled(true), parquet.WithBatchSize(10),
					parquet.WithDataPageSize(1), parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(version))
				f.checkPrune(t, c.filter)
				require.Equal(t, [][]rowRange{c.want}, f.pruned(t, c.filter))
			}
		})
	}
}

// TestPruneBlooms holds that row groups are left out by bloom filters: even numbers in each, so that statistics know nothing of odd ones.
func TestPruneBlooms(t *testing.T) {
	all := []rowRange{{0, 100}}
	for _, typ := range []Type{
		{Kind: Int8},
		{Kind: Uint16},
		{Kind: Int32},
		{Kind: Int64},
		{Kind: Uint64},
		{Kind: Decimal64, Precision: 18},
		{Kind: Decimal128, Precision: 38},
	} {
		f := one.file(t, ramp(typ, 100, func(i int) cell { return intCell(2 * (i % 60)) }), 100, parquet.WithBloomFilterEnabled(true),
			parquet.WithBloomFilterFPP(1e-9))
		for i := 1; i < 118; i += 2 {
			require.Equal(t, [][]rowRange{nil}, f.pruned(t, Eq("c", i)), "%d of %v", i, typ)
			require.Equal(t, [][]rowRange{all}, f.pruned(t, In("c", i, i+1)), "%d of %v", i, typ)
			require.Equal(t, [][]rowRange{all}, f.pruned(t, Ne("c", i)), "%d of %v", i, typ)
		}
		require.Equal(t, [][]rowRange{nil}, f.pruned(t, And(Ge("c", 0), Or(Eq("c", 1), In("c", 7, 11)))), "%v", typ)
	}
	for _, typ := range []Type{{Kind: Float16}, {Kind: Float32}, {Kind: Float64}} {
		f := one.file(t, ramp(typ, 100, func(i int) cell { return math.Copysign(float64(2*i), float64(i-1)) }), 100,
			parquet.WithBloomFilterEnabled(true), parquet.WithBloomFilterFPP(1e-9))
		require.Equal(t, [][]rowRange{nil}, f.pruned(t, In("c", 1, 7, 2.5)), "%v", typ)
		require.Equal(t, [][]rowRange{all}, f.pruned(t, Eq("c", 0.0)), "%v: the column has -0", typ)
		require.Equal(t, [][]rowRange{all}, f.pruned(t, In("c", 1, math.NaN())), "%v", typ)
	}
	// 0.1 is no float32, its hash is not that of the float32 next to it.
	tenths := one.file(t, ramp(Type{Kind: Float32}, 100, func(int) cell { return float64(float32(0.1)) }), 100, parquet.WithStats(false),
		parquet.WithBloomFilterEnabled(true))
	require.Equal(t, [][]rowRange{nil}, tenths.pruned(t, Eq("c", 0.1)))
	require.Equal(t, [][]rowRange{all}, tenths.pruned(t, Eq("c", float32(0.1))))
	text := func(i int) cell { return fmt.Sprintf("%016d", 2*i) }
	for _, typ := range []Type{{Kind: String}, {Kind: Binary}, {Kind: ID}, {Kind: Fixed, Width: 16}} {
		f := one.file(t, ramp(typ, 100, text), 100, parquet.WithBloomFilterEnabled(true), parquet.WithBloomFilterFPP(1e-9))
		require.Equal(t, [][]rowRange{nil}, f.pruned(t, In("c", []byte("0000000000000005"), []byte("00"))), "%v", typ)
		require.Equal(t, [][]rowRange{all}, f.pruned(t, Eq("c", []byte("0000000000000006"))), "%v", typ)
	}
}

// TestPruneConcurrently is for the race detector: goroutines share a predicate and a file.
func TestPruneConcurrently(t *testing.T) {
	f := one.file(t, ramp(Type{Kind: Int64}, 100, intCell), 50, parquet.WithBloomFilterEnabled(true), parquet.WithPageIndexEnabled(true),
		parquet.WithBatchSize(10), parquet.WithDataPageSize(1))
	p, err := And(In("c", 3, 70), Gt("c", 1)).compile(f.typeOf)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range f.groups {
				if ranges, err := p.prune(f.reader, i, f.leafOf); err != nil || len(ranges) != 1 || ranges[0].to-ranges[0].from > 20 {
					t.Errorf("%v, %v", ranges, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestPruneUnknown holds that nothing is left out where a file and a filter have nothing to do with each other.
func TestPruneUnknown(t *testing.T) {
	f := one.file(t, ramp(Type{Kind: Int64}, 10, intCell), 10)
	p, err := Gt("c", 100).compile(f.typeOf)
	require.NoError(t, err)
	for name, leaf := range map[string]leafOf{
		"no leaf":    func(string) (int, Type, bool) { return 0, Type{}, false },
		"other type": func(string) (int, Type, bool) { return 1, Type{Kind: Timestamp, Unit: Millis}, true },
		"repeated":   func(string) (int, Type, bool) { return 0, Type{Kind: Int64}, true },
		"no such":    func(string) (int, Type, bool) { return 7, Type{Kind: Int64}, true },
	} {
		ranges, err := p.prune(f.reader, 0, leaf)
		require.NoError(t, err)
		require.Equal(t, []rowRange{{0, 10}}, ranges, name)
	}
	// Elements are no rows, even if there are as many.
	f.reader.MetaData().RowGroups[0].Columns[0].MetaData.NumValues = 10
	f.types["c"], f.leaves["c"] = Type{Kind: Int32}, 0
	require.Equal(t, [][]rowRange{{{0, 10}}}, f.pruned(t, Gt("c", 100)))
	for _, i := range []int{-1, 1} {
		_, err = p.prune(f.reader, i, f.leafOf)
		require.Error(t, err)
	}
	f.reader.MetaData().RowGroups[0].NumRows = -1
	_, err = p.prune(f.reader, 0, f.leafOf)
	require.ErrorIs(t, err, ErrCorrupt)
}
