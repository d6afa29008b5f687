// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat/compattest"
)

// A program moves to vecql's verbs one by one. A row that is not there is the same error by both.
func ExampleSession_Vecql() {
	cluster := compattest.Start() // the keyspace shop with a table of items
	defer cluster.Close()
	config := gocql.NewCluster(cluster.Hosts()...)
	config.Keyspace = "shop"
	session, err := config.CreateSession()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	const query = "SELECT name FROM items WHERE id = ?"
	var name string
	before := session.Query(query, 1).Scan(&name)
	name, after := vecql.OneRow[string](context.Background(), session.Vecql().Query(query, 1))
	fmt.Println(errors.Is(before, gocql.ErrNotFound), errors.Is(after, vecql.ErrNotFound), before)
	// Output: true true not found
}
