// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Files: row groups, then page indexes, then the footer (parquet.thrift, FileMetaData).

// A File writes the parts of a file.
type File struct {
	w      io.Writer
	at     int64 // bytes written
	err    error // the first error of w
	groups []rowGroup
	rows   int64

	mostFooter int64 // bytes of the footer, which a u32 follows
}

// A rowGroup is the metadata of a row group.
type rowGroup struct {
	rows            int64
	start           int64
	raw, compressed int64
	chunks          []chunkMeta
}

// A chunkMeta is the metadata of a column chunk.
type chunkMeta struct {
	start                    int64
	meta                     []byte // a ColumnMetaData
	columnIndex, offsetIndex index
}

// An index is a ColumnIndex or an OffsetIndex.
type index struct {
	data []byte // nil means none
	at   int64
}

// A KeyValue is an entry of the metadata of a file.
type KeyValue struct{ Key, Value string }

// A Footer is the part of a footer that does not depend on the row groups.
type Footer struct {
	Schema    []format.SchemaElement // the root first
	Leaves    int
	Metadata  []KeyValue
	CreatedBy string
}

// NewFile writes the first bytes of a file.
func NewFile(w io.Writer) (*File, error) {
	f := &File{w: w, mostFooter: math.MaxUint32}
	return f, f.write([]byte(format.Magic))
}

// write writes to the file. After an error all later calls return that error.
func (f *File) write(p []byte) error {
	if f.err != nil || len(p) == 0 {
		return f.err
	}
	n, err := f.w.Write(p)
	if err == nil && n != len(p) {
		err = io.ErrShortWrite
	}
	f.at += int64(n)
	f.err = err
	return err
}

// Append writes a row group: its column chunks, then its Bloom filters.
func (f *File) Append(rows int, chunks []*Encoded) error {
	g := rowGroup{rows: int64(rows), start: f.at}
	for _, e := range chunks {
		g.chunks = append(g.chunks, chunkMeta{
			start: f.at, columnIndex: index{data: e.columnIndex()}, offsetIndex: index{data: e.offsetIndex(f.at)},
		})
		g.raw += e.written.raw
		g.compressed += e.compressed()
		if err := f.write(e.dictionary); err != nil {
			return err
		}
		for _, block := range e.written.body.all {
			if err := f.write(block); err != nil {
				return err
			}
		}
	}
	for i, e := range chunks {
		g.chunks[i].meta = e.metadata(g.chunks[i].start, f.at)
		if err := f.write(e.bloom); err != nil {
			return err
		}
	}
	f.groups = append(f.groups, g)
	f.rows += g.rows
	return nil
}

// Finish writes the page indexes and the footer: all column indexes come first, then all offset indexes.
func (f *File) Finish(footer *Footer) error {
	err := f.writeIndexes(func(c *chunkMeta) *index { return &c.columnIndex })
	if err == nil {
		err = f.writeIndexes(func(c *chunkMeta) *index { return &c.offsetIndex })
	}
	if err != nil {
		return err
	}
	var w thrift.Writer
	f.appendFooter(&w, footer)
	if int64(len(w.B)) > f.mostFooter {
		return fmt.Errorf("footer of %d bytes, of at most %d: write fewer row groups", len(w.B), f.mostFooter)
	}
	size := uint32(len(w.B))
	return f.write(append(binary.LittleEndian.AppendUint32(w.B, size), format.Magic...))
}

// writeIndexes writes one kind of index of all column chunks.
func (f *File) writeIndexes(of func(c *chunkMeta) *index) error {
	for _, g := range f.groups {
		for i := range g.chunks {
			x := of(&g.chunks[i])
			x.at = f.at
			if err := f.write(x.data); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendFooter appends the FileMetaData.
func (f *File) appendFooter(w *thrift.Writer, footer *Footer) {
	w.Open(0)
	w.I32(1, 2)
	w.List(2, thrift.Struct, len(footer.Schema))
	for i := range footer.Schema {
		footer.Schema[i].Append(w)
	}
	w.I64(3, f.rows)
	w.List(4, thrift.Struct, len(f.groups))
	for i := range f.groups {
		f.groups[i].append(w, i)
	}
	w.List(5, thrift.Struct, len(footer.Metadata))
	for _, m := range footer.Metadata {
		w.Open(0)
		w.Binary(1, []byte(m.Key))
		w.Binary(2, []byte(m.Value))
		w.Close()
	}
	w.Binary(6, []byte(footer.CreatedBy))
	w.List(7, thrift.Struct, footer.Leaves)
	for range footer.Leaves { // the order that the type defines
		w.Open(0)
		w.Open(1)
		w.Close()
		w.Close()
	}
	w.Close()
}

// append appends the RowGroup.
func (g *rowGroup) append(w *thrift.Writer, ordinal int) {
	w.Open(0)
	w.List(1, thrift.Struct, len(g.chunks))
	for i := range g.chunks {
		c := &g.chunks[i]
		w.Open(0)
		w.I64(2, c.start)
		w.Raw(3, c.meta)
		c.offsetIndex.append(w, 4)
		c.columnIndex.append(w, 6)
		w.Close()
	}
	w.I64(2, g.raw)
	w.I64(3, g.rows)
	w.I64(5, g.start)
	w.I64(6, g.compressed)
	w.I16(7, int16(ordinal))
	w.Close()
}

// append appends the place and the length of the index as two fields.
func (x *index) append(w *thrift.Writer, id int16) {
	if x.data != nil {
		w.I64(id, x.at)
		w.I32(id+1, int32(len(x.data)))
	}
}
