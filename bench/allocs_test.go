// SPDX-License-Identifier: Apache-2.0

// Package bench compares vecql with other drivers and with the limits of the machine. It is a separate module, so that
// users of the driver do not inherit its dependencies.
package bench

import (
	"context"
	"log/slog"
	"testing"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

func connect(tb testing.TB, addr string, version int) *vecql.Session {
	tb.Helper()
	cfg := &vecql.ClusterConfig{Hosts: []string{addr}}
	cfg.Protocol.Version, cfg.Pool.NumConns, cfg.Defaults.Consistency = version, 1, cql.One
	cfg.Logger = slog.New(slog.DiscardHandler)
	s, err := vecql.NewSession(tb.Context(), *cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// TestAllocations compares the allocations of one request with a budget, which does not depend on the machine. The
// server is a process of its own, so its allocations are not counted.
func TestAllocations(t *testing.T) {
	addr := workload.Addr(t)
	ctx := context.Background()
	for _, version := range []int{4, 5} {
		s := connect(t, addr, version)
		typed := &session{Session: s}
		if err := typed.prepare(); err != nil {
			t.Fatal(err)
		}
		if err := typed.prepareRows(); err != nil {
			t.Fatal(err)
		}
		item := vectorItem{workload.InsertID, workload.InsertedVector}
		row := column.NewBatch(column.Of("id", []cql.UUID{item.ID}), column.Matrix("v", item.V, len(item.V)))
		key, id := cql.UUID(workload.InsertID), cql.UUID{}
		var fresh []float32
		into := vecql.Into(make([]float32, len(workload.InsertedVector)))
		for name, m := range map[string]struct {
			budget float64
			run    func() error
		}{
			// two boxed values and their slice
			"Query.Exec":           {3, func() error { return s.Query(workload.InsertVector, item.ID, item.V).Exec(ctx) }},
			"Statement.Exec":       {0, func() error { return typed.insertVector.Exec(ctx, &item) }},
			"RowStatement.ExecRow": {0, func() error { return typed.rowsVector.ExecRow(ctx, row, 0) }},
			// the vector, which the caller owns
			"Statement.Scan":          {1, func() error { return typed.readVector.Scan(ctx, &key, &id, &fresh) }},
			"Statement.Scan and Into": {0, func() error { return typed.readVector.Scan(ctx, &key, &id, into) }},
		} {
			once := func() {
				if err := m.run(); err != nil {
					t.Fatal(name, err)
				}
			}
			for range 1000 {
				once()
			}
			if got := testing.AllocsPerRun(1000, once); got > m.budget {
				t.Errorf("%s, version %d: %v allocations, want at most %v", name, version, got, m.budget)
			}
		}
	}
}

// TestProductionAllocations compares the allocations of one typed INSERT with a budget: over TLS, with LZ4, and with a
// context that has a deadline.
func TestProductionAllocations(t *testing.T) {
	for _, version := range []int{4, 5} {
		for _, setting := range []workload.Setting{
			{Version: version, Conns: 1},
			{Version: version, Conns: 1, TLS: workload.TLS(t)},
			{Version: version, Conns: 1, LZ4: true},
			{Version: version, Conns: 1, TLS: workload.TLS(t), LZ4: true},
		} {
			s, err := connectService(workload.Addr(t), setting, true)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			once := func(ctx context.Context) {
				if err := s.InsertTen(ctx, workload.InsertedSmall); err != nil {
					t.Fatal(err)
				}
			}
			for range 1000 {
				once(context.Background())
			}
			none := testing.AllocsPerRun(1000, func() { once(context.Background()) })
			each := testing.AllocsPerRun(1000, func() {
				ctx, cancel := context.WithTimeout(context.Background(), workload.Timeout)
				defer cancel()
				once(ctx)
			})
			budget := 0.0
			if setting.TLS != nil {
				budget = 1 // crypto/tls: the reader of the response's record
			}
			const deadline = 4 // the context
			if none > budget || each > budget+deadline {
				t.Errorf("version %d, TLS %t, LZ4 %t: %v allocations, with a deadline %v, want at most %v and %v", version,
					setting.TLS != nil, setting.LZ4, none, each, budget, budget+deadline)
			}
		}
	}
}

// TestBatchAllocations bounds the allocations of each further page of a result; they do not depend on its rows.
func TestBatchAllocations(t *testing.T) {
	s := &session{Session: connect(t, workload.Addr(t), 5)}
	for _, rows := range []string{"small", "mixed", "vector"} {
		read := func(pages int) float64 {
			return testing.AllocsPerRun(3, func() {
				for b, err := range s.Query(scans[rows], pages).BorrowBatches(context.Background()) {
					if err != nil || b.Rows == 0 {
						t.Fatal(rows, err)
					}
				}
			})
		}
		few, many := read(3), read(23)
		if perPage := (many - few) / 20; perPage > 12 { // each page has a request: a context, a channel, a goroutine
			t.Errorf("%s: %v allocations a page, want at most 12", rows, perPage)
		}
		t.Logf("%s: %v allocations for 3 pages, %v for 23", rows, few, many)
	}
}

// TestRowAllocations bounds the allocations of each further row: one for its texts and numbers, and in a mixed row one
// for its list of texts and two for its map.
func TestRowAllocations(t *testing.T) {
	const first, more = 2, 3
	for _, way := range []string{"", "rows"} {
		s := &session{Session: connect(t, workload.Addr(t), 5), way: way}
		for rows, budget := range map[string]float64{"small": 1, "mixed": 4} {
			read := func(pages int) float64 {
				return testing.AllocsPerRun(3, func() {
					if n, err := s.Scan(rows, pages, pages*workload.PageSize, false); err != nil || n != pages*workload.PageSize {
						t.Fatal(rows, n, err)
					}
				})
			}
			few, many := read(first), read(first+more)
			if perRow := (many - few) / (more * workload.PageSize); perRow > budget+0.1 {
				t.Errorf("%s by %q: %.2f allocations a row, want at most %v", rows, way, perRow, budget)
			}
		}
	}
}

// TestWrongDimension checks that the driver verifies vectors against the types in the server's response to PREPARE.
func TestWrongDimension(t *testing.T) {
	s := connect(t, workload.Addr(t), 5)
	if err := s.Query(workload.InsertVector, cql.UUID(workload.InsertID), make([]float32, 1535)).Exec(t.Context()); err == nil {
		t.Fatal("insert of a vector of the wrong dimension succeeded")
	}
}
