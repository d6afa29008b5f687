// SPDX-License-Identifier: Apache-2.0

package cdc_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cdc"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
)

// Readers on cqltest, in virtual time.

// on runs f with the table ks.t of a cluster with vnodes (no tablets) or tablets.
func on(t *testing.T, tablets int, options string, f func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cluster := cqltest.New(t, cqltest.Config{
			Network: cqltest.InMemory, VNodes: 2, Scylla: &cqltest.Scylla{Tablets: tablets},
		})
		require.NoError(t, cluster.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
			CREATE TABLE ks.t (pk int, ck int, s int static, v int, m map<int, int>, PRIMARY KEY (pk, ck)) WITH cdc = `+options))
		conf := vecql.ClusterConfig{Hosts: cluster.Hosts(), Keyspace: "ks"}
		conf.Pool.Dialer, conf.Logger = cluster.Dialer(), slog.New(slog.NewTextHandler(io.Discard, nil))
		session, err := vecql.NewSession(t.Context(), conf)
		require.NoError(t, err)
		defer session.Close()
		f(t, cluster, session)
	})
}

// both runs f on vnodes and on tablets.
func both(t *testing.T, f func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session)) {
	t.Helper()
	for name, tablets := range map[string]int{"vnodes": 0, "tablets": 4} {
		t.Run(name, func(t *testing.T) { on(t, tablets, "{'enabled': true}", f) })
	}
}

func exec(t *testing.T, session *vecql.Session, text string, values ...any) {
	t.Helper()
	require.NoError(t, session.Query(text, values...).Idempotent(true).Exec(t.Context()))
}

// read returns the rows of a reader that ends now, as texts "stream time seq operation pk ck v".
func read(t *testing.T, session *vecql.Session, cfg cdc.Config) []string {
	t.Helper()
	time.Sleep(time.Second) // after the last change
	cfg.Until = time.Now()
	r, err := cdc.Open(t.Context(), session, "t", cfg)
	require.NoError(t, err)
	var out []string
	for b, err := range r.Batches(t.Context()) {
		require.NoError(t, err)
		out = append(out, texts(b)...)
	}
	return out
}

// texts returns the rows of a batch.
func texts(b *column.Batch) []string {
	var out []string
	for i := range b.Rows {
		cell := func(name string) any { return b.Column(name).Value(i) }
		out = append(out, fmt.Sprintf("%x %v %v %v pk=%v ck=%v v=%v", cell("cdc$stream_id"), cell("cdc$time"),
			cell("cdc$batch_seq_no"), cdc.Operation(cell("cdc$operation").(int8)), cell("pk"), cell("ck"), cell("v")))
	}
	return out
}

func TestRun(t *testing.T) {
	both(t, func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
		exec(t, session, "INSERT INTO t (pk, ck, v) VALUES (1, 2, 3)")
		exec(t, session, "DELETE FROM t WHERE pk = 1 AND ck > 1")
		rows := read(t, session, cdc.Config{})
		require.Len(t, rows, 3)
		for i, want := range []string{"0 insert pk=1 ck=2 v=3", "0 delete from exclusive pk=1 ck=1 v=<nil>", "1 delete to inclusive pk=1 ck=<nil> v=<nil>"} {
			require.Equal(t, want, rows[i][len("0123456789abcdef0123456789abcdef 01234567-0123-0123-0123-0123456789ab "):])
		}
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
		defer cancel()
		r, err := cdc.Open(ctx, session, "ks.t", cdc.Config{From: time.Now()})
		require.NoError(t, err)
		time.AfterFunc(time.Minute, func() { exec(t, session, "UPDATE t SET v = 7 WHERE pk = 5 AND ck = 5") })
		time.AfterFunc(2*time.Minute, func() { cluster.NewGeneration(time.Minute) })
		time.AfterFunc(4*time.Minute, func() { exec(t, session, "UPDATE t SET v = 8 WHERE pk = 5 AND ck = 5") })
		var got []any
		for b, err := range r.Batches(ctx) {
			if err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				break
			}
			got = append(got, b.Column("v").Value(0))
			require.Less(t, time.Since(r.Progress().Read), time.Minute)
		}
		require.Len(t, got, 2)
		require.EqualValues(t, []any{int32(7), int32(8)}, got)
		require.EqualValues(t, 2, r.Progress().Rows)
		require.Positive(t, r.Progress().Streams)
	})
}
