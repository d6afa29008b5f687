// SPDX-License-Identifier: Apache-2.0

package data

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// Writing of the tables. Columns are nullable, as in data frames, but have no NULLs. Encodings are the writer's
// defaults: dictionaries first, and plain values where dictionaries do not pay.

func codec(name string) (compress.Compression, error) {
	switch name {
	case "none":
		return compress.Codecs.Uncompressed, nil
	case "snappy":
		return compress.Codecs.Snappy, nil
	case "zstd":
		return compress.Codecs.Zstd, nil
	}
	return 0, fmt.Errorf("unknown codec %q", name)
}

// Write makes the tables with a case that matches (nil means all) in a folder, and returns its Set. It keeps tables
// that exist with the same Options, and removes tables of other Options. It calls progress with the name of each table.
func Write(dir string, o Options, match *regexp.Regexp, progress func(what string)) (*Set, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	s, err := Open(dir)
	if os.IsNotExist(err) || err == nil && s.Options != o {
		s, err = &Set{dir: dir, Manifest: Manifest{Options: o}}, clean(dir, o)
	}
	if err != nil {
		return nil, err
	}
	for _, kind := range []struct {
		specs []*spec
		make  func(s *Set, missing []*spec, progress func(string)) error
	}{{o.tables(), (*Set).writeT}, {o.embeddings(), (*Set).writeEmbeddings}} {
		var missing []*spec
		for _, t := range kind.specs {
			if matches(match, t.cases) && s.find(t.Name) == nil {
				missing = append(missing, t)
			}
		}
		if len(missing) == 0 {
			continue
		}
		if err := kind.make(s, missing, progress); err != nil {
			return nil, err
		}
		for _, t := range missing {
			s.replace(t)
		}
		if err := s.save(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// clean removes all files of Write, the manifest first.
func clean(dir string, o Options) error {
	err := os.RemoveAll(filepath.Join(dir, "manifest.json"))
	for _, t := range append(o.tables(), o.embeddings()...) {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, t.Name)))
	}
	return err
}

// replace adds a table and its cases to the manifest, in place of the table and cases of the same name. Cases are in
// the order of all tables.
func (s *Set) replace(t *spec) {
	tables, cases := map[string]*Table{t.Name: &t.Table}, map[string][]*Case{t.Name: t.cases}
	for _, old := range s.Tables {
		if old.Name != t.Name {
			tables[old.Name] = old
		}
	}
	for _, c := range s.Cases {
		if c.Table != t.Name {
			cases[c.Table] = append(cases[c.Table], c)
		}
	}
	s.Tables, s.Cases = nil, nil
	for _, known := range append(s.Options.tables(), s.Options.embeddings()...) {
		if tables[known.Name] != nil {
			s.Tables, s.Cases = append(s.Tables, tables[known.Name]), append(s.Cases, cases[known.Name]...)
		}
	}
}

// writeT writes layouts of t in one pass.
func (s *Set) writeT(missing []*spec, progress func(string)) error {
	var fields []arrow.Field
	for _, name := range columnNames() {
		f := arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true}
		switch name {
		case "f":
			f.Type = arrow.PrimitiveTypes.Float64
		case "s":
			f.Type = arrow.BinaryTypes.String
		}
		fields = append(fields, f)
	}
	from, total := newSource(s.Options), newTotals()
	err := s.write(missing, arrow.NewSchema(fields, nil), split(s.Rows, rowGroupsOfT), progress,
		func(_, n int) arrow.RecordBatch {
			r := from.next(n)
			total.add(r)
			var columns []arrow.Array
			for _, f := range fields {
				switch f.Name {
				case "f":
					columns = append(columns, flat(f.Type, r.floats))
				case "s":
					b := array.NewStringBuilder(memory.DefaultAllocator)
					for _, c := range r.cities {
						b.Append(cities[c])
					}
					columns = append(columns, b.NewArray())
				default:
					columns = append(columns, flat(f.Type, r.ints[f.Name]))
				}
			}
			return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(n))
		})
	if err != nil {
		return err
	}
	progress("answers")
	var cases []*Case
	for _, t := range missing {
		cases = append(cases, t.cases...)
	}
	total.answers(cases)
	return nil
}

// writeEmbeddings writes tables of vectors in one pass.
func (s *Set) writeEmbeddings(missing []*spec, progress func(string)) error {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "embedding", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
	}, nil)
	normal, want := random(s.Seed, "embedding"), &Vectors{Rows: s.Vectors, Dim: s.Dim}
	err := s.write(missing, schema, split(s.Vectors, rowGroupsOfVectors), progress, func(start, n int) arrow.RecordBatch {
		ids, offsets, values := make([]int64, n), make([]int32, n+1), make([]float32, n*s.Dim)
		for i := range ids {
			ids[i], offsets[i+1] = int64(start+i), int32((i+1)*s.Dim)
			row := values[i*s.Dim : (i+1)*s.Dim]
			for j := range row {
				row[j] = float32(normal.NormFloat64())
			}
			want.add(ids[i], row, s.Vectors)
		}
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(bytesOf(offsets))}
		elements := flat(arrow.PrimitiveTypes.Float32, values).Data()
		list := array.MakeFromData(array.NewData(schema.Field(1).Type, n, buffers, []arrow.ArrayData{elements}, 0, 0))
		return array.NewRecordBatch(schema, []arrow.Array{flat(arrow.PrimitiveTypes.Int64, ids), list}, int64(n))
	})
	for _, t := range missing {
		t.cases[0].Vectors = want
	}
	return err
}

func bytesOf[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

// flat returns an array that shares the slice's memory.
func flat[T any](t arrow.DataType, v []T) arrow.Array {
	return array.MakeFromData(array.NewData(t, len(v), []*memory.Buffer{nil, memory.NewBufferBytes(bytesOf(v))}, nil, 0,
		0))
}

// A maker returns the n rows from start. It is called for one row group after the other.
type maker func(start, n int) arrow.RecordBatch

// write writes tables of the same rows.
func (s *Set) write(tables []*spec, schema *arrow.Schema, d division, progress func(string), next maker) error {
	writers := make([]*tableWriter, len(tables))
	for i, t := range tables {
		folder := filepath.Join(s.dir, t.Name)
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		c, err := codec(t.codec)
		if err != nil {
			return err
		}
		writers[i] = &tableWriter{spec: t, schema: schema, folder: folder, properties: parquet.NewWriterProperties(
			parquet.WithCompression(c), parquet.WithMaxRowGroupLength(math.MaxInt32),
		)}
		progress(t.Name)
	}
	for g := range d.number() {
		start, n := d.piece(g)
		rec := next(start, n)
		for _, w := range writers {
			if err := w.write(g, rec); err != nil {
				return fmt.Errorf("%s: %w", w.Name, err)
			}
		}
	}
	for _, w := range writers {
		if err := w.close(); err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
	}
	return nil
}

// A tableWriter writes the files of a table in order.
type tableWriter struct {
	*spec
	schema     *arrow.Schema
	folder     string
	properties *parquet.WriterProperties
	next       int // file
	file       *os.File
	buffer     *bufio.Writer
	out        *pqarrow.FileWriter
}

// write writes row group g. File i of n begins with row group RowGroups*i/n, so that no row group is split.
func (w *tableWriter) write(g int, rec arrow.RecordBatch) error {
	if g == w.RowGroups*w.next/w.Files {
		if err := w.close(); err != nil {
			return err
		}
		var err error
		if w.file, err = os.Create(filepath.Join(w.folder, fileName(w.next))); err != nil {
			return err
		}
		w.buffer = bufio.NewWriterSize(w.file, 1<<20)
		if w.out, err = pqarrow.NewFileWriter(w.schema, w.buffer, w.properties, pqarrow.DefaultWriterProps()); err != nil {
			return err
		}
		w.next++
	}
	return w.out.Write(rec)
}

// close ends the file being written, if there is one.
func (w *tableWriter) close() error {
	if w.out == nil {
		return nil
	}
	if err := w.out.Close(); err != nil {
		return err
	}
	if err := w.buffer.Flush(); err != nil {
		return err
	}
	info, err := w.file.Stat()
	if err != nil {
		return err
	}
	w.Bytes += info.Size()
	w.out = nil
	return w.file.Close()
}
