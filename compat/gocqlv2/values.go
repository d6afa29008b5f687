// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"

	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Values: UUIDs, durations, consistency levels, unset and named values. The types are vecql's.

type (
	// A UUID is a universally unique identifier.
	UUID = cql.UUID
	// A Duration is a CQL duration.
	Duration = cql.Duration
	// Consistency is the number of replicas that must respond before a request succeeds.
	Consistency = cql.Consistency
	// SerialConsistency is the consistency of the Paxos phase of a lightweight transaction: Serial or LocalSerial.
	SerialConsistency = Consistency
)

// UnsetValue as a bound value leaves the column unchanged on the server.
var UnsetValue = cql.UnsetValue

// NamedValue binds value to the bind marker :name of a statement.
func NamedValue(name string, value any) any { return cql.NamedValue(name, value) }

// ParseUUID parses 32 hexadecimal digits. Dashes may stand between any two bytes.
func ParseUUID(input string) (UUID, error) {
	u, err := api.ParseUUID(input)
	if err != nil {
		return UUID{}, fmt.Errorf("invalid UUID %q", input)
	}
	return u, nil
}
