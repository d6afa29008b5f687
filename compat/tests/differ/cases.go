// SPDX-License-Identifier: Apache-2.0

package differ

import (
	"encoding/binary"
	"math"
	"math/big"
	"net"
	"reflect"
	"time"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
)

// The types, values and cells that are compared.

// Named types, which conversions find by their kind.
type (
	Text  string
	Int   int
	Long  int64
	Byte  uint8
	ULong uint64
	Bool  bool
	Float float32
	Blob  []byte
	Texts []string
)

// Pair is a struct for a tuple of two elements.
type Pair struct {
	A string
	B int
}

// Pointers is a struct of pointers for a tuple of two elements.
type Pointers struct {
	A *string
	B *int
}

// Person is a struct for the user-defined type.
type Person struct {
	Name  string `cql:"name"`
	Age   *int   `cql:"age"`
	Other string
}

// Exact is a struct whose field has the exact name of a field of the user-defined type.
type Exact struct{ Name string }

// Embedded is a struct with a field of the user-defined type in an embedded struct.
type Embedded struct {
	Exact
	Age int `cql:"age"`
}

func native(t cql.Type) cql.TypeInfo { return cql.NativeType(t) }

// natives are all native types.
var natives = []cql.Type{
	cql.TypeAscii, cql.TypeBigInt, cql.TypeBlob, cql.TypeBoolean, cql.TypeCounter, cql.TypeDecimal, cql.TypeDouble,
	cql.TypeFloat, cql.TypeInt, cql.TypeTimestamp, cql.TypeUUID, cql.TypeVarchar, cql.TypeVarint, cql.TypeTimeUUID,
	cql.TypeInet, cql.TypeDate, cql.TypeTime, cql.TypeSmallInt, cql.TypeTinyInt, cql.TypeDuration,
}

var (
	tuple = cql.TupleTypeInfo{Elems: []cql.TypeInfo{native(cql.TypeVarchar), native(cql.TypeInt)}}
	udt   = cql.UDTTypeInfo{Keyspace: "ks", Name: "person", Elements: []cql.UDTField{
		{Name: "name", Type: native(cql.TypeVarchar)},
		{Name: "age", Type: native(cql.TypeInt)},
		{Name: "Name", Type: native(cql.TypeInet)},
	}}
)

// Types returns every CQL type, and collections, tuples, user-defined types and vectors of them.
func Types(p Peer) []cql.TypeInfo {
	var types []cql.TypeInfo
	for _, n := range natives {
		types = append(types, native(n))
	}
	for _, n := range natives {
		e := native(n)
		types = append(types, cql.NewListType(e), cql.NewMapType(native(cql.TypeVarchar), e))
		if p.Vectors {
			types = append(types, cql.VectorType{SubType: e, Dimensions: 2})
		}
	}
	ints := cql.NewListType(native(cql.TypeInt))
	return append(types, cql.NewSetType(native(cql.TypeVarchar)), cql.NewMapType(native(cql.TypeInt), native(cql.TypeInt)),
		tuple, udt, cql.NewListType(tuple), cql.NewListType(udt), cql.NewListType(ints),
		cql.NewMapType(native(cql.TypeVarchar), tuple), cql.NewMapType(native(cql.TypeVarchar), udt),
		cql.TupleTypeInfo{Elems: []cql.TypeInfo{ints, native(cql.TypeInet)}},
		cql.UDTTypeInfo{Name: "outer", Elements: []cql.UDTField{{Name: "name", Type: udt}, {Name: "age", Type: ints}}})
}

func pointer[T any](v T) *T { return &v }

var (
	uuid     = cql.UUID{0x75, 0x4e, 0x3a, 0xf6, 0x8a, 0x3a, 0x11, 0xed, 0xa1, 0xeb, 2, 0x42, 0xac, 0x12, 0, 2}
	at       = time.Date(2026, 11, 23, 6, 30, 15, 123_000_000, time.UTC)
	before   = time.Date(1965, 3, 4, 5, 6, 7, 8_000_000, time.UTC)
	huge, _  = new(big.Int).SetString("-170141183460469231731687303715884105728", 10)
	duration = cql.Duration{Months: 1, Days: 2, Nanoseconds: 3}
	nilInts  []int
	nilTexts []string
	nilBytes []byte
)

// scalars are the values of native types.
var scalars = []any{
	nil, "", "1", "-7", "text", "10.1.2.3", "fe80::1", "::ffff:1.2.3.4", "2026-11-23", "1h",
	"754e3af6-8a3a-11ed-a1eb-0242ac120002",
	Text("42"), Text(""), nilBytes,
	[]byte{},
	[]byte("ab"), uuid[:], Blob(nil), Blob("x"),
	0, 1, -1, math.MaxInt32, math.MinInt32, int64(math.MaxInt64), int8(-8), int16(300), int32(-70000), int64(86_400_000),
	int64(-1),
	int64(math.MinInt64), Int(5), Long(6), Long(-6),
	uint(7), uint(math.MaxUint32), uint64(math.MaxUint64), uint8(200), uint16(65535), uint32(math.MaxUint32),
	Byte(200), ULong(9),
	true, false, Bool(true), float32(1.5), Float(2.5), math.Inf(-1), float32(math.NaN()),
	time.Time{},
	at, before, time.Hour, 30 * time.Hour, "30h", "2;-5", -time.Second, time.Duration(0),
	*big.NewInt(12), big.NewInt(-12), huge, (*big.Int)(nil), *inf.NewDec(-1234, 3), inf.NewDec(1, -2), (*inf.Dec)(nil),
	uuid, [16]byte(uuid), duration,
	cql.Duration{},
	net.IP{10, 0, 0, 1},
	net.ParseIP("10.0.0.1"),
	net.ParseIP("::1"), net.IP(nil),
	net.IP{},
	pointer("x"), pointer(""), (*string)(nil), pointer(3), (*int)(nil), pointer(pointer(4)), pointer((*int)(nil)),
	pointer(at),
	pointer(time.Time{}), (*time.Time)(nil), pointer(uuid), pointer(true), pointer(int64(-5)),
}

// structured are the values of nested types.
func structured() []any {
	list := []any{
		nilInts,
		[]int{},
		[]int{1, -2},
		[]int{1},
		nilTexts,
		[]string{},
		[]string{"a", ""},
		[]string{"10.0.0.1", "1"},
		Texts{"1", "2"},
		[]any{},
		[]any{nil, 1},
		[]any{"a", 1},
		[]any{1, 2},
		[]any(nil),
		[]any{"a", nil},
		[]any{nil, nil},
		[][]byte{nil, []byte("x")},
		[][]byte{{}, {1}},
		[]*string{nil, pointer("b")},
		[]*int{pointer(1), nil},
		[2]int{1, 2},
		[2]string{"a", "b"},
		[]time.Time{{}, at},
		[]uint8{1, 200},
		[]uint64{1, math.MaxUint64},
		[]uint32{1, math.MaxUint32},
		[]int64{-1, 1},
		[]float32{1, 2},
		[]float64{1, 2},
		[]bool{true, false},
		[]cql.UUID{uuid, {}},
		[]net.IP{{1, 2, 3, 4}, nil},
		[]time.Duration{1, 2},
		[]cql.Duration{duration, {}},
		[][]int{nil, {1}},
		[]*big.Int{big.NewInt(1), huge},
		[]*inf.Dec{inf.NewDec(1, 1), nil},
		map[string]struct{}(nil),
		map[string]struct{}{},
		map[string]struct{}{"a": {}},
		map[int]struct{}{1: {}},
		map[string]string(nil),
		map[string]string{},
		map[string]string{"a": ""},
		map[string]string{"a": "1"},
		map[string]int{"age": 3},
		map[Text]int{"a": -1},
		map[string]*int{"a": nil},
		map[string]any{"name": "n"},
		map[string]any{"age": nil},
		map[string]any{"a": "1"},
		map[string]any(nil),
		map[string]any{"more": 1},
		map[string]any{},
		map[string]any{"name": "n", "age": 3, "Name": "10.0.0.1"},
		map[string]time.Time{"a": {}},
		map[string][]byte{"a": nil},
		map[string]uint64{"a": math.MaxUint64},
		map[int]int{1: 2},
		map[string]cql.UUID{"a": uuid},
		map[string]bool{"a": true},
		map[string]float64{"a": 1},
		map[string][]int{"a": {1}},
		Pair{"x", -1},
		&Pair{"", 0},
		Pointers{},
		Pointers{pointer("x"), pointer(1)},
		Person{},
		Person{"n", pointer(1), "o"},
		&Person{"n", nil, ""}, (*Person)(nil),
		Exact{"10.0.0.1"},
		Embedded{Exact{"10.0.0.1"}, 5},
		[]Person{{"n", nil, ""}},
		[]Pair{{"a", 1}},
		[]map[string]any{{"name": "n"}, nil},
		[][]any{{"a", 1}, {nil, nil}},
		map[string]Person{"a": {}},
		map[string]Pair{"a": {"b", 1}},
		struct{ Name, Age any }{Person{"n", nil, ""}, []int{1}},
		[]any{[]int{1}, "10.0.0.1"},
		[]any{nilInts, nil},
	}
	return append(list, scalars[1], scalars[2], 1, at, *big.NewInt(12), duration, *inf.NewDec(1, 1), true)
}

// encodeCases are the conversions of values to cells.
func encodeCases(p Peer) []Case {
	var cases []Case
	for _, info := range Types(p) {
		values := scalars
		if _, ok := info.(cql.NativeType); !ok {
			values = structured()
		} else {
			values = append(values[:len(values):len(values)], []int{1}, map[string]any{}, Pair{}, []string{"a"}, make(chan int))
		}
		for _, v := range values {
			cases = append(cases, Case{Info: info, Value: v})
		}
	}
	return cases
}

func cell(parts ...[]byte) []byte {
	b := []byte{}
	for _, p := range parts {
		if p == nil {
			b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
			continue
		}
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
	}
	return b
}

func counted(n int, parts ...[]byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(n)), cell(parts...)...)
}

// cellsOf returns cells of type info: NULL, without bytes, typical and extreme ones.
func cellsOf(info cql.TypeInfo) [][]byte {
	cells := [][]byte{nil}
	switch info := info.(type) {
	case cql.NativeType:
		cells = append(cells, []byte{})
		cells = append(cells, nativeCells(cql.Type(info))...)
	case cql.VectorType:
		for _, e := range nativeCells(cql.Type(info.SubType.(cql.NativeType)))[:1] {
			if content, err := cqlVector(info, e); err == nil {
				cells = append(cells, content)
			}
		}
	case cql.CollectionType:
		cells = append(cells, counted(0))
		for _, e := range cellsOf(info.Elem) {
			if info.Type() != cql.TypeMap {
				cells = append(cells, counted(1, e), counted(2, e, e))
				continue
			}
			key := []byte("k")
			if info.Key.Type() == cql.TypeInt {
				key = []byte{0, 0, 0, 9}
			}
			cells = append(cells, counted(1, key, e))
		}
	case cql.TupleTypeInfo:
		cells = append(cells, cell(), cell(cellsOf(info.Elems[0])[2]), cell(nil, nil))
		for _, e := range cellsOf(info.Elems[1]) {
			cells = append(cells, cell(cellsOf(info.Elems[0])[2], e), cell(nil, e))
		}
	case cql.UDTTypeInfo:
		cells = append(cells, cell(), cell(cellsOf(info.Elements[0].Type)[2]), cell(make([][]byte, len(info.Elements))...))
		for _, e := range cellsOf(info.Elements[1].Type) {
			all := make([][]byte, len(info.Elements))
			all[0], all[1] = cellsOf(info.Elements[0].Type)[2], e
			cells = append(cells, cell(all...), cell(append(all, []byte("of a newer definition"))...))
		}
	}
	return cells
}

// nativeCells returns cells of a native type, the first a typical one.
func nativeCells(typ cql.Type) [][]byte {
	switch typ {
	case cql.TypeAscii, cql.TypeVarchar, cql.TypeBlob:
		return [][]byte{[]byte("text"), []byte("12")}
	case cql.TypeBigInt, cql.TypeCounter, cql.TypeTimestamp:
		return [][]byte{
			{0, 0, 1, 0x85, 0, 0, 0, 1},
			{0, 0, 0, 0, 0, 0, 0, 5},
			{255, 255, 255, 255, 255, 255, 255, 254},
			{0x80, 0, 0, 0, 0, 0, 0, 0},
			{127, 255, 255, 255, 255, 255, 255, 255},
		}
	case cql.TypeTime:
		return [][]byte{{0, 0, 1, 0x85, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 0}, {255, 255, 255, 255, 255, 255, 255, 254}}
	case cql.TypeInt:
		return [][]byte{{0, 0, 0, 7}, {255, 255, 255, 255}, {0x80, 0, 0, 0}, {127, 255, 255, 255}}
	case cql.TypeSmallInt:
		return [][]byte{{0, 7}, {255, 255}, {0x80, 0}, {127, 255}}
	case cql.TypeTinyInt:
		return [][]byte{{7}, {255}, {0x80}, {127}}
	case cql.TypeVarint:
		return [][]byte{
			{7},
			{255},
			{0, 255},
			{0, 255, 255, 255, 255, 255, 255, 255, 255},
			{255, 0, 0, 0, 0, 0, 0, 0, 0, 1},
			{0x80, 0, 0, 0, 0, 0, 0, 0},
		}
	case cql.TypeBoolean:
		return [][]byte{{1}, {0}, {2}}
	case cql.TypeDecimal:
		return [][]byte{{0, 0, 0, 2, 1, 0}, {255, 255, 255, 254, 255}, {0, 0, 0, 0, 0}}
	case cql.TypeDouble:
		return [][]byte{{0x3F, 0xF8, 0, 0, 0, 0, 0, 0}, {0x7F, 0xF8, 0, 0, 0, 0, 0, 1}}
	case cql.TypeFloat:
		return [][]byte{{0x3F, 0xC0, 0, 0}, {0xFF, 0x80, 0, 0}}
	case cql.TypeUUID:
		return [][]byte{append([]byte{}, uuid[:]...), make([]byte, 16)}
	case cql.TypeTimeUUID:
		return [][]byte{append([]byte{}, uuid[:]...)}
	case cql.TypeInet:
		return [][]byte{{10, 1, 2, 3}, net.ParseIP("fe80::1"), net.ParseIP("1.2.3.4").To16()}
	case cql.TypeDate:
		return [][]byte{{0x80, 0, 0x51, 0}, {0x80, 0, 0, 0}, {0x7F, 0xFF, 0xFF, 0xFF}, {0, 0, 0, 0}, {255, 255, 255, 255}}
	case cql.TypeDuration:
		return [][]byte{{2, 4, 6}, {0, 0, 0}, {1, 3, 5}, {0, 0, 9}, {0, 4, 6}, {0, 50, 0}}
	}
	return nil
}

// cqlVector returns a vector of two elements e.
func cqlVector(info cql.VectorType, e []byte) ([]byte, error) {
	switch info.SubType.Type() {
	case cql.TypeBigInt, cql.TypeBoolean, cql.TypeTimestamp, cql.TypeDouble, cql.TypeFloat, cql.TypeInt,
		cql.TypeTimeUUID, cql.TypeUUID:
		return append(append([]byte{}, e...), e...), nil
	}
	one := append([]byte{byte(len(e))}, e...)
	return append(append([]byte{}, one...), one...), nil
}

// destinations are the Go types that cells are decoded into.
var destinations = []any{
	"", Text(""), []byte(nil), Blob(nil), 0, int8(0), int16(0), int32(0), int64(0), Int(0), Long(0), uint(0),
	uint8(0), uint16(0), uint32(0),
	uint64(0), Byte(0), ULong(0), false, Bool(false), float32(0), float64(0), Float(0),
	time.Time{},
	time.Duration(0),
	big.Int{},
	(*big.Int)(nil),
	inf.Dec{},
	(*inf.Dec)(nil),
	cql.UUID{},
	[16]byte{},
	cql.Duration{},
	net.IP(nil), (*string)(nil), (*int)(nil),
	(**int)(nil), (*[]byte)(nil),
	(*time.Time)(nil), (*uint16)(nil), (*net.IP)(nil),
}

// nestedDestinations are the Go types that cells of nested types are decoded into.
var nestedDestinations = []any{
	"", 0, []byte(nil), []int(nil), []string(nil), Texts(nil), []any(nil), [][]byte(nil), []*string(nil),
	[]*int(nil),
	[1]int{},
	[2]string{},
	[]time.Time(nil),
	[]uint8(nil), []uint64(nil), []uint32(nil), []int64(nil), []float32(nil), []float64(nil), []bool(nil),
	[]cql.UUID(nil), []net.IP(nil), []time.Duration(nil),
	[]cql.Duration(nil), [][]int(nil), []*big.Int(nil), []*inf.Dec(nil), map[string]struct{}(nil),
	map[string]string(nil), map[string]int(nil), map[Text]int(nil),
	map[string]*int(nil), map[string]any(nil), map[string]time.Time(nil), map[string][]byte(nil),
	map[string]uint64(nil), map[int]int(nil), map[string]cql.UUID(nil),
	map[string]bool(nil), map[string]float64(nil), map[string][]int(nil), map[string]net.IP(nil),
	Pair{},
	Pointers{},
	Person{},
	Exact{},
	Embedded{},
	[]Person(nil), []Pair(nil),
	[]map[string]any(nil), [][]any(nil), [][]string(nil), map[string]Person(nil), map[string]Pair(nil),
	struct{ Name, Age any }{},
	(*Person)(nil), (*[]int)(nil), (*map[string]any)(nil),
	struct {
		Person Person `cql:"name"`
		Ages   []int  `cql:"age"`
	}{},
	struct {
		A []int
		B string
	}{},
	struct {
		A []int
		B net.IP
	}{},
}

// decodeCases are the conversions of cells to values.
func decodeCases(p Peer) []Case {
	var cases []Case
	for _, info := range Types(p) {
		dests := nestedDestinations
		if _, ok := info.(cql.NativeType); ok {
			dests = append(destinations[:len(destinations):len(destinations)], []int(nil), Pair{}, map[string]any(nil))
		}
		if t := p.Dialect.GoType(info); t != nil {
			dests = append(dests[:len(dests):len(dests)], reflect.Zero(t).Interface())
		}
		for _, c := range cellsOf(info) {
			for _, dest := range dests {
				cases = append(cases, Case{Decode: true, Info: info, Value: dest, Cell: c})
			}
		}
	}
	return cases
}
