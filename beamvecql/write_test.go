// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Write on Prism, and as a DoFn whose bundles fail.

func init() {
	beam.RegisterDoFn(&makeFn{})
	beam.RegisterDoFn(&collectRejectedFn{})
	beam.RegisterFunction(spoil)
	beam.RegisterFunction(failOnce)
}

// makeFn emits batches of the table shop.items: rows First to End-1.
type makeFn struct{ First, End int }

func (fn *makeFn) ProcessElement(_ []byte, emit func(*column.Batch)) {
	for i := fn.First; i < fn.End; i += 10 {
		emit(items(i, min(i+10, fn.End)))
	}
}

// items returns rows of the table shop.items.
func items(first, end int) *column.Batch {
	var labels []string
	var ids []int32
	var vectors []float32
	for i := first; i < end; i++ {
		labels, ids, vectors = append(labels, fmt.Sprint("label ", i%20)), append(ids, int32(i)), append(vectors, float32(i), 1, 2)
	}
	b := column.NewBatch(column.Strings("label", labels), column.Of("id", ids), column.Matrix("embedding", vectors, 3))
	b.Source = column.Source{File: "items", FirstRow: int64(first)}
	return b
}

var rejects = struct {
	sync.Mutex
	list []Rejected
}{}

// collectRejectedFn stores rejected rows.
type collectRejectedFn struct{}

func (*collectRejectedFn) ProcessElement(r Rejected) {
	rejects.Lock()
	defer rejects.Unlock()
	rejects.list = append(rejects.list, r)
}

// idsOf returns how often each id of shop.items was read.
func idsOf(t *testing.T, uri string) map[int32]int {
	t.Helper()
	ids := map[int32]int{}
	for b, err := range connect(t, uri).Query("SELECT id FROM shop.items").Batches(t.Context()) {
		require.NoError(t, err)
		list, err := column.Slice[int32](b.Column("id"))
		require.NoError(t, err)
		for _, id := range list {
			ids[id]++
		}
	}
	return ids
}

// TestWrite writes a table and reads it when it is complete, in one pipeline.
func TestWrite(t *testing.T) {
	_, uri := start(t, cqltest.Config{}, itemsTable)
	var got func() []*column.Batch
	counters, err := run(t, func(s beam.Scope) {
		made := beam.ParDo(s, &makeFn{0, 205}, beam.Impulse(s))
		written, _ := Write(s, uri, "shop.items", made, WriteOptions{})
		got = collect(t, s, Read(s, uri, "SELECT id, label, embedding FROM shop.items", ReadOptions{After: written}))
	})
	require.NoError(t, err)
	require.EqualValues(t, 205, counters["rows_written"])
	require.EqualValues(t, 0, counters["rows_rejected"])
	require.Positive(t, counters["bytes_written"])
	require.EqualValues(t, 205, counters["rows_read"])
	rows := 0
	for _, b := range got() {
		rows += b.Rows
	}
	require.Equal(t, 205, rows)
	require.Len(t, idsOf(t, uri), 205)
}

// TestWriteRejects requires that rows which the table cannot store are the second output, and all others are written.
func TestWriteRejects(t *testing.T) {
	_, uri := start(t, cqltest.Config{Nodes: 1}, itemsTable)
	rejects.list = nil
	counters, err := run(t, func(s beam.Scope) {
		made := beam.ParDo(s, &makeFn{0, 50}, beam.Impulse(s))
		_, rejected := Write(s, uri, "shop.items", beam.ParDo(s, spoil, made), WriteOptions{})
		beam.ParDo0(s, &collectRejectedFn{}, rejected)
	})
	require.NoError(t, err)
	require.EqualValues(t, 48, counters["rows_written"])
	require.EqualValues(t, 2, counters["rows_rejected"])
	require.Len(t, rejects.list, 2)
	for _, r := range rejects.list {
		require.Contains(t, []int64{13, 23}, r.Index)
		require.Equal(t, "items", r.Source)
		require.Contains(t, r.Reason, "label")
		require.False(t, r.MayHaveApplied)
		row, err := r.Batch()
		require.NoError(t, err)
		require.Equal(t, 1, row.Rows)
		require.EqualValues(t, r.Index, row.Column("id").Value(0))
	}
	require.Len(t, idsOf(t, uri), 48)
	_, err = run(t, func(s beam.Scope) {
		made := beam.ParDo(s, &makeFn{0, 50}, beam.Impulse(s))
		Write(s, uri, "shop.items", beam.ParDo(s, spoil, made), WriteOptions{MaxRejected: 1})
	})
	require.ErrorContains(t, err, "number 2 of the rows that failed for good")
}

// spoil makes the partition keys of some rows NULL.
func spoil(b *column.Batch) *column.Batch {
	ids, _ := column.Slice[int32](b.Column("id"))
	null := make([]bool, len(ids))
	for i, id := range ids {
		null[i] = id == 13 || id == 23
	}
	out := *b
	out.Columns = append([]column.Column{b.Columns[0].WithNulls(null)}, b.Columns[1:]...)
	return &out
}

// TestWriteErrors requires errors that name the table and the cause.
func TestWriteErrors(t *testing.T) {
	_, uri := start(t, cqltest.Config{Nodes: 1}, itemsTable)
	for table, want := range map[string]string{
		"shop.missing": "beamvecql: write to shop.missing: ",
		"shop.ids":     `no column of the rows goes to "n"`,
	} {
		require.NoError(t, connect(t, uri).Query("CREATE TABLE IF NOT EXISTS shop.ids (id int PRIMARY KEY, n int)").Exec(t.Context()))
		_, err := run(t, func(s beam.Scope) {
			Write(s, uri, table, beam.ParDo(s, &makeFn{0, 50}, beam.Impulse(s)), WriteOptions{})
		})
		require.ErrorContains(t, err, want)
	}
}

// TestFailedBundles requires that a worker that fails in the middle of a bundle loses no row when the runner repeats
// the bundle, which Flink, Spark and Dataflow do. Prism ends the pipeline instead.
func TestFailedBundles(t *testing.T) {
	_, uri := start(t, cqltest.Config{}, itemsTable)
	ctx := context.Background()
	fn := &writeFn{}
	for attempt := range 3 {
		if attempt < 2 { // the third attempt is of the worker of the second
			fn = &writeFn{Cluster: uri, Table: "shop.items"}
		}
		var written []Written
		var rejected []int64
		var lost error
		reject := func(r Rejected) { rejected = append(rejected, r.Index) }
		for i := 0; i < 100; i += 10 {
			if lost = fn.ProcessElement(ctx, spoil(items(i, i+10)), nil, reject); lost == nil && attempt < 2 && i == 50 {
				lost = errors.New("the worker fails")
			}
			if lost != nil {
				break
			}
		}
		if attempt < 2 {
			if attempt == 1 { // with a teardown; without one the process has ended
				fn.failed = append(fn.failed, Rejected{Index: -1}) // since the last batch
				fn.Teardown(ctx)
			}
			defer fn.Teardown(ctx)
			continue
		}
		require.NoError(t, lost)
		require.NoError(t, fn.FinishBundle(ctx, func(w Written) { written = append(written, w) }, reject))
		require.EqualValues(t, 98, written[0].Rows)
		require.EqualValues(t, 2, written[0].Rejected)
		require.ElementsMatch(t, []int64{13, 23}, rejected)
	}
	require.NoError(t, fn.ProcessElement(ctx, items(0, 10), nil, nil), "the next bundle")
	require.NoError(t, fn.FinishBundle(ctx, func(w Written) { require.EqualValues(t, 10, w.Rows) }, nil))
	ids := idsOf(t, uri)
	require.Len(t, ids, 98)
	for id, n := range ids {
		require.Equal(t, 1, n, "row %d", id)
	}

	var failures atomic.Int32
	failing.Store(&failures)
	_, err := run(t, func(s beam.Scope) {
		Write(s, uri, "shop.items", beam.ParDo(s, failOnce, beam.ParDo(s, &makeFn{0, 50}, beam.Impulse(s))), WriteOptions{})
	})
	require.ErrorContains(t, err, "a worker fails once", "Prism repeats bundles now: require that no row is lost")
	require.EqualValues(t, 1, failures.Load())
}

var failing atomic.Pointer[atomic.Int32]

// failOnce panics at its third batch.
func failOnce(b *column.Batch) (*column.Batch, error) {
	if b.Source.FirstRow == 20 && failing.Load().Add(1) == 1 {
		panic("a worker fails once")
	}
	return b, nil
}

// TestWriteOptions requires that the writer of a bundle has the options of Write.
func TestWriteOptions(t *testing.T) {
	o := WriteOptions{
		Columns: map[string]string{"a": "b"}, RefuseExtra: true, AllowMissing: true, WriteNulls: true, TTL: 1, TTLColumn: "t",
		TimestampColumn: "w", MaxInFlight: 2, MaxBytes: 3, RetryFor: 4, RowsPerSecond: 5,
	}
	want := bulk.Options{
		Columns: o.Columns, RefuseExtra: true, AllowMissing: true, WriteNulls: true, TTL: 1, TTLColumn: "t",
		TimestampColumn: "w", MaxInFlight: 2, MaxBytes: 3, RetryFor: 4, RowsPerSecond: 5,
	}
	for given, limit := range map[int]int{0: math.MaxInt, -1: 0, 6: 6} {
		o.MaxRejected, want.MaxRejected = given, limit
		got := (&writeFn{Options: o}).options()
		got.Rejected = nil
		require.Equal(t, want, got)
	}
	fn := &writeFn{}
	for _, attempts := range []int{0, 1} {
		require.NoError(t, fn.reject(bulk.Rejection{Attempts: attempts, Err: &cql.UnmarshalError{Err: cql.ErrRange}}))
		require.Equal(t, attempts > 0, fn.failed[attempts].MayHaveApplied, "of a row that was not sent it is false")
	}
}
