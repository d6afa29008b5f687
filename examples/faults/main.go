// SPDX-License-Identifier: Apache-2.0

// Command faults runs a function under faults of the cluster, as a test of the function does (main_test.go).
//
//	go run ./examples/faults
//
// The faults need a cluster of package cqltest, so the program takes no hosts. It prints:
//
//	fault                       sold  requests  sell returns
//	none                        1     1         nil
//	a node is overloaded        1     2         nil
//	one of three nodes is down  1     1         nil
//	two of three are down       0     1         not sold
//	the answer is lost          1     1         perhaps sold
//	the server fails            0     1         perhaps sold
//
// In a program, the scenarios are in a test, the function is one of the program, and the faults are those that it must
// survive.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"text/tabwriter"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Errors of sell.
var (
	errNotSold = errors.New("not sold")
	errUnknown = errors.New("perhaps sold")
)

// sell counts a sale: the function under test. A counter must not be incremented twice, so the statement is not
// idempotent, and no policy makes the driver send it again unless it certainly was not executed.
func sell(ctx context.Context, session *vecql.Session, item string) error {
	err := session.Query("UPDATE shop.sales SET sold = sold + 1 WHERE item = ?", item).
		RetryPolicy(vecql.SimpleRetryPolicy{NumRetries: 2}).Exec(ctx)
	switch {
	case err == nil:
		return nil
	case vecql.MayHaveApplied(err):
		return fmt.Errorf("%w: %w", errUnknown, err)
	default:
		return fmt.Errorf("%w: %w", errNotSold, err)
	}
}

// A scenario is a fault, and what must come of a sale.
type scenario struct {
	fault string
	apply func(c *cqltest.Cluster)
	want  result
}

// A result is what came of a sale.
type result struct {
	err      error // that sell returned
	sold     int64 // that the cluster has counted
	requests int64 // that the cluster has received
}

var scenarios = []scenario{
	{"none", func(*cqltest.Cluster) {}, result{nil, 1, 1}},
	{"a node is overloaded", next(cqltest.Fault{Error: &cqltest.Error{Code: cqltest.CodeOverloaded}}), result{nil, 1, 2}},
	{"one of three nodes is down", func(c *cqltest.Cluster) { c.Node(0).Kill() }, result{nil, 1, 1}},
	{"two of three are down", func(c *cqltest.Cluster) { c.Node(0).Kill(); c.Node(2).Kill() }, result{errNotSold, 0, 1}},
	{"the answer is lost", next(cqltest.Fault{Close: true}), result{errUnknown, 1, 1}},
	{"the server fails", next(cqltest.Fault{Error: &cqltest.Error{Code: cqltest.CodeServer}}), result{errUnknown, 0, 1}},
}

// next returns a function that injects a fault of the next UPDATE.
func next(f cqltest.Fault) func(c *cqltest.Cluster) {
	f.Op, f.Statement, f.Times = cqltest.OpExecute, "UPDATE", 1
	return func(c *cqltest.Cluster) { c.Inject(f) }
}

// run sells a lamp in a cluster with the fault.
func (s *scenario) run(ctx context.Context) (r result, err error) {
	var requests atomic.Int64
	cluster, err := cqltest.Start(cqltest.Config{OnRequest: func(r cqltest.Request) {
		if r.Op == cqltest.OpExecute && strings.HasPrefix(r.Statement, "UPDATE") {
			requests.Add(1)
		}
	}})
	if err != nil {
		return r, err
	}
	defer cluster.Close()
	if err := cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE shop.sales (item text PRIMARY KEY, sold counter)`); err != nil {
		return r, err
	}
	s.apply(cluster)
	config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	config.Logger = slog.New(slog.DiscardHandler) // nodes that are down are expected
	session, err := vecql.NewSession(ctx, *config)
	if err != nil {
		return r, err
	}
	defer session.Close()
	r.err = sell(ctx, session, "lamp")
	r.requests = requests.Load()
	sold := session.Query("SELECT sold FROM shop.sales WHERE item = ?", "lamp").Consistency(cql.One)
	r.sold, err = vecql.OneRow[int64](ctx, sold)
	if errors.Is(err, vecql.ErrNotFound) {
		err = nil
	}
	return r, err
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "fault\tsold\trequests\tsell returns")
	for _, s := range scenarios {
		r, err := s.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", s.fault, err)
		}
		said := "nil"
		for _, e := range []error{errNotSold, errUnknown} {
			if errors.Is(r.err, e) {
				said = e.Error()
			}
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\n", s.fault, r.sold, r.requests, said)
	}
	return table.Flush()
}
