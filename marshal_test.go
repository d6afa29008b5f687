// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"database/sql"
	"encoding/hex"
	"math"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/internal/wire"
)

// This file tests Marshal and Unmarshal against bytes that follow from native_protocol_v5.spec, section 5, pair by pair. Every row is run
// through the three ways that a value may take: once, by plan, and by the reference.

type (
	myString string
	myBytes  []byte
	myInt    int32
	myUint   uint64
	myBool   bool
	myFloat  float32
	myDouble float64
	myID     [16]byte
	myVector []myFloat
)

func pointerTo[T any](v T) *T { return &v }

func bigOf(tb testing.TB, s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	require.True(tb, ok)
	return n
}

// encodings returns the content that each of the three ways gives v.
func encodings(tb testing.TB, info TypeInfo, v any) [][]byte {
	tb.Helper()
	once, err := Marshal(info, v)
	require.NoError(tb, err)
	out := [][]byte{once}
	ways := []encodeFunc{reflectEncode}
	if v != nil {
		ways = append(ways, encoderOf(info, reflect.TypeOf(v)))
	}
	for _, encode := range ways {
		cell, err := encode([]byte("head"), info, v)
		require.NoError(tb, err)
		require.Equal(tb, "head", string(cell[:4]))
		r := wire.NewReader(cell[4:])
		b, null := r.Value()
		require.NoError(tb, r.Err())
		require.Zero(tb, r.Len())
		if null {
			b = nil
		}
		out = append(out, b)
	}
	return out
}

// decodings calls check with the outcome of each of the three ways to decode cell into a new T.
func decodings(info TypeInfo, cell []byte, t reflect.Type, check func(got any, err error)) {
	for _, decode := range []decodeFunc{Unmarshal, decoderOf(info, reflect.PointerTo(t)), reflectDecode} {
		dst := reflect.New(t)
		err := decode(info, cell, dst.Interface())
		check(dst.Elem().Interface(), err)
	}
}

// requireValue compares by value: a big.Int has two forms of 0.
func requireValue(tb testing.TB, want, got any, msg ...any) {
	tb.Helper()
	switch w := want.(type) {
	case *big.Int:
		require.IsType(tb, want, got, msg...)
		require.Zero(tb, w.Cmp(got.(*big.Int)), msg...)
	case big.Int:
		require.IsType(tb, want, got, msg...)
		g := got.(big.Int)
		require.Zero(tb, w.Cmp(&g), msg...)
	default:
		require.Equal(tb, want, got, msg...)
	}
}

// goldenRow is a CQL value: its content, the Go values that stand for it, and the Go values it becomes.
type goldenRow struct {
	name string
	info TypeInfo
	hex  string
	from []any
	to   []any // the first is what an *any gets
}

func goldenRows(t *testing.T) []goldenRow {
	uuidBytes := hexBytes(t, "c232ab00941411ecb3c89f6bdeced846")
	uuid, text := UUID(uuidBytes), "c232ab00-9414-11ec-b3c8-9f6bdeced846"
	v6 := net.ParseIP("2001:db8::1")
	at := time.Date(2024, 2, 29, 12, 34, 56, 789e6, time.UTC)
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	huge := bigOf(t, "-170141183460469231731687303715884105728")
	return []goldenRow{
		{"ascii", native(TypeAscii), "6869", []any{"hi", []byte("hi"), myString("hi"), myBytes("hi")}, []any{"hi", []byte("hi"), myString("hi"), myBytes("hi")}},
		{"text of two bytes a letter", native(TypeVarchar), "c3a9", []any{"é"}, []any{"é"}},
		{"text empty", native(TypeVarchar), "", []any{"", []byte{}}, []any{"", []byte{}}},
		{"text that is not UTF-8", native(TypeText), "ff00", []any{"\xff\x00"}, []any{"\xff\x00"}},
		{"blob", native(TypeBlob), "00ff", []any{[]byte{0, 255}, "\x00\xff", myBytes{0, 255}}, []any{[]byte{0, 255}, "\x00\xff", myBytes{0, 255}}},
		{"blob empty", native(TypeBlob), "", []any{[]byte{}}, []any{[]byte{}, ""}},
		{"custom", CustomType{"com.example.Money"}, "0102", []any{[]byte{1, 2}, "\x01\x02"}, []any{[]byte{1, 2}, "\x01\x02"}},
		{"true", native(TypeBoolean), "01", []any{true, myBool(true)}, []any{true, myBool(true)}},
		{"false", native(TypeBoolean), "00", []any{false}, []any{false}},
		{"tinyint min", native(TypeTinyInt), "80", []any{int8(-128), -128, int64(-128), "-128"}, []any{int8(-128), -128, int64(-128), "-128"}},
		{"tinyint max", native(TypeTinyInt), "7f", []any{int8(127), uint8(127), myUint(127)}, []any{int8(127), uint8(127), myUint(127), *big.NewInt(127)}},
		{"smallint", native(TypeSmallInt), "fffe", []any{int16(-2), -2, "-2"}, []any{int16(-2), int64(-2), "-2"}},
		{"int min", native(TypeInt), "80000000", []any{math.MinInt32, int32(math.MinInt32), myInt(math.MinInt32)}, []any{math.MinInt32, myInt(math.MinInt32)}},
		{"int", native(TypeInt), "00010000", []any{65536, uint32(65536), uint64(65536), "65536", "+65536"}, []any{65536, uint64(65536), "65536", big.NewInt(65536)}},
		{"bigint min", native(TypeBigInt), "8000000000000000", []any{math.MinInt64, big.NewInt(math.MinInt64), "-9223372036854775808"}, []any{int64(math.MinInt64), math.MinInt64, *big.NewInt(math.MinInt64)}},
		{"bigint max", native(TypeBigInt), "7fffffffffffffff", []any{math.MaxInt64, uint64(math.MaxInt64), *big.NewInt(math.MaxInt64)}, []any{int64(math.MaxInt64), uint64(math.MaxInt64), "9223372036854775807"}},
		{"counter", native(TypeCounter), "0000000000000007", []any{7, int8(7), "7"}, []any{int64(7), uint8(7)}},
		{"varint 0", native(TypeVarint), "00", []any{0, big.NewInt(0), "0", uint8(0)}, []any{big.NewInt(0), 0, uint(0), "0"}},
		{"varint 127", native(TypeVarint), "7f", []any{127, big.NewInt(127)}, []any{big.NewInt(127), int8(127)}},
		{"varint 128", native(TypeVarint), "0080", []any{128, uint8(128)}, []any{big.NewInt(128), uint8(128)}},
		{"varint 129", native(TypeVarint), "0081", []any{129}, []any{big.NewInt(129), 129}},
		{"varint -1", native(TypeVarint), "ff", []any{-1, "-1"}, []any{big.NewInt(-1), int8(-1)}},
		{"varint -128", native(TypeVarint), "80", []any{-128, int8(-128)}, []any{big.NewInt(-128), int8(-128)}},
		{"varint -129", native(TypeVarint), "ff7f", []any{-129}, []any{big.NewInt(-129), int16(-129)}},
		{"varint of 64 bits", native(TypeVarint), "00ffffffffffffffff", []any{uint64(math.MaxUint64)}, []any{bigOf(t, "18446744073709551615"), uint64(math.MaxUint64)}},
		{"varint of 128 bits", native(TypeVarint), "80000000000000000000000000000000", []any{huge, *huge, huge.String()}, []any{huge, *huge, huge.String()}},
		{"float", native(TypeFloat), "3fc00000", []any{float32(1.5), myFloat(1.5)}, []any{float32(1.5), myFloat(1.5)}},
		{"float -0", native(TypeFloat), "80000000", []any{float32(math.Copysign(0, -1))}, nil},
		{"double", native(TypeDouble), "3ff8000000000000", []any{1.5, myDouble(1.5)}, []any{1.5, myDouble(1.5)}},
		{"double infinite", native(TypeDouble), "fff0000000000000", []any{math.Inf(-1)}, []any{math.Inf(-1)}},
		{"decimal", native(TypeDecimal), "00000002ff7f", []any{inf.NewDec(-129, 2), *inf.NewDec(-129, 2)}, []any{inf.NewDec(-129, 2), *inf.NewDec(-129, 2)}},
		{"decimal of negative scale", native(TypeDecimal), "fffffffd05", []any{inf.NewDec(5, -3)}, []any{inf.NewDec(5, -3)}},
		{"uuid", native(TypeUUID), hex.EncodeToString(uuidBytes), []any{uuid, [16]byte(uuid), myID(uuid), uuidBytes, text}, []any{uuid, [16]byte(uuid), myID(uuid), uuidBytes, text}},
		{"timeuuid", native(TypeTimeUUID), hex.EncodeToString(uuidBytes), []any{uuid, text}, []any{uuid, rfcTime, text, uuidBytes}},
		{
			"inet of 4 bytes", native(TypeInet), "7f000001",
			[]any{net.IPv4(127, 0, 0, 1), net.IP{127, 0, 0, 1}, netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::ffff:127.0.0.1"), "127.0.0.1"},
			[]any{net.IP{127, 0, 0, 1}, netip.MustParseAddr("127.0.0.1"), "127.0.0.1"},
		},
		{"inet of 16 bytes", native(TypeInet), "20010db8000000000000000000000001", []any{v6, netip.MustParseAddr("2001:db8::1"), "2001:db8::1"}, []any{v6, netip.MustParseAddr("2001:db8::1"), "2001:db8::1"}},
		{"date", native(TypeDate), "80004d46", []any{day, at, at.In(time.FixedZone("", 3600)), at.UnixMilli(), "2024-02-29"}, []any{day, day.UnixMilli(), "2024-02-29"}},
		{"date first", native(TypeDate), "00000000", nil, []any{time.Date(-5877641, 6, 23, 0, 0, 0, 0, time.UTC)}},
		{"date last", native(TypeDate), "ffffffff", []any{time.Date(5881580, 7, 11, 23, 0, 0, 0, time.UTC)}, []any{time.Date(5881580, 7, 11, 0, 0, 0, 0, time.UTC)}},
		{"date before 1970 floors", native(TypeDate), "7fffffff", []any{time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC), int64(-1)}, []any{time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), int64(-86400000)}},
		{"time last", native(TypeTime), "00004e94914effff", []any{24*time.Hour - 1, int64(86399999999999)}, []any{24*time.Hour - 1, int64(86399999999999)}},
		{"timestamp", native(TypeTimestamp), "0000018df4dc5495", []any{at, at.Add(999999), at.In(time.FixedZone("", 3600)), at.UnixMilli()}, []any{at, at.UnixMilli()}},
		{"timestamp before 1970 floors", native(TypeTimestamp), "ffffffffffffffff", []any{time.Unix(0, -1), int64(-1)}, []any{time.UnixMilli(-1).UTC()}},
		{"timestamp of the zero time", native(TypeTimestamp), "ffffc77cedd32800", []any{time.Time{}, int64(-62135596800000)}, []any{time.Time{}}},
		{"timestamp last", native(TypeTimestamp), "7fffffffffffffff", []any{time.UnixMilli(math.MaxInt64), int64(math.MaxInt64)}, []any{time.UnixMilli(math.MaxInt64).UTC(), int64(math.MaxInt64)}},
		{"timestamp first", native(TypeTimestamp), "8000000000000000", []any{time.UnixMilli(math.MinInt64)}, []any{time.UnixMilli(math.MinInt64).UTC(), int64(math.MinInt64)}},
		{"duration", native(TypeDuration), "020406", []any{Duration{1, 2, 3}, "1mo2d3ns"}, []any{Duration{1, 2, 3}, "1mo2d3ns"}},
		{"duration negative", native(TypeDuration), "010305", []any{Duration{-1, -2, -3}, "-1mo2d3ns"}, []any{Duration{-1, -2, -3}, "-1mo2d3ns"}},
		{"duration of Go", native(TypeDuration), "0000fc09d29229e000", []any{90 * time.Minute, int64(90 * time.Minute), "1h30m", "1.5h", Duration{Nanoseconds: int64(90 * time.Minute)}}, []any{Duration{0, 0, 5400e9}, 90 * time.Minute, "1h30m"}},
		{"duration of weeks", native(TypeDuration), "1c2400", []any{"1y2mo2w4d"}, []any{Duration{14, 18, 0}, "1y2mo18d"}},
		{"duration largest", native(TypeDuration), "f0fffffffe" + "f0fffffffe" + "fffffffffffffffffe", []any{Duration{math.MaxInt32, math.MaxInt32, math.MaxInt64}}, []any{Duration{math.MaxInt32, math.MaxInt32, math.MaxInt64}}},

		{
			"list", NewListType(native(TypeInt)), "00000002" + "0000000400000001" + "00000004ffffffff",
			[]any{[]int{1, -1}, [2]int64{1, -1}, []any{1, "-1"}, []*int{pointerTo(1), pointerTo(-1)}, []myInt{1, -1}},
			[]any{[]int{1, -1}, [2]int64{1, -1}, []any{1, -1}, []*int{pointerTo(1), pointerTo(-1)}, []myInt{1, -1}},
		},
		{"list empty", NewListType(native(TypeInt)), "00000000", []any{[]int{}, [0]string{}}, []any{[]int{}, [0]string{}}},
		{"list of lists", NewListType(NewListType(native(TypeTinyInt))), "00000002" + "00000009" + "00000001" + "0000000105" + "00000004" + "00000000", []any{[][]int8{{5}, {}}}, []any{[][]int8{{5}, {}}, [2][]any{{int8(5)}, {}}}},
		{"set", NewSetType(native(TypeVarchar)), "00000001" + "0000000161", []any{[]string{"a"}, map[string]struct{}{"a": {}}, map[myString]struct{}{"a": {}}}, []any{[]string{"a"}, map[string]struct{}{"a": {}}, map[any]struct{}{"a": {}}}},
		{"map", NewMapType(native(TypeVarchar), native(TypeInt)), "00000001" + "0000000161" + "0000000400000007", []any{map[string]int{"a": 7}, map[myString]any{"a": "7"}, map[any]*int{"a": pointerTo(7)}}, []any{map[string]int{"a": 7}, map[myString]any{"a": 7}}},
		{"map empty", NewMapType(native(TypeVarchar), native(TypeInt)), "00000000", []any{map[string]int{}}, []any{map[string]int{}}},
		{"map of blob keys", NewMapType(native(TypeBlob), native(TypeBoolean)), "00000001" + "0000000161" + "0000000101", []any{map[string]bool{"a": true}}, []any{map[string]bool{"a": true}}},
		{
			"tuple",
			TupleTypeInfo{[]TypeInfo{native(TypeInt), native(TypeVarchar)}},
			"0000000400000007" + "ffffffff",
			[]any{[]any{7, nil}, [2]any{"7", nil}, []*string{pointerTo("7"), nil}, tuplePair{7, nil, 0}, &tuplePair{A: 7}},
			[]any{[]any{7, nil}, [2]any{7, nil}, []string{"7", ""}, tuplePair{7, nil, 0}},
		},
		{
			"vector of floats", vectorOf(native(TypeFloat), 3), "3f800000c0000000" + "3f000000",
			[]any{[]float32{1, -2, .5}, [3]float32{1, -2, .5}, []myFloat{1, -2, .5}, myVector{1, -2, .5}, []any{float32(1), float32(-2), float32(.5)}, []*float32{pointerTo(float32(1)), pointerTo(float32(-2)), pointerTo(float32(.5))}, []Null[float32]{NullOf(float32(1)), NullOf(float32(-2)), NullOf(float32(.5))}},
			[]any{[]float32{1, -2, .5}, [3]float32{1, -2, .5}, []myFloat{1, -2, .5}, myVector{1, -2, .5}, []any{float32(1), float32(-2), float32(.5)}},
		},
		{"vector of no elements", vectorOf(native(TypeFloat), 0), "", []any{[]float32{}, [0]float32{}}, []any{[]float32{}, [0]float32{}}},
		{"vector of booleans", vectorOf(native(TypeBoolean), 2), "0100", []any{[]bool{true, false}}, []any{[]bool{true, false}}},
		{"vector of timestamps", vectorOf(native(TypeTimestamp), 1), "0000000000000001", []any{[]int64{1}}, []any{[]time.Time{time.UnixMilli(1).UTC()}, []int64{1}}},
		{"vector of uuids", vectorOf(native(TypeUUID), 1), hex.EncodeToString(uuidBytes), []any{[]UUID{uuid}, []string{text}}, []any{[]UUID{uuid}, []string{text}}},
		{"vector of tinyints has lengths", vectorOf(native(TypeTinyInt), 3), "010101020103", []any{[]int8{1, 2, 3}, []uint8{1, 2, 3}}, []any{[]int8{1, 2, 3}, []uint8{1, 2, 3}}},
		{"vector of texts", vectorOf(native(TypeVarchar), 2), "01" + "61" + "00", []any{[]string{"a", ""}, [][]byte{[]byte("a"), {}}}, []any{[]string{"a", ""}, [2]string{"a", ""}, [][]byte{[]byte("a"), {}}}},
		{"vector of long texts", vectorOf(native(TypeVarchar), 1), "80c8" + hex.EncodeToString(make([]byte, 200)), []any{[]string{string(make([]byte, 200))}}, []any{[]string{string(make([]byte, 200))}}},
		{"vector of vectors", vectorOf(vectorOf(native(TypeFloat), 1), 2), "3f80000040000000", []any{[][]float32{{1}, {2}}, [2][1]float32{{1}, {2}}}, []any{[][]float32{{1}, {2}}, [2][1]float32{{1}, {2}}}},
		{"vector of lists", vectorOf(NewListType(native(TypeVarchar)), 1), "09" + "00000001" + "0000000161", []any{[][]string{{"a"}}}, []any{[][]string{{"a"}}}},
		{"list of vectors", NewListType(vectorOf(native(TypeInt), 2)), "00000001" + "00000008" + "0000000100000002", []any{[][]int{{1, 2}}, [][2]int{{1, 2}}}, []any{[][]int{{1, 2}}, [][2]int{{1, 2}}}},
	}
}

// tuplePair stands for a tuple<int, text>: its exported fields, in their order.
type tuplePair struct {
	A int
	B *string
	c int
}

func TestMarshalGolden(t *testing.T) {
	for _, row := range goldenRows(t) {
		t.Run(row.name, func(t *testing.T) {
			for _, v := range row.from {
				for way, got := range encodings(t, row.info, v) {
					require.NotNil(t, got, "%T, way %d", v, way)
					require.Equal(t, row.hex, hex.EncodeToString(got), "%T, way %d", v, way)
				}
				// What holds the value changes nothing.
				require.Equal(t, row.hex, hex.EncodeToString(encodings(t, row.info, &v)[0]))
				require.Equal(t, row.hex, hex.EncodeToString(encodings(t, row.info, NullOf(v))[0]))
				require.Equal(t, row.hex, hex.EncodeToString(encodings(t, row.info, sql.Null[any]{V: v, Valid: true})[0]))
				out, err := AppendMarshal([]byte{0xAB}, row.info, v)
				require.NoError(t, err)
				require.Equal(t, "ab"+row.hex, hex.EncodeToString(out))
			}
		})
	}
}

func TestUnmarshalGolden(t *testing.T) {
	for _, row := range goldenRows(t) {
		t.Run(row.name, func(t *testing.T) {
			cell := hexBytes(t, row.hex)
			for i, want := range row.to {
				decodings(row.info, cell, reflect.TypeOf(want), func(got any, err error) {
					require.NoError(t, err, "%T", want)
					requireValue(t, want, got)
				})
				if i == 0 {
					decodings(row.info, cell, reflect.TypeFor[any](), func(got any, err error) {
						require.NoError(t, err)
						requireValue(t, want, got, "what an *any gets")
					})
					dest := zeroDest(row.info)
					require.NoError(t, Unmarshal(row.info, cell, dest))
					requireValue(t, want, reflect.ValueOf(dest).Elem().Interface())
				}
				var n Null[any]
				require.NoError(t, Unmarshal(row.info, cell, &n))
				require.True(t, n.Valid)
			}
		})
	}
}

// TestUnmarshalWrongLength: every proper prefix of a value fails, or is shorter by itself; a byte more fails.
func TestUnmarshalWrongLength(t *testing.T) {
	for _, row := range goldenRows(t) {
		if len(row.to) == 0 {
			continue
		}
		switch row.info.Type() {
		case TypeAscii, TypeText, TypeVarchar, TypeBlob, TypeVarint, TypeDecimal:
			continue // any length is one of theirs
		case TypeCustom:
			if _, ok := row.info.(CustomType); ok {
				continue
			}
		}
		t.Run(row.name, func(t *testing.T) {
			cell := hexBytes(t, row.hex)
			for _, dest := range []reflect.Type{reflect.TypeOf(row.to[0]), reflect.TypeFor[any]()} {
				for n := range cell {
					if row.info.Type() == TypeTuple && (n == 0 || n == 8) {
						continue // a tuple may end early
					}
					if row.info.Type() == TypeInet && n == 4 {
						continue
					}
					decodings(row.info, cell[:n], dest, func(_ any, err error) {
						require.ErrorIs(t, err, ErrMissing, "%d of %d bytes", n, len(cell))
					})
				}
				decodings(row.info, append(cell[:len(cell):len(cell)], 0), dest, func(_ any, err error) {
					if row.info.Type() == TypeInet && len(cell) == 4 {
						require.ErrorIs(t, err, ErrMissing) // of 16
						return
					}
					require.ErrorIs(t, err, ErrTrailing)
				})
			}
		})
	}
}

// TestUnmarshalOwnsItsMemory: what was decoded does not change with the cell.
func TestUnmarshalOwnsItsMemory(t *testing.T) {
	for _, row := range goldenRows(t) {
		for _, want := range row.to {
			cell := hexBytes(t, row.hex)
			dst := reflect.New(reflect.TypeOf(want))
			require.NoError(t, Unmarshal(row.info, cell, dst.Interface()))
			for i := range cell {
				cell[i] ^= 0xA5
			}
			requireValue(t, want, dst.Elem().Interface(), row.name)
		}
	}
}

// TestMarshalFloatBits: every bit of a NaN and the sign of a zero come through, whatever the Go type is called.
func TestMarshalFloatBits(t *testing.T) {
	for _, bits := range []uint32{0x7FC00000, 0x7F800001, 0xFFBFFFFF, 0xFFFFFFFF, 0x80000000, 1} {
		f := math.Float32frombits(bits)
		want := wire.AppendInt(nil, int32(bits))
		info := native(TypeFloat)
		for _, v := range []any{f, myFloat(f), &f, NullOf(f)} {
			for _, got := range encodings(t, info, v) {
				require.Equal(t, want, got, "%T of %08x", v, bits)
			}
		}
		for _, v := range []any{[]float32{f}, [1]myFloat{myFloat(f)}, &[]float32{f}, []any{f}, []*float32{&f}} {
			for _, got := range encodings(t, vectorOf(info, 1), v) {
				require.Equal(t, want, got, "%T of %08x", v, bits)
			}
		}
		for _, decode := range []decodeFunc{Unmarshal, reflectDecode} {
			var a float32
			var b myFloat
			var c []float32
			var d [1]myFloat
			require.NoError(t, decode(info, want, &a))
			require.NoError(t, decode(info, want, &b))
			require.NoError(t, decode(vectorOf(info, 1), want, &c))
			require.NoError(t, decode(vectorOf(info, 1), want, &d))
			for _, got := range []float32{a, float32(b), c[0], float32(d[0])} {
				require.Equal(t, bits, math.Float32bits(got))
			}
		}
	}
	for _, bits := range []uint64{0x7FF8000000000000, 0x7FF0000000000001, math.MaxUint64, 1 << 63} {
		want := wire.AppendLong(nil, int64(bits))
		f := math.Float64frombits(bits)
		for _, v := range []any{f, myDouble(f)} {
			for _, got := range encodings(t, native(TypeDouble), v) {
				require.Equal(t, want, got)
			}
		}
		var got []myDouble
		require.NoError(t, Unmarshal(vectorOf(native(TypeDouble), 1), want, &got))
		require.Equal(t, bits, math.Float64bits(float64(got[0])))
	}
}
