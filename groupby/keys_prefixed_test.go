// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Comparison of the keys of a number and a text with makeRecords', and of their columns with unpackTexts'.

// prefixedColumns makes a number and a text per value of data: a length byte, 8 bytes of the number, and the text.
func prefixedColumns(width int, data []byte) []column.Column {
	var numbers []byte
	var texts []string
	for len(data) > 0 && len(texts) < 2*chunkRows {
		size := int(data[0]) % 40
		word := make([]byte, 8)
		data = data[1+copy(word, data[1:]):]
		size = min(size, len(data))
		texts = append(texts, string(data[:size]))
		numbers = append(numbers, word[:width]...)
		data = data[size:]
	}
	kind := map[int]column.Kind{1: column.Int8, 2: column.Uint16, 4: column.Float32, 8: column.Int64}[width]
	words := make([]uint64, len(numbers)/8+1) // for alignment
	values := bytesOf(words)[:copy(bytesOf(words), numbers)]
	number := column.Column{Type: column.Type{Kind: kind}, Len: len(texts), Values: values}
	return []column.Column{number, vals(texts)}
}

// codedTexts returns a column of texts as codes, the last entry first.
func codedTexts(texts *column.Column) column.Column {
	n := texts.Len
	entries, codes := make([]string, n), make([]uint32, n)
	for k := range codes {
		codes[k] = uint32(n - 1 - k)
		entries[n-1-k] = textAt(texts, k)
	}
	all := vals(entries)
	return column.Codes("", codes, column.NewDictionary(all.Values, all.Offsets))
}

// checkPrefixed fails the test unless makePrefixed and unpackPrefixed do what makeRecords and unpackTexts do.
func checkPrefixed(t *testing.T, cols []column.Column) {
	p := newKeyPlan([]column.Type{cols[0].Type, cols[1].Type})
	fast, slow, coded := newKeyMaker(p), newKeyMaker(p), newKeyMaker(p)
	var rows keyRows
	for i := 0; i < cols[0].Len; i += 64 {
		j := min(i+64, cols[0].Len)
		fast.make(cols, i, j)
		require.True(t, fast.canPrefix(cols))
		slow.w0, slow.w1, slow.mask, slow.texts, slow.longs = slow.buf.w0[:j-i], slow.buf.w1[:j-i], nil, nil, slow.longs[:0]
		slow.makeRecords(cols, i)
		require.Equal(t, slow.w0, fast.w0)
		require.Equal(t, slow.w1, fast.w1)
		require.Equal(t, slow.longs, fast.longs)
		sel := make([]uint32, j-i)
		for k := range sel {
			sel[k] = uint32(k)
		}
		for _, k := range slow.longs {
			require.Equal(t, slow.texts[k], fast.texts[k])
		}
		coded.make([]column.Column{cols[0], codedTexts(&cols[1])}, i, j)
		require.Equal(t, slow.w0, coded.w0)
		require.Equal(t, slow.w1, coded.w1)
		require.Equal(t, slow.longs, coded.longs)
		for _, k := range slow.longs {
			require.Equal(t, slow.texts[k], coded.texts[k])
		}
		rows.gather(&fast.keys, sel)
	}
	unpacked := func(f func(r *keyRows, from, end int, to []builder)) []any {
		to := []builder{newBuilder(cols[0].Type), newBuilder(cols[1].Type)}
		half := rows.n() / 2
		f(&rows, 0, half, to)
		f(&rows, half, rows.n(), to)
		number, text := to[0].column(), to[1].column()
		return []any{append([]byte{}, number.Values...), append([]byte{}, text.Values...), append([]int32{}, text.Offsets...), text.Len}
	}
	if rows.n() > 1 {
		require.Equal(t, unpacked(p.unpackTexts), unpacked(p.unpackPrefixed))
	}
}

func TestPrefixedKeysEqualRecords(t *testing.T) {
	var data []byte
	for size := range 40 {
		for n := range 3 {
			data = append(data, byte(size))
			data = binary.LittleEndian.AppendUint64(data, uint64(size*n)*golden)
			data = append(data, strings.Repeat("\x00x\xff", 14)[n:][:size]...)
		}
	}
	for _, width := range []int{1, 2, 4, 8} {
		cols := prefixedColumns(width, data)
		require.Equal(t, 120, cols[0].Len)
		checkPrefixed(t, cols)
	}
	// The last text ends where the memory ends, and lengths take two bytes.
	long := vals([]string{strings.Repeat("a", 127), strings.Repeat("b", 128), strings.Repeat("c", 300), "", "d"})
	checkPrefixed(t, []column.Column{vals([]int64{1, -1, 2, 3, 4}), long})
}

func FuzzPrefixedKeys(f *testing.F) {
	f.Add(uint8(0), []byte("\x0512345678hello\x00abcdefgh\x0eqwertyuifourteen bytes"))
	f.Add(uint8(3), bytes.Repeat([]byte("\x06\xff\xff\xff\xff\xff\xff\xff\xffsixsix\x07........sevenxx"), 30))
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		if cols := prefixedColumns(1<<(which%4), data); cols[0].Len > 0 {
			checkPrefixed(t, cols)
		}
	})
}

// One column of text is unpacked like keys with text in general.
func TestUnpackTextEqualsUnpackTexts(t *testing.T) {
	var texts []string
	for i := range 100 {
		texts = append(texts, strings.Repeat("ab", i%20)[:i%20])
	}
	texts = append(texts, "", strings.Repeat("c", 15), strings.Repeat("d", 16))
	p := newKeyPlan([]column.Type{typeString})
	m := newKeyMaker(p)
	m.make([]column.Column{vals(texts)}, 0, len(texts))
	sel := make([]uint32, len(texts))
	for k := range sel {
		sel[k] = uint32(k)
	}
	var rows keyRows
	rows.gather(&m.keys, sel[:50])
	rows.gather(&m.keys, sel[50:])
	fast, slow := newBuilder(typeString), []builder{newBuilder(typeString)}
	fast.unpackText(&rows, 0, 7)
	fast.unpackText(&rows, 7, len(texts))
	p.unpackTexts(&rows, 0, len(texts), slow)
	got, want := fast.column(), slow[0].column()
	require.Equal(t, want, got)
	for i, s := range texts {
		require.Equal(t, s, textAt(&got, i))
	}
}

// canonicalBits is canonical64 of floats in their bits.
func TestCanonicalBits(t *testing.T) {
	bits := []uint64{0, 1 << 63, 1, 1<<63 | 1, nan64, ^uint64(0), 0x7ff << 52, 0xfff << 52, 0x7ff<<52 | 1, 0xfff<<52 | 1, 42, 1<<62 - 1}
	for i := range 64 {
		bits = append(bits, golden<<i)
	}
	got := make([]uint64, len(bits))
	canonicalBits(got, bits)
	for i, b := range bits {
		require.Equal(t, canonical64(math.Float64frombits(b)), got[i], "%#x", b)
	}
}
