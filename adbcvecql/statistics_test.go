// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
)

// Partitions are rows unless the table has clustering columns.
func TestStatisticsAreOfPartitions(t *testing.T) {
	sum := sizeSum{partitions: 40, bytes: 7000}
	rows := sum.rows(table{name: "a"})
	rows = append(rows, sum.rows(table{name: "b", clustering: []*cql.ColumnMetadata{{}}})...)
	reader, err := recordsOf(adbc.GetStatisticsSchema, []statisticsCatalogRow{{nil, []statisticsSchemaRow{{"shop", rows}}}})
	require.NoError(t, err)
	defer reader.Release()
	require.True(t, reader.Next())
	var text strings.Builder
	require.NoError(t, array.RecordToJSON(reader.RecordBatch(), &text))
	row := func(key, value, table string) string {
		return `{"column_name":null,"statistic_is_approximate":true,"statistic_key":` + key + `,"statistic_value":[2,` +
			value + `],"table_name":"` + table + `"}`
	}
	require.Contains(t, text.String(), `[`+row("1024", "40", "a")+","+row("1025", "175", "a")+","+row("6", "40", "a")+
		","+row("1024", "40", "b")+","+row("1025", "175", "b")+"]")
}

// TestEstimates requires the primary estimates of every node, weighted by their partitions, from the newer table of
// estimates if the server has it.
func TestEstimates(t *testing.T) {
	const where = " WHERE keyspace_name = ?"
	tables := map[string][]fakecql.Rows{}
	for text, columns := range map[string][]string{
		"SELECT table_name, mean_partition_size, partitions_count, range_type FROM system.table_estimates" + where: {"range_type text"},
		"SELECT table_name, mean_partition_size, partitions_count FROM system.size_estimates" + where:              {},
	} {
		columns = append([]string{"table_name text", "mean_partition_size bigint", "partitions_count bigint"}, columns...)
		rows := fakecql.Rows{Columns: fakecql.Columns(columns...)}
		first, second := rows, rows
		if len(columns) == 4 {
			first.Add("a", int64(10), int64(2), "primary")
			first.Add("a", int64(10), int64(50), "local_primary")
			first.Add("b", int64(7), int64(1), "primary")
			second.Add("a", int64(40), int64(1), "primary")
			second.Add("none", int64(0), int64(0), "primary")
		} else {
			first.Add("a", int64(1000), int64(1))
			second.Add("a", int64(2000), int64(2))
		}
		tables[text] = []fakecql.Rows{first, second}
	}
	ks := &cql.KeyspaceMetadata{Name: "shop", Tables: map[string]*cql.TableMetadata{
		"a": {Name: "a", ClusteringColumns: []*cql.ColumnMetadata{{}}}, "b": {Name: "b"}, "none": {Name: "none"},
	}}
	for lack, want := range map[string][]string{
		"":                {"a 1024 3", "a 1025 20", "b 1024 1", "b 1025 7", "b 6 1"},
		"table_estimates": {"a 1024 3", "a 1025 1666.6666666666667"},
		"_estimates":      nil,
	} {
		t.Run("without "+lack, func(t *testing.T) {
			c := fakecql.NewOnSockets(t, fakecql.V5, 2)
			for text, rows := range tables {
				c.Prepare(text, fakecql.Prepared{Bind: fakecql.Columns("keyspace_name text"), Result: rows[0].Columns})
			}
			c.On(func(r *fakecql.Request) bool {
				switch {
				case lack != "" && strings.Contains(r.Stmt, lack):
					r.Fail(int32(cql.CodeInvalid))
				case r.Op != fakecql.OpExecute:
					return false
				case string(r.Values[0]) != "shop" || r.Node == c.Nodes[0]:
					r.Rows(tables[r.Stmt][0])
				default:
					r.Rows(tables[r.Stmt][1])
				}
				return true
			})
			cfg := &vecql.ClusterConfig{Hosts: []string{c.Nodes[0].IP}}
			cfg.Port, cfg.Logger = c.Port, slog.New(slog.DiscardHandler)
			session, err := vecql.NewSession(t.Context(), *cfg)
			require.NoError(t, err)
			t.Cleanup(session.Close)
			require.NoError(t, session.Ready(t.Context()))
			for range 3 { // no node answers for another
				list, err := (&connection{session: session}).statistics(t.Context(), ks, pattern{})
				require.NoError(t, err)
				var got []string
				for _, r := range list {
					got = append(got, fmt.Sprint(r.Table, " ", r.Key, " ", r.Value[1]))
				}
				require.Equal(t, want, got, "without %q", lack)
			}
			only := "b"
			list, err := (&connection{session: session}).statistics(t.Context(), ks, newPattern(&only))
			require.NoError(t, err)
			for _, r := range list {
				require.Equal(t, only, r.Table)
			}
		})
	}
}
