// SPDX-License-Identifier: Apache-2.0

// Command table-scan reads a whole table by token ranges, several at a time, and groups its rows.
//
//	go run ./examples/table-scan [host:port ...]
//
// Without hosts it starts a cluster in its own process. It prints:
//
//	kind    count    total
//	string  int64  float64
//	view     1200   599300
//	cart      400   199900
//	order     400   200300
//	3 rows
//
// Consistency One suffices for statistics. In production, choose as many workers as the cluster can serve beside other
// clients.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/tablescan"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, hosts []string, out io.Writer) error {
	if len(hosts) == 0 {
		cluster, err := cqltest.Start(cqltest.Config{})
		if err != nil {
			return err
		}
		defer cluster.Close()
		hosts = cluster.Hosts()
	}
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: hosts})
	if err != nil {
		return err
	}
	defer session.Close()
	for _, ddl := range []string{
		"CREATE KEYSPACE IF NOT EXISTS examples WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE IF NOT EXISTS examples.events (id int PRIMARY KEY, kind text, amount double)",
	} {
		if err := session.Query(ddl).Exec(ctx); err != nil {
			return err
		}
	}
	if err := session.Query("INSERT INTO examples.events (id, kind, amount) VALUES (?, ?, ?)").Idempotent(true).
		ExecRows(ctx, events()); err != nil {
		return err
	}
	kinds, err := groupby.Config{
		Keys:       groupby.By("kind"),
		Aggregates: []groupby.Aggregate{groupby.Count(), groupby.Sum("amount").As("total")},
		Order:      groupby.Descending("count"),
	}.New()
	if err != nil {
		return err
	}
	scan, err := tablescan.New(ctx, session, "SELECT kind, amount FROM examples.events", tablescan.Config{
		Query: func(q *vecql.Query) { q.Consistency(cql.One) },
	})
	if err != nil {
		return err
	}
	if err := scan.Run(ctx, func(_ int, b *column.Batch) error {
		return kinds.Add(ctx, b) // which several goroutines may call
	}); err != nil {
		return err
	}
	result, err := kinds.Finish(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(out, result)
	return err
}

// events returns 2000 rows to scan.
func events() *column.Batch {
	ids, kinds, amounts := make([]int32, 2000), make([]string, 2000), make([]float64, 2000)
	for i := range ids {
		ids[i], kinds[i], amounts[i] = int32(i), []string{"view", "view", "cart", "view", "order"}[i%5], float64(i)/2
	}
	return column.NewBatch(column.Of("id", ids), column.Strings("kind", kinds), column.Of("amount", amounts))
}
