// SPDX-License-Identifier: Apache-2.0

//go:build !fork && !v2

package gocql_test

import (
	"net"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// What v1.7 has in a shape of its own.

// wraps reports whether verbs wrap the errors of requests.
const wraps = false

// protocol is the newest version of the protocol that sessions use.
const protocol = 4

// nullInet is NULL in an inet column, as MapScan stores it.
var nullInet any = ""

// native returns a type without parameters.
func native(typ gocql.Type) gocql.TypeInfo { return gocql.NewNativeType(4, typ, "") }

// newHost returns a node at 10.0.0.last that no session has.
func newHost(last byte) *gocql.HostInfo {
	h := (&gocql.HostInfo{}).SetConnectAddress(net.IPv4(10, 0, 0, last))
	h.SetHostID(gocql.TimeUUID().String())
	return h
}

// tokenAware returns a policy that prefers the first replica.
func tokenAware(p gocql.HostSelectionPolicy) gocql.HostSelectionPolicy {
	return gocql.TokenAwareHostPolicy(p)
}

// methodsOfABatch are exactly the API's: gocqlx looks for them by reflection.
var methodsOfABatch = []string{
	"AddAttempts", "AddLatency", "Attempts", "Bind", "Cancel", "Context", "DefaultTimestamp", "GetConsistency",
	"GetRoutingKey", "IsIdempotent", "Keyspace", "Latency", "Observer", "Query", "RetryPolicy", "SerialConsistency",
	"SetConsistency", "Size", "SpeculativeExecutionPolicy", "Table", "Trace", "WithContext", "WithTimestamp",
}

// countsEach reports whether a request counts the attempts of its last execution only.
const countsEach = false

// attemptsWithoutPolicy is the number of attempts that three nodes refuse.
const attemptsWithoutPolicy = 1

// downgrading is a cluster where requests are downgraded.
var downgrading cqltest.Config
