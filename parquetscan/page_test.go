// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// Pages: checksums, compression, dictionaries, levels. Most pages are invalid.

// numberColumn is a column of int64.
func numberColumn(pages ...[]byte) handColumn {
	return handColumn{name: "n", physical: physicalInt64, converted: convertedNever, pages: pages}
}

// readNumbers reads column n of a file, NULLs as -1.
func readNumbers(t *testing.T, b []byte, cfg Config) []int64 {
	t.Helper()
	s := scanOf(t, openSources(t, cfg, b), Options{})
	out := []int64{}
	for b, err := range s.Batches(context.Background(), everything(s)) {
		require.NoError(t, err)
		c := b.Column("n")
		for i, v := range valuesOf[int64](c) {
			if c.Null(i) {
				require.Zero(t, v)
				v = -1
			}
			out = append(out, v)
		}
	}
	return out
}

func TestChecksums(t *testing.T) {
	values := int64s(5, 3)
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd} {
		for _, typ := range []format.PageType{format.DataPage, format.DataPageV2, format.DictionaryPage} {
			data := encode(t, codec, values)
			h := rawHeader{typ: typ, n: 3, rows: 3, uncompressed: 24, plain: codec == compress.Codecs.Uncompressed}
			sum := crc32.ChecksumIEEE(data)
			for _, wrong := range []uint32{0, 1, 1 << 31} {
				given := sum ^ wrong
				h.crc = &given
				c := numberColumn(rawPage(h, data))
				c.codec = codec
				if typ == format.DictionaryPage {
					c.dictionary = true
					codes := []byte{2, 3 << 1, 1}
					c.pages = append(c.pages, rawPage(rawHeader{n: 3, encoding: format.RLEDictionary, uncompressed: 3}, encode(t, codec, codes)))
				}
				b := oneColumn(3, c)
				want := []int64{5, 6, 7}
				if typ == format.DictionaryPage {
					want = []int64{6, 6, 6}
				}
				require.Equal(t, want, readNumbers(t, b, Config{NoChecksums: true}))
				if wrong == 0 {
					require.Equal(t, want, readNumbers(t, b, Config{}))
				} else {
					requireCorrupt(t, b, "checksum")
				}
			}
		}
	}
}

// TestPageBitsAreCounted: the position of each bit of a page is an int, also on 32-bit machines.
func TestPageBitsAreCounted(t *testing.T) {
	require.EqualValues(t, math.MaxInt>>3, page.MaxBytes)
	long := rawPage(rawHeader{typ: format.DataPage, n: 3, uncompressed: 256 << 20}, make([]byte, 24))
	_, err := readError(t, oneColumn(3, numberColumn(long)), Config{}, Options{})
	if math.MaxInt == math.MaxInt32 {
		require.ErrorIs(t, err, ErrTooLarge)
		return
	}
	require.ErrorIs(t, err, ErrCorrupt, "it is shorter than its header states")
}

// encode compresses data.
func encode(t testing.TB, kind compress.Compression, data []byte) []byte {
	t.Helper()
	codec, err := compress.GetCodec(kind)
	require.NoError(t, err)
	return codec.Encode(nil, data)
}

// TestBombs reads pages that decompress to another length than their header's: they are errors, in memory bounded by
// the pages' own length.
func TestBombs(t *testing.T) {
	const said = 8000
	for _, kind := range []compress.Compression{
		compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd, compress.Codecs.Lz4Raw,
		compress.Codecs.Uncompressed,
	} {
		for _, length := range []int{said, said + 1, said - 1, said - 8, said + 8, 2 * said, said / 2, 1, 64 << 20} {
			if length > 1<<20 && (soak.Reduced || kind == compress.Codecs.Uncompressed) {
				continue
			}
			data := encode(t, kind, make([]byte, length))
			require.True(t, len(data) < said || kind == compress.Codecs.Uncompressed || length > 1<<20)
			for _, typ := range []format.PageType{format.DataPage, format.DataPageV2, format.DictionaryPage} {
				c := numberColumn(rawPage(rawHeader{
					typ: typ, n: said / 8, rows: said / 8, uncompressed: said,
					plain: kind == compress.Codecs.Uncompressed,
				}, data))
				c.codec = kind
				if typ == format.DictionaryPage {
					c.dictionary = true
					c.pages = append(c.pages, rawPage(rawHeader{n: said / 8, encoding: format.RLEDictionary, uncompressed: 1}, encode(t, kind,
						[]byte{0})))
				}
				b := oneColumn(said/8, c)
				if length == said {
					require.Equal(t, make([]int64, said/8), readNumbers(t, b, Config{}))
					continue
				}
				allocated, err := readError(t, b, Config{}, Options{})
				require.ErrorIs(t, err, ErrCorrupt, "%v, %d bytes", kind, length)
				require.Less(t, allocated, uint64(24<<20), "%v, %d bytes", kind, length) // windows, mainly Brotli's
			}
		}
	}
}

// TestHostileZstd reads frames with false headers.
func TestHostileZstd(t *testing.T) {
	const said = 8000
	read := func(data []byte) (uint64, error) {
		c := numberColumn(rawPage(rawHeader{n: said / 8, uncompressed: said}, data))
		c.codec = compress.Codecs.Zstd
		return readError(t, oneColumn(said/8, c), Config{}, Options{})
	}
	head := "\x28\xb5\x2f\xfd"
	raw := func(n int, last byte) []byte { // a block
		h := uint32(n)<<3 | uint32(last)
		return append([]byte{byte(h), byte(h >> 8), byte(h >> 16)}, make([]byte, n)...)
	}
	repeat := func(n int, last byte) []byte {
		h := uint32(n)<<3 | 1<<1 | uint32(last)
		return []byte{byte(h), byte(h >> 8), byte(h >> 16), 0}
	}
	frame := func(descriptor byte, header []byte, blocks ...[]byte) []byte {
		return append(append([]byte(head), append([]byte{descriptor}, header...)...), bytes.Join(blocks, nil)...)
	}
	size := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	skipped := append([]byte("\x50\x2a\x4d\x18"), 3, 0, 0, 0, 1, 2, 3)
	window := []byte{0} // 1 KiB
	for name, data := range map[string][]byte{
		"one frame":          frame(0xe0, size(said), raw(said, 1)),
		"size in 2 bytes":    frame(0x60, []byte{(said - 256) & 255, (said - 256) >> 8}, raw(said, 1)),
		"no size":            frame(0, []byte{0x18}, repeat(said/2, 0), raw(said/2, 1)),
		"two frames":         append(frame(0xe0, size(said/2), raw(said/2, 1)), frame(0, []byte{0x18}, repeat(said/2, 1))...),
		"a frame to skip":    append(bytes.Clone(skipped), frame(0xe0, size(said), raw(said, 1))...),
		"two frames to skip": append(append(bytes.Clone(skipped), frame(0xe0, size(said), raw(said, 1))...), skipped...),
		"many small blocks":  frame(0, []byte{0x18}, bytes.Repeat(raw(8, 0), said/8-1), raw(8, 1)),
	} {
		allocated, err := read(data)
		require.NoError(t, err, name)
		require.Less(t, allocated, uint64(4<<20), name)
	}
	for name, data := range map[string][]byte{
		"size of 60 GiB":               frame(0xe0, size(60<<30), raw(said, 1)),
		"size of 2^64-1":               frame(0xe0, size(1<<64-1), raw(said, 1)),
		"size one too long":            frame(0xe0, size(said+1), raw(said, 1)),
		"size too short":               frame(0xe0, size(said-1), raw(said, 1)),
		"second size of 60 GiB":        append(frame(0xe0, size(said/2), raw(said/2, 1)), frame(0xe0, size(60<<30), raw(said/2, 1))...),
		"window of 500 MiB and a bomb": frame(0, []byte{18<<3 | 7}, bytes.Repeat(repeat(100_000, 0), 100), repeat(1, 1)),
		"window of 3 TiB":              frame(0, []byte{0xff}, raw(said, 1)),
		"bomb":                         frame(0, []byte{0x18}, bytes.Repeat(repeat(100_000, 0), 5000), repeat(1, 1)),
		"reserved block":               frame(0, window, []byte{7, 0, 0}),
		"no last block":                frame(0, window, raw(said, 0)),
		"cut in a block":               frame(0, window, raw(said, 1)[:100]),
		"cut in the header":            []byte(head + "\xe0\x01"),
		"no checksum":                  frame(4, []byte{0x18}, raw(said, 1)),
		"garbage behind":               append(frame(0xe0, size(said), raw(said, 1)), "garbage"...),
		"frame to skip is cut":         append(frame(0xe0, size(said), raw(said, 1)), "\x50\x2a\x4d\x18\xff\xff\xff\xff"...),
		"only a frame to skip":         skipped,
		"nothing":                      {},
		"dictionary":                   frame(0xe1, append([]byte{1}, size(said)...), raw(said, 1)),
	} {
		allocated, err := read(data)
		require.ErrorIs(t, err, ErrCorrupt, name)
		require.Less(t, allocated, uint64(4<<20), name)
	}
}

// TestErrorsAreNotTheEnd reads pages for which decoders return io.EOF: this must not end the rows.
func TestErrorsAreNotTheEnd(t *testing.T) {
	for _, kind := range []compress.Compression{
		compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Snappy,
		compress.Codecs.Zstd, compress.Codecs.Lz4Raw,
	} {
		for _, cut := range [][]byte{{}, encode(t, kind, int64s(0, 10))[:3]} {
			good := rawPage(rawHeader{n: 10, uncompressed: 80}, encode(t, kind, int64s(0, 10)))
			c := numberColumn(good, rawPage(rawHeader{n: 10, uncompressed: 80}, cut), good)
			c.codec = kind
			requireCorrupt(t, oneColumn(20, c), "")
			requireCorrupt(t, oneColumn(30, c), "")
			s := scanOf(t, openSources(t, Config{}, oneColumn(20, c)), Options{BatchRows: 10})
			require.ErrorIs(t, s.Borrow(context.Background(), nil, func(int, *column.Batch) error { return nil }), ErrCorrupt)
			var err error
			for _, err = range s.All(context.Background()) {
			}
			require.ErrorIs(t, err, ErrCorrupt)
			// Lists look for the next page after their last row.
			v := handColumn{name: "v", physical: physicalFloat, converted: convertedNever, repetition: repeated, codec: kind}
			levels := append([]byte{2, 0, 0, 0, 1 << 1, 0, 2, 0, 0, 0, 1 << 1, 1}, 0, 0, 128, 63)
			row := rawPage(rawHeader{n: 1, uncompressed: 16}, encode(t, kind, levels))
			v.pages = [][]byte{row, rawPage(rawHeader{n: 1, uncompressed: 16}, cut), row, row}
			v.values = 4
			for _, o := range []Options{{BatchRows: 1}, {BatchRows: 1, Lists: []string{"v"}}} {
				s := scanOf(t, openSources(t, Config{}, oneColumn(3, v)), o)
				rows, last := 0, error(nil)
				for b, err := range s.Batches(context.Background(), everything(s)) {
					if last = err; err == nil {
						rows += b.Rows
					}
				}
				require.ErrorIs(t, last, ErrCorrupt)
				require.LessOrEqual(t, rows, 1, "rows after a missing page")
			}
		}
	}
}

// TestLegacyLZ4 reads pages of the codec LZ4: frames of Hadoop, one or several, or a raw block.
func TestLegacyLZ4(t *testing.T) {
	frame := func(from, n int) []byte {
		content := int64s(from, n)
		block := encode(t, compress.Codecs.Lz4Raw, content)
		b := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
		return append(binary.BigEndian.AppendUint32(b, uint32(len(block))), block...)
	}
	file := func(data []byte) []byte {
		c := numberColumn(rawPage(rawHeader{n: 100, uncompressed: 800}, data))
		c.codec = compress.Codecs.Lz4
		return oneColumn(100, c)
	}
	plain := oneColumn(100, numberColumn(rawPage(rawHeader{n: 100, uncompressed: -1}, int64s(0, 100))))
	read := func(b []byte) []int64 {
		s := scanOf(t, openSources(t, Config{}, b), Options{})
		out, err := readBucket(s, everything(s))
		require.NoError(t, err)
		return out
	}
	want := read(plain)
	for name, data := range map[string][]byte{
		"frame": frame(0, 100), "two frames": append(frame(0, 60), frame(60, 40)...),
		"empty frame": append(frame(0, 100), make([]byte, 8)...), "raw": encode(t, compress.Codecs.Lz4Raw, int64s(0, 100)),
	} {
		require.Equal(t, want, read(file(data)), name)
	}
	for _, data := range [][]byte{
		frame(0, 60), append(frame(0, 100), 0), frame(0, 100)[:50], append(frame(0, 60), frame(60, 50)...), bytes.Repeat([]byte{0xff}, 40),
	} {
		requireCorrupt(t, file(data), "")
	}
}

func TestUnknownCodecs(t *testing.T) {
	for _, kind := range []compress.Compression{compress.Codecs.Lzo, 8, 100, -1} {
		c := numberColumn(rawPage(rawHeader{n: 3, uncompressed: -1}, int64s(0, 3)))
		c.codec = kind
		_, err := readError(t, oneColumn(3, c), Config{}, Options{})
		require.ErrorIs(t, err, ErrUnsupported)
		require.ErrorContains(t, err, "column n")
	}
}

func TestDictionaryPages(t *testing.T) {
	dict := func(n int, values []byte) []byte {
		return rawPage(rawHeader{typ: format.DictionaryPage, n: int64(n), uncompressed: -1}, values)
	}
	codes := func(n int, data ...byte) []byte {
		return rawPage(rawHeader{n: int64(n), encoding: format.RLEDictionary, uncompressed: -1}, data)
	}
	numbers := func(rows int64, pages ...[]byte) []byte {
		c := numberColumn(pages...)
		c.dictionary = true
		return oneColumn(rows, c)
	}
	text := func(rows int64, pages ...[]byte) []byte {
		c := numberColumn(pages...)
		c.dictionary, c.physical = true, physicalText
		return oneColumn(rows, c)
	}
	require.Equal(t, []int64{7, 7, 7, 8}, readNumbers(t, numbers(4, dict(2, int64s(7, 2)), codes(3, 1, 3<<1, 0), codes(1, 1, 1<<1, 1)),
		Config{}))
	require.Equal(t, []int64{7, 7}, readNumbers(t, numbers(2, dict(1, int64s(7, 1)), codes(2, 0)), Config{}), "codes of no bits")
	for _, c := range []struct {
		message string
		rows    int64
		pages   [][]byte
	}{
		{"second dictionary", 4, [][]byte{dict(2, int64s(7, 2)), dict(2, int64s(7, 2)), codes(4, 1, 4<<1, 0)}},
		{"second dictionary", 4, [][]byte{dict(2, int64s(7, 2)), codes(2, 1, 2<<1, 0), dict(2, int64s(7, 2)), codes(2, 1, 2<<1, 0)}},
		{"codes without a dictionary", 3, [][]byte{codes(3, 1, 3<<1, 0)}},
		{"code 2 of a dictionary of 2 values", 3, [][]byte{dict(2, int64s(7, 2)), codes(3, 2, 3<<1, 2)}},
		{"code 3 of a dictionary of 2 values", 8, [][]byte{dict(2, int64s(7, 2)), codes(8, 2, 1<<1|1, 0x55, 0x57)}},
		{"code 0 of a dictionary of 0 values", 3, [][]byte{dict(0, nil), codes(3, 1, 3<<1, 0)}},
		{"code 4294967295 of a dictionary of 2 values", 3, [][]byte{dict(2, int64s(7, 2)), codes(3, 32, 3<<1, 255, 255, 255, 255)}},
		{"integers of 33 bits", 3, [][]byte{dict(2, int64s(7, 2)), codes(3, 33, 3<<1, 0)}},
		{"runs end too early", 3, [][]byte{dict(2, int64s(7, 2)), codes(3, 1, 2<<1, 0)}},
		{"runs end too early", 3, [][]byte{dict(2, int64s(7, 2)), codes(3, 1)}},
		{"runs end too early", 3, [][]byte{dict(2, int64s(7, 2)), codes(3)}}, // without the byte of the bit width
		{"dictionary of 2147483647 values", 3, [][]byte{dict(1<<31-1, make([]byte, 100_000)), codes(3, 1, 3<<1, 0)}},
		{"dictionary of 800000 values", 3, [][]byte{dict(800_000, make([]byte, 99_999)), codes(3, 1, 3<<1, 0)}},
		{"", 3, [][]byte{dict(100_000, make([]byte, 100_000)), codes(3, 1, 3<<1, 0)}},
		{"", 3, [][]byte{dict(3, int64s(7, 2)), codes(3, 1, 3<<1, 0)}},
		{"negative length", 3, [][]byte{dict(-1, int64s(7, 2)), codes(3, 1, 3<<1, 0)}},
	} {
		requireCorrupt(t, numbers(c.rows, c.pages...), c.message)
		if len(c.pages) > 1 && c.message != "" { // the same with strings
			for i, p := range c.pages {
				if bytes.Equal(p, dict(2, int64s(7, 2))) {
					c.pages[i] = dict(2, plainText("a", "b"))
				}
			}
			requireCorrupt(t, text(c.rows, c.pages...), c.message)
		}
	}
	requireCorrupt(t, text(3, dict(700_000, make([]byte, 100_000)), codes(3, 1, 3<<1, 0)), "dictionary of 700000 values")
	requireCorrupt(t, text(3, dict(2, plainText("a")), codes(3, 1, 3<<1, 0)), "dictionary of 2 values")
	requireCorrupt(t, text(3, dict(1, []byte{255, 255, 255, 255}), codes(3, 1, 3<<1, 0)), "string of 4294967295 bytes")
	requireCorrupt(t, text(1<<31+2, dict(2, plainText("a", "b")), codes(3, 1, 3<<1, 0), codes(1<<31-1, 1, 3<<1, 0)), "runs end too early")
	encoded := rawPage(rawHeader{typ: format.DictionaryPage, n: 2, encoding: format.RLE, uncompressed: -1}, int64s(7, 2))
	_, err := readError(t, numbers(3, encoded, codes(3, 1, 3<<1, 0)), Config{}, Options{})
	require.ErrorIs(t, err, ErrUnsupported)
	// All NULL: no codes, and no byte of the bit width.
	c := numberColumn(dict(1, int64s(7, 1)), codes(5, 2, 0, 0, 0, 5<<1, 0), codes(1, 2, 0, 0, 0, 1<<1, 1, 1, 1<<1, 0))
	c.dictionary, c.repetition = true, optional
	require.Equal(t, []int64{-1, -1, -1, -1, -1, 7}, readNumbers(t, oneColumn(6, c), Config{}))
}

// TestPagesToSkip reads column chunks with pages of other types between data pages.
func TestPagesToSkip(t *testing.T) {
	index := rawPage(rawHeader{typ: format.IndexPage, uncompressed: -1}, []byte("an index"))
	unknown := rawPage(rawHeader{typ: 77, uncompressed: -1}, []byte("who knows"))
	empty := plainPage(0, nil)
	a, b := plainPage(2, int64s(1, 2)), plainPage(3, int64s(3, 3))
	for _, pages := range [][][]byte{
		{a, b}, {index, a, b}, {a, index, b}, {a, b, index}, {unknown, a, unknown, unknown, b}, {empty, a, empty, index, empty, b, empty},
	} {
		require.Equal(t, []int64{1, 2, 3, 4, 5}, readNumbers(t, oneColumn(5, numberColumn(pages...)), Config{}))
	}
	text := handColumn{name: "s", physical: physicalText, converted: convertedUTF8, pages: [][]byte{
		plainPage(1, plainText("a")), index, unknown, plainPage(2, plainText("b", "c")),
	}}
	s := scanOf(t, openSources(t, Config{ReadBytes: 1}, oneColumn(3, text)), Options{})
	var got []string
	for b, err := range s.Batches(context.Background(), everything(s)) {
		require.NoError(t, err)
		got = append(got, stringsOf(&b.Columns[0])...)
	}
	require.Equal(t, []string{"a", "b", "c"}, got)
}

func TestWrongPages(t *testing.T) {
	good := plainPage(3, int64s(0, 3))
	v2 := func(h rawHeader, data []byte) []byte {
		h.typ, h.uncompressed, h.plain = format.DataPageV2, -1, true
		return rawPage(h, data)
	}
	cut := func(n int) []byte { return good[:len(good)-n] }
	long := newCompact()
	long.i32(1, 0)
	long.i32(2, 24)
	long.i32(3, 1<<31-1)
	long.begin(5)
	long.i32(1, 3)
	long.end()
	long.b = append(long.b, 0)
	negative := newCompact()
	negative.i32(1, 0)
	negative.i32(2, -24)
	negative.i32(3, 24)
	negative.begin(5)
	negative.i32(1, 3)
	negative.end()
	negative.b = append(negative.b, 0)
	for _, c := range []struct {
		message string
		rows    int64
		pages   [][]byte
	}{
		{"ends 1 rows too early", 4, [][]byte{good}},
		{"ends 3 rows too early", 6, [][]byte{good}},
		{"page of 24 bytes, but its column chunk has 23 left", 3, [][]byte{cut(1)}},
		{"page header is longer", 3, [][]byte{cut(26)}},
		{"page ends 8 bytes too early", 3, [][]byte{plainPage(3, int64s(0, 2))}},
		{"page ends", 3, [][]byte{plainPage(1<<31-1, int64s(0, 2))}},
		{"page of 2147483647 bytes", 3, [][]byte{long.b}},
		{"negative length", 3, [][]byte{negative.b}},
		{"uncompressed page", 3, [][]byte{rawPage(rawHeader{n: 3, uncompressed: 25}, int64s(0, 3))}},
		{"levels of 0 and 100 bytes", 3, [][]byte{v2(rawHeader{n: 3, rows: 3, def: 100}, int64s(0, 3))}},
		{"levels of -1 and 0 bytes", 3, [][]byte{v2(rawHeader{n: 3, rows: 3, rep: -1}, int64s(0, 3))}},
		{"levels of 2147483647 and 2147483647 bytes", 3, [][]byte{v2(rawHeader{n: 3, rows: 3, rep: 1<<31 - 1, def: 1<<31 - 1}, int64s(0, 3))}},
		{"page header", 3, [][]byte{append([]byte{0xff, 0xff}, good...)}},
		{"lacks the struct of that type", 3, [][]byte{{0x15, 0, 0x15, 0, 0x15, 0, 0}}},
	} {
		requireCorrupt(t, oneColumn(c.rows, numberColumn(c.pages...)), c.message)
	}
	c := numberColumn(good)
	c.values = 4
	requireCorrupt(t, oneColumn(3, c), "4 values for 3 rows")
	_, err := readError(t, oneColumn(3, numberColumn(plainPage(3, int64s(0, 3)))), Config{}, Options{MaxBatchBytes: 10})
	require.ErrorIs(t, err, ErrTooLarge)
	// A page that claims to be large allocates nothing.
	c = numberColumn(rawPage(rawHeader{n: 3, uncompressed: 1<<31 - 1}, encode(t, compress.Codecs.Snappy, int64s(0, 3))))
	c.codec = compress.Codecs.Snappy
	allocated, err := readError(t, oneColumn(3, c), Config{}, Options{MaxBatchBytes: 1 << 20})
	require.ErrorIs(t, err, ErrTooLarge)
	require.Less(t, allocated, uint64(4<<20))
}

// TestLongHeader reads a page whose header has long statistics.
func TestLongHeader(t *testing.T) {
	for _, n := range []int{100, 5000, 300_000} {
		w := newCompact()
		w.i32(1, 0)
		w.i32(2, 24)
		w.i32(3, 24)
		w.begin(5)
		w.i32(1, 3)
		w.i32(2, 0)
		w.i32(3, int64(format.RLE))
		w.i32(4, int64(format.RLE))
		w.begin(5) // statistics
		w.text(1, string(make([]byte, n)))
		w.end()
		w.end()
		page := append(append(w.b, 0), int64s(0, 3)...)
		for _, size := range []int{1, 1000, 0} {
			require.Equal(t, []int64{0, 1, 2, 0, 1, 2}, readNumbers(t, oneColumn(6, numberColumn(page, page)), Config{ReadBytes: size}))
		}
	}
}

// TestLongestHeader reads pages whose headers have long statistics: a header of more than 16 MiB is an error, wherever
// its column chunk ends.
func TestLongestHeader(t *testing.T) {
	for _, c := range []struct {
		statistics int
		fits       bool
	}{{16<<20 - 100, true}, {16<<20 + 1, false}} {
		w := newCompact()
		w.i32(1, 0)
		w.i32(2, 24)
		w.i32(3, 24)
		w.begin(5)
		w.i32(1, 3)
		w.i32(2, 0)
		w.i32(3, int64(format.RLE))
		w.i32(4, int64(format.RLE))
		w.begin(5) // statistics
		w.text(1, string(make([]byte, c.statistics)))
		w.end()
		w.end()
		_, err := readError(t, oneColumn(3, numberColumn(append(append(w.b, 0), int64s(0, 3)...))), Config{}, Options{})
		if c.fits {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorContains(t, err, "page header is longer than its column chunk")
	}
}

// TestBitPackedLevels reads levels in the deprecated BIT_PACKED encoding, highest bit first.
func TestBitPackedLevels(t *testing.T) {
	packed := func(n int, levels []byte, values []byte) []byte {
		return rawPage(rawHeader{n: int64(n), levels: format.BitPacked, uncompressed: -1}, append(levels, values...))
	}
	c := numberColumn(packed(10, []byte{0b10110010, 0b01000000}, int64s(1, 5)), packed(3, []byte{0b11100000}, int64s(6, 3)))
	c.repetition = optional
	require.Equal(t, []int64{1, -1, 2, 3, -1, -1, 4, -1, -1, 5, 6, 7, 8}, readNumbers(t, oneColumn(13, c), Config{}))
	c = numberColumn(packed(17, []byte{0xff, 0xff}, nil))
	c.repetition = optional
	requireCorrupt(t, oneColumn(17, c), "17 levels of 1 bits in 2 bytes")
	c = numberColumn(packed(1<<31-1, []byte{0xff, 0xff}, nil))
	c.repetition = optional
	requireCorrupt(t, oneColumn(17, c), "levels of 1 bits")
	// Lists: rows of 2, 0, 3 and 1 elements.
	v := numberColumn(packed(7, []byte{0b01001100, 0b11011110}, int64s(1, 6)))
	v.repetition, v.values = repeated, 7
	s := scanOf(t, openSources(t, Config{}, oneColumn(4, v)), Options{})
	for b, err := range s.Batches(context.Background(), everything(s)) {
		require.NoError(t, err)
		require.Equal(t, []int32{0, 2, 2, 5, 6}, b.Columns[0].Offsets)
		require.Equal(t, []int64{1, 2, 3, 4, 5, 6}, valuesOf[int64](&b.Columns[0].Children[0]))
	}
	w := numberColumn(rawPage(rawHeader{n: 3, levels: format.PlainDictionary, uncompressed: -1}, int64s(0, 4)))
	w.repetition = optional
	_, err := readError(t, oneColumn(3, w), Config{}, Options{})
	require.ErrorIs(t, err, ErrUnsupported)
}

// TestRowsOfErrors checks the row of a value out of range, after NULLs, earlier pages and earlier batches.
func TestRowsOfErrors(t *testing.T) {
	numbers := func(values ...int32) (b []byte) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
		return b
	}
	defs := func(runs ...byte) []byte { return append([]byte{byte(len(runs)), 0, 0, 0}, runs...) }
	column := func(repetition int64, pages ...[]byte) handColumn {
		return handColumn{name: "i", physical: physicalInt32, converted: convertedInt8, repetition: repetition, pages: pages}
	}
	flat := column(required, plainPage(3, numbers(1, 2, 3)), plainPage(3, numbers(4, 300, 5)))
	sparse := column(optional,
		plainPage(9, append(defs(3<<1, 0, 1<<1|1, 0b101101), numbers(1, 2, 3, 4)...)),
		// 2 values, then . 1 . 1 . 1 1
		plainPage(9, append(defs(2<<1, 1, 1<<1|1, 0b1101010), numbers(1, 2, 3, 4, 300, 5)...)))
	list := column(repeated, plainPage(6, bytes.Join([][]byte{defs(1<<1|1, 0b101100), defs(1<<1|1, 0b111101), numbers(1, 2, 3, 300, 5)}, nil)))
	list.values = 6
	for _, c := range []struct {
		column handColumn
		rows   int64
		row    int64
	}{{flat, 6, 4}, {sparse, 18, 16}, {list, 3, 2}} {
		for rows := 1; rows <= 20; rows++ {
			_, err := readError(t, oneColumn(c.rows, c.column), Config{}, Options{BatchRows: rows})
			require.ErrorIs(t, err, ErrOutOfRange)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.row, e.Row, "batches of %d", rows)
			require.Equal(t, "i", e.Column)
		}
	}
	dict := column(required, rawPage(rawHeader{typ: format.DictionaryPage, n: 2, uncompressed: -1}, numbers(1, 300)),
		rawPage(rawHeader{n: 3, encoding: format.RLEDictionary, uncompressed: -1}, []byte{1, 3 << 1, 0}))
	dict.dictionary = true
	_, err := readError(t, oneColumn(3, dict), Config{}, Options{})
	require.ErrorIs(t, err, ErrOutOfRange)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.EqualValues(t, -1, e.Row, "the error has no row")
	require.ErrorContains(t, err, "value 1 of the dictionary")
}
