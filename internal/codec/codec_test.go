// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"database/sql"
	"encoding/hex"
	"math"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of Marshal and Unmarshal with bytes derived from native_protocol_v5.spec, section 5, for each pair of types.
// Every row uses all three implementations: switch, plan and reference.

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

func native(t cql.Type) cql.NativeType { return cql.NativeType(t) }

func vectorOf(sub cql.TypeInfo, n int) cql.VectorType {
	return cql.VectorType{SubType: sub, Dimensions: n}
}

func hexBytes(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(tb, err)
	return b
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// rfcTime is the time of the example UUIDs of RFC 9562, appendix A.
var rfcTime = time.Date(2022, 2, 22, 19, 22, 22, 0, time.UTC)

func pointerTo[T any](v T) *T { return &v }

func bigOf(tb testing.TB, s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	require.True(tb, ok)
	return n
}

// encodings returns the content of v's cell from each of the three implementations.
func encodings(tb testing.TB, info cql.TypeInfo, v any) [][]byte {
	tb.Helper()
	once, err := Marshal(info, v)
	require.NoError(tb, err)
	out := [][]byte{once}
	ways := []Encoder{ReferenceEncode}
	if v != nil {
		ways = append(ways, EncoderOf(info, reflect.TypeOf(v)))
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

// decodings calls check with the result of each of the three implementations for decoding cell into a new T.
func decodings(info cql.TypeInfo, cell []byte, t reflect.Type, check func(got any, err error)) {
	for _, decode := range []Decoder{Unmarshal, DecoderOf(info, reflect.PointerTo(t)), ReferenceDecode} {
		dst := reflect.New(t)
		err := decode(info, cell, dst.Interface())
		check(dst.Elem().Interface(), err)
	}
}

// requireValue compares by value, because big.Int has two forms of 0.
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

// goldenRow is a CQL value: its content, the Go values that encode to it, and the Go values it decodes to.
type goldenRow struct {
	name string
	info cql.TypeInfo
	hex  string
	from []any
	to   []any // the first is the value decoded into an *any
}

func goldenRows(t *testing.T) []goldenRow {
	uuidBytes := hexBytes(t, "c232ab00941411ecb3c89f6bdeced846")
	uuid, text := cql.UUID(uuidBytes), "c232ab00-9414-11ec-b3c8-9f6bdeced846"
	v6 := net.ParseIP("2001:db8::1")
	at := time.Date(2024, 2, 29, 12, 34, 56, 789e6, time.UTC)
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	huge := bigOf(t, "-170141183460469231731687303715884105728")
	return []goldenRow{
		{"ascii", native(cql.TypeAscii), "6869", []any{"hi", []byte("hi"), myString("hi"), myBytes("hi")}, []any{"hi", []byte("hi"), myString("hi"), myBytes("hi")}},
		{"text of two bytes per letter", native(cql.TypeVarchar), "c3a9", []any{"é"}, []any{"é"}},
		{"text empty", native(cql.TypeVarchar), "", []any{"", []byte{}}, []any{"", []byte{}}},
		{"text that is not UTF-8", native(cql.TypeText), "ff00", []any{"\xff\x00"}, []any{"\xff\x00"}},
		{"blob", native(cql.TypeBlob), "00ff", []any{[]byte{0, 255}, "\x00\xff", myBytes{0, 255}}, []any{[]byte{0, 255}, "\x00\xff", myBytes{0, 255}}},
		{"blob empty", native(cql.TypeBlob), "", []any{[]byte{}}, []any{[]byte{}, ""}},
		{"custom", cql.CustomType{Class: "com.example.Money"}, "0102", []any{[]byte{1, 2}, "\x01\x02"}, []any{[]byte{1, 2}, "\x01\x02"}},
		{"true", native(cql.TypeBoolean), "01", []any{true, myBool(true)}, []any{true, myBool(true)}},
		{"false", native(cql.TypeBoolean), "00", []any{false}, []any{false}},
		{"tinyint min", native(cql.TypeTinyInt), "80", []any{int8(-128), -128, int64(-128), "-128"}, []any{int8(-128), -128, int64(-128), "-128"}},
		{"tinyint max", native(cql.TypeTinyInt), "7f", []any{int8(127), uint8(127), myUint(127)}, []any{int8(127), uint8(127), myUint(127), *big.NewInt(127)}},
		{"smallint", native(cql.TypeSmallInt), "fffe", []any{int16(-2), -2, "-2"}, []any{int16(-2), int64(-2), "-2"}},
		{"int min", native(cql.TypeInt), "80000000", []any{math.MinInt32, int32(math.MinInt32), myInt(math.MinInt32)}, []any{math.MinInt32, myInt(math.MinInt32)}},
		{"int", native(cql.TypeInt), "00010000", []any{65536, uint32(65536), uint64(65536), "65536", "+65536"}, []any{65536, uint64(65536), "65536", big.NewInt(65536)}},
		{"bigint min", native(cql.TypeBigInt), "8000000000000000", []any{int64(math.MinInt64), big.NewInt(math.MinInt64), "-9223372036854775808"}, []any{int64(math.MinInt64), *big.NewInt(math.MinInt64)}},
		{"bigint max", native(cql.TypeBigInt), "7fffffffffffffff", []any{int64(math.MaxInt64), uint64(math.MaxInt64), *big.NewInt(math.MaxInt64)}, []any{int64(math.MaxInt64), uint64(math.MaxInt64), "9223372036854775807"}},
		{"counter", native(cql.TypeCounter), "0000000000000007", []any{7, int8(7), "7"}, []any{int64(7), uint8(7)}},
		{"varint 0", native(cql.TypeVarint), "00", []any{0, big.NewInt(0), "0", uint8(0)}, []any{big.NewInt(0), 0, uint(0), "0"}},
		{"varint 127", native(cql.TypeVarint), "7f", []any{127, big.NewInt(127)}, []any{big.NewInt(127), int8(127)}},
		{"varint 128", native(cql.TypeVarint), "0080", []any{128, uint8(128)}, []any{big.NewInt(128), uint8(128)}},
		{"varint 129", native(cql.TypeVarint), "0081", []any{129}, []any{big.NewInt(129), 129}},
		{"varint -1", native(cql.TypeVarint), "ff", []any{-1, "-1"}, []any{big.NewInt(-1), int8(-1)}},
		{"varint -128", native(cql.TypeVarint), "80", []any{-128, int8(-128)}, []any{big.NewInt(-128), int8(-128)}},
		{"varint -129", native(cql.TypeVarint), "ff7f", []any{-129}, []any{big.NewInt(-129), int16(-129)}},
		{"varint of 64 bits", native(cql.TypeVarint), "00ffffffffffffffff", []any{uint64(math.MaxUint64)}, []any{bigOf(t, "18446744073709551615"), uint64(math.MaxUint64)}},
		{"varint of 128 bits", native(cql.TypeVarint), "80000000000000000000000000000000", []any{huge, *huge, huge.String()}, []any{huge, *huge, huge.String()}},
		{"float", native(cql.TypeFloat), "3fc00000", []any{float32(1.5), myFloat(1.5)}, []any{float32(1.5), myFloat(1.5)}},
		{"float -0", native(cql.TypeFloat), "80000000", []any{float32(math.Copysign(0, -1))}, nil},
		{"double", native(cql.TypeDouble), "3ff8000000000000", []any{1.5, myDouble(1.5)}, []any{1.5, myDouble(1.5)}},
		{"double infinite", native(cql.TypeDouble), "fff0000000000000", []any{math.Inf(-1)}, []any{math.Inf(-1)}},
		{"decimal", native(cql.TypeDecimal), "00000002ff7f", []any{inf.NewDec(-129, 2), *inf.NewDec(-129, 2)}, []any{inf.NewDec(-129, 2), *inf.NewDec(-129, 2)}},
		{"decimal of negative scale", native(cql.TypeDecimal), "fffffffd05", []any{inf.NewDec(5, -3)}, []any{inf.NewDec(5, -3)}},
		{"uuid", native(cql.TypeUUID), hex.EncodeToString(uuidBytes), []any{uuid, [16]byte(uuid), myID(uuid), uuidBytes, text}, []any{uuid, [16]byte(uuid), myID(uuid), uuidBytes, text}},
		{"timeuuid", native(cql.TypeTimeUUID), hex.EncodeToString(uuidBytes), []any{uuid, text}, []any{uuid, rfcTime, text, uuidBytes}},
		{
			"inet of 4 bytes", native(cql.TypeInet), "7f000001",
			[]any{net.IPv4(127, 0, 0, 1), net.IP{127, 0, 0, 1}, netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::ffff:127.0.0.1"), "127.0.0.1"},
			[]any{net.IP{127, 0, 0, 1}, netip.MustParseAddr("127.0.0.1"), "127.0.0.1"},
		},
		{"inet of 16 bytes", native(cql.TypeInet), "20010db8000000000000000000000001", []any{v6, netip.MustParseAddr("2001:db8::1"), "2001:db8::1"}, []any{v6, netip.MustParseAddr("2001:db8::1"), "2001:db8::1"}},
		{"date", native(cql.TypeDate), "80004d46", []any{day, at, at.In(time.FixedZone("", 3600)), day.UnixMilli(), "2024-02-29"}, []any{day, day.UnixMilli(), "2024-02-29"}},
		{"date first", native(cql.TypeDate), "00000000", []any{"-5877641-06-23"}, []any{time.Date(-5877641, 6, 23, 0, 0, 0, 0, time.UTC), "-5877641-06-23"}},
		{"date before year 0", native(cql.TypeDate), "7ff4c6db", []any{"-0044-03-15"}, []any{time.Date(-44, 3, 15, 0, 0, 0, 0, time.UTC), "-0044-03-15"}},
		{"date from year 10000", native(cql.TypeDate), "802cc0a1", []any{"+10000-01-01"}, []any{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "+10000-01-01"}},
		{"date last", native(cql.TypeDate), "ffffffff", []any{time.Date(5881580, 7, 11, 23, 0, 0, 0, time.UTC), "+5881580-07-11"}, []any{time.Date(5881580, 7, 11, 0, 0, 0, 0, time.UTC), "+5881580-07-11"}},
		{"date before 1970 floors", native(cql.TypeDate), "7fffffff", []any{time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC), int64(-86400000)}, []any{time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), int64(-86400000)}},
		{"time last", native(cql.TypeTime), "00004e94914effff", []any{24*time.Hour - 1, int64(86399999999999)}, []any{24*time.Hour - 1, int64(86399999999999)}},
		{"timestamp", native(cql.TypeTimestamp), "0000018df4dc5495", []any{at, at.Add(999999), at.In(time.FixedZone("", 3600)), at.UnixMilli()}, []any{at, at.UnixMilli()}},
		{"timestamp before 1970 floors", native(cql.TypeTimestamp), "ffffffffffffffff", []any{time.Unix(0, -1), int64(-1)}, []any{time.UnixMilli(-1).UTC()}},
		{"timestamp of the zero time", native(cql.TypeTimestamp), "ffffc77cedd32800", []any{time.Time{}, int64(-62135596800000)}, []any{time.Time{}}},
		{"timestamp last", native(cql.TypeTimestamp), "7fffffffffffffff", []any{time.UnixMilli(math.MaxInt64), int64(math.MaxInt64)}, []any{time.UnixMilli(math.MaxInt64).UTC(), int64(math.MaxInt64)}},
		{"timestamp first", native(cql.TypeTimestamp), "8000000000000000", []any{time.UnixMilli(math.MinInt64)}, []any{time.UnixMilli(math.MinInt64).UTC(), int64(math.MinInt64)}},
		{"duration", native(cql.TypeDuration), "020406", []any{cql.Duration{Months: 1, Days: 2, Nanoseconds: 3}, "1mo2d3ns"}, []any{cql.Duration{Months: 1, Days: 2, Nanoseconds: 3}, "1mo2d3ns"}},
		{"duration negative", native(cql.TypeDuration), "010305", []any{cql.Duration{Months: -1, Days: -2, Nanoseconds: -3}, "-1mo2d3ns"}, []any{cql.Duration{Months: -1, Days: -2, Nanoseconds: -3}, "-1mo2d3ns"}},
		{"duration of Go", native(cql.TypeDuration), "0000fc09d29229e000", []any{90 * time.Minute, int64(90 * time.Minute), "1h30m", "1.5h", cql.Duration{Nanoseconds: int64(90 * time.Minute)}}, []any{cql.Duration{Months: 0, Days: 0, Nanoseconds: 5400e9}, 90 * time.Minute, "1h30m"}},
		{"duration of weeks", native(cql.TypeDuration), "1c2400", []any{"1y2mo2w4d"}, []any{cql.Duration{Months: 14, Days: 18, Nanoseconds: 0}, "1y2mo18d"}},
		{"duration largest", native(cql.TypeDuration), "f0fffffffe" + "f0fffffffe" + "fffffffffffffffffe", []any{cql.Duration{Months: math.MaxInt32, Days: math.MaxInt32, Nanoseconds: math.MaxInt64}}, []any{cql.Duration{Months: math.MaxInt32, Days: math.MaxInt32, Nanoseconds: math.MaxInt64}}},

		{
			"list", cql.NewListType(native(cql.TypeInt)), "00000002" + "0000000400000001" + "00000004ffffffff",
			[]any{[]int{1, -1}, [2]int64{1, -1}, []any{1, "-1"}, []*int{pointerTo(1), pointerTo(-1)}, []myInt{1, -1}},
			[]any{[]int{1, -1}, [2]int64{1, -1}, []any{1, -1}, []*int{pointerTo(1), pointerTo(-1)}, []myInt{1, -1}},
		},
		{"list empty", cql.NewListType(native(cql.TypeInt)), "00000000", []any{[]int{}, [0]string{}}, []any{[]int{}, [0]string{}}},
		{"list of lists", cql.NewListType(cql.NewListType(native(cql.TypeTinyInt))), "00000002" + "00000009" + "00000001" + "0000000105" + "00000004" + "00000000", []any{[][]int8{{5}, {}}}, []any{[][]int8{{5}, {}}, [2][]any{{int8(5)}, {}}}},
		{"set", cql.NewSetType(native(cql.TypeVarchar)), "00000001" + "0000000161", []any{[]string{"a"}, map[string]struct{}{"a": {}}, map[myString]struct{}{"a": {}}}, []any{[]string{"a"}, map[string]struct{}{"a": {}}, map[any]struct{}{"a": {}}}},
		{"map", cql.NewMapType(native(cql.TypeVarchar), native(cql.TypeInt)), "00000001" + "0000000161" + "0000000400000007", []any{map[string]int{"a": 7}, map[myString]any{"a": "7"}, map[any]*int{"a": pointerTo(7)}}, []any{map[string]int{"a": 7}, map[myString]any{"a": 7}}},
		{"map empty", cql.NewMapType(native(cql.TypeVarchar), native(cql.TypeInt)), "00000000", []any{map[string]int{}}, []any{map[string]int{}}},
		{"map of blob keys", cql.NewMapType(native(cql.TypeBlob), native(cql.TypeBoolean)), "00000001" + "0000000161" + "0000000101", []any{map[string]bool{"a": true}}, []any{map[string]bool{"a": true}}},
		{
			"tuple",
			cql.TupleTypeInfo{Elems: []cql.TypeInfo{native(cql.TypeInt), native(cql.TypeVarchar)}},
			"0000000400000007" + "ffffffff",
			[]any{[]any{7, nil}, [2]any{"7", nil}, []*string{pointerTo("7"), nil}, tuplePair{7, nil, 0}, &tuplePair{A: 7}},
			[]any{[]any{7, nil}, [2]any{7, nil}, []string{"7", ""}, tuplePair{7, nil, 0}},
		},
		{
			"vector of floats", vectorOf(native(cql.TypeFloat), 3), "3f800000c0000000" + "3f000000",
			[]any{[]float32{1, -2, .5}, [3]float32{1, -2, .5}, []myFloat{1, -2, .5}, myVector{1, -2, .5}, []any{float32(1), float32(-2), float32(.5)}, []*float32{pointerTo(float32(1)), pointerTo(float32(-2)), pointerTo(float32(.5))}, []cql.Null[float32]{cql.NullOf(float32(1)), cql.NullOf(float32(-2)), cql.NullOf(float32(.5))}},
			[]any{[]float32{1, -2, .5}, [3]float32{1, -2, .5}, []myFloat{1, -2, .5}, myVector{1, -2, .5}, []any{float32(1), float32(-2), float32(.5)}},
		},
		{"vector of zero elements", vectorOf(native(cql.TypeFloat), 0), "", []any{[]float32{}, [0]float32{}}, []any{[]float32{}, [0]float32{}}},
		{"vector of booleans", vectorOf(native(cql.TypeBoolean), 2), "0100", []any{[]bool{true, false}}, []any{[]bool{true, false}}},
		{"vector of timestamps", vectorOf(native(cql.TypeTimestamp), 1), "0000000000000001", []any{[]int64{1}}, []any{[]time.Time{time.UnixMilli(1).UTC()}, []int64{1}}},
		{"vector of uuids", vectorOf(native(cql.TypeUUID), 1), hex.EncodeToString(uuidBytes), []any{[]cql.UUID{uuid}, []string{text}}, []any{[]cql.UUID{uuid}, []string{text}}},
		{"vector of tinyints has lengths", vectorOf(native(cql.TypeTinyInt), 3), "010101020103", []any{[]int8{1, 2, 3}, []uint8{1, 2, 3}}, []any{[]int8{1, 2, 3}, []uint8{1, 2, 3}}},
		{"vector of texts", vectorOf(native(cql.TypeVarchar), 2), "01" + "61" + "00", []any{[]string{"a", ""}, [][]byte{[]byte("a"), {}}}, []any{[]string{"a", ""}, [2]string{"a", ""}, [][]byte{[]byte("a"), {}}}},
		{"vector of long texts", vectorOf(native(cql.TypeVarchar), 1), "80c8" + hex.EncodeToString(make([]byte, 200)), []any{[]string{string(make([]byte, 200))}}, []any{[]string{string(make([]byte, 200))}}},
		{"vector of vectors", vectorOf(vectorOf(native(cql.TypeFloat), 1), 2), "3f80000040000000", []any{[][]float32{{1}, {2}}, [2][1]float32{{1}, {2}}}, []any{[][]float32{{1}, {2}}, [2][1]float32{{1}, {2}}}},
		{"vector of lists", vectorOf(cql.NewListType(native(cql.TypeVarchar)), 1), "09" + "00000001" + "0000000161", []any{[][]string{{"a"}}}, []any{[][]string{{"a"}}}},
		{"list of vectors", cql.NewListType(vectorOf(native(cql.TypeInt), 2)), "00000001" + "00000008" + "0000000100000002", []any{[][]int{{1, 2}}, [][2]int{{1, 2}}}, []any{[][]int{{1, 2}}, [][2]int{{1, 2}}}},
	}
}

// tuplePair is a Go type for tuple<int, text>: its exported fields in order.
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
				// The container of the value does not change the bytes.
				require.Equal(t, row.hex, hex.EncodeToString(encodings(t, row.info, &v)[0]))
				require.Equal(t, row.hex, hex.EncodeToString(encodings(t, row.info, cql.NullOf(v))[0]))
				require.Equal(t, row.hex, hex.EncodeToString(encodings(t, row.info, sql.Null[any]{V: v, Valid: true})[0]))
				out, null, err := AppendMarshal([]byte{0xAB}, row.info, v)
				require.NoError(t, err)
				require.False(t, null)
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
						requireValue(t, want, got, "the value of an *any")
					})
					dest := NewDefault(row.info)
					require.NoError(t, Unmarshal(row.info, cell, dest))
					requireValue(t, want, reflect.ValueOf(dest).Elem().Interface())
				}
				var n cql.Null[any]
				require.NoError(t, Unmarshal(row.info, cell, &n))
				require.True(t, n.Valid)
			}
		})
	}
}

// TestUnmarshalWrongLength requires that every proper prefix of a value fails unless it is valid by itself, and that an
// extra byte fails.
func TestUnmarshalWrongLength(t *testing.T) {
	for _, row := range goldenRows(t) {
		if len(row.to) == 0 {
			continue
		}
		switch row.info.Type() {
		case cql.TypeAscii, cql.TypeText, cql.TypeVarchar, cql.TypeBlob, cql.TypeVarint, cql.TypeDecimal:
			continue // these types accept any length
		case cql.TypeCustom:
			if _, ok := row.info.(cql.CustomType); ok {
				continue
			}
		}
		t.Run(row.name, func(t *testing.T) {
			cell := hexBytes(t, row.hex)
			for _, dest := range []reflect.Type{reflect.TypeOf(row.to[0]), reflect.TypeFor[any]()} {
				for n := range cell {
					if row.info.Type() == cql.TypeTuple && (n == 0 || n == 8) {
						continue // a tuple may lack fields at the end
					}
					if n == 0 && EmptyIsNull(row.info) || row.info.Type() == cql.TypeInet && n == 4 {
						continue
					}
					decodings(row.info, cell[:n], dest, func(_ any, err error) {
						require.ErrorIs(t, err, cql.ErrMissing, "%d of %d bytes", n, len(cell))
					})
				}
				decodings(row.info, append(cell[:len(cell):len(cell)], 0), dest, func(_ any, err error) {
					if row.info.Type() == cql.TypeInet && len(cell) == 4 {
						require.ErrorIs(t, err, cql.ErrMissing) // of 16
						return
					}
					require.ErrorIs(t, err, cql.ErrTrailing)
				})
			}
		})
	}
}

// TestUnmarshalOwnsItsMemory requires that decoded values do not change with the cell.
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

// TestMarshalFloatBits requires that all bits of a NaN and the sign of a zero are preserved, also for named Go types.
func TestMarshalFloatBits(t *testing.T) {
	for _, bits := range []uint32{0x7FC00000, 0x7F800001, 0xFFBFFFFF, 0xFFFFFFFF, 0x80000000, 1} {
		f := math.Float32frombits(bits)
		want := wire.AppendInt(nil, int32(bits))
		info := native(cql.TypeFloat)
		for _, v := range []any{f, myFloat(f), &f, cql.NullOf(f)} {
			for _, got := range encodings(t, info, v) {
				require.Equal(t, want, got, "%T of %08x", v, bits)
			}
		}
		for _, v := range []any{[]float32{f}, [1]myFloat{myFloat(f)}, &[]float32{f}, []any{f}, []*float32{&f}} {
			for _, got := range encodings(t, vectorOf(info, 1), v) {
				require.Equal(t, want, got, "%T of %08x", v, bits)
			}
		}
		for _, decode := range []Decoder{Unmarshal, ReferenceDecode} {
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
			for _, got := range encodings(t, native(cql.TypeDouble), v) {
				require.Equal(t, want, got)
			}
		}
		var got []myDouble
		require.NoError(t, Unmarshal(vectorOf(native(cql.TypeDouble), 1), want, &got))
		require.Equal(t, bits, math.Float64bits(float64(got[0])))
	}
}
