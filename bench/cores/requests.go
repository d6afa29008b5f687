// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/tablescan"
)

// The cases with a server: requests, bulk and tablescan, over as many connections as threads.

// inFlight is the number of requests in flight on a connection.
const inFlight = 64

// bulkRows is the number of rows of a batch.
const bulkRows = 1000

func (d *Data) requests() []Case {
	vectors := max(1, d.Requests/10)
	return []Case{
		d.request("insert/row=small", d.Requests, insertSmall),
		d.request("bulk/row=small", d.Requests, writeSmall),
		d.request("tablescan/row=vector", vectors, scanVectors),
		d.request("insert/row=vector", vectors, insertVector),
		d.request("bulk/row=vector", vectors, writeVector),
	}
}

// An operation sends or reads that many rows on n threads, and returns their number.
type operation func(ctx context.Context, s *vecql.Session, rows, n int) (int64, error)

// request returns the case of an operation. A session of n connections lives as long as the case.
func (d *Data) request(name string, rows int, op operation) Case {
	open := func(context.Context) (Work, func(), error) {
		sessions := map[int]*vecql.Session{}
		work := func(ctx context.Context, n int) (func() (*Answer, error), error) {
			if sessions[n] == nil {
				s, err := d.connect(ctx, n)
				if err != nil {
					return nil, err
				}
				sessions[n] = s
			}
			done, err := op(ctx, sessions[n], rows, n)
			if err == nil && done != int64(rows) {
				err = fmt.Errorf("%d rows, want %d", done, rows)
			}
			return func() (*Answer, error) { return one(done), nil }, err
		}
		return work, func() {
			for _, s := range sessions {
				s.Close()
			}
		}, nil
	}
	return Case{name, open}
}

func (d *Data) connect(ctx context.Context, conns int) (*vecql.Session, error) {
	cfg := vecql.ClusterConfig{Hosts: []string{d.Server}, Logger: slog.New(slog.DiscardHandler)}
	cfg.Pool.NumConns, cfg.Defaults.Consistency = conns, cql.One
	return vecql.NewSession(ctx, cfg)
}

type small struct{ K, V int64 }

type vectorRow struct {
	ID cql.UUID
	V  []float32
}

func insertSmall(ctx context.Context, s *vecql.Session, rows, n int) (int64, error) {
	return insert(ctx, s, workload.InsertSmall, small{workload.SmallKey, workload.SmallValue}, rows, n)
}

func insertVector(ctx context.Context, s *vecql.Session, rows, n int) (int64, error) {
	return insert(ctx, s, workload.InsertVector, vectorRow{workload.InsertID, workload.InsertedVector}, rows, n)
}

// insert sends a row many times by a typed statement. Each goroutine has its share of the rows, so that the goroutines
// share nothing themselves.
func insert[P any](ctx context.Context, s *vecql.Session, stmt string, row P, rows, n int) (int64, error) {
	prepared, err := vecql.Prepare[P](ctx, s.Query(stmt))
	if err != nil {
		return 0, err
	}
	senders := n * inFlight
	errs := make([]error, senders)
	_ = split(senders, func(i int) {
		mine := row
		for range rows*(i+1)/senders - rows*i/senders {
			if err := prepared.Exec(ctx, &mine); err != nil {
				errs[i] = err
				return
			}
		}
	})
	return int64(rows), errors.Join(errs...)
}

func writeSmall(ctx context.Context, s *vecql.Session, rows, n int) (int64, error) {
	keys, values := make([]int64, bulkRows), make([]int64, bulkRows)
	for i := range keys {
		keys[i], values[i] = workload.SmallKey, workload.SmallValue
	}
	return write(ctx, s, workload.InsertSmall, column.NewBatch(column.Of("k", keys), column.Of("v", values)), rows, n)
}

func writeVector(ctx context.Context, s *vecql.Session, rows, n int) (int64, error) {
	ids, vectors := make([]cql.UUID, bulkRows), make([]float32, 0, bulkRows*workload.Dim)
	for i := range ids {
		ids[i], vectors = workload.InsertID, append(vectors, workload.InsertedVector...)
	}
	b := column.NewBatch(column.Of("id", ids), column.Matrix("v", vectors, workload.Dim))
	return write(ctx, s, workload.InsertVector, b, rows, n)
}

// write writes a batch many times by a Writer of package bulk.
func write(ctx context.Context, s *vecql.Session, stmt string, b *column.Batch, rows, n int) (int64, error) {
	w, err := bulk.New(ctx, s, stmt, bulk.Options{MaxInFlight: n * inFlight})
	if err != nil {
		return 0, err
	}
	for left := rows; left > 0 && err == nil; left -= b.Rows {
		err = w.Write(ctx, b.Slice(0, min(left, b.Rows)))
	}
	err = errors.Join(err, w.Close(ctx))
	return int64(w.Stats().Rows), err
}

// scanVectors reads a row for each token.
func scanVectors(ctx context.Context, s *vecql.Session, rows, n int) (int64, error) {
	scan, err := tablescan.New(ctx, s, workload.ScanTable, tablescan.Config{
		Workers: 2 * n, Ranges: ranges(rows, 8*n),
	})
	if err != nil {
		return 0, err
	}
	var read atomic.Int64
	err = scan.Run(ctx, func(_ int, page *column.Batch) error {
		read.Add(int64(page.Rows))
		return nil
	})
	return read.Load(), err
}

// ranges returns the tokens from 1 to rows as that many ranges.
func ranges(rows, parts int) (all []vecql.TokenRange) {
	parts = min(parts, rows)
	for i := range parts {
		all = append(all, vecql.TokenRange{Start: int64(rows * i / parts), End: int64(rows * (i + 1) / parts)})
	}
	return all
}
