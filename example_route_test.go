// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"sync/atomic"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Examples of routing.

// The partition and the table of a statement, for a program that groups its rows by node.
func ExampleQuery_Route() {
	session, closeShop := openShop()
	defer closeShop()

	route, err := session.Query("SELECT item FROM orders WHERE customer = ?", "ada").Route(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s.%s %q %v %d\n", route.Keyspace, route.Table, route.RoutingKey, route.HasToken, len(route.Replicas))
	// Output: shop.orders "ada" true 1
}

// fewFailures is a HostPicker that tries the better of two nodes at random first.
type fewFailures struct {
	vecql.HostSelectionPolicy
	failures [256]atomic.Int64 // by the last byte of the host id
}

func (p *fewFailures) of(h *cql.Host) *atomic.Int64 {
	return &p.failures[h.ID[15]]
}

// Pick returns a function, called before each attempt.
func (p *fewFailures) Pick(_ context.Context, r vecql.RouteInfo, hosts []*cql.Host) vecql.NextHost {
	if len(r.Replicas) > 0 {
		hosts = r.Replicas
	}
	attempts := 0
	return func() vecql.SelectedHost {
		if attempts++; attempts > 3 {
			return vecql.SelectedHost{} // the end
		}
		host, other := hosts[rand.IntN(len(hosts))], hosts[rand.IntN(len(hosts))]
		if p.of(other).Load() < p.of(host).Load() {
			host = other
		}
		return vecql.SelectedHost{Host: host, Mark: func(err error) {
			if err != nil {
				p.of(host).Add(1)
			}
		}}
	}
}

// A policy that counts the failed attempts of each node.
func ExampleHostPicker() {
	cluster := startShop()
	defer cluster.Close()
	config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	config.Keyspace = "shop"
	config.HostSelectionPolicy = &fewFailures{HostSelectionPolicy: vecql.RoundRobinPolicy{}}
	session, err := vecql.NewSession(context.Background(), *config)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	var name string
	if err := session.Query("SELECT name FROM items WHERE id = ?", 1).Scan(context.Background(), &name); err != nil {
		log.Fatal(err)
	}
	fmt.Println(name)
	// Output: lamp
}
