// SPDX-License-Identifier: Apache-2.0

package sqlvecql_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/sqlvecql"
)

// Vectors, sets and user-defined types are arguments and destinations.
func Example() {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	db, err := sql.Open("vecql", "cassandra://"+cluster.Hosts()[0])
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ctx := context.Background()
	for _, statement := range []string{
		"CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TYPE shop.address (street text, city text)",
		"CREATE TABLE shop.makers (id int PRIMARY KEY, home frozen<address>, tags set<text>, embedding vector<float, 3>)",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			log.Fatal(err)
		}
	}
	type Address struct{ Street, City string }
	tags := map[string]struct{}{"brass": {}, "lamps": {}}
	if _, err := db.ExecContext(ctx, "INSERT INTO shop.makers (id, home, tags, embedding) VALUES (?, ?, ?, ?)",
		1, Address{"Main", "Oslo"}, tags, []float32{1, 2, 3}); err != nil {
		log.Fatal(err)
	}
	var home *Address // nil is NULL
	var embedding []float32
	clear(tags)
	if err := db.QueryRowContext(ctx, "SELECT home, tags, embedding FROM shop.makers WHERE id = ?", 1).
		Scan(sqlvecql.Scan(&home), sqlvecql.Scan(&tags), &embedding); err != nil {
		log.Fatal(err)
	}
	fmt.Println(*home, tags, embedding)
	// Output: {Main Oslo} map[brass:{} lamps:{}] [1 2 3]
}

// RowsAffected of a statement with a condition reports whether it was applied.
func Example_condition() {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.users (name text PRIMARY KEY)`); err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("vecql", "cassandra://"+cluster.Hosts()[0]+"/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for range 2 {
		res, err := db.Exec("INSERT INTO users (name) VALUES (?) IF NOT EXISTS", "ann")
		if err != nil {
			log.Fatal(err)
		}
		n, err := res.RowsAffected()
		fmt.Println(n, err)
	}
	// Output:
	// 1 <nil>
	// 0 <nil>
}

// A session with the policies of the program, and an option of one statement.
func ExampleOpenDB() {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	config, err := sqlvecql.ParseURI("cassandra://" + cluster.Hosts()[0] + "?timeout=5s")
	if err != nil {
		log.Fatal(err)
	}
	config.Defaults.RetryPolicy = &vecql.SimpleRetryPolicy{NumRetries: 3}
	session, err := vecql.NewSession(context.Background(), *config)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	db := sqlvecql.OpenDB(session)
	defer func() { _ = db.Close() }()
	ctx := sqlvecql.WithQuery(context.Background(), func(q *vecql.Query) { q.Consistency(cql.One) })
	var name string
	if err := db.QueryRowContext(ctx, "SELECT cluster_name FROM system.local").Scan(&name); err != nil {
		log.Fatal(err)
	}
	fmt.Println(name)
	// Output: cqltest
}

// A field of a struct whose type package database/sql does not convert to.
func ExampleOf() {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.items (id int PRIMARY KEY, size frozen<tuple<int, int>>, tags set<text>)`); err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("vecql", "cassandra://"+cluster.Hosts()[0]+"/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	type size struct{ Width, Height int }
	type item struct {
		ID   int
		Size sqlvecql.Of[*size] // nil is NULL
		Tags sqlvecql.Of[map[string]struct{}]
	}
	desk := item{ID: 1}
	desk.Size.V = &size{160, 72}
	if _, err := db.Exec("INSERT INTO items (id, size, tags) VALUES (?, ?, ?)", desk.ID, desk.Size, desk.Tags); err != nil {
		log.Fatal(err)
	}
	var found item
	if err := db.QueryRow("SELECT id, size, tags FROM items").Scan(&found.ID, &found.Size, &found.Tags); err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.ID, *found.Size.V, found.Tags.V == nil)
	// Output: 1 {160 72} true
}
