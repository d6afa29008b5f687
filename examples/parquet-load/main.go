// SPDX-License-Identifier: Apache-2.0

// Command parquet-load loads an id, a vector and any texts from Parquet files into a table with columns of the same
// names:
//
//	CREATE TABLE shop.items (id bigint PRIMARY KEY, symbol text, embedding vector<float, 384>)
//
//	go run ./examples/parquet-load -hosts 127.0.0.1 -table shop.items -id id -vector embedding -text symbol \
//		-progress items.json cmd/vecql/internal/tool/testdata/gostdlib.parquet
//
// The rows are written by package bulk. The progress file lists the rows that the cluster has acknowledged. A program
// that was interrupted resumes with the other rows when it is started with the same arguments: it does not read row
// groups whose rows are all done. Rows acknowledged just before the end are written again; they have the same keys, so
// they are the same rows. Only one program at a time may use a progress file.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/parquetscan"
)

// The command line, and the steps of a load.

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// A job is the source and the target of a load.
type job struct {
	hosts, user string
	table       string
	id, vector  string   // columns
	texts       []string // columns
	progress    string   // path
	bucketBytes int64
	inFlight    int
	files       []string
}

// run returns the exit code: 0 for success, 1 for a failure, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var j job
	flags := flag.NewFlagSet("parquet-load", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&j.hosts, "hosts", "127.0.0.1", "contact points, `host[:port],...`")
	flags.StringVar(&j.user, "user", "", "user name; the password is VECQL_PASSWORD in the environment")
	flags.StringVar(&j.table, "table", "", "the `keyspace.table` to write to")
	flags.StringVar(&j.id, "id", "id", "the `column` that is the primary key: integers, texts or UUIDs")
	flags.StringVar(&j.vector, "vector", "embedding", "the `column` of vectors")
	flags.Func("text", "a `column` of texts; repeat the flag for several columns", func(name string) error {
		j.texts = append(j.texts, name)
		return nil
	})
	flags.StringVar(&j.progress, "progress", "", "the `file` that lists the rows that are done")
	flags.Int64Var(&j.bucketBytes, "bucket-bytes", 64<<20,
		"compressed bytes of a bucket, which has at least one row group")
	flags.IntVar(&j.inFlight, "in-flight", 128, "largest number of rows written at a time")
	err := flags.Parse(args)
	j.files = flags.Args()
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, "usage: parquet-load -table keyspace.table -progress file [flags] file.parquet ...")
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return 0
	case err == nil && j.table == "":
		err = errors.New("-table is required")
	case err == nil && j.progress == "":
		err = errors.New("-progress is required")
	case err == nil && j.inFlight < 1:
		err = fmt.Errorf("-in-flight %d: must be at least 1", j.inFlight)
	case err == nil && len(j.files) == 0:
		err = errors.New("no files")
	}
	if err != nil {
		fmt.Fprintf(stderr, "parquet-load: %s, see -help\n", oneLine(err))
		return 2
	}
	if err := j.run(ctx, stdout); err != nil {
		fmt.Fprintf(stderr, "parquet-load: %s\n", oneLine(err))
		return 1
	}
	return 0
}

// oneLine returns the text of an error on one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// run opens files and session, and loads what is not done.
func (j *job) run(ctx context.Context, out io.Writer) error {
	ds, err := parquetscan.Open(ctx, j.files...)
	if err != nil {
		return err
	}
	defer ds.Close()
	// With Vectors a row of another dimension is an error that contains the row.
	columns := append([]string{j.id, j.vector}, j.texts...)
	scan, err := ds.Scan(parquetscan.Options{Columns: columns, Vectors: []string{j.vector}})
	if err != nil {
		return err
	}
	cfg := &vecql.ClusterConfig{Hosts: strings.Split(j.hosts, ",")}
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.Timeout = 30 * time.Second
	if j.user != "" {
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: j.user, Password: os.Getenv("VECQL_PASSWORD")}
	}
	session, err := vecql.NewSession(ctx, *cfg)
	if err != nil {
		return err
	}
	defer session.Close()
	return j.load(ctx, session, scan, out)
}

// load writes the rows that are not done, bucket by bucket. The writer's limits adapt to the cluster.
func (j *job) load(ctx context.Context, session *vecql.Session, scan *parquetscan.Scan, out io.Writer) error {
	buckets := scan.SplitByBytes(j.bucketBytes)
	input, err := json.Marshal(buckets) // the files with their sizes
	if err != nil {
		return err
	}
	w, err := bulk.Insert(ctx, session, j.table, bulk.Options{
		MaxInFlight: j.inFlight, AllowMissing: true,
		Checkpoint: j.progress, CheckpointEvery: 100 * time.Millisecond, Job: string(input),
	})
	if err != nil {
		return err
	}
	before, first, skipped := w.Checkpoint(), int64(0), 0
	for _, b := range buckets {
		if isDone(before, b, first) {
			skipped++
		} else {
			err = write(ctx, w, scan, b)
		}
		if err != nil {
			break // Close returns the error of the writer
		}
		first += b.Rows
		fmt.Fprintf(out, "bucket %d of %d: %d rows read\n", b.Number+1, len(buckets), b.Rows)
	}
	if closed := w.Close(ctx); closed != nil {
		err = closed
	}
	st := w.Stats()
	fmt.Fprintf(out, "wrote %d rows; %d of %d buckets were done before\n", st.Rows, skipped, len(buckets))
	return err
}

// write writes the rows of a bucket.
func write(ctx context.Context, w *bulk.Writer, scan *parquetscan.Scan, b parquetscan.Bucket) error {
	for batch, err := range scan.Batches(ctx, b) {
		if err == nil {
			err = w.Write(ctx, batch)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isDone reports whether all rows of a bucket are done. first is the number of its first row in all files.
func isDone(c bulk.Checkpoint, b parquetscan.Bucket, first int64) bool {
	for _, part := range b.Parts {
		if !c.Sources[part.File].Has(first, first+part.Rows) {
			return false
		}
		first += part.Rows
	}
	return true
}
