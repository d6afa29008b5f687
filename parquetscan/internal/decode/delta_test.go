// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// TestWideDeltas decodes deltas of 64 bits, whose sums wrap around.
func TestWideDeltas(t *testing.T) {
	want := []int64{math.MinInt64, math.MaxInt64, -1, 0, math.MinInt64, 7}
	var plain []byte
	for _, v := range want {
		plain = binary.LittleEndian.AppendUint64(plain, uint64(v))
	}
	require.Equal(t, plain, plainDeltas(t, wideDeltas(want), len(want), 8))
}

// wideDeltas encodes less than 34 integers as DELTA_BINARY_PACKED, in one block of deltas of 64 bits.
func wideDeltas(values []int64) []byte {
	b := binary.AppendUvarint([]byte{0x80, 1, 4}, uint64(len(values)))
	b = append(binary.AppendVarint(b, values[0]), 0, 64, 0, 0, 0)
	for i := range 32 {
		d := int64(0)
		if i+1 < len(values) {
			d = values[i+1] - values[i]
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(d))
	}
	return b
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

// plainDeltas returns n integers in DELTA_BINARY_PACKED as PLAIN.
func plainDeltas(t testing.TB, data []byte, n, size int) []byte {
	_, err := deltaEnd(data, n)
	require.NoError(t, err)
	plain := buffer.GrowBytes(nil, n*size)
	if size == 4 {
		decodeDeltas(buffer.SliceOf[uint32](plain, n), data)
	} else {
		decodeDeltas(buffer.SliceOf[uint64](plain, n), data)
	}
	return plain
}

// plainDeltasReference is the reference of decodeDeltas: bit by bit.
func plainDeltasReference(data []byte, n, size int) []byte {
	r := thrift.Reader{B: data}
	block, minis := int(r.Uvarint()), int(r.Uvarint())
	r.Uvarint()
	value := uint64(r.I64())
	plain := binary.LittleEndian.AppendUint64(nil, value)[:size]
	for len(plain) < n*size {
		least, widths := uint64(r.I64()), r.B[r.Pos:]
		r.Advance(uint64(minis))
		for i := 0; i < minis && len(plain) < n*size; i++ {
			for k := 0; k < block/minis && len(plain) < n*size; k++ {
				value += least
				for bit := range int(widths[i]) {
					at := k*int(widths[i]) + bit
					value += uint64(r.B[r.Pos+at>>3]>>(at&7)&1) << bit
				}
				plain = binary.LittleEndian.AppendUint64(plain, value)[:len(plain)+size]
			}
			r.Advance(uint64(block / minis * int(widths[i]) / 8))
		}
	}
	return plain
}

// packedDeltas encodes n random integers as DELTA_BINARY_PACKED, in blocks of 128 with deltas of some widths.
func packedDeltas(random *rand.Rand, n int, widths ...byte) []byte {
	b := binary.AppendUvarint(nil, 128)
	b = binary.AppendUvarint(b, uint64(len(widths)))
	b = binary.AppendUvarint(b, uint64(n))
	b = binary.AppendVarint(b, int64(int32(random.Uint32())))
	for left := n - 1; left > 0; left -= 128 {
		b = append(binary.AppendVarint(b, int64(random.IntN(100)-50)), widths...)
		for _, width := range widths {
			for range 128 / len(widths) * int(width) / 8 {
				b = append(b, byte(random.Uint32()))
			}
		}
	}
	return b
}

// TestDeltasOfAllWidths compares decodeDeltas with its reference.
func TestDeltasOfAllWidths(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for width := range byte(65) {
		for _, n := range []int{1, 2, 33, 34, 129, 290} {
			data := packedDeltas(random, n, width, 64-width, byte(random.IntN(65)), width)
			for _, size := range []int{4, 8} {
				require.Equal(t, plainDeltasReference(data, n, size), plainDeltas(t, data, n, size), "width %d, %d values", width, n)
			}
		}
	}
}

// TestStringsOfAllLengths decodes strings whose prefixes and suffixes have all lengths around those that are copied as
// whole words.
func TestStringsOfAllLengths(t *testing.T) {
	var prefixes, suffixes []int
	var data []byte
	var want []string
	before := ""
	for prefix := range 20 {
		for suffix := range 20 {
			prefix, rest := min(prefix, len(before)), strings.Repeat(string(rune('a'+suffix)), suffix)
			before = before[:prefix] + rest
			prefixes, suffixes, want = append(prefixes, prefix), append(suffixes, suffix), append(want, before)
			data = append(data, rest...)
		}
	}
	var plain, texts []byte
	lengths := make([]int, len(want))
	for i, text := range want {
		plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(text))), text...)
		texts = append(texts, text...)
		lengths[i] = len(text)
	}
	c := Decoder{leaf: &footer.Leaf{Physical: format.ByteArray}, limit: 1 << 20}
	got, err := c.decodeStrings(slices.Concat(deltas(prefixes...), deltas(suffixes...), data), len(want), true)
	require.NoError(t, err)
	require.Equal(t, plain, got)
	got, err = c.decodeStrings(append(deltas(lengths...), texts...), len(want), false)
	require.NoError(t, err)
	require.Equal(t, plain, got)
}

// deltaColumn returns a column without levels, as arrow-go describes it.
func deltaColumn(physical parquet.Type) *schema.Column {
	return schema.NewColumn(schema.MustPrimitive(schema.NewPrimitiveNode("d", parquet.Repetitions.Required, physical, -1, -1)), 0, 0)
}

// FuzzDeltas compares integers in DELTA_BINARY_PACKED with the integers of the reference, and with the ones that
// arrow-go decodes. arrow-go refuses some deltas.
func FuzzDeltas(f *testing.F) {
	f.Add(deltas(1, 2, 4, -5, 0), 5)
	f.Add(wideDeltas([]int64{1, math.MinInt32, 4, math.MaxInt64}), 4)
	f.Add(append(binary.AppendUvarint([]byte{0x80, 1, 4}, 300), slices.Concat([]byte{5, 3, 1, 0, 7, 33}, make([]byte, 700))...), 300)
	f.Add(packedDeltas(rand.New(rand.NewPCG(1, 2)), 200, 17, 33, 1, 57), 200)
	columns := map[int]*schema.Column{4: deltaColumn(parquet.Types.Int32), 8: deltaColumn(parquet.Types.Int64)}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if n < 1 || n > 1<<16 {
			return
		}
		if _, err := deltaEnd(data, n); err != nil {
			return
		}
		for size, column := range columns {
			got := plainDeltas(t, data, n, size)
			require.True(t, bytes.Equal(plainDeltasReference(data, n, size), got))
			if want, err := readPage(nil, column, format.DeltaPacked, data, n, 1<<20); err == nil {
				require.True(t, bytes.Equal(want, got))
			}
		}
	})
}

// FuzzDeltaStrings compares strings in DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY with those that arrow-go decodes.
// arrow-go accepts other strings than these decoders.
func FuzzDeltaStrings(f *testing.F) {
	f.Add(append(deltas(2, 0, 3), "abcde"...), 3, false)
	f.Add(slices.Concat(deltas(0, 2, 1), deltas(2, 0, 17), []byte("abcdefghijklmnopqrs")), 3, true)
	column := deltaColumn(parquet.Types.ByteArray)
	f.Fuzz(func(t *testing.T, data []byte, n int, prefixed bool) {
		if n < 1 || n > 1<<12 {
			return
		}
		c := Decoder{leaf: &footer.Leaf{Physical: format.ByteArray}, limit: 1 << 20}
		got, err := c.decodeStrings(data, n, prefixed)
		if err != nil {
			return
		}
		encoding := format.DeltaLength
		if prefixed {
			encoding = format.DeltaBytes
		}
		if want, err := readPage(nil, column, encoding, data, n, 1<<20); err == nil {
			require.Equal(t, want, got)
		}
	})
}

// BenchmarkDeltas decodes a page of 100,000 integers.
func BenchmarkDeltas(b *testing.B) {
	const n = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{4, 8} {
		column := deltaColumn(map[int]parquet.Type{4: parquet.Types.Int32, 8: parquet.Types.Int64}[size])
		for _, width := range []byte{0, 3, 12, 24, 32, 33, 50, 64} {
			if int(width) > 8*size {
				continue
			}
			data := packedDeltas(random, n, width, width, width, width)
			out := buffer.GrowBytes(nil, n*size)
			ways := map[string]func(){
				"arrow-go": func() { out, _ = readPage(out[:0], column, format.DeltaPacked, data, n, 1<<30) },
				"vecql": func() {
					_, _ = deltaEnd(data, n)
					if size == 4 {
						decodeDeltas(buffer.SliceOf[uint32](out, n), data)
					} else {
						decodeDeltas(buffer.SliceOf[uint64](out, n), data)
					}
				},
			}
			for _, impl := range []string{"vecql", "arrow-go"} {
				b.Run(fmt.Sprintf("size=%d/width=%d/impl=%s", size, width, impl), func(b *testing.B) {
					b.SetBytes(int64(n * size))
					for b.Loop() {
						ways[impl]()
					}
				})
			}
		}
	}
}

// BenchmarkDeltaStrings decodes a page of 100,000 strings.
func BenchmarkDeltaStrings(b *testing.B) {
	const n = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	column := deltaColumn(parquet.Types.ByteArray)
	for _, length := range []int{8, 40} {
		prefixes, suffixes, lengths := make([]int, n), make([]int, n), make([]int, n)
		text := make([]byte, 0, n*2*length)
		for i := range n {
			lengths[i] = random.IntN(2 * length)
			if i > 0 {
				prefixes[i] = random.IntN(1 + min(lengths[i], lengths[i-1]))
			}
			suffixes[i] = lengths[i] - prefixes[i]
		}
		text = text[:cap(text)]
		for _, encoding := range []format.Encoding{format.DeltaLength, format.DeltaBytes} {
			data := append(deltas(lengths...), text...)
			if encoding == format.DeltaBytes {
				data = slices.Concat(deltas(prefixes...), deltas(suffixes...), text)
			}
			c := Decoder{leaf: &footer.Leaf{Physical: format.ByteArray}, limit: 1 << 30}
			var out []byte
			ways := map[string]func(){
				"vecql":    func() { out, _ = c.decodeStrings(data, n, encoding == format.DeltaBytes) },
				"arrow-go": func() { out, _ = readPage(out[:0], column, encoding, data, n, 1<<30) },
			}
			for _, impl := range []string{"vecql", "arrow-go"} {
				b.Run(fmt.Sprintf("encoding=%v/length=%d/impl=%s", parquet.Encoding(encoding), length, impl), func(b *testing.B) {
					for b.Loop() {
						ways[impl]()
					}
					b.SetBytes(int64(len(out)))
				})
			}
		}
	}
}
