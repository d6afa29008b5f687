// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"
)

// Files as other writers make them, byte by byte.

// createdBy adds the name of a writer to a file whose footer has fields up to 4.
func createdBy(file []byte, writer string) []byte {
	end := len(file) - 8
	footer := file[end-int(binary.LittleEndian.Uint32(file[end:])) : end]
	w := &compactWriter{b: append([]byte{}, footer[:len(footer)-1]...), last: []int16{4}}
	w.text(6, writer)
	return withFooter(append([]byte{}, file[:end-len(footer)]...), w)
}

// TestPagesMarkedAsUncompressed reads pages V2 of parquet-cpp before Arrow 3.0, which marks compressed values as
// uncompressed (ARROW-17100). Other writers mean it.
func TestPagesMarkedAsUncompressed(t *testing.T) {
	levels := []byte{2<<1 | 1, 0b0111_1011, 0b0000_0001} // 9 rows, two of them NULL
	want := []int64{5, 6, -1, 7, 8, 9, 10, -1, 11}
	values := int64s(5, 7)
	codecs := compress.Codecs
	for _, kind := range []compress.Compression{codecs.Uncompressed, codecs.Snappy, codecs.Gzip, codecs.Brotli, codecs.Zstd, codecs.Lz4Raw} {
		compressed := encode(t, kind, values)
		file := func(values []byte, plain bool, writer string) []byte {
			h := rawHeader{typ: dataPageV2, n: 9, rows: 9, def: 3, plain: plain, uncompressed: 3 + 7*8}
			c := numberColumn(rawPage(h, append(append([]byte{}, levels...), values...)))
			c.codec, c.repetition = kind, optional
			return createdBy(oneColumn(9, c), writer)
		}
		for _, writer := range []string{"parquet-cpp version 1.5.1-SNAPSHOT", "parquet-cpp version 1.3.2", "parquet-cpp"} {
			for _, plain := range []bool{true, false} {
				require.Equal(t, want, readNumbers(t, file(compressed, plain, writer), Config{}), "%v of %s", kind, writer)
			}
		}
		for _, writer := range []string{"parquet-cpp-arrow version 3.0.0", "parquet-mr version 1.12.3 (build 1)", "parquet-cpp version 2.0.0", ""} {
			require.Equal(t, want, readNumbers(t, file(values, true, writer), Config{}), "%v of %s", kind, writer)
			require.Equal(t, want, readNumbers(t, file(compressed, kind == codecs.Uncompressed, writer), Config{}), "%v of %s", kind, writer)
		}
	}
}
