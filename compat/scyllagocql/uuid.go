// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"time"

	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// UUIDs are those of package cql.

// A UUID is a universally unique identifier.
type UUID = cql.UUID

// The variants of a UUID.
const (
	VariantNCSCompat = 0
	VariantIETF      = 2
	VariantMicrosoft = 6
	VariantFuture    = 7
)

// ParseUUID parses 32 hexadecimal digits. Dashes may stand between any two bytes.
func ParseUUID(input string) (UUID, error) { return api.ParseUUID(input) }

// ParseUUIDMust is ParseUUID but panics on an error.
func ParseUUIDMust(input string) UUID {
	u, err := ParseUUID(input)
	if err != nil {
		panic(err)
	}
	return u
}

// UUIDFromBytes returns the UUID of 16 bytes.
func UUIDFromBytes(input []byte) (UUID, error) { return cql.UUIDFromBytes(input) }

// RandomUUID returns a random UUID, of version 4.
func RandomUUID() (UUID, error) { return cql.RandomUUID() }

// MustRandomUUID is RandomUUID, but panics on an error.
func MustRandomUUID() UUID { return cql.MustRandomUUID() }

// TimeUUID returns a UUID of version 1 for the current time.
func TimeUUID() UUID { return cql.TimeUUID() }

// UUIDFromTime returns a UUID of version 1 for the time t. Each call returns another UUID.
func UUIDFromTime(t time.Time) UUID { return cql.UUIDFromTime(t) }

// MinTimeUUID returns the smallest UUID of version 1 for the time t, as the bound of a range.
func MinTimeUUID(t time.Time) UUID { return cql.MinTimeUUID(t) }

// MaxTimeUUID returns the greatest UUID of version 1 for the time t, as the bound of a range.
func MaxTimeUUID(t time.Time) UUID { return cql.MaxTimeUUID(t) }

// TimeUUIDWith returns the UUID of version 1 for t, in steps of 100 ns since 1582-10-15, with the low 14 bits of clock
// and the first 6 bytes of node.
func TimeUUIDWith(t int64, clock uint32, node []byte) UUID { return cql.TimeUUIDWith(t, clock, node) }
