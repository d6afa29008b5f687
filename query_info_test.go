// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// TestExecInfo: the node, the attempts and the warnings of an answer.
func TestExecInfo(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{Nodes: 2})
	require.NoError(t, cluster.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE ks.t (id int PRIMARY KEY)`))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	q := session.Query("INSERT INTO ks.t (id) VALUES (?)", 1).Idempotent(true)
	info, err := q.ExecInfo(t.Context())
	require.NoError(t, err)
	require.Contains(t, session.GetHosts(), info.Host)
	require.Positive(t, info.Latency)
	require.Equal(t, vecql.ExecInfo{Host: info.Host, Attempts: 1, Latency: info.Latency}, info)

	cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeServer}})
	rule := cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Warnings: []string{"tombstones"}}) // also UNPREPARED
	info, err = q.RetryPolicy(vecql.SimpleRetryPolicy{NumRetries: 1}).ExecInfo(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, info.Attempts)
	require.Equal(t, []string{"tombstones"}, info.Warnings)
	var warned []string
	rows := session.Query("SELECT id FROM ks.t WHERE id = ?", 1).OnWarnings(func(w []string) { warned = append(warned, w...) })
	ids, err := vecql.AllRows[int](t.Context(), rows)
	require.NoError(t, err)
	require.Equal(t, []int{1}, ids)
	require.Equal(t, []string{"tombstones"}, warned)
	rule.Remove()
	require.NoError(t, rows.Exec(t.Context()))
	require.Len(t, warned, 1, "no warnings, no call")

	cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
	info, err = q.ExecInfo(t.Context())
	require.ErrorIs(t, err, cql.CodeInvalid)
	require.Zero(t, info)
}
