// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// The pipeline from buckets to batches, to rows, to the cluster.

// bucketsAtATime is the number of buckets read at once: while one waits for the last rows of a batch, the other sends
// rows.
const bucketsAtATime = 2

// A loader writes the rows of the buckets that are not done.
type loader struct {
	scan     *parquetscan.Scan
	readers  []valueReader // of the scan's columns
	progress *progress
	inFlight int
	// insert writes one row and returns when it is acknowledged. inFlight goroutines call it at once. It must not keep
	// values.
	insert func(ctx context.Context, values []any) error
	out    io.Writer

	acknowledged atomic.Int64
}

// A row is one of a batch.
type row struct {
	batch   *column.Batch
	index   int
	pending *sync.WaitGroup // of the batch
}

// run writes the rows of all buckets that are not done, and returns the number of acknowledged rows. It ends with the
// first error.
func (l *loader) run(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rows := make(chan row)
	var writers sync.WaitGroup
	for range l.inFlight {
		writers.Go(func() {
			values := make([]any, len(l.readers))
			for r := range rows {
				if err := l.write(ctx, r, values); err != nil {
					cancel(err) // the first error is the cause
				}
				r.pending.Done()
			}
		})
	}
	left := make(chan parquetscan.Bucket)
	var readers sync.WaitGroup
	for range bucketsAtATime {
		readers.Go(func() {
			var batch column.Batch
			for b := range left {
				if err := l.load(ctx, b, &batch, rows); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, b := range l.progress.left() {
		left <- b
	}
	close(left)
	readers.Wait()
	close(rows)
	writers.Wait()
	return l.acknowledged.Load(), context.Cause(ctx)
}

// load writes the rows of a bucket, and marks it done when all rows are acknowledged. It reuses the memory of batch.
func (l *loader) load(ctx context.Context, b parquetscan.Bucket, batch *column.Batch, rows chan<- row) error {
	r, err := l.scan.Reader(b)
	if err != nil {
		return err
	}
	for {
		if err := r.ReadInto(ctx, batch); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		var pending sync.WaitGroup
		pending.Add(batch.Rows)
		for i := range batch.Rows {
			rows <- row{batch, i, &pending} // writers receive until rows is closed, also after ctx ends
		}
		pending.Wait()
		if ctx.Err() != nil { // a row may have failed
			return context.Cause(ctx)
		}
	}
	done, err := l.progress.markDone(b.Number)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "bucket %d: %d rows, %d of %d buckets done\n", b.Number, b.Rows, done, len(l.progress.Buckets))
	return nil
}

// write writes a row.
func (l *loader) write(ctx context.Context, r row, values []any) error {
	fault := func(err error) error {
		from := r.batch.Source
		return fmt.Errorf("%s, row group %d, row %d of all files: %w", from.File, from.RowGroup, from.FirstRow+int64(r.index),
			err)
	}
	for i := range values {
		values[i] = nil
		if c := &r.batch.Columns[i]; !c.Null(r.index) {
			var err error
			if values[i], err = l.readers[i](c, r.index); err != nil {
				return fault(err)
			}
		}
	}
	if values[0] == nil {
		return fault(errors.New("the id is NULL"))
	}
	if err := l.insert(ctx, values); err != nil {
		return fault(err)
	}
	l.acknowledged.Add(1)
	return nil
}

// A valueReader returns row i of a column, which is not NULL, as a value to bind. A slice shares the column's memory.
type valueReader func(c *column.Column, i int) (any, error)

// readers returns the valueReader of each column, or an error if a column has a type that the job does not accept.
func (j *job) readers(schema column.Schema) ([]valueReader, error) {
	readers := make([]valueReader, len(schema))
	for i, f := range schema {
		switch i {
		case 0:
			readers[i] = idReaders[f.Type.Kind]
		case 1:
			if f.Type.Kind == column.Vector {
				readers[i] = vectorReaders[f.Type.Elem]
			}
		default:
			if f.Type.Kind == column.String {
				readers[i] = textOf
			}
		}
		if readers[i] == nil {
			what := "a text"
			if i < 2 {
				what = [...]string{"an id", "a vector of floats"}[i]
			}
			return nil, fmt.Errorf("column %s is %v, not %s", f.Name, f.Type, what)
		}
	}
	return readers, nil
}

var idReaders = map[column.Kind]valueReader{
	column.Int8:   scalarOf[int8],
	column.Int16:  scalarOf[int16],
	column.Int32:  scalarOf[int32],
	column.Int64:  scalarOf[int64],
	column.Uint8:  scalarOf[uint8],
	column.Uint16: scalarOf[uint16],
	column.Uint32: scalarOf[uint32],
	column.Uint64: scalarOf[uint64],
	column.UUID:   scalarOf[[16]byte],
	column.String: textOf,
}

var vectorReaders = map[column.Kind]valueReader{
	column.Float32: vectorOf[float32],
	column.Float64: vectorOf[float64],
}

func scalarOf[T column.Value](c *column.Column, i int) (any, error) {
	v, err := column.Slice[T](c)
	if err != nil {
		return nil, err
	}
	return v[i], nil
}

func vectorOf[T column.Element](c *column.Column, i int) (any, error) {
	m, err := column.MatrixOf[T](c)
	if err != nil {
		return nil, err
	}
	return m.Row(i), nil
}

func textOf(c *column.Column, i int) (any, error) {
	text, err := c.Text()
	if err != nil {
		return nil, err
	}
	return text.Bytes(i), nil
}
