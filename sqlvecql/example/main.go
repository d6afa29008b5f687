// SPDX-License-Identifier: Apache-2.0

// Command example finds the colors nearest to a color, with package database/sql.
//
//	go run ./sqlvecql/example [host:port ...]
//
// Without hosts it starts a cluster in its own process. It prints:
//
//	salmon  [0.98 0.5 0.45]  0.999
//	coral   [1 0.5 0.31]     0.991
//
// In production, set the consistency of writes apart from the consistency of searches: sqlvecql.WithQuery.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/sqlvecql"
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
	db, err := sql.Open(sqlvecql.Name, "cassandra://"+strings.Join(hosts, ",")+"?consistency=one") // as searches need
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return search(ctx, db, out)
}

// search writes three colors, and prints the two that are nearest to a further one.
func search(ctx context.Context, db *sql.DB, out io.Writer) error {
	for _, ddl := range []string{
		"CREATE KEYSPACE IF NOT EXISTS examples WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE IF NOT EXISTS examples.colors (name text PRIMARY KEY, rgb vector<float, 3>)",
		"CREATE CUSTOM INDEX IF NOT EXISTS colors_rgb ON examples.colors (rgb) USING 'StorageAttachedIndex'",
	} {
		if _, err := db.ExecContext(ctx, ddl); err != nil {
			return err
		}
	}
	colors := map[string][]float32{"salmon": {0.98, 0.5, 0.45}, "coral": {1, 0.5, 0.31}, "navy": {0, 0, 0.5}}
	for name, rgb := range colors {
		if _, err := db.ExecContext(ctx, "INSERT INTO examples.colors (name, rgb) VALUES (?, ?)", name, rgb); err != nil {
			return err
		}
	}
	const nearest = "SELECT name, rgb, similarity_cosine(rgb, :color) FROM examples.colors ORDER BY rgb ANN OF :color LIMIT 2"
	rows, err := db.QueryContext(ctx, nearest, sql.Named("color", []float32{0.9, 0.5, 0.5}))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var rgb []float32
		var similarity float64
		if err := rows.Scan(&name, &rgb, &similarity); err != nil {
			return err
		}
		fmt.Fprintf(out, "%-7s %-16v %.3f\n", name, fmt.Sprint(rgb), similarity)
	}
	return rows.Err()
}
