// SPDX-License-Identifier: Apache-2.0

//go:build fork

package gocql_test

import (
	"net"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// What the fork has in a shape of its own.

// wraps reports whether verbs wrap the errors of requests.
const wraps = true

// protocol is the newest version of the protocol that sessions use.
const protocol = 4

// nullInet is NULL in an inet column, as MapScan stores it.
var nullInet any = ""

// native returns a type without parameters.
func native(typ gocql.Type) gocql.TypeInfo { return gocql.NewNativeType(4, typ) }

// newHost returns a node at 10.0.0.last that no session has.
func newHost(last byte) *gocql.HostInfo {
	h := gocql.HostInfoBuilder{HostId: gocql.TimeUUID().String(), ConnectAddress: net.IPv4(10, 0, 0, last)}.Build()
	return &h
}

// tokenAware returns a policy that prefers the first replica.
func tokenAware(p gocql.HostSelectionPolicy) gocql.HostSelectionPolicy {
	return gocql.TokenAwareHostPolicy(p, gocql.DontShuffleReplicas())
}

// methodsOfABatch are exactly the API's: gocqlx looks for them by reflection.
var methodsOfABatch = []string{
	"AddAttempts", "AddLatency", "Attempts", "Bind", "Cancel", "Context", "DefaultTimestamp", "Exec", "GetConsistency",
	"GetCustomPartitioner", "GetHostID", "GetRequestTimeout", "GetRoutingKey", "GetSession", "IsIdempotent", "IsLWT",
	"Keyspace", "Latency", "Observer", "Query", "RetryPolicy", "SerialConsistency", "SetConsistency", "SetHostID",
	"SetKeyspace", "SetRequestTimeout", "Size", "SpeculativeExecutionPolicy", "Table", "Trace", "WithContext",
	"WithNowInSeconds", "WithTimestamp",
}

// countsEach reports whether a request counts the attempts of its last execution only.
const countsEach = true

// attemptsWithoutPolicy is the number of attempts that three nodes refuse.
const attemptsWithoutPolicy = 3

// downgrading is a cluster where requests are downgraded.
var downgrading = cqltest.Config{Scylla: &cqltest.Scylla{}}
