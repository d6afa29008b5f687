// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
)

// The tables of estimates, on scripted nodes.

const (
	estimateColumns = "SELECT range_start, range_end, mean_partition_size, partitions_count FROM system."
	tableEstimates  = estimateColumns + "table_estimates WHERE keyspace_name = ? AND table_name = ? AND range_type = 'primary'"
	sizeEstimates   = estimateColumns + "size_estimates WHERE keyspace_name = ? AND table_name = ?"
	tabletSizes     = "SELECT last_token, replicas FROM system.tablet_sizes WHERE table_id = ?"
)

// estimateSession returns a session on two nodes that answer with rows, and refuse statements that contain lack.
func estimateSession(t *testing.T, rows map[string]fakecql.Rows, lack string) *vecql.Session {
	t.Helper()
	c := fakecql.NewOnSockets(t, fakecql.V5, 2)
	for stmt, r := range rows {
		bind := fakecql.Columns("keyspace_name text", "table_name text")
		if stmt == tabletSizes {
			bind = fakecql.Columns("table_id uuid")
		}
		c.Prepare(stmt, fakecql.Prepared{Bind: bind, Result: r.Columns})
	}
	c.On(func(r *fakecql.Request) bool {
		if lack != "" && strings.Contains(r.Stmt, lack) {
			r.Fail(int32(cql.CodeInvalid))
			return true
		}
		if r.Op == fakecql.OpExecute {
			r.Rows(rows[r.Stmt])
		}
		return r.Op == fakecql.OpExecute
	})
	cfg := &vecql.ClusterConfig{Hosts: []string{c.Nodes[0].IP}}
	cfg.Port, cfg.Logger = c.Port, slog.New(slog.DiscardHandler)
	session, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(session.Close)
	require.NoError(t, session.Ready(t.Context()))
	return session
}

func TestReadEstimates(t *testing.T) {
	columns := fakecql.Columns("range_start text", "range_end text", "mean_partition_size bigint", "partitions_count bigint")
	byTable, bySize := fakecql.Rows{Columns: columns}, fakecql.Rows{Columns: columns}
	byTable.Add("0", "100", int64(7), int64(3))
	byTable.Add("100", "200", int64(0), int64(3))
	byTable.Add("300", "400", int64(2), int64(4))
	bySize.Add("0", "100", int64(5), int64(2))
	rows := map[string]fakecql.Rows{tableEstimates: byTable, sizeEstimates: bySize}
	name := tableName{keyspace: "ks", table: "t"}
	for lack, want := range map[string][]estimate{
		"":                {{0, 100, 21}, {300, 400, 8}, {0, 100, 21}, {300, 400, 8}}, // of each node
		"table_estimates": {{0, 100, 10}, {0, 100, 10}},
		"_estimates":      nil,
	} {
		t.Run("without "+lack, func(t *testing.T) {
			require.Equal(t, want, readEstimates(t.Context(), estimateSession(t, rows, lack), name, false))
		})
	}
}

func TestReadTabletSizes(t *testing.T) {
	rows := fakecql.Rows{Columns: fakecql.Columns("last_token bigint", "replicas map<uuid, bigint>")}
	rows.Add(int64(-5), map[cql.UUID]int64{{1}: 70, {2}: 90, {3}: 20, {4}: 30, {5}: 40, {6}: 50})
	rows.Add(int64(10), map[cql.UUID]int64{})
	rows.Add(int64(math.MaxInt64), map[cql.UUID]int64{{1}: 1})
	falling := fakecql.Rows{Columns: rows.Columns}
	falling.Add(int64(10), map[cql.UUID]int64{{1}: 4})
	falling.Add(int64(10), map[cql.UUID]int64{{1}: 4})
	for _, c := range []struct {
		name, lack string
		rows       fakecql.Rows
		want       []estimate
	}{
		{"sizes", "", rows, []estimate{{math.MinInt64, -5, 90}, {-5, 10, 0}, {10, math.MaxInt64, 1}}},
		{"no table", "tablet_sizes", rows, nil},
		{"tokens that do not ascend", "", falling, []estimate{{math.MinInt64, 10, 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			session := estimateSession(t, map[string]fakecql.Rows{tabletSizes: c.rows}, c.lack)
			require.Equal(t, c.want, readEstimates(t.Context(), session, tableName{}, true))
		})
	}
	require.True(t, hasTablets([]vecql.TokenRange{{}, {Replicas: []vecql.Replica{{Shard: 0}}}}))
	require.False(t, hasTablets([]vecql.TokenRange{{}, {Replicas: []vecql.Replica{{Shard: -1}}}}))
}

// TestViewsAreScannedByTheirKeys scans a materialized view by the tokens of its own partition key.
func TestViewsAreScannedByTheirKeys(t *testing.T) {
	f := fakecql.NewSchema()
	f.Keyspace("ks", "SimpleStrategy", map[string]string{"replication_factor": "1"})
	f.Table("ks", "t", "a int partition_key", "b int")
	id := cql.UUID{7, 8, 9}
	f.Add("views", fakecql.Row{"keyspace_name": "ks", "view_name": "by_b", "base_table_name": "t", "id": [16]byte(id)})
	f.Columns("ks", "by_b", "b int partition_key", "a int clustering")
	c := fakecql.NewOnSockets(t, fakecql.V5, 1)
	const text = `SELECT "b", "a", token("b") FROM ks.by_b WHERE token("b") > ? AND token("b") <= ?`
	c.Prepare(text, fakecql.Prepared{Bind: fakecql.Columns("above bigint", "to bigint"), Result: fakecql.Columns("b int", "a int", "token bigint")})
	c.On(f.Answer)
	cfg := vecql.ClusterConfig{Hosts: []string{c.Nodes[0].IP}}
	cfg.Port, cfg.Logger = c.Port, slog.New(slog.DiscardHandler)
	session, err := vecql.NewSession(t.Context(), cfg)
	require.NoError(t, err)
	defer session.Close()
	src, err := parse("SELECT * FROM ks.by_b")
	require.NoError(t, err)
	s := &Scan{session: session}
	got, err := s.setText(t.Context(), src, "ks")
	require.NoError(t, err)
	require.Equal(t, id, got)
	require.Equal(t, text, s.text)
}
