// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// Fault 52: the bind markers of a prepared statement change.

// cqlCluster returns a cluster of cqltest with the keyspace ks, after the statements.
func cqlCluster(t *testing.T, cfg cqltest.Config, statements ...string) *cqltest.Cluster {
	t.Helper()
	c := cqltest.New(t, cfg)
	require.NoError(t, c.Exec("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"))
	for _, s := range statements {
		require.NoError(t, c.Exec(s))
	}
	return c
}

// cqlSession returns a session on c.
func cqlSession(t *testing.T, c *cqltest.Cluster, change ...func(*vecql.ClusterConfig)) *vecql.Session {
	t.Helper()
	cfg := vecql.NewCluster(c.Hosts()...)
	cfg.Logger, cfg.NumConns = slog.New(slog.DiscardHandler), 1
	for _, f := range change {
		f(cfg)
	}
	return openSession(t, cfg)
}

const insertV = "INSERT INTO ks.t (id, v) VALUES (?, ?)"

// recreate creates the table again. The other type of column v has the same size.
func recreate(t *testing.T, c *cqltest.Cluster) {
	t.Helper()
	require.NoError(t, c.Exec("DROP TABLE ks.t"))
	require.NoError(t, c.Exec("CREATE TABLE ks.t (id int PRIMARY KEY, v float)"))
}

// eventually calls f until it returns nil.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	var err error
	if !assert.Eventually(t, func() bool { err = f(); return err == nil }, 20*time.Second, time.Millisecond) {
		t.Fatal(err)
	}
}

// TestFault52NodeForgets: the table is created again without an event, and its node has forgotten the statement. The
// bytes of an int must not be stored as a float.
func TestFault52NodeForgets(t *testing.T) {
	for name, insert := range map[string]func(s *vecql.Session, id int, v any) error{
		"query": func(s *vecql.Session, id int, v any) error { return s.Query(insertV, id, v).Exec() },
		"iter":  func(s *vecql.Session, id int, v any) error { return s.Query(insertV, id, v).Iter().Close() },
		"batch": func(s *vecql.Session, id int, v any) error {
			return s.Batch(vecql.LoggedBatch).Query(insertV, id, v).Exec()
		},
		"speculate": func(s *vecql.Session, id int, v any) error {
			speculation := &vecql.SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: time.Hour}
			return s.Query(insertV, id, v).Idempotent(true).SpeculativeExecutionPolicy(speculation).Exec()
		},
	} {
		for _, protocol := range []int{4, 5} {
			t.Run(name, func(t *testing.T) {
				c := cqlCluster(t, cqltest.Config{Nodes: 1, Protocol: protocol}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
				s := cqlSession(t, c)
				require.NoError(t, insert(s, 1, int32(7)))
				c.MuteEvents(true)
				recreate(t, c)
				err := insert(s, 2, int32(7))
				var marshal *vecql.MarshalError
				require.ErrorAs(t, err, &marshal)
				require.Equal(t, "v", marshal.Column)
				require.False(t, vecql.MayHaveApplied(err))
				require.NoError(t, insert(s, 3, float32(1.5)))
				rows, err := s.Query("SELECT id, v FROM ks.t").Iter().SliceMap()
				require.NoError(t, err)
				require.Equal(t, []map[string]any{{"id": 3, "v": float32(1.5)}}, rows)
			})
		}
	}
}

// both has values of both types of column v.
type both struct {
	ID int `cql:"id"`
	V  any `cql:"v"`
}

// TestFault52TransparentlyBoundAgain: the new type takes the same Go values in other bytes. The request must be encoded
// again by itself, and executed once.
func TestFault52TransparentlyBoundAgain(t *testing.T) {
	c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
	s := cqlSession(t, c)
	st, err := vecql.Prepare[both](t.Context(), s.Query(insertV))
	require.NoError(t, err)
	inserts := []func(id int) error{
		func(id int) error { return s.Query(insertV, id, 7).Exec() },
		func(id int) error {
			return s.Batch(vecql.UnloggedBatch).Query(insertV, id, 7).Query(insertV, id, 7).Exec()
		},
		func(id int) error { return st.Exec(t.Context(), &both{id, 7}) },
		func(id int) error {
			return s.Query(insertV, vecql.NamedValue("id", id), vecql.NamedValue("v", 7)).Exec()
		},
	}
	for i, insert := range inserts {
		require.NoError(t, insert(i))
	}
	c.MuteEvents(true)
	types := []string{"bigint", "smallint", "varint", "tinyint"}
	for i, insert := range inserts {
		require.NoError(t, c.Exec("DROP TABLE ks.t"))
		require.NoError(t, c.Exec("CREATE TABLE ks.t (id int PRIMARY KEY, v "+types[i]+")"))
		require.NoError(t, insert(i))
		var v int
		require.NoError(t, s.Query("SELECT v FROM ks.t WHERE id = ?", i).Scan(&v))
		require.Equal(t, 7, v)
	}
}

// TestFault52PreparedByAnother: the table is created again, and another client has prepared the same statement, so that
// the node accepts the old id with the values of the old type.
func TestFault52PreparedByAnother(t *testing.T) {
	for name, muted := range map[string]bool{"events": false, "schema version": true} {
		t.Run(name, func(t *testing.T) {
			c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)",
				"CREATE TABLE ks.other (id int PRIMARY KEY)")
			s := cqlSession(t, c, func(cfg *vecql.ClusterConfig) { cfg.ReconnectInterval = 20 * time.Millisecond })
			const other = "INSERT INTO ks.other (id) VALUES (?)"
			require.NoError(t, s.Query(insertV, 1, 7).Exec())
			require.NoError(t, s.Query(other, 1).Exec())
			before := s.Stats().PreparedMisses
			c.MuteEvents(muted)
			recreate(t, c)
			another := cqlSession(t, c)
			require.NoError(t, another.Query(insertV, 2, float32(1.5)).Exec())
			eventually(t, func() error { return s.Query(insertV, 3, float32(2.5)).Exec() })
			require.Error(t, s.Query(insertV, 4, 7).Exec())
			require.NoError(t, s.Query(other, 2).Exec())
			if !muted {
				require.EqualValues(t, before+1, s.Stats().PreparedMisses, "statements of other tables stay prepared")
			}
		})
	}
}

// TestFault52OwnChange: the session itself creates the table again. Its next request must have the new types.
func TestFault52OwnChange(t *testing.T) {
	c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
	s := cqlSession(t, c, func(cfg *vecql.ClusterConfig) { cfg.Events.DisableSchemaEvents = true })
	require.NoError(t, s.Query(insertV, 1, 7).Exec())
	require.NoError(t, s.Query("DROP TABLE ks.t").Exec())
	require.NoError(t, s.Query("CREATE TABLE ks.t (id int PRIMARY KEY, v float)").Exec())
	require.NoError(t, s.Query(insertV, 1, float32(1.5)).Exec())
}

// withCity has a field that the type of the table lacks at first.
type withCity struct {
	Street string `cql:"street"`
	City   string `cql:"city"`
}

// TestFault52FieldAdded: a user-defined type gains a field. A running program that binds the field must store it.
func TestFault52FieldAdded(t *testing.T) {
	for _, protocol := range []int{4, 5} {
		c := cqlCluster(t, cqltest.Config{Nodes: 1, Protocol: protocol},
			"CREATE TYPE ks.a (street text)", "CREATE TABLE ks.t (id int PRIMARY KEY, v map<text, frozen<a>>)")
		s := cqlSession(t, c)
		require.NoError(t, s.Query(insertV, 1, map[string]map[string]string{"home": {"street": "High St"}}).Exec())
		value := map[string]withCity{"home": {"Main St", "Ghent"}}
		require.ErrorIs(t, s.Query(insertV, 2, value).Exec(), vecql.ErrConversion)
		require.NoError(t, c.Exec("ALTER TYPE ks.a ADD city text"))
		eventually(t, func() error { return s.Query(insertV, 2, value).Exec() })
		for id, want := range []map[string]withCity{1: {"home": {"High St", ""}}, 2: value} {
			if want != nil {
				var got map[string]withCity
				require.NoError(t, s.Query("SELECT v FROM ks.t WHERE id = ?", id).Scan(&got))
				require.Equal(t, want, got)
			}
		}
	}
}

// TestFault52EncodedRows: rows are encoded before the table is created again, and sent afterwards. They must not be
// stored, and another attempt has the new types.
func TestFault52EncodedRows(t *testing.T) {
	c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
	s := cqlSession(t, c)
	st, err := vecql.Prepare[both](t.Context(), s.Query(insertV))
	require.NoError(t, err)
	c.MuteEvents(true)
	for n := range 2 { // an EXECUTE, a BATCH
		var rows, more vecql.EncodedRows
		require.NoError(t, st.Encode(t.Context(), &rows, &both{1, 7}))
		if n > 0 {
			require.NoError(t, st.Encode(t.Context(), &more, &both{2, 7}))
			require.True(t, rows.Join(&more))
		}
		require.NoError(t, c.Exec("DROP TABLE ks.t"))
		require.NoError(t, c.Exec("CREATE TABLE ks.t (id int PRIMARY KEY, v "+[]string{"bigint", "varint"}[n]+")"))
		err = rows.ExecOn(context.Background(), vecql.UUID{})
		require.ErrorIs(t, err, vecql.ErrStatementChanged)
		require.False(t, vecql.MayHaveApplied(err))
		require.NoError(t, st.Encode(t.Context(), &rows, &both{1, 7}))
		require.NoError(t, rows.ExecOn(t.Context(), vecql.UUID{}))
	}
}
