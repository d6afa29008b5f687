// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// Benchmarks of the three implementations for a cell: switch (without a plan), plan, reference.

func benchmarkEncode(b *testing.B, name string, info cql.TypeInfo, v any) {
	want, err := ReferenceEncode(nil, info, v)
	require.NoError(b, err)
	ways := encodeWays(info, v)
	ways["reference"] = func(dst []byte) ([]byte, error) { return ReferenceEncode(dst, info, v) }
	for _, path := range []string{"switch", "plan", "reference"} {
		encode := ways[path]
		if encode == nil {
			continue
		}
		b.Run(name+"/path="+path, func(b *testing.B) {
			buf := make([]byte, 0, len(want))
			got, err := encode(buf)
			require.NoError(b, err)
			if reflect.ValueOf(v).Kind() == reflect.Map { // the order changes each time
				require.Len(b, got, len(want))
			} else {
				require.Equal(b, want, got)
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(want) - 4))
			for b.Loop() {
				_, _ = encode(buf)
			}
		})
	}
}

func benchmarkDecode(b *testing.B, name string, info cql.TypeInfo, v any, dst any) {
	out, err := ReferenceEncode(nil, info, v)
	require.NoError(b, err)
	cell := out[4:]
	plan := planDecoder(info, reflect.TypeOf(dst))
	ways := map[string]func() error{
		"switch":    func() error { _, err := switchDecode(info, cell, dst); return err },
		"plan":      func() error { return plan(info, cell, dst) },
		"reference": func() error { return ReferenceDecode(info, cell, dst) },
	}
	if ok, _ := switchDecode(info, cell, dst); !ok {
		delete(ways, "switch")
	}
	for _, path := range []string{"switch", "plan", "reference"} {
		decode := ways[path]
		if decode == nil {
			continue
		}
		b.Run(name+"/path="+path, func(b *testing.B) {
			require.NoError(b, decode())
			b.ReportAllocs()
			b.SetBytes(int64(len(cell)))
			for b.Loop() {
				_ = decode()
			}
		})
	}
}

func BenchmarkVectorEncode(b *testing.B) {
	for _, c := range vectors() {
		benchmarkEncode(b, fmt.Sprintf("type=%s/dim=%d", c.typ, dim), cql.VectorType{SubType: cql.NativeType(c.typ), Dimensions: dim}, c.v)
	}
}

func BenchmarkVectorDecode(b *testing.B) {
	for _, c := range vectors() {
		benchmarkDecode(b, fmt.Sprintf("type=%s/dim=%d", c.typ, dim), cql.VectorType{SubType: cql.NativeType(c.typ), Dimensions: dim}, c.v,
			reflect.New(reflect.TypeOf(c.v)).Interface())
	}
	info := cql.VectorType{SubType: floatType, Dimensions: dim}
	benchmarkDecode(b, fmt.Sprintf("type=float/dim=%d/dst=array", dim), info, make([]float32, dim), new([dim]float32))
	benchmarkDecode(b, fmt.Sprintf("type=float/dim=%d/dst=into", dim), info, make([]float32, dim), Into(make([]float32, dim)))
}

// cells returns values of the most common columns.
func cells() []struct {
	name string
	info cql.TypeInfo
	v    any
} {
	texts := make([]string, 100)
	for i := range texts {
		texts[i] = fmt.Sprintf("text number %d", i)
	}
	return []struct {
		name string
		info cql.TypeInfo
		v    any
	}{
		{"type=int", intType, int32(7)},
		{"type=bigint", cql.NativeType(cql.TypeBigInt), int64(7)},
		{"type=double", cql.NativeType(cql.TypeDouble), 1.5},
		{"type=text", textType, "some text of a usual length"},
		{"type=uuid", cql.NativeType(cql.TypeUUID), cql.UUID{1}},
		{"type=list_text/len=100", cql.NewListType(textType), texts},
		{"type=list_float/len=1000", cql.NewListType(floatType), make([]float32, 1000)},
		{"type=list_bigint/len=100", cql.NewListType(cql.NativeType(cql.TypeBigInt)), make([]int64, 100)},
		{"type=map_text_int/len=1", cql.NewMapType(textType, intType), map[string]int32{"key": 1}},
		{"type=map_text_int/len=100", cql.NewMapType(textType, intType), numbered(texts)},
		{"type=udt", addressType, address{Street: "s", Zip: ptr[int32](5), Tags: []string{"t"}}},
	}
}

func numbered(texts []string) map[string]int32 {
	m := make(map[string]int32, len(texts))
	for i, s := range texts {
		m[s] = int32(i)
	}
	return m
}

func BenchmarkCellEncode(b *testing.B) {
	for _, c := range cells() {
		benchmarkEncode(b, c.name, c.info, c.v)
	}
}

func BenchmarkCellDecode(b *testing.B) {
	for _, c := range cells() {
		benchmarkDecode(b, c.name, c.info, c.v, reflect.New(reflect.TypeOf(c.v)).Interface())
	}
}
