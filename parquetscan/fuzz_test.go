// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// Fuzz targets of all parsers of bytes.

// fuzzLimit bounds pages and columns while fuzzing.
const fuzzLimit = 1 << 20

// readAll reads all rows of an arbitrary file, and returns their number.
func readAll(b []byte, o Options) (rows int64, err error) {
	return readAllWith(Config{ReadBytes: 512}, b, o)
}

// readAllWith reads all rows of an arbitrary file that is opened with a Config, and returns their number.
func readAllWith(cfg Config, b []byte, o Options) (rows int64, err error) {
	d, err := cfg.OpenSources(context.Background(), Source{Name: "fuzz", Reader: bytes.NewReader(b), Size: int64(len(b))})
	if err != nil {
		return 0, err
	}
	defer d.Close()
	s, err := d.Scan(o)
	if err != nil {
		return 0, err
	}
	for _, bucket := range s.SplitByBytes(1) {
		r, err := s.Reader(bucket)
		if err != nil {
			return rows, err
		}
		var batch column.Batch
		for {
			err := r.ReadInto(context.Background(), &batch)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return rows, err
			}
			rows += int64(batch.Rows)
			if rows > 1<<20 { // a few bytes can claim any number of rows: NULLs, or codes of no bits
				return rows, nil
			}
		}
	}
	return rows, nil
}

// fuzzFiles are small files of all types, in several ways.
func fuzzFiles(t testing.TB) [][]byte {
	var files [][]byte
	for i, nullable := range []bool{false, true} {
		fields := everyType(nullable)
		for k, f := range fields {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(k)))
			options := []parquet.WriterProperty{
				parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[k%2]), parquet.WithDataPageSize(64),
				parquet.WithCompression([]compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd}[k%3]),
				parquet.WithDictionaryDefault(k%5 < 3), parquet.WithStats(k%2 == 0),
			}
			files = append(files, writeArrow(t, rng, []arrow.Field{f}, 20, 0.3, 5, 12, options...))
		}
	}
	// Every kind of column, with its type in Arrow's schema in the footer.
	b := columntest.Batch(rand.New(rand.NewPCG(4, 4)), columntest.Fields(), 20, 0.3)
	for i := range b.Columns {
		part := column.NewBatch(b.Columns[i])
		files = append(files, writeBatches(t, part.Schema(), WriterOptions{Codec: Uncompressed}, part))
	}
	return files
}

func FuzzFile(f *testing.F) {
	for _, b := range fuzzFiles(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err := readAll(b, Options{MaxBatchBytes: fuzzLimit, BatchRows: 1000})
		runtime.ReadMemStats(&after)
		requireTyped(t, err)
		require.Less(t, time.Since(start), 20*time.Second)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<30+1000*len(b)))
	})
}

// requireTyped checks that an error of a file names the file.
func requireTyped(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("error %v is no *Error", err)
	}
}

// FuzzChunk changes bytes of pages, and compares the rows with the reference if both succeed.
func FuzzChunk(f *testing.F) {
	files := fuzzFiles(f)
	for i := range files {
		f.Add(uint(i), uint(100), byte(1), uint(200), byte(128))
	}
	f.Fuzz(func(t *testing.T, n, at1 uint, x1 byte, at2 uint, x2 byte) {
		b := bytes.Clone(files[n%uint(len(files))])
		b[at1%uint(len(b))] ^= x1
		b[at2%uint(len(b))] ^= x2
		_, err := readAll(b, Options{MaxBatchBytes: fuzzLimit})
		requireTyped(t, err)
	})
}

func FuzzPageHeader(f *testing.F) {
	f.Add([]byte{0x15, 0x00, 0x15, 0x20, 0x15, 0x20, 0x2c, 0x15, 0x08, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x00, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, err := page.ParseHeader(b)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		require.LessOrEqual(t, n, len(b))
		if n > 0 {
			// All bytes suffice, and fewer do not.
			again, m, err := page.ParseHeader(b[:n])
			require.NoError(t, err)
			require.Equal(t, n, m)
			require.Equal(t, h, again)
			for i := range n {
				_, m, err := page.ParseHeader(b[:i])
				require.NoError(t, err)
				require.Zero(t, m, "%d bytes of %d", i, n)
			}
		}
	})
}

// TestCutFiles reads every beginning of a file, and every file with one byte changed: reading returns an error or all
// rows.
func TestCutFiles(t *testing.T) {
	for i, b := range fuzzFiles(t) {
		for cut := 0; cut < len(b); cut += 1 + len(b)/100 {
			_, err := readAll(b[:cut], Options{MaxBatchBytes: fuzzLimit})
			require.Error(t, err, "file %d cut at %d of %d", i, cut, len(b))
			requireTyped(t, err)
		}
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		changes := 300
		if soak.Reduced {
			changes = 30
		}
		for range changes {
			c := bytes.Clone(b)
			c[rng.IntN(len(c))] ^= 1 << rng.IntN(8)
			_, err := readAll(c, Options{MaxBatchBytes: fuzzLimit})
			requireTyped(t, err)
		}
		_, err := readAll(b, Options{MaxBatchBytes: fuzzLimit})
		require.NoError(t, err, fmt.Sprint(i))
	}
}
