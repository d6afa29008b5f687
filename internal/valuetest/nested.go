// SPDX-License-Identifier: Apache-2.0

package valuetest

import (
	"math"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"time"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
)

// Vectors, collections, tuples and user-defined types.

// of returns a value.
func of(typ, literal string, forms ...any) Value {
	return Value{Type: typ, Literal: literal, Go: forms}
}

// unsorted adds Go values whose order is not the server's.
func (v Value) unsorted(forms ...any) Value {
	v.Unsorted = append(v.Unsorted, forms...)
	return v
}

// address returns an IPv4 address in its form of 16 bytes.
func address(s string) net.IP { return net.ParseIP(s).To16() }

var addr = netip.MustParseAddr

var vectors = []Value{
	of("vector<float, 3>", "[0.1, -0.0, 3.4028235e38]", []float32{0.1, negativeZero32, math.MaxFloat32},
		[3]float32{0.1, negativeZero32, math.MaxFloat32}, []float64{0.1, negativeZero64, math.MaxFloat32}),
	of("vector<float, 3>", "[NaN, Infinity, -Infinity]", []float32{nan32, inf32, -inf32},
		[]float64{math.NaN(), math.Inf(1), math.Inf(-1)}),
	of("vector<float, 3>", "[1e39, 1e-46, 16777217]", []float32{inf32, 0, 16777216},
		[]float64{math.Inf(1), 1e-46, 16777217}),
	of("vector<float, 1>", "[1.5]", []float32{1.5}, [1]float32{1.5}),
	of("vector<double, 2>", "[0.1, -0.0]", []float64{0.1, negativeZero64}, [2]float64{0.1, negativeZero64}),
	of("vector<double, 2>", "[NaN, 1.7976931348623157e308]", []float64{nan64, math.MaxFloat64}),
	of("vector<int, 3>", "[0, 2147483647, -2147483648]", []int32{0, math.MaxInt32, math.MinInt32},
		[]int{0, math.MaxInt32, math.MinInt32}, []int64{0, math.MaxInt32, math.MinInt32}),
	of("vector<bigint, 2>", "[9223372036854775807, -9223372036854775808]", []int64{math.MaxInt64, math.MinInt64}),
	of("vector<smallint, 2>", "[1, -2]", []int16{1, -2}, []int32{1, -2}),
	of("vector<tinyint, 2>", "[127, -128]", []int8{127, -128}, []int{127, -128}),
	of("vector<boolean, 3>", "[true, false, true]", []bool{true, false, true}),
	of("vector<text, 2>", "['', 'é']", []string{"", "é"}, [][]byte{{}, []byte("é")}, [2]string{"", "é"}),
	of("vector<text, 1>", "["+quoted(long)+"]", []string{long}),
	of("vector<ascii, 2>", "['a', '']", []string{"a", ""}),
	of("vector<blob, 2>", "[0x, 0xff00]", [][]byte{{}, {0xff, 0}}),
	of("vector<uuid, 1>", "[6ba7b810-9dad-41d1-80b4-00c04fd430c8]",
		[]cql.UUID{uuid("6ba7b810-9dad-41d1-80b4-00c04fd430c8")}),
	of("vector<timeuuid, 1>", "[6ba7b810-9dad-11d1-80b4-00c04fd430c8]",
		[]cql.UUID{uuid("6ba7b810-9dad-11d1-80b4-00c04fd430c8")}),
	of("vector<varint, 3>", "[0, -129, 18446744073709551616]",
		[]*big.Int{big.NewInt(0), big.NewInt(-129), parseInt("18446744073709551616")}),
	of("vector<decimal, 2>", "[1.00, -9E+10]",
		[]cql.Decimal{{Unscaled: big.NewInt(100), Scale: 2}, {Unscaled: big.NewInt(-9), Scale: -10}},
		[]*inf.Dec{inf.NewDec(100, 2), inf.NewDec(-9, -10)}),
	of("vector<inet, 2>", "['::ffff:192.0.2.7', '::1']", []net.IP{address("192.0.2.7"), address("::1")},
		[]netip.Addr{addr(mapped), addr("::1")}, []string{mapped, "::1"}),
	of("vector<date, 2>", "['-0044-03-15', '+10000-01-01']",
		[]time.Time{time.Unix(-735525*secondsPerDay, 0).UTC(), time.Unix(2932897*secondsPerDay, 0).UTC()},
		[]int64{-735525 * millisPerDay, 2932897 * millisPerDay}),
	of("vector<time, 2>", "['00:00:00', '23:59:59.999999999']", []time.Duration{0, 86399999999999},
		[]int64{0, 86399999999999}),
	of("vector<timestamp, 2>", "[-1, 9223372036854775807]", []int64{-1, math.MaxInt64}),
	of("vector<timestamp, 1>", "[253402300800000]", []time.Time{time.UnixMilli(253402300800000).UTC()},
		[]int64{253402300800000}),
	of("vector<duration, 1>", "[-1mo2d3ns]", []cql.Duration{{Months: -1, Days: -2, Nanoseconds: -3}}),
	of("vector<vector<float, 2>, 2>", "[[0.1, 1], [NaN, -0.0]]", [][]float32{{0.1, 1}, {nan32, negativeZero32}},
		[2][2]float32{{0.1, 1}, {nan32, negativeZero32}}),
	of("vector<vector<text, 1>, 2>", "[['a'], ['']]", [][]string{{"a"}, {""}}),
	of("vector<frozen<list<int>>, 2>", "[[], [1, 2]]", [][]int32{{}, {1, 2}}),
	of("vector<frozen<set<inet>>, 1>", "[{'::1', '::ffff:192.0.2.7'}]",
		[][]netip.Addr{{addr("::1"), addr(mapped)}}).unsorted([][]netip.Addr{{addr(mapped), addr("::1")}}),
	of("vector<frozen<map<text, int>>, 1>", "[{'b': 2, 'a': 1}]").unsorted([]map[string]int32{{"a": 1, "b": 2}}),
	of("vector<frozen<tuple<int, text>>, 2>", "[(1, null), (null, '')]", [][]any{{1, nil}, {nil, ""}}),
	of("vector<frozen<vt_pair>, 1>", "[{a: null, b: 'é'}]", []map[string]any{{"a": nil, "b": "é"}},
		[]Pair{{nil, ptr("é")}}),
}

// pairs of a list type: not frozen and frozen.
func bothLists(kind, element, literal string, forms ...any) []Value {
	return []Value{
		of(kind+"<"+element+">", literal, forms...), of("frozen<"+kind+"<"+element+">>", literal, forms...),
	}
}

var lists = join(
	bothLists("list", "int", "[1, 2, 1]", []int32{1, 2, 1}, []int{1, 2, 1}, [3]int64{1, 2, 1},
		[]any{1, int8(2), int64(1)}),
	bothLists("list", "int", "[]", []int32{}, []int{}),
	bothLists("list", "text", "['', 'é', '']", []string{"", "é", ""}, [][]byte{{}, []byte("é"), {}}),
	bothLists("list", "inet", "['::ffff:192.0.2.7', '192.0.2.7', '::1']",
		[]net.IP{address("192.0.2.7"), net.IPv4(192, 0, 2, 7).To4(), address("::1")},
		[]netip.Addr{addr(mapped), addr("192.0.2.7"), addr("::1")}, []string{mapped, "192.0.2.7", "::1"}),
	bothLists("list", "double", "[NaN, -0.0, Infinity]", []float64{nan64, negativeZero64, math.Inf(1)}),
	bothLists("list", "float", "[NaN, -0.0, 0.1]", []float32{nan32, negativeZero32, 0.1}),
	bothLists("list", "vector<float, 2>", "[[0.1, 1], [2, 3]]", [][]float32{{0.1, 1}, {2, 3}}),
	bothLists("list", "frozen<list<text>>", "[[], ['a']]", [][]string{{}, {"a"}}),
	bothLists("list", "frozen<set<int>>", "[{3, 1}, {}]", [][]int32{{1, 3}, {}}),
	bothLists("list", "frozen<tuple<int, text>>", "[(1, null)]", [][]any{{1, nil}}),
	bothLists("list", "frozen<vt_pair>", "[{a: 1, b: ''}, {a: null, b: null}]",
		[]map[string]any{{"a": 1, "b": ""}, {"a": nil, "b": nil}}, []Pair{{ptr(int32(1)), ptr("")}, {}}),
	bothLists("list", "timestamp", "[-1, 253402300800000]", []int64{-1, 253402300800000},
		[]time.Time{time.UnixMilli(-1).UTC(), time.UnixMilli(253402300800000).UTC()}),
	bothLists("list", "date", "['1969-12-31']", []time.Time{time.Unix(-secondsPerDay, 0).UTC()},
		[]int64{-millisPerDay}),
	bothLists("list", "duration", "[1mo2d, -1ns]", []cql.Duration{{Months: 1, Days: 2}, {Nanoseconds: -1}}),
	bothLists("list", "decimal", "[1.0, 1.00]",
		[]cql.Decimal{{Unscaled: big.NewInt(10), Scale: 1}, {Unscaled: big.NewInt(100), Scale: 2}}),
	bothLists("list", "boolean", "[true, false]", []bool{true, false}),
	bothLists("list", "blob", "[0x, 0x00]", [][]byte{{}, {0}}),
)

// bothSets is bothLists for sets, with Go values in an order that is not the server's.
func bothSets(element, literal string, sorted any, other ...any) []Value {
	both := bothLists("set", element, literal)
	for i := range both {
		both[i] = both[i].unsorted(other...)
		if sorted != nil {
			both[i].Go = []any{sorted}
		}
	}
	return both
}

var sets = join(
	bothSets("int", "{3, -1, 2, 3, -2147483648}", []int32{math.MinInt32, -1, 2, 3},
		[]int32{3, -1, 2, 3, math.MinInt32}, map[int32]struct{}{3: {}, -1: {}, 2: {}, math.MinInt32: {}}),
	bothSets("int", "{}", []int32{}, []int32{}),
	bothSets("tinyint", "{1, -1, 0}", []int8{-1, 0, 1}, []int8{1, -1, 0}),
	bothSets("smallint", "{1, -1, 0, 256, -256}", []int16{-256, -1, 0, 1, 256}, []int16{1, -1, 0, 256, -256}),
	bothSets("bigint", "{1, -1, 9223372036854775807, -9223372036854775808}",
		[]int64{math.MinInt64, -1, 1, math.MaxInt64}, []int64{1, -1, math.MaxInt64, math.MinInt64}),
	bothSets("varint", "{256, -1, 0, 128, -129, 18446744073709551616, -18446744073709551616}",
		[]*big.Int{
			parseInt("-18446744073709551616"), big.NewInt(-129), big.NewInt(-1), big.NewInt(0),
			big.NewInt(128), big.NewInt(256), parseInt("18446744073709551616"),
		},
		[]*big.Int{
			big.NewInt(256), big.NewInt(-1), big.NewInt(0), parseInt("18446744073709551616"),
			big.NewInt(128), big.NewInt(-129), parseInt("-18446744073709551616"),
		}),
	bothSets("decimal", "{10, 9.5, -1, 1E+2, 0.001}",
		[]cql.Decimal{dec(-1, 0), dec(1, 3), dec(95, 1), dec(10, 0), dec(1, -2)},
		[]cql.Decimal{dec(10, 0), dec(95, 1), dec(-1, 0), dec(1, -2), dec(1, 3)}),
	bothSets("float", "{1, -1, NaN, -0.0, 0.0, Infinity, -Infinity}",
		[]float32{-inf32, -1, negativeZero32, 0, 1, inf32, nan32},
		[]float32{1, -1, nan32, negativeZero32, 0, inf32, -inf32}),
	bothSets("double", "{1, -1, NaN, -0.0, 0.0}", []float64{-1, negativeZero64, 0, 1, nan64},
		[]float64{1, -1, nan64, negativeZero64, 0}),
	bothSets("boolean", "{true, false, true}", []bool{false, true}, []bool{true, false, true}),
	bothSets("text", "{'b', 'a', '', 'é', 'B', '\uffff', '😀', 'b'}",
		[]string{"", "B", "a", "b", "é", "\uffff", "😀"}, []string{"b", "a", "", "é", "B", "\uffff", "😀", "b"},
		[][]byte{[]byte("é"), []byte("b"), []byte("a"), {}, []byte("B"), []byte("\uffff"), []byte("😀")}),
	bothSets("ascii", "{'b', 'a'}", []string{"a", "b"}, []string{"b", "a", "b"}),
	bothSets("blob", "{0xff, 0x00, 0x, 0x7f00, 0x80}", [][]byte{{}, {0}, {0x7f, 0}, {0x80}, {0xff}},
		[][]byte{{0xff}, {0}, {}, {0x7f, 0}, {0x80}}),
	bothSets("inet", "{'::1', '::ffff:192.0.2.7', '192.0.2.7', '10.0.0.1', '200.0.0.1'}",
		[]netip.Addr{addr("::1"), addr("10.0.0.1"), addr("192.0.2.7"), addr("200.0.0.1")},
		[]netip.Addr{addr("192.0.2.7"), addr(mapped), addr("::1"), addr("200.0.0.1"), addr("10.0.0.1")},
		[]string{mapped, "192.0.2.7", "::1", "10.0.0.1", "200.0.0.1"},
		map[netip.Addr]struct{}{
			addr("192.0.2.7"): {}, addr(mapped): {}, addr("::1"): {}, addr("200.0.0.1"): {},
			addr("10.0.0.1"): {},
		}),
	bothSets("uuid", "{ffffffff-ffff-4fff-8fff-ffffffffffff, 00000000-0000-0000-0000-000000000000, 6ba7b810-9dad-11d1-80b4-00c04fd430c8, "+
		"00000000-0001-11d1-80b4-00c04fd430c8, 6ba7b810-9dad-11d1-00b4-00c04fd430c8, 00000000-0000-4000-8000-000000000000}",
		[]cql.UUID{
			uuid("00000000-0000-0000-0000-000000000000"), uuid("00000000-0001-11d1-80b4-00c04fd430c8"),
			uuid("6ba7b810-9dad-11d1-00b4-00c04fd430c8"),
			uuid("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), uuid("00000000-0000-4000-8000-000000000000"),
			uuid("ffffffff-ffff-4fff-8fff-ffffffffffff"),
		},
		[]cql.UUID{
			uuid("ffffffff-ffff-4fff-8fff-ffffffffffff"), uuid("00000000-0000-0000-0000-000000000000"),
			uuid("6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
			uuid("00000000-0001-11d1-80b4-00c04fd430c8"), uuid("6ba7b810-9dad-11d1-00b4-00c04fd430c8"),
			uuid("00000000-0000-4000-8000-000000000000"),
		}),
	bothSets("timeuuid",
		"{ffffffff-0000-1000-8000-000000000000, 00000000-0000-1001-8000-000000000000, 00000000-0000-1000-80ff-000000000000, "+
			"00000000-0000-1000-807f-000000000000, 00000000-0000-1000-0000-000000000000}",
		[]cql.UUID{
			uuid("00000000-0000-1000-80ff-000000000000"), uuid("00000000-0000-1000-807f-000000000000"),
			uuid("00000000-0000-1000-0000-000000000000"),
			uuid("ffffffff-0000-1000-8000-000000000000"), uuid("00000000-0000-1001-8000-000000000000"),
		},
		[]cql.UUID{
			uuid("ffffffff-0000-1000-8000-000000000000"), uuid("00000000-0000-1001-8000-000000000000"),
			uuid("00000000-0000-1000-80ff-000000000000"),
			uuid("00000000-0000-1000-807f-000000000000"), uuid("00000000-0000-1000-0000-000000000000"),
		}),
	bothSets("date", "{'1970-01-01', '-0044-03-15', '2024-02-29'}",
		[]int64{-735525 * millisPerDay, 0, 19782 * millisPerDay},
		[]int64{0, -735525 * millisPerDay, 19782 * millisPerDay}),
	bothSets("time", "{'12:00:00', '00:00:00'}", []time.Duration{0, 12 * time.Hour},
		[]time.Duration{12 * time.Hour, 0}),
	bothSets("timestamp", "{1, -1, 0}", []int64{-1, 0, 1}, []int64{1, -1, 0}),
	bothSets("frozen<list<int>>", "{[2], [1, 2], [], [-1], [1]}", [][]int32{{}, {-1}, {1}, {1, 2}, {2}},
		[][]int32{{2}, {1, 2}, {}, {-1}, {1}, {2}}),
	bothSets("frozen<set<int>>", "{{2, 1}, {-1}, {1, 2}, {}}", [][]int32{{}, {-1}, {1, 2}},
		[][]int32{{2, 1}, {-1}, {1, 2}, {}}),
	bothSets("frozen<map<int, text>>", "{{2: 'b', 1: 'a'}, {1: 'b'}, {}, {-1: 'z'}}",
		nil, []map[int32]string{{1: "b"}, {2: "b", 1: "a"}, {-1: "z"}, {}}),
	bothSets("frozen<tuple<int, text>>", "{(1, 'b'), (1, null), (null, 'a'), (-1, 'z'), (1, '')}",
		[][]any{{nil, "a"}, {-1, "z"}, {1, nil}, {1, ""}, {1, "b"}},
		[][]any{{1, "b"}, {1, nil}, {nil, "a"}, {-1, "z"}, {1, ""}}),
	bothSets("frozen<vt_pair>", "{{a: 1, b: 'b'}, {a: 1, b: null}, {a: null, b: 'a'}, {a: -1, b: 'z'}}",
		[]Pair{{nil, ptr("a")}, {ptr(int32(-1)), ptr("z")}, {ptr(int32(1)), nil}, {ptr(int32(1)), ptr("b")}},
		[]Pair{{ptr(int32(1)), ptr("b")}, {ptr(int32(1)), nil}, {nil, ptr("a")}, {ptr(int32(-1)), ptr("z")}}),
	bothSets("vector<float, 2>", "{[1, 2], [-1, 2], [1, -2], [-0.0, 0]}",
		[][]float32{{-1, 2}, {negativeZero32, 0}, {1, -2}, {1, 2}},
		[][]float32{{1, 2}, {-1, 2}, {1, -2}, {negativeZero32, 0}}),
	bothSets("vector<text, 2>", "{['b', 'a'], ['', 'c'], ['aa', '']}",
		[][]string{{"", "c"}, {"aa", ""}, {"b", "a"}}, [][]string{{"b", "a"}, {"aa", ""}, {"", "c"}}),
	bothSets("vector<int, 2>", "{[1, 2], [-1, 2]}", [][]int32{{-1, 2}, {1, 2}}, [][]int32{{1, 2}, {-1, 2}}),
)

func dec(unscaled int64, scale int32) cql.Decimal {
	return cql.Decimal{Unscaled: big.NewInt(unscaled), Scale: scale}
}

// bothMaps returns a value of a map type, not frozen and frozen.
func bothMaps(key, value, literal string, forms ...any) []Value {
	t := "map<" + key + ", " + value + ">"
	both := []Value{of(t, literal), of("frozen<"+t+">", literal)}
	for i := range both {
		for _, form := range forms {
			if reflect.ValueOf(form).Len() > 1 { // Go iterates over maps in random order
				both[i].Unsorted = append(both[i].Unsorted, form)
			} else {
				both[i].Go = append(both[i].Go, form)
			}
		}
	}
	return both
}

var maps = join(
	bothMaps("text", "int", "{'b': 2, 'a': 1, '': 0}", map[string]int32{"a": 1, "b": 2, "": 0},
		map[string]int{"a": 1, "b": 2, "": 0}),
	bothMaps("text", "int", "{}", map[string]int32{}),
	bothMaps("int", "text", "{1: '', -1: 'é'}", map[int32]string{1: "", -1: "é"},
		map[int][]byte{1: {}, -1: []byte("é")}),
	bothMaps("inet", "inet", "{'::ffff:192.0.2.7': '::ffff:192.0.2.8', '::1': '192.0.2.7'}",
		map[netip.Addr]netip.Addr{addr(mapped): addr("::ffff:192.0.2.8"), addr("::1"): addr("192.0.2.7")},
		map[string]string{mapped: "::ffff:192.0.2.8", "::1": "192.0.2.7"},
		map[string]net.IP{mapped: address("192.0.2.8"), "::1": address("192.0.2.7")}),
	bothMaps("uuid", "frozen<list<int>>", "{6ba7b810-9dad-41d1-80b4-00c04fd430c8: [1]}",
		map[cql.UUID][]int32{uuid("6ba7b810-9dad-41d1-80b4-00c04fd430c8"): {1}}),
	bothMaps("timestamp", "double", "{1: NaN, -1: -0.0}", map[int64]float64{1: nan64, -1: negativeZero64}),
	bothMaps("date", "time", "{'2024-02-29': '23:59:59.999999999'}",
		map[int64]time.Duration{19782 * millisPerDay: 86399999999999}),
	bothMaps("boolean", "duration", "{true: -1ns, false: 1mo}",
		map[bool]cql.Duration{true: {Nanoseconds: -1}, false: {Months: 1}}),
	bothMaps("text", "vector<float, 2>", "{'v': [0.1, -0.0]}", map[string][]float32{"v": {0.1, negativeZero32}}),
	bothMaps("text", "frozen<set<int>>", "{'s': {2, 1}}", map[string][]int32{"s": {1, 2}}),
	bothMaps("text", "frozen<map<int, int>>", "{'m': {2: 1}}", map[string]map[int32]int32{"m": {2: 1}}),
	[]Value{of("map<text, frozen<map<int, int>>>",
		"{'m': {2: 1, -1: 3}}").unsorted(map[string]map[int32]int32{"m": {2: 1, -1: 3}})},
	bothMaps("bigint", "frozen<tuple<int, text>>", "{1: (null, 'x')}", map[int64][]any{1: {nil, "x"}}),
	bothMaps("bigint", "frozen<vt_pair>", "{1: {a: 1, b: null}}", map[int64]Pair{1: {ptr(int32(1)), nil}}),
)

// A Pair is a value of the type vt_pair.
type Pair struct {
	A *int32
	B *string
}

// A Deep is a value of the type vt_deep.
type Deep struct {
	S []netip.Addr
	P *Pair
	V []float32
}

var records = []Value{
	of("tuple<int, text>", "(1, 'é')", []any{1, "é"}, Pair{ptr(int32(1)), ptr("é")}, [2]any{int32(1), "é"}),
	of("tuple<int, text>", "(null, '')", []any{nil, ""}, Pair{nil, ptr("")}),
	of("tuple<int, text>", "(null, null)", []any{nil, nil}, Pair{}),
	of("tuple<int, text>", "(1)"),
	of("tuple<inet, frozen<set<inet>>, frozen<map<inet, int>>>",
		"('::ffff:192.0.2.7', {'::1', '::ffff:192.0.2.7'}, {'::ffff:192.0.2.7': 1})",
		[]any{
			addr(mapped),
			[]netip.Addr{addr("::1"), addr(mapped)},
			map[netip.Addr]int32{addr(mapped): 1},
		}).unsorted([]any{
		addr(mapped),
		[]netip.Addr{addr(mapped), addr("::1"), addr("192.0.2.7")},
		map[netip.Addr]int32{addr(mapped): 1},
	}),
	of("tuple<vector<float, 2>, double, date>", "([0.1, NaN], -0.0, '-0044-03-15')",
		[]any{[]float32{0.1, nan32}, negativeZero64, time.Unix(-735525*secondsPerDay, 0).UTC()}),
	of("tuple<vector<float, 2>, double, date>", "(null, null, null)", []any{nil, nil, nil}),
	of("frozen<tuple<int, frozen<tuple<text, int>>>>", "(1, (null, 2))", []any{1, []any{nil, 2}}),
	of("vt_pair", "{a: 1, b: 'é'}", map[string]any{"a": 1, "b": "é"}, Pair{ptr(int32(1)), ptr("é")}),
	of("vt_pair", "{a: null, b: ''}", map[string]any{"a": nil, "b": ""}, Pair{nil, ptr("")}),
	of("frozen<vt_pair>", "{a: 1, b: 'é'}", map[string]any{"a": 1, "b": "é"}, Pair{ptr(int32(1)), ptr("é")}),
	of("frozen<vt_pair>", "{a: 1}", map[string]any{"a": 1, "b": nil}, Pair{ptr(int32(1)), nil}),
	of("frozen<vt_pair>", "{a: null, b: null}", map[string]any{"a": nil, "b": nil}, Pair{}),
	of("vt_deep", "{s: {'::1', '::ffff:192.0.2.7'}, p: {a: 1, b: null}, v: [0.1, -0.0]}",
		Deep{
			[]netip.Addr{addr("::1"), addr(mapped)},
			&Pair{ptr(int32(1)), nil},
			[]float32{0.1, negativeZero32},
		}).unsorted(Deep{
		[]netip.Addr{addr(mapped), addr("::1")},
		&Pair{ptr(int32(1)), nil},
		[]float32{0.1, negativeZero32},
	}),
	of("frozen<vt_deep>", "{s: {}, p: null, v: null}", Deep{S: []netip.Addr{}}),
	of("frozen<vt_deep>", "{s: null, p: {a: null, b: null}, v: [NaN, 1]}",
		Deep{P: &Pair{}, V: []float32{nan32, 1}}),
}
