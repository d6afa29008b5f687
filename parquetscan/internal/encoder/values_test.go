// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Dictionaries, bounds and Bloom filters, compared with slow references.

// TestDictionary compares dictionaries of all widths with a map.
func TestDictionary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, width := range []int{0, 1, 2, 4, 8, 16} {
		d := &dictionary{width: width}
		for range 2 { // the second time with used memory
			d.reset()
			codes, entries := map[string]uint32{}, []byte{}
			var values, plain []byte
			var got []uint32
			for range 5000 {
				v := make([]byte, width)
				if width == 0 {
					v = make([]byte, r.IntN(3))
				}
				for i := range v {
					v[i] = byte(r.IntN(1 + r.IntN(20)))
				}
				if _, ok := codes[string(v)]; !ok {
					codes[string(v)] = uint32(len(codes))
					entries = appendPlain(entries, width, v)
				}
				plain = appendPlain(plain, width, v)
				values = append(values, v...)
				if width == 0 {
					got = append(got, d.text(v))
				}
			}
			if width > 0 {
				got = d.appendFixed(got, append([]byte{}, values...))
			}
			require.Equal(t, entries, d.appendAll(nil))
			require.Equal(t, len(entries), d.size())
			require.Len(t, d.keys, len(codes))
			require.GreaterOrEqual(t, 1<<d.codeWidth(), len(codes))
			var back []byte
			for _, code := range got {
				back = d.appendEntry(back, int(code))
			}
			require.Equal(t, plain, back)
		}
	}
}

func TestCodeWidth(t *testing.T) {
	for n, want := range map[int]uint{0: 0, 1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 256: 8, 257: 9} {
		require.Equal(t, want, (&dictionary{keys: make([]uint64, n)}).codeWidth(), n)
	}
}

// TestBounds compares the bounds of pieces with the bounds of one value after the other.
func TestBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	widths := map[Order]int{
		Bools: 1, Ints32: 4, Ints64: 8, Uints32: 4, Uints64: 8, Floats16: 2, Floats32: 4, Floats64: 8, Texts: 5, Decimals: 9,
	}
	isNaN := func(o Order, v []byte) bool {
		switch o {
		case Floats16:
			return binary.LittleEndian.Uint16(v)&0x7fff > 0x7c00
		case Floats32:
			return math.IsNaN(float64(math.Float32frombits(binary.LittleEndian.Uint32(v))))
		case Floats64:
			return math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(v)))
		}
		return false
	}
	for o, width := range widths {
		for range 300 {
			var got bounds
			var least, greatest []byte
			for range 1 + r.IntN(3) {
				values := make([]byte, width*r.IntN(12))
				for i := range values {
					values[i] = byte([]uint64{0, 0x80, 0xff, 0x7f, r.Uint64(), 0x3c}[r.IntN(6)])
					if o == Bools {
						values[i] &= 1
					}
				}
				got.add(o, values, width)
				for v := values; len(v) > 0; v = v[width:] {
					x := v[:width]
					if isNaN(o, x) {
						continue
					}
					if least == nil || o.less(x, least) {
						least = x
					}
					if greatest == nil || o.less(greatest, x) {
						greatest = x
					}
				}
			}
			require.Equal(t, least != nil, got.known)
			if got.known {
				require.False(t, o.less(got.min, least) || o.less(least, got.min), "order %d: %x is not %x", o, got.min, least)
				require.False(t, o.less(got.max, greatest) || o.less(greatest, got.max), "order %d: %x is not %x", o, got.max, greatest)
			}
		}
	}
}

// TestZeros: the least zero is -0 and the greatest +0, whichever comes first.
func TestZeros(t *testing.T) {
	negative := map[Order][]byte{Floats16: {0, 0x80}, Floats32: {0, 0, 0, 0x80}, Floats64: {0, 0, 0, 0, 0, 0, 0, 0x80}}
	for o, low := range negative {
		high := make([]byte, len(low))
		for _, values := range [][]byte{low, high} {
			var b bounds
			b.add(o, values, len(low))
			require.Equal(t, low, b.min)
			require.Equal(t, high, b.max)
		}
	}
}

// TestNaNs16: no NaN of 16 bits is a bound, whatever its bits are.
func TestNaNs16(t *testing.T) {
	for nan := uint16(0x7c01); nan < 0x8000; nan++ {
		var b bounds
		b.add(Floats16, binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, nan), nan|0x8000), 2)
		require.False(t, b.known, "%x", nan)
	}
}

func TestOrderOfPages(t *testing.T) {
	for want, pages := range map[format.BoundaryOrder][][][2]byte{
		format.Unordered:  {{}, {{1, 2}, {2, 3}, {1, 4}}, {{1, 9}, {2, 3}}, {{5, 6}, {4, 7}, {4, 6}}},
		format.Ascending:  {{{1, 2}}, {{1, 2}, {1, 2}}, {{1, 2}, {1, 3}, {2, 3}}},
		format.Descending: {{{3, 4}, {3, 3}, {2, 3}}, {{9, 9}, {1, 9}}},
	} {
		for _, all := range pages {
			var known []bounds
			for _, p := range all {
				known = append(known, bounds{min: []byte{p[0]}, max: []byte{p[1]}, known: true})
			}
			require.Equal(t, want, orderOfPages(Texts, known), "%v", all)
		}
	}
}

// TestBloomFilter compares filters with arrow-go's of the same size.
func TestBloomFilter(t *testing.T) {
	f := bloomFilter{words: make([]uint32, mostFilter/4)}
	for _, n := range []int{0, 1, 3000, 5000, 100_000, 2_000_000} {
		values := make([][]byte, n)
		for i := range values {
			values[i] = binary.LittleEndian.AppendUint64(nil, uint64(i)*7919)
			f.insert(values[i])
			f.insert(values[i])
		}
		require.InDelta(t, n, f.distinct, float64(n)/100)
		data := f.finish()
		size := len(data) &^ 1023 // without the header
		require.GreaterOrEqual(t, size, leastFilter)
		require.LessOrEqual(t, size, mostFilter)
		require.True(t, size == mostFilter || size >= n, "%d bytes for %d values", size, n)
		require.LessOrEqual(t, size, max(leastFilter, 8*n))
		want := metadata.NewBloomFilter(uint32(size), uint32(size), memory.DefaultAllocator)
		for _, v := range values {
			want.InsertHash(want.Hasher().Sum64(v))
		}
		var bits bytes.Buffer
		_, err := want.WriteTo(&bits, nil)
		require.NoError(t, err)
		require.True(t, bytes.Equal(bits.Bytes(), data[len(data)-size:]), "%d values", n)
		require.Zero(t, f.distinct)
	}
}
