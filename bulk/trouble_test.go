// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/stats"
)

// Clusters in trouble: nothing is lost, nothing that is not idempotent happens twice, and throughput comes back.

// pour writes items without end until stop is closed, and returns the number of rows.
func pour(t *testing.T, w *Writer, stop <-chan struct{}) (rows int) {
	for {
		select {
		case <-stop:
			return rows
		default:
		}
		if err := w.Write(t.Context(), items(rows, 50)); err != nil {
			t.Error(err)
			return rows
		}
		rows += 50
	}
}

// TestOverload has a cluster that is in trouble for 30 seconds. Throughput is back within 10 seconds.
func TestOverload(t *testing.T) {
	for name, fault := range map[string]cqltest.Fault{
		"OVERLOADED":  {Error: &cqltest.Error{Code: cqltest.CodeOverloaded}},
		"UNAVAILABLE": {Error: &cqltest.Error{Code: cqltest.CodeUnavailable}},
		"timeouts":    {Error: &cqltest.Error{Code: cqltest.CodeWriteTimeout}, Delay: 500 * time.Millisecond},
		"slow":        {Delay: 900 * time.Millisecond},
		"silent":      {Drop: true},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, 2, func(t *testing.T, s *shop) {
				const most = 8
				calm := cqltest.Fault{Op: cqltest.OpExecute, Delay: 100 * time.Millisecond}
				s.cluster.Inject(calm)
				w, err := Insert(t.Context(), s.Session, "shop.items", Options{MaxInFlight: most, BatchPartitions: 1, AllowMissing: true})
				require.NoError(t, err)
				stop, written := make(chan struct{}), make(chan int)
				go func() { written <- pour(t, w, stop) }()
				rate := func(d time.Duration) float64 {
					before := w.Stats().Rows
					time.Sleep(d)
					return float64(w.Stats().Rows-before) / d.Seconds()
				}
				time.Sleep(5 * time.Second)
				before := rate(5 * time.Second)
				s.cluster.ClearFaults()
				fault.Op = cqltest.OpExecute
				s.cluster.Inject(fault)
				time.Sleep(time.Second)
				require.Less(t, rate(29*time.Second), before/2)
				s.cluster.ClearFaults()
				s.cluster.Inject(calm)
				time.Sleep(10 * time.Second)
				require.Greater(t, rate(5*time.Second), .9*before)
				close(stop)
				rows := <-written
				require.NoError(t, w.Close(t.Context()))
				st := w.Stats()
				require.EqualValues(t, rows, st.Rows)
				require.LessOrEqual(t, st.PeakInFlight, most)
				require.Zero(t, st.Rejected)
				s.cluster.ClearFaults()
				s.requireItems(t, rows)
			}, func(cfg *vecql.ClusterConfig) { cfg.Timeout = time.Second })
		})
	}
}

// TestSlowReplica has one node that is 20 times slower than the others, which have all of its rows.
func TestSlowReplica(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Node: s.cluster.Node(1), Delay: 2 * time.Second})
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Delay: 100 * time.Millisecond})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchPartitions: 1, MaxInFlight: 8})
		require.NoError(t, err)
		stop, written := make(chan struct{}), make(chan int)
		go func() { written <- pour(t, w, stop) }()
		time.Sleep(15 * time.Second)
		before := w.Stats().Rows
		time.Sleep(15 * time.Second)
		require.Greater(t, w.Stats().Rows-before, uint64(68*15), "80 rows per second without the slow node")
		close(stop)
		<-written
		require.NoError(t, w.Close(t.Context()))
	})
}

// TestLostNode kills a node, with rows in flight, and restarts it.
func TestLostNode(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Delay: 10 * time.Millisecond})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchPartitions: 1, MaxInFlight: 16})
		require.NoError(t, err)
		stop, written := make(chan struct{}), make(chan int)
		go func() { written <- pour(t, w, stop) }()
		for range 2 {
			time.Sleep(300 * time.Millisecond)
			s.cluster.Node(2).Kill()
			time.Sleep(300 * time.Millisecond)
			require.NoError(t, s.cluster.Node(2).Restart())
		}
		close(stop)
		rows := <-written
		require.NoError(t, w.Close(t.Context()))
		s.cluster.ClearFaults()
		s.requireItems(t, rows)
	}, shortTimeout)
}

// TestNotIdempotent appends one element to each of many lists, in trouble: none gets two, and each row is acknowledged
// or rejected.
func TestNotIdempotent(t *testing.T) {
	const rows = 1000
	inShop(t, 2, func(t *testing.T, s *shop) {
		s.trouble(40)
		unknown := map[int64]bool{}
		w, err := New(t.Context(), s.Session, "UPDATE shop.logs SET l = l + :l WHERE id = :id", Options{
			MaxInFlight: 50, MaxRejected: rows,
			Rejected: func(r Rejection) error {
				id := r.Batch.Column("id").Value(0).(int64)
				if r.Index != id || r.Source != "" || !vecql.MayHaveApplied(r.Err) {
					return fmt.Errorf("row %d of %q: %w", r.Index, r.Source, r.Err)
				}
				unknown[id] = true
				return nil
			},
		})
		require.NoError(t, err)
		ids, offsets := make([]int64, rows), make([]int32, rows+1)
		for i := range ids {
			ids[i], offsets[i+1] = int64(i), int32(i+1)
		}
		b := column.NewBatch(column.Of("id", ids), column.Lists("l", offsets, column.Of("", ids)))
		require.NoError(t, w.Write(t.Context(), b.Slice(0, rows/2)))
		require.NoError(t, w.Write(t.Context(), b.Slice(rows/2, rows)))
		require.NoError(t, w.Close(t.Context()))
		s.cluster.ClearFaults()
		st := w.Stats()
		require.EqualValues(t, rows, st.Rows+st.Rejected)
		require.Positive(t, st.Retries, "rows that were not executed are sent again")
		require.Len(t, unknown, int(st.Rejected))
		require.NotEmpty(t, unknown)
		found := 0
		var id int64
		var l []int64
		it := s.Query("SELECT id, l FROM shop.logs").Iter(t.Context())
		for it.Scan(&id, &l) {
			require.Len(t, l, 1, "row %d was written twice", id)
			if !unknown[id] {
				found++
			}
		}
		require.NoError(t, it.Close())
		require.EqualValues(t, st.Rows, found)
	}, shortTimeout)
}

// TestRejected rejects rows without a key, within bounds and beyond.
func TestRejected(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		withFaults := func() *column.Batch {
			b := items(0, 1000)
			null := make([]bool, 1000)
			null[16], null[499] = true, true
			b.Columns[0] = b.Columns[0].WithNulls(null)
			return b
		}
		var seen []Rejection
		sink := func(r Rejection) error { seen = append(seen, r); return nil }
		for _, o := range []Options{{BatchPartitions: 1, MaxRejected: 2, Rejected: sink}, {MaxRejectedPercent: .2, Rejected: sink}} {
			seen = nil
			w, err := Insert(t.Context(), s.Session, "shop.items", o)
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), withFaults()))
			require.NoError(t, w.Close(t.Context()))
			require.Len(t, seen, 2)
			st := w.Stats()
			require.Equal(t, [2]uint64{998, 2}, [2]uint64{st.Rows, st.Rejected})
			require.EqualValues(t, 1000, w.Checkpoint().Sources["items"].Watermark())
			for _, r := range seen {
				require.Equal(t, "items", r.Source)
				require.Contains(t, []int64{16, 499}, r.Index)
				require.Equal(t, fmt.Sprint("item ", r.Index), r.Batch.Column("name").Value(0))
				require.Equal(t, stats.ClassInvalid, vecql.ErrorClassOf(r.Err))
			}
		}
		seen = nil
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchPartitions: 1, MaxRejected: 1, Rejected: sink})
		require.NoError(t, err)
		_ = w.Write(t.Context(), withFaults())
		err = w.Flush(t.Context())
		var failed *RejectedError
		require.ErrorAs(t, err, &failed)
		require.EqualValues(t, 2, failed.Rows)
		require.Len(t, seen, 1)
		require.NotEqual(t, seen[0].Index, failed.Last.Index)
		require.Equal(t, err, w.Write(t.Context(), items(0, 1)))
		require.Equal(t, err, w.Close(t.Context()))
		require.Less(t, w.Checkpoint().Sources["items"].Watermark(), int64(501), "the last row is not done")

		full := errors.New("disk full")
		w, err = Insert(t.Context(), s.Session, "shop.items", Options{MaxRejected: 5, Rejected: func(Rejection) error { return full }})
		require.NoError(t, err)
		_ = w.Write(t.Context(), withFaults())
		require.ErrorIs(t, w.Close(t.Context()), full)
	})
}

// TestRetryFor gives up a row whose failures do not pass.
func TestRetryFor(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchPartitions: 1, RetryFor: 10 * time.Second})
		require.NoError(t, err)
		began := time.Now()
		require.NoError(t, w.Write(t.Context(), items(0, 1)))
		require.ErrorIs(t, w.Close(t.Context()), cql.CodeOverloaded)
		require.InDelta(t, 11, time.Since(began).Seconds(), 1.5)
		require.Greater(t, w.Stats().Retries, uint64(8))
	})
}

// TestServerErrors gives up a row for which the server always has an error that need not pass, after some attempts.
func TestServerErrors(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		for _, code := range []int32{cqltest.CodeServer, cqltest.CodeWriteFailure} {
			failing := s.cluster.Inject(cqltest.Fault{
				Op: cqltest.OpExecute, Error: &cqltest.Error{Code: code},
				Match: func(r cqltest.Request) bool { id, ok := r.Value("id"); return ok && id.Text() == "7" },
			})
			var seen []Rejection
			w, err := Insert(t.Context(), s.Session, "shop.items", Options{
				BatchPartitions: 1, MaxRejected: 1,
				Rejected: func(r Rejection) error { seen = append(seen, r); return nil },
			})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), items(0, 20)))
			require.NoError(t, w.Close(t.Context()))
			require.Len(t, seen, 1)
			require.Equal(t, [2]int{7, maxServerAttempts}, [2]int{int(seen[0].Index), seen[0].Attempts})
			require.Equal(t, maxServerAttempts, failing.Hits())
			require.EqualValues(t, 19, w.Stats().Rows)
			failing.Remove()
		}
	})
}

// TestIsOfNode distinguishes failures that a node caused from the session's own limits.
func TestIsOfNode(t *testing.T) {
	for err, want := range map[error]bool{
		vecql.ErrTimeoutNoResponse: true, vecql.ErrConnectionClosed: true, vecql.ErrThrottled: false,
		&vecql.MemoryBudgetError{}: false,
	} {
		require.Equal(t, want, isOfNode(err), "%v", err)
	}
}

// TestRates bounds rows and bytes per second.
func TestRates(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		size := 0.
		for _, rate := range []func(o *Options){
			func(*Options) {}, func(o *Options) { o.RowsPerSecond = 100 }, func(o *Options) { o.BytesPerSecond = 100 * size },
		} {
			var o Options
			rate(&o)
			w, err := Insert(t.Context(), s.Session, "shop.items", o)
			require.NoError(t, err)
			began := time.Now()
			require.NoError(t, writeItems(t.Context(), w, 0, 300))
			require.NoError(t, w.Close(t.Context()))
			if size == 0 {
				size = float64(w.Stats().Bytes) / 300
				continue
			}
			require.InDelta(t, 3, time.Since(began).Seconds(), .2)
			require.InDelta(t, 100, w.Stats().RowsPerSecond, 7)
		}
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchPartitions: 1, RowsPerSecond: 1})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		require.ErrorIs(t, w.Write(ctx, items(0, 10)), context.DeadlineExceeded)
		require.NoError(t, w.Close(t.Context()))
	})
}

// TestMemoryBudget stays within half of the session's budget.
func TestMemoryBudget(t *testing.T) {
	const budget = 64 << 10
	inShop(t, 1, func(t *testing.T, s *shop) {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Delay: 10 * time.Millisecond})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{})
		require.NoError(t, err)
		require.EqualValues(t, budget/2, w.o.MaxBytes)
		require.NoError(t, writeItems(t.Context(), w, 0, 1500))
		require.NoError(t, w.Close(t.Context()))
		require.LessOrEqual(t, w.Stats().PeakBytes, int64(budget/2))
		require.LessOrEqual(t, s.Stats().Memory.Peak, int64(budget))
		s.cluster.ClearFaults()
		s.requireItems(t, 1500)
	}, func(cfg *vecql.ClusterConfig) { cfg.Limits.MemoryBudget = budget })
}

// TestClose ends calls that wait, and the requests in flight, when the context of Close ends.
func TestClose(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Delay: time.Hour})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchPartitions: 1, MaxInFlight: 5})
		require.NoError(t, err)
		var returned atomic.Int32
		for range 2 {
			go func() {
				if err := w.Write(context.Background(), items(0, 100)); errors.Is(err, ErrClosed) {
					returned.Add(1)
				}
			}()
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, w.Flush(ctx), context.DeadlineExceeded)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, w.Close(ctx), context.DeadlineExceeded)
		require.InDelta(t, time.Second, time.Since(began), float64(20*time.Millisecond), "requests look at their context at ticks")
		synctest.Wait()
		require.EqualValues(t, 2, returned.Load())
		require.Zero(t, w.Stats().Pending)
	}, func(cfg *vecql.ClusterConfig) { cfg.Timeout = time.Hour })
}

func TestSessionClosed(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, 10)))
		require.NoError(t, w.Flush(t.Context()))
		s.Close()
		err = w.Write(t.Context(), items(10, 10))
		require.ErrorIs(t, errors.Join(err, w.Close(t.Context())), vecql.ErrSessionClosed)
	})
}

// TestStoppedNotIdempotent closes a writer whose rows are not idempotent, with requests in flight. The next run writes
// the rows that were not sent, and has the others in doubt.
func TestStoppedNotIdempotent(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		const rows = 40
		o := Options{Counters: true, MaxInFlight: 4, Checkpoint: filepath.Join(t.TempDir(), "hits.json")}
		ids := make([]int64, rows)
		for i := range ids {
			ids[i] = int64(i)
		}
		b := column.NewBatch(column.Of("id", ids))
		open := func() *Writer {
			w, err := New(t.Context(), s.Session, "UPDATE shop.hits SET n = n + 1 WHERE id = :id", o)
			require.NoError(t, err)
			return w
		}
		w := open()
		calm := s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 10})
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Drop: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Error(t, w.Write(ctx, b))
		require.ErrorIs(t, w.Close(ctx), context.DeadlineExceeded)
		require.Equal(t, 10, calm.Hits())
		require.EqualValues(t, 10, w.Stats().Rows)
		s.cluster.ClearFaults()

		require.NoError(t, open().Close(t.Context())) // a run that does not come to the rows
		w = open()
		require.ErrorIs(t, w.Write(ctx, b), context.DeadlineExceeded)
		require.NoError(t, w.Close(t.Context()))

		o.MaxRejected = rows
		o.Rejected = func(r Rejection) error {
			if !errors.Is(r.Err, ErrInDoubt) {
				return r.Err
			}
			return nil
		}
		w = open()
		require.NoError(t, w.Write(t.Context(), b))
		require.NoError(t, w.Close(t.Context()))
		st := w.Stats()
		require.Equal(t, [3]uint64{10, 4, rows - 14}, [3]uint64{st.Skipped, st.Rejected, st.Rows})
		var total int64
		require.NoError(t, s.Query("SELECT sum(n) FROM shop.hits").Scan(t.Context(), &total))
		require.EqualValues(t, rows-4, total)
	})
}

// TestShards has a limit for each shard.
func TestShards(t *testing.T) {
	c := cqltest.New(t, cqltest.Config{Scylla: &cqltest.Scylla{Shards: 2}, Nodes: 2})
	require.NoError(t, c.Exec(fmt.Sprintf(shopSchema, 2)))
	cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
	cfg.Logger, cfg.Defaults.Consistency = slog.New(slog.DiscardHandler), cql.One
	session, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer session.Close()
	w, err := Insert(t.Context(), session, "shop.items", Options{})
	require.NoError(t, err)
	require.NoError(t, writeItems(t.Context(), w, 0, 500))
	require.NoError(t, w.Close(t.Context()))
	require.Len(t, w.Stats().Targets, 4)
	(&shop{session, c}).requireItems(t, 500)
}

// TestOverloadedShard has one overloaded shard on each of two nodes: its limit shrinks, the limits of the other
// shards do not.
func TestOverloadedShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory, Scylla: &cqltest.Scylla{Shards: 2}, Nodes: 2})
		require.NoError(t, c.Exec(fmt.Sprintf(shopSchema, 1)))
		cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
		cfg.Pool.Dialer, cfg.Logger, cfg.Defaults.Consistency = c.Dialer(), slog.New(slog.DiscardHandler), cql.One
		session, err := vecql.NewSession(t.Context(), *cfg)
		require.NoError(t, err)
		defer session.Close()
		require.NoError(t, session.Ready(t.Context()))
		time.Sleep(time.Minute) // until there is a connection to each shard
		c.ResetStats()
		overloaded := c.Inject(cqltest.Fault{
			Op: cqltest.OpExecute, Delay: 20 * time.Millisecond, Error: &cqltest.Error{Code: cqltest.CodeOverloaded},
			Match: func(r cqltest.Request) bool { return r.Shard == 1 },
		})
		c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Delay: 20 * time.Millisecond})
		w, err := Insert(t.Context(), session, "shop.items", Options{BatchPartitions: 1, MaxInFlight: 40})
		require.NoError(t, err)
		stop, written := make(chan struct{}), make(chan int)
		go func() { written <- pour(t, w, stop) }()
		time.Sleep(10 * time.Second)
		targets := w.Stats().Targets
		overloaded.Remove()
		close(stop)
		rows := <-written
		require.NoError(t, w.Close(t.Context()))
		require.EqualValues(t, rows, w.Stats().Rows)
		st := c.Stats()
		require.GreaterOrEqual(t, st.Routable, rows)
		require.Equal(t, [2]int{st.Routable, st.Routable}, [2]int{st.OnReplica, st.OnShard})
		require.Len(t, targets, 4)
		for _, target := range targets {
			if target.Shard == 1 {
				require.LessOrEqual(t, target.Limit, 2)
			} else {
				require.GreaterOrEqual(t, target.Limit, 4)
			}
		}
	})
}
