// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

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
// the values of the page, up to a limit of bytes.
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
			got, err := readPage([]byte{}, col, format.Plain, data, n, len(data))
			require.NoError(t, err, "%d of %v", n, physical)
			require.True(t, bytes.Equal(data, got), "%d of %v", n, physical)
			_, err = readPage(nil, col, format.Plain, data, n, len(data)-1)
			require.ErrorIs(t, err, failure.ErrTooLarge, "%d of %v", n, physical)
			_, err = readPage(nil, col, format.Plain, data[:len(data)/2], n, len(data))
			require.ErrorIs(t, err, failure.ErrCorrupt, "half of %d of %v", n, physical)
			_, err = readPage(nil, col, format.BitPacked, data, n, len(data))
			require.ErrorIs(t, err, failure.ErrCorrupt)
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
	require.ErrorIs(t, p.SeekToPageWithRow(0), failure.ErrUnsupported)
}
