// SPDX-License-Identifier: Apache-2.0

package codec

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

	"github.com/vecql/vecql/cql"
)

// Tests against cells of other implementations.

// TestGolden compares every plan with bytes derived by hand from native_protocol_v5.spec, section 5, and from servers.
// It catches an error that the fast paths and the reference share.
func TestGolden(t *testing.T) {
	n := func(typ cql.Type) cql.TypeInfo { return cql.NativeType(typ) }
	for _, c := range []struct {
		info cql.TypeInfo
		v    any
		want string // after the length
	}{
		{n(cql.TypeTinyInt), int8(-2), "fe"},
		{n(cql.TypeSmallInt), int16(-2), "fffe"},
		{n(cql.TypeInt), int32(256000), "0003e800"},
		{n(cql.TypeBigInt), int64(math.MinInt64), "8000000000000000"},
		{n(cql.TypeCounter), uint8(1), "0000000000000001"},
		{n(cql.TypeVarint), int64(0), "00"},
		{n(cql.TypeVarint), int64(127), "7f"},
		{n(cql.TypeVarint), int64(128), "0080"},
		{n(cql.TypeVarint), int64(-1), "ff"},
		{n(cql.TypeVarint), int64(-128), "80"},
		{n(cql.TypeVarint), int64(-129), "ff7f"},
		{n(cql.TypeVarint), uint64(math.MaxUint64), "00ffffffffffffffff"},
		{n(cql.TypeVarint), *big.NewInt(-128), "80"},
		{n(cql.TypeVarint), *big.NewInt(255), "00ff"},
		{n(cql.TypeVarint), *big.NewInt(-256), "ff00"},
		{n(cql.TypeVarint), *new(big.Int).Lsh(big.NewInt(1), 64), "010000000000000000"},
		{n(cql.TypeDecimal), *inf.NewDec(-128, 2), "00000002 80"},
		{n(cql.TypeDecimal), *inf.NewDec(5, -1), "ffffffff 05"},
		{n(cql.TypeBoolean), true, "01"},
		{n(cql.TypeFloat), float32(1.5), "3fc00000"},
		{n(cql.TypeDouble), -2.0, "c000000000000000"},
		{n(cql.TypeText), "é", "c3a9"},
		{n(cql.TypeBlob), []byte{}, ""},
		{n(cql.TypeInet), net.IPv4(127, 0, 0, 1), "7f000001"},
		{n(cql.TypeInet), net.ParseIP("::1"), "00000000000000000000000000000001"},
		{n(cql.TypeUUID), cql.UUID{0: 0xAA, 15: 0x55}, "aa000000000000000000000000000055"},
		{n(cql.TypeTimestamp), time.Unix(-1, 999e6), "ffffffffffffffff"},
		{n(cql.TypeDate), time.Unix(0, 0), "80000000"},
		{n(cql.TypeDate), time.Unix(-1, 0), "7fffffff"},
		{n(cql.TypeTime), time.Second, "000000003b9aca00"},
		{n(cql.TypeDuration), cql.Duration{Months: 1, Days: 0, Nanoseconds: 3}, "02 00 06"},
		{n(cql.TypeDuration), cql.Duration{Months: -1, Days: -2, Nanoseconds: -64}, "01 03 7f"},
		{n(cql.TypeDuration), cql.Duration{Months: 0, Days: 0, Nanoseconds: 64}, "00 00 8080"},
		{cql.NewListType(n(cql.TypeInt)), []int32{1, 2}, "00000002 00000004 00000001 00000004 00000002"},
		{cql.NewSetType(n(cql.TypeText)), []string{"a"}, "00000001 00000001 61"},
		{cql.NewListType(n(cql.TypeInt)), []int32{}, "00000000"},
		{cql.NewMapType(n(cql.TypeText), n(cql.TypeTinyInt)), map[string]int8{"k": 9}, "00000001 00000001 6b 00000001 09"},
		{pairType, pair{1, "b"}, "00000004 00000001 00000001 62"},
		{addressType, address{Street: "s", Number: 2}, "00000001 73 00000004 00000002 ffffffff ffffffff"},
		{cql.VectorType{SubType: n(cql.TypeFloat), Dimensions: 2}, []float32{1, -2}, "3f800000 c0000000"},
		{cql.VectorType{SubType: n(cql.TypeFloat), Dimensions: 2}, []float32{math.Float32frombits(0x7fa00001), float32(math.Copysign(0, -1))}, "7fa00001 80000000"},
		{cql.VectorType{SubType: n(cql.TypeDouble), Dimensions: 1}, []float64{1}, "3ff0000000000000"},
		{cql.VectorType{SubType: n(cql.TypeInt), Dimensions: 2}, []int32{1, -1}, "00000001 ffffffff"},
		{cql.VectorType{SubType: n(cql.TypeBigInt), Dimensions: 1}, []int64{1}, "0000000000000001"},
		{cql.VectorType{SubType: n(cql.TypeUUID), Dimensions: 1}, []cql.UUID{{1, 2}}, "01020000000000000000000000000000"},
		{cql.VectorType{SubType: n(cql.TypeFloat), Dimensions: 0}, []float32{}, ""},
		{cql.VectorType{SubType: n(cql.TypeBoolean), Dimensions: 2}, []bool{true, false}, "01 00"},
		{cql.VectorType{SubType: n(cql.TypeTinyInt), Dimensions: 3}, []int8{1, 2, -1}, "01 01 01 02 01 ff"},
		{cql.VectorType{SubType: n(cql.TypeSmallInt), Dimensions: 1}, []int16{1}, "02 0001"},
		{cql.VectorType{SubType: n(cql.TypeCounter), Dimensions: 1}, []int64{1}, "08 0000000000000001"},
		{cql.VectorType{SubType: n(cql.TypeText), Dimensions: 2}, []string{"", "ab"}, "00 02 6162"},
		{cql.VectorType{SubType: n(cql.TypeText), Dimensions: 1}, []string{strings.Repeat("a", 128)}, "8080" + strings.Repeat("61", 128)},
		{cql.VectorType{SubType: cql.VectorType{SubType: n(cql.TypeFloat), Dimensions: 1}, Dimensions: 2}, [][]float32{{1}, {2}}, "3f800000 40000000"},
		{cql.VectorType{SubType: cql.VectorType{SubType: n(cql.TypeText), Dimensions: 1}, Dimensions: 2}, [][]string{{"a"}, {"b"}}, "02 01 61 02 01 62"},
		{cql.VectorType{SubType: cql.NewListType(n(cql.TypeInt)), Dimensions: 1}, [][]int32{{7}}, "0c 00000001 00000004 00000007"},
	} {
		t.Run(c.info.String(), func(t *testing.T) {
			plan := planEncoder(c.info, reflect.TypeOf(c.v))
			require.NotNil(t, plan)
			out, err := plan(nil, c.info, c.v)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(c.want, " ", ""), hex.EncodeToString(out[4:]))
			require.Equal(t, []byte{0, 0, byte((len(out) - 4) >> 8), byte(len(out) - 4)}, out[:4])
		})
	}
}
