// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/hex"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// TestCoordinatesAreRounded binds vectors of floats of another width by each implementation. The server's literal has
// the same bytes.
func TestCoordinatesAreRounded(t *testing.T) {
	type embedding []float64
	type coordinate float64
	cqlDouble := native(cql.TypeDouble)
	nan, inf, zero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	for _, c := range []struct {
		info cql.TypeInfo
		v    any
		want string
	}{
		{vectorOf(cqlFloat, 3), []float64{0.1, zero, math.MaxFloat32}, "3dcccccd800000007f7fffff"},
		{vectorOf(cqlFloat, 3), embedding{0.1, zero, math.MaxFloat32}, "3dcccccd800000007f7fffff"},
		{vectorOf(cqlFloat, 1), []coordinate{0.1}, "3dcccccd"},
		{vectorOf(cqlFloat, 3), []float64{nan, inf, -inf}, "7fc000007f800000ff800000"},
		{vectorOf(cqlFloat, 2), [2]float64{1e-46, 16777217}, "000000004b800000"},
		{vectorOf(cqlFloat, 1), [1]float64{3.4028235e38}, "7f7fffff"},
		{vectorOf(cqlFloat, 2), []any{0.1, float32(0.1)}, "3dcccccd3dcccccd"},
		{vectorOf(cqlFloat, 1), []*float64{pointerTo(0.1)}, "3dcccccd"},
		{vectorOf(cqlFloat, 1), []cql.Null[float64]{cql.NullOf(0.1)}, "3dcccccd"},
		{vectorOf(vectorOf(cqlFloat, 1), 2), [][]float64{{0.1}, {nan}}, "3dcccccd7fc00000"},
		{cql.NewListType(vectorOf(cqlFloat, 1)), [][]float64{{0.1}}, "00000001000000043dcccccd"},
		{cql.NewMapType(cqlInt, vectorOf(cqlFloat, 1)), map[int][]float64{1: {0.1}}, "000000010000000400000001000000043dcccccd"},
		{cql.TupleTypeInfo{Elems: []cql.TypeInfo{vectorOf(cqlFloat, 1)}}, []any{[]float64{0.1}}, "000000043dcccccd"},
		{vectorOf(cqlDouble, 2), []float32{0.1, -0.5}, "3fb99999a0000000bfe0000000000000"},
		{vectorOf(cqlDouble, 2), []float32{math.Float32frombits(0xffc00001), math.Float32frombits(0x7f800000)}, "fff80000200000007ff0000000000000"},
	} {
		for _, got := range encodings(t, c.info, c.v) {
			require.Equal(t, c.want, hex.EncodeToString(got), "%v %T %v", c.info, c.v, c.v)
		}
	}
}

// TestFloatsAreWidened reads vectors of floats into float64.
func TestFloatsAreWidened(t *testing.T) {
	cell, err := hex.DecodeString("3dcccccd800000007fc00001")
	require.NoError(t, err)
	want := []uint64{0x3fb99999a0000000, 1 << 63, 0x7ff8000020000000}
	for _, typ := range []reflect.Type{reflect.TypeFor[[]float64](), reflect.TypeFor[[3]float64]()} {
		decodings(vectorOf(cqlFloat, 3), cell, typ, func(got any, err error) {
			require.NoError(t, err)
			for i, bits := range want {
				require.Equal(t, bits, math.Float64bits(reflect.ValueOf(got).Index(i).Float()), "%v %d", typ, i)
			}
		})
	}
}
