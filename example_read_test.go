// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Examples of reading.

// Rows as structs, one by one.
func ExampleRows() {
	session, closeShop := openShop()
	defer closeShop()

	type Order struct {
		Number int
		What   string `cql:"item"`
	}
	query := session.Query("SELECT number, item FROM orders WHERE customer = ?", "ada")
	for order, err := range vecql.Rows[Order](context.Background(), query) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(order.Number, order.What)
	}
	// Output:
	// 1 lamp
	// 2 chair
	// 3 desk
}

// A row as a map, and one value. Another number of rows than one is an error.
func ExampleOneRow() {
	session, closeShop := openShop()
	defer closeShop()
	ctx := context.Background()

	item, err := vecql.OneRow[map[string]any](ctx, session.Query("SELECT id, name FROM items WHERE id = ?", 1))
	if err != nil {
		log.Fatal(err)
	}
	count, err := vecql.OneRow[int64](ctx, session.Query("SELECT count(*) FROM orders WHERE customer = ?", "ada"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = vecql.OneRow[string](ctx, session.Query("SELECT name FROM items WHERE id = ?", 99))
	fmt.Println(item, count, err)
	// Output: map[id:1 name:lamp] 3 vecql: not found: the result has no row
}

// A page for each request of a client, which receives a token for the next one.
func ExamplePages() {
	session, closeShop := openShop()
	defer closeShop()

	answer := func(text string) (items []string, next string) {
		token, err := cql.ParsePageToken(text) // an empty text is the first page
		if err != nil {
			log.Fatal(err)
		}
		query := session.Query("SELECT item FROM orders WHERE customer = ?", "ada").PageSize(2).PageState(token)
		for page, err := range vecql.Pages[string](context.Background(), query) { // one page
			if err != nil {
				log.Fatal(err)
			}
			items, next = page.Rows, page.Source.NextPage.String()
		}
		return items, next
	}
	first, next := answer("")
	second, end := answer(next)
	fmt.Println(first, second, end == "")
	// Output: [lamp chair] [desk] true
}

// Rows by Scan, in variables that are used again.
func ExampleQuery_Iter() {
	session, closeShop := openShop()
	defer closeShop()

	rows := session.Query("SELECT number, item FROM orders WHERE customer = ?", "ada").Iter(context.Background())
	var number int
	var item string
	for rows.Scan(&number, &item) {
		fmt.Println(number, item)
	}
	if err := rows.Close(); err != nil { // the error that ended the rows, if one did
		log.Fatal(err)
	}
	// Output:
	// 1 lamp
	// 2 chair
	// 3 desk
}

// Cells as the server sent them, for a program that decodes them itself.
func ExampleIter_NextRaw() {
	session, closeShop := openShop()
	defer closeShop()

	rows := session.Query("SELECT number, item FROM orders WHERE customer = ?", "ada").Iter(context.Background())
	columns := rows.Columns()
	cells := make([][]byte, len(columns))
	for rows.NextRaw(cells) { // cells are valid until the next call
		var item string
		if err := vecql.Unmarshal(columns[1].TypeInfo, cells[1], &item); err != nil {
			log.Fatal(err)
		}
		fmt.Println(cells[0], item)
	}
	if err := rows.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [0 0 0 1] lamp
	// [0 0 0 2] chair
	// [0 0 0 3] desk
}

// Destinations for columns that the program does not know.
func ExampleNewValue() {
	session, closeShop := openShop()
	defer closeShop()

	rows := session.Query("SELECT number, item FROM orders WHERE customer = ?", "ada").Iter(context.Background())
	var row []any
	for _, column := range rows.Columns() {
		row = append(row, vecql.NewValue(column.TypeInfo))
	}
	for rows.Scan(row...) {
		fmt.Printf("%T %T\n", row[0], row[1])
		break
	}
	if err := rows.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: *int *string
}

// Whole columns: a batch for each page.
func ExampleQuery_Batches() {
	session, closeShop := openShop()
	defer closeShop()

	for batch, err := range session.Query("SELECT number, item FROM orders WHERE customer = ?", "ada").Batches(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		numbers, err := column.Slice[int32](batch.Column("number"))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(numbers)
		fmt.Print(batch)
	}
	// Output:
	// [1 2 3]
	// number  item
	//  int32  string
	//      1  lamp
	//      2  chair
	//      3  desk
	// 3 rows
}

// Each vector is decoded into the same memory, without an allocation.
func ExampleInto() {
	session, closeShop := openShop()
	defer closeShop()

	var id int
	embedding := make([]float32, 3)
	into := vecql.Into(embedding)
	rows := session.Query("SELECT id, embedding FROM items WHERE id = ?", 1).Iter(context.Background())
	for rows.Scan(&id, into) {
		fmt.Println(id, embedding) // copy embedding to keep it: the next row overwrites it
	}
	if err := rows.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: 1 [0.5 0.25 -1]
}

// The bytes of a vector where they lie, valid until the next row.
func ExampleBorrow() {
	session, closeShop := openShop()
	defer closeShop()

	var cell []byte
	borrow := vecql.Borrow(&cell)
	rows := session.Query("SELECT embedding FROM items WHERE id = ?", 1).Iter(context.Background())
	for rows.Scan(borrow) {
		fmt.Println(len(cell), math.Float32frombits(binary.BigEndian.Uint32(cell)))
	}
	if err := rows.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: 12 0.5
}

// A value that may be NULL.
func ExampleNull() {
	session, closeShop := openShop()
	defer closeShop()
	ctx := context.Background()

	type Item struct {
		ID   int
		Name cql.Null[string] // a *string does it, too
	}
	for _, id := range []int{1, 2} {
		item, err := vecql.OneRow[Item](ctx, session.Query("SELECT id, name FROM items WHERE id = ?", id))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %q %t\n", item.ID, item.Name.V, item.Name.Valid)
	}
	insert := session.Query("INSERT INTO items (id, name) VALUES (?, ?)", 3, cql.NullOf("desk"))
	if err := insert.Exec(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 "lamp" true
	// 2 "" false
}

// A user-defined type is a struct, whose fields are found by tag or name.
func Example_userDefinedType() {
	session, closeShop := openShop()
	defer closeShop()
	ctx := context.Background()

	type Address struct {
		Street string
		Town   string `cql:"city"`
	}
	type Customer struct {
		Name string
		Home *Address // nil is NULL
	}
	insert := session.Query("INSERT INTO customers (name, home) VALUES (?, ?)", "ada", Address{"Main St", "London"})
	if err := insert.Exec(ctx); err != nil {
		log.Fatal(err)
	}
	customer, err := vecql.OneRow[Customer](ctx, session.Query("SELECT name, home FROM customers WHERE name = ?", "ada"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(customer.Name, *customer.Home)
	// Output: ada {Main St London}
}
