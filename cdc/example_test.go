// SPDX-License-Identifier: Apache-2.0

package cdc_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cdc"
	"github.com/vecql/vecql/cqltest"
)

func Example() {
	ctx := context.Background()
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1, Scylla: &cqltest.Scylla{Tablets: 2}})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
		CREATE TABLE shop.items (id int PRIMARY KEY, name text) WITH cdc = {'enabled': true, 'preimage': true};
		INSERT INTO shop.items (id, name) VALUES (1, 'lamp');
		UPDATE shop.items SET name = 'desk' WHERE id = 1;
		DELETE FROM shop.items WHERE id = 1`); err != nil {
		log.Fatal(err)
	}
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	reader, err := cdc.Open(ctx, session, "shop.items", cdc.Config{
		Until:      time.Now().Add(10 * time.Millisecond),
		Confidence: time.Millisecond, // one process, one clock, and the writes are done
	})
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range reader.Batches(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		for row := range batch.Rows {
			operation := cdc.Operation(batch.Column("cdc$operation").Value(row).(int8))
			fmt.Println(operation, batch.Column("id").Value(row), batch.Column("name").Value(row))
		}
	}
	fmt.Println(reader.Progress().Rows, "rows")
	// Output:
	// insert 1 lamp
	// preimage 1 lamp
	// update 1 desk
	// preimage 1 desk
	// delete partition 1 <nil>
	// 5 rows
}

// A change is a row of the log of shop.items, with the columns that the program needs.
type change struct {
	Operation cdc.Operation `cql:"cdc$operation"`
	ID        int
	Name      *string // nil: not part of the change
	Deleted   bool    `cql:"cdc$deleted_name"`
}

func ExampleRows() {
	ctx := context.Background()
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1, Scylla: &cqltest.Scylla{Tablets: 2}})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
		CREATE TABLE shop.items (id int PRIMARY KEY, name text, price double) WITH cdc = {'enabled': true};
		INSERT INTO shop.items (id, name, price) VALUES (1, 'lamp', 9.5);
		UPDATE shop.items SET price = 8 WHERE id = 1;
		UPDATE shop.items SET name = null WHERE id = 1;
		DELETE FROM shop.items WHERE id = 1`); err != nil {
		log.Fatal(err)
	}
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	reader, err := cdc.Open(ctx, session, "shop.items", cdc.Config{
		Until: time.Now().Add(10 * time.Millisecond), Confidence: time.Millisecond,
	})
	if err != nil {
		log.Fatal(err)
	}
	for c, err := range cdc.Rows[change](ctx, reader) {
		if err != nil {
			log.Fatal(err)
		}
		name := "-"
		if c.Name != nil {
			name = *c.Name
		}
		fmt.Println(c.Operation, c.ID, name, c.Deleted)
	}
	// Output:
	// insert 1 lamp false
	// update 1 - false
	// update 1 - true
	// delete partition 1 - false
}
