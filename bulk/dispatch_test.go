// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Queues of targets, the choice of a target, and calls that wait.

// TestQueue compares the queue of a target with a slice.
func TestQueue(t *testing.T) {
	r := newRand(t)
	for range 20 {
		var q target
		var want []int
		next, most := 0, 1+r.IntN(40)
		for range 200 {
			if len(want) == 0 || len(want) < most && r.IntN(2) == 0 {
				q.push(task{row: next})
				want = append(want, next)
				next++
			} else {
				got := q.pop()
				require.Equal(t, want[0], got.row)
				require.Same(t, &q, got.target)
				want = want[1:]
			}
			require.Equal(t, len(want), q.queued())
			for _, left := range q.queue[:q.head] {
				require.Zero(t, left, "a task that was sent is kept")
			}
			for _, left := range q.queue[len(q.queue):cap(q.queue)] {
				require.Zero(t, left, "a task that was sent is kept")
			}
		}
		require.LessOrEqual(t, cap(q.queue), 4*most+8, "the memory of tasks that were sent is used again")
	}
}

// busy returns a target with a limit, a latency in ms, and requests in flight and queued.
func busy(limit, latency float64, inFlight, queued int) *target {
	t := &target{limit: limiter{limit: limit, latency: latency * 1e6}, inFlight: inFlight}
	for range queued {
		t.push(task{})
	}
	return t
}

// TestChoose takes the target with the shortest wait.
func TestChoose(t *testing.T) {
	for name, c := range map[string]struct {
		targets []*target
		want    int
	}{
		"fewer in flight":            {[]*target{busy(10, 5, 4, 0), busy(10, 5, 3, 0)}, 1},
		"fewer queued":               {[]*target{busy(10, 5, 3, 2), busy(10, 5, 3, 1)}, 1},
		"in flight and queued alike": {[]*target{busy(10, 5, 3, 2), busy(10, 5, 4, 2), busy(10, 5, 4, 0)}, 2},
		"the greater limit":          {[]*target{busy(10, 5, 4, 0), busy(20, 5, 4, 0)}, 1},
		"the shorter latency":        {[]*target{busy(10, 50, 4, 0), busy(10, 5, 20, 0)}, 1},
		"the first of equal ones":    {[]*target{busy(10, 5, 4, 0), busy(10, 5, 4, 0)}, 0},
		"idle without a response":    {[]*target{busy(10, 5, 1, 0), busy(10, 0, 0, 0)}, 1},
		"new, below its limit":       {[]*target{busy(10, 5, 1, 0), busy(10, 0, 5, 4)}, 1},
		"new, at its limit":          {[]*target{busy(10, 0, 6, 4), busy(10, 1e6, 90, 90)}, 1},
		"two new ones":               {[]*target{busy(10, 0, 3, 0), busy(10, 0, 2, 0)}, 1},
	} {
		w := &Writer{targets: map[vecql.Replica]*target{}}
		var keys []vecql.Replica
		for i, of := range c.targets {
			keys = append(keys, vecql.Replica{Shard: i})
			w.targets[keys[i]] = of
		}
		require.Same(t, c.targets[c.want], w.choose(keys), name)
	}
	w := &Writer{targets: map[vecql.Replica]*target{}, o: Options{MaxInFlight: 7}}
	of := w.choose(nil)
	require.Equal(t, vecql.Replica{Shard: -1}, of.key, "the driver chooses a node")
	require.InDelta(t, 7, of.limit.limit, 0)
	require.Same(t, of, w.choose(nil))
	require.False(t, busy(3.9, 5, 9, 2).full())
	require.True(t, busy(3.9, 5, 0, 3).full())
}

// TestHasRoom wakes a Write when there is much room, not for each row, and only if it waits.
func TestHasRoom(t *testing.T) {
	for name, c := range map[string]struct {
		tasks, queued int
		bytes         int64
		want          bool
	}{
		"nothing left":    {0, 0, 0, true},
		"much room":       {14, 5, 700, true},
		"many tasks":      {15, 5, 700, false},
		"a long queue":    {14, 6, 700, false},
		"many bytes":      {14, 5, 701, false},
		"no task in flow": {1, 0, 700, true},
	} {
		w := &Writer{o: Options{MaxInFlight: 8, MaxBytes: 800}, tasks: c.tasks, pendingBytes: c.bytes}
		of := busy(11.5, 1, 0, c.queued)
		require.False(t, w.hasRoom(of), "no Write waits")
		w.waits = true
		require.Equal(t, c.want, w.hasRoom(of), name)
		require.Equal(t, !c.want, w.waits, name)
	}
	for most := 1; most < 5; most++ { // for all bounds the last row wakes a Write
		for bytes := int64(1); bytes < 20; bytes++ {
			w := &Writer{o: Options{MaxInFlight: most, MaxBytes: bytes}, waits: true}
			require.True(t, w.hasRoom(busy(1, 1, 0, 0)))
		}
	}
}

// TestSmallestBounds writes with the smallest bounds: each call waits for the row before.
func TestSmallestBounds(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		for _, o := range []Options{{MaxBytes: 1}, {MaxInFlight: 1}, {MaxInFlight: 1, MaxBytes: 1, BatchRows: 1}} {
			s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Delay: 3 * time.Millisecond})
			w, err := Insert(t.Context(), s.Session, "shop.items", o)
			require.NoError(t, err)
			require.NoError(t, writeItems(t.Context(), w, 0, 100))
			require.NoError(t, w.Flush(t.Context()))
			require.EqualValues(t, 100, w.Stats().Rows)
			require.NoError(t, w.Close(t.Context()))
			s.requireItems(t, 100)
		}
	})
}

// blocked returns a writer of n rows of shop.items whose requests wait until end is closed.
func (s *shop) blocked(t *testing.T, n int, o Options, end <-chan struct{}) *Writer {
	t.Helper()
	s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Until: end})
	w, err := Insert(t.Context(), s.Session, "shop.items", o)
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), items(0, n)))
	synctest.Wait()
	return w
}

// TestStatsWhileWriting has rows in flight and in queues.
func TestStatsWhileWriting(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		end := make(chan struct{})
		w := s.blocked(t, 12, Options{BatchRows: 1, MaxInFlight: 7}, end)
		time.Sleep(2 * time.Second)
		st := w.Stats()
		require.Equal(t, [4]int{12, 7, 7, 3}, [4]int{st.Pending, st.InFlight, st.PeakInFlight, len(st.Targets)})
		require.Positive(t, st.PendingBytes)
		require.Equal(t, st.PendingBytes, st.PeakBytes)
		require.Equal(t, 2*time.Second, st.Elapsed)
		require.Zero(t, st.Rows+st.Bytes)
		inFlight, queued := 0, 0
		for i, of := range st.Targets {
			inFlight, queued = inFlight+of.InFlight, queued+of.Queued
			require.Equal(t, 7, of.Limit)
			require.Zero(t, of.Latency)
			require.Negative(t, of.Shard)
			if i > 0 {
				require.Less(t, fmt.Sprint(st.Targets[i-1].HostID), fmt.Sprint(of.HostID))
			}
		}
		require.Equal(t, [2]int{7, 5}, [2]int{inFlight, queued})
		close(end)
		require.NoError(t, w.Flush(t.Context()))
		require.Equal(t, 2*time.Second, w.Stats().Elapsed)
		st = w.Stats()
		require.Equal(t, [4]uint64{12, 0, 0, 0}, [4]uint64{st.Rows, st.Rejected, st.Skipped, st.Retries})
		require.InDelta(t, 6, st.RowsPerSecond, 1e-9)
		require.EqualValues(t, st.PeakBytes, st.Bytes, "all rows were pending at once")
		require.GreaterOrEqual(t, st.P99, 2*time.Second)
		require.Less(t, st.P99, 3*time.Second)
		require.NoError(t, w.Close(t.Context()))
	}, func(cfg *vecql.ClusterConfig) { cfg.Timeout = time.Hour })
}

// TestStoppedWriterRejectsNoMore stops the writer at the first of many rows that fail: the program gets no other one.
func TestStoppedWriterRejectsNoMore(t *testing.T) {
	full := errors.New("disk full")
	for name, o := range map[string]Options{"error": {MaxRejected: 100}, "bound": {MaxRejected: 1}} {
		t.Run(name, func(t *testing.T) {
			inShop(t, 1, func(t *testing.T, s *shop) {
				for i := range 20 {
					s.cluster.Inject(cqltest.Fault{
						Op: cqltest.OpExecute, Delay: time.Duration(i) * time.Millisecond, Times: 1, Skip: i,
						Error: &cqltest.Error{Code: cqltest.CodeInvalid},
					})
				}
				s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
				var calls []int64
				o.BatchRows, o.Rejected = 1, func(r Rejection) error {
					calls = append(calls, r.Index)
					if name == "error" {
						return full
					}
					return nil
				}
				w, err := Insert(t.Context(), s.Session, "shop.items", o)
				require.NoError(t, err)
				_ = w.Write(t.Context(), items(0, 16))
				err = w.Close(t.Context())
				require.Error(t, err)
				require.Len(t, calls, 1)
				done := 0
				for range doneRows(w.Checkpoint().Sources["items"]) {
					done++
				}
				require.EqualValues(t, w.Stats().Rejected, done)
				if name == "error" {
					require.ErrorIs(t, err, full)
					require.Zero(t, done, "a row that the program could not store is not done")
				} else {
					require.Equal(t, 1, done)
				}
			})
		})
	}
}

// TestCanceledRowsAreLeft cancels requests: their rows are neither done nor rejected, as one by one as in batches.
func TestCanceledRowsAreLeft(t *testing.T) {
	for _, rows := range []int{1, 5} {
		inShop(t, 1, func(t *testing.T, s *shop) {
			for _, op := range []cqltest.Opcode{cqltest.OpExecute, cqltest.OpBatch} {
				s.cluster.Inject(cqltest.Fault{Op: op, Delay: time.Hour})
			}
			rejected := 0
			w, err := Insert(t.Context(), s.Session, "shop.items", Options{
				BatchRows: rows, MaxRejected: 1000, Rejected: func(Rejection) error { rejected++; return nil },
			})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), items(0, 20)))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			require.ErrorIs(t, w.Close(ctx), context.DeadlineExceeded)
			st := w.Stats()
			require.Zero(t, st.Rows+st.Rejected+uint64(st.Pending)+uint64(rejected))
			require.Empty(t, w.Checkpoint().Sources["items"].Done)
		}, func(cfg *vecql.ClusterConfig) { cfg.Timeout = 2 * time.Hour })
	}
}

// TestCloseWhileRejecting closes the writer while the program handles the last row: Close waits for the program, and
// the worker ends.
func TestCloseWhileRejecting(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{MaxRejected: 1, Rejected: func(Rejection) error {
			time.Sleep(time.Second)
			return nil
		}})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, 1)))
		began := time.Now()
		require.NoError(t, w.Close(t.Context()))
		require.Equal(t, time.Second, time.Since(began))
		require.EqualValues(t, 1, w.Stats().Rejected)
		require.EqualValues(t, 1, w.Checkpoint().Sources["items"].Watermark())
	})
}

// TestClosedWriterRejectsNoMore closes the writer while a call waits for its rate: the rows behind, which cannot be
// encoded, are not rejected any more.
func TestClosedWriterRejectsNoMore(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		b := items(0, 3)
		b.Columns[2] = column.Of("price", []int64{1, 1 << 40, 1 << 40}) // an int
		rejected := 0
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{
			RowsPerSecond: .1, MaxRejected: 10, Rejected: func(Rejection) error { rejected++; return nil },
		})
		require.NoError(t, err)
		failed := make(chan error)
		go func() { failed <- w.Write(t.Context(), b) }()
		synctest.Wait()
		require.NoError(t, w.Close(t.Context()))
		require.ErrorIs(t, <-failed, ErrClosed)
		require.Zero(t, rejected)
	})
}

// TestStartAfterClose records no row as started after Close: it would be in doubt for the next run.
func TestStartAfterClose(t *testing.T) {
	l, err := openLedger(t.TempDir()+"/checkpoint.json", "job")
	require.NoError(t, err)
	require.NoError(t, l.start(l.source("rows"), 0, 5))
	require.Equal(t, [][2]int64{{0, 5}}, l.checkpoint().Sources["rows"].Started)
	other := l.source("other rows")
	require.NoError(t, l.start(other, 0, 3))
	l.done(other, 0, 1)
	l.doubt(other, 1, 1)
	l.settle()
	require.Equal(t, [][2]int64{{1, 2}}, l.checkpoint().Sources["other rows"].Started, "what was sent and is not done")
	require.Empty(t, l.checkpoint().Sources["rows"].Started, "what was not sent")
	require.ErrorIs(t, l.start(l.source("rows"), 5, 9), ErrClosed)
	require.Empty(t, l.checkpoint().Sources["rows"].Started)
}

// TestDelays sends a row that fails again after growing delays.
func TestDelays(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		var mu sync.Mutex
		var times []time.Time
		s.cluster.Inject(cqltest.Fault{
			Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}, Times: 12,
			Match: func(cqltest.Request) bool {
				mu.Lock()
				defer mu.Unlock()
				times = append(times, time.Now())
				return true
			},
		})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchRows: 1})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, 1)))
		require.NoError(t, w.Close(t.Context()))
		require.EqualValues(t, 12, w.Stats().Retries)
		for i := 1; i < len(times); i++ {
			most := min(25*time.Millisecond<<(i-1), time.Second)
			delay := times[i].Sub(times[i-1])
			require.GreaterOrEqual(t, delay, most/2, "attempt %d", i)
			require.LessOrEqual(t, delay, most, "attempt %d", i)
		}
	})
}

// TestDelayedRowsAreSentInTime has rows that fail at different times: each is sent when it is due, not with the others.
func TestDelayedRowsAreSentInTime(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w := &Writer{}
		var fired atomic.Int32
		w.retry = time.AfterFunc(time.Hour, func() { fired.Add(1) })
		now := time.Now()
		for _, ms := range []int{30, 10, 20} {
			w.delayed = append(w.delayed, delayedTask{due: now.Add(time.Duration(ms) * time.Millisecond)})
		}
		w.setRetry(now)
		time.Sleep(9 * time.Millisecond)
		synctest.Wait()
		require.Zero(t, fired.Load())
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.EqualValues(t, 1, fired.Load())
		w.delayed = nil
		w.setRetry(now)
		time.Sleep(2 * time.Hour)
		require.EqualValues(t, 1, fired.Load(), "no row is left")
	})
}

// refusal returns an error of a server.
func refusal(code cql.Code) error { return &cql.ServerError{Code: code, Message: "refused"} }

// TestDecide has the outcomes of failed attempts.
func TestDecide(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		err      error
		attempts int
		since    time.Duration
		once     bool // the statement is not idempotent
		want     outcome
	}{
		"overloaded":             {refusal(cql.CodeOverloaded), 500, 59 * time.Second, false, sentAgain},
		"too late":               {refusal(cql.CodeOverloaded), 1, time.Minute, false, rejected},
		"refused":                {refusal(cql.CodeInvalid), 1, 0, false, rejected},
		"a server's error":       {refusal(cql.CodeServer), maxServerAttempts - 1, 0, false, sentAgain},
		"a server's error, last": {refusal(cql.CodeServer), maxServerAttempts, 0, false, rejected},
		"a failed write":         {refusal(cql.CodeWriteFailure), maxServerAttempts - 1, 0, false, sentAgain},
		"a failed write, last":   {refusal(cql.CodeWriteFailure), maxServerAttempts, 0, false, rejected},
		"certainly not executed": {vecql.ErrThrottled, 1, 0, true, sentAgain},
		"a timeout":              {vecql.ErrTimeoutNoResponse, 1, 0, false, sentAgain},
		"a closed session":       {fmt.Errorf("execute: %w", vecql.ErrSessionClosed), 1, 0, false, dropped},
	} {
		w := &Writer{o: Options{RetryFor: time.Minute}, repeatable: !c.once, roomWake: make(chan struct{}, 1)}
		of := &task{rows: 1, attempts: c.attempts, since: now.Add(-c.since)}
		require.Equal(t, c.want, w.decide(of, now, c.err), name)
		require.Equal(t, c.want == dropped, w.err != nil, name)
		of.rows = 2
		if c.want == rejected {
			c.want = divided
		}
		require.Equal(t, c.want, w.decide(of, now, c.err), name)
	}
}

// TestProgress reads the done rows of a source.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		done [][2]int64
		want int64
	}{{nil, 0}, {[][2]int64{}, 0}, {[][2]int64{{0, 7}}, 7}, {[][2]int64{{0, 7}, {9, 12}}, 7}, {[][2]int64{{1, 7}}, 0}, {[][2]int64{{3, 4}, {9, 12}}, 0}} {
		require.Equal(t, c.want, Progress{Done: c.done}.Watermark(), "%v", c.done)
	}
	p := Progress{Done: [][2]int64{{2, 5}, {8, 10}}}
	for first := int64(0); first < 12; first++ {
		for end := first; end < 12; end++ {
			want := true
			for n := first; n < end; n++ {
				want = want && (n >= 2 && n < 5 || n >= 8 && n < 10)
			}
			require.Equal(t, want, p.Has(first, end), "%d to %d", first, end)
		}
	}
	require.True(t, p.Has(math.MaxInt64, math.MaxInt64))
}
