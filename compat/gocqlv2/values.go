// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"time"

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

// The variants of a UUID.
const (
	VariantNCSCompat = vecql.VariantNCSCompat
	VariantIETF      = vecql.VariantIETF
	VariantMicrosoft = vecql.VariantMicrosoft
	VariantFuture    = vecql.VariantFuture
)

// ParseUUID parses 32 hexadecimal digits. Dashes may stand between any two bytes.
func ParseUUID(input string) (UUID, error) {
	u, err := api.ParseUUID(input)
	if err != nil {
		return UUID{}, fmt.Errorf("invalid UUID %q", input)
	}
	return u, nil
}

// UUIDFromBytes returns the UUID of 16 bytes.
func UUIDFromBytes(input []byte) (UUID, error) { return vecql.UUIDFromBytes(input) }

// MustRandomUUID is RandomUUID but panics if the system has no randomness.
func MustRandomUUID() UUID { return vecql.MustRandomUUID() }

// RandomUUID returns a random UUID (version 4).
func RandomUUID() (UUID, error) { return vecql.RandomUUID() }

// TimeUUID returns a UUID of the current time (version 1).
func TimeUUID() UUID { return vecql.TimeUUID() }

// MinTimeUUID returns the smallest time UUID of time t in the order of servers.
func MinTimeUUID(t time.Time) UUID { return vecql.MinTimeUUID(t) }

// MaxTimeUUID returns the largest time UUID of time t in the order of servers.
func MaxTimeUUID(t time.Time) UUID { return vecql.MaxTimeUUID(t) }

// UUIDFromTime returns a UUID of time t (version 1).
func UUIDFromTime(t time.Time) UUID { return vecql.UUIDFromTime(t) }

// TimeUUIDWith returns the version 1 UUID of a timestamp, clock and node.
func TimeUUIDWith(t int64, clock uint32, node []byte) UUID { return vecql.TimeUUIDWith(t, clock, node) }
