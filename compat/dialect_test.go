// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// The meanings of gocql that differ from the driver's. Package differ compares all conversions with gocql itself.

func typeOf(t testing.TB, text string) cql.TypeInfo {
	info, err := cql.ParseType(text, nil)
	require.NoError(t, err, text)
	return info
}

var person = cql.UDTTypeInfo{Name: "person", Elements: []cql.UDTField{
	{Name: "name", Type: cql.NativeType(cql.TypeVarchar)}, {Name: "age", Type: cql.NativeType(cql.TypeInt)},
}}

func TestMarshalMeanings(t *testing.T) {
	type myInt uint64
	type named struct {
		Full string `cql:"name"`
		More int
	}
	for _, row := range []struct {
		cql   string
		value any
		want  string // "NULL", "error", or bytes
	}{
		{"timestamp", time.Time{}, ""},
		{"timestamp", time.Second, "00000000" + "3b9aca00"},
		{"date", time.Time{}, ""},
		{"date", "", ""},
		{"date", time.UnixMilli(-1), "80000000"},
		{"date", int64(math.MaxInt64), "error"},
		{"date", int64(millisecondsOfDay - 1), "80000000"},
		{"date", int64(millisecondsOfDay), "80000001"},
		{"date", int64(millisecondsOfDay + 1), "80000001"},
		{"date", int64(1 << 54), "8c6d750e"},
		{"time", int64(-1), "ffffffffffffffff"},
		{"bigint", uint64(math.MaxUint64), "ffffffffffffffff"},
		{"bigint", myInt(math.MaxUint64), "ffffffffffffffff"},
		{"int", uint32(math.MaxUint32), "ffffffff"},
		{"int", uint64(math.MaxUint32) + 1, "error"},
		{"tinyint", uint8(200), "c8"},
		{"inet", net.IP{}, "NULL"},
		{"list<int>", []*int{nil}, "00000001" + "ffffffff"},
		{"list<list<int>>", [][]int{nil}, "00000001" + "ffffffff"},
		{"list<timestamp>", []any{time.Time{}}, "00000001" + "00000000"},
		{"set<int>", map[int]struct{}(nil), "00000000"},
		{"map<text, blob>", map[string][]byte{"k": nil}, "00000001" + "000000016b" + "ffffffff"},
		{"map<text, blob>", map[string][]byte(nil), "NULL"},
		{"map<text, int>", map[string]any{"k": "x"}, "error"},
		{"map<int, text>", map[any]string{"x": "v"}, "error"},
		{"list<int>", []any{"x"}, "error"},
		{"set<int>", map[any]struct{}{"x": {}}, "error"},
		{"set<int>", map[int]struct{ N int }{1: {}}, "error"},
		{"vector<timestamp, 1>", []time.Duration{1e6}, "00000000000f4240"},
		{"vector<int, 1>", []*int{nil}, "error"},
		{"int", cql.UnsetValue, "NULL"},
		{"int", (*int)(nil), "NULL"},
		{"bigint", (*int64)(nil), "NULL"},
		{"int", nil, "NULL"},
		{"text", 1, "error"},
		{"ascii", []named(nil), "error"},
	} {
		check(t, typeOf(t, row.cql), row.value, row.want)
	}
	tuple := cql.TupleTypeInfo{Elems: []cql.TypeInfo{cql.NativeType(cql.TypeVarchar), cql.NativeType(cql.TypeInt)}}
	check(t, tuple, []any{"a", nil}, "0000000161"+"ffffffff")
	check(t, tuple, struct {
		A string
		B int
	}{"a", 1}, "0000000161"+"0000000400000001")
	check(t, tuple, struct{ a, b int }{}, "error")
	check(t, tuple, []any{"a"}, "error")
	check(t, typeOf(t, "tuple<timestamp>"), []time.Time{{}}, "00000000")
	check(t, typeOf(t, "tuple<timestamp>"), [1]time.Time{}, "00000000")
	check(t, typeOf(t, "tuple<timestamp>"), struct{ At time.Time }{}, "00000000")
	check(t, cql.TupleTypeInfo{}, []any{}, "")
	check(t, tuple, cql.UnsetValue, "error")
	check(t, person, map[string]any{"name": "a", "more": 1}, "0000000161"+"ffffffff")
	check(t, person, map[string]any(nil), "ffffffff"+"ffffffff")
	check(t, person, map[string]any{"name": "a", "age": "x"}, "error")
	check(t, person, &named{"a", 1}, "0000000161"+"ffffffff")
	check(t, person, struct{ Name string }{"the case differs"}, "ffffffff"+"ffffffff")
	check(t, person, *inf.NewDec(1, 1), "ffffffff"+"ffffffff")
	check(t, person, cql.UnsetValue, "error")
	b, err := V2.Marshal(cql.NativeType(cql.TypeTimeUUID), time.UnixMilli(1e12))
	require.NoError(t, err)
	require.Equal(t, int64(1e12), cql.UUID(b).Time().UnixMilli())
	var cyclic any
	cyclic = &cyclic
	check(t, person, cyclic, "error")
	check(t, cql.CollectionType{Elem: cql.CustomType{Class: "x"}}, []any{1}, "error")
}

// check requires the encoding of value in V1, marshaled and bound to a statement.
func check(t *testing.T, info cql.TypeInfo, value any, want string) {
	t.Helper()
	checkIn(t, V1, info, value, want)
}

func checkIn(t *testing.T, d *Dialect, info cql.TypeInfo, value any, want string) {
	t.Helper()
	values := []any{1, value, cql.NamedValue("n", value)}
	bound, foreign := codec.ValuesOf(d.Bind(values))
	encode := func(v any) ([]byte, error) { // as the driver does
		if foreign != nil && !foreign.Dialect.Same(info, v) {
			return foreign.Dialect.Marshal(info, v)
		}
		return codec.Marshal(info, v)
	}
	for _, marshal := range []func() ([]byte, error){
		func() ([]byte, error) { return d.Marshal(info, value) },
		func() ([]byte, error) { return encode(bound[1]) },
		func() ([]byte, error) { return encode(bound[2].(cql.Named).Value) },
	} {
		if value == any(cql.UnsetValue) && want != "error" {
			marshal = func() ([]byte, error) { return d.Marshal(info, value) } // Bind leaves it to the driver
		}
		got, err := marshal()
		var e *cql.MarshalError
		switch {
		case err != nil:
			require.Equal(t, want, "error", "%v %T: %v", info, value, err)
			require.ErrorAs(t, err, &e)
		case got == nil:
			require.Equal(t, want, "NULL", "%v %T", info, value)
		default:
			require.Equal(t, want, hex.EncodeToString(got), "%v %T", info, value)
		}
	}
	require.Equal(t, value, values[1], "Bind does not change its argument")
}

func TestBindAllocatesNothing(t *testing.T) {
	text, n := "x", 1
	values := []any{
		1, "x", []byte(nil), true, 1.5, float32(1), int64(0),
		cql.UUID{},
		nil, cql.UnsetValue,
		[]float32{1},
		[]string{"x"},
		&text, &n, uint8(5),
		net.IP{1, 2, 3, 4},
		cql.NamedValue("a", 1), (*string)(nil),
		selfCoded{},
		&selfCoded{},
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { V1.Bind(values) }))
	require.True(t, &values[0] == &V1.Bind(values)[0])
}

// Values that the dialect encodes are not copied.
func TestBindAllocatesOnce(t *testing.T) {
	values := []any{1, 2, 3, int64(-1), "", int64(1)} // a date may have them, which the driver refuses
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() { V1.Bind(values) }), 1.0)
	bound, foreign := codec.ValuesOf(V1.Bind(values))
	require.True(t, &values[0] == &bound[0])
	require.Equal(t, V1, foreign.Dialect)
}

// selfCoded encodes and decodes itself.
type selfCoded struct{ text string }

func (s selfCoded) MarshalCQL(cql.TypeInfo) ([]byte, error) { return []byte(s.text + "!"), nil }
func (s *selfCoded) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	s.text = "?" + string(data)
	return nil
}

// pointerCoded has a method of its pointer, which gocql does not call for a value.
type pointerCoded string

func (p *pointerCoded) MarshalCQL(cql.TypeInfo) ([]byte, error) { return nil, errors.New("called") }

// fields decodes fields by a value receiver into the map that it holds.
type fields map[string]string

func (f fields) UnmarshalUDT(name string, _ cql.TypeInfo, data []byte) error {
	f[name] = string(data)
	return nil
}

func TestOwnMethods(t *testing.T) {
	text := cql.NativeType(cql.TypeVarchar)
	list := cql.NewListType(text)
	check(t, text, selfCoded{"a"}, "6121")
	check(t, list, []selfCoded{{"a"}}, "00000001"+"000000026121")
	check(t, text, pointerCoded("a"), "61")
	check(t, list, []pointerCoded{"a"}, "00000001"+"0000000161")
	var s []*selfCoded
	require.NoError(t, V1.Unmarshal(list, []byte("\x00\x00\x00\x01\x00\x00\x00\x01a"), &s))
	require.Equal(t, "?a", s[0].text)
	var one *selfCoded
	require.NoError(t, V1.Unmarshal(text, []byte("a"), &one))
	require.Equal(t, "?a", one.text)
	f := fields{}
	require.NoError(t, V1.Unmarshal(person, []byte("\x00\x00\x00\x01a"), f))
	require.Equal(t, "a", f["name"])
	require.NoError(t, V1.Unmarshal(person, nil, fields(nil)), "no field, no call")
}

func TestUnmarshalMeanings(t *testing.T) {
	type own struct {
		Full string `cql:"name"`
		Age  *int   `cql:"age"`
	}
	one := 1
	for _, row := range []struct {
		cql  string
		cell string // "NULL" or bytes
		dest any    // the zero value, or the value before
		want any    // nil means an error
	}{
		{"int", "NULL", 5, 0},
		{"ascii", "NULL", []own(nil), nil},
		{"int", "", 5, 0},
		{"int", "", &one, new(int)},
		{"int", "", "x", "0"},
		{"int", "NULL", &one, (*int)(nil)},
		{"int", "ffffffff", uint32(0), uint32(math.MaxUint32)},
		{"int", "ffffffff", uint64(0), uint64(math.MaxUint32)},
		{"int", "ffffffff", uint16(0), nil},
		{"bigint", "ffffffffffffffff", uint64(0), uint64(math.MaxUint64)},
		{"bigint", "ffffffffffffffff", uint32(0), nil},
		{"varint", "ff", uint64(0), uint64(math.MaxUint64)},
		{"timestamp", "", time.Now(), time.Time{}},
		{"timestamp", "0000000000000001", time.Duration(0), time.Duration(1)},
		{"time", "ffffffffffffffff", time.Duration(0), time.Duration(-1)},
		{"time", "ff", time.Duration(0), nil},
		{"date", "00000000", "", "-5877641-06-23"},
		{"inet", "00000000000000000000ffff0a000001", "", "10.0.0.1"},
		{"inet", "00000000000000000000ffff0a000001", net.IP{}, net.IP{10, 0, 0, 1}},
		{"inet", "0a00", "", nil},
		{"blob", "", []byte(nil), []byte(nil)},
		{"blob", "", []byte("x"), []byte{}},
		{"list<int>", "NULL", []int{1}, []int(nil)},
		{"list<int>", "NULL", []uint8{1}, []uint8(nil)},
		{"list<int>", "NULL", [2]uint8{1, 2}, [2]uint8{}},
		{"list<int>", "00000001" + "ffffffff", []int{}, []int{0}},
		{"list<int>", "00000001" + "ffffffff", []*int{}, []*int{nil}},
		{"list<int>", "00000001" + "0000000400000001", [1]uint8{}, [1]uint8{1}},
		{"list<int>", "00000001" + "0000000400000001", [2]uint8{}, nil},
		{"list<int>", "00000009" + "0000000400000001", []uint8{}, nil},
		{"list<int>", "7fffffff" + "0000000400000001", []uint8{}, nil},
		{"list<int>", "ffffffff", []uint8{}, nil},
		{"list<int>", "000000", []uint8{}, nil},
		{"list<int>", "00000001" + "0000000900000001", []uint8{}, nil},
		{"map<text, int>", "00000001" + "000000016b" + "ffffffff", map[string]uint8{}, map[string]uint8{"k": 0}},
		{"map<text, int>", "00000002" + "000000016a" + "0000000400000001" + "000000016b" + "0000000400000002", map[string]uint8{}, map[string]uint8{"j": 1, "k": 2}},
		{"map<text, int>", "00000001" + "000000016b", map[string]uint8{}, nil},
		{"map<text, int>", "00000001" + "000000016b" + "0000000900000001", map[string]uint8{}, nil},
		{"map<text, int>", "00000001" + "000000096b" + "0000000400000001", map[string]uint8{}, nil},
		{"map<text, int>", "00000001" + "000000016b" + "0000000400000100", map[string]uint8{}, nil},
		{"map<text, int>", "7fffffff" + "000000016b" + "0000000400000001", map[string]uint8{}, nil},
		{"vector<int, 2>", "ffffffff" + "00000001", []uint32{}, []uint32{math.MaxUint32, 1}},
		{"vector<int, 2>", "ffffffff" + "00000001", [2]uint32{}, [2]uint32{math.MaxUint32, 1}},
		{"vector<int, 2>", "ffffffff" + "000001", []uint32{}, nil},
		{"vector<int, 2>", "ffffffff" + "00000001", [3]uint32{}, nil},
		{"text", "61", 1, nil},
	} {
		unmarshals(t, V1, typeOf(t, row.cql), row.cell, row.dest, row.want)
	}
	tuple := cql.TupleTypeInfo{Elems: []cql.TypeInfo{cql.NativeType(cql.TypeVarchar), cql.NativeType(cql.TypeInet)}}
	unmarshals(t, V1, tuple, "0000000161", []any(nil), []any{"a", ""})
	unmarshals(t, V2, tuple, "0000000161", []any(nil), []any{"a", nil})
	unmarshals(t, V1, tuple, "NULL", []string(nil), []string{"", ""})
	unmarshals(t, V2, tuple, "NULL", []string(nil), []string(nil))
	unmarshals(t, V1, tuple, "0000000161"+"000000040a000001", [2]string{}, [2]string{"a", "10.0.0.1"})
	unmarshals(t, V1, tuple, "0000000161", struct{ A, B *string }{}, struct{ A, B *string }{A: pointerTo("a")})
	unmarshals(t, V1, tuple, "0000000161", struct{ a, b string }{}, nil)
	unmarshals(t, V1, tuple, "0000000961", [2]string{}, nil)
	unmarshals(t, V1, tuple, "0000000161", 5, nil)
	noGoType := typeOf(t, "tuple<frozen<map<frozen<list<int>>, int>>>").(cql.TupleTypeInfo)
	unmarshals(t, V1, noGoType, "ffffffff", []any(nil), []any{nil})
	unmarshals(t, V1, noGoType, "0000000400000000", []any(nil), nil)
	unmarshals(t, V1, typeOf(t, "tuple<int>"), "0000000105", []any(nil), nil)
	unmarshals(t, V1, person, "0000000161"+"ffffffff", map[string]any(nil), map[string]any{"name": "a", "age": 0})
	unmarshals(t, V1, person, "0000000161", map[string]any(nil), map[string]any{"name": "a"})
	unmarshals(t, V1, person, "0000000161", own{Age: &one}, own{"a", &one})
	unmarshals(t, V1, person, "0000000161"+"ffffffff"+"0000000178", own{Age: &one}, own{"a", nil})
	unmarshals(t, V1, person, "NULL", own{Age: &one}, own{})
	unmarshals(t, V1, person, "00000009", own{}, nil)
	unmarshals(t, V1, person, "0000000161", 5, nil)
	unmarshals(t, V1, person, "0000000161", struct{ name string }{}, nil)
	unmarshals(t, V1, person, "NULL", map[string]any{"name": "old"}, map[string]any(nil))
	unmarshals(t, V1, person, "", map[string]any{"name": "old"}, map[string]any{})
	unmarshals(t, V1, person, "0000000961", map[string]any{}, nil)
	unmarshals(t, V1, cql.UDTTypeInfo{Elements: []cql.UDTField{{Name: "m", Type: noGoType.Elems[0]}}}, "ffffffff", map[string]any{}, nil)
	unmarshals(t, V2, cql.NativeType(cql.TypeInet), "0a000001", any(nil), net.IP{10, 0, 0, 1})

	var a string
	var b *string
	require.NoError(t, V1.Unmarshal(tuple, []byte("\x00\x00\x00\x01a"), []any{&a, &b}))
	require.NoError(t, V1.Unmarshal(tuple, []byte("\x00\x00\x00\x01a"), []any{nil, &b}))
	require.Equal(t, "a", a)
	require.Nil(t, b)
	require.ErrorIs(t, V1.Unmarshal(tuple, []byte("\x00\x00\x00\x09a"), []any{&b, &b}), cql.ErrMissing)
	for _, dest := range []any{nil, 1, (*int)(nil), []any{&a}, "x"} {
		require.ErrorIs(t, errors.Join(V1.Unmarshal(tuple, nil, dest), cql.ErrDimension), cql.ErrDimension)
		require.Error(t, V1.Unmarshal(tuple, nil, dest))
	}
	held := any(&a)
	require.NoError(t, V2.Unmarshal(cql.NativeType(cql.TypeVarchar), []byte("held"), &held))
	require.Equal(t, "held", a)
	held = (*string)(nil)
	require.NoError(t, V2.Unmarshal(cql.NativeType(cql.TypeVarchar), []byte("new"), &held))
	require.Equal(t, "new", held, "a nil pointer is no destination")
	held = 5
	require.NoError(t, V2.Unmarshal(cql.NativeType(cql.TypeInt), nil, &held))
	require.Equal(t, 0, held)
}

// unmarshals requires the result of decoding a cell into a variable with the value dest.
func unmarshals(t *testing.T, d *Dialect, info cql.TypeInfo, cell string, dest, want any) {
	t.Helper()
	var data []byte
	if cell != "NULL" {
		b, err := hex.DecodeString(cell)
		require.NoError(t, err)
		data = append([]byte{}, b...)
	}
	p := reflect.ValueOf(new(any))
	if dest != nil {
		p = reflect.New(reflect.TypeOf(dest))
		p.Elem().Set(reflect.ValueOf(dest))
	}
	err := d.Unmarshal(info, data, p.Interface())
	if want == nil {
		var e *cql.UnmarshalError
		require.ErrorAs(t, err, &e, "%v into %T", info, dest)
		return
	}
	require.NoError(t, err, "%v into %T", info, dest)
	require.Equal(t, want, p.Elem().Interface(), "%v %s into %T", info, cell, dest)
}

func pointerTo[T any](v T) *T { return &v }

func TestZero(t *testing.T) {
	custom := cql.NewMapType(cql.CustomType{Class: "x"}, cql.NativeType(cql.TypeInt))
	require.Equal(t, map[string]int(nil), V2.Zero(custom), "keys of a custom type are text")
	for _, row := range []struct {
		cql  string
		d    *Dialect
		want any
	}{
		{"inet", V1, ""},
		{"inet", V2, net.IP(nil)},
		{"list<inet>", V1, []string(nil)},
		{"map<inet, inet>", V2, map[string]net.IP(nil)},
		{"map<inet, inet>", Fork, map[string]string(nil)},
		{"map<blob, int>", V1, map[string]int(nil)},
		{"vector<inet, 2>", V2, []net.IP(nil)},
		{"varint", V2, new(big.Int)},
		{"decimal", V2, new(inf.Dec)},
		{"tuple<int, varint>", V2, []any{0, new(big.Int)}},
		{"map<frozen<list<int>>, int>", V2, nil},
	} {
		info := typeOf(t, row.cql)
		require.Equal(t, row.want, row.d.Zero(info), row.cql)
		if goType := row.d.GoType(info); goType != nil {
			require.Equal(t, reflect.PointerTo(goType), reflect.TypeOf(row.d.New(info)))
		} else {
			require.IsType(t, new(any), row.d.New(info))
		}
	}
}

// TestForkMeanings has the conversions of ScyllaDB's fork alone.
func TestForkMeanings(t *testing.T) {
	for _, row := range []struct {
		cql   string
		value any
		want  string
	}{
		{"int", "", "NULL"},
		{"int", (*int32)(nil), "NULL"},
		{"text", "", ""},
		{"date", time.Time{}, "7ff506c6"},
		{"date", int32(5), "00000005"},
		{"date", time.Duration(millisecondsOfDay), "80000001"},
		{"date", uint32(math.MaxUint32), "ffffffff"},
		{"inet", []byte{1, 2, 3, 4}, "01020304"},
		{"inet", [4]byte{1, 2, 3, 4}, "01020304"},
		{"inet", [4]int{1, 2, 3, 4}, "error"},
		{"inet", [5]byte{}, "error"},
		{"inet", net.IP{}, ""},
		{"uuid", []byte{}, ""},
		{"uuid", []byte(nil), "NULL"},
		{"timeuuid", []byte{}, ""},
		{"timeuuid", []byte(nil), "NULL"},
		{"inet", []byte{}, ""},
		{"inet", []byte(nil), "NULL"},
		{"decimal", "0;" + strings.Repeat("0", 200) + "1", "00000000" + "01"},
		{"decimal", "2;-1", "00000002ff"},
		{"decimal", "2", "error"},
		{"duration", 30 * time.Hour, "00" + "02" + "fc274a48a78000"},
		{"duration", int64(24 * time.Hour), "00" + "02" + "00"},
		{"list<int>", []string{"", "1"}, "00000002" + "ffffffff" + "0000000400000001"},
	} {
		checkIn(t, Fork, typeOf(t, row.cql), row.value, row.want)
	}
	first := time.Unix(-185542587187200, 0).UTC()
	for _, row := range []struct {
		cql, cell  string
		dest, want any
	}{
		{"int", "NULL", "x", ""},
		{"int", "", "x", "0"},
		{"varint", "ff", uint8(0), uint8(255)},
		{"varint", "ffff", uint8(0), nil},
		{"varint", "ffff", uint16(0), uint16(math.MaxUint16)},
		{"int", "0001", uint32(0), nil},
		{"blob", "", []byte(nil), []byte{}},
		{"date", "NULL", time.Now(), first},
		{"date", "NULL", "x", ""},
		{"date", "", "x", "-5877641-06-23"},
		{"date", "80000001", int32(0), int32(math.MinInt32 + 1)},
		{"date", "80000001", uint32(0), uint32(1<<31 + 1)},
		{"date", "80000001", time.Duration(0), time.Duration(86_400_000)},
		{"date", "8000", time.Time{}, nil},
		{"time", "0000000000000005", 0, 5},
		{"inet", "", "x", "0.0.0.0"},
		{"inet", "0a000001", "x", "10.0.0.1"},
		{"inet", "01020304", []byte(nil), []byte{1, 2, 3, 4}},
		{"inet", "01020304", [16]byte{}, [16]byte{1, 2, 3, 4}},
		{"inet", "01020304", [16]byte{15: 9}, [16]byte{1, 2, 3, 4}},
		{"inet", "01020304", [4]int{}, nil},
		{"inet", "01020304", [5]byte{}, nil},
		{"uuid", "", "x", cql.UUID{}.String()},
		{"uuid", "000102030405060708090a0b0c0d0e0f", "x", "00010203-0405-0607-0809-0a0b0c0d0e0f"},
		{"uuid", "", []byte(nil), []byte{}},
		{"decimal", "00000002ff", "", "2;-1"},
		{"decimal", "", "", "0;0"},
		{"decimal", "00", "", nil},
		{"duration", "000206", time.Duration(0), 24*time.Hour + 3},
		{"duration", "020000", time.Duration(0), nil},
		{"duration", "000000", "", "0s"},
		{"duration", "02", "", nil},
		{"text", "61", any(nil), []byte("a")},
		{"map<text, text>", "00000001" + "000000016b" + "ffffffff", map[string]any{}, map[string]any{"k": []byte(nil)}},
	} {
		unmarshals(t, Fork, typeOf(t, row.cql), row.cell, row.dest, row.want)
	}
}
