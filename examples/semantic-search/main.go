// SPDX-License-Identifier: Apache-2.0

// Command semantic-search answers questions about Go's standard library, by the embeddings of 2,911 doc comments.
//
//	go run ./examples/semantic-search [host:port ...]
//
// Without hosts it starts a cluster in its own process. It prints:
//
//	parse a date from text
//	  0.79  time.Parse: Parse parses a formatted string and returns the time va
//	  0.77  net/mail.ParseDate: ParseDate parses an RFC 5322 date string.
//	compress a stream of bytes
//	  0.78  compress/gzip.Writer: A Writer is an io.WriteCloser.
//	  0.78  compress/bzip2.NewReader: NewReader returns an io.Reader which decompresses bzip2
//
// In production, the model that made the embeddings of the texts embeds a question when it is asked.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/pipe"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// A Doc is a row of the table. A search reads the columns that have a field.
type Doc struct{ Package, Symbol, Synopsis string }

const data = "cmd/vecql/internal/tool/testdata" // the folder with the embeddings

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
	if err := load(ctx, session); err != nil {
		return err
	}
	docs, err := search.Open[Doc](ctx, session, "examples.docs")
	if err != nil {
		return err
	}
	questions, err := pipe.Parquet(data + "/gostdlib-queries.parquet").Limit(2).Batch(ctx)
	if err != nil {
		return err
	}
	for i := range questions.Rows {
		fmt.Fprintln(out, questions.Column("query").Value(i))
		question := questions.Column("embedding").Value(i).([]float32)
		for hit, err := range docs.Nearest(ctx, question, 2) {
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "  %.2f  %s.%s: %.55s\n", hit.Score, hit.Row.Package, hit.Row.Symbol, hit.Row.Synopsis)
		}
	}
	return nil
}

// load creates the table, writes the rows of the file, and creates the index.
func load(ctx context.Context, session *vecql.Session) error {
	docs, err := pipe.Parquet(data + "/gostdlib.parquet").Batch(ctx)
	if err != nil {
		return err
	}
	insert := session.Query("INSERT INTO examples.docs (package, symbol, kind, synopsis, embedding) VALUES (?, ?, ?, ?, ?)")
	return errors.Join(
		session.Query("CREATE KEYSPACE IF NOT EXISTS examples WITH replication = "+
			"{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}").Exec(ctx),
		session.Query("CREATE TABLE IF NOT EXISTS examples.docs (package text, symbol text, kind text, synopsis text, "+
			"embedding vector<float, 384>, PRIMARY KEY ((package, symbol)))").Exec(ctx),
		insert.Idempotent(true).ExecRows(ctx, docs),
		search.CreateIndex(ctx, session, "examples.docs(embedding)", vector.Cosine, search.IndexOptions{IfNotExists: true}),
		search.WaitReady(ctx, session, "examples.docs(embedding)", nil),
	)
}
