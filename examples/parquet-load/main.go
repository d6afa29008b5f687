// SPDX-License-Identifier: Apache-2.0

// Command parquet-load writes an id, a vector and any texts of Parquet files into a table, whose columns have the same names:
//
//	CREATE TABLE shop.items (id bigint PRIMARY KEY, symbol text, embedding vector<float, 384>)
//
//	go run ./examples/parquet-load -hosts 127.0.0.1 -table shop.items -id id -vector embedding -text symbol \
//		-progress items.json cmd/vecql/testdata/gostdlib.parquet
//
// The progress file says which buckets of row groups are done: those whose rows the cluster has acknowledged, all of them. Whatever ends
// the program, started again with the same arguments it goes on with the other buckets. Rows of a bucket that was half done are written
// again: they have the same key, so they are the same rows. One program at a time may use a progress file.
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

// This file holds the command line, and what is done in which order.

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// A job says what is to be loaded, where from and where to.
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

// run returns the exit code: 0 when all went well, 1 when it did not, 2 when it was called in a wrong way.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var j job
	flags := flag.NewFlagSet("parquet-load", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&j.hosts, "hosts", "127.0.0.1", "contact points, `host[:port],...`")
	flags.StringVar(&j.user, "user", "", "user name; the password is VECQL_PASSWORD in the environment")
	flags.StringVar(&j.table, "table", "", "the `keyspace.table` to write to")
	flags.StringVar(&j.id, "id", "id", "the `column` that is the primary key: integers, texts or UUIDs")
	flags.StringVar(&j.vector, "vector", "embedding", "the `column` of vectors")
	flags.Func("text", "a `column` of texts; give it once for each of several", func(name string) error {
		j.texts = append(j.texts, name)
		return nil
	})
	flags.StringVar(&j.progress, "progress", "", "the `file` that says what is done")
	flags.Int64Var(&j.bucketBytes, "bucket-bytes", 64<<20, "compressed bytes of a bucket, of one row group at least")
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
		err = errors.New("-table is needed")
	case err == nil && j.progress == "":
		err = errors.New("-progress is needed")
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
	ds, err := parquetscan.Open(ctx, parquetscan.Config{}, j.files...)
	if err != nil {
		return err
	}
	defer ds.Close()
	scan, err := ds.Scan(parquetscan.Options{Columns: j.columns()})
	if err != nil {
		return err
	}
	readers, err := j.readers(scan.Fields())
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
		// Prepared when it first runs. The same values for the same key: it may be sent twice, so the driver tries again by itself.
		return session.Query(p.Statement, values...).Idempotent(true).ExecContext(ctx)
	}
	before := len(p.Done)
	rows, err := l.run(ctx)
	fmt.Fprintf(out, "wrote %d rows; of %d buckets %d were done before and %d are now\n", rows, len(p.Buckets), before, len(p.Done))
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
