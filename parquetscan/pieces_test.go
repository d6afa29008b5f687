// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Row groups cut into pieces at the borders of pages.

// openLocal opens files on disk.
func openLocal(t testing.TB, files ...[]byte) *Dataset {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, b := range files {
		paths = append(paths, filepath.Join(dir, string(rune('a'+i))+".parquet"))
		require.NoError(t, os.WriteFile(paths[i], b, 0o600))
	}
	d, err := Open(context.Background(), paths...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// planOf returns the pieces of a scan as the rows where they end, without the least size of a piece.
func planOf(s *Scan) (buckets []Bucket, rows []int64) {
	s.piece = 1
	buckets = s.plan()
	for _, b := range buckets {
		rows = append(rows, b.Rows)
	}
	return buckets, rows
}

// TestPieces cuts row groups that are few or uneven, evenly by their bytes, at the borders of pages of 100 rows.
func TestPieces(t *testing.T) {
	small := Options{Workers: 2}
	for name, c := range map[string]struct {
		groups []int
		o      Options
		want   []int64
	}{
		"one group":   {[]int{1600}, small, []int64{200, 200, 200, 200, 200, 200, 200, 200}},
		"short pages": {[]int{300}, small, []int64{100, 100, 100}},
		"one page":    {[]int{100}, small, []int64{100}},
		"one worker":  {[]int{1600}, Options{Workers: 1}, []int64{1600}},
		"uneven":      {[]int{100, 1500, 0, 200}, small, []int64{100, 200, 200, 200, 200, 200, 200, 300, 200}},
		"enough":      {[]int{9, 9, 9, 9, 9, 9, 9, 9000, 9}, small, []int64{9, 9, 9, 9, 9, 9, 9, 9000, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			s := scanOf(t, openLocal(t, numbers(0, c.groups...)), c.o)
			buckets, rows := planOf(s)
			require.Equal(t, c.want, rows)
			requirePieces(t, s, buckets)
			s = scanOf(t, openSources(t, Config{}, numbers(0, c.groups...)), c.o)
			s.piece = 1
			require.Equal(t, s.SplitByBytes(0), s.plan(), "a file that is not local is cut")
		})
	}
	s := scanOf(t, openLocal(t, numbers(0, 1600)), small)
	require.Len(t, s.plan(), 1, "pieces of less than leastPiece")
}

// requirePieces checks that buckets, through JSON, have all rows of a scan of column n, in order.
func requirePieces(t *testing.T, s *Scan, buckets []Bucket) {
	t.Helper()
	next, bytes := int64(0), int64(0)
	for i, b := range buckets {
		require.Equal(t, i, b.Number)
		text, err := json.Marshal(b)
		require.NoError(t, err)
		var again Bucket
		require.NoError(t, json.Unmarshal(text, &again))
		require.Equal(t, b, again)
		out, err := readBucket(s, again)
		require.NoError(t, err)
		require.Len(t, out, int(b.Rows))
		for _, v := range out {
			require.Equal(t, next, v)
			next++
		}
		bytes += b.Bytes
	}
	require.Equal(t, s.ds.rows, next)
	require.Equal(t, s.SplitByCount(1)[0].Bytes, bytes)
}

// TestPiecesOfMatchingRows cuts only the rows that the page index leaves, and reports the progress of all.
func TestPiecesOfMatchingRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := &column.Batch{Rows: 8000, Columns: []column.Column{column.Of("n", make([]int64, 8000)), column.Of("x", make([]int64, 8000))}}
	for i := range b.Rows {
		valuesOf[int64](&b.Columns[0])[i] = int64(i)
		valuesOf[int64](&b.Columns[1])[i] = rng.Int64()
	}
	file := writeBatches(t, b.Schema(), WriterOptions{PageBytes: 800, RowGroupRows: 4000}, b)
	var last Progress
	s := scanOf(t, openLocal(t, file), Options{
		Workers: 2, Filter: And(Ge("n", 5000), Lt("n", 5800)), Progress: func(p Progress) { last = p },
	})
	buckets, rows := planOf(s)
	require.EqualValues(t, 4000, rows[0], "a row group without matching rows")
	require.Greater(t, len(rows), 5)
	for _, n := range rows[2 : len(rows)-1] {
		require.InDelta(t, 100, n, 100, "matching rows: %v", rows)
	}
	got := 0
	for b, err := range s.All(context.Background()) {
		require.NoError(t, err)
		got += b.Rows
	}
	require.Equal(t, 800, got)
	require.Equal(t, Progress{8000, 8000, last.TotalBytes, last.TotalBytes, len(buckets), len(buckets)}, last)
	r, err := s.Range("n", buckets[3])
	require.NoError(t, err)
	require.False(t, r.Exact, "the range of a piece")
}

// TestPiecesOfLists cuts lists only in pages of version 2, whose headers count rows.
func TestPiecesOfLists(t *testing.T) {
	fields := []arrow.Field{{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true}}
	for version, want := range map[parquet.DataPageVersion]bool{parquet.DataPageV1: false, parquet.DataPageV2: true} {
		rng := rand.New(rand.NewPCG(1, 3))
		b := writeArrow(t, rng, fields, 2000, 0.1, 0, 2000, parquet.WithDataPageVersion(version), parquet.WithDataPageSize(500),
			parquet.WithBatchSize(50), parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(false))
		d := openLocal(t, b)
		s := scanOf(t, d, Options{Workers: 2, Ordered: true, RowNumbers: "#"})
		buckets, _ := planOf(s)
		require.Equal(t, want, len(buckets) > 4)
		whole, rows := allRows(t, d, Options{}), map[int64]string{}
		for b, err := range s.All(context.Background(), buckets...) {
			require.NoError(t, err)
			rowTexts(t, rows, b)
		}
		require.Equal(t, whole, rows)
	}
}

// TestBucketRows refuses rows that the row group does not have.
func TestBucketRows(t *testing.T) {
	s := scanOf(t, openSources(t, Config{}, numbers(0, 100, 50)), Options{})
	for _, p := range []struct {
		end      int
		from, to int64
		rows     int64
	}{{1, 10, 101, 91}, {1, -1, 5, 6}, {1, 5, 5, 0}, {1, 5, 0, -5}, {2, 10, 120, 110}, {1, 10, 20, 11}} {
		b := s.SplitByCount(2)[0]
		b.Parts[0].End, b.Parts[0].From, b.Parts[0].To, b.Parts[0].Rows = p.end, p.from, p.to, p.rows
		_, err := s.Reader(b)
		requireTyped(t, err)
		require.ErrorContains(t, err, "bucket", "%v", p)
	}
}
