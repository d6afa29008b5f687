// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/page"
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

// plainValues returns n values of a physical type as PLAIN.
func plainValues(rng *rand.Rand, physical parquet.Type, n int) (data []byte) {
	random := func(size int) {
		for range size {
			data = append(data, byte(rng.Uint32()))
		}
	}
	switch physical {
	case parquet.Types.Boolean:
		random((n + 7) / 8)
		if n%8 != 0 {
			data[len(data)-1] &= 1<<(n%8) - 1
		}
	case parquet.Types.Int32, parquet.Types.Float:
		random(4 * n)
	case parquet.Types.Int64, parquet.Types.Double:
		random(8 * n)
	case parquet.Types.Int96:
		random(12 * n)
	case parquet.Types.FixedLenByteArray:
		random(5 * n)
	case parquet.Types.ByteArray:
		for range n {
			size := rng.IntN(20)
			data = binary.LittleEndian.AppendUint32(data, uint32(size))
			random(size)
		}
	}
	return data
}

// TestArrowDecodesPages decodes pages of every physical type with arrow-go, the reference of decoders: the values are
// those of the page, up to a limit of bytes.
func TestArrowDecodesPages(t *testing.T) {
	types := parquet.Types
	for _, physical := range []parquet.Type{
		types.Boolean, types.Int32, types.Int64, types.Int96, types.Float, types.Double, types.ByteArray, types.FixedLenByteArray,
	} {
		node, err := schema.NewPrimitiveNode("a", parquet.Repetitions.Required, physical, -1, 5)
		require.NoError(t, err)
		col := schema.NewColumn(node, 0, 0)
		for _, n := range []int{1, 9, 1024, 1025, 2500} {
			data := plainValues(rand.New(rand.NewPCG(1, uint64(n))), physical, n)
			got, err := readPage([]byte{}, col, page.Plain, data, n, len(data))
			require.NoError(t, err, "%d of %v", n, physical)
			require.True(t, bytes.Equal(data, got), "%d of %v", n, physical)
			_, err = readPage(nil, col, page.Plain, data, n, len(data)-1)
			require.ErrorIs(t, err, ErrTooLarge, "%d of %v", n, physical)
			_, err = readPage(nil, col, page.Plain, data[:len(data)/2], n, len(data))
			require.ErrorIs(t, err, ErrCorrupt, "half of %d of %v", n, physical)
			_, err = readPage(nil, col, page.BitPacked, data, n, len(data))
			require.ErrorIs(t, err, ErrCorrupt)
		}
	}
}

// TestOnePage passes a page to arrow-go once, which cannot seek to a row of it.
func TestOnePage(t *testing.T) {
	p := &onePage{page: file.NewDictionaryPage(memory.NewBufferBytes(nil), 0, parquet.Encodings.Plain)}
	require.True(t, p.Next())
	require.Equal(t, p.page, p.Page())
	require.False(t, p.Next())
	require.NoError(t, p.Err())
	require.ErrorIs(t, p.SeekToPageWithRow(0), ErrUnsupported)
}
