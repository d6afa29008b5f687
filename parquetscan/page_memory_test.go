// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// The memory of pages whose headers claim more than they have.

// reach is the content that one byte of a codec can have, for the codecs that have such a bound: a copy of Snappy has
// 64 bytes in 3, a byte of LZ4 adds 255, and two bits of Deflate are a match of 258 bytes.
var reach = map[compress.Compression]int{
	compress.Codecs.Snappy: 22, compress.Codecs.Lz4Raw: 256, compress.Codecs.Lz4: 256, compress.Codecs.Gzip: 1032,
}

// TestClaimsOfPagesTakeNoMemory has pages of each codec that claim a longer content than they have: beyond what the
// codec can reach they take no memory, and within its reach no more than that.
func TestClaimsOfPagesTakeNoMemory(t *testing.T) {
	random := make([]byte, 30_000)
	for i := range random {
		random[i] = byte(rand.New(rand.NewPCG(uint64(i), 1)).Uint32())
	}
	codecs := compress.Codecs
	for _, kind := range []compress.Compression{codecs.Snappy, codecs.Gzip, codecs.Brotli, codecs.Zstd, codecs.Lz4, codecs.Lz4Raw} {
		from := kind
		if kind == codecs.Lz4 {
			from = codecs.Lz4Raw
		}
		for _, content := range [][]byte{random[:16], random, make([]byte, 10_000)} {
			data := encode(t, from, content)
			claims := []int{len(content) + 8, 100 << 20, 200 << 20}
			if most := reach[kind]; most > 0 {
				claims = append(claims, (len(data)+1)*most, (len(data)+1)*most+1, 2*(len(data)+1)*most)
			}
			for _, claim := range claims {
				for _, typ := range []format.PageType{format.DataPage, format.DataPageV2, format.DictionaryPage} {
					c := numberColumn(rawPage(rawHeader{typ: typ, n: 8, rows: 8, uncompressed: int64(claim)}, data))
					c.codec, c.dictionary = kind, typ == format.DictionaryPage
					allocated, err := readError(t, oneColumn(8, c), Config{ReadBytes: 1000}, Options{})
					require.ErrorIs(t, err, ErrCorrupt, "%v: %d bytes as %d", kind, len(data), claim)
					most := 1<<20 + 8*len(content)
					if claim <= (len(data)+1)*reach[kind] {
						most += claim
					}
					require.Less(t, allocated, uint64(most), "%v: %d bytes as %d", kind, len(data), claim)
				}
			}
		}
	}
}

// TestZstdFramesClaimNoContent has frames whose header claims a content that their blocks do not have.
func TestZstdFramesClaimNoContent(t *testing.T) {
	for _, size := range []uint64{100 << 20, 200 << 20} {
		block := []byte{16<<3 | 1, 0, 0}
		frame := append([]byte("\x28\xb5\x2f\xfd\xe0"), make([]byte, 8)...)
		for i := range 8 {
			frame[5+i] = byte(size >> (8 * i))
		}
		frame = append(append(frame, block...), make([]byte, 16)...)
		c := numberColumn(rawPage(rawHeader{n: 2, uncompressed: int64(size)}, frame))
		c.codec = compress.Codecs.Zstd
		allocated, err := readError(t, oneColumn(2, c), Config{ReadBytes: 1000}, Options{})
		require.ErrorIs(t, err, ErrCorrupt)
		require.Less(t, allocated, uint64(1<<20), "a content of %d bytes", size)
	}
}

// TestBestCompression reads pages of zeros, which codecs compress best.
func TestBestCompression(t *testing.T) {
	soak.NoRace(t)
	const rows = 1 << 20
	zeros := make([]byte, 8*rows)
	codecs := compress.Codecs
	for _, kind := range []compress.Compression{codecs.Snappy, codecs.Gzip, codecs.Brotli, codecs.Zstd, codecs.Lz4Raw} {
		data := encode(t, kind, zeros)
		for _, typ := range []format.PageType{format.DataPage, format.DataPageV2} {
			c := numberColumn(rawPage(rawHeader{typ: typ, n: rows, rows: rows, uncompressed: 8 * rows}, data))
			c.codec = kind
			d := openSources(t, Config{}, oneColumn(rows, c))
			read := 0
			for b, err := range scanOf(t, d, Options{Workers: 1}).All(t.Context()) {
				require.NoError(t, err, "%v, %d bytes", kind, len(data))
				require.Equal(t, make([]int64, b.Rows), valuesOf[int64](&b.Columns[0]))
				read += b.Rows
			}
			require.Equal(t, rows, read)
		}
	}
}

// allocatedByFirst returns the bytes allocated by the first batch of a file, and its error.
func allocatedByFirst(b []byte) (allocated uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = func() error {
		d, err := Config{ReadBytes: 1000}.OpenSources(context.Background(), Source{Name: "file", Reader: bytes.NewReader(b), Size: int64(len(b))})
		if err != nil {
			return err
		}
		defer d.Close()
		s, err := d.Scan(Options{})
		if err != nil {
			return err
		}
		r, err := s.Reader(everything(s))
		if err != nil {
			return err
		}
		return r.ReadInto(context.Background(), new(column.Batch))
	}()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// TestClaimsOfValuesTakeNoMemory has pages of all encodings that claim more values, levels and entries than their bytes
// have.
func TestClaimsOfValuesTakeNoMemory(t *testing.T) {
	physical := map[string]int64{"bool": physicalBool, "int32": physicalInt32, "int64": physicalInt64, "text": physicalText, "fixed": physicalFixed}
	r := rand.New(rand.NewPCG(3, 4))
	for name, typ := range physical {
		for encoding := format.Plain; encoding <= format.ByteStreamSplit; encoding++ {
			for _, repetition := range []int64{required, optional, repeated} {
				for _, claim := range []int64{100, 1 << 20, math.MaxInt32} {
					for round := range 3 {
						data := make([]byte, 40+r.IntN(100))
						for i := range data {
							data[i] = []byte{0, 0, 1, 2, 0x80, 0xff, 127, byte(r.Uint32())}[r.IntN(8)]
						}
						if round == 1 { // levels of few values
							data = append([]byte{2, 0, 0, 0, 2 << 1, 1}, data...)
						}
						pages := [][]byte{rawPage(rawHeader{
							typ: []format.PageType{format.DataPage, format.DataPageV2}[r.IntN(2)], n: claim, rows: claim, encoding: encoding, uncompressed: -1,
							levels: []format.Encoding{format.RLE, format.BitPacked}[r.IntN(2)], def: int64(r.IntN(20)), rep: int64(r.IntN(20)), plain: true,
						}, data)}
						c := handColumn{name: "c", physical: typ, converted: convertedNever, repetition: repetition, pages: pages, values: claim}
						if c.dictionary = round == 2; c.dictionary {
							c.pages = [][]byte{rawPage(rawHeader{typ: format.DictionaryPage, n: claim, uncompressed: -1}, data), pages[0]}
						}
						allocated, err := allocatedByFirst(oneColumn(claim, c))
						if err != nil {
							requireTyped(t, err)
						}
						require.Less(t, allocated, uint64(2<<20), fmt.Sprintf("%s, encoding %d, repetition %d, %d values", name, encoding, repetition, claim))
					}
				}
			}
		}
	}
}
