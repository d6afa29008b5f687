// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Values: UUIDs, durations, consistency levels, unset and named values. The types are vecql's.

type (
	// A UUID is a universally unique identifier.
	UUID = vecql.UUID
	// A Duration is a CQL duration.
	Duration = vecql.Duration
	// Consistency is the number of replicas that must respond before a request succeeds.
	Consistency = vecql.Consistency
	// SerialConsistency is the consistency of the Paxos phase of a lightweight transaction: Serial or LocalSerial.
	SerialConsistency = Consistency
)

// The consistency levels.
const (
	Any         = vecql.Any
	One         = vecql.One
	Two         = vecql.Two
	Three       = vecql.Three
	Quorum      = vecql.Quorum
	All         = vecql.All
	LocalQuorum = vecql.LocalQuorum
	EachQuorum  = vecql.EachQuorum
	Serial      = vecql.Serial
	LocalSerial = vecql.LocalSerial
	LocalOne    = vecql.LocalOne
)

// ParseConsistency returns the level named s, in any case. It panics if there is none: see ParseConsistencyWrapper.
func ParseConsistency(s string) Consistency {
	c, err := vecql.ParseConsistency(s)
	if err != nil {
		panic(err)
	}
	return c
}

// ParseConsistencyWrapper returns the level named s, in any case.
func ParseConsistencyWrapper(s string) (consistency Consistency, err error) {
	return vecql.ParseConsistency(s)
}

// UnsetValue as a bound value leaves the column unchanged on the server.
var UnsetValue = vecql.UnsetValue

// NamedValue binds value to the bind marker :name of a statement.
func NamedValue(name string, value any) any { return vecql.NamedValue(name, value) }

// ParseUUID parses 32 hexadecimal digits. Dashes may stand between any two bytes.
func ParseUUID(input string) (UUID, error) {
	u, err := api.ParseUUID(input)
	if err != nil {
		return UUID{}, fmt.Errorf("invalid UUID %q", input)
	}
	return u, nil
}
