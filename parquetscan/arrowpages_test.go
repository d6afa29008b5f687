// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/page"
)

// Encrypted pages, which arrow-go reads.

// encryptedFile opens an encrypted file of random rows in short pages.
func encryptedFile(t *testing.T, fields []arrow.Field, version parquet.DataPageVersion) *Dataset {
	t.Helper()
	key := strings.Repeat("f", 16)
	b := writeArrow(t, rand.New(rand.NewPCG(1, 2)), fields, 200, 0.2, 0, 100, parquet.WithDataPageVersion(version), parquet.WithDictionaryDefault(false),
		parquet.WithDataPageSize(80), parquet.WithBatchSize(10), parquet.WithEncryptionProperties(parquet.NewFileEncryptionProperties(key)))
	d, err := openEncrypted(b, Config{Decryption: parquet.NewFileDecryptionProperties(parquet.WithFooterKey(key))})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// TestEncryptedPages reads encrypted pages of both versions, with NULLs and lists, and skips some of them.
func TestEncryptedPages(t *testing.T) {
	fields := []arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int64},
		{Name: "b", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "c", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		d := encryptedFile(t, fields, version)
		requireEqual(t, d, Options{})
		requireEqual(t, d, Options{BatchRows: 7})
		checkSelections(t, rand.New(rand.NewPCG(3, 4)), d, Options{})
		f := d.files[0]
		for leaf := range fields {
			meta, err := f.Chunk(0, leaf)
			require.NoError(t, err)
			all, err := page.NewDecrypted(&f.File, 0, leaf, &meta, 1<<20)
			require.NoError(t, err)
			second, err := page.NewDecrypted(&f.File, 0, leaf, &meta, 1<<20)
			require.NoError(t, err)
			pages := 0
			for ; ; pages++ {
				h, err := all.Peek()
				require.NoError(t, err)
				require.Negative(t, h.Rows(f.Nodes[leaf].First()), "the header of a page that was not decrypted")
				p, err := all.Next()
				if pages%2 == 0 {
					require.Equal(t, err, second.Skip())
				} else if other, err := second.Next(); err == nil {
					require.Equal(t, p.NumValues, other.NumValues)
					require.True(t, bytes.Equal(p.Data, other.Data))
				}
				if err != nil {
					require.ErrorIs(t, err, io.EOF)
					break
				}
			}
			require.Greater(t, pages, 3)
			meta.Compressed = f.src.Size
			_, err = page.NewDecrypted(&f.File, 0, leaf, &meta, 1<<20)
			require.ErrorIs(t, err, ErrCorrupt)
		}
	}
}

// TestLimitOfEncryptedPages reads encrypted pages of as many bytes as a batch may have, and of one more.
func TestLimitOfEncryptedPages(t *testing.T) {
	d := encryptedFile(t, []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, parquet.DataPageV1)
	meta, err := d.files[0].Chunk(0, 0)
	require.NoError(t, err)
	p, err := page.NewDecrypted(&d.files[0].File, 0, 0, &meta, 1<<20)
	require.NoError(t, err)
	most := 0
	for page, err := p.Next(); err == nil; page, err = p.Next() {
		most = max(most, len(page.Data))
	}
	require.NotZero(t, most)
	require.NoError(t, lastError(t, d, Options{MaxBatchBytes: most}))
	err = lastError(t, d, Options{MaxBatchBytes: most - 1})
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, "page of ")
}

// lastError reads all rows, and returns the error that ended the read, nil after the last row.
func lastError(t *testing.T, d *Dataset, o Options) (last error) {
	t.Helper()
	s := scanOf(t, d, o)
	for _, last = range s.Batches(t.Context(), everything(s)) {
	}
	return last
}
