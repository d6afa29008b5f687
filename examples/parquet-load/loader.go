// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/parquetscan"
)

// This file holds the pipeline: buckets to batches, batches to rows, rows to the cluster.

// bucketsAtATime is how many buckets are read at once: while the last rows of a batch of one are on their way, those of the other follow.
const bucketsAtATime = 2

// A loader writes the buckets that are not done.
type loader struct {
	scan     *parquetscan.Scan
	readers  []valueReader // of the scan's columns
	progress *progress
	inFlight int
	// insert writes one row and returns when it is acknowledged. It is called by inFlight goroutines at once; the values are its own until it
	// returns.
	insert func(ctx context.Context, values []any) error
	out    io.Writer

	acknowledged atomic.Int64
}

// A row is one of a batch.
type row struct {
	batch   *parquetscan.Batch
	index   int
	pending *sync.WaitGroup // of the batch
}

// run writes the rows of all buckets that are not done, and returns how many rows were acknowledged. It ends with the first error.
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
					cancel(err) // the first one is the cause
				}
				r.pending.Done()
			}
		})
	}
	left := make(chan parquetscan.Bucket)
	var readers sync.WaitGroup
	for range bucketsAtATime {
		readers.Go(func() {
			var batch parquetscan.Batch
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

// load writes the rows of a bucket, and marks it done when all of them are acknowledged. batch is memory to be used.
func (l *loader) load(ctx context.Context, b parquetscan.Bucket, batch *parquetscan.Batch, rows chan<- row) error {
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
			rows <- row{batch, i, &pending} // there are always writers: without a context they just end sooner
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
		return fmt.Errorf("%s, row group %d, row %d of all files: %w", r.batch.File, r.batch.RowGroup, r.batch.Row+int64(r.index), err)
	}
	for i := range values {
		values[i] = nil
		if c := &r.batch.Columns[i]; !c.Null(r.index) {
			values[i] = l.readers[i](c, r.index)
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

// A valueReader returns value i of a column, which is not NULL, as the driver takes it: slices are the column's memory.
type valueReader func(c *parquetscan.Column, i int) any

// readers returns how each column is read, or an error that names one of another type than the job needs.
func (j *job) readers(fields []parquetscan.Field) ([]valueReader, error) {
	readers := make([]valueReader, len(fields))
	for i, f := range fields {
		switch i {
		case 0:
			readers[i] = idReaders[f.Type.Kind]
		case 1:
			if f.Type.Kind == parquetscan.Vector {
				readers[i] = vectorReaders[f.Type.Elem]
			}
		default:
			if f.Type.Kind == parquetscan.String {
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

var idReaders = map[parquetscan.Kind]valueReader{
	parquetscan.Int8:   scalarOf[int8],
	parquetscan.Int16:  scalarOf[int16],
	parquetscan.Int32:  scalarOf[int32],
	parquetscan.Int64:  scalarOf[int64],
	parquetscan.Uint8:  scalarOf[uint8],
	parquetscan.Uint16: scalarOf[uint16],
	parquetscan.Uint32: scalarOf[uint32],
	parquetscan.Uint64: scalarOf[uint64],
	parquetscan.ID:     scalarOf[[16]byte],
	parquetscan.String: textOf,
}

var vectorReaders = map[parquetscan.Kind]valueReader{
	parquetscan.Float32: vectorOf[float32],
	parquetscan.Float64: vectorOf[float64],
}

func scalarOf[T parquetscan.Value](c *parquetscan.Column, i int) any {
	return parquetscan.Values[T](c)[i]
}

func vectorOf[T float32 | float64](c *parquetscan.Column, i int) any {
	return parquetscan.Values[T](c)[i*c.Dim() : (i+1)*c.Dim()]
}

func textOf(c *parquetscan.Column, i int) any { return c.Bytes(i) }
