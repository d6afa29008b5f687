// SPDX-License-Identifier: Apache-2.0

package column_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/columntest"
)

// TestSliceConcat slices columns of every kind into pieces of random length and concatenates the pieces.
func TestSliceConcat(t *testing.T) {
	for _, f := range columntest.Fields() {
		for _, nulls := range []float64{0, 0.3, 1} {
			for _, n := range []int{0, 1, 8, 100} {
				t.Run(fmt.Sprintf("column=%s/nulls=%v/rows=%d", f.Name, nulls, n), func(t *testing.T) {
					r := rand.New(rand.NewPCG(1, uint64(n)))
					whole := columntest.Batch(r, []column.Field{f}, n, nulls)
					require.NoError(t, whole.Check())
					var pieces []*column.Batch
					for at := 0; at < n || len(pieces) == 0; {
						next := min(n, at+r.IntN(20))
						piece := whole.Slice(at, next)
						require.NoError(t, piece.Check())
						for i := range piece.Rows {
							require.Equal(t, fmt.Sprint(whole.Columns[0].Value(at+i)), fmt.Sprint(piece.Columns[0].Value(i)))
						}
						pieces = append(pieces, piece)
						at = next
					}
					again, err := column.Concat(pieces...)
					require.NoError(t, err)
					require.NoError(t, again.Check())
					require.Empty(t, column.Diff(again, whole))
					require.Empty(t, column.Diff(whole, again))
				})
			}
		}
	}
}

// TestCloneOwnsMemory overwrites the buffers of a batch and requires an unchanged clone.
func TestCloneOwnsMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	b := columntest.Batch(r, columntest.Fields(), 50, 0.2)
	same := columntest.Batch(rand.New(rand.NewPCG(2, 2)), columntest.Fields(), 50, 0.2)
	clone := b.Clone()
	var overwrite func(c *column.Column)
	overwrite = func(c *column.Column) {
		for _, b := range [][]byte{c.Values, c.Validity} {
			for i := range b {
				b[i] = 0xdb
			}
		}
		for i := range c.Children {
			overwrite(&c.Children[i])
		}
	}
	for i := range b.Columns {
		overwrite(&b.Columns[i])
	}
	require.Empty(t, column.Diff(clone, same))
}

func TestDictionaryEqualsText(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, kind := range []column.Kind{column.String, column.Binary, column.Inet, column.Varint, column.Decimal} {
		f := column.Field{Name: "v", Type: column.Type{Kind: kind}, Nullable: true}
		plain := columntest.Column(r, f, 200, 0.2)
		coded := columntest.WithDictionary(plain)
		require.NoError(t, coded.Check())
		a, b := column.NewBatch(plain), column.NewBatch(coded)
		require.Empty(t, column.Diff(a, b))
		both, err := column.Concat(b, a, b.Slice(3, 77))
		require.NoError(t, err)
		require.Nil(t, both.Columns[0].Dict)
		want, err := column.Concat(a, a, a.Slice(3, 77))
		require.NoError(t, err)
		require.Empty(t, column.Diff(both, want))
		kept, err := column.Concat(b.Slice(0, 10), b.Slice(10, 200))
		require.NoError(t, err)
		require.Same(t, coded.Dict, kept.Columns[0].Dict)
		require.Empty(t, column.Diff(kept, a))
	}
}

// TestDiffFindsEveryChange changes one row of a column of every kind.
func TestDiffFindsEveryChange(t *testing.T) {
	for _, f := range columntest.Fields() {
		r := rand.New(rand.NewPCG(4, 4))
		want := columntest.Batch(r, []column.Field{f}, 30, 0)
		for row := range 30 {
			other := columntest.Batch(r, []column.Field{f}, 1, 0)
			if fmt.Sprint(other.Columns[0].Value(0)) == fmt.Sprint(want.Columns[0].Value(row)) {
				continue
			}
			got, err := column.Concat(want.Slice(0, row), other, want.Slice(row+1, 30))
			require.NoError(t, err)
			diff := column.Diff(got, want)
			require.Equal(t, 1, strings.Count(diff, ", want "), "%s: %s", f.Name, diff)
			require.Contains(t, diff, fmt.Sprintf("%s, row %d: ", f.Name, row))
		}
		null := make([]bool, 30)
		null[7] = true
		got := column.NewBatch(want.Columns[0].WithNulls(null))
		require.Contains(t, column.Diff(got, want), "row 7: NULL, want ")
	}
	require.Contains(t, column.Diff(column.NewBatch(column.Of("a", []int32{1})), column.NewBatch(column.Of("a", []int64{1}))), "column a int32?; want a int64?")
	require.Equal(t, "2 rows, want 1\na, row 0: 2, want 1", column.Diff(column.NewBatch(column.Of("a", []int32{2, 3})), column.NewBatch(column.Of("a", []int32{1}))))
}

func TestValues(t *testing.T) {
	typed := func(c column.Column, typ column.Type) column.Column {
		t.Helper()
		c, err := c.WithType(typ)
		require.NoError(t, err)
		return c
	}
	kind := func(k column.Kind) column.Type { return column.Type{Kind: k} }
	bytes := func(k column.Kind, v ...[]byte) column.Column { return typed(column.Binaries("v", v), kind(k)) }
	for _, c := range []struct {
		column column.Column
		want   any
	}{
		{column.Of("v", []bool{true}), true},
		{column.Of("v", []int8{-1}), int8(-1)},
		{column.Of("v", []uint8{255}), uint8(255)},
		{column.Of("v", []int16{-300}), int16(-300)},
		{column.Of("v", []uint16{65535}), uint16(65535)},
		{column.Of("v", []int32{math.MinInt32}), int32(math.MinInt32)},
		{column.Of("v", []uint32{math.MaxUint32}), uint32(math.MaxUint32)},
		{column.Of("v", []int64{math.MinInt64}), int64(math.MinInt64)},
		{column.Of("v", []uint64{math.MaxUint64}), uint64(math.MaxUint64)},
		{typed(column.Of("v", []uint16{0x3c00}), kind(column.Float16)), float32(1)},
		{typed(column.Of("v", []uint16{0x8001}), kind(column.Float16)), float32(-1.0 / (1 << 24))},
		{typed(column.Of("v", []uint16{0xfc00}), kind(column.Float16)), float32(math.Inf(-1))},
		{typed(column.Of("v", []int32{-1}), kind(column.Date)), time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)},
		{
			typed(column.Of("v", []int64{-1}), column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}),
			time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC),
		},
		{typed(column.Of("v", []int64{math.MinInt64}), column.Type{Kind: column.Timestamp, Unit: column.Nanos}), time.Unix(0, math.MinInt64).UTC()},
		{typed(column.Of("v", []int64{5}), column.Type{Kind: column.Time, Unit: column.Micros}), 5 * time.Microsecond},
		{column.Of("v", []cql.Duration{{Months: 1, Days: 2, Nanoseconds: 3}}), cql.Duration{Months: 1, Days: 2, Nanoseconds: 3}},
		{typed(column.Of("v", []int64{-1999}), column.Type{Kind: column.Decimal64, Precision: 9, Scale: 2}), cql.Decimal{Unscaled: big.NewInt(-1999), Scale: 2}},
		{column.Of("v", []column.Int128{{Lo: math.MaxUint64, Hi: -1}}), cql.Decimal{Unscaled: big.NewInt(-1)}},
		{column.Of("v", []column.Int256{{7}}), cql.Decimal{Unscaled: big.NewInt(7)}},
		{column.Of("v", [][16]byte{{1, 2}}), cql.UUID{1, 2}},
		{column.FixedBytes("v", []byte("abcde"), 5), []byte("abcde")},
		{column.Strings("v", []string{"日本"}), "日本"},
		{bytes(column.Binary, []byte{}), []byte{}},
		{bytes(column.Inet, []byte{10, 0, 0, 1}), net.IP{10, 0, 0, 1}},
		{bytes(column.Inet, []byte{10}), []byte{10}},
		{bytes(column.Varint, []byte{0x80}), big.NewInt(-128)},
		{bytes(column.Varint, []byte{}), []byte{}},
		{bytes(column.Decimal, []byte{0xff, 0xff, 0xff, 0xff, 7}), cql.Decimal{Unscaled: big.NewInt(7), Scale: -1}},
		{column.Matrix("v", []int64{1, 2}, 2), []int64{1, 2}},
		{column.Lists("v", []int32{0, 2}, column.Strings("", []string{"a", "b"})), []string{"a", "b"}},
		{column.Lists("v", []int32{0, 2}, column.Strings("", []string{"a", "b"}).WithNulls([]bool{false, true})), []any{"a", nil}},
		{column.Maps("v", []int32{0, 1}, column.Strings("", []string{"a"}), column.Of("", []int32{1})), map[string]int32{"a": 1}},
		{column.Maps("v", []int32{0, 1}, bytes(column.Inet, []byte{1, 2, 3, 4}), column.Of("", []int32{1})), map[any]int32{"1.2.3.4": 1}},
		{column.Structs("v", column.Of("a", []int32{1}), column.Strings("b", []string{"x"})), map[string]any{"a": int32(1), "b": "x"}},
		{column.Tuples("v", column.Of("a", []int32{1}), column.Strings("b", []string{"x"}).WithNulls([]bool{true})), []any{int32(1), nil}},
	} {
		require.Equal(t, c.want, c.column.Value(0), "%v", c.column.Type)
		null := c.column.WithNulls([]bool{true})
		require.Nil(t, null.Value(0))
	}
}

func TestViewErrors(t *testing.T) {
	b := column.NewBatch(column.Of("id", [][16]byte{{}}), column.Matrix("v", []float32{1, 2}, 2), column.Strings("name", []string{"x"}))
	_, err := column.Slice[cql.UUID](b.Column("id"))
	require.NoError(t, err)
	_, err = column.Slice[column.Int128](b.Column("id"))
	require.EqualError(t, err, "column: id is uuid, not column.Int128")
	_, err = column.Slice[float32](b.Column("v"))
	require.EqualError(t, err, "column: v is vector<float32, 2>, not float32")
	_, err = column.MatrixOf[float64](b.Column("v"))
	require.EqualError(t, err, "column: v is vector<float32, 2>, not a vector of float64")
	_, err = column.MatrixOf[float32](b.Column("name"))
	var typeError *column.TypeError
	require.ErrorAs(t, err, &typeError)
	_, err = b.Column("id").Text()
	require.EqualError(t, err, "column: id is uuid, not text")
	_, err = column.MatrixOf[float32](b.Column("V"))
	require.ErrorIs(t, err, column.ErrNoColumn)
	require.ErrorIs(t, b.Column("nil").Err(), column.ErrNoColumn)
	_, err = b.Column("").Text()
	require.ErrorIs(t, err, column.ErrNoColumn)
	_, err = b.Select("name", "nome")
	require.ErrorIs(t, err, column.ErrNoColumn)
	_, err = b.Columns[0].WithType(column.Type{Kind: column.Inet})
	require.EqualError(t, err, "column: id: type uuid cannot become inet: the layouts differ")
	_, err = column.Of("t", []int64{1}).WithType(column.Type{Kind: column.Timestamp})
	require.ErrorContains(t, err, "not a type")
}

// TestCheckDamaged damages the buffers of columns of every kind and requires an error of Check.
func TestCheckDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, f := range columntest.Fields() {
		whole := columntest.Column(r, f, 20, 0.3)
		damage := map[string]func(c *column.Column){
			"rows":     func(c *column.Column) { c.Len = 100 },
			"negative": func(c *column.Column) { c.Len = -1 },
			"nulls":    func(c *column.Column) { c.Nulls++ },
			"type":     func(c *column.Column) { c.Type.Kind = 99 },
		}
		switch {
		case whole.Offsets != nil:
			damage["decreasing"] = func(c *column.Column) { c.Offsets[3] = c.Offsets[4] + 1 }
			damage["beyond"] = func(c *column.Column) { c.Offsets[20] += 1000 }
			damage["short"] = func(c *column.Column) { c.Offsets = c.Offsets[:20] }
		case whole.Children == nil:
			damage["values"] = func(c *column.Column) { c.Values = c.Values[:len(c.Values)-1] }
		}
		if whole.Children != nil {
			damage["child"] = func(c *column.Column) { c.Children[0].Type = column.Type{} }
		}
		if f.Type.Kind.IsText() {
			damage["code"] = func(c *column.Column) {
				*c = columntest.WithDictionary(*c)
				for i := range c.Values {
					c.Values[i] = 0xff
				}
			}
		}
		for name, do := range damage {
			c := column.NewBatch(whole).Clone().Columns[0]
			require.NoError(t, c.Check())
			do(&c)
			require.ErrorContains(t, c.Check(), "column: "+f.Name+": ", name)
		}
	}
}

func TestTableFits(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, rows := range []int{0, 1, 3, 1000} {
		b := columntest.Batch(r, columntest.Fields(), rows, 0.2)
		for start := range b.Columns {
			part := &column.Batch{Columns: b.Columns[start:], Rows: rows}
			for line := range strings.Lines(part.String()) {
				require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 100, line)
			}
			require.LessOrEqual(t, strings.Count(part.String(), "\n"), 24)
		}
	}
	table := column.NewBatch(column.Of("n", []int32{1, 2, 3, 4, 5}), column.Strings("text", []string{"a\nb", strings.Repeat("x", 50), "", "\x00", "ü"})).Table(40, 4)
	require.Equal(t, strings.Join([]string{
		"    n  text",
		"int32  string",
		"    1  a\uFFFDb",
		"    2  " + strings.Repeat("x", 29) + "...",
		"...",
		"    4  \uFFFD",
		"    5  ü",
		"5 rows",
		"",
	}, "\n"), table)
}

func TestConstructorsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"matrix":    func() { column.Matrix("v", []float32{1, 2, 3}, 2) },
		"dimension": func() { column.Matrix("v", []float32{}, 0) },
		"offsets":   func() { column.StringBuffers("v", []byte("ab"), []int32{0, 2, 1}) },
		"list":      func() { column.Lists("v", []int32{0, 2}, column.Of("", []int8{1})) },
		"map":       func() { column.Maps("v", []int32{0, 1}, column.Of("", []int8{1}), column.Of("", []int8{1, 2})) },
		"null key": func() {
			column.Maps("v", []int32{0, 1}, column.Of("", []int8{1}).WithNulls([]bool{true}), column.Of("", []int8{1}))
		},
		"fields":     func() { column.Structs("v", column.Of("a", []int8{1}), column.Of("b", []int8{})) },
		"no fields":  func() { column.Structs("v") },
		"lengths":    func() { column.NewBatch(column.Of("a", []int8{1}), column.Of("b", []int8{})) },
		"nulls":      func() { column.Of("a", []int8{1}).WithNulls(nil) },
		"validity":   func() { column.Of("a", []int8{1}).WithValidity([]byte{}) },
		"dictionary": func() { column.NewDictionary([]byte("a"), []int32{0, 2}) },
		"codes":      func() { column.Codes("a", []uint32{0}, nil) },
		"slice":      func() { column.NewBatch(column.Of("a", []int8{1})).Slice(0, 2) },
		"value":      func() { column.NewBatch().Column("a").Value(0) },
	} {
		require.Panics(t, f, name)
	}
}

func TestDecimalString(t *testing.T) {
	for want, d := range map[string]cql.Decimal{
		"0":      {},
		"-12.50": {Unscaled: big.NewInt(-1250), Scale: 2},
		"0.007":  {Unscaled: big.NewInt(7), Scale: 3},
		"5E+40":  {Unscaled: big.NewInt(5), Scale: -40},
		"5E-90":  {Unscaled: big.NewInt(5), Scale: 90},
	} {
		require.Equal(t, want, d.String())
	}
}

// TestKindClasses compares the classes of kinds with their names.
func TestKindClasses(t *testing.T) {
	for k := column.Bool; k <= column.Tuple; k++ {
		require.Equal(t, regexp.MustCompile(`^u?int\d+$`).MatchString(k.String()), k.IsInteger(), "%v", k)
		require.Equal(t, regexp.MustCompile(`^float\d+$`).MatchString(k.String()), k.IsFloat(), "%v", k)
	}
	schema := column.Schema{{Name: "b"}, {Name: "a"}, {Name: "b"}}
	require.Equal(t, []string{"b", "a", "b"}, schema.Names())
	require.Empty(t, column.Schema{}.Names())
}

// TestSchemaEmpty compares the schema of an empty batch with the one that it was made of.
func TestSchemaEmpty(t *testing.T) {
	b := column.NewBatch(
		column.Of("i", []int64{1}), column.Strings("s", []string{"x"}), column.Matrix("v", []float32{1, 2}, 2),
		column.Lists("l", []int32{0, 1}, column.Structs(column.ElementName, column.Of("f", []float64{1}),
			column.Lists("g", []int32{0, 1}, column.Of(column.ElementName, []bool{true})))),
	)
	empty := b.Schema().Empty()
	require.NoError(t, empty.Check())
	require.Equal(t, b.Schema(), empty.Schema())
	require.Zero(t, empty.Rows)
	both, err := column.Concat(empty, b)
	require.NoError(t, err)
	require.True(t, column.Equal(b, both), column.Diff(both, b))
}
