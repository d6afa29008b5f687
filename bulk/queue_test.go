// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Rows that wait: in queues of targets, delayed, and after the writer has stopped.

// idleWriter returns a writer without a session that hands tasks to n idle workers, which do not send them.
func idleWriter(n int) *Writer {
	w := &Writer{targets: map[vecql.Replica]*target{}, o: Options{MaxInFlight: 100}, repeatable: true}
	for range n {
		w.idle = append(w.idle, &worker{tasks: make(chan task, 1)})
	}
	w.retry = time.AfterFunc(time.Hour, func() {})
	return w
}

// TestAcceptedRequestsAreTwiceThoseInFlight, however many nodes have room in their queues.
func TestAcceptedRequestsAreTwiceThoseInFlight(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		end := make(chan struct{})
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Until: end})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchRows: 1, MaxInFlight: 4})
		require.NoError(t, err)
		written := make(chan error)
		go func() { written <- w.Write(t.Context(), items(0, 100)) }()
		synctest.Wait()
		st := w.Stats()
		require.Equal(t, [2]int{8, 4}, [2]int{st.Pending, st.InFlight})
		close(end)
		require.NoError(t, <-written)
		require.NoError(t, w.Close(t.Context()))
	}, func(cfg *vecql.ClusterConfig) { cfg.Timeout = time.Hour })
}

// TestTargetSendsUpToItsLimitAfterAResponse, and the others if the bound of all requests made them wait.
func TestTargetSendsUpToItsLimitAfterAResponse(t *testing.T) {
	w := idleWriter(20)
	of, other := busy(4, 5, 1, 5), busy(3, 5, 0, 2)
	w.targets[vecql.Replica{Shard: 1}], w.targets[vecql.Replica{Shard: 2}] = of, other
	w.inFlight = 1
	w.sendMore(of)
	require.Equal(t, [3]int{4, 2, 4}, [3]int{of.inFlight, of.queued(), w.inFlight})
	require.Equal(t, 2, other.queued(), "the other one has not waited for the bound")
	w.starved = true
	w.sendMore(of)
	require.Zero(t, other.queued())
	require.False(t, w.starved)

	w = idleWriter(20)
	of, other = busy(4, 5, 0, 3), busy(4, 5, 0, 3)
	w.targets[vecql.Replica{Shard: 1}], w.targets[vecql.Replica{Shard: 2}] = of, other
	w.o.MaxInFlight, w.starved = 4, true
	w.sendMore(of)
	require.Equal(t, 4, w.inFlight)
	require.Equal(t, [2]int{0, 2}, [2]int{of.queued(), other.queued()})
	require.True(t, w.starved, "the other one waits for the bound again")
}

// TestStoppedWriterKeepsNoRow: rows that fail or are divided after it has stopped are not sent again.
func TestStoppedWriterKeepsNoRow(t *testing.T) {
	w := idleWriter(20)
	of := busy(4, 5, 0, 0)
	w.err, w.tasks, w.pending = errors.New("stopped"), 3, 6
	w.delay(task{rows: 1, job: &job{}}, time.Now())
	require.Empty(t, w.delayed)
	require.Zero(t, w.Stats().Retries)
	w.split(task{rows: 4, job: &job{}, target: of}, errors.New("refused"))
	require.Zero(t, of.queued())
	w.delayed = []delayedTask{{task{rows: 1, job: &job{}, encoded: newEncoded()}, time.Now()}}
	w.retryDue()
	require.Equal(t, [2]int{0, 0}, [2]int{w.tasks, w.pending})
}

// TestDelayedRowsAreSentWhenTheyAreDue, each by itself.
func TestDelayedRowsAreSentWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := idleWriter(20)
		now := time.Now()
		row := func(n int, after time.Duration) delayedTask {
			return delayedTask{task{row: n, rows: 1, job: &job{}, encoded: newEncoded()}, now.Add(after)}
		}
		fired := make(chan time.Time, 1)
		w.retry = time.AfterFunc(time.Hour, func() { fired <- time.Now() })
		w.delayed = []delayedTask{row(1, time.Minute), row(2, 0), row(3, time.Second), row(4, 0)}
		w.retryDue()
		require.Equal(t, 2, w.inFlight)
		require.Len(t, w.delayed, 2)
		require.Equal(t, [2]int{1, 3}, [2]int{w.delayed[0].row, w.delayed[1].row})
		require.Equal(t, time.Second, (<-fired).Sub(now))
	})
}

// TestRowThatCannotBeEncodedIsNotSent, nor acknowledged, when it is sent again.
func TestRowThatCannotBeEncodedIsNotSent(t *testing.T) {
	failed := errors.New("failed")
	w := idleWriter(0)
	w.ctx = t.Context()
	of := task{job: &job{rows: &failingRows{at: 0, err: failed}}, rows: 1, encoded: newEncoded(), target: busy(4, 5, 0, 0)}
	require.Equal(t, failed, w.exec(&of))
}

// TestRowThatCannotBeEncodedYetIsSentLater: the failure may pass, such as a PREPARE that a busy node refuses.
func TestRowThatCannotBeEncodedYetIsSentLater(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(1, 1)))
		b := items(0, 1)
		rows := &failingRows{&batchRows{statement: w.rows, batch: b}, 0, refusal(cql.CodeOverloaded)}
		require.NoError(t, w.lock(t.Context()))
		require.NoError(t, w.accept(t.Context(), &job{rows: rows, key: w.rowsKey, source: "items"}, 1))
		w.unlock()
		time.Sleep(time.Second)
		require.EqualValues(t, 1, w.Stats().Rows)
		require.EqualValues(t, 1, w.Stats().Pending)
		require.Positive(t, w.Stats().Retries)
		rows.at = -1
		require.NoError(t, w.Close(t.Context()))
		require.Zero(t, w.Stats().Rejected)
		s.requireItems(t, 2)
	})
}

// TestRowsOfTheirOwnAreSentAtOnce: with batches of one row no row waits for the rate of the next one.
func TestRowsOfTheirOwnAreSentAtOnce(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchRows: 1, RowsPerSecond: 1})
		require.NoError(t, err)
		written := make(chan error)
		go func() { written <- w.Write(t.Context(), items(0, 2)) }()
		time.Sleep(1500 * time.Millisecond)
		require.EqualValues(t, 1, w.Stats().Rows)
		require.NoError(t, <-written)
		require.NoError(t, w.Close(t.Context()))
	})
}

// TestStoppedWriterHasNoPendingRow: a row that cannot be encoded is not accepted after the writer has stopped.
func TestStoppedWriterHasNoPendingRow(t *testing.T) {
	w := idleWriter(0)
	w.err = errors.New("stopped")
	require.Equal(t, w.err, w.acceptFailed(task{rows: 1, job: &job{}}, errors.New("no number")))
	require.Zero(t, w.Stats().Pending)
	require.Zero(t, w.tasks)
}

func TestRateOfANewWriterIsZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := idleWriter(0)
		w.began = time.Now()
		require.Zero(t, w.Stats().Elapsed)
		require.Zero(t, w.Stats().RowsPerSecond)
		w.retry.Stop()
	})
}

// TestBucketWithoutARateCountsNothing.
func TestBucketWithoutARateCountsNothing(t *testing.T) {
	var b bucket
	require.NoError(t, b.take(t.Context(), 1e9))
	require.Equal(t, bucket{}, b)
}

// TestLatencyAtTheBoundKeepsTheLimit: three times the base, and 2 ms.
func TestLatencyAtTheBoundKeepsTheLimit(t *testing.T) {
	now := time.Unix(1000, 0)
	for took, want := range map[time.Duration]float64{5 * time.Millisecond: 50, 5*time.Millisecond + 1000: 35} {
		l := limiter{
			limit: 50, most: 50, threshold: 50, latency: float64(took), least: [2]float64{float64(time.Millisecond), 0},
			epoch: now.Add(-time.Second), samples: minSamples,
		}
		l.succeed(now.Add(-took), now, false)
		require.InDelta(t, want, l.limit, 1e-9, "%v", took)
	}
}

// TestRowOfACallThatFailedIsNotSentLater: it waited for the rows behind it, whose rate the call did not await.
func TestRowOfACallThatFailedIsNotSentLater(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{RowsPerSecond: 10})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, w.Write(ctx, items(1, 5)), context.DeadlineExceeded)
		require.NoError(t, w.Write(t.Context(), items(0, 1)))
		require.NoError(t, w.Close(t.Context()))
		require.EqualValues(t, 1, w.Stats().Rows)
		s.requireItems(t, 1)
	})
}

// TestEndOfAContextRejectsNoRow: a row that could not be encoded in time has not failed for good.
func TestEndOfAContextRejectsNoRow(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{MaxRejected: 5})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		rows := &failingRows{at: 0, err: context.Canceled}
		require.Equal(t, context.Canceled, w.accept(ctx, &job{rows: rows, source: "items"}, 1))
		require.NoError(t, w.Close(t.Context()))
		require.Zero(t, w.Stats().Rejected)
	})
}

// TestRejectedRowEndsTheCall if no row may be rejected, also the last one of a batch.
func TestRejectedRowEndsTheCall(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{})
		require.NoError(t, err)
		b := items(0, 1)
		b.Columns[2] = column.Of("price", []int64{1 << 40}) // an int
		var failed *RejectedError
		require.ErrorAs(t, w.Write(t.Context(), b), &failed)
		require.ErrorAs(t, w.Close(t.Context()), &failed)
	})
}

func TestNumbersBesideAnIntervalAreNotCounted(t *testing.T) {
	s := intervals{{0, 2}, {5, 7}}
	for _, c := range []struct{ i, j, want int64 }{{2, 5, 0}, {7, 9, 0}, {0, 9, 4}, {1, 6, 2}, {3, 3, 0}} {
		require.Equal(t, c.want, s.count(c.i, c.j), "%+v", c)
	}
}
