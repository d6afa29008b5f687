// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// codedPages writes pieces of 1000 numbers, and returns the number of pages with codes, and of all pages.
func codedPages(t *testing.T, codec format.Codec, pieces, distinct int) (coded, all int) {
	t.Helper()
	c := NewChunks([]*Column{{Type: format.Int64, Width: 8, Order: Ints64, Dictionary: true}}, &Options{Codec: codec, PageBytes: 80_000})[0]
	for range 2 { // the second column chunk has a dictionary of its own
		n := 0
		for range pieces {
			var values []byte
			for range 1000 {
				values = binary.LittleEndian.AppendUint64(values, uint64(n%distinct))
				n++
			}
			c.PutFixed(values)
			require.NoError(t, c.End(1000, 1000))
		}
		e, err := c.Finish()
		require.NoError(t, err)
		require.EqualValues(t, n, e.written.values)
		require.Equal(t, e.written.coded > 0, e.dictionary != nil)
		coded, all = e.written.coded, len(e.written.pages)
	}
	return coded, all
}

// TestFallBack: a column chunk has codes until its dictionary has 1 MiB, or does not pay in the first page without
// compression.
func TestFallBack(t *testing.T) {
	for _, c := range []struct {
		codec                        format.Codec
		pieces, distinct, coded, all int
	}{
		{format.Snappy, 100, 1000, 10, 10},
		{format.Snappy, 200, 1 << 30, 13, 20}, // 131,072 numbers have 1 MiB
		{format.Snappy, 5, 1 << 30, 1, 1},
		{format.Uncompressed, 100, 10, 10, 10},
		{format.Uncompressed, 100, 1 << 30, 0, 10},
	} {
		coded, all := codedPages(t, c.codec, c.pieces, c.distinct)
		require.Equal(t, []int{c.coded, c.all}, []int{coded, all}, "%+v", c)
	}
}

// TestCodesOfBatches writes texts and codes of changing dictionaries: the pages are the same.
func TestCodesOfBatches(t *testing.T) {
	write := func(codes bool, entries int) *Encoded {
		c := NewChunks([]*Column{{Type: format.ByteArray, Order: Texts, Dictionary: true, Bloom: true}}, &Options{PageBytes: 1000, PageIndex: true})[0]
		for piece := range 20 {
			var data []byte
			offsets := []int32{0}
			for i := range entries {
				data = fmt.Append(data, "text ", (i+piece)*7919%100)
				offsets = append(offsets, int32(len(data)))
			}
			dict := column.NewDictionary(data, offsets)
			var numbers []uint32
			var texts [][]byte
			for i := range 50 {
				numbers = append(numbers, uint32(i*i%entries))
				texts = append(texts, dict.Bytes(numbers[i]))
			}
			if codes {
				c.PutCodes(numbers, dict)
			} else {
				c.PutTexts(texts)
			}
			require.NoError(t, c.End(50, 50))
		}
		e, err := c.Finish()
		require.NoError(t, err)
		return e
	}
	for _, entries := range []int{1, 30, 60} {
		require.Equal(t, write(false, entries), write(true, entries), "%d entries", entries)
	}
}

// TestBools appends pieces of all lengths.
func TestBools(t *testing.T) {
	c := NewChunks([]*Column{{Type: format.Boolean, Width: 1, Order: Bools}}, &Options{PageBytes: 1 << 20})[0]
	var want []byte
	for n := range 40 {
		piece := make([]byte, n)
		for i := range piece {
			piece[i] = byte((i*i + n) / 3 & 1)
			at := n*(n-1)/2 + i
			if at&7 == 0 {
				want = append(want, 0)
			}
			want[at/8] |= piece[i] << (at & 7)
		}
		c.PutBools(piece)
	}
	require.Equal(t, want, c.values[c.room:])
}
