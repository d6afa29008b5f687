// SPDX-License-Identifier: Apache-2.0

// Command generated is a service on code that vecql gen has written for the tables of a schema.
//
//	go run ./examples/generated [host:port ...]
//
// Without hosts it starts a cluster in its own process. The program is its own client, and prints:
//
//	PUT /carts/ada/lamp: {"customer":"ada","sku":"lamp","quantity":1}
//	GET /carts/ada: {"lines":[{"customer":"ada","sku":"lamp","quantity":1}]}
//	POST /products/desk?name=Table: exists: Desk
//	GET /products/desk: {"sku":"desk","embedding":[1,0,0],"name":"Desk","price":null}
//	GET /products/lamp/similar: rug, desk
//	GET /products/sofa: not found
//	desk was viewed
//
// The folder shop has the schema, the settings and the code; go generate writes the code again. In production,
// replicate the keyspace by NetworkTopologyStrategy.
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
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/examples/generated/shop"
	"github.com/vecql/vecql/search"
)

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
	tables, err := fill(ctx, session)
	if err != nil {
		return err
	}
	server := httptest.NewServer(service{tables, 20}.handler()) // in production http.ListenAndServe
	defer server.Close()
	for _, request := range []string{
		"PUT /carts/ada/lamp", "GET /carts/ada", "POST /products/desk?name=Table", "GET /products/desk", "GET /products/lamp/similar", "GET /products/sofa",
	} {
		text, err := ask(server.URL, request)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %s\n", request, text)
	}
	if views, err := tables.ProductView.Get(ctx, "desk"); err == nil && *views.Views > 0 {
		fmt.Fprintln(out, "desk was viewed")
	}
	return err
}

// fill creates the tables and writes products.
func fill(ctx context.Context, session *vecql.Session) (*shop.Tables, error) {
	for _, statement := range strings.Split(strings.TrimSpace(shop.Schema), ";\n") {
		if err := session.Query(strings.TrimSuffix(statement, ";")).Exec(ctx); err != nil {
			return nil, err
		}
	}
	tables, err := shop.Open(ctx, session)
	if err != nil {
		return nil, err
	}
	price := 49.5
	for _, product := range []shop.Product{
		{SKU: "lamp", Name: "Lamp", Price: &price, Embedding: []float32{0, 1, 0.5}},
		{SKU: "rug", Name: "Rug", Embedding: []float32{0, 1, 1}},
		{SKU: "desk", Name: "Desk", Embedding: []float32{1, 0, 0}},
	} {
		if err := tables.Product.Insert.Exec(ctx, &product); err != nil {
			return nil, err
		}
	}
	return tables, search.WaitReady(ctx, session, "examples.products(embedding)", nil)
}

// ask sends a request, and returns the text of the answer, or the names of found products.
func ask(url, request string) (string, error) {
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequest(method, url+path, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(response.Body)
	err = errors.Join(err, response.Body.Close())
	if !strings.HasSuffix(path, "/similar") || err != nil {
		return strings.TrimSpace(string(text)), err
	}
	var hits []search.Hit[shop.Product]
	if err := json.Unmarshal(text, &hits); err != nil {
		return "", err
	}
	names := make([]string, len(hits))
	for i, hit := range hits {
		names[i] = hit.Row.SKU
	}
	return strings.Join(names, ", "), nil
}
