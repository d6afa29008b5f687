// SPDX-License-Identifier: Apache-2.0

package beamvecql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/beamvecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/groupby"
)

var prices = beamvecql.RegisterGroups("example/prices", groupby.Config{
	Keys:       groupby.By("kind"),
	Aggregates: []groupby.Aggregate{groupby.Count(), groupby.Mean("price")},
	Order:      groupby.ByKeys,
})

func init() { beam.RegisterFunction(print) }

func print(b *column.Batch) { fmt.Print(b) }

// The groups of a table, on Prism.
func Example() {
	cluster, err := cqltest.Start(cqltest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE shop.items (id int PRIMARY KEY, kind text, price int);
		INSERT INTO shop.items (id, kind, price) VALUES (1, 'lamp', 10);
		INSERT INTO shop.items (id, kind, price) VALUES (2, 'desk', 90);
		INSERT INTO shop.items (id, kind, price) VALUES (3, 'lamp', 15)`); err != nil {
		log.Fatal(err)
	}
	p, s := beam.NewPipelineWithRoot()
	uri := "cassandra://" + cluster.Hosts()[0]
	items := beamvecql.Read(s, uri, "SELECT kind, price FROM shop.items", beamvecql.ReadOptions{})
	beam.ParDo0(s, print, beamvecql.GroupBy(s, prices, items))
	if _, err := beam.Run(context.Background(), "prism", p); err != nil {
		log.Fatal(err)
	}
	// Output:
	// kind    count  mean(price)
	// string  int64      float64
	// desk        1           90
	// lamp        2         12.5
	// 2 rows
}

type item struct {
	ID    int64
	Kind  string
	Price *int32
}

func init() {
	beamvecql.RegisterRow[item]()
	beam.RegisterFunction(cheaper)
}

// cheaper halves the price of an item.
func cheaper(it item) item {
	if it.Price != nil {
		half := *it.Price / 2
		it.Price = &half
	}
	return it
}

// Rows as structs: a table is changed by a function of the program.
func ExampleRows() {
	cluster, err := cqltest.Start(cqltest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE shop.items (id bigint PRIMARY KEY, kind text, price int);
		CREATE TABLE shop.sale (id bigint PRIMARY KEY, kind text, price int);
		INSERT INTO shop.items (id, kind, price) VALUES (1, 'lamp', 10);
		INSERT INTO shop.items (id, kind) VALUES (2, 'desk')`); err != nil {
		log.Fatal(err)
	}
	uri := "cassandra://" + cluster.Hosts()[0]
	p, s := beam.NewPipelineWithRoot()
	rows := beamvecql.Rows[item](s, beamvecql.Read(s, uri, "SELECT id, kind, price FROM shop.items", beamvecql.ReadOptions{}))
	sale := beamvecql.Batches[item](s, beam.ParDo(s, cheaper, rows))
	beamvecql.Write(s, uri, "shop.sale", sale, beamvecql.WriteOptions{MaxRejected: -1})
	ctx := context.Background()
	if _, err := beam.Run(ctx, "prism", p); err != nil {
		log.Fatal(err)
	}

	session, err := vecql.NewSession(context.Background(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	for _, id := range []int64{1, 2} {
		it, err := vecql.OneRow[item](ctx, session.Query("SELECT id, kind, price FROM shop.sale WHERE id = ?", id))
		if err != nil {
			log.Fatal(err)
		}
		if it.Price == nil {
			fmt.Println(it.Kind, "without a price")
		} else {
			fmt.Println(it.Kind, *it.Price)
		}
	}
	// Output:
	// lamp 5
	// desk without a price
}
