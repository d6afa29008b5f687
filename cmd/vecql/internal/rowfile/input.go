// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/vecql/vecql/column"
)

// Input: the files to read, one after the other.

// Options of reading. The zero value reads all columns, the columns of CSV and JSON as text.
type Options struct {
	Format Format // 0 means that the name or the content of each file decides
	// Fields are the columns to read, with the types of text. Batches have exactly these, in this order. nil means all.
	Fields column.Schema
	// RefuseExtra makes a column of a file that is not in Fields an error, AllowMissing makes a column of Fields that a
	// file or an object does not have NULL.
	RefuseExtra, AllowMissing bool
	// Optional are names of Fields that a file or an object may lack, without AllowMissing, too.
	Optional []string
	// Types are columns that Infer takes as they are.
	Types   column.Schema
	Dialect Dialect
	Values  Values
	// Encoding is the encoding of CSV and JSON. A record with bytes that are not characters is rejected.
	Encoding Encoding
	// Records adds the column RecordColumn to batches of CSV and JSON.
	Records bool
	// Rejected is called for each record that is not a row, in order. An error ends the rows. nil means that the first
	// such record ends them with its *RecordError.
	Rejected func(*RecordError) error
	// Read counts the rows of CSV and JSON, if it is not nil.
	Read *atomic.Uint64

	BatchRows  int // default 8192
	BatchBytes int // of text; default 1 MiB

	Stdin io.Reader // the file "-"

	unused  *unusedNames
	streams map[string]*replay // that Infer has read
}

// Stdin is the name of Options.Stdin among files.
const Stdin = "-"

// ErrNoRecords means that no file of an input has a record, a header or a schema.
var ErrNoRecords = errors.New("the input is empty: it has neither a record nor a header")

// ErrColumns means that the columns of a file do not match Options.Fields.
var ErrColumns = errors.New("the columns do not match")

// checkNames compares the columns of a file with Options.Fields.
func (o *Options) checkNames(file string, names []string) error {
	if o.Fields == nil {
		return nil
	}
	for _, name := range names {
		if o.RefuseExtra && o.Fields.Index(name) < 0 {
			return fmt.Errorf("%s: %w: column %q is not wanted", file, ErrColumns, name)
		}
	}
	for _, f := range o.Fields {
		if !o.mayMiss(f.Name) && !slices.Contains(names, f.Name) {
			return fmt.Errorf("%s: %w: there is no column %q; there are: %s", file, ErrColumns, f.Name,
				strings.Join(names, ", "))
		}
	}
	return nil
}

// mayMiss reports whether a file or an object may lack a field.
func (o *Options) mayMiss(name string) bool {
	return o.AllowMissing || slices.Contains(o.Optional, name)
}

// An Input is a list of files.
type Input struct {
	o     Options
	files []inputFile
	total int64
	done  atomic.Int64

	records   int64 // of text that were read, with those that were rejected
	described bool  // a file has a header or a schema
}

// An inputFile is a file to read. Its size is 0 if it is a stream.
type inputFile struct {
	path   string
	size   int64
	stream bool
}

// Open returns the files that names stand for: a file, a pattern of filepath.Glob, a folder with all files of known
// extensions in it and below, or "-", the stream Options.Stdin. Files of one pattern or folder are in lexical order. A
// file that occurs twice is an error. The files are opened when they are read.
func Open(o Options, names ...string) (*Input, error) {
	var err error
	if o.Values, err = o.Values.withDefaults(); err != nil {
		return nil, err
	}
	if _, err = o.Dialect.withDefaults(""); err != nil {
		return nil, err
	}
	if o.BatchRows <= 0 {
		o.BatchRows = 8192
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = 1 << 20
	}
	o.unused = &unusedNames{}
	in := &Input{o: o}
	for _, name := range names {
		files, err := expand(name)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if slices.ContainsFunc(in.files, func(g inputFile) bool { return g.path == f.path }) {
				return nil, fmt.Errorf("%s is named twice", f.path)
			}
			in.total += f.size
			in.files = append(in.files, f)
		}
	}
	if slices.ContainsFunc(in.files, func(f inputFile) bool { return f.size == 0 }) {
		in.total = 0
	}
	return in, nil
}

// expand returns the files that a name stands for.
func expand(name string) ([]inputFile, error) {
	if name == Stdin {
		return []inputFile{{path: Stdin, stream: true}}, nil
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return expandFolder(name)
	case err == nil && info.Mode().IsRegular():
		return []inputFile{{path: filepath.Clean(name), size: info.Size()}}, nil
	case err == nil:
		return []inputFile{{path: name, stream: true}}, nil
	}
	matches, globErr := filepath.Glob(name)
	if len(matches) == 0 || globErr != nil {
		return nil, errors.Join(globErr, err)
	}
	var files []inputFile
	for _, match := range matches {
		more, err := expand(match)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

// expandFolder returns the files with a known extension in a folder and below it. Names that begin with a point or an
// underscore belong to temporary files and metadata.
func expandFolder(folder string) ([]inputFile, error) {
	var files []inputFile
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")
		switch {
		case err != nil:
			return err
		case d.IsDir() && hidden && path != folder:
			return fs.SkipDir
		case d.IsDir() || hidden:
			return nil
		}
		if format, _ := ByName(path); format == 0 {
			return nil
		}
		info, err := d.Info()
		if err == nil {
			files = append(files, inputFile{path: path, size: info.Size()})
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: the folder has no file with a known extension", folder)
	}
	return files, err
}

// Files returns the names of the files.
func (in *Input) Files() []string {
	names := make([]string, len(in.files))
	for i, f := range in.files {
		names[i] = f.path
	}
	return names
}

// Parquet reports whether all files are Parquet that can be read from any place: no streams, not compressed.
func (in *Input) Parquet() (is bool, err error) {
	for _, f := range in.files {
		if f.stream {
			return false, nil
		}
		err := in.opened(f, func(c content) error {
			is = c.format == Parquet && !c.compressed
			return nil
		})
		if err != nil || !is {
			return false, err
		}
	}
	return is, nil
}

// Progress returns the bytes of the files that are read, and of all files, 0 if the input has a stream.
func (in *Input) Progress() (done, total int64) { return in.done.Load(), in.total }

// Batches returns the rows of all files in their order, in fresh batches of at least one row. An error ends the loop as
// its last pair, as is ErrNoRecords: an empty file has no format, so that it is not known to be a file of rows.
func (in *Input) Batches(ctx context.Context) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		for _, f := range in.files {
			start := in.done.Load()
			err := in.read(ctx, f, func(b *column.Batch) error {
				if b.Rows > 0 && !yield(b, nil) {
					return errLeft
				}
				return ctx.Err()
			})
			if f.size > 0 {
				in.done.Store(start + f.size)
			}
			if errors.Is(err, errLeft) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
		if in.records == 0 && !in.described {
			yield(nil, fmt.Errorf("read %s: %w", in.label(), ErrNoRecords))
		}
	}
}

// label returns the names of the first files.
func (in *Input) label() string {
	const most = 3
	names := in.Files()
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// errLeft means that the loop of Batches was left.
var errLeft = errors.New("the loop was left")

// A content is the content of a file after decompression.
type content struct {
	*bufio.Reader
	format     Format
	compressed bool
	start      int64 // what Input.done was before the file
}

// opened opens a file and passes its content to f.
func (in *Input) opened(file inputFile, f func(content) error) error {
	raw, err := in.open(file)
	if err != nil {
		return err
	}
	defer func() { _ = raw.Close() }() // it was read only
	c := content{start: in.done.Load()}
	r := bufio.NewReaderSize(&countingReader{Reader: raw, count: &in.done}, 64<<10)
	var end func()
	if c.Reader, end, c.compressed, err = decompress(r); err != nil {
		return fmt.Errorf("read %s: %w", file.path, err)
	}
	defer end()
	c.format = in.formatOf(file, c.Reader)
	return f(c)
}

// read reads a file and passes its batches to f.
func (in *Input) read(ctx context.Context, file inputFile, f func(*column.Batch) error) error {
	return in.opened(file, func(c content) error {
		switch c.format {
		case Parquet:
			if !c.compressed && file.size > 0 {
				return in.readParquet(ctx, file, file.path, c.start, f)
			}
			return in.spool(ctx, file, c, f)
		case Arrow:
			return in.readArrow(file, c.Reader, f)
		}
		text, err := in.o.text(file.path, c)
		if err != nil {
			return err
		}
		if c.format == JSON {
			return in.readText(&jsonFormat{}, file, text, f)
		}
		return in.readText(&csvFormat{}, file, text, f)
	})
}

// formatOf returns the format by the options, the name or the content, in this order.
func (in *Input) formatOf(file inputFile, r *bufio.Reader) Format {
	format := in.o.Format
	if format == 0 {
		format, _ = ByName(file.path)
	}
	if format == 0 {
		head, _ := r.Peek(sniffBytes)
		format = byContent(in.o.Encoding.head(head))
	}
	return format
}

// sniffBytes is the number of bytes that byContent sees.
const sniffBytes = 512

// open opens a file. A stream is kept, if a sample is read.
func (in *Input) open(file inputFile) (r io.ReadCloser, err error) {
	if again := in.o.streams[file.path]; again != nil {
		return again.reopen(file.path)
	}
	switch {
	case file.path != Stdin:
		r, err = os.Open(file.path)
	case in.o.Stdin == nil:
		err = errors.New("there is no standard input")
	default:
		r = io.NopCloser(in.o.Stdin)
	}
	if err == nil && in.o.streams != nil && file.stream {
		kept := &replay{in: r}
		in.o.streams[file.path], r = kept, kept
	}
	return r, err
}

// A countingReader adds the bytes that are read to a counter. It repeats an error, which bufio.Reader.Peek drops.
type countingReader struct {
	io.Reader
	count *atomic.Int64
	err   error
}

func (r *countingReader) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	n, r.err = r.Reader.Read(p)
	r.count.Add(int64(n))
	return n, r.err
}

// readText reads CSV or JSON lines.
func (in *Input) readText(format recordFormat, file inputFile, r textContent, f func(*column.Batch) error) error {
	t, err := newTextReader(&in.o, format, file.path, r)
	if err != nil {
		return err
	}
	csv, isCSV := format.(*csvFormat)
	in.described = in.described || isCSV && !csv.NoHeader
	defer func() { in.records += t.row }()
	return t.each(f)
}

func (o *Options) reject(fault *RecordError) error {
	if o.Rejected == nil {
		return fault
	}
	return o.Rejected(fault)
}
