// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
)

// Encoding of rows apart from writing them, so that several goroutines encode for one file.

// An Encoder makes blocks for the writers of a schema and options. It is not safe for concurrent use: each goroutine
// has its own.
type Encoder struct {
	schema column.Schema
	lines  lineFormat    // nil for Parquet and Arrow
	arrow  *arrow.Schema // nil unless the format is Arrow
	text   []byte
	ends   []int
}

// NewEncoder returns an Encoder.
func NewEncoder(schema column.Schema, o WriterOptions) (*Encoder, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Encoder{schema: schema, lines: o.lines()}
	if o.Format == Arrow {
		e.arrow, err = arrowcolumn.Schema(schema)
	}
	return e, err
}

// A Block is the rows of a batch. Blocks of CSV and JSON are encoded, blocks of Arrow are a record. Blocks of Parquet
// are neither: its writer encodes the rows of several batches together (WriterOptions.Workers).
type Block struct {
	Batch  *column.Batch
	record arrow.RecordBatch // nil unless the format is Arrow, and for a slice
	text   []byte            // nil unless it is encoded
	ends   []int             // of the rows in text; nil for a slice
}

// Encode returns the rows of a batch. The block has the memory of b, and is valid until the next call.
func (e *Encoder) Encode(b *column.Batch) (Block, error) {
	switch {
	case e.lines != nil:
		return e.encodeLines(b)
	case e.arrow != nil:
		rec, err := arrowcolumn.RecordAs(b, e.arrow)
		return Block{Batch: b, record: rec}, err
	}
	return Block{Batch: b}, nil
}

func (e *Encoder) encodeLines(b *column.Batch) (Block, error) {
	if err := sameNames(b, e.schema); err != nil {
		return Block{}, err
	}
	e.text, e.ends = e.text[:0], e.ends[:0]
	for i := range b.Rows {
		var err error
		if e.text, err = e.lines.row(e.text, b, i); err != nil {
			return Block{}, err
		}
		e.ends = append(e.ends, len(e.text))
	}
	return Block{Batch: b, text: e.text, ends: e.ends}, nil
}

// slice returns the rows i up to but not including j.
func (b Block) slice(i, j int) Block {
	if i == 0 && j == b.Batch.Rows {
		return b
	}
	out := Block{Batch: b.Batch.Slice(i, j)}
	if b.text == nil || i == j {
		return out
	}
	first := 0
	if i > 0 {
		first = b.ends[i-1]
	}
	out.text = b.text[first:b.ends[j-1]]
	return out
}

// Write adds the rows of a block to a Writer of the same schema and options.
func (b Block) Write(w Writer) error {
	switch w := w.(type) {
	case *textWriter:
		if b.text != nil {
			return w.writeText(b.text)
		}
	case *arrowWriter:
		if b.record != nil {
			return w.ipc.Write(b.record)
		}
	}
	return w.Write(b.Batch)
}
