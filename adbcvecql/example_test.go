// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/vecql/vecql/adbcvecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
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

// Record batches are written to a new table, and read in partitions. Any process could read each.
func Example_ingest() {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"); err != nil {
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
	record, err := arrowcolumn.Record(column.NewBatch(
		column.Of("id", []int32{1, 2, 3}),
		column.Matrix("embedding", []float32{0.5, 1, 0.25, 0, 1, 1}, 2),
	))
	if err != nil {
		log.Fatal(err)
	}
	defer record.Release()

	write, err := conn.NewStatement()
	if err != nil {
		log.Fatal(err)
	}
	defer write.Close()
	for _, option := range [][2]string{
		{adbc.OptionKeyIngestTargetTable, "items"},
		{adbc.OptionKeyIngestMode, adbc.OptionValueIngestModeCreate},
		{"vecql.ingest.primary_key", "id"},
	} {
		if err := write.SetOption(option[0], option[1]); err != nil {
			log.Fatal(err)
		}
	}
	if err := write.Bind(ctx, record); err != nil {
		log.Fatal(err)
	}
	written, err := write.ExecuteUpdate(ctx)
	if err != nil {
		log.Fatal(err)
	}

	read, err := conn.NewStatement()
	if err != nil {
		log.Fatal(err)
	}
	defer read.Close()
	if err := read.SetSqlQuery("SELECT id, embedding FROM items"); err != nil {
		log.Fatal(err)
	}
	_, partitions, _, err := read.ExecutePartitions(ctx)
	if err != nil {
		log.Fatal(err)
	}
	rows := int64(0)
	for _, id := range partitions.PartitionIDs {
		records, err := conn.ReadPartition(ctx, id)
		if err != nil {
			log.Fatal(err)
		}
		for records.Next() {
			rows += records.RecordBatch().NumRows()
		}
		records.Release()
	}
	fmt.Println("wrote", written, "rows, read", rows, "in", partitions.NumPartitions, "partitions")
	// Output: wrote 3 rows, read 3 in 32 partitions
}
