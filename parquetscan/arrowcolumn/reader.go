// SPDX-License-Identifier: Apache-2.0

package arrowcolumn

import (
	"iter"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/pull"
)

// Conversion of streams of batches, in both directions.

// Reader converts batches to a stream of records of a schema: see [RecordAs]. The stream ends with the first error, of
// batches or of a conversion. Release ends the iteration of batches; after the end of the stream it is not needed.
//
// A record shares the memory of its batch. If batches reuses memory, a record is valid until Next. batches runs on a
// goroutine of its own, which starts with the first Next, so that the methods may be called on any thread, as by C.
func Reader(schema *arrow.Schema, batches iter.Seq2[*column.Batch, error]) array.RecordReader {
	r := &reader{schema: schema}
	r.next, r.stop = pull.Seq2(batches)
	r.refs.Store(1)
	return r
}

// reader is an array.RecordReader over batches.
type reader struct {
	refs   atomic.Int64
	schema *arrow.Schema
	next   func() (*column.Batch, error, bool)
	stop   func()
	rec    arrow.RecordBatch
	err    error
}

func (r *reader) Retain() { r.refs.Add(1) }

func (r *reader) Release() {
	if r.refs.Add(-1) == 0 {
		r.rec = nil
		r.stop()
	}
}

func (r *reader) Schema() *arrow.Schema { return r.schema }

// Next converts the next batch to a record batch of the reader's schema. After an error it stops the source of batches.
func (r *reader) Next() bool {
	r.rec = nil
	if r.err != nil {
		return false
	}
	b, err, ok := r.next()
	if !ok {
		return false
	}
	if err == nil {
		r.rec, err = RecordAs(b, r.schema)
	}
	if r.err = err; err != nil {
		r.stop()
	}
	return err == nil
}

func (r *reader) RecordBatch() arrow.RecordBatch { return r.rec }

// Record is RecordBatch: the interface requires both names.
func (r *reader) Record() arrow.RecordBatch { return r.rec }

func (r *reader) Err() error { return r.err }

// Batches converts the records of a stream to batches: see [Batch]. It ends with the first error. The caller releases
// records.
//
// A batch shares the memory of its record. It may be kept if that is Go's memory; otherwise it is valid until the next
// iteration. Batches whose records have the same dictionary share a [column.Dictionary].
func Batches(records array.RecordReader) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		conv := &converter{}
		for records.Next() {
			b, err := conv.batch(records.RecordBatch())
			if !yield(b, err) || err != nil {
				return
			}
		}
		if err := records.Err(); err != nil {
			yield(nil, err)
		}
	}
}
