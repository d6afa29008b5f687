// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// A session over a private network, such as AWS PrivateLink: ScyllaDB Cloud names the connection id, and lists the host
// and port of each node in system.client_routes. Hosts is an endpoint of the private network.
func ExampleNodesConfig_clientRoutes() {
	ctx := context.Background()
	cluster, err := cqltest.Start(cqltest.Config{Scylla: &cqltest.Scylla{}})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	var routes []cqltest.ClientRoute // here each route leads to the node itself
	for _, node := range cluster.Nodes() {
		routes = append(routes, cqltest.ClientRoute{
			ConnectionID: "pl-0a1b", HostID: node.HostID(), Address: node.Addr().Addr().String(), Port: int(node.Addr().Port()),
		})
	}
	cluster.SetClientRoutes(routes...)

	config := vecql.ClusterConfig{Hosts: cluster.Hosts()[:1]}
	config.Nodes.ClientRoutes = []string{"pl-0a1b"}
	session, err := vecql.NewSession(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	release, err := vecql.OneRow[string](ctx, session.Query("SELECT version FROM system.versions WHERE key = 'local'"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(session.GetHosts()), "nodes with release", release[:8])
	// Output: 3 nodes with release 2026.2.5
}
