// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Encoding of row groups by several goroutines (WriterOptions.Workers). Each row group becomes a file in memory. Its
// pages, and its metadata with other offsets, then become part of the Writer's file, in the order of the rows.

// A groupJob is a row group that a goroutine encodes.
type groupJob struct {
	batches []*column.Batch // its rows; the job owns them
	done    chan struct{}   // closed when encoded or err is set
	encoded encodedGroup
	err     error
}

// An encodedGroup is a file in memory with one row group.
type encodedGroup struct {
	meta *metadata.FileMetaData
	sink groupSink
}

// A groupSink keeps what arrow-go writes: first the magic, then each column chunk by one call, then the rest.
type groupSink struct {
	at     int64
	chunks []groupChunk // while the row group is written
	tail   []byte       // the rest: Bloom filters, page index and footer
	tailAt int64        // where tail begins
	state  groupState
}

// groupState is the part of the file that arrow-go writes to a groupSink.
type groupState uint8

const (
	writingMagic groupState = iota
	writingChunks
	writingTail
)

// A groupChunk is a column chunk: its pages, followed by a copy of its metadata.
type groupChunk struct {
	at   int64
	data []byte
}

func (s *groupSink) Write(p []byte) (int, error) {
	switch s.state {
	case writingChunks:
		s.chunks = append(s.chunks, groupChunk{s.at, append([]byte(nil), p...)})
	case writingTail:
		s.tail = append(s.tail, p...)
	}
	s.at += int64(len(p))
	return len(p), nil
}

// rest returns size bytes at an offset behind the row group, in the memory of s.
func (s *groupSink) rest(offset int64, size int32) ([]byte, error) {
	from := offset - s.tailAt
	if from < 0 || size < 0 || from+int64(size) > int64(len(s.tail)) {
		return nil, fmt.Errorf("arrow-go wrote %d bytes behind a row group, which end at %d, but names %d at %d", len(s.tail),
			s.tailAt+int64(len(s.tail)), size, offset)
	}
	return s.tail[from:][:size], nil
}

// run encodes the row group.
func (j *groupJob) run(schema column.Schema, o WriterOptions) {
	defer close(j.done)
	defer func() {
		if r := recover(); r != nil {
			j.err = fmt.Errorf("encode a row group: panic: %v", r)
		}
	}()
	j.err = j.encode(schema, o)
}

// encode writes the row group to its file in memory.
func (j *groupJob) encode(schema column.Schema, o WriterOptions) error {
	o.Workers, o.Metadata = 0, nil
	sink := &j.encoded.sink
	w, err := NewWriter(sink, schema, o)
	if err != nil {
		return err
	}
	for i, b := range j.batches {
		if err := w.writeRows(b, 0, b.Rows); err != nil {
			return err
		}
		j.batches[i] = nil
	}
	sink.state = writingChunks
	if err := w.endGroup(); err != nil {
		return err
	}
	sink.state, sink.tailAt = writingTail, sink.at
	if err := w.file.Close(); err != nil {
		return err
	}
	j.encoded.meta, err = w.file.FileMetadata()
	return err
}

// groupAppender writes encoded row groups to the file of a Writer.
type groupAppender struct {
	schema  column.Schema
	held    []*column.Batch // copies of the rows of the row group that is not full
	jobs    []*groupJob     // handed over and not yet written, in the order of rows
	meta    *metadata.FileMetaData
	groups  int          // in meta
	rows    int64        // of the row groups in meta
	indexes []chunkIndex // of their column chunks, in their order
}

// A chunkIndex is the page index of a column chunk. It is written behind all row groups.
type chunkIndex struct {
	column []byte                       // nil means none
	offset *metadata.OffsetIndexBuilder // nil means none
}

// hold copies rows [from, to) to the row group.
func (w *Writer) hold(b *column.Batch, from, to int) {
	w.parallel.held = append(w.parallel.held, b.Slice(from, to).Clone())
	w.rows += to - from
	w.bytes += w.size(b, from, to)
}

// handOver starts to encode the row group, if it has rows. Before, it waits until fewer than Workers row groups are
// encoded.
func (w *Writer) handOver() error {
	p := &w.parallel
	if len(p.held) == 0 {
		return nil
	}
	if w.groups == maxRowGroups {
		return errRowGroups
	}
	if err := w.collect(w.options.Workers - 1); err != nil {
		return err
	}
	j := &groupJob{batches: p.held, done: make(chan struct{})}
	go j.run(p.schema, w.options)
	p.jobs, p.held = append(p.jobs, j), nil
	w.groups++
	w.rows, w.bytes = 0, 0
	return nil
}

// collect writes row groups that are encoded until at most a number of jobs is left.
func (w *Writer) collect(most int) error {
	p := &w.parallel
	for len(p.jobs) > most {
		j := p.jobs[0]
		<-j.done
		if j.err != nil {
			return j.err
		}
		if err := w.appendGroup(&j.encoded); err != nil {
			return err
		}
		p.jobs[0] = nil
		p.jobs = p.jobs[1:]
	}
	return nil
}

// appendGroup writes an encoded row group: its column chunks, then its Bloom filters.
func (w *Writer) appendGroup(g *encodedGroup) error {
	p := &w.parallel
	group := g.meta.RowGroups[0]
	if len(g.sink.chunks) != len(group.Columns) {
		return fmt.Errorf("arrow-go wrote %d column chunks of %d", len(g.sink.chunks), len(group.Columns))
	}
	ordinal, start := int16(p.groups), w.sink.at
	group.Ordinal, group.FileOffset = &ordinal, &start
	shifts := make([]int64, len(group.Columns))
	for i, c := range group.Columns {
		chunk, m := g.sink.chunks[i], c.MetaData
		if c.FileOffset != chunk.at || m.TotalCompressedSize > int64(len(chunk.data)) {
			return fmt.Errorf("arrow-go wrote a column chunk of %d bytes at %d, but names %d at %d", len(chunk.data), chunk.at,
				m.TotalCompressedSize, c.FileOffset)
		}
		shift := w.sink.at - chunk.at
		if _, err := w.sink.Write(chunk.data[:m.TotalCompressedSize]); err != nil {
			return err
		}
		shifts[i] = shift
		c.FileOffset += shift
		m.DataPageOffset += shift
		for _, offset := range []*int64{m.DictionaryPageOffset, m.IndexPageOffset} {
			if offset != nil {
				*offset += shift
			}
		}
	}
	for i, c := range group.Columns {
		if m := c.MetaData; m.BloomFilterOffset != nil {
			filter, err := g.sink.rest(*m.BloomFilterOffset, m.GetBloomFilterLength())
			if err != nil {
				return err
			}
			*m.BloomFilterOffset = w.sink.at
			if _, err := w.sink.Write(filter); err != nil {
				return err
			}
		}
		index, err := g.pageIndex(i, shifts[i])
		if err != nil {
			return err
		}
		p.indexes = append(p.indexes, index)
	}
	if p.meta == nil {
		p.meta = g.meta
	} else {
		p.meta.RowGroups = append(p.meta.RowGroups, group)
	}
	p.groups++
	p.rows += group.NumRows
	return nil
}

// pageIndex returns the page index of a column chunk that is shift bytes further in the Writer's file.
func (g *encodedGroup) pageIndex(column int, shift int64) (index chunkIndex, err error) {
	c := g.meta.RowGroups[0].Columns[column]
	if c.ColumnIndexOffset != nil {
		if index.column, err = g.sink.rest(*c.ColumnIndexOffset, c.GetColumnIndexLength()); err != nil {
			return index, err
		}
	}
	if c.OffsetIndexOffset == nil {
		return index, nil
	}
	data, err := g.sink.rest(*c.OffsetIndexOffset, c.GetOffsetIndexLength())
	if err != nil {
		return index, err
	}
	defer failure.Guard(&err)
	index.offset = &metadata.OffsetIndexBuilder{}
	for _, l := range metadata.NewOffsetIndex(data, nil, nil).GetPageLocations() {
		if err := index.offset.AddPage(l.Offset+shift, l.FirstRowIndex, l.CompressedPageSize); err != nil {
			return index, err
		}
	}
	return index, index.offset.Finish(0)
}

// finishParallel writes the page indexes and the footer of a file with row groups.
func (w *Writer) finishParallel() error {
	if err := w.writeIndexes(); err != nil {
		return err
	}
	meta, err := w.file.FileMetadata()
	if err != nil {
		return err
	}
	meta.RowGroups, meta.NumRows = w.parallel.meta.RowGroups, w.parallel.rows
	size, err := meta.WriteTo(w.sink, nil)
	if err != nil {
		return err
	}
	if size > math.MaxUint32 {
		return fmt.Errorf("footer of %d bytes, of at most %d", size, uint32(math.MaxUint32))
	}
	_, err = w.sink.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(size)), footer.Magic...))
	return err
}

// writeIndexes writes the column indexes of all column chunks, then their offset indexes.
func (w *Writer) writeIndexes() error {
	p := &w.parallel
	number := 0
	for _, group := range p.meta.RowGroups {
		for _, c := range group.Columns {
			index := p.indexes[number]
			number++
			if index.column == nil {
				continue
			}
			at := w.sink.at
			c.ColumnIndexOffset = &at
			if _, err := w.sink.Write(index.column); err != nil {
				return err
			}
		}
	}
	number = 0
	for _, group := range p.meta.RowGroups {
		for _, c := range group.Columns {
			index := p.indexes[number]
			number++
			if index.offset == nil {
				continue
			}
			at := w.sink.at
			n, err := index.offset.WriteTo(w.sink, nil)
			if err != nil {
				return err
			}
			size := int32(n)
			c.OffsetIndexOffset, c.OffsetIndexLength = &at, &size
		}
	}
	return nil
}
