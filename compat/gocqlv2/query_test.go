// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/vecql/vecql/cqltest"
)

// The verbs of queries as a program calls them.

func TestPaging(t *testing.T) {
	cluster, s := open(t)
	for i := range 10 {
		require.NoError(t, s.Query("INSERT INTO rows (p, c, v) VALUES (1, ?, ?)", i, fmt.Sprint(i)).Exec())
	}
	const text = "SELECT c, v FROM rows WHERE p = 1"
	count := func(q *gocql.Query) (n int, it *gocql.Iter) {
		it = q.Iter()
		for scanner := it.Scanner(); scanner.Next(); n++ {
			var c int
			var v string
			require.NoError(t, scanner.Scan(&c, &v))
			require.Equal(t, n, c%10)
		}
		require.NoError(t, it.Close())
		return n, it
	}
	n, it := count(s.Query(text).PageSize(4))
	require.Equal(t, 10, n, "all pages")
	require.Empty(t, it.PageState())

	n, it = count(s.Query(text).PageSize(4).PageState(nil))
	require.Equal(t, 4, n, "one page, the first")
	rest := s.Query(text).PageSize(100).PageState(it.PageState()).Iter()
	require.Equal(t, 6, rest.NumRows())
	require.NoError(t, rest.Close())

	cluster.ResetStats()
	n, _ = count(s.Query(text).PageSize(0))
	require.Equal(t, 10, n)
	require.Equal(t, 1, cluster.Node(0).Requests(cqltest.OpExecute), "no paging")
}

func names(columns []gocql.ColumnInfo) (out []string) {
	for _, c := range columns {
		out = append(out, c.Name)
	}
	return out
}

func TestQueryGetters(t *testing.T) {
	_, s := open(t)
	q := s.Query("SELECT name FROM items", 1).Idempotent(true).SetHostID("x").Consistency(gocql.All)
	require.Equal(t, "SELECT name FROM items", q.Statement())
	require.Equal(t, []any{1}, q.Values())
	require.True(t, q.IsIdempotent())
	require.Equal(t, "x", q.GetHostID())
	require.Equal(t, gocql.All, q.GetConsistency())
	require.Equal(t, "shop", q.Keyspace())
	require.Equal(t, "other", q.SetKeyspace("other").Keyspace())
	_, set := q.GetSerialConsistency()
	require.False(t, set)
	require.PanicsWithValue(t, "serial consistency can only be SERIAL or LOCAL_SERIAL got ONE", func() {
		q.SerialConsistency(gocql.One)
	}, "the text of gocql, which its own tests compare")
	serial, set := q.SerialConsistency(gocql.LocalSerial).GetSerialConsistency()
	require.True(t, set)
	require.Equal(t, gocql.LocalSerial, serial)
	require.Contains(t, q.String(), "consistency=ALL")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.Equal(t, ctx, q.WithContext(ctx).Context())
	require.Equal(t, context.Background(), q.Context(), "WithContext copies")
}

func TestIterOfARequest(t *testing.T) {
	cluster, s := open(t)
	cluster.Inject(cqltest.Fault{
		Op: cqltest.OpExecute, Warnings: []string{"careful"},
		Payload: map[string][]byte{"k": {1}},
	})
	it := s.Query("SELECT id, name FROM items WHERE id = ?", 1).Iter()
	require.Equal(t, []string{"id", "name"}, names(it.Columns()))
	require.Equal(t, gocql.TypeInt, it.Columns()[0].TypeInfo.Type())
	require.Equal(t, []string{"careful"}, it.Warnings())
	require.Equal(t, map[string][]byte{"k": {1}}, it.GetCustomPayload())
	require.Equal(t, "shop", it.Keyspace())
	require.Equal(t, "items", it.Table())
	require.Equal(t, 1, it.Attempts())
	require.Positive(t, it.Latency())
	require.Same(t, s.GetHosts()[0], it.Host(), "one HostInfo for each node")
	require.False(t, it.WillSwitchPage())
	require.NoError(t, it.Close())
}
