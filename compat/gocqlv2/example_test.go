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
	if err := session.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)", 1, "lamp").Exec(); err != nil {
		log.Fatal(err)
	}

	type Item struct {
		ID   int
		Name string
	}
	query := session.Vecql().Query("SELECT id, name FROM shop.items")
	for item, err := range vecql.Rows[Item](context.Background(), query) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.ID, item.Name)
	}
	// Output: 1 lamp
}
