// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// Faults must not look like the end of the rows.

// TestFaultIsNotTheEnd replaces the second page of a column chunk by an empty stream. The codec returns io.EOF, which
// must neither end the rows nor lead to the third page.
func TestFaultIsNotTheEnd(t *testing.T) {
	types := map[string]arrow.DataType{
		"flat":   arrow.PrimitiveTypes.Int64,
		"vector": arrow.ListOf(arrow.PrimitiveTypes.Float32),
		"list":   arrow.ListOf(arrow.PrimitiveTypes.Int64),
	}
	// Streams without content, as long as the page.
	empty := map[compress.Compression]func(page []byte){
		compress.Codecs.Zstd: func(page []byte) { // a skippable frame (RFC 8878, 3.1.2)
			copy(page, "\x50\x2a\x4d\x18")
			binary.LittleEndian.PutUint32(page[4:], uint32(len(page)-8))
		},
		compress.Codecs.Gzip: func(page []byte) { // a member with a long extra field (RFC 1952, 2.3)
			clear(page)
			copy(page, "\x1f\x8b\x08\x04")
			binary.LittleEndian.PutUint16(page[10:], uint16(len(page)-22))
			copy(page[len(page)-10:], "\x03\x00")
		},
	}
	for codec, erase := range empty {
		for name, dt := range types {
			t.Run(fmt.Sprint(codec, "/", name), func(t *testing.T) {
				file := writeArrow(t, rand.New(rand.NewPCG(1, 2)), []arrow.Field{{Name: "n", Type: dt}}, 300, 0, 0, 300,
					parquet.WithCompression(codec), parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(1), parquet.WithBatchSize(100))
				want, err := rowsOf(t, file)
				require.NoError(t, err)
				require.Len(t, want, 300)

				first, size, err := page.ParseHeader(file[4:])
				require.NoError(t, err)
				at := 4 + size + int(first.Compressed)
				second, size, err := page.ParseHeader(file[at:])
				require.NoError(t, err)
				erase(file[at+size:][:second.Compressed])

				got, err := rowsOf(t, file)
				require.ErrorIs(t, err, ErrCorrupt)
				require.False(t, errors.Is(err, io.EOF), "%v", err)
				require.NotContains(t, err.Error(), "too early")
				require.Less(t, len(got), 299)
				require.Equal(t, want[:len(got)], got)
			})
		}
	}
}

// rowsOf reads the only column of a file row by row, and returns the rows before the first error.
func rowsOf(t *testing.T, file []byte) (rows []string, err error) {
	t.Helper()
	s, err := openBytes(t, file).Scan(Options{BatchRows: 1})
	require.NoError(t, err)
	for b, err := range s.Batches(t.Context(), s.SplitByCount(1)[0]) {
		if err != nil {
			return rows, err
		}
		c := &b.Columns[0]
		if c.Type.Kind == column.List {
			c = &c.Children[0]
		}
		rows = append(rows, fmt.Sprintf("%x", c.Values))
	}
	return rows, nil
}
