// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
)

// Requests on scripted nodes: preparation, metadata, pages, retries, and released memory.

var (
	tBigint = cql.NativeType(cql.TypeBigInt)
	tText   = cql.NativeType(cql.TypeVarchar)
	tVector = cql.VectorType{SubType: cql.NativeType(cql.TypeFloat), Dimensions: 3}
)

const selectRows = "SELECT id, name, v FROM ks.t"

// threeColumns prepares selectRows and returns its columns.
func threeColumns(c *fakecql.Cluster) []fakecql.Column {
	columns := fakecql.Columns("id bigint", "name text", "v vector<float, 3>")
	c.Prepare(selectRows, fakecql.Prepared{Result: columns, ResultID: "m1"})
	return columns
}

// rowCells returns the rows first to first+n-1 of threeColumns.
func rowCells(first, n int) (cells [][]byte) {
	for i := first; i < first+n; i++ {
		cells = append(cells, fakecql.Cell("bigint", i), fakecql.Cell("text", fmt.Sprint("name ", i)), fakecql.Cell("vector<float, 3>", []float32{float32(i), 1, 2}))
	}
	return cells
}

func TestPrepareFailureIsNotCached(t *testing.T) {
	c := newFakeCluster(t, frame.V5, 1)
	var missing atomic.Bool
	missing.Store(true)
	c.On(func(r *fakecql.Request) bool {
		if r.Op == fakecql.OpPrepare && missing.Load() {
			r.Fail(int32(cql.CodeInvalid))
			return true
		}
		return false
	})
	s := sessionOn(c)
	err := s.Query("SELECT 1").Exec(t.Context())
	require.ErrorIs(t, err, cql.CodeInvalid)
	require.False(t, MayHaveApplied(err))
	missing.Store(false)
	require.NoError(t, s.Query("SELECT 1").Exec(t.Context()))
}

func TestPages(t *testing.T) {
	for _, v := range []byte{frame.V3, frame.V4, frame.V5} {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			c := newFakeCluster(t, v, 2)
			columns := threeColumns(c)
			pages := map[string]fakecql.Rows{ // empty pages have a next page, as after tombstones
				"":  {Columns: columns, State: "1"},
				"1": {Columns: columns, Cells: rowCells(0, 3), State: "2"},
				"2": {Columns: columns, State: "3"},
				"3": {Columns: columns, Cells: rowCells(3, 2)},
			}
			c.On(func(r *fakecql.Request) bool {
				if r.Op == fakecql.OpExecute {
					r.Rows(pages[string(r.State)])
				}
				return r.Op == fakecql.OpExecute
			})
			s := sessionOn(c)
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
				it := s.Query(selectRows).Prefetch(prefetch).Iter(ctx)
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
			for _, batches := range []iter.Seq2[*column.Batch, error]{s.Query(selectRows).Batches(ctx), s.Query(selectRows).BorrowBatches(ctx)} {
				rows := 0
				for b, err := range batches {
					require.NoError(t, err)
					m, err := column.MatrixOf[float32](&b.Columns[2])
					require.NoError(t, err)
					for i := range b.Rows {
						require.Equal(t, want[rows].V, m.Row(i))
						rows++
					}
				}
				require.Equal(t, 5, rows)
			}

			it := s.Query(selectRows).PageState(nil).Iter(ctx)
			require.False(t, it.Scan(&r0{}, new(string), new([]float32)), "the first page is empty")
			require.Equal(t, cql.PageToken("1"), it.PageState())
			require.NoError(t, it.Close())
			it = s.Query(selectRows).PageState([]byte("1")).Iter(ctx)
			require.Equal(t, 3, it.NumRows())
			require.NoError(t, it.Close())
			for _, state := range []string{"", "1", "2", "3"} { // by token, pages without rows are pages too
				rows, next := 0, cql.PageToken("none")
				for page, err := range Pages[row](ctx, s.Query(selectRows).PageState([]byte(state))) {
					require.NoError(t, err)
					rows, next = rows+len(page.Rows), page.Source.NextPage
				}
				require.Equal(t, len(pages[state].Cells)/3, rows)
				require.Equal(t, pages[state].State, string(next))
			}
		})
	}
}

// r0 is a destination for any type.
type r0 struct{}

func (*r0) UnmarshalCQL(cql.TypeInfo, []byte) error { return nil }

func TestPageFails(t *testing.T) {
	c := newFakeCluster(t, frame.V5, 1)
	columns := threeColumns(c)
	c.On(func(r *fakecql.Request) bool {
		if r.Op != fakecql.OpExecute {
			return false
		}
		if len(r.State) == 0 {
			r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(0, 3), State: "1"})
		} else {
			r.Fail(int32(cql.CodeUnavailable), 0, 1, 0, 0, 0, 1, 0, 0, 0, 0)
		}
		return true
	})
	s := sessionOn(c)
	type row struct {
		ID   int64
		Name string
		V    []float32
	}
	seen, failed := 0, 0
	for r, err := range Rows[row](context.Background(), s.Query(selectRows)) {
		if err != nil {
			failed++
			require.ErrorIs(t, err, cql.CodeUnavailable)
			continue
		}
		require.EqualValues(t, seen, r.ID)
		seen++
	}
	require.Equal(t, 3, seen)
	require.Equal(t, 1, failed, "the failure ends the rows")
	it := s.Query(selectRows).Iter(t.Context())
	n := 0
	for it.Scan(new(int64), new(string), new([]float32)) {
		n++
	}
	require.Equal(t, 3, n, "the rows before the failure are delivered")
	require.ErrorIs(t, it.Close(), cql.CodeUnavailable)
}

func TestRetries(t *testing.T) {
	unavailable := []byte{0, 1, 0, 0, 0, 1, 0, 0, 0, 0}
	for _, m := range []struct {
		name       string
		fail       func(r *fakecql.Request)
		idempotent bool
		sent       int // attempts on three nodes that fail in the same way
		applied    bool
	}{
		{"overloaded", func(r *fakecql.Request) { r.Fail(int32(cql.CodeOverloaded)) }, false, 5, false},
		{"overloaded, idempotent", func(r *fakecql.Request) { r.Fail(int32(cql.CodeOverloaded)) }, true, 3, false},
		{"bootstrapping", func(r *fakecql.Request) { r.Fail(int32(cql.CodeBootstrapping)) }, false, 3, false},
		{"unavailable", func(r *fakecql.Request) { r.Fail(int32(cql.CodeUnavailable), unavailable...) }, false, 2, false},
		{"syntax", func(r *fakecql.Request) { r.Fail(int32(cql.CodeSyntax)) }, false, 1, false},
		{"server error", func(r *fakecql.Request) { r.Fail(int32(cql.CodeServer)) }, false, 1, true},
		{"connection breaks", func(r *fakecql.Request) { r.HangUp() }, false, 1, true},
		// at least: a node may be connected again
		{"connection breaks, idempotent", func(r *fakecql.Request) { r.HangUp() }, true, 3, true},
	} {
		t.Run(m.name, func(t *testing.T) {
			c := newFakeCluster(t, frame.V5, 3)
			s := sessionOn(c)
			require.Eventually(t, func() bool {
				for _, n := range s.topo.Load().nodes {
					if n.pool.pick() == nil {
						return false
					}
				}
				return true
			}, 5*time.Second, time.Millisecond)
			require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
			c.On(func(r *fakecql.Request) bool {
				if r.Op == fakecql.OpExecute {
					m.fail(r)
				}
				return r.Op == fakecql.OpExecute
			})
			before, _ := c.Count("INSERT x")
			err := s.Query("INSERT x").Idempotent(m.idempotent).Exec(t.Context())
			require.Error(t, err)
			after, _ := c.Count("INSERT x")
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
	c := newFakeCluster(t, frame.V5, 3)
	const stmt = "INSERT INTO ks.t (id) VALUES (?)"
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
	var mu sync.Mutex
	hits := map[string]int{}
	c.On(func(r *fakecql.Request) bool {
		if r.Op == fakecql.OpExecute {
			mu.Lock()
			hits[r.Node.IP]++
			mu.Unlock()
		}
		return false
	})
	s := sessionOn(c)
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
			require.NoError(t, s.Query(stmt, key).Exec(t.Context()))
		}
		require.Len(t, hits, 1, "only the one replica of the key receives requests")
	}
}

func TestContextEndsEachVerb(t *testing.T) {
	c := newFakeCluster(t, frame.V5, 1)
	threeColumns(c)
	c.On(func(r *fakecql.Request) bool { return r.Op == fakecql.OpExecute || r.Op == fakecql.OpBatch }) // no response
	s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Timeout = time.Minute })
	for name, verb := range map[string]func(ctx context.Context) error{
		"Exec":    func(ctx context.Context) error { return s.Query(selectRows).Exec(ctx) },
		"Scan":    func(ctx context.Context) error { return s.Query(selectRows).Scan(ctx, new(any)) },
		"MapScan": func(ctx context.Context) error { return s.Query(selectRows).MapScan(ctx, map[string]any{}) },
		"Batch":   func(ctx context.Context) error { return s.Batch(cql.LoggedBatch).Query(selectRows).Exec(ctx) },
		"Rows": func(ctx context.Context) error {
			for _, err := range Rows[struct{ ID int64 }](ctx, s.Query(selectRows)) {
				return err
			}
			return nil
		},
		"Batches": func(ctx context.Context) error {
			for _, err := range s.Query(selectRows).Batches(ctx) {
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
