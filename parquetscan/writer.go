// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/version"
	"github.com/vecql/vecql/parquetscan/internal/encoder"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// The Writer: batches become row groups and a footer. writer_schema.go maps columns to the Parquet schema,
// writer_levels.go and writer_column.go lay out their values. Package encoder makes pages and files of them.

// A Codec is a compression codec of pages.
type Codec uint8

// The codecs. Snappy is the zero value: every reader supports it, and it costs least on data that hardly compresses,
// such as vectors. Zstd makes text and numbers smaller, and takes more time.
const (
	Snappy Codec = iota
	Zstd
	Gzip
	Brotli
	LZ4Raw
	Uncompressed
)

var writerCodecs = [...]format.Codec{
	Snappy: format.Snappy, Zstd: format.Zstd, Gzip: format.Gzip, Brotli: format.Brotli, LZ4Raw: format.LZ4Raw,
	Uncompressed: format.Uncompressed,
}

// String returns the name of the codec in the Parquet format, such as "SNAPPY".
func (c Codec) String() string {
	if int(c) < len(writerCodecs) {
		return writerCodecs[c].String()
	}
	return fmt.Sprintf("codec(%d)", uint8(c))
}

// WriterOptions configure a [Writer]. The zero value suits most files. Plain and BloomFilters list names of columns,
// which select all fields of the column, or paths of single fields in the file's schema: "tags.list.element".
type WriterOptions struct {
	Codec Codec
	// A row group ends after RowGroupRows rows (default 1,048,576) or RowGroupBytes bytes of values (default 128 MiB),
	// whichever comes first, and has at least one row. Bytes are counted in memory, before encoding; text in a
	// dictionary counts by its mean length.
	RowGroupRows  int
	RowGroupBytes int
	// PageBytes is the uncompressed size at which a page ends (default 1 MiB). A page may exceed it by a quarter, and
	// has at least one row.
	PageBytes int
	// NoDictionary writes all columns without dictionaries, Plain the columns that it names. Vectors never have one.
	NoDictionary bool
	Plain        []string
	// BloomFilters names columns that get a Bloom filter in every row group, of 8 KiB to 4 MiB each by the number of
	// distinct values. A filter takes 4 MiB of memory while its row group is encoded. Columns of bool cannot have one.
	BloomFilters []string
	// NoPageIndex omits the page index (minimum, maximum and first row of each page). Column chunks always have
	// statistics.
	NoPageIndex bool
	// DataPageV2 writes data pages V2: levels are not compressed, and headers contain the number of rows.
	DataPageV2 bool
	// Workers is the number of goroutines that encode row groups while Write takes further rows. 0 and 1 mean none: Write
	// encodes. The bytes of a file do not depend on Workers. With Workers, Write copies rows, and the
	// error of a value may be returned by a later Write or by Close. Up to Workers+1 row groups are in memory, with their
	// pages: RowGroupBytes bounds them. The goroutines of a Writer that is not closed end with their row groups.
	Workers int
	// Metadata is stored in the footer, in UTF-8. The key ARROW:schema is reserved.
	Metadata map[string]string
}

// check returns the options with defaults filled in.
func (o WriterOptions) check() (WriterOptions, error) {
	if int(o.Codec) >= len(writerCodecs) {
		return o, fmt.Errorf("unknown Codec %d", o.Codec)
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
		{"Workers", &o.Workers, 0, 1 << 10},
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

// A Writer writes batches to a file. It is not safe for concurrent use.
type Writer struct {
	options  WriterOptions
	schema   *writeSchema
	encoders groupEncoders

	// The row group that is not full.
	rows  int
	bytes int

	groups int   // row groups that ended
	err    error // the first error; later calls return it
	closed bool
}

// maxRowGroups is the number of row groups whose ordinals the footer can hold.
const maxRowGroups = math.MaxInt16 + 1

var errRowGroups = fmt.Errorf("more than %d row groups: make them larger", maxRowGroups)

// errWriterClosed is returned by Write after Close.
var errWriterClosed = errors.New("parquetscan: writer is closed")

// NewWriter returns a Writer of a file with the columns of schema. It writes the file's first bytes at once, and
// nothing else before the first row group is full. Names must not be empty. Columns may share a name, fields of one
// struct must not. Keys of maps must not be nullable. A vector type of dimension 0 takes the dimension of its first row
// that is not NULL.
//
// Kinds that Parquet does not have are stored as other types, from which this package restores them: a Vector as a list
// without NULL elements; Inet, Varint, Decimal and Duration as text (see column.FormatText); a Tuple as a struct with
// the fields "0", "1" and so on. The footer contains Arrow's schema, in which other readers find the dimension of
// vectors without NULLs.
func NewWriter(w io.Writer, schema column.Schema, o WriterOptions) (*Writer, error) {
	o, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	if err := checkMetadata(o.Metadata); err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	s, err := newWriteSchema(schema)
	if err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	if err := o.setColumns(s); err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	f, err := encoder.NewFile(w)
	if err != nil {
		return nil, fmt.Errorf("parquetscan: %w", err)
	}
	pages := encoder.Options{
		Codec: writerCodecs[o.Codec], PageBytes: o.PageBytes, V2: o.DataPageV2, PageIndex: !o.NoPageIndex,
	}
	encoders := groupEncoders{file: f, schema: s, workers: o.Workers, pages: pages}
	return &Writer{options: o, schema: s, encoders: encoders}, nil
}

// setColumns sets which leaves have dictionaries and Bloom filters.
func (o *WriterOptions) setColumns(s *writeSchema) error {
	plain, err := s.leavesOf(o.Plain)
	if err != nil {
		return err
	}
	for _, leaf := range s.leaves {
		leaf.column.Dictionary = !o.NoDictionary && leaf.field.Type.Kind != column.Vector && !slices.Contains(plain, leaf)
	}
	filters, err := s.leavesOf(o.BloomFilters)
	if err != nil {
		return err
	}
	for _, leaf := range filters {
		if leaf.field.Type.Kind == column.Bool {
			return fmt.Errorf("column %s: bool cannot have a Bloom filter", leaf.path)
		}
		leaf.column.Bloom = true
	}
	return nil
}

// Write adds the rows of a batch. Its columns must have the names, types and order of the Writer's schema. One batch
// may be split over several row groups, and one row group may hold several batches. Write does not keep the batch.
// After an error all later calls return that error, and the output is not a valid file.
//
// The error wraps [ErrNoColumn] for columns that do not match, [ErrRagged] for vectors of another dimension than
// before, [ErrOutOfRange] for a value that does not fit its type (more digits than a decimal's precision, milliseconds
// beyond 32 bits), or is the error of column.Batch.Check.
func (w *Writer) Write(b *column.Batch) error {
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

// write checks the batch as a whole and writes it, in as many row groups as the options require. A row group ends
// before it exceeds RowGroupRows or RowGroupBytes.
func (w *Writer) write(b *column.Batch) error {
	if len(b.Columns) != len(w.schema.fields) {
		return fmt.Errorf("%w: a batch has %d columns, the file %d", ErrNoColumn, len(b.Columns), len(w.schema.fields))
	}
	for i, f := range w.schema.fields {
		c := &b.Columns[i]
		if c.Name != f.field.Name {
			return fmt.Errorf("%w: column %d of a batch is %s, the file's is %s", ErrNoColumn, i, c.Name, f.field.Name)
		}
		if err := f.check(c); err != nil {
			return err
		}
	}
	if err := b.Check(); err != nil {
		return err
	}
	b, err := w.stored(b)
	if err != nil {
		return err
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

// stored returns the batch with each column converted to the kind that it is stored as.
func (w *Writer) stored(b *column.Batch) (*column.Batch, error) {
	out := &column.Batch{Rows: b.Rows, Columns: b.Columns}
	for i, f := range w.schema.fields {
		if f.isStoredAsIs() {
			continue
		}
		if &out.Columns[0] == &b.Columns[0] {
			out.Columns = slices.Clone(b.Columns)
		}
		c, err := f.stored(&b.Columns[i], nil)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.path, err)
		}
		out.Columns[i] = c
	}
	return out, nil
}

// fit returns how many rows of a batch, from row from on, still fit into the row group. It returns 0 only if the row
// group has rows.
func (w *Writer) fit(b *column.Batch, from int) int {
	most := min(b.Rows-from, w.options.RowGroupRows-w.rows)
	n := cutRows(most, w.options.RowGroupBytes-w.bytes, func(n int) int { return w.size(b, from, from+n) })
	if n == 0 && w.rows == 0 {
		return 1
	}
	return n
}

func (w *Writer) size(b *column.Batch, from, to int) int {
	size := 0
	for i, f := range w.schema.fields {
		size += f.size(&b.Columns[i], from, to)
	}
	return size
}

// writeRows adds rows [from, to) to the current row group, or to a new one.
func (w *Writer) writeRows(b *column.Batch, from, to int) error {
	if w.groups == maxRowGroups {
		return errRowGroups
	}
	if err := w.encoders.writeRows(b, from, to); err != nil {
		return err
	}
	w.rows += to - from
	w.bytes += w.size(b, from, to)
	return nil
}

// endGroup ends the current row group, if it has rows.
func (w *Writer) endGroup() error {
	if w.rows == 0 {
		return nil
	}
	rows := w.rows
	w.groups++
	w.rows, w.bytes = 0, 0
	return w.encoders.endGroup(rows)
}

// Close writes the last row group and the footer, without which the output is not a valid file. It does not close the
// io.Writer. After an error of Write it writes nothing and returns that error. A second Close does nothing.
func (w *Writer) Close() error {
	if w.err != nil || w.closed {
		return w.err
	}
	w.closed = true
	if w.err = w.finish(); w.err != nil {
		w.err = fmt.Errorf("parquetscan: %w", w.err)
	}
	w.encoders = groupEncoders{}
	return w.err
}

// writerName names the program in the footer.
const writerName = "vecql version " + version.Version

// finish writes the rest of the file. Keys are sorted, so that equal input makes equal files.
func (w *Writer) finish() error {
	if err := w.endGroup(); err != nil {
		return err
	}
	if err := w.encoders.collect(0); err != nil {
		return err
	}
	metadata := []encoder.KeyValue{{Key: footer.ArrowSchemaKey, Value: encodeArrowSchema(w.schema.fields)}}
	for _, key := range slices.Sorted(maps.Keys(w.options.Metadata)) {
		metadata = append(metadata, encoder.KeyValue{Key: key, Value: w.options.Metadata[key]})
	}
	return w.encoders.file.Finish(&encoder.Footer{
		Schema: w.schema.elements, Leaves: len(w.schema.leaves), Metadata: metadata, CreatedBy: writerName,
	})
}
