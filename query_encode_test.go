// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
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
			config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
			config.Logger, config.Defaults.Consistency = slog.New(slog.DiscardHandler), cql.One
			session, err := vecql.NewSession(t.Context(), *config)
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
			var encoded, same vecql.EncodedRows
			for i := range b.Rows {
				require.NoError(t, rows.Encode(t.Context(), &encoded, b, i))
				require.Equal(t, 4+8+4+1, encoded.Size())
				targets := encoded.Targets(nil)
				require.Len(t, targets, 2)
				v := item{ID: int64(i + 1), Name: string(rune('a' + i))}
				require.NoError(t, typed.Encode(t.Context(), &same, &v))
				require.ElementsMatch(t, targets, same.Targets(nil))
				require.Equal(t, encoded.Size(), same.Size())
				for _, target := range targets {
					require.NoError(t, rows.Encode(t.Context(), &encoded, b, i))
					require.NoError(t, encoded.ExecOn(t.Context(), target.HostID))
					require.Zero(t, encoded.Rows())
					require.ElementsMatch(t, targets, encoded.Targets(nil), "for another attempt")
					require.NoError(t, typed.Encode(t.Context(), &same, &v))
					require.NoError(t, same.ExecOn(t.Context(), target.HostID))
				}
			}
			stats := cluster.Stats()
			require.Equal(t, 4*b.Rows, stats.OnReplica)
			require.Equal(t, stats.Routable, stats.OnReplica)
			require.NoError(t, rows.Encode(t.Context(), &encoded, b, 0))
			require.ErrorIs(t, encoded.ExecOn(t.Context(), cql.UUID{1}), vecql.ErrNoConnections)
			// Without the partition key there are no targets, and any node can execute the row.
			constant, err := session.Query("UPDATE shop.items SET name = ? WHERE id = 1").PrepareRows(t.Context(), b.Schema())
			require.NoError(t, err)
			require.NoError(t, constant.Encode(t.Context(), &encoded, b, 0))
			require.Empty(t, encoded.Targets(nil))
			require.False(t, encoded.Join(&encoded))
			require.NoError(t, encoded.ExecOn(t.Context(), cql.UUID{}))
			dst := make([]vecql.Replica, 0, 4)
			if pooled.Poisoned { // pooled memory is not reused
				return
			}
			require.Zero(t, testing.AllocsPerRun(100, func() {
				_ = rows.Encode(t.Context(), &encoded, b, 1)
				dst = encoded.Targets(dst[:0])
			}))
			encoded.Reset()
		})
	}
}

// TestEncodedRows sends rows together, of one partition and of another, and reads them.
func TestEncodedRows(t *testing.T) {
	for name, cfg := range map[string]cqltest.Config{
		"v5": {}, "v4": {Protocol: 4}, "v3": {Protocol: 3}, "ScyllaDB": {Scylla: &cqltest.Scylla{TabletsV2: true, Tablets: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := cqltest.New(t, cfg)
			require.NoError(t, cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
				CREATE TABLE shop.logs (id bigint, n int, v text, PRIMARY KEY (id, n))`))
			config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
			config.Logger, config.Defaults.Consistency = slog.New(slog.DiscardHandler), cql.One
			session, err := vecql.NewSession(t.Context(), *config)
			require.NoError(t, err)
			defer session.Close()
			b := column.NewBatch(column.Of("id", []int64{7, 7, 7, 8}), column.Of("n", []int32{1, 2, 3, 4}),
				column.Strings("v", []string{"a", "", "c", "d"}).WithNulls([]bool{false, true, false, false}))
			rows, err := session.Query("INSERT INTO shop.logs (id, n, v) VALUES (?, ?, ?)").Idempotent(true).PrepareRows(t.Context(), b.Schema())
			require.NoError(t, err)
			other, err := session.Query("INSERT INTO shop.logs (id, n, v) VALUES (:id, :n, :v)").PrepareRows(t.Context(), b.Schema())
			require.NoError(t, err)
			var group, next vecql.EncodedRows
			require.Zero(t, group.Rows())
			require.Empty(t, group.Targets(nil))
			require.NoError(t, group.ExecOn(t.Context(), cql.UUID{}), "there is nothing to do")
			require.NoError(t, rows.Encode(t.Context(), &group, b, 0))
			require.Equal(t, []byte{0, 0, 0, 1}, group.Value(1))
			size := 0
			for i := 1; i < 4; i++ {
				size = group.Size()
				require.NoError(t, other.Encode(t.Context(), &next, b, i))
				require.False(t, group.Join(&next), "another statement")
				require.NoError(t, rows.Encode(t.Context(), &next, b, i))
				size += next.Size()
				require.True(t, group.Join(&next), "row %d", i)
			}
			require.Equal(t, 4, group.Rows())
			require.Equal(t, size, group.Size())
			require.Nil(t, group.Value(1), "there are several rows")
			batches := cluster.Observe(cqltest.Fault{Op: cqltest.OpBatch})
			require.NoError(t, group.ExecOn(t.Context(), group.Targets(nil)[0].HostID))
			require.Positive(t, batches.Hits())
			if cfg.Scylla == nil { // which sends tablets only in responses to EXECUTE
				require.Equal(t, cluster.Stats().Routable, cluster.Stats().OnReplica)
			}
			var got []string
			for b, err := range session.Query("SELECT id, n, v FROM shop.logs").Batches(t.Context()) {
				require.NoError(t, err)
				for i := range b.Rows {
					got = append(got, fmt.Sprintf("%v %v %v", b.Column("id").Value(i), b.Column("n").Value(i), b.Column("v").Value(i)))
				}
			}
			require.ElementsMatch(t, []string{"7 1 a", "7 2 <nil>", "7 3 c", "8 4 d"}, got)

			group.Reset()
			require.Zero(t, group.Rows())
			wrong := column.NewBatch(column.Of("id", []int64{1}).WithNulls([]bool{true}), column.Of("n", []int32{1}), column.Strings("v", []string{""}))
			require.NoError(t, rows.Encode(t.Context(), &group, wrong, 0))
			require.Empty(t, group.Targets(nil), "the key is NULL")
			require.ErrorIs(t, group.ExecOn(t.Context(), cql.UUID{}), cql.CodeInvalid)
			require.Error(t, rows.Encode(t.Context(), &group, wrong, 1), "no such row")
			require.Zero(t, group.Rows())
		})
	}
}
