// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
)

// Write: a DoFn with a bulk writer for each bundle.

func init() {
	beam.RegisterType(reflect.TypeFor[Written]())
	beam.RegisterType(reflect.TypeFor[Rejected]())
	beam.RegisterDoFn(&writeFn{})
}

// WriteOptions configure Write: the options of bulk.Options of the same names, whose zero values mean the same, except
// for MaxRejected.
type WriteOptions struct {
	Columns         map[string]string
	RefuseExtra     bool
	AllowMissing    bool
	WriteNulls      bool
	TTL             time.Duration
	TTLColumn       string
	TimestampColumn string
	MaxInFlight     int
	MaxBytes        int64
	RetryFor        time.Duration
	// RowsPerSecond bounds the rate of one bundle. Runners process several at a time.
	RowsPerSecond float64
	// MaxRejected is the number of rows of a bundle that may fail for good; one more fails the bundle. Default 0, which
	// means any number, because all of them are in the second output; -1 means none.
	MaxRejected int
}

// A Written is the result of a bundle of Write.
type Written struct {
	Rows     int64
	Rejected int64
	Bytes    int64 // of the rows, encoded
}

// A Rejected is a row that failed for good.
type Rejected struct {
	Source   string // the file of the row; empty if unknown
	Index    int64  // number of the row in the whole input of ReadParquet; otherwise in its bundle
	Reason   string
	Attempts int64 // 0 means that the row was not sent
	// MayHaveApplied means that the row may have been written nevertheless.
	MayHaveApplied bool
	Row            []byte // see Batch
}

// Batch returns the row as a batch of one row.
func (r Rejected) Batch() (*column.Batch, error) { return decodeBatch(r.Row) }

// Write writes a PCollection<*column.Batch> to a table, named as in CQL, as bulk.Insert does. It returns a
// PCollection<Written>, one for each bundle, and a PCollection<Rejected>. All rows of a bundle are finished when the
// bundle is.
//
// A runner that repeats a bundle writes its rows again, with the same values: INSERTs are idempotent. Only their write
// times differ, so that a repeated bundle can overwrite a change that another program has made meanwhile;
// TimestampColumn excludes that.
//
// Write panics, as Beam's transforms do, if the URI of the cluster is invalid.
func Write(s beam.Scope, cluster, table string, batches beam.PCollection, o WriteOptions,
) (written, rejected beam.PCollection) {
	s = s.Scope("beamvecql.Write")
	if err := checkCluster(cluster); err != nil {
		panic(err.Error())
	}
	return beam.ParDo2(s, &writeFn{Cluster: cluster, Table: table, Options: o}, batches)
}

// writeFn writes batches. It has the parameters of Write.
type writeFn struct {
	Cluster, Table string
	Options        WriteOptions

	lease  lease
	writer *bulk.Writer // of the bundle; nil before its first batch

	mu     sync.Mutex
	failed []Rejected // not emitted yet
}

// ProcessElement passes a batch to the writer.
func (fn *writeFn) ProcessElement(ctx context.Context, b *column.Batch, _ func(Written), reject func(Rejected)) error {
	if fn.writer == nil {
		session, err := fn.lease.acquire(ctx, fn.Cluster)
		if err != nil {
			return err
		}
		if fn.writer, err = bulk.Insert(ctx, session, fn.Table, fn.options()); err != nil {
			return fmt.Errorf("beamvecql: write to %s: %w", fn.Table, err)
		}
	}
	if err := fn.writer.Write(ctx, b); err != nil {
		fn.Teardown(ctx)
		return fmt.Errorf("beamvecql: write to %s: %w", fn.Table, err)
	}
	fn.emit(reject)
	return nil
}

// options returns the options of a writer.
func (fn *writeFn) options() bulk.Options {
	o := fn.Options
	limit := o.MaxRejected
	switch {
	case limit == 0:
		limit = math.MaxInt
	case limit < 0:
		limit = 0
	}
	return bulk.Options{
		Columns: o.Columns, RefuseExtra: o.RefuseExtra, AllowMissing: o.AllowMissing, WriteNulls: o.WriteNulls,
		TTL: o.TTL, TTLColumn: o.TTLColumn, TimestampColumn: o.TimestampColumn, MaxInFlight: o.MaxInFlight,
		MaxBytes: o.MaxBytes, RetryFor: o.RetryFor, RowsPerSecond: o.RowsPerSecond, MaxRejected: limit, Rejected: fn.reject,
	}
}

// reject stores a rejected row. The writer calls it, on any goroutine; elements are emitted on the goroutine of the
// bundle.
func (fn *writeFn) reject(r bulk.Rejection) error {
	row, err := encodeBatch(r.Batch)
	if err != nil {
		return err
	}
	fn.mu.Lock()
	defer fn.mu.Unlock()
	fn.failed = append(fn.failed, Rejected{
		Source: r.Source, Index: r.Index, Reason: r.Err.Error(), Attempts: int64(r.Attempts),
		MayHaveApplied: r.Attempts > 0 && vecql.MayHaveApplied(r.Err), Row: row,
	})
	return nil
}

// emit emits the rejected rows that wait.
func (fn *writeFn) emit(reject func(Rejected)) {
	fn.mu.Lock()
	failed := fn.failed
	fn.failed = nil
	fn.mu.Unlock()
	for _, r := range failed {
		reject(r)
	}
}

// FinishBundle waits until all rows of the bundle are finished.
func (fn *writeFn) FinishBundle(ctx context.Context, emit func(Written), reject func(Rejected)) error {
	defer fn.lease.release()
	if fn.writer == nil {
		return nil
	}
	w := fn.writer
	fn.writer = nil
	if err := w.Close(ctx); err != nil {
		return fmt.Errorf("beamvecql: write to %s: %w", fn.Table, err)
	}
	fn.emit(reject)
	stats := w.Stats()
	rowsWritten.Inc(ctx, int64(stats.Rows))
	bytesWritten.Inc(ctx, int64(stats.Bytes))
	rowsRejected.Inc(ctx, int64(stats.Rejected))
	emit(Written{Rows: int64(stats.Rows), Rejected: int64(stats.Rejected), Bytes: int64(stats.Bytes)})
	return nil
}

// Teardown ends the writer of a bundle that failed. Rows under way may or may not be written.
func (fn *writeFn) Teardown(ctx context.Context) {
	defer fn.lease.release()
	if fn.writer == nil {
		return
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_ = fn.writer.Close(ended) // the bundle has an error already
	fn.writer, fn.failed = nil, nil
}
