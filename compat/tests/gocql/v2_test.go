// SPDX-License-Identifier: Apache-2.0

//go:build v2

package gocql_test

import (
	"net"

	"github.com/gocql/gocql"
)

// What v2 has in a shape of its own.

// wraps reports whether verbs wrap the errors of requests.
const wraps = false

// protocol is the newest version of the protocol that sessions use.
const protocol = 5

// nullInet is NULL in an inet column, as MapScan stores it.
var nullInet any = net.IP(nil)

// native returns a type without parameters.
func native(typ gocql.Type) gocql.TypeInfo { return gocql.NewNativeType(4, typ, "") }

// newHost returns a node at 10.0.0.last that no session has.
func newHost(last byte) *gocql.HostInfo {
	h, err := gocql.NewHostInfoFromAddrPort(net.IPv4(10, 0, 0, last), 9042)
	if err != nil {
		panic(err)
	}
	return h
}

// tokenAware returns a policy that prefers the first replica.
func tokenAware(p gocql.HostSelectionPolicy) gocql.HostSelectionPolicy {
	return gocql.TokenAwareHostPolicy(p)
}

// methodsOfABatch are exactly the API's: gocqlx looks for them by reflection.
var methodsOfABatch = []string{
	"Bind", "Consistency", "Context", "DefaultTimestamp", "Exec", "ExecCAS", "ExecCASContext", "ExecContext",
	"GetConsistency", "GetSerialConsistency", "IsIdempotent", "Iter", "IterContext", "Keyspace", "MapExecCAS",
	"MapExecCASContext", "Observer", "Query", "RetryPolicy", "SerialConsistency", "SetConsistency", "SetKeyspace", "Size",
	"SpeculativeExecutionPolicy", "Trace", "WithContext", "WithNowInSeconds", "WithTimestamp",
}
