// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// This file tests what a request goes through on scripted nodes: preparation, metadata, pages, retries, and the memory that it leaves.

var (
	tBigint = NativeType(TypeBigInt)
	tText   = NativeType(TypeVarchar)
	tVector = VectorType{NativeType(TypeFloat), 3}
)

const selectRows = "SELECT id, name, v FROM ks.t"

// threeColumns prepares selectRows and returns its columns.
func threeColumns(c *fakeCluster) []ColumnInfo {
	columns := []ColumnInfo{col("id", tBigint), col("name", tText), col("v", tVector)}
	c.prepare(selectRows, preparedSpec{result: columns, resultID: "m1"})
	return columns
}

// rowCells returns rows first..first+n-1 of threeColumns.
func rowCells(first, n int) (cells [][]byte) {
	for i := first; i < first+n; i++ {
		cells = append(cells, cellOf(tBigint, i), cellOf(tText, fmt.Sprint("name ", i)), cellOf(tVector, []float32{float32(i), 1, 2}))
	}
	return cells
}

// TestFault16UnpreparedOnce: a node has forgotten a statement. It must get it once more, and the request be sent again, though it is not
// idempotent: the node refused it.
func TestFault16UnpreparedOnce(t *testing.T) {
	for _, v := range []byte{protoV4, protoV5} {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			c := newFakeCluster(t, v, 1)
			const stmt = "INSERT INTO ks.t (id) VALUES (?)"
			c.prepare(stmt, preparedSpec{bind: []ColumnInfo{col("id", tBigint)}, pk: []int{0}})
			var forgotten atomic.Bool
			c.on(func(r *fakeRequest) bool {
				if (r.op == opExecute || r.op == opBatch) && forgotten.CompareAndSwap(true, false) {
					r.unprepared(statementID(stmt))
					return true
				}
				return false
			})
			s := c.session()
			require.NoError(t, s.Query(stmt, 1).Exec())
			forgotten.Store(true)
			require.NoError(t, s.Query(stmt, 2).Exec(), "not idempotent, and yet safe: the node refused it")
			sent, prepares := c.count(stmt)
			require.Equal(t, 3, sent)
			require.Equal(t, 2, prepares)
			forgotten.Store(true)
			require.NoError(t, s.Batch(LoggedBatch).Query(stmt, 3).Query("DELETE FROM ks.t WHERE id = 1").Query(stmt, 4).Exec())
			_, prepares = c.count(stmt)
			require.Equal(t, 3, prepares)
		})
	}
}

// TestFault16UnpreparedAlways: a node forgets a statement as soon as it has it. The request must end after a few attempts.
func TestFault16UnpreparedAlways(t *testing.T) {
	c := newFakeCluster(t, protoV5, 1)
	c.on(func(r *fakeRequest) bool {
		if r.op == opExecute {
			r.unprepared(statementID("SELECT 1"))
		}
		return r.op == opExecute
	})
	s := c.session()
	err := s.Query("SELECT 1").Exec()
	require.ErrorIs(t, err, CodeUnprepared)
	require.False(t, MayHaveApplied(err))
	sent, _ := c.count("SELECT 1")
	require.LessOrEqual(t, sent, 3)
}

// TestFault16UnpreparedOtherID: a node misses another statement than the one sent, or gives it another id when it is prepared again. What was
// encoded must not be executed, and the error says so.
func TestFault16UnpreparedOtherID(t *testing.T) {
	t.Run("of a statement that was not sent", func(t *testing.T) {
		c := newFakeCluster(t, protoV5, 1)
		c.on(func(r *fakeRequest) bool {
			if r.op == opExecute {
				r.unprepared("somebody else's")
			}
			return r.op == opExecute
		})
		err := c.session().Query("SELECT 1").Exec()
		var broken *ProtocolError
		require.ErrorAs(t, err, &broken)
		require.False(t, MayHaveApplied(err), "whatever it misses, it refused the request")
	})
	t.Run("after the table changed", func(t *testing.T) { // values encoded for the old columns must not be sent
		c := newFakeCluster(t, protoV5, 1)
		const stmt = "INSERT INTO ks.t (id) VALUES (?)"
		c.prepare(stmt, preparedSpec{bind: []ColumnInfo{col("id", tBigint)}, id: "old"})
		s := c.session()
		require.NoError(t, s.Query(stmt, 1).Exec())
		c.prepare(stmt, preparedSpec{bind: []ColumnInfo{col("id", tText)}, id: "new"})
		c.on(func(r *fakeRequest) bool {
			if r.op == opExecute && bytes.Contains(r.body, []byte("old")) {
				r.unprepared("old")
				return true
			}
			return false
		})
		var broken *ProtocolError
		err := s.Query(stmt, 1).Exec()
		require.ErrorAs(t, err, &broken)
		require.False(t, MayHaveApplied(err))
		require.NoError(t, s.Query(stmt, "1").Exec(), "the next one is prepared anew")
	})
}

func TestPrepareFailureIsNotKept(t *testing.T) {
	c := newFakeCluster(t, protoV5, 1)
	var missing atomic.Bool
	missing.Store(true)
	c.on(func(r *fakeRequest) bool {
		if r.op == opPrepare && missing.Load() {
			r.fail(CodeInvalid)
			return true
		}
		return false
	})
	s := c.session()
	err := s.Query("SELECT 1").Exec()
	require.ErrorIs(t, err, CodeInvalid)
	require.False(t, MayHaveApplied(err))
	missing.Store(false)
	require.NoError(t, s.Query("SELECT 1").Exec())
}

func TestPages(t *testing.T) {
	for _, v := range []byte{protoV4, protoV5} {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			c := newFakeCluster(t, v, 2)
			columns := threeColumns(c)
			pages := map[string]fakeResult{ // empty ones in between say that there is more, as tombstones make them
				"":  {columns: columns, state: "1"},
				"1": {columns: columns, cells: rowCells(0, 3), state: "2"},
				"2": {columns: columns, state: "3"},
				"3": {columns: columns, cells: rowCells(3, 2)},
			}
			c.on(func(r *fakeRequest) bool {
				if r.op == opExecute {
					r.rows(pages[string(r.state)])
				}
				return r.op == opExecute
			})
			s := c.session()
			ctx := context.Background()
			type row struct {
				ID   int64
				Name string
				V    []float32
			}
			want := []row{}
			for i := range 5 {
				want = append(want, row{int64(i), fmt.Sprint("name ", i), []float32{float32(i), 1, 2}})
			}
			for _, prefetch := range []float64{0, 0.25, 1} {
				it := s.Query(selectRows).Prefetch(prefetch).IterContext(ctx)
				got := []row{}
				var r row
				for it.Scan(&r.ID, &r.Name, &r.V) {
					got = append(got, r)
					r.V = nil
				}
				require.NoError(t, it.Close())
				require.Equal(t, want, got)
			}
			got := []row{}
			for r, err := range Rows[row](ctx, s.Query(selectRows)) {
				require.NoError(t, err)
				got = append(got, r)
			}
			require.Equal(t, want, got)
			var m Matrix[float32]
			rows := 0
			for p, err := range s.Query(selectRows).Pages(ctx) {
				require.NoError(t, err)
				m, err = ReadMatrix(p, 2, m)
				require.NoError(t, err)
				for i := range p.Rows() {
					require.Equal(t, want[rows].V, m.Row(i))
					rows++
				}
			}
			require.Equal(t, 5, rows)

			it := s.Query(selectRows).PageState(nil).IterContext(ctx)
			require.False(t, it.Scan(&r0{}, new(string), new([]float32)), "the first page is empty")
			require.Equal(t, []byte("1"), it.PageState())
			require.NoError(t, it.Close())
			it = s.Query(selectRows).PageState([]byte("1")).IterContext(ctx)
			require.Equal(t, 3, it.NumRows())
			require.NoError(t, it.Close())
		})
	}
}

// r0 is a destination that takes anything.
type r0 struct{}

func (*r0) UnmarshalCQL(TypeInfo, []byte) error { return nil }

func TestPageFails(t *testing.T) {
	c := newFakeCluster(t, protoV5, 1)
	columns := threeColumns(c)
	c.on(func(r *fakeRequest) bool {
		if r.op != opExecute {
			return false
		}
		if len(r.state) == 0 {
			r.rows(fakeResult{columns: columns, cells: rowCells(0, 3), state: "1"})
		} else {
			r.fail(CodeUnavailable, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0)
		}
		return true
	})
	s := c.session()
	type row struct {
		ID   int64
		Name string
		V    []float32
	}
	seen, failed := 0, 0
	for r, err := range Rows[row](context.Background(), s.Query(selectRows)) {
		if err != nil {
			failed++
			require.ErrorIs(t, err, CodeUnavailable)
			continue
		}
		require.EqualValues(t, seen, r.ID)
		seen++
	}
	require.Equal(t, 3, seen)
	require.Equal(t, 1, failed, "the failure ends the rows")
	it := s.Query(selectRows).Iter()
	n := 0
	for it.Scan(new(int64), new(string), new([]float32)) {
		n++
	}
	require.Equal(t, 3, n, "the rows before the failure are delivered")
	require.ErrorIs(t, it.Close(), CodeUnavailable)
}

// TestFault17ChangeWhilePaging: a table gets a column between two pages. Each page must be decoded with the metadata that holds for it.
func TestFault17ChangeWhilePaging(t *testing.T) {
	c := newFakeCluster(t, protoV5, 1)
	columns := threeColumns(c)
	wider := append(append([]ColumnInfo{}, columns...), col("extra", tBigint))
	var asked []string
	c.on(func(r *fakeRequest) bool {
		if r.op != opExecute {
			return false
		}
		asked = append(asked, r.metadataID)
		switch string(r.state) {
		case "":
			r.rows(fakeResult{columns: columns, cells: rowCells(0, 2), state: "1"})
		case "1": // the table was altered: this page says so
			cells := append(rowCells(2, 1), cellOf(tBigint, 77))
			r.rows(fakeResult{columns: wider, cells: cells, state: "2", newID: "m2"})
		default:
			cells := append(rowCells(3, 1), cellOf(tBigint, 78))
			r.rows(fakeResult{columns: wider, cells: cells})
		}
		return true
	})
	s := c.session()
	rows, err := s.Query(selectRows).Prefetch(0).Iter().SliceMap()
	require.NoError(t, err)
	require.Len(t, rows, 4)
	require.NotContains(t, rows[1], "extra")
	require.EqualValues(t, 77, rows[2]["extra"])
	require.EqualValues(t, 78, rows[3]["extra"])
	require.Equal(t, []string{"m1", "m1", "m2"}, asked, "the new id is used from the next request on")
	_, prepares := c.count(selectRows)
	require.Equal(t, 1, prepares)
}

// TestFault17WithoutMetadata: rows come without the metadata that was asked for. They must not be decoded with any other.
func TestFault17WithoutMetadata(t *testing.T) {
	c := newFakeCluster(t, protoV4, 1)
	columns := threeColumns(c)
	c.on(func(r *fakeRequest) bool {
		if r.op == opExecute {
			require.False(t, r.skipMetadata, "v4 has no way to say that metadata changed: it is asked for each time")
			r.rows(fakeResult{columns: columns, cells: rowCells(0, 1), noMeta: true})
		}
		return r.op == opExecute
	})
	var broken *ProtocolError
	require.ErrorAs(t, c.session().Query(selectRows).Exec(), &broken)
}

func TestRetries(t *testing.T) {
	unavailable := []byte{0, 1, 0, 0, 0, 1, 0, 0, 0, 0}
	for _, m := range []struct {
		name       string
		fail       func(r *fakeRequest)
		idempotent bool
		sent       int // to three nodes that all fail alike
		applied    bool
	}{
		{"overloaded", func(r *fakeRequest) { r.fail(CodeOverloaded) }, false, 1, false},
		{"overloaded, idempotent", func(r *fakeRequest) { r.fail(CodeOverloaded) }, true, 3, false},
		{"bootstrapping", func(r *fakeRequest) { r.fail(CodeBootstrapping) }, false, 3, false},
		{"unavailable", func(r *fakeRequest) { r.fail(CodeUnavailable, unavailable...) }, false, 2, false},
		{"syntax", func(r *fakeRequest) { r.fail(CodeSyntax) }, false, 1, false},
		{"server error", func(r *fakeRequest) { r.fail(CodeServer) }, false, 1, true},
		{"connection breaks", func(r *fakeRequest) { r.hangUp() }, false, 1, true},
		{"connection breaks, idempotent", func(r *fakeRequest) { r.hangUp() }, true, 3, true}, // or more: a node may be connected again
	} {
		t.Run(m.name, func(t *testing.T) {
			c := newFakeCluster(t, protoV5, 3)
			s := c.session()
			require.Eventually(t, func() bool {
				for _, n := range s.topo.Load().nodes {
					if n.pool.pick() == nil {
						return false
					}
				}
				return true
			}, 5*time.Second, time.Millisecond)
			require.NoError(t, s.Query("INSERT x").Exec())
			c.on(func(r *fakeRequest) bool {
				if r.op == opExecute {
					m.fail(r)
				}
				return r.op == opExecute
			})
			before, _ := c.count("INSERT x")
			err := s.Query("INSERT x").Idempotent(m.idempotent).Exec()
			require.Error(t, err)
			after, _ := c.count("INSERT x")
			sent := after - before
			if m.idempotent {
				require.GreaterOrEqual(t, sent, m.sent)
				require.LessOrEqual(t, sent, maxAttempts)
			} else {
				require.Equal(t, m.sent, sent)
			}
			require.Equal(t, m.applied, MayHaveApplied(err))
			var f *RequestFailure
			require.ErrorAs(t, err, &f)
			require.Equal(t, sent, f.Attempts)
			require.True(t, f.Host.IsValid())
		})
	}
}

func TestTokenAware(t *testing.T) {
	c := newFakeCluster(t, protoV5, 3)
	const stmt = "INSERT INTO ks.t (id) VALUES (?)"
	c.prepare(stmt, preparedSpec{bind: []ColumnInfo{col("id", tBigint)}, pk: []int{0}})
	var mu sync.Mutex
	hits := map[string]int{}
	c.on(func(r *fakeRequest) bool {
		if r.op == opExecute {
			mu.Lock()
			hits[r.node.ip]++
			mu.Unlock()
		}
		return false
	})
	s := c.session()
	require.Eventually(t, func() bool {
		for _, n := range s.topo.Load().nodes {
			if n.pool.pick() == nil {
				return false
			}
		}
		return true
	}, 5*time.Second, time.Millisecond)
	for key := range 20 {
		clear(hits)
		for range 5 {
			require.NoError(t, s.Query(stmt, key).Exec())
		}
		require.Len(t, hits, 1, "a key has one replica here, and it is asked alone")
	}
}

func TestContextEndsEachVerb(t *testing.T) {
	c := newFakeCluster(t, protoV5, 1)
	threeColumns(c)
	c.on(func(r *fakeRequest) bool { return r.op == opExecute || r.op == opBatch }) // never answered
	s := c.session(func(cfg *ClusterConfig) { cfg.Timeout = time.Minute })
	for name, verb := range map[string]func(ctx context.Context) error{
		"Exec":    func(ctx context.Context) error { return s.Query(selectRows).ExecContext(ctx) },
		"Scan":    func(ctx context.Context) error { return s.Query(selectRows).ScanContext(ctx, new(any)) },
		"MapScan": func(ctx context.Context) error { return s.Query(selectRows).MapScanContext(ctx, map[string]any{}) },
		"Batch":   func(ctx context.Context) error { return s.Batch(LoggedBatch).Query(selectRows).ExecContext(ctx) },
		"Rows": func(ctx context.Context) error {
			for _, err := range Rows[struct{ ID int64 }](ctx, s.Query(selectRows)) {
				return err
			}
			return nil
		},
		"Pages": func(ctx context.Context) error {
			for _, err := range s.Query(selectRows).Pages(ctx) {
				return err
			}
			return nil
		},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		if err := verb(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		began := time.Now()
		if err := verb(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %v", name, err)
		}
	}
}
