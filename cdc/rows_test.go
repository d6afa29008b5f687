// SPDX-License-Identifier: Apache-2.0

package cdc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cdc"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// The rows of the log as values of a struct.

// logged has columns of the table and of the log, by all kinds of names.
type logged struct {
	key
	Operation cdc.Operation `cql:"cdc$operation"`
	Time      cql.UUID      `cql:"cdc$time"`
	V         *int
	S         cql.Null[int32]
	Elements  map[int]int `cql:"m"`
	Deleted   *bool       `cql:"cdc$deleted_m"`
	Cache     string      `cql:"-"`
}

type key struct {
	PK int64
	CK *int `cql:"ck"`
}

// TestRows compares the values with those that vecql.Rows reads from the log.
func TestRows(t *testing.T) {
	both(t, func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
		for i := range 30 {
			exec(t, session, "INSERT INTO t (pk, ck, s, v, m) VALUES (?, ?, ?, ?, ?)", i%3, i, i, i, map[int]int{i: 2})
			exec(t, session, "UPDATE t SET v = 5, m = m + {1: 1} WHERE pk = ? AND ck = ?", i%3, i)
			exec(t, session, "DELETE FROM t WHERE pk = ? AND ck > ?", i%3, i)
		}
		want, rows := map[cql.UUID][]logged{}, 0
		for row, err := range vecql.Rows[logged](t.Context(), session.Query(
			`SELECT pk, ck, s, v, m, "cdc$operation", "cdc$time", "cdc$deleted_m" FROM t_scylla_cdc_log`)) {
			require.NoError(t, err)
			want[row.Time] = append(want[row.Time], row)
			rows++
		}
		time.Sleep(time.Second)
		r, err := cdc.Open(t.Context(), session, "t", cdc.Config{Until: time.Now(), PageRows: 7})
		require.NoError(t, err)
		got := map[cql.UUID][]logged{}
		for row, err := range cdc.Rows[logged](t.Context(), r) {
			require.NoError(t, err)
			got[row.Time] = append(got[row.Time], row)
		}
		require.Len(t, want, 90)
		require.Equal(t, want, got)
		require.EqualValues(t, rows, r.Progress().Rows)
	})
}

// TestRowsAcknowledge leaves loops within changes and between them: the next loop, of the reader or of another one with
// its checkpoint, begins with the change at which the loop was left.
func TestRowsAcknowledge(t *testing.T) {
	both(t, func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
		const changes = 20
		for i := range changes {
			exec(t, session, "DELETE FROM t WHERE pk = 1 AND ck > ?", i) // two rows
		}
		time.Sleep(time.Second)
		cfg := cdc.Config{Until: time.Now(), PageRows: 7}
		r, err := cdc.Open(t.Context(), session, "t", cfg)
		require.NoError(t, err)
		var acknowledged []cql.UUID
		for leaveAt := 1; len(acknowledged) < changes; leaveAt = leaveAt%5 + 1 {
			var times []cql.UUID
			passed := 0
			for row, err := range cdc.Rows[logged](t.Context(), r) {
				require.NoError(t, err)
				require.EqualValues(t, 2*(len(acknowledged)+passed/2), r.Checkpoint().Rows)
				times = append(times, row.Time)
				if len(times) == leaveAt {
					break
				}
				passed++
			}
			for i := range passed / 2 {
				require.Equal(t, times[2*i], times[2*i+1])
				acknowledged = append(acknowledged, times[2*i])
			}
			if leaveAt%2 == 0 { // as another process
				c := r.Checkpoint()
				cfg.Checkpoint = &c
				r, err = cdc.Open(t.Context(), session, "t", cfg)
				require.NoError(t, err)
			}
		}
		require.Len(t, acknowledged, changes)
		for i, id := range acknowledged[1:] {
			require.Greater(t, id.Timestamp(), acknowledged[i].Timestamp())
		}
	})
}

// TestRowsNull: NULL is the zero value of a field that cannot hold it.
func TestRowsNull(t *testing.T) {
	on(t, 4, "{'enabled': true}", func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
		exec(t, session, "DELETE FROM t WHERE pk = 1")
		time.Sleep(time.Second)
		r, err := cdc.Open(t.Context(), session, "t", cdc.Config{Until: time.Now()})
		require.NoError(t, err)
		type row struct {
			PK, CK, V int
			Deleted   bool `cql:"cdc$deleted_v"`
		}
		for got, err := range cdc.Rows[row](t.Context(), r) {
			require.NoError(t, err)
			require.Equal(t, row{PK: 1}, got)
		}
		require.EqualValues(t, 1, r.Progress().Rows)
	})
}

// TestRowsRefuse has the errors of types. The reader can be used afterwards.
func TestRowsRefuse(t *testing.T) {
	on(t, 4, "{'enabled': true}", func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session) {
		exec(t, session, "INSERT INTO t (pk, ck, v) VALUES (1, 1, 1)")
		time.Sleep(time.Second)
		r, err := cdc.Open(t.Context(), session, "t", cdc.Config{Until: time.Now()})
		require.NoError(t, err)
		type misspelled struct {
			Value int `cql:"vv"`
		}
		type other struct{ V []string }
		requireRowsError[misspelled](t, r, `the log has no column "vv" for the field Value of cdc_test.misspelled`)
		requireRowsError[other](t, r, "cdc: read column v: ")
		requireRowsError[int](t, r, "int is no struct of columns")
		requireRowsError[struct{ *key }](t, r, "embedded pointer")
		rows := 0
		for _, err := range cdc.Rows[logged](t.Context(), r) {
			require.NoError(t, err)
			rows++
		}
		require.Equal(t, 1, rows)
	})
}

func requireRowsError[T any](t *testing.T, r *cdc.Reader, want string) {
	t.Helper()
	var all []error
	for _, err := range cdc.Rows[T](t.Context(), r) {
		all = append(all, err)
	}
	require.Len(t, all, 1)
	require.ErrorIs(t, all[0], cql.ErrConversion)
	require.ErrorContains(t, all[0], want)
}
