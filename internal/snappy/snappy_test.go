// SPDX-License-Identifier: Apache-2.0

package snappy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/stretchr/testify/require"
)

// check compares Decode with the reference, for outputs with and without spare capacity.
func check(t *testing.T, block []byte) {
	t.Helper()
	want, wantErr := reference(block)
	n, _, err := Len(block)
	if err != nil || n > 1<<24 {
		require.Error(t, wantErr)
		return
	}
	for _, spare := range []int{0, 1, 79, 80, 200} {
		dst := bytes.Repeat([]byte{0xa5}, int(n)+spare+1)
		err := Decode(dst[:n:int(n)+spare], block)
		require.Equal(t, byte(0xa5), dst[int(n)+spare], "a byte after the capacity has changed")
		if wantErr != nil {
			require.ErrorIs(t, err, ErrCorrupt, "%d spare bytes, %x", spare, block)
			continue
		}
		require.NoError(t, err, "%d spare bytes, %x", spare, block)
		require.True(t, bytes.Equal(want, dst[:n]), "%d spare bytes, %x", spare, block)
	}
}

// contents are bytes of several kinds, which an encoder makes different elements of.
func contents() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	all := map[string][]byte{"empty": {}, "one": {7}, "zeros": make([]byte, 9000)}
	add := func(name string, n int, f func(i int) byte) {
		b := make([]byte, n)
		for i := range b {
			b[i] = f(i)
		}
		all[name] = b
	}
	add("random", 200_000, func(int) byte { return byte(r.Uint32()) })
	add("letters", 200_000, func(int) byte { return byte(r.Uint32() & 3) })
	for period := 1; period < 80; period += 1 + period/8 {
		add(fmt.Sprint("period ", period), 3000, func(i int) byte {
			if r.IntN(400) == 0 {
				return byte(r.Uint32())
			}
			return byte(i % period)
		})
	}
	all["floats"] = floats(r, 30_000)
	all["texts"] = texts(r, 30_000)
	return all
}

func floats(r *rand.Rand, n int) (b []byte) {
	for range n {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(r.IntN(1_000_000))/100))
	}
	return b
}

func texts(r *rand.Rand, n int) (b []byte) {
	for range n {
		b = fmt.Appendf(b, "https://example.com/%d/shop?item=%d&page=%d", r.IntN(50), r.IntN(5000), r.IntN(9))
	}
	return b
}

// TestDecode decodes blocks of other encoders: of 64 KiB each, and with offsets of 32 bits.
func TestDecode(t *testing.T) {
	for name, content := range contents() {
		t.Run(name, func(t *testing.T) {
			block := snappy.Encode(nil, content)
			check(t, block)
			got := make([]byte, len(content))
			require.NoError(t, Decode(got, block))
			require.True(t, bytes.Equal(content, got))
			check(t, block[:len(block)*2/3])
		})
	}
}

// TestDecodeElements decodes random elements, valid ones and others, of each kind, length and offset.
func TestDecodeElements(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		check(t, elements(r, 1+r.IntN(60), r.IntN(4) == 0))
	}
}

// elements returns a block of n random elements; some may be invalid.
func elements(r *rand.Rand, n int, invalid bool) []byte {
	var body []byte
	size := 0
	for range n {
		length := 1 + r.IntN([]int{4, 16, 64, 64, 300}[r.IntN(5)])
		kind := r.IntN(4)
		if size == 0 && !invalid {
			kind = literal
		}
		offset := 1 + r.IntN(max(1, min(size, []int{8, 20, 2000, 1 << 20}[r.IntN(4)])))
		if invalid && r.IntN(30) == 0 {
			offset = []int{0, size + 1, 1 << 30}[r.IntN(3)]
		}
		switch {
		case kind == literal && length <= longLiteral:
			body = append(body, byte(length-1)<<2)
		case kind == literal:
			body = append(body, (longLiteral+1)<<2, byte(length-1), byte((length-1)>>8))
		case kind == copy1 && offset < 2048:
			length = 4 + length%8
			body = append(body, byte(offset>>8)<<5|byte(length-4)<<2|copy1, byte(offset))
		case kind != copy4 && offset < 1<<16:
			length = min(length, 64)
			body = append(body, byte(length-1)<<2|copy2, byte(offset), byte(offset>>8))
		default:
			length = min(length, 64)
			body = append(body, byte(length-1)<<2|copy4)
			body = binary.LittleEndian.AppendUint32(body, uint32(offset))
			kind = copy4
		}
		if kind == literal {
			for range length {
				body = append(body, byte(r.Uint32()))
			}
		}
		size += length
	}
	if invalid && r.IntN(2) == 0 {
		size += r.IntN(5) - 2
	}
	return append(binary.AppendUvarint(nil, uint64(max(0, size))), body...)
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		n     int
		block []byte
		want  string
	}{
		{0, nil, "no length"},
		{0, bytes.Repeat([]byte{0xff}, 20), "no length"},
		{3, []byte{4, 0, 1}, "content of 4 bytes, want 3"},
		{4, []byte{4, 0, 1}, "ends after 1 of 4 bytes"},
		{4, []byte{4, 2 << 2, 1}, "literal of 3 bytes, but 1 are left"},
		{1, []byte{1, 1 << 2, 1, 1}, "content is longer than 1 bytes"},
		{9, []byte{9, 0, 1, 7<<2 | copy2, 2, 0}, "offset 2 at byte 1"},
		{9, []byte{9, 0, 1, 7<<2 | copy2, 0, 0}, "offset 0 at byte 1"},
		{9, []byte{9, 0, 1, 7<<2 | copy4, 1, 0, 0}, "ends within an offset"},
		{9, []byte{9, 61 << 2, 1}, "ends within the length of a literal"},
	} {
		err := Decode(make([]byte, c.n), c.block)
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorContains(t, err, c.want)
	}
}

// FuzzDecode compares Decode with the reference and with another decoder.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, content := range contents() {
		f.Add(snappy.Encode(nil, content[:min(len(content), 400)]))
	}
	for range 20 {
		f.Add(elements(r, 30, true))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		check(t, block)
		if n, _, err := Len(block); err == nil && n < 1<<20 {
			want, wantErr := snappy.Decode(nil, block)
			got := make([]byte, n, n+dstSpare)
			err := Decode(got, block)
			if err == nil { // the other decoder also accepts blocks of S2, where an offset of 0 repeats the one before
				require.NoError(t, wantErr, "%x", block)
				require.True(t, bytes.Equal(want, got))
			}
		}
	})
}

const dstSpare = 100

func BenchmarkDecode(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	codes := make([]byte, 1<<20)
	for i := range codes {
		codes[i] = byte(r.Uint32())
	}
	for _, c := range []struct {
		name    string
		content []byte
	}{
		{"texts", texts(r, 20_000)}, {"floats", floats(r, 100_000)}, {"codes", codes}, {"zeros", make([]byte, 1<<20)},
	} {
		block, dst := snappy.Encode(nil, c.content), make([]byte, len(c.content), len(c.content)+dstSpare)
		run := func(impl string, decode func() error) {
			b.Run("content="+c.name+"/impl="+impl, func(b *testing.B) {
				b.SetBytes(int64(len(dst)))
				for b.Loop() {
					if err := decode(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("vecql", func() error { return Decode(dst, block) })
		run("klauspost", func() error { _, err := snappy.Decode(dst, block); return err })
	}
}
