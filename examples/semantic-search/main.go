// SPDX-License-Identifier: Apache-2.0

// Command semantic-search finds answers to questions among 2,911 functions and types of Go's standard library, by the
// embeddings of their doc comments.
//
//	go run ./examples/semantic-search [-data folder] [host:port ...]
//
// Without hosts it starts a cluster in its own process. It prints:
//
//	parse a date from text
//	  0.79  time.Parse          Parse parses a formatted string and returns the time va
//	  0.77  net/mail.ParseDate  ParseDate parses an RFC 5322 date string.
//	  0.77  time.ParseError     ParseError describes a problem parsing a time string.
//	compress a stream of bytes
//	  0.78  compress/gzip.Writer      A Writer is an io.WriteCloser.
//	  0.78  compress/bzip2.NewReader  NewReader returns an io.Reader which decompresses bzip2
//	  0.78  compress/lzw.Order        Order specifies the bit ordering in an LZW data stream.
//	wait for a group of goroutines to finish
//	  0.81  runtime.Goexit  Goexit terminates the goroutine that calls it.
//	  0.80  time.AfterFunc  AfterFunc waits for the duration to elapse and then cal
//	  0.79  time.Sleep      Sleep pauses the current goroutine for at least the dur
//
// In production, the model that made the embeddings of the texts embeds a question when it is asked. The vector indexes
// of ScyllaDB are USING 'vector_index'.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/parquetscan"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("semantic-search", flag.ContinueOnError)
	data := flags.String("data", "cmd/vecql/internal/tool/testdata", "`folder` with the texts and questions, and their embeddings")
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
		`CREATE TABLE IF NOT EXISTS examples.docs (id bigint PRIMARY KEY, package text, symbol text, synopsis text,
			embedding vector<float, 384>)`,
		`CREATE CUSTOM INDEX IF NOT EXISTS docs_embedding ON examples.docs (embedding)
			USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': 'cosine'}`,
	} {
		if err := session.Query(ddl).Exec(ctx); err != nil {
			return err
		}
	}
	insert := session.Query("INSERT INTO examples.docs (id, package, symbol, synopsis, embedding) VALUES (?, ?, ?, ?, ?)")
	if err := eachBatch(ctx, filepath.Join(*data, "gostdlib.parquet"), func(docs *column.Batch) error {
		return insert.Idempotent(true).ExecRows(ctx, docs)
	}); err != nil {
		return err
	}
	return eachBatch(ctx, filepath.Join(*data, "gostdlib-queries.parquet"), func(questions *column.Batch) error {
		texts, err := questions.Column("query").Text()
		if err != nil {
			return err
		}
		embeddings, err := column.MatrixOf[float32](questions.Column("embedding"))
		if err != nil {
			return err
		}
		for i := range min(3, questions.Rows) {
			fmt.Fprintln(out, texts.String(i))
			if err := search(ctx, session, embeddings.Row(i), out); err != nil {
				return err
			}
		}
		return nil
	})
}

// search prints the three texts whose embeddings are nearest to the question's.
func search(ctx context.Context, session *vecql.Session, question []float32, out io.Writer) error {
	type Hit struct {
		Similarity float32
		Package    string
		Symbol     string
		Synopsis   string
	}
	nearest := session.Query(`SELECT similarity_cosine(embedding, ?) AS similarity, package, symbol, synopsis FROM examples.docs
		ORDER BY embedding ANN OF ? LIMIT 3`, question, question).Consistency(cql.One) // as the index needs
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for hit, err := range vecql.Rows[Hit](ctx, nearest.Idempotent(true)) {
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "  %.2f\t%s.%s\t%.55s\n", hit.Similarity, hit.Package, hit.Symbol, hit.Synopsis)
	}
	return table.Flush()
}

// eachBatch calls do with each batch of rows of a Parquet file.
func eachBatch(ctx context.Context, path string, do func(*column.Batch) error) error {
	file, err := parquetscan.Open(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	for batch, err := range file.Batches(ctx) {
		if err == nil {
			err = do(batch)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
