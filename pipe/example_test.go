// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
	"github.com/vecql/vecql/tablescan"
)

// visits are five rows.
func visits() *column.Batch {
	return column.NewBatch(
		column.Strings("url", []string{"/", "/shop", "/shop/desk", "/", "/about"}),
		column.Of("user", []int64{7, 7, 8, 9, 9}),
		column.Of("milliseconds", []int32{12, 40, 35, 8, 9}),
	)
}

func Example() {
	top, err := pipe.Batches(visits()).
		Where("milliseconds < ? or url like '/shop%'", 10).
		With("shop", "starts_with(url, '/shop')").
		GroupBy("shop").
		Aggregate(groupby.Count().As("visits"), groupby.CountDistinct("user").As("users"), groupby.Sum("milliseconds / 2").As("half")).
		OrderBy(pipe.Descending("half")).
		Batch(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(top)
	// Output:
	// shop   visits  users   half
	// bool    int64  int64  int64
	// true        2      2     37
	// false       2      1      8
	// 2 rows
}

func ExamplePipe_Where() {
	shop := expr.Col("url").StartsWith("/shop")
	rows, err := pipe.Batches(visits()).
		Where("? and user = ?", shop, 8).
		Select("url", "milliseconds * 1000").
		Batch(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(rows)
	// Output:
	// url         milliseconds * 1000
	// string                    int64
	// /shop/desk                35000
	// 1 row
}

func ExamplePipe_Explain() {
	plan, err := pipe.Union(pipe.Batches(visits()), pipe.Batches(visits())).
		Where("user > 7").
		GroupBy("url", "length(url)").Aggregate(groupby.Max("milliseconds")).
		OrderBy(pipe.Ascending("url")).Limit(2).
		Explain(context.Background())
	fmt.Print(plan, err)
	// Output:
	// union of 2, columns url, milliseconds
	//   batches: 5 rows in 1 batch, columns url, user, milliseconds
	//   where user > 7
	//   select url, milliseconds
	//   batches: 5 rows in 1 batch, columns url, user, milliseconds
	//   where user > 7
	//   select url, milliseconds
	// group by url: max(milliseconds) (the first 2 groups)
	// with length(url) = length(url)
	// select url, length(url), max(milliseconds)
	// order by url, limit 2
	// <nil>
}

func ExamplePipe_Batches() {
	_, err := pipe.Batches(visits()).Where("usr = 7").Batch(context.Background())
	fmt.Println(err)
	for batch, err := range pipe.Batches(visits()).Distinct("user").OrderBy(pipe.Ascending("user")).Batches(context.Background()) {
		fmt.Print(batch)
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// pipe: Where("usr = 7"): expr: at offset 0: usr: no such column: "usr"; the columns are: url, user, milliseconds
	//  user
	// int64
	//     7
	//     8
	//     9
	// 3 rows
}

// squares is a source: the squares of the numbers from 0, in batches.
type squares struct{ count int64 }

func (s squares) Label() (verb, text string) { return "Squares", fmt.Sprint(s.count) }

func (s squares) Open(context.Context) (*squareRows, error) { return &squareRows{count: s.count}, nil }

type squareRows struct{ count int64 }

func (r *squareRows) Schema() column.Schema {
	return column.Schema{{Name: "square", Type: column.TypeOf[int64]()}}
}

func (r *squareRows) Scan([]string, int) (line string, goroutines int, err error) {
	return fmt.Sprintf("squares of %d numbers", r.count), 1, nil
}

func (r *squareRows) Run(ctx context.Context, f func(worker int, b *column.Batch) error) error {
	for from := int64(0); from < r.count; from += 4 {
		var values []int64
		for n := from; n < min(from+4, r.count); n++ {
			values = append(values, n*n)
		}
		if err := f(0, column.NewBatch(column.Of("square", values))); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (r *squareRows) Close() error { return nil }

// A source of the program's own.
func ExampleFrom() {
	even := pipe.From(squares{10}).Where("square % 2 = 0").Aggregate(groupby.Count().As("even"), groupby.Max("square").As("greatest"))
	plan, err := even.Explain(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(plan)
	b, err := even.Batch(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(b)
	// Output:
	// squares of 10 numbers
	// where square % 2 = 0
	// aggregate: even, greatest
	//  even  greatest
	// int64     int64
	//     5        64
	// 1 row
}

// A table is read by token ranges. The condition states the partition key, so that one partition is read.
func ExampleFrom_table() {
	cluster, err := cqltest.Start(cqltest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE shop.visits (user text, number int, milliseconds int, PRIMARY KEY (user, number));
		INSERT INTO shop.visits (user, number, milliseconds) VALUES ('ann', 1, 12);
		INSERT INTO shop.visits (user, number, milliseconds) VALUES ('ann', 2, 40);
		INSERT INTO shop.visits (user, number, milliseconds) VALUES ('bob', 1, 35)`); err != nil {
		log.Fatal(err)
	}
	session, err := vecql.NewSession(context.Background(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	slowest, err := pipe.From(tablescan.Source{Session: session, Table: "shop.visits"}).
		Where("user = ?", "ann").
		GroupBy("user").Aggregate(groupby.Count().As("visits"), groupby.Max("milliseconds").As("slowest")).
		Batch(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(slowest)
	// Output:
	// user    visits  slowest
	// string   int64    int32
	// ann          2       40
	// 1 row
}

// The numbers of a run: how many rows each step passed on.
func ExampleConfig() {
	var stats pipe.Stats
	_, err := pipe.Batches(visits()).
		Configure(pipe.Config{Workers: 1, Stats: &stats}).
		Where("milliseconds > 10").
		GroupBy("user").Aggregate(groupby.Count()).
		Batch(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range stats.Steps {
		fmt.Println(step.Rows, step.Step)
	}
	// Output:
	// 5 batches: 5 rows in 1 batch, columns user, milliseconds
	// 3 where milliseconds > 10
	// 2 group by user: count
}
