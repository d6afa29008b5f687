// SPDX-License-Identifier: Apache-2.0

package gocql

import "github.com/vecql/vecql/cql"

// Consistency levels are those of package cql.

// A Consistency is the number of replicas that must answer a request.
type Consistency = cql.Consistency

// SerialConsistency is Consistency.
type SerialConsistency = Consistency

// The consistency levels. Serial and LocalSerial are of the Paxos phase of a conditional statement.
const (
	Any         = cql.Any
	One         = cql.One
	Two         = cql.Two
	Three       = cql.Three
	Quorum      = cql.Quorum
	All         = cql.All
	LocalQuorum = cql.LocalQuorum
	EachQuorum  = cql.EachQuorum
	Serial      = cql.Serial
	LocalSerial = cql.LocalSerial
	LocalOne    = cql.LocalOne
)

// ParseConsistency returns the level named s, in any case. It panics if there is none.
func ParseConsistency(s string) Consistency {
	c, err := ParseConsistencyWrapper(s)
	if err != nil {
		panic(err)
	}
	return c
}

// ParseConsistencyWrapper returns the level named s, in any case.
func ParseConsistencyWrapper(s string) (consistency Consistency, err error) {
	return cql.ParseConsistency(s)
}
