// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/internal/wire"
)

// Columns to bound values: the conversions of RowPlan.

// TestColumnEncodeEqualsReference compares the encoded bytes with the reference's for Column.Value.
func TestColumnEncodeEqualsReference(t *testing.T) {
	for _, name := range append(columnTypes, "udt") {
		if strings.HasPrefix(name, "map") { // the reference encodes a Go map in random order
			continue
		}
		info := columnType(t, name)
		infos := []cql.ColumnInfo{{Name: "v", TypeInfo: info}}
		b := randomBatch(2, infos, 60, 0.2)
		for i, cell := range splitCells(t, encodeRows(t, infos, b), 1) {
			want, err := ReferenceEncode(nil, info, withoutDecimals(b.Columns[0].Value(i)))
			require.NoError(t, err, "%s: %v", name, b.Columns[0].Value(i))
			got := wire.AppendInt(nil, wire.Null)
			if cell != nil {
				got = append(wire.AppendInt(nil, int32(len(cell))), cell...)
			}
			require.Equal(t, want, got, "%s: %v", name, b.Columns[0].Value(i))
		}
	}
}

// withoutDecimals replaces cql.Decimal by a type that the reference accepts.
func withoutDecimals(v any) any {
	switch v := v.(type) {
	case cql.Decimal:
		return inf.NewDecBig(v.Unscaled, inf.Scale(v.Scale))
	case []any:
		for i := range v {
			v[i] = withoutDecimals(v[i])
		}
	}
	return v
}

// TestRowPlanConversions binds every kind of column to every CQL type without parameters. An accepted pair keeps the
// value or returns an error of its row; all other pairs are rejected.
func TestRowPlanConversions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for name, kinds := range conversions {
		info := columnType(t, name)
		infos := []cql.ColumnInfo{{Name: "v", TypeInfo: info}}
		for _, typ := range columntest.Types() {
			b := columntest.Batch(r, []column.Field{{Name: "v", Type: typ}}, 200, 0)
			plan, err := NewRowPlan(infos, b.Schema())
			want := slices.ContainsFunc(strings.Fields(strings.ReplaceAll(kinds, ", ", ",")), func(k string) bool {
				k = strings.ReplaceAll(k, ",", ", ")
				return k == typ.Kind.String() || k == typ.String()
			})
			if !want {
				var refused *cql.MarshalError
				require.ErrorAs(t, err, &refused, "%s from %v", name, typ)
				require.ErrorIs(t, err, cql.ErrConversion)
				require.ErrorContains(t, err, `"v"`)
				continue
			}
			require.NoError(t, err, "%s from %v", name, typ)
			for row := range b.Rows {
				checkConversion(t, plan, info, b, row)
			}
		}
	}
}

func checkConversion(t *testing.T, plan *RowPlan, info cql.TypeInfo, b *column.Batch, row int) {
	value := b.Columns[0].Value(row)
	cell, err := plan.Append(nil, b, row, 0, wire.Null)
	if err != nil {
		require.True(t, errors.Is(err, cql.ErrRange) || errors.Is(err, cql.ErrConversion) || errors.Is(err, cql.ErrMissing) || errors.Is(err, cql.ErrTrailing), err)
		require.ErrorContains(t, err, fmt.Sprintf("row %d: ", row))
		return
	}
	var got any
	require.NoError(t, ReferenceDecode(info, cell[4:], &got))
	switch g := got.(type) {
	case string:
		got = []byte(g)
	case cql.UUID:
		got = g[:]
	case net.IP:
		got = []byte(g)
	}
	switch v := value.(type) {
	case string:
		value = []byte(v)
	case cql.UUID:
		value = v[:]
	case net.IP:
		value = []byte(v)
	case int64:
		switch g := got.(type) {
		case time.Duration:
			got = int64(g)
		case time.Time:
			got = g.UnixMilli()
		}
	case cql.Decimal:
		if _, isInt := got.(*big.Int); isInt {
			value = v.Unscaled
		}
	}
	require.Equal(t, canonical(value), canonical(got), "%v from %v, row %d", info, b.Columns[0].Type, row)
}

// TestTextBindsToNumbersAndDurations binds columns of text, also within lists, to the types that columns have no wider
// kind for.
func TestTextBindsToNumbersAndDurations(t *testing.T) {
	for _, c := range []struct{ typ, text, same, wrong string }{
		{"varint", "-00129", "-129", "1.0"},
		{"varint", "18446744073709551616", "18446744073709551616", "1_0"},
		{"decimal", "1.500", "1.500", "1,5"},
		{"decimal", "-9E+10", "-9E+10", ""},
		{"duration", "P1Y2M", "14mo", "1x"},
		{"duration", "1m1.5s", "1m1s500ms", "-1mo1d-1h"},
	} {
		infos := []cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, c.typ)}}
		list := []cql.ColumnInfo{{Name: "v", TypeInfo: cql.NewListType(infos[0].TypeInfo)}}
		for _, dict := range []bool{false, true} {
			texts := column.Strings("v", []string{c.text, c.wrong})
			if dict {
				texts = columntest.WithDictionary(texts)
			}
			same := column.Strings("v", []string{c.same})
			want, err := column.ParseText(&same, ColumnField("v", infos[0].TypeInfo).Type)
			require.NoError(t, err)
			plan, err := NewRowPlan(infos, column.NewBatch(texts).Schema())
			require.NoError(t, err)
			got, err := plan.Append(nil, column.NewBatch(texts), 0, 0, wire.Null)
			require.NoError(t, err, c.text)
			require.Equal(t, encodeRows(t, infos, column.NewBatch(want)), got, c.text)
			_, err = plan.Append(nil, column.NewBatch(texts), 1, 0, wire.Null)
			require.ErrorIs(t, err, cql.ErrConversion, c.wrong)
			lists := column.NewBatch(column.Lists("v", []int32{0, 1}, texts.Slice(0, 1)))
			wants := column.NewBatch(column.Lists("v", []int32{0, 1}, want))
			require.Equal(t, encodeRows(t, list, wants), encodeRows(t, list, lists), c.text)
		}
	}
}

// TestRowPlanRanges binds integers at the limits of each type.
func TestRowPlanRanges(t *testing.T) {
	values := []int64{
		math.MinInt64, math.MinInt32 - 1, math.MinInt32, math.MinInt16 - 1, math.MinInt16, -129, -128, -1, 0, 127, 128, math.MaxInt16,
		math.MaxInt16 + 1, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64,
	}
	b := column.NewBatch(column.Of("v", values))
	for name, size := range map[string]int{"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8} {
		plan, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, name)}}, b.Schema())
		require.NoError(t, err)
		for i, v := range values {
			_, err := plan.Append(nil, b, i, 0, wire.Null)
			fits := v >= -1<<(8*size-1) && v <= 1<<(8*size-1)-1
			require.Equal(t, fits, err == nil, "%d in a %s: %v", v, name, err)
			if !fits {
				require.ErrorIs(t, err, cql.ErrRange)
			}
		}
	}
	above := column.NewBatch(column.Of("v", []uint64{math.MaxUint64}))
	plan, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, "bigint")}}, above.Schema())
	require.NoError(t, err)
	_, err = plan.Append(nil, above, 0, 0, wire.Null)
	require.EqualError(t, err, `vecql: marshal column "v": column of uint64 into bigint: row 0: value out of range: 18446744073709551615 does not fit bigint`)
	plan, err = NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, "varint")}}, above.Schema())
	require.NoError(t, err)
	cell, err := plan.Append(nil, above, 0, 0, wire.Null)
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 0, 9, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, cell)
}

// TestRowPlanNested binds columns of one nested kind to compatible CQL types of another kind.
func TestRowPlanNested(t *testing.T) {
	matrix := column.Matrix("v", []float32{1, 2, 3, 4}, 2)
	lists := column.Lists("v", []int32{0, 2, 4}, column.Of("", []float32{1, 2, 3, 4}))
	address := column.Structs("v", column.Strings("street", []string{"a", "b"}), column.Of("number", []int16{1, 2}))
	for _, c := range []struct {
		typ    string
		column column.Column
		want   any
	}{
		{"vector<float, 2>", lists, []float32{3, 4}},
		{"list<float>", matrix, []float32{3, 4}},
		{"set<float>", matrix, []float32{3, 4}},
		{"vector<double, 2>", lists, []float64{3, 4}},
		{"list<double>", lists, []float64{3, 4}},
		{"list<double>", matrix, []float64{3, 4}},
		{"vector<double, 2>", matrix, []float64{3, 4}},
		{"vector<float, 2>", column.Matrix("v", []float64{1, 2, 0.1, 1e-46}, 2), []float32{0.1, 0}},
		{"vector<float, 2>", column.Lists("v", []int32{0, 0, 2}, column.Of("", []float64{16777217, -0.1})), []float32{16777216, -0.1}},
		{"vector<int, 2>", column.Matrix("v", []int64{1, 2, 3, 4}, 2), []int{3, 4}},
		{"list<vector<float, 1>>", column.Lists("v", []int32{0, 0, 1}, column.Matrix("", []float64{0.1}, 1)), [][]float32{{0.1}}},
		{"list<text>", column.Lists("v", []int32{0, 0, 1}, columntest.WithDictionary(column.Strings("", []string{"x"}))), []string{"x"}},
		{"tuple<text, int>", address, []any{"b", 2}},
		{"udt", address, map[string]any{"street": "b", "number": 2, "at": nil}},
	} {
		info := columnType(t, c.typ)
		b := column.NewBatch(c.column)
		plan, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: info}}, b.Schema())
		require.NoError(t, err, c.typ)
		cell, err := plan.Append([]byte("before"), b, 1, 0, wire.Null)
		require.NoError(t, err, c.typ)
		var got any
		require.NoError(t, ReferenceDecode(info, cell[10:], &got))
		require.Equal(t, c.want, got, c.typ)
	}
	for _, c := range []struct {
		typ    string
		column column.Column
		want   error
	}{
		{"vector<float, 3>", matrix, cql.ErrDimension},
		{"vector<bigint, 2>", matrix, cql.ErrConversion},
		{"list<float>", column.Matrix("v", []float64{1, 2}, 2), cql.ErrConversion},
		{"vector<int, 2>", lists, cql.ErrConversion},
		{"list<int>", column.Strings("v", []string{"a"}), cql.ErrConversion},
		{"map<text, int>", lists, cql.ErrConversion},
		{"map<text, smallint>", address, cql.ErrConversion},
		{"map<float, float>", matrix, cql.ErrConversion},
		{"tuple<text>", address, cql.ErrDimension},
		{"udt", column.Structs("v", column.Strings("strete", []string{"a"})), cql.ErrConversion},
		{"udt", column.Structs("v", column.Strings("street", []string{"a"}), column.Strings("street", []string{"a"})), cql.ErrConversion},
		{"int", column.Of("w", []int32{1}), cql.ErrConversion},
	} {
		_, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, c.typ)}}, column.NewBatch(c.column).Schema())
		require.ErrorIs(t, err, c.want, c.typ)
	}
	for _, c := range []struct {
		typ    string
		column column.Column
		want   error
	}{
		{"vector<float, 3>", lists, cql.ErrDimension},
		{"vector<float, 2>", column.Lists("v", []int32{0, 2}, column.Of("", []float32{1, 2}).WithNulls([]bool{false, true})), cql.ErrNull},
		{"vector<text, 1>", column.Lists("v", []int32{0, 1}, column.Strings("", []string{"a"}).WithNulls([]bool{true})), cql.ErrNull},
		{"list<int>", column.Lists("v", []int32{0, 1}, column.Of("", []int32{1}).WithNulls([]bool{true})), cql.ErrNull},
		{"map<int, int>", column.Maps("v", []int32{0, 1}, column.Of("", []int32{1}), column.Of("", []int32{1}).WithNulls([]bool{true})), cql.ErrNull},
		{"list<tinyint>", column.Lists("v", []int32{0, 1}, column.Of("", []int32{300})), cql.ErrRange},
		{"vector<float, 1>", column.Matrix("v", []float64{1e39}, 1), cql.ErrRange},
		{"vector<float, 1>", column.Lists("v", []int32{0, 1}, column.Of("", []float64{-3.5e38})), cql.ErrRange},
		{"vector<int, 1>", column.Matrix("v", []int64{1 << 31}, 1), cql.ErrRange},
	} {
		b := column.NewBatch(c.column)
		plan, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, c.typ)}}, b.Schema())
		require.NoError(t, err, c.typ)
		dst := []byte("before")
		out, err := plan.Append(dst, b, 0, 0, wire.Null)
		require.ErrorIs(t, err, c.want, c.typ)
		require.Equal(t, dst, out)
	}
}

// TestRowPlanCheck passes batches of another schema to a plan.
func TestRowPlanCheck(t *testing.T) {
	good := column.NewBatch(column.Of("id", []int64{1}), column.Matrix("v", []float32{1, 2}, 2))
	infos := []cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, "vector<float, 2>")}, {Name: "id", TypeInfo: columnType(t, "bigint")}}
	plan, err := NewRowPlan(infos, good.Schema())
	require.NoError(t, err)
	require.NoError(t, plan.Check(good))
	for name, b := range map[string]*column.Batch{
		"fewer":  column.NewBatch(good.Columns[0]),
		"moved":  column.NewBatch(good.Columns[1], good.Columns[0]),
		"kind":   column.NewBatch(column.Of("id", []int32{1}), good.Columns[1]),
		"lists":  column.NewBatch(good.Columns[0], column.Lists("v", []int32{0, 2}, column.Of("", []float32{1, 2}))),
		"double": column.NewBatch(good.Columns[0], column.Matrix("v", []float64{1, 2}, 2)),
	} {
		require.ErrorIs(t, plan.Check(b), cql.ErrConversion, name)
	}
	other := column.NewBatch(good.Columns[0], column.Matrix("v", []float32{1, 2, 3}, 3))
	require.NoError(t, plan.Check(other))
	_, err = plan.Append(nil, other, 0, 0, wire.Null)
	require.ErrorIs(t, err, cql.ErrDimension)
}

// TestRowPlanChecksNestedFields passes columns to a plan with other parameters or fields than its schema has.
func TestRowPlanChecksNestedFields(t *testing.T) {
	typed := func(c column.Column, typ column.Type) column.Column {
		c, err := c.WithType(typ)
		require.NoError(t, err)
		return c
	}
	at := func(u column.Unit) column.Column {
		return typed(column.Of("v", []int64{1000}), column.Type{Kind: column.Timestamp, Unit: u, UTC: true})
	}
	text, small, wide := column.Strings("street", []string{"a"}), column.Of("number", []int16{1}), column.Of("number", []int32{1})
	one := []int32{0, 1}
	maps := func(value column.Column) column.Column { return column.Maps("v", one, text, value) }
	for name, c := range map[string]struct {
		typ   string
		good  column.Column
		other []column.Column
	}{
		"unit":    {"timestamp", at(column.Millis), []column.Column{at(column.Micros)}},
		"width":   {"uuid", column.FixedBytes("v", make([]byte, 16), 16), []column.Column{column.FixedBytes("v", make([]byte, 15), 15)}},
		"element": {"list<int>", column.Lists("v", one, small), []column.Column{column.Lists("v", one, wide), column.Lists("v", one, text)}},
		"value":   {"map<text, int>", maps(small), []column.Column{maps(wide)}},
		"field": {"udt", column.Structs("v", text, small), []column.Column{
			column.Structs("v", text, wide), column.Structs("v", text), column.Structs("v", text, small, at(column.Millis)),
			column.Structs("v", small, text), column.Structs("v", text, small.As("nr")),
		}},
		"position": {"tuple<text, int>", column.Tuples("v", text, small), []column.Column{
			column.Tuples("v", text, wide), column.Tuples("v", small, text), column.Tuples("v", text), column.Structs("v", text, small),
		}},
	} {
		b := column.NewBatch(c.good)
		plan, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, c.typ)}}, b.Schema())
		require.NoError(t, err, name)
		require.NoError(t, plan.Check(b), name)
		for i, other := range c.other {
			require.ErrorIs(t, plan.Check(column.NewBatch(other)), cql.ErrConversion, "%s %d", name, i)
		}
	}
	renamed := column.Tuples("v", text, small)
	plan, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, "tuple<text, int>")}}, column.NewBatch(renamed).Schema())
	require.NoError(t, err)
	renamed.Children[0].Name = "street"
	require.NoError(t, plan.Check(column.NewBatch(renamed)), "fields of tuples have positions, not names")
}

// TestMappedAddressTakesFourBytes binds an IPv4 address mapped to IPv6, by columns of each kind that inet accepts,
// alone and inside collections: it takes the 4 bytes of the server's literal.
func TestMappedAddressTakesFourBytes(t *testing.T) {
	mapped := netip.MustParseAddr("::ffff:192.0.2.7")
	four := []byte{0, 0, 0, 4, 192, 0, 2, 7}
	wide := mapped.As16()
	inets := column.Column{Name: "v", Type: column.Type{Kind: column.Inet}, Len: 1, Offsets: []int32{0, 16}, Values: wide[:]}
	binary := inets
	binary.Type = column.Type{Kind: column.Binary}
	list := func(c column.Column) column.Column { return column.Lists("v", []int32{0, 1}, c) }
	one := append([]byte{0, 0, 0, 1}, four...)
	for _, c := range []struct {
		typ    string
		column column.Column
		want   []byte
	}{
		{"inet", inets, four[4:]},
		{"inet", binary, four[4:]},
		{"inet", column.Strings("v", []string{mapped.String()}), four[4:]},
		{"inet", columntest.WithDictionary(inets), four[4:]},
		{"list<inet>", list(inets), one},
		{"set<inet>", list(binary), one},
		{"set<inet>", list(column.Strings("v", []string{mapped.String()})), one},
		{"map<inet, inet>", column.Maps("v", []int32{0, 1}, inets, binary), append(slices.Clone(one), four...)},
		{"tuple<inet>", column.Tuples("v", inets), four},
		{"vector<inet, 1>", list(inets), four[3:]},
	} {
		info := columnType(t, c.typ)
		b := column.NewBatch(c.column)
		plan, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: info}}, b.Schema())
		require.NoError(t, err, c.typ)
		cell, err := plan.Append(nil, b, 0, 0, wire.Null)
		require.NoError(t, err, c.typ)
		require.Equal(t, c.want, cell[4:], "%s from %v", c.typ, c.column.Type)
	}
}

// TestNumbersTakeTheFewestBytes binds columns of varints and decimals with more bytes than their values need.
func TestNumbersTakeTheFewestBytes(t *testing.T) {
	for _, c := range []struct {
		typ        string
		kind       column.Kind
		value, cut string // as bytes
	}{
		{"varint", column.Varint, "\x00\x00\x01", "\x01"},
		{"varint", column.Varint, "\x00\x80", "\x00\x80"},
		{"varint", column.Varint, "\xff\xff\x80", "\x80"},
		{"varint", column.Varint, "\xff\x7f", "\xff\x7f"},
		{"varint", column.Varint, "\x00\x00", "\x00"},
		{"decimal", column.Decimal, "\x00\x00\x00\x02\xff\xff", "\x00\x00\x00\x02\xff"},
		{"decimal", column.Decimal, "\x00\x00\x00\x00\x00\x01", "\x00\x00\x00\x00\x01"},
	} {
		b := column.NewBatch(column.Column{
			Name: "v", Type: column.Type{Kind: c.kind}, Len: 1, Offsets: []int32{0, int32(len(c.value))}, Values: []byte(c.value),
		})
		plan, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: columnType(t, c.typ)}}, b.Schema())
		require.NoError(t, err)
		cell, err := plan.Append(nil, b, 0, 0, wire.Null)
		require.NoError(t, err)
		require.Equal(t, c.cut, string(cell[4:]), "%s %q", c.typ, c.value)
	}
}
