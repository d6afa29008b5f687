// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat/compattest"
)

// A program moves to vecql's verbs one by one, with the session that it has.
func ExampleSession_Vecql() {
	cluster := compattest.Start() // the keyspace shop with a table of items
	defer cluster.Close()
	session, err := gocql.NewCluster(cluster.Hosts()...).CreateSession()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	if err := session.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)", 1, "lamp").Exec(); err != nil {
		log.Fatal(err)
	}

	type item struct {
		ID   int
		Name string
	}
	ctx := context.Background()
	for row, err := range vecql.Rows[item](ctx, session.Vecql().Query("SELECT id, name FROM shop.items")) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.ID, row.Name)
	}
	// Output: 1 lamp
}
