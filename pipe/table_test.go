// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/pipe"
	"github.com/vecql/vecql/tablescan"
)

// Tables, on cqltest in virtual time.

// onTable runs f with the table ks."T" of 40 rows, the same rows as a batch, and a session.
func onTable(t *testing.T, f func(t *testing.T, session *vecql.Session, table pipe.Pipe, rows *table)) {
	t.Helper()
	onCluster(t, func(t *testing.T, _ *cqltest.Cluster, session *vecql.Session, table pipe.Pipe, rows *table) {
		f(t, session, table, rows)
	})
}

// onCluster is onTable, with the cluster.
func onCluster(t *testing.T, f func(t *testing.T, cluster *cqltest.Cluster, session *vecql.Session, table pipe.Pipe, rows *table)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cluster := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory})
		require.NoError(t, cluster.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
			CREATE TABLE ks."T" (shop text, n int, price double, at timestamp, PRIMARY KEY (shop, n))`))
		conf := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
		conf.Pool.Dialer, conf.Logger, conf.Keyspace = cluster.Dialer(), slog.New(slog.NewTextHandler(io.Discard, nil)), "ks"
		session, err := vecql.NewSession(t.Context(), *conf)
		require.NoError(t, err)
		defer session.Close()
		for i := range 40 {
			require.NoError(t, session.Query(`INSERT INTO "T" (shop, n, price, at) VALUES (?, ?, ?, ?)`, fmt.Sprint("s", i%7), i,
				float64(i)/2, int64(i)).Idempotent(true).Exec(t.Context()))
		}
		source := pipe.From(tablescan.Source{Session: session, Table: `ks."T"`})
		all, err := source.OrderBy(pipe.Ascending("n")).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, 40, all.Rows)
		rows := tableOf(t, all)
		rows.ordered = false
		f(t, cluster, session, source, rows)
	})
}

func TestTable(t *testing.T) {
	plans := map[string]string{
		"price > 3":                                `by token ranges: SELECT "shop", "n", "at", "price" FROM "ks"."T"`,
		"n = 3":                                    `by token ranges: SELECT "shop", "n", "at", "price" FROM "ks"."T"`,
		"shop = 's3'":                              `by partitions: SELECT "shop", "n", "at", "price" FROM "ks"."T" WHERE "shop" = ?`,
		"shop in ('s1', 's9') and price < 9":       `by partitions: SELECT "shop", "n", "at", "price" FROM "ks"."T" WHERE "shop" IN (?, ?)`,
		"shop = 's2' and n > 9 and n <= 30":        `WHERE "shop" = ? AND "n" > ? AND "n" <= ?`,
		"shop = 's2' and n = 9 and price = 4.5":    `WHERE "shop" = ? AND "n" = ?`,
		"shop = 's2' and n < 9.5":                  `FROM "ks"."T" WHERE "shop" = ?`,
		"shop = 's2' and n < 3000000000":           `FROM "ks"."T" WHERE "shop" = ?`,
		"shop = ''":                                `by token ranges`,
		"shop = 's1' or n = 2":                     `by token ranges`,
		"length(shop) = 2 and at > '1970-01-01'":   `by token ranges`,
		"shop = 's4' and shop = 's5' and n in (4)": `WHERE "shop" = ?`,
		"shop = 's2' and n = 2147483647":           `WHERE "shop" = ? AND "n" = ?`,
		"shop = 's2' and n > -2147483648":          `WHERE "shop" = ? AND "n" > ?`,
		"shop = 's2' and n >= 9 and n < 30":        `WHERE "shop" = ? AND "n" >= ? AND "n" < ?`,
		"shop = 's2' and n <> 9":                   `FROM "ks"."T" WHERE "shop" = ?` + "\n",
		"shop = 's2' and n = 2147483648":           `FROM "ks"."T" WHERE "shop" = ?` + "\n",
		"shop = 's2' and n >= -2147483649":         `FROM "ks"."T" WHERE "shop" = ?` + "\n",
		"shop <> 's2'":                             `by token ranges`,
		"shop is not null":                         `by token ranges`,
		"shop in ()":                               `by token ranges`,
		"shop in ('', 's1')":                       `by token ranges`,
		"shop like '%s%'":                          `by token ranges`,
	}
	onTable(t, func(t *testing.T, _ *vecql.Session, source pipe.Pipe, all *table) {
		for text, plan := range plans {
			rows := *all
			require.True(t, rows.where(text))
			p := source.Where(text)
			rows.require(p, text)
			got, err := p.Explain(t.Context())
			require.NoError(t, err)
			require.Contains(t, got, plan)
		}
	})
}

// TestTableUUIDRange has UUIDs whose order in CQL, by version and time, is not the order of their bytes.
func TestTableUUIDRange(t *testing.T) {
	onTable(t, func(t *testing.T, session *vecql.Session, _ pipe.Pipe, _ *table) {
		require.NoError(t, session.Query("CREATE TABLE ids (shop int, id uuid, PRIMARY KEY (shop, id))").Exec(t.Context()))
		for _, id := range []string{
			"00000000-0000-1000-8000-000000000001", "ffffffff-0000-1000-8000-000000000001", "10000000-0000-1001-8000-000000000001",
			"20000000-0000-4000-8000-000000000001", "05000000-0000-4000-8000-000000000001",
		} {
			require.NoError(t, session.Query("INSERT INTO ids (shop, id) VALUES (1, ?)", id).Idempotent(true).Exec(t.Context()))
		}
		source := tablescan.Source{Session: session, Table: "ks.ids"}
		all, err := pipe.From(source).Batch(t.Context())
		require.NoError(t, err)
		for _, op := range []string{"<", "<=", "=", ">=", ">"} {
			for _, filtering := range []bool{false, true} {
				rows := tableOf(t, all)
				rows.ordered = false
				text := "shop = 1 and id " + op + " uuid '10000000-0000-1001-8000-000000000001'"
				require.True(t, rows.where(text))
				require.NotEmpty(t, rows.rows)
				source.AllowFiltering = filtering
				rows.require(pipe.From(source).Where(text), text)
			}
		}
	})
}

func TestTableAllowFiltering(t *testing.T) {
	onTable(t, func(t *testing.T, session *vecql.Session, _ pipe.Pipe, rows *table) {
		require.True(t, rows.where("n >= 5 and at < timestamp '1970-01-01T00:00:00.020Z'"))
		source := pipe.From(tablescan.Source{Session: session, Table: `ks."T"`, AllowFiltering: true})
		p := source.Where("n >= 5 and at < timestamp '1970-01-01T00:00:00.020Z'")
		rows.require(p, "filtering")
		got, err := p.Explain(t.Context())
		require.NoError(t, err)
		require.Contains(t, got, `WHERE "n" >= ? AND "at" < ? ALLOW FILTERING`)
	})
}

func TestTableGroups(t *testing.T) {
	onTable(t, func(t *testing.T, session *vecql.Session, source pipe.Pipe, rows *table) {
		count, err := source.Aggregate(groupby.Count().As("n")).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(40), count.Column("n").Value(0))

		some, err := source.Limit(5).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, 5, some.Rows)

		rows.group([]string{"shop"}, groupby.Max("price"))
		rows.orderBy([]string{"shop", "max(price)"}, order{name: "max(price)", desc: true})
		rows.limit(3)
		rows.require(source.GroupBy("shop").Aggregate(groupby.Max("price")).OrderBy(pipe.Descending("max(price)")).Limit(3), "")

		_, err = pipe.From(tablescan.Source{Session: session, Table: "ks.nothing"}).Batch(t.Context())
		require.ErrorContains(t, err, `pipe: Table("ks.nothing"): `)
		_, err = pipe.From(tablescan.Source{Session: session, Table: "a.b.c"}).Batch(t.Context())
		require.ErrorContains(t, err, "want the name of a table")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = source.Batch(ctx)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// TestTableFiltersByType requires that the server evaluates the comparisons that it makes as package expr does, and no
// others: of values that are exactly of the column's type.
func TestTableFiltersByType(t *testing.T) {
	onTable(t, func(t *testing.T, session *vecql.Session, _ pipe.Pipe, _ *table) {
		require.NoError(t, session.Query(`CREATE TABLE types (id int PRIMARY KEY, tiny tinyint, small smallint, big bigint, flag boolean,
			at timestamp, uid uuid, txt text, d double, amount decimal, day date, f float, b blob)`).Exec(t.Context()))
		require.NoError(t, session.Query(`INSERT INTO types (id, tiny, small, big, flag, at, uid, txt, d, day, f) VALUES (1, 127, 32767,
			9223372036854775807, true, '1970-01-01T00:00:00.001Z', 00000000-0000-1000-8000-000000000001, 'a', 1, '1970-01-01', 1)`).Exec(t.Context()))
		source := tablescan.Source{Session: session, Table: "types"} // of the session's keyspace
		filtering := source
		filtering.AllowFiltering = true
		for text, where := range map[string]string{
			"tiny = 127":                         `WHERE "tiny" = ?`,
			"tiny = -128":                        `WHERE "tiny" = ?`,
			"tiny < 128":                         "",
			"tiny > -129":                        "",
			"small <= 32767 and small >= -32768": `WHERE "small" <= ? AND "small" >= ?`,
			"small < 32768":                      "",
			"small > -32769":                     "",
			"big = 9223372036854775807":          `WHERE "big" = ?`,
			"big < 9223372036854775808":          "",
			"big in (1, 9223372036854775807)":    `WHERE "big" IN (?, ?)`,
			"flag":                               `WHERE "flag" = ?`,
			"at = timestamp '1970-01-01T00:00:00.001Z'":            `WHERE "at" = ?`,
			"at < timestamp '1970-01-01T00:00:00.0011Z'":           "",
			"uid = uuid '00000000-0000-1000-8000-000000000001'":    `WHERE "uid" = ?`,
			"uid >= uuid '00000000-0000-1000-8000-000000000001'":   "",
			"uid in (uuid '00000000-0000-1000-8000-000000000001')": `WHERE "uid" IN (?)`,
			"txt = 'a' and txt <> 'b' and txt is not null":         `WHERE "txt" = ?`,
			"txt > ''":                `WHERE "txt" > ?`,
			"txt like '%a%'":          "",
			"d > 0.5":                 "",
			"d = 1":                   "",
			"f = 1":                   "",
			"amount is null":          "",
			"day = date '1970-01-01'": "",
			"big = 9223372036854775807 and small = 32768":             `WHERE "big" = ?`,
			"id = 1 and txt = 'a'":                                    `WHERE "id" = ?`,
			"txt = 'a' and small between 1 and 32767 and not (d = 2)": `WHERE "small" >= ? AND "small" <= ? AND "txt" = ?`,
		} {
			p := pipe.From(filtering).Where(text).Select("id")
			got, plan := explained(t, p)
			if where == "" {
				require.NotContains(t, plan, "WHERE", text)
				continue
			}
			require.Contains(t, plan, ` "ks"."types" `+where, text)
			require.Equal(t, where != `WHERE "id" = ?`, strings.Contains(plan, where+" ALLOW FILTERING\n"), plan)
			want, err := pipe.From(source).Where(text).Select("id").Batch(t.Context())
			require.NoError(t, err)
			require.Empty(t, column.Diff(got, want), text)
		}
	})
}

// TestTableErrors requires the verb of an error: the table's for the server's, another for an expression's.
func TestTableErrors(t *testing.T) {
	onCluster(t, func(t *testing.T, cluster *cqltest.Cluster, _ *vecql.Session, source pipe.Pipe, _ *table) {
		for _, p := range []pipe.Pipe{source, source.Where("shop = 's1'")} {
			_, err := p.With("x", "1 / (n - n)").Batch(t.Context())
			require.ErrorIs(t, err, expr.ErrDivision)
			require.ErrorContains(t, err, `pipe: With("1 / (n - n)"): `)
			some, err := p.Limit(2).Batch(t.Context())
			require.NoError(t, err)
			require.Equal(t, 2, some.Rows)
		}
		cluster.Inject(cqltest.Fault{Statement: `FROM "ks"."T"`, Error: &cqltest.Error{Code: 0x2200, Message: "refused"}})
		for _, p := range []pipe.Pipe{source, source.Where("shop = 's1'"), source.OrderBy(pipe.Ascending("n")), source.Limit(3)} {
			_, err := p.Batch(t.Context())
			require.ErrorContains(t, err, `pipe: Table("ks.\"T\""): `)
			require.ErrorContains(t, err, "refused")
			var e *pipe.Error
			require.ErrorAs(t, err, &e)
		}
	})
}

// TestTableOrdersEqualRowsByAllColumns has rows that are equal in the order, in partitions of any order.
func TestTableOrdersEqualRowsByAllColumns(t *testing.T) {
	onTable(t, func(t *testing.T, _ *vecql.Session, source pipe.Pipe, rows *table) {
		require.True(t, rows.with("x", "n % 3"))
		rows.orderBy([]string{"shop", "n", "at", "price", "x"}, order{name: "x"})
		p := source.With("x", "n % 3").OrderBy(pipe.Ascending("x"))
		rows.require(p, "all")
		rows.limit(9)
		var stats pipe.Stats
		rows.require(p.Limit(9).Configure(pipe.Config{Stats: &stats}), "first")
		require.EqualValues(t, 40, stats.Steps[0].Rows)

		union := *rows
		some, err := source.Where("shop = 's1'").Batch(t.Context())
		require.NoError(t, err)
		union.rows, union.ordered = append(tableOf(t, some).rows, tableOf(t, some).rows...), false
		union.empty = some.Slice(0, 0)
		union.orderBy([]string{"shop", "n", "at", "price"}, order{name: "shop"})
		union.require(pipe.Union(pipe.Batches(some), source.Where("shop = 's1'")).OrderBy(pipe.Ascending("shop")), "union")
	})
}

// TestPartitionsAreReadByPages has partitions of more rows than a page: they are read by their keys, to the last page.
func TestPartitionsAreReadByPages(t *testing.T) {
	onCluster(t, func(t *testing.T, cluster *cqltest.Cluster, _ *vecql.Session, _ pipe.Pipe, _ *table) {
		conf := vecql.ClusterConfig{Hosts: cluster.Hosts()}
		conf.Pool.Dialer, conf.Logger, conf.Defaults.PageSize = cluster.Dialer(), slog.New(slog.NewTextHandler(io.Discard, nil)), 2
		session, err := vecql.NewSession(t.Context(), conf)
		require.NoError(t, err)
		defer session.Close()
		ranges := cluster.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token("})
		for text, rows := range map[string]int{"shop = 's1'": 6, "shop in ('s1', 's2', 's5')": 17, "shop = 's1' and n > 8": 4, "shop = 'none'": 0} {
			got, err := pipe.From(tablescan.Source{Session: session, Table: `ks."T"`}).Where(text).Batch(t.Context())
			require.NoError(t, err)
			require.Equal(t, rows, got.Rows, text)
		}
		require.Zero(t, ranges.Hits())
		_, err = pipe.From(tablescan.Source{Session: session, Table: `ks."T"`}).Batch(t.Context())
		require.NoError(t, err)
		require.Positive(t, ranges.Hits())
	})
}

// TestViewsHaveColumnsAndKeysOfTheirOwn plans a materialized view: by its columns, and by its partition key.
func TestViewsHaveColumnsAndKeysOfTheirOwn(t *testing.T) {
	f := fakecql.NewSchema()
	f.Keyspace("ks", "SimpleStrategy", map[string]string{"replication_factor": "1"})
	f.Table("ks", "t", "a int partition_key", "b text", "c double")
	f.Add("views", fakecql.Row{"keyspace_name": "ks", "view_name": "by_b", "base_table_name": "t", "id": [16]byte{9}})
	f.Columns("ks", "by_b", "b text partition_key", "a int clustering")
	c := fakecql.NewOnSockets(t, fakecql.V5, 1)
	c.On(f.Answer)
	conf := vecql.ClusterConfig{Hosts: []string{c.Nodes[0].IP}}
	conf.Port, conf.Logger = c.Port, slog.New(slog.DiscardHandler)
	session, err := vecql.NewSession(t.Context(), conf)
	require.NoError(t, err)
	defer session.Close()
	view := pipe.From(tablescan.Source{Session: session, Table: "ks.by_b"})
	schema, err := view.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a"}, schema.Names())
	require.Contains(t, planOf(t, view.Where("b = 'x' and a > 3")), `by partitions: SELECT "b", "a" FROM "ks"."by_b" WHERE "b" = ? AND "a" > ?`)
	require.Contains(t, planOf(t, view.Where("a = 3")), "by token ranges")
	require.Contains(t, planOf(t, pipe.From(tablescan.Source{Session: session, Table: "ks.t"}).Where("a = 3")), `by partitions: SELECT "a", "b", "c" FROM "ks"."t" WHERE "a" = ?`)
}
