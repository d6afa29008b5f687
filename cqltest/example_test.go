// SPDX-License-Identifier: Apache-2.0

package cqltest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// TestProgram is a typical test of a program: it needs no server.
func TestProgram(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{}) // three nodes, stopped when the test ends
	if err := cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
		CREATE TABLE shop.items (id int PRIMARY KEY, name text)`); err != nil {
		t.Fatal(err)
	}
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	cluster.Node(1).Kill() // two of three nodes are a quorum
	if err := session.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)", 1, "pear").Idempotent(true).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	var name string
	if err := session.Query("SELECT name FROM shop.items WHERE id = ?", 1).Scan(t.Context(), &name); err != nil || name != "pear" {
		t.Fatal(name, err)
	}
}

// A program's test: a cluster of three nodes, a schema, a session. Tests use the shorter cqltest.New(t,
// cqltest.Config{}).
func Example() {
	cluster, err := cqltest.Start(cqltest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
		CREATE TABLE shop.items (id int PRIMARY KEY, name text, embedding vector<float, 2>)`); err != nil {
		log.Fatal(err)
	}
	session, err := vecql.NewSession(context.Background(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	ctx := context.Background()
	insert := session.Query("INSERT INTO shop.items (id, name, embedding) VALUES (?, ?, ?)", 1, "pear", []float32{0.5, -1})
	if err := insert.Exec(ctx); err != nil {
		log.Fatal(err)
	}
	var name string
	if err := session.Query("SELECT name FROM shop.items WHERE id = ?", 1).Scan(ctx, &name); err != nil {
		log.Fatal(err)
	}
	fmt.Println(name)
	// Output: pear
}

// A fault that refuses a statement once.
func ExampleCluster_Inject() {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	session, err := vecql.NewSession(context.Background(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	rule := cluster.Inject(cqltest.Fault{
		Op: cqltest.OpExecute, Statement: "release_version", Times: 1, Error: &cqltest.Error{Code: cqltest.CodeInvalid, Message: "not today"},
	})
	query := session.Query("SELECT release_version FROM system.local")
	err = query.Exec(context.Background())
	fmt.Println(errors.Is(err, cql.CodeInvalid), rule.Hits())
	fmt.Println(query.Exec(context.Background()))
	// Output:
	// true 1
	// <nil>
}
