// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Column chunks that are complete: their metadata and indexes (parquet.thrift, ColumnMetaData).

// An Encoded is a column chunk that is complete.
type Encoded struct {
	column     *Column
	codec      format.Codec
	v2         bool
	dictionary []byte // the page with its header; nil means none
	written    written
	bloom      []byte // header and bits; nil means none
	pageIndex  bool
}

// Finish ends the column chunk and begins the next one.
func (c *Chunk) Finish() (*Encoded, error) {
	if c.entries > 0 {
		if err := c.flush(); err != nil {
			return nil, err
		}
	}
	out := &Encoded{column: c.column, codec: c.options.Codec, v2: c.options.V2, pageIndex: c.options.PageIndex}
	if c.coded {
		c.insertEntries()
	}
	if c.written.coded > 0 {
		page, raw, err := c.dictionaryPage()
		if err != nil {
			return nil, err
		}
		out.dictionary = page
		c.written.raw += int64(raw)
	}
	if c.bloom != nil {
		out.bloom = c.bloom.finish()
	}
	out.written = c.written
	c.begin()
	return out, nil
}

// compressed returns the bytes of the column chunk.
func (e *Encoded) compressed() int64 { return int64(len(e.dictionary)) + e.written.body.size }

// metadata returns a ColumnMetaData. start is the place of the column chunk in the file, bloom the place of its filter.
func (e *Encoded) metadata(start, bloom int64) []byte {
	var w thrift.Writer
	w.Open(0)
	w.I32(1, int32(e.column.Type))
	encodings := []format.Encoding{format.Plain, format.RLE}
	if e.dictionary != nil {
		encodings = append(encodings, format.RLEDictionary)
	}
	w.List(2, thrift.I32, len(encodings))
	for _, encoding := range encodings {
		w.Int(int64(encoding))
	}
	w.List(3, thrift.Binary, len(e.column.Path))
	for _, name := range e.column.Path {
		w.Bytes([]byte(name))
	}
	w.I32(4, int32(e.codec))
	w.I64(5, e.written.entries)
	w.I64(6, e.written.raw)
	w.I64(7, e.compressed())
	w.I64(9, start+int64(len(e.dictionary)))
	if e.dictionary != nil {
		w.I64(11, start)
	}
	e.written.bounds.append(&w, 12, e.column.Order, e.written.entries-e.written.values)
	e.appendEncodingStats(&w)
	if e.bloom != nil {
		w.I64(14, bloom)
		w.I32(15, int32(len(e.bloom)))
	}
	w.Close()
	return w.B
}

// appendEncodingStats appends the number of pages of each type and encoding.
func (e *Encoded) appendEncodingStats(w *thrift.Writer) {
	type stat struct {
		typ      format.PageType
		encoding format.Encoding
		count    int
	}
	data := format.DataPage
	if e.v2 {
		data = format.DataPageV2
	}
	var stats []stat
	for _, s := range []stat{
		{format.DictionaryPage, format.Plain, min(len(e.dictionary), 1)},
		{data, format.RLEDictionary, e.written.coded},
		{data, format.Plain, len(e.written.pages) - e.written.coded},
	} {
		if s.count > 0 {
			stats = append(stats, s)
		}
	}
	w.List(13, thrift.Struct, len(stats))
	for _, s := range stats {
		w.Open(0)
		w.I32(1, int32(s.typ))
		w.I32(2, int32(s.encoding))
		w.I32(3, int32(s.count))
		w.Close()
	}
}

// columnIndex returns a ColumnIndex, nil if the bounds of a page are unknown.
func (e *Encoded) columnIndex() []byte {
	if !e.pageIndex {
		return nil
	}
	var index format.ColumnIndex
	var known []bounds
	for i := range e.written.pages {
		p := &e.written.pages[i]
		if p.values > 0 && !p.bounds.known {
			return nil
		}
		index.NullPages = append(index.NullPages, p.values == 0)
		index.Min, index.Max = append(index.Min, p.bounds.min), append(index.Max, p.bounds.max)
		index.NullCounts = append(index.NullCounts, int64(p.entries-p.values))
		if p.values > 0 {
			known = append(known, p.bounds)
		}
	}
	index.Order = orderOfPages(e.column.Order, known)
	var w thrift.Writer
	index.Append(&w)
	return w.B
}

// offsetIndex returns an OffsetIndex; start is the place of the column chunk in the file.
func (e *Encoded) offsetIndex(start int64) []byte {
	if !e.pageIndex {
		return nil
	}
	locations := make([]format.PageLocation, len(e.written.pages))
	for i, p := range e.written.pages {
		locations[i] = p.location
		locations[i].Offset += start + int64(len(e.dictionary))
	}
	var w thrift.Writer
	format.AppendOffsetIndex(&w, locations)
	return w.B
}
