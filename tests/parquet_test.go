// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan"
)

// Kill and resume of examples/parquet-load.

const (
	loadRows     = 12_000
	loadRowGroup = 1_000
	loadDim      = 96
)

// loadText returns the text of row k, nil for NULL.
func loadText(k int) *string {
	text := fmt.Sprint("label ", k%13)
	switch k % 17 {
	case 5:
		return nil
	case 6:
		text = ""
	}
	return &text
}

// writeLoadFile writes rows 0 to loadRows-1 in row groups of loadRowGroup rows.
func writeLoadFile(t *testing.T, path string) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "embedding", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32)},
		{Name: "label", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	v := make([]float32, loadDim)
	for k := range loadRows {
		b.Field(0).(*array.Int64Builder).Append(int64(k))
		b.Field(1).(*array.ListBuilder).Append(true)
		b.Field(1).(*array.ListBuilder).ValueBuilder().(*array.Float32Builder).AppendValues(vectorOf(k, v), nil)
		if text := loadText(k); text != nil {
			b.Field(2).(*array.StringBuilder).Append(*text)
		} else {
			b.Field(2).AppendNull()
		}
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{rec})
	defer table.Release()
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, pqarrow.WriteTable(table, f, loadRowGroup, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps()))
}

// readProgress reads the progress file. If the file exists, it must be complete.
func readProgress(t *testing.T, path string) (c bulk.Checkpoint) {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return c
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &c), "%s", text)
	return c
}

// rowGroups returns the row groups of a file as buckets.
func rowGroups(t *testing.T, path string) []parquetscan.Bucket {
	t.Helper()
	ds, err := parquetscan.Open(t.Context(), path)
	require.NoError(t, err)
	defer ds.Close()
	scan, err := ds.Scan(parquetscan.Options{})
	require.NoError(t, err)
	return scan.SplitByBytes(1)
}

// damage overwrites the columns of some row groups, so that reading them fails, and restores the file's modification
// time.
func damage(t *testing.T, path string, buckets []parquetscan.Bucket) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	r, err := file.OpenParquetFile(path, false)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	for _, b := range buckets {
		for _, part := range b.Parts {
			for g := part.First; g < part.End; g++ {
				group := r.MetaData().RowGroup(g)
				for c := range group.NumColumns() {
					chunk, err := group.ColumnChunk(c)
					require.NoError(t, err)
					start := chunk.DataPageOffset()
					if chunk.HasDictionaryPage() {
						start = min(start, chunk.DictionaryPageOffset())
					}
					_, err = f.WriteAt(bytes.Repeat([]byte{0xFF}, int(chunk.TotalCompressedSize())), start)
					require.NoError(t, err)
				}
			}
		}
	}
	require.NoError(t, f.Sync())
	require.NoError(t, os.Chtimes(path, time.Time{}, info.ModTime()))
}

// writeTimes returns the write time of each row by its id.
func writeTimes(t *testing.T, s *vecql.Session, table string) map[int64]int64 {
	t.Helper()
	times := map[int64]int64{}
	it := s.Query("SELECT id, writetime(embedding) FROM " + table).Iter(t.Context())
	var id, at int64
	for it.Scan(&id, &at) {
		times[id] = at
	}
	require.NoError(t, it.Close())
	return times
}

// TestParquetLoad kills a program that loads a file when some row groups are done, and starts another one that resumes.
// Every row must be in the table once, with every bit of its vector, and finished row groups must be neither read nor
// written again.
func TestParquetLoad(t *testing.T) {
	soak.NoRace(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "parquet-load")
	out, err := osexec.Command("go", "build", "-o", program, "../examples/parquet-load").CombinedOutput()
	require.NoError(t, err, "%s", out)
	rows := filepath.Join(dir, "rows.parquet")
	writeLoadFile(t, rows)

	cfg := config(t, plainNode)
	s := connect(t, cfg)
	requireOffered(t, productOf(t, s), "TestParquetLoad")
	table := keyspace(t, s, 1) + ".items"
	exec(t, s, fmt.Sprintf("CREATE TABLE %s (id bigint PRIMARY KEY, embedding vector<float, %d>, label text)", table, loadDim))
	progress := filepath.Join(dir, "progress.json")
	user, password := login()
	load := func() (*osexec.Cmd, *bytes.Buffer) {
		cmd := osexec.Command(program, "-hosts", strings.Join(cfg.Hosts, ","), "-user", user, "-table", table,
			"-id", "id", "-vector", "embedding", "-text", "label", "-progress", progress, "-bucket-bytes", "1", "-in-flight", "16", rows)
		cmd.Env = append(os.Environ(), "VECQL_PASSWORD="+password)
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return cmd, &output
	}

	first, output := load()
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	deadline := time.After(2 * time.Minute)
	for killed := false; !killed; {
		select {
		case err := <-ended:
			t.Fatalf("the program exited before it was killed: %v\n%s", err, output)
		case <-deadline:
			t.Fatal("no bucket was finished in time")
		case <-time.After(time.Millisecond):
			if isDone := readProgress(t, progress).Sources[rows]; isDone.Watermark() > loadRowGroup {
				require.NoError(t, first.Process.Kill())
				killed = true
			}
		}
	}
	require.Error(t, <-ended)
	status, ok := first.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok && status.Signal() == syscall.SIGKILL, "%v", first.ProcessState)
	done := readProgress(t, progress).Sources[rows]
	before := writeTimes(t, s, table)
	finished := int64(0)
	for k := range int64(loadRows) {
		if done.Has(k, k+1) {
			finished++
			require.Contains(t, before, k, "a row that is done is missing")
		}
	}
	require.Less(t, finished, int64(loadRows), "all rows were done before the program was killed")
	t.Logf("killed with %d of %d rows done and %d written", finished, loadRows, len(before))
	var buckets []parquetscan.Bucket
	for i, b := range rowGroups(t, rows) {
		if first := int64(i) * loadRowGroup; done.Has(first, first+loadRowGroup) {
			buckets = append(buckets, b)
		}
	}
	require.NotEmpty(t, buckets)

	// From here on reading a finished row group is an error.
	damage(t, rows, buckets)
	for _, b := range buckets {
		require.Error(t, readBucket(t, rows, b))
	}
	second, output := load()
	require.NoError(t, second.Wait(), "%s", output)
	require.Contains(t, output.String(), fmt.Sprintf("wrote %d rows; %d of %d buckets were done before",
		loadRows-finished, len(buckets), loadRows/loadRowGroup), "%s", output)
	require.EqualValues(t, loadRows, readProgress(t, progress).Sources[rows].Watermark())

	after := writeTimes(t, s, table)
	require.Len(t, after, loadRows)
	for id, at := range before {
		if done.Has(id, id+1) {
			require.Equal(t, at, after[id], "row %d was written again", id)
		} else {
			require.Less(t, at, after[id], "row %d, which was not done, was not written again", id)
		}
	}
	requireLoaded(t, s, table)
}

// readBucket reads a bucket to its end.
func readBucket(t *testing.T, path string, b parquetscan.Bucket) error {
	t.Helper()
	ds, err := parquetscan.Open(t.Context(), path)
	require.NoError(t, err)
	defer ds.Close()
	scan, err := ds.Scan(parquetscan.Options{})
	require.NoError(t, err)
	r, err := scan.Reader(b)
	require.NoError(t, err)
	var batch column.Batch
	for {
		if err := r.ReadInto(t.Context(), &batch); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// requireLoaded fails unless the table has exactly the rows of the file.
func requireLoaded(t *testing.T, s *vecql.Session, table string) {
	t.Helper()
	var count int64
	require.NoError(t, s.Query("SELECT count(*) FROM "+table).Scan(t.Context(), &count))
	require.EqualValues(t, loadRows, count)
	seen := make([]bool, loadRows)
	want := make([]float32, loadDim)
	total := 0
	for b, err := range s.Query("SELECT id, embedding, label FROM " + table).PageSize(1000).BorrowBatches(t.Context()) {
		require.NoError(t, err)
		ids, err := column.Slice[int64](b.Column("id"))
		require.NoError(t, err)
		m, err := column.MatrixOf[float32](b.Column("embedding"))
		require.NoError(t, err)
		labels, err := b.Column("label").Text()
		require.NoError(t, err)
		for r, k := range ids {
			require.True(t, k >= 0 && k < loadRows && !seen[k], "row %d was read twice or is not in the file", k)
			seen[k] = true
			total++
			require.False(t, b.Column("embedding").Null(r))
			vectorOf(int(k), want)
			for i, f := range m.Row(r) {
				if math.Float32bits(f) != math.Float32bits(want[i]) {
					t.Fatalf("row %d element %d: got %v, want %v", k, i, f, want[i])
				}
			}
			if text := loadText(int(k)); text == nil {
				require.True(t, b.Column("label").Null(r), "row %d", k)
			} else {
				require.False(t, b.Column("label").Null(r), "row %d", k)
				require.Equal(t, *text, labels.String(r), "row %d", k)
			}
		}
	}
	require.Equal(t, loadRows, total)
}
