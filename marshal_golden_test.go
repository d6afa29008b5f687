// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/hex"
	"math"
	"math/big"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"
)

// This file compares with cells that others made.

// TestGolden holds every plan to bytes worked out by hand from native_protocol_v5.spec, section 5, and what servers make of it. It is
// there for the case that the fast paths and the reference share an error.
func TestGolden(t *testing.T) {
	n := func(typ Type) TypeInfo { return NativeType(typ) }
	for _, c := range []struct {
		info TypeInfo
		v    any
		want string // after the length
	}{
		{n(TypeTinyInt), int8(-2), "fe"},
		{n(TypeSmallInt), int16(-2), "fffe"},
		{n(TypeInt), int32(256000), "0003e800"},
		{n(TypeBigInt), int64(math.MinInt64), "8000000000000000"},
		{n(TypeCounter), uint8(1), "0000000000000001"},
		{n(TypeVarint), int64(0), "00"},
		{n(TypeVarint), int64(127), "7f"},
		{n(TypeVarint), int64(128), "0080"},
		{n(TypeVarint), int64(-1), "ff"},
		{n(TypeVarint), int64(-128), "80"},
		{n(TypeVarint), int64(-129), "ff7f"},
		{n(TypeVarint), uint64(math.MaxUint64), "00ffffffffffffffff"},
		{n(TypeVarint), *big.NewInt(-128), "80"},
		{n(TypeVarint), *big.NewInt(255), "00ff"},
		{n(TypeVarint), *big.NewInt(-256), "ff00"},
		{n(TypeVarint), *new(big.Int).Lsh(big.NewInt(1), 64), "010000000000000000"},
		{n(TypeDecimal), *inf.NewDec(-128, 2), "00000002 80"},
		{n(TypeDecimal), *inf.NewDec(5, -1), "ffffffff 05"},
		{n(TypeBoolean), true, "01"},
		{n(TypeFloat), float32(1.5), "3fc00000"},
		{n(TypeDouble), -2.0, "c000000000000000"},
		{n(TypeText), "é", "c3a9"},
		{n(TypeBlob), []byte{}, ""},
		{n(TypeInet), net.IPv4(127, 0, 0, 1), "7f000001"},
		{n(TypeInet), net.ParseIP("::1"), "00000000000000000000000000000001"},
		{n(TypeUUID), UUID{0: 0xAA, 15: 0x55}, "aa000000000000000000000000000055"},
		{n(TypeTimestamp), time.Unix(-1, 999e6), "ffffffffffffffff"},
		{n(TypeDate), time.Unix(0, 0), "80000000"},
		{n(TypeDate), time.Unix(-1, 0), "7fffffff"},
		{n(TypeTime), time.Second, "000000003b9aca00"},
		{n(TypeDuration), Duration{1, 0, 3}, "02 00 06"},
		{n(TypeDuration), Duration{-1, -2, -64}, "01 03 7f"},
		{n(TypeDuration), Duration{0, 0, 64}, "00 00 8080"},
		{NewListType(n(TypeInt)), []int32{1, 2}, "00000002 00000004 00000001 00000004 00000002"},
		{NewSetType(n(TypeText)), []string{"a"}, "00000001 00000001 61"},
		{NewListType(n(TypeInt)), []int32{}, "00000000"},
		{NewMapType(n(TypeText), n(TypeTinyInt)), map[string]int8{"k": 9}, "00000001 00000001 6b 00000001 09"},
		{pairType, pair{1, "b"}, "00000004 00000001 00000001 62"},
		{addressType, address{Street: "s", Number: 2}, "00000001 73 00000004 00000002 ffffffff ffffffff"},
		{VectorType{n(TypeFloat), 2}, []float32{1, -2}, "3f800000 c0000000"},
		{VectorType{n(TypeFloat), 2}, []float32{math.Float32frombits(0x7fa00001), float32(math.Copysign(0, -1))}, "7fa00001 80000000"},
		{VectorType{n(TypeDouble), 1}, []float64{1}, "3ff0000000000000"},
		{VectorType{n(TypeInt), 2}, []int32{1, -1}, "00000001 ffffffff"},
		{VectorType{n(TypeBigInt), 1}, []int64{1}, "0000000000000001"},
		{VectorType{n(TypeUUID), 1}, []UUID{{1, 2}}, "01020000000000000000000000000000"},
		{VectorType{n(TypeFloat), 0}, []float32{}, ""},
		{VectorType{n(TypeBoolean), 2}, []bool{true, false}, "01 00"},
		{VectorType{n(TypeTinyInt), 3}, []int8{1, 2, -1}, "01 01 01 02 01 ff"},
		{VectorType{n(TypeSmallInt), 1}, []int16{1}, "02 0001"},
		{VectorType{n(TypeCounter), 1}, []int64{1}, "08 0000000000000001"},
		{VectorType{n(TypeText), 2}, []string{"", "ab"}, "00 02 6162"},
		{VectorType{n(TypeText), 1}, []string{strings.Repeat("a", 128)}, "8080" + strings.Repeat("61", 128)},
		{VectorType{VectorType{n(TypeFloat), 1}, 2}, [][]float32{{1}, {2}}, "3f800000 40000000"},
		{VectorType{VectorType{n(TypeText), 1}, 2}, [][]string{{"a"}, {"b"}}, "02 01 61 02 01 62"},
		{VectorType{NewListType(n(TypeInt)), 1}, [][]int32{{7}}, "0c 00000001 00000004 00000007"},
	} {
		t.Run(c.info.String(), func(t *testing.T) {
			plan := fastEncode(c.info, reflect.TypeOf(c.v))
			require.NotNil(t, plan)
			out, err := plan(nil, c.info, c.v)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(c.want, " ", ""), hex.EncodeToString(out[4:]))
			require.Equal(t, []byte{0, 0, byte((len(out) - 4) >> 8), byte(len(out) - 4)}, out[:4])
		})
	}
}
