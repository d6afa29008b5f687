// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Writers that stop, and what they return then.

// TestQueueIsBounded accepts as many rows for one node as are in flight, and as many more.
func TestQueueIsBounded(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		for range 2 {
			s.cluster.RemoveNode(s.cluster.Node(1))
		}
		time.Sleep(time.Minute)
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Delay: time.Minute})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchRows: 1})
		require.NoError(t, err)
		written := make(chan error)
		go func() { written <- w.Write(t.Context(), items(0, 100)) }()
		synctest.Wait()
		st := w.Stats()
		require.Equal(t, [2]int{2 * firstLimit, firstLimit}, [2]int{st.Pending, st.InFlight})
		require.NoError(t, <-written)
		require.NoError(t, w.Close(t.Context()))
	}, func(cfg *vecql.ClusterConfig) { cfg.Timeout = time.Hour })
}

// TestStoppedWriterSendsNoMore stops the writer at the first row of a call: the rows behind are not sent.
func TestStoppedWriterSendsNoMore(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		executed := s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchRows: 1, RowsPerSecond: 10})
		require.NoError(t, err)
		err = w.Write(t.Context(), items(0, 10))
		require.ErrorIs(t, err, cql.CodeInvalid)
		require.ErrorContains(t, err, "bulk: write row 0 of items, number 1 of the rows that failed for good: ")
		require.Equal(t, 1, executed.Hits())
		require.Equal(t, err, w.Flush(t.Context()))
		require.Equal(t, err, w.Close(t.Context()))
	})
}

// TestCallOfAFailedWriterReturnsItsError, also if the writer is closed before the next row of the call.
func TestCallOfAFailedWriterReturnsItsError(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchRows: 1, RowsPerSecond: 10})
		require.NoError(t, err)
		written := make(chan error)
		go func() { written <- w.Write(t.Context(), items(0, 10)) }()
		time.Sleep(150 * time.Millisecond) // row 0 has failed, and the call waits for the time of row 1
		err = w.Close(t.Context())
		require.ErrorIs(t, err, cql.CodeInvalid)
		require.Equal(t, err, <-written)
	})
}

// TestFailureWakesWrite stops the writer while a call waits for rows that are all delayed.
func TestFailureWakesWrite(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
		dir := filepath.Join(t.TempDir(), "dir")
		require.NoError(t, os.Mkdir(dir, 0o700))
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{
			BatchRows: 1, MaxInFlight: 1, Checkpoint: filepath.Join(dir, "checkpoint.json"), CheckpointEvery: time.Second,
		})
		require.NoError(t, err)
		time.Sleep(300 * time.Millisecond)
		written := make(chan error)
		go func() { written <- w.Write(t.Context(), items(0, 10)) }()
		synctest.Wait()
		require.NoError(t, os.RemoveAll(dir))
		for range 200 { // until no request is in flight and the writer stops
			w.ledger.mu.Lock()
			w.ledger.changed = true
			w.ledger.mu.Unlock()
			time.Sleep(10 * time.Millisecond)
		}
		require.ErrorIs(t, <-written, ErrCheckpoint)
		require.ErrorIs(t, w.Close(t.Context()), ErrCheckpoint)
	})
}

// TestRowsDueTogether sends all rows that are due at one time.
func TestRowsDueTogether(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 5, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchRows: 1})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, 5)))
		synctest.Wait()
		w.mu.Lock()
		require.Len(t, w.delayed, 5)
		due := time.Now().Add(time.Second)
		for i := range w.delayed {
			w.delayed[i].due = due
		}
		w.setRetry(time.Now())
		w.mu.Unlock()
		require.NoError(t, w.Flush(t.Context()))
		require.EqualValues(t, 5, w.Stats().Rows)
		require.NoError(t, w.Close(t.Context()))
		s.requireItems(t, 5)
	})
}

// TestClosedWriter refuses calls, also those without rows.
func TestClosedWriter(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, 0)))
		require.NoError(t, w.Close(t.Context()))
		require.ErrorIs(t, w.Write(t.Context(), items(0, 0)), ErrClosed)
		require.ErrorIs(t, Rows(t.Context(), w, []item{}), ErrClosed)
		require.ErrorIs(t, w.Close(t.Context()), ErrClosed)
	})
}

// TestCloseStoresTheCheckpoint returns the error of the last time that the file is written.
func TestCloseStoresTheCheckpoint(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		dir := filepath.Join(t.TempDir(), "dir")
		require.NoError(t, os.Mkdir(dir, 0o700))
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{Checkpoint: filepath.Join(dir, "checkpoint.json")})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, 10)))
		require.NoError(t, os.RemoveAll(dir))
		require.ErrorIs(t, w.Close(t.Context()), ErrCheckpoint)
	})
}

// TestUnchangedCheckpointIsNotWritten writes the file when rows were done or started, only then.
func TestUnchangedCheckpointIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint.json")
	l, err := openLedger(path, "job")
	require.NoError(t, err)
	written := func() bool {
		t.Helper()
		require.NoError(t, l.save())
		_, err := os.Stat(path)
		require.True(t, err == nil || os.IsNotExist(err))
		_ = os.Remove(path)
		return err == nil
	}
	sets := l.source("rows")
	require.NoError(t, os.Remove(path))
	require.False(t, written())
	l.done(sets, 0, 3)
	require.True(t, written())
	require.False(t, written())
	require.NoError(t, l.start(sets, 3, 5))
	require.FileExists(t, path, "rows that may be sent are stored before they are")
	require.NoError(t, os.Remove(path))
	require.False(t, written())
	l.settle()
	require.True(t, written(), "rows that were not sent are not in doubt")
}

// TestInvalidStartedRows refuses a checkpoint with impossible rows.
func TestInvalidStartedRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint.json")
	for _, text := range []string{
		`{"job": "job", "sources": {"rows": {"done": [[0, 2]], "started": [[5, 4]]}}}`,
		`{"job": "job", "sources": {"rows": {"done": [[2, 2]], "started": [[5, 6]]}}}`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := openLedger(path, "job")
		require.ErrorIs(t, err, ErrCheckpoint)
		require.EqualError(t, err, `bulk: checkpoint: read `+path+`: invalid intervals of source "rows"`)
	}
}

// TestRejectedStructs rejects structs, with and without a function for them.
func TestRejectedStructs(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		type event struct {
			ID    int64
			Price int64
		}
		values := []event{{1, 1}, {2, 1 << 40}, {3, 3}} // an int
		var seen []Rejection
		for _, sink := range []func(Rejection) error{func(r Rejection) error { seen = append(seen, r); return nil }, nil} {
			w, err := Insert(t.Context(), s.Session, "shop.items", Options{AllowMissing: true, MaxRejected: 1, Rejected: sink})
			require.NoError(t, err)
			require.NoError(t, Rows(t.Context(), w, values))
			require.NoError(t, w.Close(t.Context()))
			require.Equal(t, [2]uint64{2, 1}, [2]uint64{w.Stats().Rows, w.Stats().Rejected})
		}
		require.Len(t, seen, 1)
		require.Same(t, &values[1], seen[0].Value)
		require.Nil(t, seen[0].Batch)
		require.EqualValues(t, 1, seen[0].Index)
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{AllowMissing: true})
		require.NoError(t, err)
		err = Rows(t.Context(), w, values)
		require.ErrorContains(t, errors.Join(err, w.Close(t.Context())), "bulk: write row 1, number 1 of the rows that failed for good: ")
	})
}

// TestDefaults has the options of the zero value.
func TestDefaults(t *testing.T) {
	o, err := Options{}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, Options{
		MaxInFlight: 1024, BatchRows: 64, BatchPartitions: 10, MaxBytes: 64 << 20, RetryFor: 5 * time.Minute,
		CheckpointEvery: 5 * time.Second,
	}, o)
	o = Options{MaxInFlight: 1, BatchRows: 1, BatchPartitions: 1, MaxBytes: 1, RetryFor: 1, CheckpointEvery: 1}
	same, err := o.withDefaults()
	require.NoError(t, err)
	require.Equal(t, o, same)
}

// TestSplitTable splits names as CQL does.
func TestSplitTable(t *testing.T) {
	for name, want := range map[string][2]string{
		"t": {"", "t"}, "Ks.T": {"ks", "t"}, `"K s"."T"`: {"K s", "T"}, `"a.b"`: {"", "a.b"}, `"a.b".c`: {"a.b", "c"},
		`a."b.c"`: {"a", "b.c"}, `"a"".b".c`: {`a".b`, "c"},
	} {
		keyspace, table := splitTable(name)
		require.Equal(t, want, [2]string{keyspace, table}, name)
	}
}

// TestNumbersWithoutSource numbers rows without a source in the order of the calls, and keeps the numbers of others.
func TestNumbersWithoutSource(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{})
		require.NoError(t, err)
		plain := func(first, n int) *column.Batch {
			b := items(first, n)
			b.Source = column.Source{}
			return b
		}
		require.NoError(t, w.Write(t.Context(), plain(0, 5)))
		require.NoError(t, w.Write(t.Context(), items(5, 5)))
		require.NoError(t, w.Write(t.Context(), plain(10, 5)))
		at := plain(20, 5)
		at.Source.FirstRow = 40
		require.NoError(t, w.Write(t.Context(), at))
		require.NoError(t, w.Write(t.Context(), plain(25, 5)))
		require.NoError(t, w.Close(t.Context()))
		sources := w.Checkpoint().Sources
		require.Equal(t, [][2]int64{{5, 10}}, sources["items"].Done)
		require.Equal(t, [][2]int64{{0, 10}, {40, 50}}, sources[""].Done)
	})
}

// TestStoppedWriterDropsItsQueue stops the writer by a row that fails. The rows that wait behind it are not sent.
func TestStoppedWriterDropsItsQueue(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		executed := s.cluster.Inject(cqltest.Fault{
			Op: cqltest.OpExecute, Statement: "INSERT", Delay: time.Second, Error: &cqltest.Error{Code: cqltest.CodeInvalid},
		})
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchRows: 1, MaxInFlight: 1})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, 2)))
		require.ErrorIs(t, w.Close(t.Context()), cql.CodeInvalid)
		require.Equal(t, 1, executed.Hits())
	}, func(cfg *vecql.ClusterConfig) { cfg.Timeout = time.Hour })
}

// TestRefusedRowIsNotInDoubt stops the writer at a row that was certainly not executed: the next run sends it.
func TestRefusedRowIsNotInDoubt(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		o := Options{Counters: true, Checkpoint: filepath.Join(t.TempDir(), "hits.json")}
		b := column.NewBatch(column.Of("id", []int64{7}))
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
		for _, want := range []error{cql.CodeInvalid, nil} {
			w, err := New(t.Context(), s.Session, "UPDATE shop.hits SET n = n + 1 WHERE id = :id", o)
			require.NoError(t, err)
			err = w.Write(t.Context(), b)
			require.ErrorIs(t, errors.Join(err, w.Close(t.Context())), want)
		}
		var n int64
		require.NoError(t, s.Query("SELECT n FROM shop.hits WHERE id = 7").Scan(t.Context(), &n))
		require.EqualValues(t, 1, n)
	})
}

// TestRepeatable decides from the statement whether a row may be written twice.
func TestRepeatable(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		for stmt, want := range map[string]bool{
			"INSERT INTO shop.items (id, name) VALUES (:id, :name)":               true,
			"INSERT INTO shop.items (id, name) VALUES (:id, :name) IF NOT EXISTS": false,
			"UPDATE shop.items SET price = :price WHERE id = :id":                 true,
			"UPDATE shop.logs SET l = l + :l WHERE id = :id":                      false,
			"UPDATE shop.hits SET n = n + 1 WHERE id = :id":                       false,
			"DELETE FROM shop.hits WHERE id = :id":                                false,
			"DELETE FROM shop.items WHERE id = :id":                               true,
		} {
			for _, assumed := range []bool{false, true} {
				w, err := New(t.Context(), s.Session, stmt, Options{Counters: true, AssumeIdempotent: assumed})
				require.NoError(t, err)
				require.Equal(t, want || assumed, w.repeatable, stmt)
				require.NoError(t, w.Close(t.Context()))
			}
		}
	})
}

// TestMayReject counts rejected rows against both bounds. The percentage is of all finished rows, at least 1,000.
func TestMayReject(t *testing.T) {
	for _, c := range []struct {
		rows, rejected uint64
		most           int
		percent        float64
		want           bool
	}{
		{0, 0, 0, 0, false},
		{1e6, 0, 0, 0, false},
		{0, 0, 1, 0, true},
		{0, 1, 1, 0, false},
		{0, 9, 0, 1, true},
		{0, 10, 0, 1, false},
		{989, 10, 0, 1, false},
		{1089, 10, 0, 1, true},
		{1088, 10, 0, 1, false},
		{0, 11, 12, 1, true},
		{0, 0, 0, .1, true},
		{0, 0, 0, .09995, false},
		{0, 1e6, 0, 100, true},
	} {
		w := &Writer{o: Options{MaxRejected: c.most, MaxRejectedPercent: c.percent}}
		w.count.rows.Store(c.rows)
		w.count.rejected.Store(c.rejected)
		require.Equal(t, c.want, w.mayReject(), "%+v", c)
	}
}
