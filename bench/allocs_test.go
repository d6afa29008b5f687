// SPDX-License-Identifier: Apache-2.0

// Package bench compares vecql with its own floor and with other drivers. It is a module of its own, so that what it needs never reaches
// users of the driver.
package bench

import (
	"context"
	"log/slog"
	"testing"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
)

func connect(tb testing.TB, addr string, version int) *vecql.Session {
	tb.Helper()
	cfg := vecql.NewCluster(addr)
	cfg.ProtoVersion, cfg.NumConns, cfg.Consistency = version, 1, vecql.One
	cfg.Logger = slog.New(slog.DiscardHandler)
	s, err := cfg.CreateSession()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// TestAllocations holds one request, from the call to its answer, to a budget: what a driver allocates does not depend on the machine. The
// server is a process of its own, so that all that is counted is the client's.
func TestAllocations(t *testing.T) {
	addr := workload.Addr(t)
	ctx := context.Background()
	for _, version := range []int{4, 5} {
		s := connect(t, addr, version)
		typed := session{Session: s}
		if err := typed.prepare(); err != nil {
			t.Fatal(err)
		}
		item := vectorItem{workload.InsertID, workload.InsertedVector}
		key, id := vecql.UUID(workload.InsertID), vecql.UUID{}
		var fresh []float32
		into := vecql.Into(make([]float32, len(workload.InsertedVector)))
		for name, m := range map[string]struct {
			budget float64
			run    func() error
		}{
			"Query.Exec":              {3, func() error { return s.Query(workload.InsertVector, item.ID, item.V).ExecContext(ctx) }}, // two values and their slice
			"Statement.Exec":          {0, func() error { return typed.insertVector.Exec(ctx, &item) }},
			"Statement.Scan":          {1, func() error { return typed.readVector.Scan(ctx, &key, &id, &fresh) }}, // the vector, which is the caller's
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
				t.Errorf("%s, version %d: %v allocations, the budget is %v", name, version, got, m.budget)
			}
		}
	}
}

// TestWrongDimension: what the null server says of a statement is what is checked.
func TestWrongDimension(t *testing.T) {
	s := connect(t, workload.Addr(t), 5)
	if err := s.Query(workload.InsertVector, vecql.UUID(workload.InsertID), make([]float32, 1535)).Exec(); err == nil {
		t.Fatal("a vector of the wrong dimension was sent")
	}
}
