// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// This file holds the Writer: batches in, row groups and a footer out. What a column becomes is in writer_schema.go, how its values are
// laid out in writer_levels.go and writer_column.go. Pages are encoded and compressed by arrow-go.

// A Codec is how pages are compressed.
type Codec uint8

// The codecs. Snappy is the zero value: every reader knows it, and it costs least where there is little to gain, which is vectors. Zstd
// makes text and numbers smaller, for more time.
const (
	Snappy Codec = iota
	Zstd
	Gzip
	Brotli
	LZ4Raw
	Uncompressed
)

var writerCodecs = [...]compress.Compression{
	Snappy: compress.Codecs.Snappy, Zstd: compress.Codecs.Zstd, Gzip: compress.Codecs.Gzip, Brotli: compress.Codecs.Brotli,
	LZ4Raw: compress.Codecs.Lz4Raw, Uncompressed: compress.Codecs.Uncompressed,
}

func (c Codec) String() string {
	if int(c) < len(writerCodecs) {
		return writerCodecs[c].String()
	}
	return fmt.Sprintf("codec(%d)", uint8(c))
}

// WriterOptions says how a file is written. The zero value is meant to be right for most. Plain and BloomFilters name columns, which stand
// for all that lies in them, or fields within by their path in the file's schema: "tags.list.element".
type WriterOptions struct {
	Codec Codec
	// A row group ends with RowGroupRows rows (0: 1,048,576) or RowGroupBytes bytes of values (0: 128 MiB), whichever comes first; it has
	// one row at least. Values count as they lie in memory, before they are encoded; text in a dictionary counts by its mean length.
	RowGroupRows  int
	RowGroupBytes int
	// PageBytes is the size, before compression, at which a page ends (0: 1 MiB); it may be a quarter above, and has one row at least.
	PageBytes int
	// NoDictionary keeps all columns from being encoded with dictionaries, Plain those that it names. Vectors never are.
	NoDictionary bool
	Plain        []string
	// BloomFilters names columns that get a Bloom filter in every row group, of 8 KiB to 4 MiB each by the number of distinct values. They
	// are held in memory until Close. Columns of bool can not have one.
	BloomFilters []string
	// NoPageIndex leaves out the index of pages (least and greatest value, and first row, of each). Statistics of column chunks are
	// always there.
	NoPageIndex bool
	// DataPageV2 writes pages of the second version: levels are not compressed, and pages say how many rows they have. With Brotli,
	// arrow-go v18.8 can not read such a page if all its values are NULL; others can.
	DataPageV2 bool
	// Metadata goes into the footer: UTF-8. The key ARROW:schema is taken.
	Metadata map[string]string
}

// check returns the options with defaults filled in.
func (o WriterOptions) check() (WriterOptions, error) {
	if int(o.Codec) >= len(writerCodecs) {
		return o, fmt.Errorf("no such codec: %d", o.Codec)
	}
	for _, n := range []struct {
		name  string
		value *int
		zero  int
		most  int
	}{
		{"RowGroupRows", &o.RowGroupRows, 1 << 20, math.MaxInt32},
		{"RowGroupBytes", &o.RowGroupBytes, 128 << 20, math.MaxInt},
		{"PageBytes", &o.PageBytes, 1 << 20, 1 << 30},
	} {
		if *n.value == 0 {
			*n.value = n.zero
		}
		if *n.value < 0 || *n.value > n.most {
			return o, fmt.Errorf("%s is %d, of at most %d", n.name, *n.value, n.most)
		}
	}
	return o, nil
}

// A Writer writes a file. It is for one goroutine.
type Writer struct {
	options WriterOptions
	fields  []*writeNode
	sink    *writerSink
	file    *file.Writer
	buffers writeBuffers

	group  file.BufferedRowGroupWriter // nil between row groups
	groups int
	rows   int // of this row group
	bytes  int

	err    error // the first error; nothing is written after it
	closed bool
}

// maxRowGroups is the number of row groups whose ordinals the footer can hold.
const maxRowGroups = math.MaxInt16 + 1

// errWriterClosed is returned by Write after Close.
var errWriterClosed = errors.New("parquetscan: writer is closed")

// NewWriter returns a Writer of a file with these columns. It writes the file's first bytes at once; nothing else is written before the
// first row group is full. Names must not be empty, nor the same within one struct or among the columns; keys of maps must not be nullable.
//
// Vector columns become lists of floats that are never NULL, which is how others write them. The file also holds Arrow's schema, in which
// they are lists of fixed size if no row is NULL, so that readers that know Arrow can tell the dimension.
func NewWriter(w io.Writer, fields []Field, o WriterOptions) (*Writer, error) {
	o, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	if err := checkMetadata(o.Metadata); err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	s, err := newWriteSchema(fields)
	if err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	properties, err := writerProperties(o, s)
	if err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	wr := &Writer{options: o, fields: s.fields, sink: &writerSink{w: w}}
	wr.file, err = file.NewParquetWriterWithError(wr.sink, s.root, file.WithWriterProps(properties))
	if err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	return wr, nil
}

// writerProperties returns the options as arrow-go takes them.
func writerProperties(o WriterOptions, s *writeSchema) (*parquet.WriterProperties, error) {
	version := parquet.DataPageV1
	if o.DataPageV2 {
		version = parquet.DataPageV2
	}
	p := []parquet.WriterProperty{
		parquet.WithCompression(writerCodecs[o.Codec]), parquet.WithDataPageSize(int64(o.PageBytes)), parquet.WithDataPageVersion(version),
		parquet.WithDictionaryDefault(!o.NoDictionary), parquet.WithPageIndexEnabled(!o.NoPageIndex), parquet.WithStats(true),
		parquet.WithBatchSize(math.MaxInt32), // what one call gets is one batch: the Writer cuts
		parquet.WithMaxBloomFilterBytes(4 << 20), parquet.WithBloomFilterCandidates(10), parquet.WithAdaptiveBloomFilterEnabled(true),
	}
	plain, err := s.leavesOf(o.Plain)
	if err != nil {
		return nil, err
	}
	for _, leaf := range s.leaves {
		if leaf.field.Type.Kind == Vector {
			plain = append(plain, leaf)
		}
	}
	for _, leaf := range plain {
		p = append(p, parquet.WithDictionaryFor(leaf.leafPath, false))
	}
	filters, err := s.leavesOf(o.BloomFilters)
	if err != nil {
		return nil, err
	}
	for _, leaf := range filters {
		if leaf.field.Type.Kind == Bool {
			return nil, fmt.Errorf("column %s: no Bloom filter of bool", leaf.path)
		}
		p = append(p, parquet.WithBloomFilterEnabledFor(leaf.leafPath, true))
	}
	return parquet.NewWriterProperties(p...), nil
}

// Write adds the rows of a batch, whose columns must be those that NewWriter was given: names, types, order. The rows of one batch may go
// to several row groups, and those of several batches to one. The batch is not looked at after Write has returned. After an error the
// Writer has failed: all later calls return that error, and the file is not one.
//
// Errors are [ErrNoColumn] for columns that do not match, [ErrRagged] for vectors of another dimension than before, [ErrOutOfRange] for
// a value that does not fit its type: more digits than a decimal's precision, milliseconds beyond a day's 32 bits.
func (w *Writer) Write(b *Batch) error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return errWriterClosed
	}
	if w.err = w.write(b); w.err != nil {
		w.err = fmt.Errorf("parquetscan: %w", w.err)
	}
	return w.err
}

func (w *Writer) write(b *Batch) error {
	if len(b.Columns) != len(w.fields) {
		return fmt.Errorf("%w: a batch has %d columns, the file %d", ErrNoColumn, len(b.Columns), len(w.fields))
	}
	for i, f := range w.fields {
		c := &b.Columns[i]
		if c.Name != f.field.Name {
			return fmt.Errorf("%w: column %d of a batch is %s, the file's is %s", ErrNoColumn, i, c.Name, f.field.Name)
		}
		if c.n != b.Rows {
			return fmt.Errorf("column %s has %d rows, the batch %d", c.Name, c.n, b.Rows)
		}
		if err := f.check(c); err != nil {
			return err
		}
	}
	for from := 0; from < b.Rows; {
		n := w.fit(b, from)
		if n == 0 {
			if err := w.endGroup(); err != nil {
				return err
			}
			continue
		}
		if err := w.writeRows(b, from, from+n); err != nil {
			return err
		}
		from += n
		if w.rows >= w.options.RowGroupRows || w.bytes >= w.options.RowGroupBytes {
			if err := w.endGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fit returns how many rows of a batch, from one on, still fit in the row group: 0 only if it has rows already.
func (w *Writer) fit(b *Batch, from int) int {
	most := min(b.Rows-from, w.options.RowGroupRows-w.rows)
	n := cutRows(most, w.options.RowGroupBytes-w.bytes, func(n int) int { return w.size(b, from, from+n) })
	if n == 0 && w.rows == 0 {
		return 1
	}
	return n
}

// cutRows returns the greatest number of rows up to most whose size is within a limit. The size of more rows is never less.
func cutRows(most, limit int, size func(n int) int) int {
	if size(most) <= limit {
		return most
	}
	return max(0, sort.Search(most, func(n int) bool { return size(n) > limit })-1)
}

func (w *Writer) size(b *Batch, from, to int) int {
	size := 0
	for i, f := range w.fields {
		size += f.size(&b.Columns[i], from, to)
	}
	return size
}

func (w *Writer) writeRows(b *Batch, from, to int) error {
	if w.group == nil {
		if w.groups == maxRowGroups {
			return fmt.Errorf("more than %d row groups: make them larger", maxRowGroups)
		}
		var err error
		if w.group, err = w.file.AppendBufferedRowGroupChecked(); err != nil {
			return err
		}
		w.groups++
	}
	for i, f := range w.fields {
		if err := w.writeColumn(f, &b.Columns[i], from, to); err != nil {
			return err
		}
	}
	w.rows += to - from
	w.bytes += w.size(b, from, to)
	return nil
}

func (w *Writer) endGroup() error {
	if w.group == nil {
		return nil
	}
	if n, err := w.group.NumRows(); err != nil {
		return err
	} else if n != w.rows {
		return fmt.Errorf("a row group of %d rows has %d", w.rows, n)
	}
	err := w.group.Close()
	w.group, w.rows, w.bytes = nil, 0, 0
	return errors.Join(err, w.sink.err)
}

// Close writes what is left, and the footer; without it, what was written is no file. It does not close the io.Writer. If the Writer has
// failed it writes nothing and returns the error. A second Close does nothing.
func (w *Writer) Close() error {
	if w.err != nil || w.closed {
		return w.err
	}
	w.closed = true
	if w.err = w.finish(); w.err != nil {
		w.err = fmt.Errorf("parquetscan: %w", w.err)
	}
	w.buffers = writeBuffers{}
	return w.err
}

func (w *Writer) finish() error {
	if err := w.endGroup(); err != nil {
		return err
	}
	schema, err := encodeArrowSchema(w.fields)
	if err != nil {
		return err
	}
	if err := w.file.AppendKeyValueMetadata(arrowSchemaKey, schema); err != nil {
		return err
	}
	keys := make([]string, 0, len(w.options.Metadata))
	for key := range w.options.Metadata {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := w.file.AppendKeyValueMetadata(key, w.options.Metadata[key]); err != nil {
			return err
		}
	}
	return errors.Join(w.file.Close(), w.sink.err)
}

// A writerSink remembers the first error of an io.Writer, and hides its Close.
type writerSink struct {
	w   io.Writer
	err error
}

func (s *writerSink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	if err == nil && n != len(p) {
		err = io.ErrShortWrite
	}
	s.err = err
	return n, err
}
