// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// Writes of a strongly consistent table of ScyllaDB go to the leader of their tablet. Nothing needs to be configured
// but the extension that names the leaders. The first writes of a partition may be forwarded: their responses name the
// leader.
func ExampleTokenAwarePolicy_leader() {
	ctx := context.Background()
	cluster, err := cqltest.Start(cqltest.Config{Scylla: &cqltest.Scylla{Tablets: 8, TabletsV2: true}})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.Exec(`
		CREATE KEYSPACE bank
			WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3} AND consistency = 'global';
		CREATE TABLE bank.accounts (id int PRIMARY KEY, owner text)`); err != nil {
		log.Fatal(err)
	}
	config := vecql.ClusterConfig{Hosts: cluster.Hosts(), Keyspace: "bank"}
	config.Protocol.ExperimentalTabletsRoutingV2 = true
	session, err := vecql.NewSession(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	insert := session.Query("INSERT INTO accounts (id, owner) VALUES (?, ?)", 1, "ada")
	for range 100 { // until the leader is known
		if err := insert.Exec(ctx); err != nil {
			log.Fatal(err)
		}
	}
	cluster.ResetStats()
	for range 100 {
		if err := insert.Exec(ctx); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("at the leader:", cluster.Stats().OnLeader, "forwarded:", cluster.Stats().Forwarded)
	// Output: at the leader: 100 forwarded: 0
}
