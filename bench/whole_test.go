// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/tablescan"
)

// Whole tables: what package tablescan costs beside a plain scan of pages, and package bulk beside plain INSERTs.
// Compare cpu-us/op; one operation is one row.

// wholeFlights are the numbers of requests in flight, of workers of a scan.
var wholeFlights = []int{1, 4}

// BenchmarkTableScan reads rows of (uuid, vector<float, 1536>): way=plain and way=plainrows from the pages of one
// partition, way=batches and way=rows from token ranges. A scan to a sink has 0.8 of the rows/s per CPU of the plain
// pages if cpu-us/op of way=plain is at least 0.8 of cpu-us/op of way=batches; way=rows compares with way=plainrows.
func BenchmarkTableScan(b *testing.B) {
	for _, version := range []int{4, 5} {
		s := &session{Session: connect(b, workload.Addr(b), version)}
		for _, c := range []struct{ way, reader string }{{"plain", "batch"}, {"plainrows", "rows"}} {
			b.Run(fmt.Sprintf("way=%s/rows=vector/version=%d", c.way, version), func(b *testing.B) {
				scanRun(b, func() (int, error) {
					s.way = c.reader
					return s.Scan("vector", (b.N+workload.PageSize-1)/workload.PageSize, b.N, false)
				})
			})
		}
		for _, workers := range wholeFlights {
			prefix := fmt.Sprintf("workers=%d/rows=vector/version=%d", workers, version)
			b.Run("way=batches/"+prefix, func(b *testing.B) { scanRun(b, func() (int, error) { return scanTable(b, s, workers) }) })
			b.Run("way=rows/"+prefix, func(b *testing.B) { scanRun(b, func() (int, error) { return scanTableRows(b, s, workers) }) })
		}
	}
}

func scanRun(b *testing.B, scan func() (int, error)) {
	workload.Measure(b, func() error {
		n, err := scan()
		if err == nil && n != b.N {
			err = fmt.Errorf("%d rows, want %d", n, b.N)
		}
		return err
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// newScan returns a scan of b.N tokens with a row each.
func newScan(b *testing.B, s *session, workers int) (*tablescan.Scan, error) {
	return tablescan.New(context.Background(), s.Session, workload.ScanTable, tablescan.Config{
		Workers: workers, Ranges: []vecql.TokenRange{{Start: 0, End: int64(b.N)}},
	})
}

func scanTable(b *testing.B, s *session, workers int) (int, error) {
	scan, err := newScan(b, s, workers)
	if err != nil {
		return 0, err
	}
	var rows atomic.Int64
	err = scan.Run(context.Background(), func(_ int, page *column.Batch) error {
		rows.Add(int64(page.Rows))
		return nil
	})
	return int(rows.Load()), err
}

func scanTableRows(b *testing.B, s *session, workers int) (n int, err error) {
	scan, err := newScan(b, s, workers)
	if err != nil {
		return 0, err
	}
	for _, err := range tablescan.Rows[workload.VectorRow](context.Background(), scan) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// bulkRows is the number of rows of a batch.
const bulkRows = 1000

// joinedRows is the number of rows of one partition in a request.
const joinedRows = 64

// BenchmarkBulk writes rows of batches: way=exec by RowStatement.ExecRow on as many goroutines as rows are in flight,
// way=joined the same with 64 rows of one partition in a request, way=bulk by a bulk.Writer.
func BenchmarkBulk(b *testing.B) {
	ids, vectors := make([]cql.UUID, bulkRows), make([]float32, 0, bulkRows*workload.Dim)
	keys, values := make([]int64, bulkRows), make([]int64, bulkRows)
	for i := range ids {
		ids[i], vectors = workload.InsertID, append(vectors, workload.InsertedVector...)
		keys[i], values[i] = workload.SmallKey, workload.SmallValue
	}
	for _, c := range []struct {
		name, stmt string
		batch      *column.Batch
	}{
		{"vector", workload.InsertVector, column.NewBatch(column.Of("id", ids), column.Matrix("v", vectors, workload.Dim))},
		{"small", workload.InsertSmall, column.NewBatch(column.Of("k", keys), column.Of("v", values))},
	} {
		for _, version := range []int{4, 5} {
			s := connect(b, workload.Addr(b), version)
			rows, err := s.Query(c.stmt).Idempotent(true).PrepareRows(context.Background(), c.batch.Schema())
			if err != nil {
				b.Fatal(err)
			}
			for _, inFlight := range []int{16, 128, 1024} {
				part := fmt.Sprintf("/row=%s/inflight=%d/version=%d", c.name, inFlight, version)
				b.Run("way=exec"+part, func(b *testing.B) {
					workload.Measure(b, func() error {
						return workload.InFlight(b.N, inFlight, func(i int) error {
							return rows.ExecRow(context.Background(), c.batch, i%bulkRows)
						})
					})
				})
				b.Run("way=joined"+part, func(b *testing.B) {
					workload.Measure(b, func() error {
						return workload.InFlight((b.N+joinedRows-1)/joinedRows, inFlight, func(int) error { return execJoined(rows, c.batch) })
					})
				})
				b.Run("way=bulk"+part, func(b *testing.B) {
					workload.Measure(b, func() error { return bulkWrite(b, s, c.stmt, c.batch, inFlight) })
				})
			}
		}
	}
}

// encoded holds the memory of joined rows.
var encoded = sync.Pool{New: func() any { return new([2]vecql.EncodedRows) }}

// execJoined sends the first rows of a batch, which are of one partition, in one request.
func execJoined(rows *vecql.RowStatement, batch *column.Batch) error {
	ctx := context.Background()
	r := encoded.Get().(*[2]vecql.EncodedRows)
	defer encoded.Put(r)
	err := rows.Encode(ctx, &r[0], batch, 0)
	for i := 1; i < joinedRows && err == nil; i++ {
		if err = rows.Encode(ctx, &r[1], batch, i); err == nil && !r[0].Join(&r[1]) {
			err = errors.New("the row did not join the others")
		}
	}
	if err != nil {
		return err
	}
	return r[0].ExecOn(ctx, cql.UUID{})
}

func bulkWrite(b *testing.B, s *vecql.Session, stmt string, batch *column.Batch, inFlight int) error {
	ctx := context.Background()
	w, err := bulk.New(ctx, s, stmt, bulk.Options{MaxInFlight: inFlight})
	if err != nil {
		return err
	}
	for left := b.N; left > 0 && err == nil; left -= batch.Rows {
		err = w.Write(ctx, batch.Slice(0, min(left, batch.Rows)))
	}
	if closed := w.Close(ctx); err == nil {
		err = closed
	}
	if rows := w.Stats().Rows; err == nil && rows != uint64(b.N) {
		err = fmt.Errorf("%d rows, want %d", rows, b.N)
	}
	return err
}
