// SPDX-License-Identifier: Apache-2.0

// Command bulk-load writes the rows of Parquet files to a table.
//
//	go run ./examples/bulk-load [-files pattern] [-in-flight n] [-checkpoint file] [host:port ...]
//
// Without hosts it starts a cluster in its own process. With the default file, which is of this repository, it prints:
//
//	512 of 2911 rows read
//	1024 of 2911 rows read
//	1536 of 2911 rows read
//	2048 of 2911 rows read
//	2560 of 2911 rows read
//	2911 of 2911 rows read
//	wrote 2911 rows, 0 were there before
//	the table has 2911 rows, 970 of them without a signature
//
// The number of rows in flight adapts to the cluster, up to -in-flight. With -checkpoint, a load that was interrupted
// resumes when it is started again: rows that the file lists as written are not written again.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
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
	files := flags.String("files", "cmd/vecql/internal/tool/testdata/gostdlib.parquet", "`pattern` of the names of Parquet files")
	var o bulk.Options
	flags.IntVar(&o.MaxInFlight, "in-flight", 1024, "largest `number` of rows that are written at a time")
	flags.StringVar(&o.Checkpoint, "checkpoint", "", "`file` that lists the rows that are written")
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
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: hosts})
	if err != nil {
		return err
	}
	defer session.Close()
	for _, ddl := range []string{
		"CREATE KEYSPACE IF NOT EXISTS examples WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		`CREATE TABLE IF NOT EXISTS examples.symbols (id bigint PRIMARY KEY, package text, symbol text, kind text,
			synopsis text, signature text, lines int, embedding vector<float, 384>)`,
	} {
		if err := session.Query(ddl).Exec(ctx); err != nil {
			return err
		}
	}
	if err := load(ctx, session, *files, o, out); err != nil {
		return err
	}
	var rows, signatures int64
	count := session.Query("SELECT count(*), count(signature) FROM examples.symbols")
	if err := count.Scan(ctx, &rows, &signatures); err != nil {
		return err
	}
	fmt.Fprintf(out, "the table has %d rows, %d of them without a signature\n", rows, rows-signatures)
	return nil
}

// load writes the rows of all files. A column of the file goes to the column of its name. A NULL is not written: a new
// row needs no tombstone.
func load(ctx context.Context, session *vecql.Session, pattern string, o bulk.Options, out io.Writer) error {
	files, err := parquetscan.Open(ctx, pattern)
	if err != nil {
		return err
	}
	defer files.Close()
	w, err := bulk.Insert(ctx, session, "examples.symbols", o)
	if err != nil {
		return err
	}
	read := int64(0)
	for batch, err := range files.Batches(ctx) {
		if err == nil {
			err = w.Write(ctx, batch)
		}
		if err != nil {
			_ = w.Close(ctx) // its error is the error of Write
			return err
		}
		read += int64(batch.Rows)
		fmt.Fprintf(out, "%d of %d rows read\n", read, files.NumRows())
	}
	err = w.Close(ctx)
	st := w.Stats()
	fmt.Fprintf(out, "wrote %d rows, %d were there before\n", st.Rows, st.Skipped)
	return err
}
