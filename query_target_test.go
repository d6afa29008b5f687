// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/pooled"
)

// TestTargets compares the targets of rows with the replicas that the cluster names, and sends rows to them.
func TestTargets(t *testing.T) {
	for name, cfg := range map[string]cqltest.Config{"Cassandra": {Nodes: 4}, "ScyllaDB": {Nodes: 4, Scylla: &cqltest.Scylla{Shards: 2}}} {
		t.Run(name, func(t *testing.T) {
			cluster := cqltest.New(t, cfg)
			require.NoError(t, cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2};
				CREATE TABLE shop.items (id bigint PRIMARY KEY, name text)`))
			config := vecql.NewCluster(cluster.Hosts()...)
			config.Logger, config.Consistency = slog.New(slog.DiscardHandler), vecql.One
			session, err := config.CreateSession()
			require.NoError(t, err)
			defer session.Close()
			b := column.NewBatch(column.Of("id", []int64{1, 2, 3, 4, 5, 6, 7, 8}), column.Strings("name", []string{"a", "b", "c", "d", "e", "f", "g", "h"}))
			query := session.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)")
			rows, err := query.PrepareRows(t.Context(), b.Schema())
			require.NoError(t, err)
			type item struct {
				ID   int64
				Name string
			}
			typed, err := vecql.Prepare[item](t.Context(), query)
			require.NoError(t, err)
			cluster.ResetStats()
			for i := range b.Rows {
				targets, size, err := rows.Targets(t.Context(), nil, b, i)
				require.NoError(t, err)
				require.Len(t, targets, 2)
				require.Equal(t, 4+8+4+1, size)
				v := item{ID: int64(i + 1), Name: string(rune('a' + i))}
				same, sameSize, err := typed.Targets(t.Context(), nil, &v)
				require.NoError(t, err)
				require.ElementsMatch(t, targets, same)
				require.Equal(t, size, sameSize)
				for _, target := range targets {
					require.NoError(t, rows.ExecRowOn(t.Context(), target.HostID, b, i))
					require.NoError(t, typed.ExecOn(t.Context(), target.HostID, &v))
				}
			}
			stats := cluster.Stats()
			require.Equal(t, 4*b.Rows, stats.OnReplica)
			require.Equal(t, stats.Routable, stats.OnReplica)
			require.ErrorIs(t, rows.ExecRowOn(t.Context(), vecql.UUID{1}, b, 0), vecql.ErrNoConnections)
			// Without the partition key there are no targets, and any node can execute the row.
			constant, err := session.Query("UPDATE shop.items SET name = ? WHERE id = 1").PrepareRows(t.Context(), b.Schema())
			require.NoError(t, err)
			targets, _, err := constant.Targets(t.Context(), nil, b, 0)
			require.NoError(t, err)
			require.Empty(t, targets)
			require.NoError(t, constant.ExecRowOn(t.Context(), vecql.UUID{}, b, 0))
			dst := make([]vecql.Target, 0, 4)
			if pooled.Poisoned { // pooled memory is not reused
				return
			}
			require.Zero(t, testing.AllocsPerRun(100, func() { dst, _, _ = rows.Targets(t.Context(), dst[:0], b, 1) }))
		})
	}
}
