// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// Tables, on cqltest in virtual time.

// onTable runs f with the table ks."T" of 40 rows, the same rows as a batch, and a session.
func onTable(t *testing.T, f func(t *testing.T, session *vecql.Session, table pipe.Pipe, rows *table)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cluster := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory})
		require.NoError(t, cluster.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
			CREATE TABLE ks."T" (shop text, n int, price double, at timestamp, PRIMARY KEY (shop, n))`))
		conf := vecql.NewCluster(cluster.Hosts()...)
		conf.Dialer, conf.Logger, conf.Keyspace = cluster.Dialer(), slog.New(slog.NewTextHandler(io.Discard, nil)), "ks"
		session, err := conf.CreateSession()
		require.NoError(t, err)
		defer session.Close()
		for i := range 40 {
			require.NoError(t, session.Query(`INSERT INTO "T" (shop, n, price, at) VALUES (?, ?, ?, ?)`, fmt.Sprint("s", i%7), i,
				float64(i)/2, int64(i)).Idempotent(true).ExecContext(t.Context()))
		}
		source := pipe.Table(session, `ks."T"`)
		all, err := source.OrderBy(pipe.Ascending("n")).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, 40, all.Rows)
		rows := tableOf(t, all)
		rows.ordered = false
		f(t, session, source, rows)
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

// TestTableUUIDRange has UUIDs whose order in CQL, by version and time, is not that of their bytes.
func TestTableUUIDRange(t *testing.T) {
	onTable(t, func(t *testing.T, session *vecql.Session, _ pipe.Pipe, _ *table) {
		require.NoError(t, session.Query("CREATE TABLE ids (shop int, id uuid, PRIMARY KEY (shop, id))").ExecContext(t.Context()))
		for _, id := range []string{
			"00000000-0000-1000-8000-000000000001", "ffffffff-0000-1000-8000-000000000001", "10000000-0000-1001-8000-000000000001",
			"20000000-0000-4000-8000-000000000001", "05000000-0000-4000-8000-000000000001",
		} {
			require.NoError(t, session.Query("INSERT INTO ids (shop, id) VALUES (1, ?)", id).Idempotent(true).ExecContext(t.Context()))
		}
		source := pipe.Table(session, "ks.ids")
		all, err := source.Batch(t.Context())
		require.NoError(t, err)
		for _, op := range []string{"<", "<=", "=", ">=", ">"} {
			for _, filtering := range []bool{false, true} {
				rows := tableOf(t, all)
				rows.ordered = false
				text := "shop = 1 and id " + op + " uuid '10000000-0000-1001-8000-000000000001'"
				require.True(t, rows.where(text))
				require.NotEmpty(t, rows.rows)
				rows.require(source.Where(text).Configure(pipe.Config{AllowFiltering: filtering}), text)
			}
		}
	})
}

func TestTableAllowFiltering(t *testing.T) {
	onTable(t, func(t *testing.T, _ *vecql.Session, source pipe.Pipe, rows *table) {
		require.True(t, rows.where("n >= 5 and at < timestamp '1970-01-01T00:00:00.020Z'"))
		p := source.Where("n >= 5 and at < timestamp '1970-01-01T00:00:00.020Z'").Configure(pipe.Config{AllowFiltering: true})
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

		_, err = pipe.Table(session, "ks.nothing").Batch(t.Context())
		require.ErrorContains(t, err, `pipe: Table("ks.nothing"): `)
		_, err = pipe.Table(session, "a.b.c").Batch(t.Context())
		require.ErrorContains(t, err, "want the name of a table")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = source.Batch(ctx)
		require.ErrorIs(t, err, context.Canceled)
	})
}
