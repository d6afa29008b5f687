// SPDX-License-Identifier: Apache-2.0

// Command bulk-load writes the rows of Parquet files to a table.
//
//	go run ./examples/bulk-load [-files pattern] [-in-flight n] [host:port ...]
//
// Without hosts it starts a cluster in its own process. With the default file, which is of this repository, it prints:
//
//	512 of 2911 rows
//	1024 of 2911 rows
//	1536 of 2911 rows
//	2048 of 2911 rows
//	2560 of 2911 rows
//	2911 of 2911 rows
//	the table has 2911 rows, 970 of them without a signature
//
// In production, raise -in-flight until the cluster is busy; each batch has up to 128 rows in flight. A load that must
// resume after a crash keeps a list of what is done: see examples/parquet-load.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/parquetscan"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bulk-load", flag.ContinueOnError)
	files := flags.String("files", "cmd/vecql/testdata/gostdlib.parquet", "`pattern` of the names of Parquet files")
	inFlight := flags.Int("in-flight", 128, "`number` of rows that are written at a time, at most 128")
	if err := flags.Parse(args); err != nil {
		return err
	}
	hosts := flags.Args()
	if len(hosts) == 0 {
		cluster, err := cqltest.Start(cqltest.Config{})
		if err != nil {
			return err
		}
		defer cluster.Close()
		hosts = cluster.Hosts()
	}
	config := vecql.NewCluster(hosts...)
	config.Throttle.MaxRequests = *inFlight
	session, err := config.CreateSession()
	if err != nil {
		return err
	}
	defer session.Close()
	for _, ddl := range []string{
		"CREATE KEYSPACE IF NOT EXISTS examples WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		`CREATE TABLE IF NOT EXISTS examples.symbols (id bigint PRIMARY KEY, package text, symbol text, kind text,
			synopsis text, signature text, lines int, embedding vector<float, 384>)`,
	} {
		if err := session.Query(ddl).ExecContext(ctx); err != nil {
			return err
		}
	}
	if err := load(ctx, session, *files, out); err != nil {
		return err
	}
	var rows, signatures int64
	count := session.Query("SELECT count(*), count(signature) FROM examples.symbols")
	if err := count.ScanContext(ctx, &rows, &signatures); err != nil {
		return err
	}
	fmt.Fprintf(out, "the table has %d rows, %d of them without a signature\n", rows, rows-signatures)
	return nil
}

// load writes the rows of all files.
func load(ctx context.Context, session *vecql.Session, pattern string, out io.Writer) error {
	files, err := parquetscan.Open(ctx, pattern)
	if err != nil {
		return err
	}
	defer files.Close()
	// ExecRows prepares the statement once. A bind marker takes the column of its name. A NULL is not written: a new row
	// needs no tombstone.
	insert := session.Query(`INSERT INTO examples.symbols (id, package, symbol, kind, synopsis, signature, lines, embedding)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`).Idempotent(true).NullsUnset(true)
	done := 0
	for batch, err := range files.Batches(ctx) {
		if err == nil {
			err = insert.ExecRows(ctx, batch)
		}
		if err != nil {
			return fmt.Errorf("after %d rows: %w", done, err)
		}
		done += batch.Rows
		fmt.Fprintf(out, "%d of %d rows\n", done, files.NumRows())
	}
	return nil
}
