// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Inputs of several files and batches, and those that break.

var formats = []Format{CSV, JSON, Parquet, Arrow}

// idsFrom returns rows with consecutive numbers.
func idsFrom(first, rows int) *column.Batch {
	ids := make([]int64, rows)
	for i := range ids {
		ids[i] = int64(first + i)
	}
	return column.NewBatch(column.Of("id", ids))
}

// TestBatchesHaveTheirPositions reads several files of several batches: each batch has its file and its first record.
func TestBatchesHaveTheirPositions(t *testing.T) {
	const rows = 40_000
	for _, format := range formats {
		dir := t.TempDir()
		for i := range 2 {
			path := filepath.Join(dir, fmt.Sprint(i)+Extension(format, Plain))
			writeFile(t, path, WriterOptions{}, idsFrom(0, rows/2), idsFrom(rows/2, rows/2))
		}
		for _, fields := range []column.Schema{idsFrom(0, 0).Schema(), nil} {
			in, err := Open(Options{Fields: fields}, dir)
			require.NoError(t, err)
			batches, next := map[string]int{}, map[string]int64{}
			for b, err := range in.Batches(t.Context()) {
				require.NoError(t, err)
				require.Equal(t, next[b.Source.File], b.Source.FirstRow, format)
				batches[b.Source.File]++
				for i := range b.Rows {
					if got := b.Columns[0].Value(i); got != next[b.Source.File] && got != strconv.FormatInt(next[b.Source.File], 10) {
						require.Equal(t, next[b.Source.File], got, format)
					}
					next[b.Source.File]++
				}
			}
			require.Len(t, next, 2, format)
			for _, name := range in.Files() {
				require.Equal(t, int64(rows), next[name], format)
				require.Greater(t, batches[name], 1, format)
			}
		}
	}
}

func TestDefaultSizesOfBatches(t *testing.T) {
	for text, want := range map[string][]int{
		strings.Repeat("1\n", 8193):                             {8192, 1},
		strings.Repeat(strings.Repeat("x", 1<<16-1)+"\n", 16+1): {16, 1}, // of 64 KiB each
	} {
		in, err := Open(Options{Format: CSV, Stdin: strings.NewReader("s\n" + text)}, Stdin)
		require.NoError(t, err)
		var rows []int
		for b, err := range in.Batches(t.Context()) {
			require.NoError(t, err)
			rows = append(rows, b.Rows)
		}
		require.Equal(t, want, rows)
	}
}

// breakingAfter returns a stream that fails once after a text, and then ends.
func breakingAfter(text []byte) io.Reader {
	return io.MultiReader(bytes.NewReader(text), &failingOnce{})
}

type failingOnce struct{ failed bool }

func (r *failingOnce) Read([]byte) (int, error) {
	if r.failed {
		return 0, io.EOF
	}
	r.failed = true
	return 0, errors.New("the disk is gone")
}

// TestStreamThatBreaksIsAnError breaks a stream of each format after any part of it, between records, too. Its rows are
// not taken for all.
func TestStreamThatBreaksIsAnError(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	for _, format := range formats {
		text := []byte(textOfBatch(t, idsFrom(100, 30), WriterOptions{Format: format, Stream: true}))
		for n := range len(text) {
			if n%7 > 0 && n < len(text)-4 && format != CSV {
				continue
			}
			in, err := Open(Options{Format: format, Stdin: breakingAfter(text[:n])}, Stdin)
			require.NoError(t, err)
			var last error
			for _, err := range in.Batches(t.Context()) {
				last = err
			}
			require.Error(t, last, "%v, %d bytes", format, n)
			if format != Arrow {
				require.ErrorContains(t, last, "the disk is gone", "%v, %d bytes", format, n)
			}
			require.ErrorContains(t, last, "-", "%v, %d bytes", format, n)
		}
	}
	require.Empty(t, namesIn(t, tmp), "no temporary file is left")
}

// TestColumnsThatAreNotWantedAreNotRead damages one of two columns of a Parquet file.
func TestColumnsThatAreNotWantedAreNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	b := idsFrom(0, 1000)
	writeFile(t, path, WriterOptions{}, column.NewBatch(b.Columns[0].As("damaged"), b.Columns[0]))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	copy(content[len(magicParquet):], bytes.Repeat([]byte{0xff}, 20)) // the header of the first page
	require.NoError(t, os.WriteFile(path, content, 0o666))
	require.Empty(t, column.Diff(b, readAll(t, Options{Fields: b.Schema()}, path)))
	in, err := Open(Options{}, path)
	require.NoError(t, err)
	var last error
	for _, err := range in.Batches(t.Context()) {
		last = err
	}
	require.Error(t, last)
}

// TestOptionalFieldsMayBeMissing has one field that a file or an object may lack, and one that it may not.
func TestOptionalFieldsMayBeMissing(t *testing.T) {
	fields := column.Schema{fieldOf("id", kindOf(column.Int64)), fieldOf("name", kindOf(column.String))}
	for _, format := range formats {
		for _, c := range []struct {
			optional []string
			want     string
		}{{[]string{"name"}, "7 <nil>"}, {[]string{"id"}, `!"name"|name: the object has no such member`}, {nil, `!"name"|name: the object has no such member`}} {
			text := textOfBatch(t, idsFrom(7, 1), WriterOptions{Format: format})
			in, err := Open(Options{Format: format, Fields: fields, Optional: c.optional, Stdin: strings.NewReader(text)}, Stdin)
			require.NoError(t, err)
			for b, err := range in.Batches(t.Context()) {
				if parts, fails := strings.CutPrefix(c.want, "!"); fails {
					column, member, _ := strings.Cut(parts, "|")
					require.Error(t, err, format)
					require.True(t, strings.Contains(err.Error(), "there is no column "+column) || strings.Contains(err.Error(), member), "%v: %v", format, err)
					break
				}
				require.NoError(t, err, format)
				require.Equal(t, c.want, fmt.Sprint(b.Columns[0].Value(0), " ", b.Columns[1].Value(0)), format)
			}
		}
	}
}

// TestEmptyInputNamesItsFiles names up to three files.
func TestEmptyInputNamesItsFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	var names []string
	for i, want := range []string{"a.json", "a.json, b.json", "a.json, b.json, c.json", "a.json, b.json, c.json and 1 more", "a.json, b.json, c.json and 2 more"} {
		names = append(names, string(rune('a'+i))+".json")
		require.NoError(t, os.WriteFile(names[i], nil, 0o666))
		in, err := Open(Options{}, names...)
		require.NoError(t, err)
		for _, err := range in.Batches(t.Context()) {
			require.ErrorIs(t, err, ErrNoRecords)
			require.ErrorContains(t, err, "read "+want+": ")
		}
	}
}

// TestFileThatCannotBeListedIsAnError has a file in a folder whose path is longer than the system allows. The rows of
// the other file are not taken for rows of the folder.
func TestFileThatCannotBeListedIsAnError(t *testing.T) {
	folder := t.TempDir()
	root, err := os.OpenRoot(folder)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	for len(folder) < 3900 {
		name := strings.Repeat("d", 100)
		require.NoError(t, root.Mkdir(name, 0o777))
		next, err := root.OpenRoot(name)
		require.NoError(t, err)
		require.NoError(t, root.Close())
		root, folder = next, filepath.Join(folder, name)
	}
	for _, name := range []string{"a.csv", strings.Repeat("b", 200) + ".csv"} {
		f, err := root.Create(name)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	_, err = Open(Options{}, folder)
	require.ErrorContains(t, err, "file name too long")
}

func TestUnusedNamesAreBounded(t *testing.T) {
	names := make([]string, 1003)
	for i := range names {
		names[i] = fmt.Sprint("c", i)
	}
	names[1002] = "c5" // in a further file
	in, err := Open(Options{Format: CSV, Fields: column.Schema{fieldOf("id", kindOf(column.Int64))}, AllowMissing: true, Stdin: strings.NewReader(strings.Join(names[:1002], ",") + "\n")}, Stdin)
	require.NoError(t, err)
	for _, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
	}
	require.Equal(t, names[:1000], in.Unused())
	require.Equal(t, names[:1000], in.Unused(), "again")
}

func TestFirstBytesShowTheFormat(t *testing.T) {
	for head, want := range map[string]Format{
		"PAR1\x15": Parquet, "ARROW1\x00\x00": Arrow, "\xff\xff\xff\xff\x10": Arrow, `{"a":1}`: JSON, " \t\r\n{": JSON, "\ufeff\n{": JSON,
		"": CSV, "id,name\n": CSV, "PAR": CSV, "ARROW": CSV, "\xff\xff\xff": CSV, "[1]": CSV, "a{": CSV,
	} {
		require.Equal(t, want, byContent([]byte(head)), "%q", head)
	}
}

// TestShortTextIsNotCompressed has the first bytes of compressed files alone.
func TestShortTextIsNotCompressed(t *testing.T) {
	for _, text := range []string{"(", "(\xb5", "\x1f", "(\xb5/"} {
		o := Options{Format: CSV, Dialect: Dialect{NoHeader: true, Columns: []string{"s"}}, Rejected: func(*RecordError) error { return nil }, Stdin: strings.NewReader(text)}
		in, err := Open(o, Stdin)
		require.NoError(t, err)
		for b, err := range in.Batches(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, text, b.Columns[0].Value(0))
		}
		require.Equal(t, int64(1), in.records, "%q", text)
	}
}

// TestLeftInputLeavesNoGoroutines leaves a file in zstd after its first batch.
func TestLeftInputLeavesNoGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv.zst")
	random := make([]string, 200_000)
	r := newRand()
	for i := range random {
		random[i] = strconv.FormatUint(r.Uint64(), 36)
	}
	writeFile(t, path, WriterOptions{}, column.NewBatch(column.Strings("s", random)))
	in, err := Open(Options{BatchRows: 1}, path)
	require.NoError(t, err)
	for _, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
		break
	}
	stacks := make([]byte, 1<<20)
	began := time.Now()
	for bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("zstd.(*Decoder)")) {
		require.Less(t, time.Since(began), 10*time.Second, "a goroutine of the decoder is left")
		runtime.Gosched()
	}
}
