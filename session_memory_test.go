// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/pooled"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// Tests of ClusterConfig.Limits.MemoryBudget. Package queue tests the rules of the budget.

const (
	selectPages = "SELECT v FROM ks.pages"
	selectFew   = "SELECT v FROM ks.few"
)

// emptyPools drops the buffers that are kept for reuse: buffers of other tests may be larger than new ones.
func emptyPools() {
	for range 3 { // pools drop their buffers at the second collection
		runtime.GC()
	}
}

// pages prepares selectPages, with pages of rows cells of size bytes, and selectFew, with one page of a few bytes. The
// node answers after delay.
func pages(c *fakecql.Cluster, rows, size int, delay time.Duration) {
	emptyPools()
	columns := fakecql.Columns("v blob")
	c.Prepare(selectPages, fakecql.Prepared{Result: columns, ResultID: "pages"})
	c.Prepare(selectFew, fakecql.Prepared{Result: columns, ResultID: "few"})
	cells := make([][]byte, rows)
	for i := range cells {
		cells[i] = make([]byte, size)
	}
	first := fakecql.Rows{Columns: columns, Cells: cells, State: "next"}.Body(true)
	last := fakecql.Rows{Columns: columns, Cells: cells}.Body(true)
	few := fakecql.Rows{Columns: columns, Cells: [][]byte{{1}}}
	c.Answer(func(r *fakecql.Request, _ int) {
		time.Sleep(delay)
		switch {
		case r.Stmt == selectFew:
			r.Rows(few)
		case r.Stmt != selectPages:
			r.Void()
		case r.State == nil:
			r.Conn.Reply(r.Stream, fakecql.OpResult, first)
		default:
			r.Conn.Reply(r.Stream, fakecql.OpResult, last)
		}
	})
}

// budgeted returns a session with a memory budget.
func budgeted(c *fakecql.Cluster, budget int64, change ...func(*ClusterConfig)) *Session {
	return sessionOn(c, append(change, func(cfg *ClusterConfig) { cfg.Limits.MemoryBudget = budget })...)
}

// requireUnused fails the test if the session counts memory.
func requireUnused(t *testing.T, s *Session) {
	t.Helper()
	use := s.Stats().Memory
	require.Zero(t, use.InFlight)
	require.Zero(t, use.Held)
	require.Zero(t, use.Waiting)
}

// TestMemoryBudgetHoldsUnderReaders reads with a thousand slow readers at once, whose pages are 100 times the budget.
// All read to the end.
func TestMemoryBudgetHoldsUnderReaders(t *testing.T) {
	const cell, budget = 2500, 64 << 10
	readers := 1000
	if pooled.Poisoned {
		readers = 300 // buffers are overwritten, which takes long
	}
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		pages(c, 3, cell, time.Millisecond) // 8 KiB
		s := budgeted(c, budget, func(cfg *ClusterConfig) { cfg.Timeout = time.Hour })
		var wg sync.WaitGroup
		for i := range readers {
			wg.Go(func() {
				rows := 0
				if i%2 == 0 {
					for v, err := range Rows[[]byte](context.Background(), s.Query(selectPages)) {
						assert.NoError(t, err)
						assert.Len(t, v, cell)
						time.Sleep(time.Millisecond)
						rows++
					}
				} else {
					for b, err := range s.Query(selectPages).BorrowBatches(context.Background()) {
						assert.NoError(t, err)
						time.Sleep(3 * time.Millisecond)
						rows += b.Rows
					}
				}
				assert.Equal(t, 6, rows)
			})
		}
		wg.Wait()
		use := s.Stats().Memory
		require.LessOrEqual(t, use.Peak, int64(budget))
		require.Greater(t, use.Peak, int64(budget/2))
		require.Greater(t, use.Waits, uint64(readers/2))
		require.Greater(t, use.Waited, time.Second)
		require.Zero(t, use.Overdrawn)
		requireUnused(t, s)
		require.Empty(t, s.Stats().Errors)
	})
}

// TestMemoryBudgetBoundsHeap lets readers hold pages, and compares the live heap with the budget.
func TestMemoryBudgetBoundsHeap(t *testing.T) {
	const readers, budget, page = 40, 17 << 17, 1 << 18
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		pages(c, 1, page-100, 0)
		s := budgeted(c, budget)
		require.NoError(t, s.Query(selectPages).Exec(t.Context()))
		live := func() int64 {
			var m runtime.MemStats
			emptyPools()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before, leave := live(), make(chan struct{})
		var wg sync.WaitGroup
		for range readers {
			wg.Go(func() {
				it := s.Query(selectPages).Iter(t.Context())
				<-leave
				assert.NoError(t, it.Close())
			})
		}
		time.Sleep(100 * time.Millisecond)
		use := s.Stats().Memory
		grown := live() - before
		close(leave)
		wg.Wait()
		require.EqualValues(t, 6*page, use.Held, "all but the quarter for small pages")
		require.Equal(t, readers-6, use.Waiting)
		require.Greater(t, grown, use.Held*3/4)
		require.Less(t, grown, int64(budget))
		requireUnused(t, s)
	})
}

// TestMemoryBudgetNestedQueries executes queries while the goroutine itself, or one that waits for it, holds pages that
// fill the budget.
func TestMemoryBudgetNestedQueries(t *testing.T) {
	const budget = 280 << 10
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		pages(c, 4, 15<<10, 0) // 64 KiB
		c.Prepare(idempotentInsert, fakecql.Prepared{})
		s := budgeted(c, budget)
		ctx := context.Background()
		for _, stmt := range []string{selectPages, selectFew, idempotentInsert} { // so that the sizes are known
			require.NoError(t, s.Query(stmt).Exec(t.Context()))
		}
		var held []*Iter
		for range 3 {
			it := s.Query(selectPages).Prefetch(0.5).Iter(t.Context())
			require.True(t, it.Scan(nil))
			held = append(held, it)
		}
		for _, it := range held {
			for range 2 {
				require.True(t, it.Scan(nil))
			}
			require.Nil(t, it.ahead)
		}
		synctest.Wait()
		require.EqualValues(t, 3*64<<10, s.Stats().Memory.Held, "no page is requested ahead")

		began := time.Now()
		var v []byte
		require.NoError(t, s.Query(selectFew).Scan(t.Context(), &v))
		require.NoError(t, s.Query(selectPages).Scan(t.Context(), &v), "the page is released before Scan returns")
		require.NoError(t, s.Query(idempotentInsert).Bind().Exec(t.Context()))
		require.NoError(t, s.Batch(cql.LoggedBatch).Query(idempotentInsert).Query("INSERT INTO ks.t (v) VALUES ('"+string(make([]byte, 300<<10))+"')").Exec(t.Context()))
		_, err := OneRow[[]byte](ctx, s.Query(selectFew))
		require.NoError(t, err)
		for _, err := range Rows[[]byte](ctx, s.Query(selectFew)) {
			require.NoError(t, err)
		}
		require.Zero(t, time.Since(began))
		require.Zero(t, s.Stats().Memory.Waits)

		rows := 0
		for _, err := range Rows[[]byte](ctx, s.Query(selectPages)) { // has to go beyond the budget
			require.NoError(t, err)
			rows++
		}
		require.Equal(t, 8, rows)
		require.LessOrEqual(t, time.Since(began), 4*time.Second)
		require.EqualValues(t, 2, s.Stats().Memory.Overdrawn, "once a page")

		require.NoError(t, held[0].Close())
		require.True(t, held[1].Scan(nil))
		require.NotNil(t, held[1].ahead, "there is room for a page ahead")
		for range 2 { // the second page is requested although the budget is full: its Iter holds nothing meanwhile
			require.True(t, held[2].Scan(nil))
		}
		require.Zero(t, held[2].row-1)
		require.EqualValues(t, 2, s.Stats().Memory.Overdrawn)
		require.NoError(t, held[1].Close())
		require.NoError(t, held[2].Close())
		requireUnused(t, s)
	})
}

// TestMemoryBudgetWaitEnds ends the wait by the context, the timeout and Close.
func TestMemoryBudgetWaitEnds(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		pages(c, 3, 20<<10, time.Hour)
		s := budgeted(c, 100<<10, func(cfg *ClusterConfig) { cfg.Timeout = 10 * time.Second })
		stmt, err := s.prepare(context.Background(), s.defaultPolicies, "", selectPages)
		require.NoError(t, err)
		stmt.noteAnswer(64 << 10)
		hold, cancelHold := context.WithTimeout(context.Background(), time.Minute)
		defer cancelHold()
		var wg sync.WaitGroup
		wg.Go(func() { require.ErrorIs(t, s.Query(selectPages).Exec(hold), conn.ErrClosed) })
		synctest.Wait()

		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err = s.Query(selectPages).Exec(ctx)
		var full *MemoryBudgetError
		require.ErrorAs(t, err, &full)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, full.Waited)
		require.EqualValues(t, 100<<10, full.Budget)
		require.Greater(t, full.Size, int64(64<<10))
		require.Greater(t, full.InFlight, int64(64<<10))
		require.Zero(t, full.Held)
		require.Equal(t, stats.ClassThrottled, ErrorClassOf(err))
		require.False(t, MayHaveApplied(err))

		err = s.Query(selectPages).RequestTimeout(2 * time.Second).Iter(t.Context()).Close()
		require.ErrorAs(t, err, &full)
		require.NoError(t, full.Err)
		require.Equal(t, 2*time.Second, full.Waited)
		sent, _ := c.Count(selectPages)
		require.Equal(t, 1, sent)
		require.EqualValues(t, 2, s.Stats().Errors[stats.ClassThrottled])

		wg.Go(func() {
			began := time.Now()
			require.ErrorIs(t, s.Query(selectPages).RequestTimeout(time.Hour).Exec(t.Context()), ErrSessionClosed)
			require.Zero(t, time.Since(began))
		})
		synctest.Wait()
		require.Equal(t, 1, s.Stats().Memory.Waiting)
		s.Close()
		wg.Wait()
		requireUnused(t, s)
		require.EqualValues(t, 3, s.Stats().Memory.Waits)
	})
}

// TestMemoryBudgetCountsArriving sends an answer in two parts: it counts when its length is known, also after its
// caller has left, and not by the length that the header states when little has arrived.
func TestMemoryBudgetCountsArriving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, frame.V4, 1)
		columns := fakecql.Columns("v blob")
		c.Prepare(selectPages, fakecql.Prepared{Result: columns})
		body := fakecql.Rows{Columns: columns, Cells: [][]byte{make([]byte, 1<<20-200)}}.Body(false)
		more := make(chan bool)
		c.Answer(func(r *fakecql.Request, nth int) {
			if nth == 0 {
				r.Rows(fakecql.Rows{Columns: columns})
				return
			}
			h := wire.Header{Version: frame.V4, Response: true, Stream: r.Stream, Opcode: byte(frame.OpResult), Length: len(body)}
			if nth == 2 {
				h.Length = wire.MaxBody
			}
			frame := append(make([]byte, wire.HeaderSize), body...)
			wire.PutHeader(frame, h)
			_, _ = r.Conn.Conn.Write(frame[:len(frame)/2])
			if <-more {
				_, _ = r.Conn.Conn.Write(frame[len(frame)/2:])
			} else {
				r.HangUp()
			}
		})
		s := budgeted(c, 1<<20)
		require.NoError(t, s.Query(selectPages).Exec(t.Context()), "the answer has few bytes")
		for i, caller := range []string{"waits", "has left"} {
			ctx, cancel := context.WithCancel(context.Background())
			var wg sync.WaitGroup
			wg.Go(func() { assert.Equal(t, i == 1, s.Query(selectPages).Exec(ctx) != nil) })
			synctest.Wait()
			if i == 1 {
				cancel()
				wg.Wait()
			}
			use := s.Stats().Memory
			require.GreaterOrEqual(t, use.InFlight, int64(1<<20), caller)
			require.Less(t, use.InFlight, int64(1<<20+1<<12), caller)
			require.Zero(t, use.Held)
			more <- i == 0
			wg.Wait()
			cancel()
			synctest.Wait()
			requireUnused(t, s)
		}
		require.Less(t, s.Stats().Memory.Peak, int64(3<<20))
	})
}

// TestMemoryBudgetReturns runs random verbs against nodes that answer at random: with rows, errors, late, never, or by
// closing the connection. Nothing stays counted.
func TestMemoryBudgetReturns(t *testing.T) {
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			var compressor cql.Compressor
			if seed < 2 {
				compressor = LZ4Compressor{}
			}
			c := newFakeCluster(t, frame.V4+byte(seed%2), 2, func(n *fakecql.Node) { n.Server.Compressor = compressor })
			pages(c, 3, 10<<10, 0)
			columns := fakecql.Columns("v blob")
			var mu sync.Mutex
			rng := rand.New(rand.NewPCG(7, seed))
			pick := func(n int) int {
				mu.Lock()
				defer mu.Unlock()
				return rng.IntN(n)
			}
			s := budgeted(c, 200<<10, func(cfg *ClusterConfig) {
				cfg.Timeout, cfg.Defaults.Idempotent = 300*time.Millisecond, true
				cfg.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: 50 * time.Millisecond}
				cfg.Limits.Throttle = Throttle{MaxRequests: 30}
				cfg.Compressor = compressor
			})
			c.Answer(func(r *fakecql.Request, _ int) {
				time.Sleep(time.Duration(pick(60)) * time.Millisecond)
				switch pick(12) {
				case 0:
					r.Fail(int32(cql.CodeOverloaded))
				case 1:
					r.HangUp()
				case 2: // after the caller has left
					time.Sleep(time.Second)
					r.Rows(fakecql.Rows{Columns: columns, Cells: [][]byte{make([]byte, 30<<10)}})
				case 3:
					r.Unprepared(fakecql.StatementID(r.Stmt))
				case 4: // never
				case 5:
					r.Void()
				default:
					r.Rows(fakecql.Rows{Columns: columns, Cells: [][]byte{make([]byte, pick(60<<10)), nil}, State: []string{"", "next"}[pick(2)]})
				}
			})
			var wg sync.WaitGroup
			for range 60 {
				wg.Go(func() {
					for range 6 {
						ctx, cancel := context.WithTimeout(context.Background(), time.Duration(20+pick(400))*time.Millisecond)
						useAnyhow(ctx, s, pick)
						cancel()
					}
				})
			}
			wg.Wait()
			time.Sleep(10 * time.Second) // late answers have arrived
			requireUnused(t, s)
			use := s.Stats().Memory
			require.NotZero(t, use.Waits)
			require.Greater(t, use.Peak, int64(100<<10))
			wg.Go(func() { useAnyhow(context.Background(), s, pick) })
			time.Sleep(20 * time.Millisecond)
			s.Close()
			wg.Wait()
			synctest.Wait()
			requireUnused(t, s)
		})
	}
}

// useAnyhow executes a random verb.
func useAnyhow(ctx context.Context, s *Session, pick func(n int) int) {
	q := s.Query(selectPages).Prefetch([]float64{-1, 0.5, 1}[pick(3)])
	pages := 1 + pick(5)
	switch pick(6) {
	case 0:
		_ = q.Exec(ctx)
	case 1:
		_ = q.Scan(ctx, nil)
	case 2:
		for _, err := range Rows[[]byte](ctx, q) {
			if pages--; pages == 0 || err != nil {
				break
			}
		}
	case 3:
		var b column.Batch
		it := q.Iter(ctx)
		for it.NextBatch(&b) && pages > 0 {
			pages--
		}
		_ = it.Close()
	case 4:
		it := q.Iter(ctx)
		_ = it.Scan(nil)
		_ = it.Close()
	default:
		_ = s.Batch(cql.LoggedBatch).Query("INSERT INTO ks.t (v) VALUES ('" + string(make([]byte, 10<<10)) + "')").Exec(ctx)
	}
}
