// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Opening of files, and valid and invalid footers.

// writeFile writes a file to a directory and returns its path.
func writeFile(t testing.TB, dir, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}

func TestOpenPatterns(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	for i, name := range []string{"b.parquet", "a.parquet", "c.parquet", "x[1].parquet", "x1.parquet"} {
		writeFile(t, dir, name, numbers(100*i, 3))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dir.parquet"), 0o700))
	at := func(names ...string) []string {
		paths := make([]string, len(names))
		for i, n := range names {
			paths[i] = dir + string(filepath.Separator) + n
		}
		return paths
	}
	for _, c := range []struct {
		patterns, files []string
		err             error
		message         string
	}{
		{at("b.parquet"), at("b.parquet"), nil, ""},
		{at("c.parquet", "a.parquet"), at("c.parquet", "a.parquet"), nil, ""},
		{at("?.parquet"), at("a.parquet", "b.parquet", "c.parquet"), nil, ""},
		{at("b.parquet", "[ac].parquet"), at("b.parquet", "a.parquet", "c.parquet"), nil, ""},
		{at("x[1].parquet"), at("x[1].parquet"), nil, ""}, // it exists, so it is not a pattern
		{at("missing.parquet"), nil, fs.ErrNotExist, "missing.parquet"},
		{at("a.parquet", "missing*.parquet"), nil, fs.ErrNotExist, "missing*.parquet"},
		{at("[.parquet"), nil, filepath.ErrBadPattern, "[.parquet"},
		{at("a.parquet", "a.parquet"), nil, nil, "a.parquet is named twice"},
		{at("*b.parquet", "?.parquet"), nil, nil, "b.parquet is named twice"},
		{at("a.parquet", "./a.parquet"), nil, nil, "a.parquet is named twice"},
		{at("a.parquet", "../"+filepath.Base(dir)+"/a.parquet"), nil, nil, "a.parquet is named twice"},
		{at("dir.parquet"), nil, nil, "not a regular file"},
		{at("d*.parquet"), nil, nil, "not a regular file"},
		{nil, nil, nil, "no files"},
	} {
		for _, cfg := range []Config{{}, {NoMmap: true}} {
			d, err := cfg.Open(ctx, c.patterns...)
			if c.files == nil {
				require.ErrorContains(t, err, c.message, c.patterns)
				if c.err != nil {
					require.ErrorIs(t, err, c.err)
				}
				continue
			}
			require.NoError(t, err, c.patterns)
			require.Equal(t, c.files, d.Files())
			require.EqualValues(t, 3*len(c.files), d.NumRows())
			require.Equal(t, len(c.files), d.NumRowGroups())
			require.NoError(t, d.Close())
			require.NoError(t, d.Close(), "twice")
		}
	}
	_, err := Open(ctx, at("dir.parquet")...)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, at("dir.parquet")[0], e.File)
	_, err = OpenSources(ctx, memorySource("same", numbers(0, 1)), memorySource("same", numbers(1, 1)))
	require.ErrorContains(t, err, "same is named twice")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Open(cancelled, at("?.parquet")...)
	require.ErrorIs(t, err, context.Canceled)
}

// TestOpenManyAndOneBad opens good files and a bad one: all are closed again.
func TestOpenManyAndOneBad(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc to list open files")
	}
	dir := t.TempDir()
	for i := range 20 {
		writeFile(t, dir, fmt.Sprintf("%02d", i), numbers(i, 2))
	}
	writeFile(t, dir, "11", []byte("PAR1 and then nothing of the kind"))
	_, err := Open(context.Background(), dir+"/*")
	require.ErrorIs(t, err, ErrCorrupt)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, dir+"/11", e.File)
	require.EqualValues(t, -1, e.Row)
	links, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	for _, l := range links {
		target, _ := os.Readlink(l)
		require.False(t, strings.HasPrefix(target, dir), "%s is open", target)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	require.NotContains(t, string(maps), dir)
}

func TestOpenNoParquet(t *testing.T) {
	good := numbers(0, 5)
	open := func(b []byte) error {
		allocated, err := readError(t, b, Config{}, Options{})
		require.Less(t, allocated, uint64(8<<20))
		return err
	}
	require.NoError(t, open(good))
	text := bytes.Repeat([]byte("a,b,c\n1,2,3\n"), 50)
	for name, b := range map[string][]byte{
		"nothing": {}, "magic": []byte(footer.Magic), "magic twice": []byte(footer.Magic + footer.Magic), "text": text, "tiny text": text[:13],
		"no footer": []byte(footer.Magic + "\x00\x00\x00\x00" + footer.Magic), "zeros": make([]byte, 1000),
	} {
		require.ErrorIs(t, open(b), ErrCorrupt, name)
	}
	dir := t.TempDir()
	for _, noMmap := range []bool{false, true} {
		_, err := Config{NoMmap: noMmap}.Open(context.Background(), writeFile(t, dir, "empty", nil))
		require.ErrorIs(t, err, ErrCorrupt)
		requireTyped(t, err)
	}
	for cut := range good {
		require.ErrorIs(t, open(good[:cut]), ErrCorrupt, "cut at %d of %d", cut, len(good))
	}
	length := binary.LittleEndian.Uint32(good[len(good)-8:])
	for _, lie := range []uint32{
		0, 1, length - 1, length - 20, length + 1, length + 100, uint32(len(good)) - 12, uint32(len(good)) - 11,
		1 << 31, 1<<32 - 1,
	} {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(b[len(b)-8:], lie)
		require.ErrorIs(t, open(b), ErrCorrupt, "length %d instead of %d", lie, length)
	}
	encrypted := append(bytes.Clone(good[:len(good)-4]), footer.MagicEncrypted...)
	require.ErrorContains(t, open(encrypted), "Config.Decryption")
}

func TestFooterIsReadOnce(t *testing.T) {
	ctx := context.Background()
	wide := rawGroup{rows: 1}
	for i := range 1000 {
		wide.columns = append(wide.columns, handColumn{
			name: fmt.Sprintf("%0100d", i), physical: physicalInt64, converted: convertedNever, values: 1,
			pages: [][]byte{plainPage(1, int64s(i, 1))},
		})
	}
	files := [][]byte{numbers(0, 10), numbers(10, 100, 200), rawFile(wide)}
	reads := []int{1, 1, 2} // the last footer is longer than the first guess
	var probes []*probe
	var sources []Source
	for i, b := range files {
		p := &probe{ReaderAt: bytes.NewReader(b)}
		probes = append(probes, p)
		sources = append(sources, Source{Name: fmt.Sprint(i), Reader: p, Size: int64(len(b)), ETag: "1"})
	}
	require.Greater(t, binary.LittleEndian.Uint32(files[2][len(files[2])-8:]), uint32(footer.FirstRead))
	cache := NewCache(1 << 20)
	for turn := range 3 {
		d, err := Config{Cache: cache}.OpenSources(ctx, sources...)
		require.NoError(t, err)
		footers := 0
		for i, p := range probes {
			want := reads[i]
			if turn > 0 {
				want = 0
			}
			require.Equal(t, want, p.count(), "turn %d, file %d", turn, i)
			p.reads = nil
			footers += min(1, want)
		}
		require.EqualValues(t, footers, d.FooterReads())
		require.EqualValues(t, 311, d.NumRows())
		require.NoError(t, d.Close())
	}
	lookups, hits, size := cache.Stats()
	require.EqualValues(t, 9, lookups)
	require.EqualValues(t, 6, hits)
	require.Positive(t, size)

	// Scanning, counting and splitting do not read footers again.
	d, err := OpenSources(ctx, sources[:2]...)
	require.NoError(t, err)
	defer d.Close()
	probes[0].reads, probes[1].reads = nil, nil
	s := scanOf(t, d, Options{})
	n, err := s.Count(ctx, s.SplitByCount(2)...)
	require.NoError(t, err)
	require.EqualValues(t, 310, n)
	require.Zero(t, probes[0].count()+probes[1].count(), "counting reads nothing")
	out, err := readBucket(s, everything(s))
	require.NoError(t, err)
	require.Len(t, out, 310)
	for i, p := range probes[:2] {
		data := int64(len(files[i])) - 8 - int64(binary.LittleEndian.Uint32(files[i][len(files[i])-8:]))
		for _, r := range p.reads {
			require.LessOrEqual(t, r[0]+r[1], data, "file %d: the footer is read again", i)
		}
	}
	require.EqualValues(t, 2, d.FooterReads())
}

func TestCacheOfLocalFiles(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	path := writeFile(t, dir, "a", numbers(0, 10))
	cache := NewCache(1 << 20)
	open := func(rows, reads int64) {
		t.Helper()
		d, err := Config{Cache: cache}.Open(ctx, path)
		require.NoError(t, err)
		defer d.Close()
		require.Equal(t, rows, d.NumRows())
		require.Equal(t, reads, d.FooterReads())
		out, err := readBucket(scanOf(t, d, Options{}), everything(scanOf(t, d, Options{})))
		require.NoError(t, err)
		require.Len(t, out, int(rows))
	}
	open(10, 1)
	open(10, 0)
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
	open(10, 1) // the file may have changed
	open(10, 0)
	writeFile(t, dir, "a", numbers(0, 11))
	open(11, 1)
}

// footerOnly makes a file that consists of a footer with this schema.
func footerOnly(schema func(w *compactWriter)) []byte {
	w := newCompact()
	w.i32(1, 2)
	schema(w)
	w.i64(3, 0)
	w.list(4, thrift.Struct, 0)
	return withFooter([]byte(footer.Magic), w)
}

// deep writes a schema of n nested groups.
func deep(n int) func(w *compactWriter) {
	return func(w *compactWriter) {
		w.list(2, thrift.Struct, uint64(n)+1)
		for range n {
			w.element("g", -1, optional, convertedNever, 1)
		}
		w.element("v", physicalInt64, required, convertedNever, 0)
	}
}

// TestDeepSchema opens a schema of as many levels of groups as package footer reads, and deeper ones.
func TestDeepSchema(t *testing.T) {
	const maxTreeDepth = 256
	d := openSources(t, Config{}, footerOnly(deep(maxTreeDepth)))
	s := scanOf(t, d, Options{})
	require.Empty(t, s.SplitByCount(1))
	require.Equal(t, column.Struct, d.Schema()[0].Type.Kind)
	for _, n := range []int{maxTreeDepth + 1, 1000, 100_000} {
		requireCorrupt(t, footerOnly(deep(n)), "footer is not a valid FileMetaData")
	}
}

func TestHostileFooters(t *testing.T) {
	leaf := func(w *compactWriter) { w.element("v", physicalInt64, required, convertedNever, 0) }
	for name, schema := range map[string]func(w *compactWriter){
		"list longer than the file": func(w *compactWriter) { w.list(2, thrift.Struct, 1<<31-1) },
		"list of 2^63 elements":     func(w *compactWriter) { w.list(2, thrift.Struct, 1<<63) },
		"no schema":                 func(w *compactWriter) { w.list(2, thrift.Struct, 0) },
		"group of 2^31-1 fields": func(w *compactWriter) {
			w.list(2, thrift.Struct, 2)
			w.element("schema", -1, -1, convertedNever, 1<<31-1)
			leaf(w)
		},
		"group of 2^32+1 fields": func(w *compactWriter) { // 1 in 32 bits
			w.list(2, thrift.Struct, 2)
			w.element("schema", -1, -1, convertedNever, 1<<32+1)
			leaf(w)
		},
		"group of -1 fields": func(w *compactWriter) {
			w.list(2, thrift.Struct, 2)
			w.element("schema", -1, -1, convertedNever, -1)
			leaf(w)
		},
		"each group has all the others": func(w *compactWriter) {
			const n = 20_000
			w.list(2, thrift.Struct, n)
			for i := range int64(n) {
				w.element("g", -1, optional, convertedNever, n-1-i)
			}
		},
		"more elements than fields": func(w *compactWriter) {
			w.list(2, thrift.Struct, 3)
			w.element("schema", -1, -1, convertedNever, 1)
			leaf(w)
			leaf(w)
		},
		"fewer elements than fields": func(w *compactWriter) {
			w.list(2, thrift.Struct, 2)
			w.element("schema", -1, -1, convertedNever, 2)
			leaf(w)
		},
		"long name above many fields": func(w *compactWriter) {
			const n = 10_000
			w.list(2, thrift.Struct, n+2)
			w.element("schema", -1, -1, convertedNever, 1)
			w.element(strings.Repeat("x", 100_000), -1, required, convertedNever, n)
			for range n {
				leaf(w)
			}
		},
		// A parser that ignores types reads elements of a list of strings as structs.
		"list of another type": func(w *compactWriter) {
			w.list(2, thrift.Binary, 1)
			w.bytes("not a SchemaElement")
		},
		"a list in a row group of another type": func(w *compactWriter) {
			w.list(2, thrift.Struct, 1)
			w.element("schema", -1, -1, convertedNever, 0)
			w.list(4, thrift.Struct, 1)
			w.open()
			w.list(1, thrift.Binary, 1)
			// Read as a ColumnChunk, the length 60 is the header of meta_data with 100 million encodings.
			encodings := binary.AppendUvarint([]byte{0x29, 15<<4 | thrift.I32}, 100_000_000)
			w.bytes(string(append(encodings, make([]byte, 60-len(encodings))...)))
			w.i64(2, 1)
			w.i64(3, 0)
			w.end()
		},
		"structs in structs": func(w *compactWriter) {
			for range 100_000 {
				w.begin(20)
			}
			for range 100_000 {
				w.end()
			}
		},
	} {
		t.Run(name, func(t *testing.T) { requireCorrupt(t, footerOnly(schema), "") })
	}
}

// TestFooterWithoutChunks opens a file whose row group lacks the offsets of its columns.
func TestFooterWithoutChunks(t *testing.T) {
	group := func(columns func(w *compactWriter)) []byte {
		return withFooter([]byte(footer.Magic), footerOfGroup(7, func(w *compactWriter) {
			columns(w)
			w.i64(2, 1)
			w.i64(3, 7)
		}))
	}
	requireCorrupt(t, group(func(w *compactWriter) { w.list(1, thrift.Struct, 0) }), "0 of 1 columns")
	requireCorrupt(t, group(func(w *compactWriter) {
		w.list(1, thrift.Struct, 1)
		w.open()
		w.i64(2, 4)
		w.end()
	}), "metadata is missing")
	for _, c := range [][3]int64{
		{-1, -1, 1},
		{4, 4, -1},
		{4, 4, 1 << 62},
		{1 << 62, 1 << 62, 1 << 62},
		{4, 1 << 40, 10},
		{4, 4, 10},
		{1<<63 - 1, 1<<63 - 1, 1<<63 - 1},
	} {
		b := group(func(w *compactWriter) {
			w.list(1, thrift.Struct, 1)
			w.chunk(handColumn{name: "n", physical: physicalInt64, values: 7}, c[0], c[1], c[2])
		})
		requireCorrupt(t, b, "")
	}
}

func TestMetadata(t *testing.T) {
	w := newCompact()
	w.i32(1, 2)
	w.list(2, thrift.Struct, 1)
	w.element("schema", -1, -1, convertedNever, 0)
	w.i64(3, 0)
	w.list(4, thrift.Struct, 0)
	w.list(5, thrift.Struct, 1)
	w.open()
	w.text(1, "key")
	w.text(2, "value")
	w.end()
	d := openSources(t, Config{}, withFooter([]byte(footer.Magic), w))
	require.Equal(t, map[string]string{"key": "value"}, d.Metadata(0))
	require.Empty(t, d.Schema())
}

// TestNestingOfFooters opens footers with values of unknown fields, as deeply nested as a footer may be, and deeper.
// Groups without fields are found behind them.
func TestNestingOfFooters(t *testing.T) {
	whole := func(depth int) []byte {
		w := newCompact()
		for range depth { // the FileMetaData has depth 0
			w.begin(100)
		}
		for range depth {
			w.end()
		}
		w.i32(1, 2)
		w.list(2, thrift.Struct, 3)
		w.element("schema", -1, -1, convertedNever, 2)
		w.open()
		w.i32(3, optional)
		w.text(4, "empty")
		w.end()
		w.element("n", physicalInt64, required, convertedNever, 0)
		w.i64(3, 0)
		w.list(4, thrift.Struct, 0)
		return withFooter([]byte(footer.Magic), w)
	}
	for _, depth := range []int{0, 1, thrift.MaxDepth} {
		d := openSources(t, Config{}, whole(depth))
		require.Equal(t, []string{"empty", "n"}, d.Schema().Names(), depth)
		require.Equal(t, column.Struct, d.Schema()[0].Type.Kind, depth)
	}
	requireCorrupt(t, whole(thrift.MaxDepth+1), "footer is not a valid FileMetaData")
}
