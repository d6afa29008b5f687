// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/stretchr/testify/require"
)

// The encodings of values.

// TestEncodings compares rarely used encodings with the reference.
func TestEncodings(t *testing.T) {
	for i, c := range []struct {
		dt       arrow.DataType
		encoding parquet.Encoding
	}{
		{arrow.PrimitiveTypes.Int32, parquet.Encodings.DeltaBinaryPacked},
		{arrow.PrimitiveTypes.Int64, parquet.Encodings.DeltaBinaryPacked},
		{arrow.PrimitiveTypes.Int8, parquet.Encodings.DeltaBinaryPacked},
		{arrow.BinaryTypes.String, parquet.Encodings.DeltaLengthByteArray},
		{arrow.BinaryTypes.String, parquet.Encodings.DeltaByteArray},
		{arrow.PrimitiveTypes.Float32, parquet.Encodings.ByteStreamSplit},
		{arrow.PrimitiveTypes.Float64, parquet.Encodings.ByteStreamSplit},
		{arrow.PrimitiveTypes.Int32, parquet.Encodings.ByteStreamSplit},
		{arrow.PrimitiveTypes.Int64, parquet.Encodings.ByteStreamSplit},
		{&arrow.FixedSizeBinaryType{ByteWidth: 5}, parquet.Encodings.ByteStreamSplit},
		{arrow.FixedWidthTypes.Boolean, parquet.Encodings.RLE},
		{arrow.ListOf(arrow.BinaryTypes.String), parquet.Encodings.DeltaByteArray},
		{arrow.ListOf(arrow.PrimitiveTypes.Float32), parquet.Encodings.ByteStreamSplit},
	} {
		for _, nullable := range []bool{false, true} {
			for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
				t.Run(fmt.Sprintf("%v/%v/%v/%d", c.dt, c.encoding, nullable, version), func(t *testing.T) {
					fields := []arrow.Field{{Name: "a", Type: c.dt, Nullable: nullable}}
					b := writeArrow(t, rand.New(rand.NewPCG(12, uint64(i))), fields, 700, 0.2, 500*(i%2), 400, parquet.WithDictionaryDefault(false),
						parquet.WithEncoding(c.encoding), parquet.WithDataPageVersion(version), parquet.WithDataPageSize(400), parquet.WithBatchSize(130))
					d := openBytes(t, b)
					f, err := d.files[0].arrow()
					require.NoError(t, err)
					chunk, err := f.MetaData().RowGroup(0).ColumnChunk(0)
					require.NoError(t, err)
					require.Contains(t, chunk.Encodings(), c.encoding)
					requireEqual(t, d, Options{BatchRows: 50})
					requireEqual(t, d, Options{})
				})
			}
		}
	}
}

// TestHostileDeltas reads deltas that would expand beyond memory.
func TestHostileDeltas(t *testing.T) {
	varints := func(v ...uint64) (b []byte) {
		for _, x := range v {
			b = binary.AppendUvarint(b, x)
		}
		return b
	}
	col := func(physical, encoding int64, n int, data []byte) []byte {
		return oneColumn(int64(n), handColumn{name: "d", physical: physical, converted: convertedNever, pages: [][]byte{
			rawPage(rawHeader{n: int64(n), encoding: encoding, uncompressed: -1}, data),
		}})
	}
	block := append(varints(1<<32-128, 1, 100, 0, 0), 0, 0, 0) // one miniblock of 4 billion
	same := func(n, v int) []byte { return deltas(slices.Repeat([]int{v}, n)...) }
	// The first string has 500,000 bytes, and all others repeat it.
	once := make([]int, 1000)
	once[0] = 500_000
	others := slices.Repeat([]int{500_000}, 1000)
	others[0] = 0
	repeat := slices.Concat(deltas(others...), deltas(once...), make([]byte, 500_000))
	for name, c := range map[string]struct {
		b  []byte
		is []error
	}{
		"block of int32":    {col(physicalInt32, encodingDeltaPacked, 100, block), []error{ErrUnsupported}},
		"block of int64":    {col(physicalInt64, encodingDeltaPacked, 100, block), []error{ErrUnsupported}},
		"block of lengths":  {col(physicalText, encodingDeltaLength, 100, block), []error{ErrUnsupported}},
		"block of prefixes": {col(physicalText, encodingDeltaBytes, 100, block), []error{ErrUnsupported}},
		"block of suffixes": {col(physicalText, encodingDeltaBytes, 100, append(same(100, 0), block...)), []error{ErrUnsupported}},
		"negative lengths": {
			col(physicalText, encodingDeltaLength, 2, append(varints(128, 4, 2, 1), 0, 0, 0, 0, 0)),
			[]error{ErrCorrupt},
		},
		"lengths beyond":    {col(physicalText, encodingDeltaLength, 100, same(100, 7)), []error{ErrCorrupt}},
		"prefix of nothing": {col(physicalText, encodingDeltaBytes, 100, append(same(100, 1), same(100, 0)...)), []error{ErrCorrupt}},
		"too few":           {col(physicalInt64, encodingDeltaPacked, 100, same(99, 1)), []error{ErrCorrupt}},
		"too many":          {col(physicalInt64, encodingDeltaPacked, 100, same(101, 1)), []error{ErrCorrupt}},
		"none":              {col(physicalInt64, encodingDeltaPacked, 100, nil), []error{ErrCorrupt}},
		"cut":               {col(physicalInt64, encodingDeltaPacked, 100, varints(128, 4, 100, 1, 0)), []error{ErrCorrupt}},
		"65 bits": {
			col(physicalInt64, encodingDeltaPacked, 100, append(varints(128, 4, 100, 1, 0), 65, 0, 0, 0)),
			[]error{ErrCorrupt},
		},
		"of booleans":            {col(physicalBool, encodingDeltaPacked, 100, same(100, 1)), []error{ErrCorrupt}},
		"repeated":               {col(physicalText, encodingDeltaBytes, 1000, repeat), []error{ErrTooLarge}},
		"many of no bits":        {col(physicalInt64, encodingDeltaPacked, 1<<31-1, same(1000, 1)), []error{ErrTooLarge}},
		"many lengths":           {col(physicalText, encodingDeltaLength, 1<<31-1, same(1000, 0)), []error{ErrTooLarge}},
		"streams of other width": {col(physicalInt64, encodingByteStreamSplit, 3, int64s(0, 2)), []error{ErrCorrupt}},
		"unknown encoding":       {col(physicalInt64, 77, 3, int64s(0, 3)), []error{ErrCorrupt, ErrUnsupported}},
	} {
		allocated, err := readError(t, c.b, Config{}, Options{MaxBatchBytes: 8 << 20})
		is := false
		for _, want := range c.is {
			is = is || errors.Is(err, want)
		}
		require.True(t, is, "%s: %v", name, err)
		requireTyped(t, err)
		require.Less(t, allocated, uint64(64<<20), name)
	}
	// A valid page.
	good := col(physicalText, encodingDeltaBytes, 200, slices.Concat(same(200, 0), same(200, 2), bytes.Repeat([]byte("ab"), 200)))
	requireEqual(t, openBytes(t, good), Options{})
	fixed := func(suffixes ...int) []byte {
		return col(physicalFixed, encodingDeltaBytes, 3, slices.Concat(deltas(0, 3, 1), deltas(suffixes...), []byte("abcdexyz")))
	}
	s := scanOf(t, openSources(t, Config{}, fixed(4, 1, 3)), Options{})
	for b, err := range s.Batches(context.Background(), everything(s)) {
		require.NoError(t, err)
		require.Equal(t, "abcdabceaxyz", string(valuesOf[uint8](&b.Columns[0])))
	}
	requireCorrupt(t, fixed(4, 2, 3), "value of 5 bytes instead of 4")
}

// deltas encodes integers as DELTA_BINARY_PACKED, in blocks of 128, 32 bits each.
func deltas(values ...int) []byte {
	b := binary.AppendUvarint([]byte{0x80, 1, 4}, uint64(len(values)))
	b = binary.AppendVarint(b, int64(values[0]))
	for at := 1; at < len(values); at += 128 {
		least := 0
		end := min(at+128, len(values))
		for i := at; i < end; i++ {
			least = min(least, values[i]-values[i-1])
		}
		b = append(binary.AppendVarint(b, int64(least)), 32, 32, 32, 32)
		for i := at; i < at+(end-at+31)/32*32; i++ { // padded to 32
			d := 0
			if i < end {
				d = values[i] - values[i-1] - least
			}
			b = binary.LittleEndian.AppendUint32(b, uint32(d))
		}
	}
	return b
}
