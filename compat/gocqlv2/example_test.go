// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"fmt"
	"log"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// A program moves piece by piece: its old statements stay as they are, and new ones use vecql's verbs on the same
// connections.
func ExampleSession_Vecql() {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	for _, statement := range []string{
		"CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE shop.items (id int PRIMARY KEY, name text)",
	} {
		if err := cluster.Exec(statement); err != nil {
			log.Fatal(err)
		}
	}
	session, err := gocql.NewCluster(cluster.Hosts()...).CreateSession()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	type Item struct {
		ID   int
		Name string
	}
	ctx := context.Background()
	insert, err := vecql.Prepare[Item](ctx, session.Vecql().Query(vecql.InsertInto[Item]("shop.items")))
	if err != nil {
		log.Fatal(err)
	}
	if err := insert.Exec(ctx, &Item{1, "lamp"}); err != nil {
		log.Fatal(err)
	}
	var name string
	if err := session.Query("SELECT name FROM shop.items WHERE id = ?", 1).ScanContext(ctx, &name); err != nil {
		log.Fatal(err)
	}
	fmt.Println(name)
	// Output: lamp
}
