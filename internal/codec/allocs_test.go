// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/soak"
)

// forgetPlans empties the cache of plans, and makes it full.
func forgetPlans(t *testing.T) {
	before := remembered.n.Swap(maxRemembered)
	remembered.encoders.Clear()
	remembered.decoders.Clear()
	t.Cleanup(func() { remembered.n.Store(before) })
}

// TestAllocsOfCommonPairs encodes and decodes every pair of types that needs no plan, while the cache of plans is full:
// without a statement, an encoder allocates nothing, and a decoder what the value holds.
func TestAllocsOfCommonPairs(t *testing.T) {
	forgetPlans(t)
	list := func(typ cql.Type) cql.TypeInfo { return cql.NewListType(native(typ)) }
	set := func(typ cql.Type) cql.TypeInfo { return cql.NewSetType(native(typ)) }
	for _, c := range []struct {
		infos []cql.TypeInfo
		v     any
		want  float64 // allocations of decoding
	}{
		{nativesOf(cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint), 5, 0},
		{nativesOf(cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint), int8(5), 0},
		{nativesOf(cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint), int16(5), 0},
		{nativesOf(cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint), int32(5), 0},
		{nativesOf(cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint), int64(5), 0},
		{nativesOf(cql.TypeAscii, cql.TypeText, cql.TypeVarchar, cql.TypeBlob), "hello", 1},
		{nativesOf(cql.TypeAscii, cql.TypeText, cql.TypeVarchar, cql.TypeBlob), []byte("hello"), 1},
		{nativesOf(cql.TypeBoolean), true, 0},
		{nativesOf(cql.TypeFloat), float32(1.5), 0},
		{nativesOf(cql.TypeDouble), 1.5, 0},
		{nativesOf(cql.TypeUUID, cql.TypeTimeUUID), cql.UUID{1}, 0},
		{nativesOf(cql.TypeTimestamp), rfcTime, 0},
		{nativesOf(cql.TypeDuration), cql.Duration{Months: 1, Days: 2, Nanoseconds: 3}, 0},
		{nativesOf(cql.TypeInet), net.IP{1, 2, 3, 4}, 1},
		{nativesOf(cql.TypeInet), netip.AddrFrom4([4]byte{1, 2, 3, 4}), 0},
		{[]cql.TypeInfo{list(cql.TypeText), set(cql.TypeAscii), list(cql.TypeBlob)}, []string{"a", "b"}, 2},
		{[]cql.TypeInfo{list(cql.TypeInt), set(cql.TypeInt), vectorOf(cqlInt, 2)}, []int32{1, 2}, 1},
		{[]cql.TypeInfo{list(cql.TypeBigInt), set(cql.TypeBigInt), vectorOf(native(cql.TypeBigInt), 2)}, []int64{1, 2}, 1},
		{[]cql.TypeInfo{list(cql.TypeFloat), set(cql.TypeFloat), vectorOf(cqlFloat, 2)}, []float32{1, 2}, 1},
		{[]cql.TypeInfo{list(cql.TypeDouble), set(cql.TypeDouble), vectorOf(native(cql.TypeDouble), 2)}, []float64{1, 2}, 1},
		{[]cql.TypeInfo{list(cql.TypeUUID), set(cql.TypeTimeUUID), vectorOf(native(cql.TypeUUID), 2), vectorOf(native(cql.TypeTimeUUID), 2)}, []cql.UUID{{1}, {2}}, 1},
	} {
		for _, info := range c.infos {
			t.Run(fmt.Sprintf("%v %T", info, c.v), func(t *testing.T) {
				buf := make([]byte, 0, 256)
				allocs(t, 0, func() {
					if _, err := AppendCell(buf, info, c.v); err != nil {
						t.Fatal(err)
					}
				})
				allocs(t, 0, func() {
					if _, _, err := AppendMarshal(buf, info, c.v); err != nil {
						t.Fatal(err)
					}
				})
				cell, err := Marshal(info, c.v)
				require.NoError(t, err)
				dst := reflect.New(reflect.TypeOf(c.v)).Interface()
				allocs(t, c.want, func() {
					if err := Unmarshal(info, cell, dst); err != nil {
						t.Fatal(err)
					}
				})
				require.Equal(t, c.v, reflect.ValueOf(dst).Elem().Interface())
			})
		}
	}
}

func nativesOf(types ...cql.Type) (infos []cql.TypeInfo) {
	for _, typ := range types {
		infos = append(infos, native(typ))
	}
	return infos
}

// TestAllocsOfPlans has pairs with a plan alone, whose reference allocates for each part of a value.
func TestAllocsOfPlans(t *testing.T) {
	if soak.Race {
		t.Skip("the race detector drops values from pools")
	}
	moment := time.Date(2022, 2, 22, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		info           cql.TypeInfo
		v              any
		encode, decode float64
	}{
		{vectorOf(cqlFloat, 4), []float64{1, 2, 3, 4}, 0, 1},
		{vectorOf(cqlFloat, 4), [4]float64{1, 2, 3, 4}, 0, 0},
		{native(cql.TypeUUID), []byte("0123456789abcdef"), 0, 1},
		{native(cql.TypeUUID), [16]byte{1}, 0, 0},
		{native(cql.TypeInt), uint16(7), 0, 0},
		{native(cql.TypeVarint), uint64(1 << 63), 0, 0},
		{native(cql.TypeDate), moment, 0, 0},
		{native(cql.TypeDate), moment.UnixMilli(), 0, 0},
		{native(cql.TypeTime), time.Hour, 0, 0},
		{native(cql.TypeTime), int64(time.Hour), 0, 0},
		{native(cql.TypeTimestamp), int64(5), 0, 0},
		{native(cql.TypeDuration), time.Hour, 0, 0},
		{native(cql.TypeCustom), "hello", 0, 1},
		{native(cql.TypeDecimal), cql.Decimal{Unscaled: big.NewInt(5), Scale: 2}, 0, 2},
		{native(cql.TypeDecimal), *inf.NewDec(5, 2), 0, 2},
		{cql.NewListType(native(cql.TypeSmallInt)), []uint16{1, 2, 3}, 0, 1},
		{cql.NewListType(native(cql.TypeBoolean)), []bool{true, false}, 0, 1},
		{cql.NewMapType(cqlInt, cqlInt), map[int32]int32{1: 2, 3: 4, 5: 6}, 1, 2},
		{cql.NewSetType(cqlInt), map[int32]struct{}{1: {}, 3: {}}, 1, 2},
		{cql.NewMapType(cqlText, cqlInt), map[string]int32{"a": 2, "b": 4}, 1, 3},
	} {
		t.Run(fmt.Sprintf("%v %T", c.info, c.v), func(t *testing.T) {
			buf := make([]byte, 0, 256)
			encode := EncoderOf(c.info, reflect.TypeOf(c.v))
			allocs(t, c.encode, func() {
				if _, err := encode(buf, c.info, c.v); err != nil {
					t.Fatal(err)
				}
			})
			cell, err := Marshal(c.info, c.v)
			require.NoError(t, err)
			dst := reflect.New(reflect.TypeOf(c.v)).Interface()
			decode := DecoderOf(c.info, reflect.TypeOf(dst))
			allocs(t, c.decode, func() {
				if err := decode(c.info, cell, dst); err != nil {
					t.Fatal(err)
				}
			})
			require.Equal(t, c.v, reflect.ValueOf(dst).Elem().Interface())
		})
	}
}

// TestPlansOfMarshalAreRemembered calls Marshal and Unmarshal for a pair that the switch lacks: after the first call,
// its plan is found.
func TestPlansOfMarshalAreRemembered(t *testing.T) {
	before := remembered.n.Load()
	defer remembered.n.Store(before)
	type own []uint16
	info := cql.TypeInfo(cql.NewListType(native(cql.TypeSmallInt)))
	v, dst := any(own{1, 2, 3}), any(new(own))
	buf := make([]byte, 0, 64)
	allocs(t, 0, func() {
		if _, _, err := AppendMarshal(buf, info, v); err != nil {
			t.Fatal(err)
		}
	})
	cell, err := Marshal(info, v)
	require.NoError(t, err)
	allocs(t, 1, func() {
		if err := Unmarshal(info, cell, dst); err != nil {
			t.Fatal(err)
		}
	})
	require.Equal(t, before+2, remembered.n.Load(), "one plan each")
}
