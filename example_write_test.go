// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/stats"
)

// Examples of writing, and of what happens when it fails.

// A statement for a hot loop: it takes its values from a struct, and executing it allocates nothing.
func ExamplePrepare() {
	session, closeShop := openShop()
	defer closeShop()
	ctx := context.Background()

	type Item struct {
		ID        int
		Name      string
		Embedding []float32
	}
	insert, err := vecql.Prepare[Item](ctx, session.Query("INSERT INTO items (id, name, embedding) VALUES (?, ?, ?)"))
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range []Item{{10, "sofa", []float32{1, 0, 0}}, {11, "shelf", []float32{0, 1, 0}}} {
		if err := insert.Exec(ctx, &item); err != nil {
			log.Fatal(err)
		}
	}
	names := session.Query("SELECT name FROM items WHERE id IN (10, 11)")
	for name, err := range vecql.Rows[string](ctx, names) {
		fmt.Println(name, err)
	}
	// Output:
	// sofa <nil>
	// shelf <nil>
}

// The text of a statement from the fields of a struct, so that columns are listed once.
func ExampleInsertInto() {
	session, closeShop := openShop()
	defer closeShop()
	ctx := context.Background()

	type Item struct {
		ID        int
		Name      string
		Embedding []float32
	}
	fmt.Println(vecql.InsertInto[Item]("shop.items"))
	insert, err := vecql.Prepare[Item](ctx, session.Query(vecql.InsertInto[Item]("shop.items")))
	if err != nil {
		log.Fatal(err)
	}
	if err := insert.Exec(ctx, &Item{4, "bed", []float32{0, 0, 1}}); err != nil {
		log.Fatal(err)
	}
	item, err := vecql.OneRow[Item](ctx, session.Query(vecql.SelectFrom[Item]("shop.items")+" WHERE id = ?", 4))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(item)
	// Output:
	// INSERT INTO shop.items (id, name, embedding) VALUES (?, ?, ?)
	// {4 bed [0 0 1]}
}

func ExampleUpdateWhere() {
	type Item struct {
		ID        int
		Name      string
		Embedding []float32
	}
	fmt.Println(vecql.UpdateWhere[Item]("shop.items", "id"))
	// Output: UPDATE shop.items SET name = ?, embedding = ? WHERE id = ?
}

// A batch of typed statements.
func ExampleStatement_AddTo() {
	session, closeShop := openShop()
	defer closeShop()
	ctx := context.Background()
	type Item struct {
		ID        int
		Name      string
		Embedding []float32
	}
	insert, err := vecql.Prepare[Item](ctx, session.Query(vecql.InsertInto[Item]("shop.items")))
	if err != nil {
		log.Fatal(err)
	}
	remove, err := vecql.Prepare[Item](ctx, session.Query(vecql.DeleteWhere[Item]("shop.items", "id")))
	if err != nil {
		log.Fatal(err)
	}
	batch := session.Batch(cql.LoggedBatch)
	insert.AddTo(batch, &Item{5, "stool", []float32{0, 0, 1}})
	remove.AddTo(batch, &Item{ID: 1})
	if err := batch.Exec(ctx); err != nil {
		log.Fatal(err)
	}
	names, err := vecql.AllRows[string](ctx, session.Query("SELECT name FROM shop.items WHERE id IN (1, 5)"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(names)
	// Output: [stool]
}

func ExampleSelectFrom() {
	type Item struct {
		ID   int
		Name string `cql:"label"`
	}
	fmt.Println(vecql.SelectFrom[Item]("shop.items") + " WHERE id = ?")
	// Output: SELECT id, label FROM shop.items WHERE id = ?
}

// Rows of a batch, many at a time.
func ExampleQuery_PrepareRows() {
	session, closeShop := openShop()
	defer closeShop()
	ctx := context.Background()

	batch := column.NewBatch(
		column.Of("id", []int32{20, 21, 22}),
		column.Strings("name", []string{"cup", "plate", "bowl"}),
		column.Matrix("embedding", []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3),
	)
	insert, err := session.Query("INSERT INTO items (id, name, embedding) VALUES (?, ?, ?)").Idempotent(true).PrepareRows(ctx, batch.Schema())
	if err != nil {
		log.Fatal(err)
	}
	if err := insert.Exec(ctx, batch); err != nil {
		log.Fatal(err)
	}
	item, err := vecql.OneRow[map[string]any](ctx, session.Query("SELECT name, embedding FROM items WHERE id = ?", 21))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(item["name"], item["embedding"])
	// Output: plate [4 5 6]
}

// A logged batch: all statements are executed, or none.
func ExampleSession_Batch() {
	session, closeShop := openShop()
	defer closeShop()
	ctx := context.Background()

	batch := session.Batch(cql.LoggedBatch).
		Query("INSERT INTO orders (customer, number, item) VALUES (?, ?, ?)", "bob", 1, "lamp").
		Query("INSERT INTO customers (name) VALUES (?)", "bob")
	if err := batch.Exec(ctx); err != nil {
		log.Fatal(err)
	}
	item, err := vecql.OneRow[string](ctx, session.Query("SELECT item FROM orders WHERE customer = ?", "bob"))
	fmt.Println(item, err)
	// Output: lamp <nil>
}

// A lightweight transaction, and what is there when it is not applied.
func ExampleQuery_ScanCAS() {
	session, closeShop := openShop()
	defer closeShop()
	ctx := context.Background()

	rename := func(from, to string) {
		var current string
		update := session.Query("UPDATE items SET name = ? WHERE id = ? IF name = ?", to, 1, from)
		applied, err := update.SerialConsistency(cql.Serial).ScanCAS(ctx, &current)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%t %q\n", applied, current)
	}
	rename("lamp", "lantern")
	rename("lamp", "light")
	// Output:
	// true ""
	// false "lantern"
}

// patience sends a request again, after a wait, while its node is overloaded.
type patience struct{}

// Decide implements vecql.RetryPolicy.
func (patience) Decide(_ context.Context, a vecql.Attempt) vecql.Decision {
	if a.Class == stats.ClassOverloaded && a.Number <= 5 {
		return vecql.Decision{Type: vecql.Retry, Wait: 10 * time.Millisecond}
	}
	return vecql.Decision{} // the request fails with the error of the attempt
}

// A policy that waits for an overloaded node, which refuses two requests here.
func ExampleRetryPolicy() {
	cluster := startShop()
	defer cluster.Close()
	config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	config.Defaults.RetryPolicy = patience{}
	session, err := vecql.NewSession(context.Background(), *config)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	refused := cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 2, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	insert := session.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)", 5, "rug").Idempotent(true)
	fmt.Println(insert.Exec(context.Background()), refused.Hits())
	// Output: <nil> 2
}

// Settings with a name.
func ExampleProfile() {
	cluster := startShop()
	defer cluster.Close()
	config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	config.Profiles = map[string]vecql.Profile{
		"report": {Consistency: cql.One, RequestTimeout: time.Minute, PageSize: 10_000, Idempotent: true},
	}
	session, err := vecql.NewSession(context.Background(), *config)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	query := session.Query("SELECT name FROM shop.items").Profile("report")
	fmt.Println(query.GetConsistency(), query.GetRequestTimeout(), query.GetPageSize(), query.GetIdempotent())
	// Output: ONE 1m0s 10000 true
}

// Whether a write that failed may have been executed.
func ExampleMayHaveApplied() {
	cluster := startShop()
	defer cluster.Close()
	session, err := vecql.NewSession(context.Background(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	for _, code := range []int32{cqltest.CodeUnauthorized, cqltest.CodeServer} {
		cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 1, Error: &cqltest.Error{Code: code}})
		err := session.Query("INSERT INTO shop.orders (customer, number) VALUES (?, ?)", "ada", 4).Exec(context.Background())
		fmt.Println(errors.Is(err, cql.CodeUnauthorized), vecql.MayHaveApplied(err))
	}
	// Output:
	// true false
	// false true
}
