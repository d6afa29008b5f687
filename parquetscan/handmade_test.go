// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Files made byte by byte, so that tests can make invalid ones, and helpers of tests.

// A compactWriter writes structs in Thrift's compact protocol.
type compactWriter struct {
	b    []byte
	last []int16 // the last field written in each open struct
}

func newCompact() *compactWriter { return &compactWriter{last: []int16{0}} }

func (w *compactWriter) head(id int16, typ byte) {
	top := &w.last[len(w.last)-1]
	if d := id - *top; d > 0 && d < 16 {
		w.b = append(w.b, byte(d)<<4|typ)
	} else {
		w.b = binary.AppendVarint(append(w.b, typ), int64(id))
	}
	*top = id
}

func (w *compactWriter) i32(id int16, v int64) {
	w.head(id, thrift.I32)
	w.b = binary.AppendVarint(w.b, v)
}

func (w *compactWriter) i64(id int16, v int64) {
	w.head(id, thrift.I64)
	w.b = binary.AppendVarint(w.b, v)
}

func (w *compactWriter) flag(id int16, v bool) {
	typ := byte(thrift.False)
	if v {
		typ = thrift.True
	}
	w.head(id, typ)
}

func (w *compactWriter) text(id int16, s string) {
	w.head(id, thrift.Binary)
	w.bytes(s)
}

// bytes writes an element of a list of strings.
func (w *compactWriter) bytes(s string) {
	w.b = append(binary.AppendUvarint(w.b, uint64(len(s))), s...)
}

// list writes the head of a list of n elements.
func (w *compactWriter) list(id int16, typ byte, n uint64) {
	w.head(id, thrift.List)
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|typ)
	} else {
		w.b = binary.AppendUvarint(append(w.b, 15<<4|typ), n)
	}
}

// begin begins a struct that is a field, open a struct that is an element; end ends either.
func (w *compactWriter) begin(id int16) {
	w.head(id, thrift.Struct)
	w.open()
}

func (w *compactWriter) open() { w.last = append(w.last, 0) }

func (w *compactWriter) end() {
	w.b = append(w.b, 0)
	w.last = w.last[:len(w.last)-1]
}

// Numbers of parquet.thrift that tests need.
const (
	physicalBool   = 0
	physicalInt32  = 1
	physicalInt64  = 2
	physicalFloat  = 4
	physicalText   = 6
	physicalFixed  = 7
	required       = 0
	optional       = 1
	repeated       = 2
	convertedUTF8  = 0
	convertedInt8  = 15
	convertedNever = -1
)

// A handColumn is a column chunk that is not nested.
type handColumn struct {
	name       string
	physical   int64
	converted  int64 // convertedNever: none
	repetition int64
	codec      compress.Compression
	pages      [][]byte // headers included
	dictionary bool     // the first page is a dictionary
	values     int64
}

// A rawGroup is a row group.
type rawGroup struct {
	rows    int64
	columns []handColumn
}

// rawFile makes a file of row groups of the same columns.
func rawFile(groups ...rawGroup) []byte {
	file := []byte(footer.Magic)
	meta := newCompact()
	meta.i32(1, 2)
	meta.list(2, thrift.Struct, uint64(1+len(groups[0].columns)))
	meta.element("schema", -1, -1, convertedNever, int64(len(groups[0].columns)))
	rows := int64(0)
	for _, c := range groups[0].columns {
		meta.element(c.name, c.physical, c.repetition, c.converted, 0)
	}
	for _, g := range groups {
		rows += g.rows
	}
	meta.i64(3, rows)
	meta.list(4, thrift.Struct, uint64(len(groups)))
	for _, g := range groups {
		meta.open()
		meta.list(1, thrift.Struct, uint64(len(g.columns)))
		for _, c := range g.columns {
			start := int64(len(file))
			data := start
			for i, p := range c.pages {
				file = append(file, p...)
				if i == 0 && c.dictionary {
					data = int64(len(file))
				}
			}
			meta.chunk(c, start, data, int64(len(file))-start)
		}
		meta.i64(2, 1)
		meta.i64(3, g.rows)
		meta.end()
	}
	return withFooter(file, meta)
}

// withFooter ends a file.
func withFooter(file []byte, meta *compactWriter) []byte {
	meta.b = append(meta.b, 0)
	file = append(file, meta.b...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(meta.b))), footer.Magic...)
}

// element writes a SchemaElement. It omits numbers below 0, and a number of children of 0.
func (w *compactWriter) element(name string, physical, repetition, converted, children int64) {
	w.open()
	if physical >= 0 {
		w.i32(1, physical)
	}
	if physical == physicalFixed {
		w.i32(2, 4)
	}
	if repetition >= 0 {
		w.i32(3, repetition)
	}
	w.text(4, name)
	if children != 0 {
		w.i32(5, children)
	}
	if converted >= 0 {
		w.i32(6, converted)
	}
	w.end()
}

// footerOfGroup writes a FileMetaData with a column n of bigints and one row group, whose fields group writes.
func footerOfGroup(rows int64, group func(w *compactWriter)) *compactWriter {
	w := newCompact()
	w.i32(1, 2)
	w.list(2, thrift.Struct, 2)
	w.element("schema", -1, -1, convertedNever, 1)
	w.element("n", physicalInt64, required, convertedNever, 0)
	w.i64(3, rows)
	w.list(4, thrift.Struct, 1)
	w.open()
	group(w)
	w.end()
	w.end()
	return w
}

// chunk writes a ColumnChunk.
func (w *compactWriter) chunk(c handColumn, start, data, length int64) {
	w.open()
	w.i64(2, start)
	w.begin(3)
	w.i32(1, c.physical)
	w.list(2, thrift.I32, 1)
	w.b = binary.AppendVarint(w.b, 0)
	w.list(3, thrift.Binary, 1)
	w.bytes(c.name)
	w.i32(4, int64(c.codec))
	w.i64(5, c.values)
	w.i64(6, length)
	w.i64(7, length)
	w.i64(9, data)
	if c.dictionary {
		w.i64(11, start)
	}
	w.end()
	w.end()
}

// A rawHeader is a page header; lengths below 0 stand for the length of the data.
type rawHeader struct {
	typ          format.PageType
	n            int64
	encoding     format.Encoding
	levels       format.Encoding // encoding of levels in V1; 0 stands for RLE, because levels are never PLAIN
	uncompressed int64
	crc          *uint32
	rep, def     int64 // lengths of levels in V2
	rows         int64 // V2
	plain        bool  // V2: not compressed
}

// rawPage makes a page.
func rawPage(h rawHeader, data []byte) []byte {
	w := newCompact()
	w.i32(1, int64(h.typ))
	if h.uncompressed < 0 {
		h.uncompressed = int64(len(data))
	}
	w.i32(2, h.uncompressed)
	w.i32(3, int64(len(data)))
	if h.crc != nil {
		w.i32(4, int64(int32(*h.crc)))
	}
	if h.levels == 0 {
		h.levels = format.RLE
	}
	switch h.typ {
	case format.DataPage:
		w.begin(5)
		w.i32(1, h.n)
		w.i32(2, int64(h.encoding))
		w.i32(3, int64(h.levels))
		w.i32(4, int64(h.levels))
		w.end()
	case format.IndexPage:
		w.begin(6)
		w.end()
	case format.DictionaryPage:
		w.begin(7)
		w.i32(1, h.n)
		w.i32(2, int64(h.encoding))
		w.end()
	case format.DataPageV2:
		w.begin(8)
		w.i32(1, h.n)
		w.i32(2, 0)
		w.i32(3, h.rows)
		w.i32(4, int64(h.encoding))
		w.i32(5, h.def)
		w.i32(6, h.rep)
		w.flag(7, !h.plain)
		w.end()
	}
	w.b = append(w.b, 0)
	return append(w.b, data...)
}

// plainPage is a data page V1 of values without levels.
func plainPage(n int, values []byte) []byte {
	return rawPage(rawHeader{n: int64(n), uncompressed: -1}, values)
}

// int64s returns numbers from first on as PLAIN.
func int64s(first, n int) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint64(b, uint64(first+i))
	}
	return b
}

// plainText returns strings as PLAIN.
func plainText(values ...string) []byte {
	var b []byte
	for _, s := range values {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	return b
}

// numbers makes a file with a column n, which counts from first, in row groups of some rows, in pages of up to 100.
func numbers(first int, groups ...int) []byte {
	raw := make([]rawGroup, len(groups))
	for i, rows := range groups {
		c := handColumn{name: "n", physical: physicalInt64, converted: convertedNever, values: int64(rows)}
		for left := rows; left > 0; left -= min(left, 100) {
			c.pages = append(c.pages, plainPage(min(left, 100), int64s(first, min(left, 100))))
			first += min(left, 100)
		}
		raw[i] = rawGroup{int64(rows), []handColumn{c}}
	}
	return rawFile(raw...)
}

// one makes a file of one column and one row group.
func oneColumn(rows int64, c handColumn) []byte {
	if c.values == 0 {
		c.values = rows
	}
	return rawFile(rawGroup{rows, []handColumn{c}})
}

// memory returns a Source of bytes.
func memorySource(name string, b []byte) Source {
	return Source{Name: name, Reader: bytes.NewReader(b), Size: int64(len(b)), ETag: fmt.Sprintf("%08x", crc32.ChecksumIEEE(b))}
}

// openSources opens files in memory, named 0, 1 and so on.
func openSources(t testing.TB, cfg Config, files ...[]byte) *Dataset {
	t.Helper()
	sources := make([]Source, len(files))
	for i, b := range files {
		sources[i] = memorySource(fmt.Sprint(i), b)
	}
	d, err := cfg.OpenSources(context.Background(), sources...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func scanOf(t testing.TB, d *Dataset, o Options) *Scan {
	t.Helper()
	s, err := d.Scan(o)
	require.NoError(t, err)
	return s
}

// readBucket returns the numbers of column n in a bucket.
func readBucket(s *Scan, b Bucket) (out []int64, err error) {
	for batch, err := range s.Batches(context.Background(), b) {
		if err != nil {
			return out, err
		}
		out = append(out, valuesOf[int64](batch.Column("n"))...)
	}
	return out, nil
}

// everything returns a bucket of all row groups.
func everything(s *Scan) Bucket { return s.bucket(0, s.sizedUnits()) }

// readError reads a whole file and returns the bytes allocated by that, and the error.
func readError(t testing.TB, b []byte, cfg Config, o Options) (allocated uint64, err error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = func() error {
		d, err := cfg.OpenSources(context.Background(), Source{Name: "file", Reader: bytes.NewReader(b), Size: int64(len(b))})
		if err != nil {
			return err
		}
		defer d.Close()
		s, err := d.Scan(o)
		if err != nil {
			return err
		}
		for _, err := range s.Batches(context.Background(), everything(s)) {
			if err != nil {
				return err
			}
		}
		return nil
	}()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// requireCorrupt checks that reading a file is an ErrCorrupt and takes little memory.
func requireCorrupt(t *testing.T, b []byte, message string) {
	t.Helper()
	allocated, err := readError(t, b, Config{ReadBytes: 1000}, Options{MaxBatchBytes: fuzzLimit})
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, message)
	require.False(t, errors.Is(err, io.EOF), "the error is io.EOF: %v", err)
	requireTyped(t, err)
	require.Less(t, allocated, uint64(16<<20))
}

// A probe is a Source's reader that counts reads, and fails on demand.
type probe struct {
	io.ReaderAt
	mu    sync.Mutex
	reads [][2]int64 // offset and length
	fail  func(b []byte, off int64) (n int, err error, done bool)
}

func (p *probe) ReadAt(b []byte, off int64) (int, error) {
	p.mu.Lock()
	p.reads = append(p.reads, [2]int64{off, int64(len(b))})
	fail := p.fail
	p.mu.Unlock()
	if fail != nil {
		if n, err, done := fail(b, off); done {
			return n, err
		}
	}
	return p.ReaderAt.ReadAt(b, off)
}

func (p *probe) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.reads)
}
