// SPDX-License-Identifier: Apache-2.0

// Command parquet-load loads an id, a vector and any texts from Parquet files into a table with columns of the same
// names:
//
//	CREATE TABLE shop.items (id bigint PRIMARY KEY, symbol text, embedding vector<float, 384>)
//
//	go run ./examples/parquet-load -hosts 127.0.0.1 -table shop.items -id id -vector embedding -text symbol \
//		-progress items.json internal/tool/testdata/gostdlib.parquet
//
// The progress file lists the buckets of row groups that are done: the cluster has acknowledged all their rows. A
// program that was interrupted resumes with the other buckets when it is started with the same arguments. Rows of a
// bucket that was partly done are written again; they have the same keys, so they are the same rows. Only one program
// at a time may use a progress file.
package main

import (
	"context"
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
	flags.StringVar(&j.progress, "progress", "", "the `file` that lists the buckets that are done")
	flags.Int64Var(&j.bucketBytes, "bucket-bytes", 64<<20,
		"compressed bytes of a bucket, which has at least one row group")
	flags.IntVar(&j.inFlight, "in-flight", 128, "rows written at a time")
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

// run opens files, progress and session, and loads what is not done.
func (j *job) run(ctx context.Context, out io.Writer) error {
	ds, err := parquetscan.Open(ctx, j.files...)
	if err != nil {
		return err
	}
	defer ds.Close()
	// With Vectors a row of another dimension is an error that contains the row.
	scan, err := ds.Scan(parquetscan.Options{Columns: j.columns(), Vectors: []string{j.vector}})
	if err != nil {
		return err
	}
	readers, err := j.readers(scan.Schema())
	if err != nil {
		return err
	}
	p, err := openProgress(ctx, j.progress, j.statement(), ds, scan, j.bucketBytes)
	if err != nil {
		return err
	}
	cfg := vecql.NewCluster(strings.Split(j.hosts, ",")...)
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.Timeout = 30 * time.Second
	if j.user != "" {
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: j.user, Password: os.Getenv("VECQL_PASSWORD")}
	}
	session, err := vecql.NewSessionContext(ctx, *cfg)
	if err != nil {
		return err
	}
	defer session.Close()
	l := &loader{scan: scan, readers: readers, progress: p, inFlight: j.inFlight, out: out}
	l.insert = func(ctx context.Context, values []any) error {
		// The driver prepares the statement at its first use. It writes the same values for the same key, so it is
		// idempotent and the driver may retry it.
		return session.Query(p.Statement, values...).Idempotent(true).ExecContext(ctx)
	}
	before := len(p.Done)
	rows, err := l.run(ctx)
	fmt.Fprintf(out, "wrote %d rows; of %d buckets %d were done before and %d are now\n", rows, len(p.Buckets), before,
		len(p.Done))
	return err
}

// columns returns the columns in the order of the statement's bind markers.
func (j *job) columns() []string { return append([]string{j.id, j.vector}, j.texts...) }

// statement returns the statement that writes one row.
func (j *job) statement() string {
	var names, markers []string
	for _, c := range j.columns() {
		names = append(names, `"`+strings.ReplaceAll(c, `"`, `""`)+`"`)
		markers = append(markers, "?")
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", j.table, strings.Join(names, ", "), strings.Join(markers, ", "))
}
