// SPDX-License-Identifier: Apache-2.0

// Command parquet-groupby groups the rows of Parquet files by some columns and prints the groups with the most rows:
//
//	go run ./examples/parquet-groupby -key kind -key package -value lines -limit 5 cmd/vecql/internal/tool/testdata/gostdlib.parquet
//
// It computes SELECT keys, count(*), sum(value) FROM files GROUP BY keys ORDER BY count(*) DESC LIMIT n over all files;
// arguments may be patterns. Groups with equal counts are ordered by their keys. All processors read and aggregate.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Command line.

// tableWidth is the width of the printed table in characters; wider tables omit columns.
const tableWidth = 1000

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit code: 0 for success, 1 for an error, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var q query
	flags := flag.NewFlagSet("parquet-groupby", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Func("key", "group by this `column`; repeat the flag for several", func(name string) error {
		q.keys = append(q.keys, name)
		return nil
	})
	flags.StringVar(&q.value, "value", "", "sum this `column` of numbers; by default rows are only counted")
	flags.IntVar(&q.limit, "limit", 10, "maximum `number` of groups to print; 0 prints all")
	flags.IntVar(&q.workers, "workers", 0, "`number` of goroutines that read and aggregate; 0 means one per processor")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, "usage: parquet-groupby -key column [-key column ...] [-value column] [-limit n] file.parquet ...")
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return 0
	case err == nil && len(q.keys) == 0:
		err = errors.New("-key is required")
	case err == nil && q.limit < 0:
		err = fmt.Errorf("-limit %d: must be at least 0", q.limit)
	case err == nil && q.workers < 0:
		err = fmt.Errorf("-workers %d: must be at least 0", q.workers)
	case err == nil && flags.NArg() == 0:
		err = errors.New("no files given")
	}
	if err != nil {
		fmt.Fprintf(stderr, "parquet-groupby: %s, see -help\n", oneLine(err))
		return 2
	}
	groups, err := q.run(ctx, flags.Args()...)
	if err == nil {
		_, err = fmt.Fprint(stdout, groups.Table(tableWidth, groups.Rows))
	}
	if err != nil {
		fmt.Fprintf(stderr, "parquet-groupby: %s\n", oneLine(err))
		return 1
	}
	return 0
}

// oneLine returns the text of an error on one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
