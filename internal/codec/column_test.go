// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/internal/wire"
)

// columnTypes has CQL types of every form.
var columnTypes = []string{
	"ascii", "bigint", "blob", "boolean", "counter", "date", "decimal", "double", "duration", "float", "inet", "int", "smallint", "text",
	"time", "timestamp", "timeuuid", "tinyint", "uuid", "varchar", "varint",
	"list<int>", "set<text>", "list<float>", "list<frozen<list<uuid>>>", "map<text, bigint>", "map<uuid, frozen<list<inet>>>",
	"tuple<int, text, decimal>", "tuple<frozen<tuple<boolean, float>>, duration>", "list<frozen<tuple<date, time>>>",
	"vector<float, 3>", "vector<double, 2>", "vector<int, 4>", "vector<bigint, 1>", "vector<uuid, 2>", "vector<timeuuid, 2>",
	"vector<text, 3>", "vector<smallint, 2>", "vector<boolean, 5>", "vector<vector<float, 2>, 3>", "vector<timestamp, 2>",
	"list<vector<float, 2>>", "map<int, vector<float, 2>>", "tuple<vector<float, 2>, vector<text, 1>>",
}

func columnType(t testing.TB, name string) cql.TypeInfo {
	if name == "udt" {
		return cql.UDTTypeInfo{Keyspace: "ks", Name: "address", Elements: []cql.UDTField{
			{Name: "street", Type: cql.NativeType(cql.TypeText)},
			{Name: "number", Type: cql.NativeType(cql.TypeInt)},
			{Name: "at", Type: cql.VectorType{SubType: cql.NativeType(cql.TypeFloat), Dimensions: 2}},
		}}
	}
	info, err := cql.ParseType(name, nil)
	require.NoError(t, err)
	return info
}

// randomColumn returns a random column of n rows that is valid for a CQL type: no NULL in a collection, and vectors
// with the dimension of the type.
func randomColumn(r *rand.Rand, name string, info cql.TypeInfo, n int, nulls float64) column.Column {
	c := columntest.Column(r, ColumnField(name, info), n, nulls)
	offsets := func(length func() int) int {
		for i := range n {
			c.Offsets[i+1] = c.Offsets[i] + int32(length())
		}
		return int(c.Offsets[n])
	}
	some := func() int { return r.IntN(4) }
	switch info := info.(type) {
	case cql.CollectionType:
		total := offsets(some)
		if info.Type() == cql.TypeMap {
			c.Children[0] = randomColumn(r, column.KeyName, info.Key, total, 0)
			c.Children[1] = randomColumn(r, column.ValueName, info.Elem, total, 0)
			break
		}
		c.Children[0] = randomColumn(r, column.ElementName, info.Elem, total, 0)
	case cql.VectorType:
		if c.Type.Kind == column.List {
			c.Children[0] = randomColumn(r, column.ElementName, info.SubType, offsets(func() int { return info.Dimensions }), 0)
		}
	case cql.TupleTypeInfo:
		for i, elem := range info.Elems {
			c.Children[i] = randomColumn(r, fmt.Sprint(i), elem, n, nulls)
		}
	case cql.UDTTypeInfo:
		for i, elem := range info.Elements {
			c.Children[i] = randomColumn(r, elem.Name, elem.Type, n, nulls)
		}
	}
	return c
}

// randomBatch returns random columns for these types.
func randomBatch(seed uint64, infos []cql.ColumnInfo, n int, nulls float64) *column.Batch {
	r := rand.New(rand.NewPCG(seed, seed))
	b := &column.Batch{Rows: n}
	for _, info := range infos {
		b.Columns = append(b.Columns, randomColumn(r, info.Name, info.TypeInfo, n, nulls))
	}
	return b
}

// canonical returns a text of v. Equal values from Column.Value and from the reference have the same text.
func canonical(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case cql.Decimal:
		return v.String()
	case *inf.Dec:
		if v == nil {
			return "NULL"
		}
		return cql.Decimal{Unscaled: v.UnscaledBig(), Scale: int32(v.Scale())}.String()
	case *big.Int:
		return v.String()
	case net.IP:
		return fmt.Sprintf("ip %x", []byte(v))
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case cql.UUID, cql.Duration, time.Duration:
		return fmt.Sprint(v)
	case float32:
		return fmt.Sprintf("f%x", math.Float64bits(float64(v)))
	case float64:
		return fmt.Sprintf("f%x", math.Float64bits(v))
	case []byte:
		return fmt.Sprintf("0x%x", v)
	}
	r := reflect.ValueOf(v)
	var parts []string
	switch r.Kind() {
	case reflect.Slice:
		for i := range r.Len() {
			parts = append(parts, canonical(r.Index(i).Interface()))
		}
	case reflect.Map:
		for entry := r.MapRange(); entry.Next(); {
			parts = append(parts, canonical(entry.Key().Interface())+": "+canonical(entry.Value().Interface()))
		}
		sort.Strings(parts)
	default:
		return fmt.Sprint(v)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// TestColumnEqualsReference encodes rows of every CQL type from columns and decodes them again. The reference decodes
// each cell too.
func TestColumnEqualsReference(t *testing.T) {
	for _, name := range append(columnTypes, "udt") {
		for _, nulls := range []float64{0, 0.3} {
			t.Run(fmt.Sprintf("type=%s/nulls=%v", name, nulls), func(t *testing.T) {
				info := columnType(t, name)
				infos := []cql.ColumnInfo{{Name: "v", TypeInfo: info}, {Name: "n", TypeInfo: cql.NativeType(cql.TypeInt)}}
				b := randomBatch(1, infos, 120, nulls).Slice(13, 113)
				cells := encodeRows(t, infos, b)
				for i, cell := range splitCells(t, cells, 2) {
					if i%2 == 1 {
						continue
					}
					var want any
					require.NoError(t, ReferenceDecode(info, cell, &want))
					require.Equal(t, canonical(want), canonical(b.Columns[0].Value(i/2)), "row %d", i/2)
				}
				plan := NewColumnPlan(infos)
				var got column.Batch
				for range 3 { // first into new memory, then into the same
					require.NoError(t, plan.Decode(cells, b.Rows, &got))
					require.NoError(t, got.Check())
					require.Empty(t, column.Diff(&got, b))
				}
				require.NoError(t, plan.Decode(nil, 0, &got))
				require.Empty(t, column.Diff(&got, b.Slice(0, 0)))
			})
		}
	}
}

// encodeRows returns the cells of all rows.
func encodeRows(t testing.TB, infos []cql.ColumnInfo, b *column.Batch) []byte {
	plan, err := NewRowPlan(infos, b.Schema())
	require.NoError(t, err)
	require.NoError(t, plan.Check(b))
	var cells []byte
	for row := range b.Rows {
		for i := range infos {
			cells, err = plan.Append(cells, b, row, i, wire.Null)
			require.NoError(t, err)
		}
	}
	return cells
}

// splitCells returns the content of each cell, nil for NULL.
func splitCells(t testing.TB, cells []byte, columns int) [][]byte {
	r := wire.NewReader(cells)
	var out [][]byte
	for r.Len() > 0 {
		cell, null := r.Value()
		if null {
			cell = nil
		}
		out = append(out, cell)
	}
	require.NoError(t, r.Err())
	require.Zero(t, len(out)%columns)
	return out
}

// conversions lists the kinds of columns that can be bound to each CQL type.
var conversions = map[string]string{
	"boolean":   "bool",
	"tinyint":   "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
	"smallint":  "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
	"int":       "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
	"bigint":    "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
	"counter":   "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
	"varint":    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 varint decimal64(18, 0) string",
	"decimal":   "int8 int16 int32 int64 uint8 uint16 uint32 uint64 decimal decimal64 decimal128 decimal256 string",
	"float":     "float16 float32",
	"double":    "float16 float32 float64",
	"text":      "string binary",
	"ascii":     "string binary",
	"varchar":   "string binary",
	"blob":      "binary string fixed",
	"uuid":      "uuid fixed(16) binary string",
	"timeuuid":  "uuid fixed(16) binary string",
	"inet":      "inet binary string",
	"date":      "date timestamp int64",
	"time":      "time int64",
	"timestamp": "timestamp date int64",
	"duration":  "duration string",
}

// TestColumnDecodeDamaged truncates a page at every byte. Decoding must return an error and never panic.
func TestColumnDecodeDamaged(t *testing.T) {
	for _, name := range append(columnTypes, "udt") {
		info := columnType(t, name)
		infos := []cql.ColumnInfo{{Name: "v", TypeInfo: info}}
		b := randomBatch(4, infos, 5, 0.2)
		cells := encodeRows(t, infos, b)
		plan := NewColumnPlan(infos)
		var got column.Batch
		for n := range cells {
			err := plan.Decode(cells[:n:n], b.Rows, &got)
			var unmarshal *cql.UnmarshalError
			require.ErrorAs(t, err, &unmarshal, "%s: %d of %d bytes", name, n, len(cells))
		}
		require.NoError(t, plan.Decode(cells, b.Rows, &got))
		require.Empty(t, column.Diff(&got, b))
	}
}

// TestColumnDecodeLarge decodes vectors into columns whose stores bypass the caches.
func TestColumnDecodeLarge(t *testing.T) {
	soak.NoRace(t)
	for _, name := range []string{"vector<float, 1001>", "vector<double, 1000>", "vector<int, 1024>", "vector<bigint, 512>", "vector<uuid, 300>"} {
		infos := []cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, name)}, {Name: "n", TypeInfo: columnType(t, "int")}}
		b := randomBatch(8, infos, 1500, 0.01)
		require.GreaterOrEqual(t, len(b.Columns[0].Values), streamFrom)
		cells := encodeRows(t, infos, b)
		var got column.Batch
		for range 2 {
			require.NoError(t, NewColumnPlan(infos).Decode(cells, b.Rows, &got))
			require.Empty(t, column.Diff(&got, b), name)
		}
	}
}

// TestColumnDecodeSparse decodes pages of NULLs whose column type would take more memory than the machine has.
func TestColumnDecodeSparse(t *testing.T) {
	rows := 1 << 20
	cells := slices.Repeat(wire.AppendInt(nil, wire.Null), rows)
	for _, info := range []cql.TypeInfo{
		cql.VectorType{SubType: cql.NativeType(cql.TypeFloat), Dimensions: math.MaxInt32},
		cql.TupleTypeInfo{Elems: []cql.TypeInfo{cql.VectorType{SubType: cql.NativeType(cql.TypeDouble), Dimensions: 1 << 20}}},
	} {
		err := NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: info}}).Decode(cells, rows, new(column.Batch))
		require.ErrorIs(t, err, cql.ErrRange)
	}
}

// TestColumnAllocs checks the budgets: no allocation per page into reused memory, none per bound row.
func TestColumnAllocs(t *testing.T) {
	if soak.Race {
		t.Skip("the race detector allocates")
	}
	var infos []cql.ColumnInfo
	for i, name := range append(columnTypes, "udt") {
		infos = append(infos, cql.ColumnInfo{Name: fmt.Sprintf("c%d", i), TypeInfo: columnType(t, name)})
	}
	b := randomBatch(5, infos, 100, 0.1)
	cells := encodeRows(t, infos, b)
	decode := NewColumnPlan(infos)
	var into column.Batch
	require.NoError(t, decode.Decode(cells, b.Rows, &into))
	require.Zero(t, testing.AllocsPerRun(20, func() { _ = decode.Decode(cells, b.Rows, &into) }), "allocations of a page")
	requireFreshAllocs(t)
	encode, err := NewRowPlan(infos, b.Schema())
	require.NoError(t, err)
	dst := make([]byte, 0, 2*len(cells))
	require.Zero(t, testing.AllocsPerRun(20, func() {
		_ = encode.Check(b)
		for row := range b.Rows {
			for i := range infos {
				dst, _ = encode.Append(dst[:0], b, row, i, wire.Null)
			}
		}
	}), "allocations of 100 rows")
}

// requireFreshAllocs checks the budget of a new batch: its columns, the sizes of its texts, and for each column its
// texts and their offsets; none grows.
func requireFreshAllocs(t *testing.T) {
	t.Helper()
	infos := []cql.ColumnInfo{{Name: "a", TypeInfo: columnType(t, "text")}, {Name: "b", TypeInfo: columnType(t, "blob")}}
	var names, blobs []string
	for i := range 3000 {
		names, blobs = append(names, fmt.Sprint("name ", i)), append(blobs, strings.Repeat("b", i%40))
	}
	b := column.NewBatch(column.Strings("a", names), column.Strings("b", blobs))
	cells := encodeRows(t, infos, b)
	decode := NewColumnPlan(infos)
	var got *column.Batch
	allocs := testing.AllocsPerRun(20, func() {
		got = new(column.Batch)
		_ = decode.Decode(cells, b.Rows, got)
	})
	require.LessOrEqual(t, allocs, 8.0)
	for i := range got.Columns {
		values := got.Columns[i].Values
		require.LessOrEqual(t, cap(values), len(values)+smallText+8, "unused memory of column %d", i)
	}
}

// FuzzColumnDecode decodes arbitrary bytes as a page. Columns and reference must return the same values, and must both
// reject a malformed cell.
func FuzzColumnDecode(f *testing.F) {
	types := append(slices.Clone(columnTypes), "udt")
	for i, name := range types {
		info := columnType(f, name)
		infos := []cql.ColumnInfo{{Name: "v", TypeInfo: info}}
		f.Add(uint8(i), encodeRows(f, infos, randomBatch(uint64(i), infos, 3, 0.2)))
	}
	f.Fuzz(func(t *testing.T, typ uint8, cells []byte) {
		info := columnType(t, types[int(typ)%len(types)])
		rows, rest := 0, cells
		for len(rest) >= 4 {
			if n := int32(binary.BigEndian.Uint32(rest)); n > 0 {
				rest = rest[min(len(rest), 4+int(n)):]
			} else {
				rest = rest[4:]
			}
			rows++
		}
		var b column.Batch
		err := NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: info}}).Decode(cells, rows, &b)
		if err == nil {
			require.NoError(t, b.Check())
		}
		r := wire.NewReader(cells)
		for i := range rows {
			cell, null := r.Value()
			if r.Err() != nil {
				require.Error(t, err)
				return
			}
			if null {
				cell = nil
			}
			var want any
			if refused := ReferenceDecode(info, cell, &want); refused != nil {
				if errors.Is(refused, cql.ErrConversion) { // a key that is not comparable in Go
					return
				}
				require.Error(t, err, "row %d: the reference returns %v", i, refused)
				return
			}
			if err != nil {
				continue
			}
			// In the reference's slices a NULL element is zero.
			if got := canonical(b.Columns[0].Value(i)); got == "NULL" || !strings.Contains(got, "NULL") {
				require.Equal(t, canonical(want), got, "row %d", i)
			}
		}
		if err != nil && !errors.Is(err, cql.ErrNull) { // a NULL key, which columns reject
			t.Fatalf("the reference decodes all rows, the columns return %v", err)
		}
	})
}
