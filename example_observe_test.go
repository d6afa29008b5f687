// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// What a session has counted between two snapshots: a read, and a statement that the server refuses.
func ExampleSession_Stats() {
	session, closeShop := openShop()
	defer closeShop()
	before := session.Stats()
	for _, text := range []string{"SELECT name FROM items WHERE id = 1", "DROP TABLE invoices"} {
		if err := session.Query(text).Exec(context.Background()); err != nil {
			fmt.Println(vecql.ErrorClassOf(err))
		}
	}
	after := session.Stats()
	fmt.Println(after.Requests-before.Requests, after.Failed-before.Failed, after.Timeouts())
	for _, node := range after.Nodes {
		fmt.Println(node.Serves(), node.Latency.Count() > 0, node.Latency.Quantile(0.99) > 0)
	}
	// Output:
	// invalid
	// 2 1 0
	// true true true
}

// printAttempt is an Observer that prints each attempt. An observer of a program records it in a trace or a log. It is
// called on the goroutine of the request.
func printAttempt(_ context.Context, a vecql.ObservedAttempt) {
	outcome := "succeeded"
	if a.Err != nil {
		outcome = vecql.ErrorClassOf(a.Err).String()
	}
	fmt.Println(a.Attempt, a.Statements[0], outcome, a.End.Sub(a.Start) > 0)
}

// A request with two attempts: the first node that receives the statement is overloaded.
func ExampleObserver() {
	cluster := startShop()
	defer cluster.Close()
	cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	config.Keyspace = "shop"
	config.Defaults.Observer = printAttempt
	session, err := vecql.NewSession(context.Background(), *config)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	var name string
	if err := session.Query("SELECT name FROM items WHERE id = ?", 1).Scan(context.Background(), &name); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0 SELECT name FROM items WHERE id = ? overloaded true
	// 1 SELECT name FROM items WHERE id = ? succeeded true
}
