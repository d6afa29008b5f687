// SPDX-License-Identifier: Apache-2.0

package tablescan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"sync/atomic"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// shop starts a cluster with the table shop.visits, whose rows are five visits of three users, and returns a session.
func shop() (session *vecql.Session, stop func()) {
	cluster, err := cqltest.Start(cqltest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE shop.visits (user text, number int, milliseconds int, PRIMARY KEY (user, number));
		INSERT INTO shop.visits (user, number, milliseconds) VALUES ('ann', 1, 12);
		INSERT INTO shop.visits (user, number, milliseconds) VALUES ('ann', 2, 40);
		INSERT INTO shop.visits (user, number, milliseconds) VALUES ('bob', 1, 35);
		INSERT INTO shop.visits (user, number, milliseconds) VALUES ('eve', 1, 8);
		INSERT INTO shop.visits (user, number, milliseconds) VALUES ('eve', 2, 9)`); err != nil {
		log.Fatal(err)
	}
	if session, err = vecql.NewSession(context.Background(), vecql.ClusterConfig{Hosts: cluster.Hosts()}); err != nil {
		log.Fatal(err)
	}
	return session, func() { session.Close(); cluster.Close() }
}

// The function of Run is called by several goroutines at a time.
func Example() {
	session, stop := shop()
	defer stop()
	ctx := context.Background()
	scan, err := tablescan.New(ctx, session, "SELECT milliseconds FROM shop.visits", tablescan.Config{Workers: 4})
	if err != nil {
		log.Fatal(err)
	}
	var sum atomic.Int64
	err = scan.Run(ctx, func(_ int, b *column.Batch) error {
		milliseconds, err := column.Slice[int32](b.Column("milliseconds"))
		for _, v := range milliseconds {
			sum.Add(int64(v))
		}
		return err
	})
	fmt.Println(scan.Progress().Rows, "rows,", sum.Load(), "ms", err)
	// Output: 5 rows, 104 ms <nil>
}

// Rows as structs, in the order of their tokens.
func ExampleRows() {
	session, stop := shop()
	defer stop()
	ctx := context.Background()
	scan, err := tablescan.New(ctx, session, "SELECT user, number, milliseconds FROM shop.visits WHERE milliseconds > ? ALLOW FILTERING",
		tablescan.Config{Ordered: true, Values: []any{10}})
	if err != nil {
		log.Fatal(err)
	}
	type visit struct {
		User                 string
		Number, Milliseconds int
	}
	for v, err := range tablescan.Rows[visit](ctx, scan) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(v.User, v.Number, v.Milliseconds)
	}
	// Unordered output:
	// bob 1 35
	// ann 1 12
	// ann 2 40
}

// The numbers of rows and partitions: the rows of a partition have one token, and follow each other.
func ExampleTokens() {
	session, stop := shop()
	defer stop()
	ctx := context.Background()
	scan, err := tablescan.Tokens(ctx, session, "shop.visits", tablescan.Config{Ordered: true})
	if err != nil {
		log.Fatal(err)
	}
	rows, partitions, last := 0, 0, int64(0)
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		tokens, err := column.Slice[int64](batch.Column(tablescan.TokenColumn))
		if err != nil {
			log.Fatal(err)
		}
		for _, token := range tokens {
			if rows == 0 || token != last {
				partitions++
			}
			rows, last = rows+1, token
		}
	}
	fmt.Println(rows, "rows in", partitions, "partitions")
	// Output: 5 rows in 3 partitions
}

// A scan that has failed is resumed by another one, perhaps of another process.
func ExampleScan_Checkpoint() {
	session, stop := shop()
	defer stop()
	ctx := context.Background()
	const statement = "SELECT user, number FROM shop.visits"
	scan, err := tablescan.New(ctx, session, statement, tablescan.Config{Ordered: true, PageBytes: 1})
	if err != nil {
		log.Fatal(err)
	}
	seen := 0
	err = scan.Run(ctx, func(_ int, b *column.Batch) error {
		if seen > 0 {
			return errors.New("the disk is full") // the batch is not acknowledged
		}
		seen += b.Rows
		return nil
	})
	fmt.Println(err)
	text, err := json.Marshal(scan.Checkpoint())
	if err != nil {
		log.Fatal(err)
	}

	config := tablescan.Config{Checkpoint: new(tablescan.Checkpoint)}
	if err := json.Unmarshal(text, config.Checkpoint); err != nil {
		log.Fatal(err)
	}
	if scan, err = tablescan.New(ctx, session, statement, config); err != nil {
		log.Fatal(err)
	}
	var rest atomic.Int64
	err = scan.Run(ctx, func(_ int, b *column.Batch) error {
		rest.Add(int64(b.Rows))
		return nil
	})
	fmt.Println(seen+int(rest.Load()), "rows", err)
	// Output:
	// the disk is full
	// 5 rows <nil>
}
