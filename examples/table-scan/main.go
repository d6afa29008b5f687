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
// In production, raise ranges until a range is read in seconds, and lower scans to what the cluster can serve beside
// other clients. Consistency One suffices for statistics.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/groupby"
)

const (
	ranges = 64
	scans  = 8 // ranges that are read at a time
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
	session, err := vecql.NewCluster(hosts...).CreateSession()
	if err != nil {
		return err
	}
	defer session.Close()
	for _, ddl := range []string{
		"CREATE KEYSPACE IF NOT EXISTS examples WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE IF NOT EXISTS examples.events (id int PRIMARY KEY, kind text, amount double)",
	} {
		if err := session.Query(ddl).ExecContext(ctx); err != nil {
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
	if err := scanAll(ctx, session, kinds); err != nil {
		return err
	}
	result, err := kinds.Finish(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(out, result)
	return err
}

// scanAll adds the rows of all ranges to groups, and returns the first error.
func scanAll(ctx context.Context, session *vecql.Session, groups *groupby.Grouper) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range scans {
		workers.Go(func() {
			for n := next.Add(1); n <= ranges && ctx.Err() == nil; n = next.Add(1) {
				first, last := tokens(int(n-1), ranges)
				if err := scan(ctx, session, first, last, groups); err != nil {
					cancel(err)
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// scan adds the rows of a range of tokens to groups, a page at a time.
func scan(ctx context.Context, session *vecql.Session, first, last int64, groups *groupby.Grouper) error {
	query := session.Query("SELECT kind, amount FROM examples.events WHERE token(id) >= ? AND token(id) <= ?", first, last)
	for batch, err := range query.Idempotent(true).BorrowBatches(ctx) {
		if err == nil {
			err = groups.Add(ctx, batch) // which several goroutines may call
		}
		if err != nil {
			return fmt.Errorf("tokens %d to %d: %w", first, last, err)
		}
	}
	return nil
}

// tokens returns the first and the last token of range n of count. Together the ranges have each token once.
func tokens(n, count int) (first, last int64) {
	width := math.MaxUint64/uint64(count) + 1
	first, last = math.MinInt64+int64(uint64(n)*width), math.MaxInt64
	if n < count-1 {
		last = first + int64(width-1)
	}
	return first, last
}

// events returns 2000 rows to scan.
func events() *column.Batch {
	ids, kinds, amounts := make([]int32, 2000), make([]string, 2000), make([]float64, 2000)
	for i := range ids {
		ids[i], kinds[i], amounts[i] = int32(i), []string{"view", "view", "cart", "view", "order"}[i%5], float64(i)/2
	}
	return column.NewBatch(column.Of("id", ids), column.Strings("kind", kinds), column.Of("amount", amounts))
}
