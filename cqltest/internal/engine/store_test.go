// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Tests of the rules by which writes are reconciled.

// TestSupersedes compares cells as Cassandra's Cells.reconcile does. Each cell supersedes those after it.
func TestSupersedes(t *testing.T) {
	cells := []cell{
		{ts: 2},
		{ts: 1, deleted: true, expires: 9},
		{ts: 1, deleted: true, expires: 8},
		{ts: 1, expires: 9, ttl: 3},
		{ts: 1, expires: 9, ttl: 4, value: []byte("b")},
		{ts: 1, expires: 9, ttl: 4, value: []byte("a")},
		{ts: 1, expires: 8, ttl: 1},
		{ts: 1, value: []byte("b")},
		{ts: 1, value: []byte("a")},
	}
	for i := range cells {
		for j := range cells {
			require.Equal(t, i < j, cells[i].supersedes(&cells[j]), "%d and %d", i, j)
		}
	}
}

// TestLateWrites: writes arrive after writes with later timestamps.
func TestLateWrites(t *testing.T) {
	for name, m := range map[string]struct {
		writes []string
		want   string
	}{
		"a range that was deleted before with the same bounds": {
			[]string{
				"DELETE FROM t USING TIMESTAMP 20 WHERE p = 1 AND c > 1", "DELETE FROM t USING TIMESTAMP 10 WHERE p = 1 AND c > 1",
				"INSERT INTO t (p, c, v) VALUES (1, 2, 1) USING TIMESTAMP 15",
			},
			"",
		},
		"a row whose earlier insertion would expire": {
			[]string{
				"INSERT INTO t (p, c) VALUES (1, 2) USING TIMESTAMP 20", "INSERT INTO t (p, c) VALUES (1, 2) USING TIMESTAMP 10 AND TTL 5",
			},
			"2 | null",
		},
		"a partition that was deleted meanwhile": {
			[]string{
				"DELETE FROM t USING TIMESTAMP 20 WHERE p = 1", "DELETE FROM t USING TIMESTAMP 10 WHERE p = 1 AND c > 1",
				"INSERT INTO t (p, c, v) VALUES (1, 2, 1) USING TIMESTAMP 20", "INSERT INTO t (p, c, v) VALUES (1, 3, 1) USING TIMESTAMP 21",
			},
			"3 | 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, clock := newEngine(t)
			mustRun(t, e, "CREATE TABLE t (p int, c int, v int, PRIMARY KEY (p, c))")
			for _, w := range m.writes {
				mustRun(t, e, w)
			}
			clock.at = clock.at.Add(time.Minute)
			require.Equal(t, m.want, show(run(t, e, "SELECT c, v FROM t")))
		})
	}
}

// TestRowsAreImmutable: a reader keeps the elements of a row while later writes add others.
func TestRowsAreImmutable(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (k int PRIMARY KEY, s set<int>)")
	mustRun(t, e, "INSERT INTO t (k, s) VALUES (1, {1, 5, 9})")
	mustRun(t, e, "UPDATE t SET s = s + {7} WHERE k = 1") // now the slice has room
	table, err := e.schema.Load().table("ks", "ks", "t")
	require.NoError(t, err)
	old := table.store.find(int32Bytes(1)).row(table, nil)
	before := append([]element(nil), old.columns[0].elements...)
	mustRun(t, e, "UPDATE t SET s = s + {2} WHERE k = 1")
	require.Equal(t, before, old.columns[0].elements)
}

// TestRefusedCommit: a conditional statement whose commit fails writes nothing.
func TestRefusedCommit(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (k int PRIMARY KEY)")
	s, err := e.Prepare("ks", "INSERT INTO t (k) VALUES (1) IF NOT EXISTS")
	require.NoError(t, err)
	refused := errors.New("refused")
	_, err = e.Execute(t.Context(), s, &Request{Commit: func() error { return refused }})
	require.ErrorIs(t, err, refused)
	require.Empty(t, show(run(t, e, "SELECT k FROM t")))
}

// TestRefusedBatch: the rows of a batch that is not applied are in the order of their keys, each of them once.
func TestRefusedBatch(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (p int, c int, v int, w int, PRIMARY KEY (p, c))")
	mustRun(t, e, "INSERT INTO t (p, c, v, w) VALUES (1, 1, 1, 1)")
	mustRun(t, e, "INSERT INTO t (p, c, v, w) VALUES (1, 2, 2, 2)")
	require.Equal(t, "false | 1 | 1 | 1 | 1\nfalse | 1 | 2 | 2 | 2", show(run(t, e, `BEGIN BATCH
		UPDATE t SET v = 9 WHERE p = 1 AND c = 2 IF v = 9
		UPDATE t SET v = 9 WHERE p = 1 AND c = 1 IF v = 9
		UPDATE t SET w = 9 WHERE p = 1 AND c = 1 IF w = 9
		APPLY BATCH`)))
}

// TestRefusedRelations: relations that Cassandra refuses.
func TestRefusedRelations(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (p int, q int, a int, b int, c int, d duration, v int, PRIMARY KEY ((p, q), a, b, c))")
	for text, want := range map[string]string{
		"UPDATE t SET d = null WHERE p = 1 AND q = 1 AND a = 1 AND b = 1 AND c = 1 AND v IN (1)": "Non PRIMARY KEY columns found in where clause: v",
		"SELECT v FROM t WHERE p = 1 AND q = 1 AND (a, c) > (1, 1)":                              "Clustering columns must appear in the PRIMARY KEY order in multi-column relations",
		"SELECT v FROM t WHERE d > 1h ALLOW FILTERING":                                           "Slice restrictions are not supported on duration columns",
		"UPDATE t SET v = 1 WHERE p = 1 AND q = 1 AND a = 1 AND b = 1 AND c = 1 IF d > 1h":       "Slice conditions are not supported on durations",
		"UPDATE t SET v = 1 WHERE p = 1 AND q = 1 AND a = 1 AND b = 1 AND c = 1 IF d >= 1h":      "Slice conditions are not supported on durations",
	} {
		_, err := run(t, e, text)
		require.ErrorContains(t, err, want, text)
	}
}

// TestSums: sums of floats compensate for rounding, and are infinite if a value is.
func TestSums(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (p int, c int, v double, PRIMARY KEY (p, c))")
	for c := range 10 {
		mustRun(t, e, fmt.Sprintf("INSERT INTO t (p, c, v) VALUES (1, %d, 0.1)", c))
	}
	require.Equal(t, "1.0 | 0.1", show(run(t, e, "SELECT sum(v), avg(v) FROM t WHERE p = 1")))
	mustRun(t, e, "INSERT INTO t (p, c, v) VALUES (1, 0, Infinity)")
	require.Equal(t, "Infinity | Infinity", show(run(t, e, "SELECT sum(v), avg(v) FROM t WHERE p = 1")))
}

// TestKeysWithinTokens: a range of tokens restricts keys that are listed.
func TestKeysWithinTokens(t *testing.T) {
	e, _ := newEngine(t)
	mustRun(t, e, "CREATE TABLE t (k int PRIMARY KEY)")
	for k := range 3 {
		mustRun(t, e, fmt.Sprintf("INSERT INTO t (k) VALUES (%d)", k))
	}
	all := show(run(t, e, "SELECT k FROM t WHERE k IN (0, 1, 2) AND token(k) > -9223372036854775808"))
	require.Len(t, all, len("0\n1\n2"))
	require.Empty(t, show(run(t, e, "SELECT k FROM t WHERE k IN (0, 1, 2) AND token(k) > 9223372036854775806")))
}
