// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/internal/wire"
)

// Comparison of switch and plans with the reference: every CQL type with every Go type, in both directions.

type (
	namedInt     int32
	namedText    string
	namedBlob    []byte
	namedFloat   float32
	namedID      [16]byte
	embedding    []float32
	namedFloats  []namedFloat
	namedTexts   []string
	namedMap     map[namedText]namedInt
	namedBool    bool
	namedSeconds time.Duration
	namedUnix    int64
)

// shout, whisper and fieldwise implement the codec interfaces, on the value and on the pointer.
type (
	shout     string
	whisper   int32
	fieldwise struct{ Street string }
)

func (s shout) MarshalCQL(cql.TypeInfo) ([]byte, error) {
	return []byte(strings.ToUpper(string(s))), nil
}

func (s *shout) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	*s = shout(strings.ToLower(string(data)))
	return nil
}

func (w *whisper) MarshalCQL(cql.TypeInfo) ([]byte, error) { return []byte{byte(*w)}, nil }
func (w *whisper) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	*w = whisper(len(data))
	return nil
}

func (f fieldwise) MarshalUDT(name string, _ cql.TypeInfo) ([]byte, error) {
	return []byte(name + f.Street), nil
}

func (f *fieldwise) UnmarshalUDT(name string, _ cql.TypeInfo, data []byte) error {
	f.Street += fmt.Sprintf("%s=%x ", name, data)
	return nil
}

type address struct {
	Street string `cql:"street"`
	Number int    `cql:"no"`
	Zip    *int32
	Tags   []string
	Hidden string `cql:"-"`
	secret string
}

type pair struct {
	A int32
	B string
}

type nested struct {
	Where address
	At    cql.Null[time.Time]
	Emb   []float32
	Extra any
}

var (
	textType  = cql.NativeType(cql.TypeText)
	intType   = cql.NativeType(cql.TypeInt)
	floatType = cql.NativeType(cql.TypeFloat)

	addressType = cql.UDTTypeInfo{Keyspace: "k", Name: "address", Elements: []cql.UDTField{
		{Name: "street", Type: textType}, {Name: "no", Type: intType}, {Name: "zip", Type: intType}, {Name: "tags", Type: cql.NewListType(textType)},
	}}
	pairType   = cql.TupleTypeInfo{Elems: []cql.TypeInfo{intType, textType}}
	nestedType = cql.UDTTypeInfo{Keyspace: "k", Name: "nested", Elements: []cql.UDTField{
		{Name: "where", Type: addressType}, {Name: "at", Type: cql.NativeType(cql.TypeTimestamp)}, {Name: "emb", Type: cql.VectorType{SubType: floatType, Dimensions: 2}}, {Name: "extra", Type: textType}, {Name: "later", Type: textType},
	}}
)

func natives() []cql.TypeInfo {
	var list []cql.TypeInfo
	for t := cql.TypeAscii; t <= cql.TypeDuration; t++ {
		list = append(list, cql.NativeType(t))
	}
	return list
}

// matrixTypes returns the CQL types of the matrix.
func matrixTypes() []cql.TypeInfo {
	list := natives()
	for _, elem := range natives() {
		list = append(list, cql.NewListType(elem), cql.NewSetType(elem), cql.VectorType{SubType: elem, Dimensions: 2}, cql.NewMapType(elem, textType), cql.NewMapType(textType, elem))
	}
	return append(list,
		cql.CustomType{Class: "com.example.Type"},
		pairType,
		cql.TupleTypeInfo{Elems: []cql.TypeInfo{textType, textType}},
		cql.TupleTypeInfo{Elems: []cql.TypeInfo{cql.NewListType(intType), cql.VectorType{SubType: floatType, Dimensions: 2}, pairType}},
		addressType,
		nestedType,
		cql.NewListType(pairType),
		cql.NewListType(addressType),
		cql.NewListType(cql.NewListType(intType)),
		cql.NewMapType(textType, cql.NewListType(intType)),
		cql.NewMapType(intType, intType),
		cql.NewMapType(cql.NativeType(cql.TypeBigInt), cql.NativeType(cql.TypeDouble)),
		cql.VectorType{SubType: floatType, Dimensions: 0},
		cql.VectorType{SubType: floatType, Dimensions: 3},
		cql.VectorType{SubType: textType, Dimensions: 0},
		cql.VectorType{SubType: cql.VectorType{SubType: floatType, Dimensions: 2}, Dimensions: 2},
		cql.VectorType{SubType: cql.VectorType{SubType: textType, Dimensions: 2}, Dimensions: 2},
		cql.VectorType{SubType: cql.NewListType(intType), Dimensions: 2},
		cql.VectorType{SubType: pairType, Dimensions: 2},
		cql.VectorType{SubType: addressType, Dimensions: 1},
	)
}

func ptr[T any](v T) *T { return &v }

// forms returns the shapes in which a value of type T may be passed, including NULLs.
func forms[T any](values ...T) []any {
	list := []any{(*T)(nil), (**T)(nil), ptr((*T)(nil)), cql.Null[T]{}, sql.Null[T]{}, []T(nil), []T{}, [0]T{}, map[string]T(nil), []*T{nil, nil}}
	for _, v := range values {
		list = append(list, v, &v, ptr(&v), ptr(ptr(&v)), cql.NullOf(v), ptr(cql.NullOf(v)), sql.Null[T]{V: v, Valid: true}, cql.NullOf(&v),
			[]any{v}, []any{v, v}, []any{v, nil}, [1]any{v}, [2]any{v, &v}, ptr(any(v)),
			[]T{v, v}, ptr([]T{v, v}), [2]T{v, v}, ptr([2]T{v, v}), [1]T{v}, []T{v}, []T{v, v, v}, []*T{&v, &v}, []*T{&v, nil}, []cql.Null[T]{cql.NullOf(v), cql.NullOf(v)},
			[][]T{{v, v}, {v, v}}, [][2]T{{v, v}, {v, v}}, [][]T{{v, v}, nil},
			map[string]T{"k": v}, map[namedText]*T{"k": &v}, map[string]any{"street": v}, map[int32]T{7: v}, map[string][]T{"k": {v}},
			map[string]any{"no": v}) // at most one entry, because the order is random
	}
	return list
}

// sets adds the forms that only comparable types have.
func sets[T comparable](values ...T) []any {
	list := append(forms(values...), map[T]struct{}(nil), map[T]string(nil), map[T]struct{}{})
	for _, v := range values {
		list = append(list, map[T]struct{}{v: {}}, map[T]string{v: "v"}, map[T]bool{v: true}, map[T]any{v: nil})
	}
	return list
}

func join(lists ...[]any) (all []any) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// goValues returns the Go values of the matrix.
func goValues() []any {
	moment := time.Date(2024, 2, 29, 12, 34, 56, 789654321, time.FixedZone("", 3600))
	nan := math.Float32frombits(0x7fa12345)
	id := cql.UUID{0: 1, 6: 0x11, 8: 0x80, 15: 15}
	return join(
		[]any{
			nil, cql.UnsetValue, ptr(cql.UnsetValue), []any(nil),
			[]any{},
			[]any{nil},
			[]any{int32(1), "x"},
			[]any{cql.UnsetValue},
			[]any{cql.UnsetValue, cql.UnsetValue},
			struct{}{},
			struct{ A chan int }{},
			make(chan int), func() {}, complex(1, 2), uintptr(1),
			[2]*int32{},
		},
		sets[int](0, 1, -1, math.MinInt, math.MaxInt), sets[int8](0, -128, 127), sets[int16](-32768, 300), sets[int32](math.MinInt32, 70000),
		sets[int64](math.MinInt64, 1<<40, 86399999999999, 86400000000000, -1),
		sets[uint](7, math.MaxUint), sets[uint8](255), sets[uint16](65535), sets[uint32](math.MaxUint32), sets[uint64](math.MaxUint64, 1<<63, 5),
		sets[namedInt](-5), sets[namedUnix](12), sets[string]("", "abc", "12", "-7", "1.5", "10.0.0.1", "::1", "2024-02-29", "1h2m", "1y2mo3d", "é",
			"123456789012345678901234567890", "00112233-4455-6677-8899-aabbccddeeff", "x\xff"),
		sets[namedText]("nt"), forms([]byte{}, []byte("abc"), make([]byte, 16), []byte{0, 1, 2, 3}), forms(namedBlob("nb")),
		sets(true, false), sets[namedBool](true),
		sets[float32](0, -1.5, float32(math.Inf(1)), float32(math.Copysign(0, -1))), forms(nan), sets[float64](2.5), forms(math.NaN(), math.Copysign(0, -1)), sets[namedFloat](1.25),
		forms(*big.NewInt(0), *big.NewInt(-128), *big.NewInt(128), *new(big.Int).Lsh(big.NewInt(-3), 100), *big.NewInt(-255)),
		forms(big.NewInt(-129), new(big.Int).Lsh(big.NewInt(1), 63), new(big.Int).Lsh(big.NewInt(1), 64)),
		forms(*inf.NewDec(-12345, 3), *inf.NewDec(0, 0), *inf.NewDec(7, -2)), forms(inf.NewDec(1, 0)),
		sets(id, cql.UUID{}), sets(uuid.UUID(id)), sets(namedID(id)), sets([16]byte(id)),
		sets(moment, time.Time{}, time.UnixMilli(-1), time.Unix(-86401, 0), time.Unix(1<<60, 0), time.Unix(0, 0).UTC(), time.Unix(1<<37, 5), time.UnixMilli(math.MinInt64), time.UnixMilli(math.MaxInt64),
			time.UnixMilli(math.MinInt64).Add(-1), time.UnixMilli(math.MaxInt64).Add(time.Millisecond)),
		sets[time.Duration](0, time.Hour, -time.Second, 24*time.Hour-1, 24*time.Hour), sets[namedSeconds](5),
		sets(cql.Duration{}, cql.Duration{Months: 1, Days: 2, Nanoseconds: 3}, cql.Duration{Months: -1, Days: -2, Nanoseconds: -3}, cql.Duration{Months: 1, Days: -1, Nanoseconds: 0}, cql.Duration{Months: math.MinInt32, Days: 0, Nanoseconds: math.MinInt64}, cql.Duration{Nanoseconds: 9}),
		forms(net.IP{127, 0, 0, 1}, net.ParseIP("10.0.0.2"), net.ParseIP("2001:db8::1"), net.IP{}, net.IP{1, 2, 3}),
		sets(netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::ffff:1.2.3.4"), netip.MustParseAddr("fe80::1%eth0"), netip.Addr{}),
		forms(embedding{1, 2}, embedding{1, 2, 3}), forms(namedFloats{1, 2}), forms(namedTexts{"a", "b"}), forms(namedMap{"k": 1}),
		sets[shout]("sh"), sets[whisper](3), sets(fieldwise{"f"}),
		[]any{map[any]string{"k": "v"}, map[any]struct{}{"k": {}}, map[[1]any]string{{"k"}: "v"}, map[struct{ A, B any }]string{{1, "b"}: "v"}},
		sets(pair{1, "b"}, pair{}), forms(address{Street: "s", Number: 1, Zip: ptr[int32](9), Tags: []string{"t"}}, address{Number: math.MaxInt}),
		forms(nested{Where: address{Street: "s"}, At: cql.NullOf(moment), Emb: []float32{1, 2}, Extra: "e"}, nested{Emb: []float32{1}}, nested{Extra: 5}),
		[]any{
			sql.NullString{String: "s", Valid: true},
			sql.NullString{},
			sql.NullInt64{Int64: 5, Valid: true},
			sql.NullInt32{Int32: 5, Valid: true},
			sql.NullFloat64{Float64: 1, Valid: true},
			sql.NullBool{Bool: true, Valid: true},
			sql.NullTime{Time: moment, Valid: true},
			sql.NullByte{Byte: 3, Valid: true},
			sql.NullInt16{},
			&sql.NullString{String: "p", Valid: true},
			cql.Null[any]{V: "a", Valid: true},
			cql.Null[cql.Null[int]]{V: cql.NullOf(3), Valid: true},
			cql.Null[cql.Null[int]]{Valid: true},
			cql.Null[*int]{Valid: true},
		},
		[]any{struct {
			A []int32
			B [2]float32
			C pair
		}{[]int32{1}, [2]float32{1, 2}, pair{3, "x"}}, struct{ P *int32 }{ptr[int32](1)}, [1]*int32{ptr[int32](1)}},
	)
}

var sentinels = []error{cql.ErrUnset, cql.ErrNull, cql.ErrDimension, cql.ErrTrailing, cql.ErrMissing, cql.ErrRange, cql.ErrConversion}

// class returns the name of the sentinel that err wraps, or "other".
func class(err error) string {
	if err == nil {
		return ""
	}
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return s.Error()
		}
	}
	return "other"
}

// encodeWays returns the fast implementations that can encode v, by name.
func encodeWays(info cql.TypeInfo, v any) map[string]func(dst []byte) ([]byte, error) {
	ways := map[string]func(dst []byte) ([]byte, error){}
	if plan := planEncoder(info, reflect.TypeOf(v)); plan != nil {
		ways["plan"] = func(dst []byte) ([]byte, error) { return plan(dst, info, v) }
	}
	if _, ok, _ := switchAppend(nil, info, v); ok {
		ways["switch"] = func(dst []byte) ([]byte, error) {
			out, _, err := switchAppend(dst, info, v)
			return out, err
		}
	}
	return ways
}

// decodeWays returns the fast implementations that can decode into *typ. switchDecode reports for each cell whether it
// can.
func decodeWays(info cql.TypeInfo, typ reflect.Type) map[string]func(cell []byte, dst any) (bool, error) {
	ways := map[string]func(cell []byte, dst any) (bool, error){}
	if plan := planDecoder(info, reflect.PointerTo(typ)); plan != nil {
		ways["plan"] = func(cell []byte, dst any) (bool, error) { return true, plan(info, cell, dst) }
	}
	if ok, _ := switchDecode(info, []byte{}, reflect.New(typ).Interface()); ok {
		ways["switch"] = func(cell []byte, dst any) (bool, error) { return switchDecode(info, cell, dst) }
	}
	return ways
}

// ownCodec matches the types that only the reference handles.
var ownCodec = regexp.MustCompile("shout|whisper|fieldwise")

// vacuous reports whether a cell holds NULL or an empty collection. These have too many conversions to be counted.
func vacuous(cell []byte) bool {
	return cell[0]&0x80 != 0 || len(cell) == 8 && bytes.Equal(cell[4:], make([]byte, 4))
}

// byType groups values by their Go type.
func byType(values []any) (groups [][]any) {
	at := map[reflect.Type]int{}
	for _, v := range values {
		t := reflect.TypeOf(v)
		if _, ok := at[t]; !ok {
			at[t] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[t]] = append(groups[at[t]], v)
	}
	return groups
}

// turn returns the values for the i-th CQL type: all of them, or under the slow race detector one of each Go type in
// turn.
func turn(groups [][]any, i int) (values []any) {
	for _, g := range groups {
		if soak.Race {
			g = g[i%len(g):][:1]
		}
		values = append(values, g...)
	}
	return values
}

func TestEncodeEqual(t *testing.T) {
	soak.NoRace(t)
	prefix := []byte("before")
	pairs, good, fast, bad := 0, 0, 0, 0
	values := byType(goValues())
	for i, info := range matrixTypes() {
		for _, v := range turn(values, i) {
			want, wantErr := ReferenceEncode(nil, info, v)
			pairs++
			ways := encodeWays(info, v)
			if wantErr == nil && !vacuous(want) && !ownCodec.MatchString(fmt.Sprintf("%T", v)) {
				good++
				if len(ways) > 0 {
					fast++
				}
			}
			for name, encode := range ways {
				got, err := encode(bytes.Clone(prefix))
				if class(err) != class(wantErr) || err == nil && !bytes.Equal(got, append(bytes.Clone(prefix), want...)) {
					t.Errorf("%s: %T %s: got %x, %v; reference %x, %v", name, v, info, got, err, want, wantErr)
					if bad++; bad > 20 {
						t.FailNow()
					}
				}
			}
		}
	}
	t.Logf("%d pairs, %d have a conversion, %d of them a fast path", pairs, good, fast)
	require.Greater(t, fast*100, good*90)
}

// same reports whether two values are equal, where NaNs with equal bits are equal.
func same(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	return fmt.Sprintf("%#v", flatten(reflect.ValueOf(a))) == fmt.Sprintf("%#v", flatten(reflect.ValueOf(b)))
}

// flatten follows pointers and replaces floats by their bits, so that printing shows all differences.
func flatten(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return []any{v.Elem().Type().String(), flatten(v.Elem())}
	case reflect.Float32:
		return math.Float32bits(float32(v.Float()))
	case reflect.Float64:
		return math.Float64bits(v.Float())
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() && v.Type().Name() != "nat" { // of big.Int, where nil and empty both mean 0
			return nil
		}
		list := []any{}
		for i := range v.Len() {
			list = append(list, flatten(v.Index(i)))
		}
		return list
	case reflect.Map:
		if v.IsNil() {
			return nil
		}
		m := map[string]any{}
		for it := v.MapRange(); it.Next(); {
			m[fmt.Sprintf("%#v", flatten(it.Key()))] = flatten(it.Value())
		}
		return m
	case reflect.Struct:
		list := []any{}
		for i := range v.NumField() {
			list = append(list, flatten(v.Field(i)))
		}
		return list
	}
	return fmt.Sprintf("%#v", v)
}

// cellsOf returns at most max cells for info: the encodings of all Go values, each also truncated and with an extra
// byte.
func cellsOf(info cql.TypeInfo, max int) [][]byte {
	seen := map[string]bool{}
	cells := [][]byte{nil, {}}
	add := func(c []byte) {
		if !seen[string(c)] {
			seen[string(c)] = true
			cells = append(cells, c)
		}
	}
	n := 0
	for _, v := range goValues() {
		out, err := ReferenceEncode(nil, info, v)
		if err != nil || len(out) <= 4 || seen[string(out[4:])] {
			continue
		}
		c := out[4:]
		add(c)
		add(append(bytes.Clone(c), 0))
		add(c[:len(c)-1])
		add(c[:len(c)/2])
		if n++; n == max {
			break
		}
	}
	add([]byte{0xff, 0xff, 0xff, 0xff})
	add([]byte{0x7f, 0xff, 0xff, 0xff, 0})
	add([]byte{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff})
	add([]byte{0, 0, 0, 2, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	add(bytes.Repeat([]byte{0xff}, 9))
	add([]byte{0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0})         // a varint just below the range of int64
	add([]byte{0, 0xff, 0, 0, 0, 0, 0, 0, 0})            // a varint that fits only uint64
	add([]byte{1, 2, 0})                                 // a duration of mixed signs
	add([]byte{0, 0, 0, 1, 0, 0, 0, 1, 'k', 0, 0, 0, 0}) // a map of blobs
	add([]byte{0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 'b'}) // a tuple of int and text
	return cells
}

func goTypes() []reflect.Type {
	seen := map[reflect.Type]bool{reflect.TypeFor[any](): true}
	list := []reflect.Type{reflect.TypeFor[any]()}
	for _, v := range goValues() {
		if t := reflect.TypeOf(v); t != nil && !seen[t] {
			seen[t] = true
			list = append(list, t)
		}
	}
	return list
}

func TestDecodeEqual(t *testing.T) {
	soak.NoRace(t)
	pairs, good, fast, bad := 0, 0, 0, 0
	types := goTypes()
	for _, info := range matrixTypes() {
		cells := cellsOf(info, 6)
		for _, typ := range types {
			pairs++
			ways := decodeWays(info, typ)
			if soak.Race && len(ways) == 0 {
				continue // only counted; decoding is slow under the race detector
			}
			converts := false
			for _, cell := range cells {
				want := reflect.New(typ)
				wantErr := ReferenceDecode(info, cell, want.Interface())
				converts = converts || wantErr == nil && len(cell) > 4
				for name, decode := range ways {
					got := reflect.New(typ)
					own := slices.Clone(cell)
					ok, err := decode(own, got.Interface())
					if !ok {
						continue
					}
					for i := range own {
						own[i] ^= 0xff // decoded values must not share memory with the cell
					}
					if class(err) != class(wantErr) || err == nil && !same(got.Interface(), want.Interface()) {
						t.Errorf("%s: %x %s into %s: got %#v, %v; reference %#v, %v", name, cell, info, want.Type(),
							got.Elem(), err, want.Elem(), wantErr)
						if bad++; bad > 20 {
							t.FailNow()
						}
					}
				}
				if len(ways) == 0 && (converts || class(wantErr) == class(cql.ErrConversion)) {
					break
				}
			}
			if converts && !ownCodec.MatchString(typ.String()) {
				good++
				if len(ways) > 0 {
					fast++
				}
			}
		}
	}
	t.Logf("%d pairs, %d have a conversion, %d of them a fast path", pairs, good, fast)
	require.True(t, soak.Race || fast*100 > good*70, "%d of %d", fast, good)
}

// TestRoundTripEqual requires that every value with a conversion in both directions survives encoding and decoding.
func TestRoundTripEqual(t *testing.T) {
	soak.NoRace(t)
	trips := 0
	values := byType(slices.DeleteFunc(goValues(), func(v any) bool {
		return ownCodec.MatchString(fmt.Sprintf("%#v", flatten(reflect.ValueOf(v))))
	}))
	for i, info := range matrixTypes() {
		for _, v := range turn(values, i) {
			typ := reflect.TypeOf(v)
			encode := planEncoder(info, typ)
			if encode == nil {
				continue
			}
			out, err := encode(nil, info, v)
			decode := planDecoder(info, reflect.PointerTo(typ))
			if err != nil || decode == nil {
				continue
			}
			n := int32(len(out) - 4)
			var cell []byte
			if out[0]&0x80 == 0 {
				require.Equal(t, wire.AppendInt(nil, n), out[:4], "%s %T", info, v)
				cell = out[4:]
			}
			dst := reflect.New(typ)
			require.NoError(t, decode(info, cell, dst.Interface()), "%s %T %v", info, v, v)
			again, err := encode(nil, info, dst.Elem().Interface())
			require.NoError(t, err)
			require.Equal(t, out, again, "%s %T %#v %#v", info, v, v, dst.Elem())
			trips++
		}
	}
	t.Logf("%d round trips", trips)
	require.Greater(t, trips, 1000)
}

// TestMapsOfMany tests maps with several entries, which the matrix leaves out because their order is random.
func TestMapsOfMany(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	m := map[string][]int32{}
	s := map[int64]struct{}{}
	for range 500 {
		m[strings.Repeat("k", r.IntN(9))+fmt.Sprint(r.IntN(1000))] = []int32{r.Int32(), r.Int32()}
		s[r.Int64()] = struct{}{}
	}
	for _, c := range []struct {
		info cql.TypeInfo
		v    any
	}{{cql.NewMapType(textType, cql.NewListType(intType)), m}, {cql.NewSetType(cql.NativeType(cql.TypeBigInt)), s}} {
		typ := reflect.TypeOf(c.v)
		out, err := planEncoder(c.info, typ)(nil, c.info, c.v)
		require.NoError(t, err)
		got, want := reflect.New(typ), reflect.New(typ)
		require.NoError(t, planDecoder(c.info, got.Type())(c.info, out[4:], got.Interface()))
		require.NoError(t, ReferenceDecode(c.info, out[4:], want.Interface()))
		require.Equal(t, c.v, got.Elem().Interface())
		require.Equal(t, c.v, want.Elem().Interface())
	}
}
