// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Examples run on a cluster within the process. startShop and openShop stand for a program's own cluster and session.

// startShop starts a node with tables of a shop and a few rows in them.
func startShop() *cqltest.Cluster {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	if err != nil {
		log.Fatal(err)
	}
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.items (id int PRIMARY KEY, name text, embedding vector<float, 3>);
		CREATE TABLE shop.orders (customer text, number int, item text, PRIMARY KEY (customer, number));
		CREATE TYPE shop.address (street text, city text);
		CREATE TABLE shop.customers (name text PRIMARY KEY, home frozen<shop.address>);
		INSERT INTO shop.items (id, name, embedding) VALUES (1, 'lamp', [0.5, 0.25, -1]);
		INSERT INTO shop.items (id) VALUES (2);
		INSERT INTO shop.orders (customer, number, item) VALUES ('ada', 1, 'lamp');
		INSERT INTO shop.orders (customer, number, item) VALUES ('ada', 2, 'chair');
		INSERT INTO shop.orders (customer, number, item) VALUES ('ada', 3, 'desk')`); err != nil {
		log.Fatal(err)
	}
	return cluster
}

// openShop starts a shop and returns a session of it, and what closes both.
func openShop() (session *vecql.Session, closeShop func()) {
	cluster := startShop()
	config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	config.Keyspace = "shop"
	session, err := vecql.NewSession(context.Background(), *config)
	if err != nil {
		log.Fatal(err)
	}
	return session, func() {
		session.Close()
		cluster.Close()
	}
}

// A program: a cluster, a session, a row that is written and read. The cluster runs within the process, by package
// cqltest.
func Example() {
	cluster, err := cqltest.Start(cqltest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE shop.items (id int PRIMARY KEY, name text, embedding vector<float, 3>)`); err != nil {
		log.Fatal(err)
	}

	config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	config.Keyspace = "shop"
	session, err := vecql.NewSession(context.Background(), *config)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	ctx := context.Background()
	insert := session.Query("INSERT INTO items (id, name, embedding) VALUES (?, ?, ?)", 1, "lamp", []float32{0.5, 0.25, -1})
	if err := insert.Exec(ctx); err != nil {
		log.Fatal(err)
	}

	type Item struct {
		ID        int
		Name      string
		Embedding []float32
	}
	item, err := vecql.OneRow[Item](ctx, session.Query("SELECT id, name, embedding FROM items WHERE id = ?", 1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(item)
	// Output: {1 lamp [0.5 0.25 -1]}
}

// TLS, a password and a local data center.
func ExampleClusterConfig() {
	config := vecql.ClusterConfig{
		Hosts:         []string{"node1.example.com", "node2.example.com:9142"},
		Keyspace:      "shop",
		TLS:           &tls.Config{MinVersion: tls.VersionTLS13}, // certificates are verified against the names above
		Authenticator: vecql.PasswordAuthenticator{Username: "shop", Password: "secret"},
		Defaults:      vecql.Profile{Consistency: cql.LocalQuorum},
	}
	config.HostSelectionPolicy = vecql.TokenAwarePolicy{Fallback: vecql.DCAwarePolicy{DataCenter: "eu-west"}}
	session, err := vecql.NewSession(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
}

// A statement with values is written and read.
func ExampleSession_Query() {
	session, closeShop := openShop()
	defer closeShop()
	ctx := context.Background()

	insert := session.Query("INSERT INTO items (id, name, embedding) VALUES (?, ?, ?)", 7, "chair", []float32{1, 2, 3})
	if err := insert.Consistency(cql.All).Idempotent(true).Exec(ctx); err != nil {
		log.Fatal(err)
	}
	var name string
	var embedding [3]float32
	if err := session.Query("SELECT name, embedding FROM items WHERE id = ?", 7).Scan(ctx, &name, &embedding); err != nil {
		log.Fatal(err)
	}
	fmt.Println(name, embedding)
	// Output: chair [1 2 3]
}

// The configuration of a URI, for example from a variable of the environment, and what a URI does not have.
func ExampleParseURI() {
	config, err := vecql.ParseURI("cassandra://reader:p%40ss@10.0.0.1,10.0.0.2:9043/shop?consistency=local_quorum&data_center=dc1")
	if err != nil {
		log.Fatal(err)
	}
	config.Defaults.Idempotent = true
	fmt.Println(config.Hosts, config.Keyspace, config.Defaults.Consistency)

	_, err = vecql.ParseURI("cassandra://reader:p%40ss@10.0.0.1/shop?timeout=5")
	var fault *vecql.URIError
	fmt.Println(errors.As(err, &fault), fault.Setting)
	// Output:
	// [10.0.0.1 10.0.0.2:9043] shop LOCAL_QUORUM
	// true timeout
}
