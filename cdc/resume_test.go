// SPDX-License-Identifier: Apache-2.0

package cdc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cdc"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Failures, checkpoints and limits.

// open opens a reader of ks.t that ends now.
func open(t *testing.T, session *vecql.Session, cfg cdc.Config) *cdc.Reader {
	t.Helper()
	time.Sleep(time.Second)
	cfg.Until = time.Now()
	r, err := cdc.Open(t.Context(), session, "t", cfg)
	require.NoError(t, err)
	return r
}

// TestRunEnds: an error and a panic of the program end a run, and the next run passes the other changes.
func TestRunEnds(t *testing.T) {
	both(t, func(t *testing.T, _ *cqltest.Cluster, session *vecql.Session) {
		for i := range 200 {
			exec(t, session, "INSERT INTO t (pk, ck, v) VALUES (?, 1, ?)", i, i)
		}
		r := open(t, session, cdc.Config{Workers: 3, PageRows: 5})
		stop := errors.New("stop")
		left, end := 10, func() error { return stop } // this batch is left; of the others any may be read meanwhile
		var mu sync.Mutex
		seen := map[any]int{}
		consume := func(worker int, b *column.Batch) error {
			mu.Lock()
			defer mu.Unlock()
			require.Less(t, worker, 3)
			if left--; left == 0 {
				return end()
			}
			for i := range b.Rows {
				seen[b.Column("v").Value(i)]++
			}
			return nil
		}
		require.ErrorIs(t, r.Run(t.Context(), consume), stop)
		left, end = 1, func() error { panic("out of order") }
		require.ErrorContains(t, r.Run(t.Context(), consume), "panic: out of order")
		require.EqualValues(t, len(seen), r.Progress().Rows)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stop)
		require.ErrorIs(t, r.Run(ctx, consume), stop)
		require.NoError(t, r.Run(t.Context(), consume))
		require.Len(t, seen, 200)
		for v, n := range seen {
			require.Equal(t, 1, n, "%v", v)
		}
		require.Empty(t, r.Checkpoint().Positions)
		require.NoError(t, r.Run(t.Context(), nil), "all is read")
	})
}

// TestFailures: pages fail, and all nodes are down for a minute.
func TestFailures(t *testing.T) {
	both(t, func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
		for i := range 100 {
			exec(t, session, "INSERT INTO t (pk, ck, v) VALUES (?, 1, ?)", i%5, i)
		}
		want := read(t, session, cdc.Config{})
		require.Len(t, want, 100)
		cluster.Inject(cqltest.Fault{
			Op: cqltest.OpExecute, Statement: "_scylla_cdc_log", Skip: 5, Times: 7, Error: &cqltest.Error{Code: cqltest.CodeReadFailure},
		})
		r := open(t, session, cdc.Config{PageRows: 3, Retries: 40})
		var got []string
		for b, err := range r.Batches(t.Context()) {
			require.NoError(t, err)
			if got = append(got, texts(b)...); len(got) == 30 {
				for _, n := range cluster.Nodes() {
					n.Kill()
					time.AfterFunc(time.Minute, func() { _ = n.Restart() })
				}
			}
		}
		require.ElementsMatch(t, want, got)
		require.Positive(t, r.Progress().Failures)
	})
}

// TestLateChange: a change reaches the log after later ones, within the confidence.
func TestLateChange(t *testing.T) {
	both(t, func(t *testing.T, _ *cqltest.Cluster, session *vecql.Session) {
		late := func(v int, age time.Duration) {
			exec(t, session, fmt.Sprintf("INSERT INTO t (pk, ck, v) VALUES (1, 1, %d) USING TIMESTAMP %d", v,
				time.Now().Add(-age).UnixMicro()))
		}
		time.Sleep(time.Minute)
		time.AfterFunc(50*time.Second, func() { late(1, 0) })
		time.AfterFunc(55*time.Second, func() { late(2, 25*time.Second) })
		r, err := cdc.Open(t.Context(), session, "t", cdc.Config{From: time.Now(), Until: time.Now().Add(5 * time.Minute)})
		require.NoError(t, err)
		var got []any
		for b, err := range r.Batches(t.Context()) {
			require.NoError(t, err)
			for i := range b.Rows {
				got = append(got, b.Column("v").Value(i))
			}
		}
		require.Equal(t, []any{int32(2), int32(1)}, got)
	})
}

// TestWholeChanges: a change with preimages is larger than a page, and comes in one batch.
func TestWholeChanges(t *testing.T) {
	on(t, 4, "{'enabled': true, 'preimage': 'full', 'postimage': true}", func(t *testing.T, _ *cqltest.Cluster, session *vecql.Session) {
		var batch strings.Builder
		for i := range 20 {
			fmt.Fprintf(&batch, "UPDATE t SET v = %d WHERE pk = 1 AND ck = %d; ", i, i)
		}
		for range 2 {
			exec(t, session, "BEGIN UNLOGGED BATCH "+batch.String()+"APPLY BATCH")
		}
		var rows []int
		for b, err := range open(t, session, cdc.Config{PageRows: 3}).Batches(t.Context()) {
			require.NoError(t, err)
			rows = append(rows, b.Rows)
		}
		require.Equal(t, []int{40, 60}, rows, "changes and postimages, then preimages as well")
	})
}

// TestAlter: the table gets a column between the pages of a change.
func TestAlter(t *testing.T) {
	on(t, 1, "{'enabled': true}", func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
		exec(t, session, `BEGIN UNLOGGED BATCH INSERT INTO t (pk, ck, v) VALUES (1, 1, 1); INSERT INTO t (pk, ck, v) VALUES (1, 2, 2);
			INSERT INTO t (pk, ck, v) VALUES (1, 3, 3); APPLY BATCH`)
		requests := 0
		cluster.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "_scylla_cdc_log", Match: func(cqltest.Request) bool {
			if requests++; requests == 2 {
				require.NoError(t, cluster.Exec("ALTER TABLE ks.t ADD added text"))
			}
			return true
		}})
		var rows, columns []int
		for b, err := range open(t, session, cdc.Config{PageRows: 1}).Batches(t.Context()) {
			require.NoError(t, err)
			rows, columns = append(rows, b.Rows), append(columns, len(b.Columns))
		}
		require.Equal(t, []int{1, 2}, rows)
		require.Equal(t, columns[0]+2, columns[1], "the column, and cdc$deleted_added")
	})
}

// TestExpired: rows that may have expired unread are an error.
func TestExpired(t *testing.T) {
	on(t, 4, "{'enabled': true, 'ttl': 3600}", func(t *testing.T, _ *cqltest.Cluster, session *vecql.Session) {
		exec(t, session, "INSERT INTO t (pk, ck, v) VALUES (1, 1, 1)")
		r, err := cdc.Open(t.Context(), session, "t", cdc.Config{})
		require.NoError(t, err)
		c := r.Checkpoint()
		time.Sleep(2 * time.Hour)
		var expired *cdc.ExpiredError
		require.ErrorAs(t, r.Run(t.Context(), nil), &expired)
		require.Equal(t, "ks.t", expired.Table)
		_, err = cdc.Open(t.Context(), session, "t", cdc.Config{Checkpoint: &c})
		require.ErrorAs(t, err, &expired)
		_, err = cdc.Open(t.Context(), session, "t", cdc.Config{From: c.From})
		require.ErrorAs(t, err, &expired)
		exec(t, session, "INSERT INTO t (pk, ck, v) VALUES (1, 1, 2)")
		require.Len(t, read(t, session, cdc.Config{}), 1, "the rows that the log has")
		exec(t, session, "ALTER TABLE t WITH cdc = {'enabled': true, 'ttl': 0}")
		_, err = cdc.Open(t.Context(), session, "t", cdc.Config{Checkpoint: &c})
		require.NoError(t, err)
		c.From = c.From.Add(-time.Hour)
		r, err = cdc.Open(t.Context(), session, "t", cdc.Config{Checkpoint: &c})
		require.NoError(t, err)
		require.ErrorAs(t, r.Run(t.Context(), nil), &expired, "the streams of the time are not listed")
		require.Equal(t, c.From, expired.From)
	})
}

// TestOpenErrors opens readers of other tables, and with damaged checkpoints.
func TestOpenErrors(t *testing.T) {
	both(t, func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
		for name, want := range map[string]error{"none": vecql.ErrNoTable, "ks.plain": cdc.ErrDisabled, "a.b.c": nil, "": nil} {
			require.NoError(t, cluster.Exec("CREATE TABLE IF NOT EXISTS ks.plain (id int PRIMARY KEY)"))
			_, err := cdc.Open(t.Context(), session, name, cdc.Config{})
			require.Error(t, err)
			if want != nil {
				require.ErrorIs(t, err, want)
			}
		}
		for i := range 10 {
			exec(t, session, "INSERT INTO t (pk, ck) VALUES (1, ?)", i)
		}
		r := open(t, session, cdc.Config{PageRows: 1})
		for _, err := range r.Batches(t.Context()) {
			require.NoError(t, err)
			if r.Progress().Rows == 5 {
				break
			}
		}
		good := r.Checkpoint()
		require.Len(t, good.Positions, 1)
		for name, change := range map[string]func(c *cdc.Checkpoint){
			"table":     func(c *cdc.Checkpoint) { c.Table = "ks.plain" },
			"from":      func(c *cdc.Checkpoint) { c.From = time.Time{} },
			"to":        func(c *cdc.Checkpoint) { c.To = c.From },
			"no window": func(c *cdc.Checkpoint) { c.To = time.Time{} },
			"rows":      func(c *cdc.Checkpoint) { c.Rows = -1 },
			"done":      func(c *cdc.Checkpoint) { c.Done = []string{"xy"} },
			"stream":    func(c *cdc.Checkpoint) { c.Positions[0].Stream = "xy" },
			"time":      func(c *cdc.Checkpoint) { c.Positions[0].Time = cql.MinTimeUUID(c.From.Add(-time.Second)) },
			"seq":       func(c *cdc.Checkpoint) { c.Positions[0].Seq = -1 },
		} {
			c := good
			c.Positions = append([]cdc.Position(nil), good.Positions...)
			change(&c)
			_, err := cdc.Open(t.Context(), session, "t", cdc.Config{Checkpoint: &c})
			require.ErrorIs(t, err, cdc.ErrCheckpoint, name)
		}
		for name, change := range map[string]func(c *cdc.Checkpoint){
			"done":   func(c *cdc.Checkpoint) { c.Done = []string{"00"} },
			"stream": func(c *cdc.Checkpoint) { c.Positions[0].Stream = "00" },
		} {
			c := good
			c.Positions = append([]cdc.Position(nil), good.Positions...)
			change(&c)
			r, err := cdc.Open(t.Context(), session, "t", cdc.Config{Checkpoint: &c})
			require.NoError(t, err, name)
			require.ErrorIs(t, r.Run(t.Context(), nil), cdc.ErrCheckpoint, name)
		}
		require.NoError(t, cluster.Exec(`ALTER TABLE ks.t WITH cdc = {'enabled': false}; DROP TABLE ks.t_scylla_cdc_log;
			ALTER TABLE ks.t WITH cdc = {'enabled': true}`))
		_, err := cdc.Open(t.Context(), session, "t", cdc.Config{Checkpoint: &good})
		require.ErrorIs(t, err, cdc.ErrDropped)
		require.ErrorIs(t, r.Run(t.Context(), nil), cdc.ErrDropped)
	})
}

// TestRouting: the requests of tablets go to nodes that store the streams.
func TestRouting(t *testing.T) {
	on(t, 8, "{'enabled': true}", func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
		require.NoError(t, cluster.Exec(`CREATE KEYSPACE one WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
			CREATE TABLE one.t (id int PRIMARY KEY) WITH cdc = {'enabled': true}`))
		for i := range 50 {
			exec(t, session, "INSERT INTO one.t (id) VALUES (?)", i)
		}
		rows := func() (rows int) {
			time.Sleep(time.Second)
			r, err := cdc.Open(t.Context(), session, "one.t", cdc.Config{Until: time.Now()})
			require.NoError(t, err)
			for b, err := range r.Batches(t.Context()) {
				require.NoError(t, err)
				rows += b.Rows
			}
			return rows
		}
		require.Equal(t, 50, rows()) // the session learns the tablets
		before := cluster.Stats()
		require.Equal(t, 50, rows())
		after := cluster.Stats()
		require.Equal(t, after.Routable-before.Routable, after.OnReplica-before.OnReplica)
		require.GreaterOrEqual(t, after.Routable-before.Routable, 8)
	})
}

// TestOperation names all operations.
func TestOperation(t *testing.T) {
	require.Equal(t, "preimage", cdc.Preimage.String())
	require.Equal(t, "postimage", cdc.Postimage.String())
	require.Equal(t, "delete from exclusive", cdc.FromExclusive.String())
	require.Equal(t, "expire row", cdc.ExpireRow.String())
	require.Equal(t, "expire partition", cdc.ExpirePartition.String())
	require.Equal(t, "operation -1", cdc.Operation(-1).String())
	require.Equal(t, "operation 10", cdc.Operation(10).String())
}

// TestStaleStreams: a node does not list the streams that another node has listed.
func TestStaleStreams(t *testing.T) {
	both(t, func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
		time.Sleep(time.Minute)
		cluster.NewGeneration(0)
		time.Sleep(time.Second)
		exec(t, session, "INSERT INTO t (pk, ck, v) VALUES (1, 1, 1)")
		c := open(t, session, cdc.Config{From: time.Now()}).Checkpoint()
		r := open(t, session, cdc.Config{})
		require.NoError(t, r.Run(t.Context(), func(int, *column.Batch) error { return nil }))
		require.EqualValues(t, 1, r.Progress().Rows)
		c.Generation = r.Progress().Generation.Add(time.Hour)
		r = open(t, session, cdc.Config{Checkpoint: &c})
		var failed *cdc.ReadError
		require.ErrorAs(t, r.Run(t.Context(), nil), &failed)
		require.Equal(t, 11, failed.Failures)
	})
}
