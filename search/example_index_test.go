// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// An index of ScyllaDB that stores bytes in place of floats, and orders rows by their exact scores. WaitReady reports
// how far it is built.
func ExampleWaitReady() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cluster, err := cqltest.Start(cqltest.Config{ // a server in this process, whose vector store builds an index in 10 minutes
		Scylla: &cqltest.Scylla{VectorStore: &cqltest.VectorStore{Build: 10 * time.Minute}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	err = cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 3};
		CREATE TABLE shop.products (id int PRIMARY KEY, price double, embedding vector<float, 384>)`)
	if err != nil {
		log.Fatal(err)
	}
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	err = search.CreateIndex(ctx, session, "shop.products(embedding)", vector.Cosine, search.IndexOptions{
		Name: "near", Filter: []string{"price"}, Quantization: "i8", Oversampling: 3, Rescoring: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	err = search.WaitReady(ctx, session, "shop.products(embedding)", func(p search.Progress) {
		fmt.Printf("%s: %.0f %%\n", p.Index, 100*p.Built)
		cluster.StepClock(5 * time.Minute)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// shop.near: 0 %
	// shop.near: 50 %
	// shop.near: 100 %
}
