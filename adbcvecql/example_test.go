// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/vecql/vecql/adbcvecql"
	"github.com/vecql/vecql/cqltest"
)

// The vectors of a result are one block of floats.
func Example() {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.items (id int PRIMARY KEY, embedding vector<float, 3>);
		INSERT INTO shop.items (id, embedding) VALUES (1, [1, 2, 3])`); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	db, err := adbcvecql.NewDriver().NewDatabase(map[string]string{"uri": "cassandra://" + cluster.Hosts()[0] + "/shop"})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	stmt, err := conn.NewStatement()
	if err != nil {
		log.Fatal(err)
	}
	defer stmt.Close()
	if err := stmt.SetSqlQuery("SELECT id, embedding FROM items"); err != nil {
		log.Fatal(err)
	}
	records, _, err := stmt.ExecuteQuery(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer records.Release()
	for records.Next() {
		vectors := records.RecordBatch().Column(1).(*array.FixedSizeList)
		fmt.Println(vectors.ListValues().(*array.Float32).Float32Values(), vectors.DataType().ID() == arrow.FIXED_SIZE_LIST)
	}
	// Output: [1 2 3] true
}
