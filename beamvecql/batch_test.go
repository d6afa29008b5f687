// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// The coder of batches: what is decoded is what was encoded, and damage is an error.

// mustType returns a column with another type of the same layout.
func mustType(t testing.TB, c column.Column, typ column.Type) column.Column {
	t.Helper()
	c, err := c.WithType(typ)
	require.NoError(t, err)
	return c
}

// batches returns batches of all kinds.
func batches(t testing.TB) map[string]*column.Batch {
	dict := column.NewDictionary([]byte("redgreenblue"), []int32{0, 3, 8, 12})
	null := []bool{false, true, false}
	ints, nested := []int64{1, -2, math.MaxInt64}, []int32{0, 2, 2, 3}
	return map[string]*column.Batch{
		"none":       {},
		"no columns": {Rows: 7},
		"no rows":    column.NewBatch(column.Of("n", []int64{}), column.Strings("s", nil), column.Matrix("v", []float32{}, 2)),
		"numbers": column.NewBatch(column.Of("a", []bool{true, false, true}).WithNulls(null), column.Of("b", []int8{1, 2, -3}),
			column.Of("c", []uint64{1, 2, math.MaxUint64}), column.Of("d", []float32{1, float32(math.NaN()), -0.5}),
			column.Of("e", []cql.Duration{{Months: 1, Days: -2, Nanoseconds: 3}, {}, {}}),
			column.Of("f", []column.Int128{{Lo: 5}, {Hi: -1}, {}})),
		"times": column.NewBatch(
			mustType(t, column.Of("a", ints), column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}).WithNulls(null),
			mustType(t, column.Of("b", []int64{1, 2, 3}), column.Type{Kind: column.Time, Unit: column.Nanos}),
			mustType(t, column.Of("c", []int32{1, -2, 3}), column.Type{Kind: column.Date}),
			mustType(t, column.Of("d", []int64{1, -2, 1e17}), column.Type{Kind: column.Decimal64, Precision: 18, Scale: 2})),
		"texts": column.NewBatch(column.Strings("a", []string{"", "é", "long text"}).WithNulls(null),
			column.Binaries("b", [][]byte{{1}, nil, {}}), column.Of("c", [][16]byte{{1}, {2}, {15: 3}}),
			mustType(t, column.Binaries("d", [][]byte{{127, 0, 0, 1}, {1, 2, 3, 4}, make([]byte, 16)}), column.Type{Kind: column.Inet}),
			mustType(t, column.Binaries("e", [][]byte{{0}, {0x80}, {1, 2, 3}}), column.Type{Kind: column.Varint}),
			mustType(t, column.Binaries("f", [][]byte{{0, 0, 0, 2, 1}, {0, 0, 0, 0, 0x80}, {0, 0, 0, 1, 7}}), column.Type{Kind: column.Decimal}),
			column.FixedBytes("g", []byte("abcdef"), 2)),
		"codes": column.NewBatch(column.Codes("a", []uint32{2, 0, 2}, dict), column.Codes("b", []uint32{1, 9, 0}, dict).WithNulls(null)),
		"vectors": column.NewBatch(column.Matrix("a", []float32{1, 2, 3, 4, 5, 6}, 2).WithNulls(null),
			column.Matrix("b", [][16]byte{{1}, {2}, {3}}, 1), column.Matrix("c", []int64{1, 2, 3}, 1)),
		"nested": column.NewBatch(column.Lists("a", nested, column.Strings("", []string{"x", "y", "z"})),
			column.Maps("b", nested, column.Of("", ints), column.Strings("", []string{"x", "y", "z"})),
			column.Structs("c", column.Of("n", ints), column.Codes("s", []uint32{0, 1, 2}, dict)),
			column.Tuples("d", column.Of("", ints), column.Matrix("", []float32{1, 2, 3}, 1))),
		"source": {
			Rows: 1, Columns: []column.Column{column.Of("n", ints[:1])},
			Source: column.Source{FirstRow: 1 << 40, File: "a.parquet", RowGroup: 3},
		},
	}
}

func TestBatchCoder(t *testing.T) {
	for name, b := range batches(t) {
		data, err := encodeBatch(b)
		require.NoError(t, err, name)
		got, err := decodeBatch(data)
		require.NoError(t, err, name)
		require.Empty(t, column.Diff(got, b), name)
		require.Equal(t, b.Rows, got.Rows, name)
		require.Equal(t, b.Schema(), got.Schema(), name)
		require.Equal(t, b.Source, got.Source, name)
	}
	data, err := encodeBatch(nil)
	require.NoError(t, err)
	got, err := decodeBatch(data)
	require.NoError(t, err)
	require.Empty(t, got.Columns)
}

// TestBatchDictionary requires that a dictionary is sent only if it is smaller than the batch.
func TestBatchDictionary(t *testing.T) {
	dict := column.NewDictionary([]byte(strings.Repeat("x", 1000)), []int32{0, 0, 1, 1000})
	for rows, coded := range map[int]bool{2: false, 3: true} {
		data, err := encodeBatch(column.NewBatch(column.Codes("a", make([]uint32, rows), dict)))
		require.NoError(t, err)
		got, err := decodeBatch(data)
		require.NoError(t, err)
		require.Equal(t, coded, got.Columns[0].Dict != nil)
		require.Equal(t, coded, bytes.Contains(data, []byte("xxxxx")))
	}
}

// TestBatchClaims writes great lengths over each place of the rows, with a checksum that is right.
func TestBatchClaims(t *testing.T) {
	data, err := encodeBatch(column.NewBatch(column.Of("n", []int64{1, 2}), column.Strings("s", []string{"a", "b"})))
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	failed := 0
	for at := 5; at+8 <= len(data); at++ {
		damaged := bytes.Clone(data)
		binary.LittleEndian.PutUint64(damaged[at:], 1<<40+1<<31-1)
		if _, err := decodeBatch(seal(damaged)); err != nil {
			require.ErrorIs(t, err, ErrBatch)
			failed++
		}
	}
	runtime.ReadMemStats(&after)
	require.Greater(t, failed, 50)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(len(data))*4<<20, "a few MiB for each")
}

func TestBatchDamage(t *testing.T) {
	for _, b := range batches(t) {
		data, err := encodeBatch(b)
		require.NoError(t, err)
		for i := range data {
			for _, changed := range [][]byte{append(bytes.Clone(data[:i]), data[i]^1), data[:i]} {
				if len(changed) > i {
					changed = append(changed, data[i+1:]...)
				}
				_, err := decodeBatch(changed)
				require.ErrorIs(t, err, ErrBatch)
			}
		}
	}
}

// FuzzBatch decodes any bytes, which the checksum refuses, and batches with any source.
func FuzzBatch(f *testing.F) {
	whole, err := encodeBatch(column.NewBatch(column.Of("n", []int64{1})))
	require.NoError(f, err)
	rows := whole[8:] // after the source, whose fields are 0
	f.Add([]byte{0, 0, 0})
	f.Add(whole)
	f.Add([]byte{2, 6, 9, 'a', '.', 'p', 'a', 'r', 'q', 'u', 'e', 't'})
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := decodeBatch(data); err != nil {
			require.ErrorIs(t, err, ErrBatch)
		}
		source, rest, ok := cutSource(data)
		if !ok {
			return
		}
		b, err := decodeBatch(seal(slices.Concat(make([]byte, 5), data[:len(data)-len(rest)], rows)))
		require.NoError(t, err)
		require.Equal(t, source, b.Source)
		again, err := encodeBatch(b)
		require.NoError(t, err)
		got, err := decodeBatch(again)
		require.NoError(t, err)
		require.Equal(t, source, got.Source)
	})
}
