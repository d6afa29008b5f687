// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
)

// A batch is written to a table. One row has no key: it is passed to Rejected, and the others are written.
func ExampleInsert() {
	cluster, err := cqltest.Start(cqltest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	err = cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE shop.items (id bigint PRIMARY KEY, name text, embedding vector<float, 2>)`)
	if err != nil {
		log.Fatal(err)
	}
	session, err := vecql.NewSession(context.Background(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	batch := column.NewBatch(
		column.Of("id", []int64{1, 2, 0}).WithNulls([]bool{false, false, true}),
		column.Strings("name", []string{"lamp", "desk", "chair"}),
		column.Matrix("embedding", []float32{.1, .2, .3, .4, .5, .6}, 2),
	)
	ctx := context.Background()
	w, err := bulk.Insert(ctx, session, "shop.items", bulk.Options{
		MaxRejected: 10,
		Rejected: func(r bulk.Rejection) error {
			fmt.Println("rejected row", r.Index, r.Batch.Column("name").Value(0))
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Write(ctx, batch); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("wrote", w.Stats().Rows, "rows")
	// Output:
	// rejected row 2 chair
	// wrote 2 rows
}

// A counter is incremented by structs of the program: each marker takes the field of its name. An increment that may
// have been executed is not sent again, so that Options.Counters states that the program accepts rejected rows.
func ExampleNew() {
	cluster, err := cqltest.Start(cqltest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	err = cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE shop.visits (page text PRIMARY KEY, visits counter)`)
	if err != nil {
		log.Fatal(err)
	}
	session, err := vecql.NewSession(context.Background(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	ctx := context.Background()
	w, err := bulk.New(ctx, session, "UPDATE shop.visits SET visits = visits + :count WHERE page = :page", bulk.Options{Counters: true})
	if err != nil {
		log.Fatal(err)
	}
	type visit struct {
		Page  string
		Count int64
	}
	if err := bulk.Rows(ctx, w, []visit{{"/", 3}, {"/shop", 1}, {"/", 2}}); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(ctx); err != nil {
		log.Fatal(err)
	}
	visits, err := vecql.OneRow[int64](ctx, session.Query("SELECT visits FROM shop.visits WHERE page = ?", "/"))
	fmt.Println(visits, err)
	// Output: 5 <nil>
}
