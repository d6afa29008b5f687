// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// Situations of Parquet files.

type buffer = bytes.Buffer

func reader(text string) *strings.Reader { return strings.NewReader(text) }

func newContext() context.Context { return context.Background() }

// items returns the path of a new file with a column id of the numbers.
func items(t *testing.T, ids ...int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "items.parquet")
	require.NoError(t, parquetscan.WriteFile(t.Context(), path, column.NewBatch(column.Of("id", ids))))
	return path
}

// scan reads a file and returns the first error.
func scan(t *testing.T, path string, o parquetscan.Options) error {
	t.Helper()
	ds, err := parquetscan.Open(t.Context(), path)
	if err != nil {
		return err
	}
	defer func() { _ = ds.Close() }()
	s, err := ds.Scan(o)
	if err != nil {
		return err
	}
	for _, err := range s.All(t.Context()) {
		if err != nil {
			return err
		}
	}
	return nil
}

// replace replaces bytes of a file.
func replace(t *testing.T, path, old, with string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(data), old)
	require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(data, []byte(old), []byte(with)), 0o600))
}

// arrowFile returns the path of a file that arrow-go wrote, with one column c.
func arrowFile(t *testing.T, typ arrow.DataType, json string, props *parquet.WriterProperties) string {
	t.Helper()
	arr, _, err := array.FromJSON(memory.DefaultAllocator, typ, reader(json))
	require.NoError(t, err)
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: typ, Nullable: true}}, nil)
	path := filepath.Join(t.TempDir(), "other.parquet")
	f, err := os.Create(path)
	require.NoError(t, err)
	w, err := pqarrow.NewFileWriter(schema, f, props, pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.Write(array.NewRecordBatch(schema, []arrow.Array{arr}, int64(arr.Len()))))
	require.NoError(t, w.Close())
	return path
}

func fileSituations() []situation {
	noFile := func(t *testing.T) error {
		path := filepath.Join(t.TempDir(), "text.parquet")
		require.NoError(t, os.WriteFile(path, []byte("id,name\n1,lamp\n2,desk\n"), 0o600))
		return scan(t, path, parquetscan.Options{})
	}
	scanned := func(o parquetscan.Options) func(*testing.T) error {
		return func(t *testing.T) error { return scan(t, items(t, 1, 2, math.MaxInt64), o) }
	}
	return []situation{
		{"parquetscan.Error", "read a text file", as[*parquetscan.Error](), noFile},
		{"parquetscan.ErrCorrupt", "read a text file", is(parquetscan.ErrCorrupt), noFile},
		{"parquetscan.ErrUnsupported", "read a file that is compressed with LZO", is(parquetscan.ErrUnsupported), func(t *testing.T) error {
			// the field codec of ColumnMetaData follows the path of the column: SNAPPY becomes LZO
			path := items(t, 1, 2)
			replace(t, path, "\x19\x18\x02id\x15\x02", "\x19\x18\x02id\x15\x06")
			return scan(t, path, parquetscan.Options{})
		}},
		{"parquetscan.ErrTooLarge", "read a page above MaxBatchBytes", is(parquetscan.ErrTooLarge), scanned(parquetscan.Options{MaxBatchBytes: 8})},
		{"parquetscan.ErrOutOfRange", "read 356 in a column of int8", is(parquetscan.ErrOutOfRange), func(t *testing.T) error {
			path := arrowFile(t, arrow.PrimitiveTypes.Int8, "[100]", parquet.NewWriterProperties(parquet.WithDictionaryDefault(false)))
			replace(t, path, "\x64\x00\x00\x00", "\x64\x01\x00\x00")
			return scan(t, path, parquetscan.Options{})
		}},
		{"parquetscan.ErrRagged", "read lists of different length as vectors", is(parquetscan.ErrRagged), func(t *testing.T) error {
			path := arrowFile(t, arrow.ListOf(arrow.PrimitiveTypes.Float32), "[[1, 2], [3]]", parquet.NewWriterProperties())
			return scan(t, path, parquetscan.Options{Vectors: []string{"c"}})
		}},
		{"parquetscan.ErrNoColumn", "read a column that the file lacks", is(parquetscan.ErrNoColumn), scanned(parquetscan.Options{Columns: []string{"price"}})},
		{"parquetscan.ErrFilter", "compare numbers with a text", is(parquetscan.ErrFilter), scanned(parquetscan.Options{Filter: parquetscan.Eq("id", "one")})},
		{"parquetscan.ErrChanged", "resume a bucket of a file that was replaced", is(parquetscan.ErrChanged), func(t *testing.T) error {
			path := items(t, 1, 2)
			ds, err := parquetscan.Open(t.Context(), path)
			require.NoError(t, err)
			s, err := ds.Scan(parquetscan.Options{})
			require.NoError(t, err)
			buckets := s.SplitByCount(1)
			require.NoError(t, ds.Close())
			require.NoError(t, parquetscan.WriteFile(t.Context(), path, column.NewBatch(column.Of("id", make([]int64, 1000)))))
			ds, err = parquetscan.Open(t.Context(), path)
			require.NoError(t, err)
			defer func() { _ = ds.Close() }()
			s, err = ds.Scan(parquetscan.Options{})
			require.NoError(t, err)
			_, err = s.Reader(buckets[0])
			return err
		}},
		{"parquetscan.ErrEncrypted", "read an encrypted file without its key", is(parquetscan.ErrEncrypted), func(t *testing.T) error {
			keys := parquet.NewFileEncryptionProperties("0123456789012345")
			path := arrowFile(t, arrow.PrimitiveTypes.Int64, "[1]", parquet.NewWriterProperties(parquet.WithEncryptionProperties(keys)))
			return scan(t, path, parquetscan.Options{})
		}},
		{"parquetscan.ErrClosed", "read after Close", is(parquetscan.ErrClosed), func(t *testing.T) error {
			ds, err := parquetscan.Open(t.Context(), items(t, 1))
			require.NoError(t, err)
			require.NoError(t, ds.Close())
			for _, err := range ds.Batches(t.Context()) {
				return err
			}
			return nil
		}},
	}
}
