// SPDX-License-Identifier: Apache-2.0

// Command paging-api serves rows over HTTP by the page. A client gets the token of the next page with each page.
//
//	go run ./examples/paging-api [host:port ...]
//
// Without hosts it starts a cluster in its own process. The program is its own client, and prints:
//
//	[{1 lamp} {2 desk} {3 rug}]
//	the next page has a token
//	[{4 chair} {5 shelf}]
//
// In production, authorize the client for the customer, and sign the token: its checksum finds damage, not forgery.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// An Order is a row of the table orders.
type Order struct {
	Number int    `json:"number"`
	Item   string `json:"item"`
}

// A Page is the answer to a request. Next is the token of the next page, as text; the last page has none.
type Page struct {
	Orders []Order       `json:"orders"`
	Next   cql.PageToken `json:"next,omitempty"`
}

// handler serves GET /orders/{customer}?page=TOKEN. It keeps nothing between two requests.
func handler(session *vecql.Session) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{customer}", func(w http.ResponseWriter, r *http.Request) {
		token, err := cql.ParsePageToken(r.FormValue("page")) // no text is the first page
		if err != nil {
			http.Error(w, "invalid page", http.StatusBadRequest)
			return
		}
		query := session.Query("SELECT number, item FROM examples.orders WHERE customer = ?", r.PathValue("customer"))
		rows := query.PageSize(3).PageState(token).Iter(r.Context()) // one page
		page := Page{Orders: []Order{}, Next: rows.PageState()}
		var order Order
		for rows.Scan(&order.Number, &order.Item) {
			page.Orders = append(page.Orders, order)
		}
		if err := rows.Close(); err != nil {
			log.Print(err)
			http.Error(w, "the orders cannot be read", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(page) // fails if the client has gone
	})
	return mux
}

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, hosts []string, out io.Writer) error {
	if len(hosts) == 0 {
		cluster, err := cqltest.Start(cqltest.Config{})
		if err != nil {
			return err
		}
		defer cluster.Close()
		hosts = cluster.Hosts()
	}
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: hosts})
	if err != nil {
		return err
	}
	defer session.Close()
	for _, ddl := range []string{
		"CREATE KEYSPACE IF NOT EXISTS examples WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE IF NOT EXISTS examples.orders (customer text, number int, item text, PRIMARY KEY (customer, number))",
	} {
		if err := session.Query(ddl).Exec(ctx); err != nil {
			return err
		}
	}
	for i, item := range []string{"lamp", "desk", "rug", "chair", "shelf"} {
		insert := session.Query("INSERT INTO examples.orders (customer, number, item) VALUES (?, ?, ?)", "ada", i+1, item)
		if err := insert.Idempotent(true).Exec(ctx); err != nil {
			return err
		}
	}
	server := httptest.NewServer(handler(session)) // in production http.ListenAndServe
	defer server.Close()
	for token := ""; ; {
		response, err := http.Get(server.URL + "/orders/ada?page=" + token)
		if err != nil {
			return err
		}
		var page Page
		err = json.NewDecoder(response.Body).Decode(&page)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return fmt.Errorf("%s: %w", response.Status, err)
		}
		fmt.Fprintln(out, page.Orders)
		if token = page.Next.String(); token == "" {
			return nil
		}
		fmt.Fprintln(out, "the next page has a token")
	}
}
