// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"strings"

	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Consistency levels. The serial levels are a type of their own, so both types differ from cql.Consistency.

// A Consistency is the number of replicas that must answer a request.
type Consistency uint16

// The consistency levels.
const (
	Any         Consistency = 0x00
	One         Consistency = 0x01
	Two         Consistency = 0x02
	Three       Consistency = 0x03
	Quorum      Consistency = 0x04
	All         Consistency = 0x05
	LocalQuorum Consistency = 0x06
	EachQuorum  Consistency = 0x07
	LocalOne    Consistency = 0x0A
)

// valid reports whether c is a level of this type.
func (c Consistency) valid() bool { return c <= EachQuorum || c == LocalOne }

// String returns the name of the level: "LOCAL_QUORUM".
func (c Consistency) String() string {
	if !c.valid() {
		return fmt.Sprintf("UNKNOWN_CONS_0x%x", uint16(c))
	}
	return cql.Consistency(c).String()
}

// MarshalText implements encoding.TextMarshaler.
func (c Consistency) MarshalText() (text []byte, err error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. The name must be in upper case.
func (c *Consistency) UnmarshalText(text []byte) error {
	v, err := cql.ParseConsistency(string(text))
	if err != nil || !Consistency(v).valid() || v.String() != string(text) {
		return fmt.Errorf("gocql: unknown consistency %q", text)
	}
	*c = Consistency(v)
	return nil
}

// ParseConsistency returns the level named s, in any case. It panics if there is none.
func ParseConsistency(s string) Consistency { return api.Must(ParseConsistencyWrapper(s)) }

// ParseConsistencyWrapper returns the level named s, in any case.
func ParseConsistencyWrapper(s string) (consistency Consistency, err error) {
	err = consistency.UnmarshalText([]byte(strings.ToUpper(s)))
	return consistency, err
}

// MustParseConsistency is ParseConsistency. The error is always nil.
func MustParseConsistency(s string) (Consistency, error) { return ParseConsistency(s), nil }

// A SerialConsistency is the consistency of the Paxos phase of a conditional statement.
type SerialConsistency uint16

// The serial consistency levels.
const (
	Serial      SerialConsistency = 0x08
	LocalSerial SerialConsistency = 0x09
)

// String returns the name of the level: "LOCAL_SERIAL".
func (s SerialConsistency) String() string {
	if s != Serial && s != LocalSerial {
		return fmt.Sprintf("UNKNOWN_SERIAL_CONS_0x%x", uint16(s))
	}
	return cql.Consistency(s).String()
}

// MarshalText implements encoding.TextMarshaler.
func (s SerialConsistency) MarshalText() (text []byte, err error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. The name must be in upper case.
func (s *SerialConsistency) UnmarshalText(text []byte) error {
	for _, level := range []SerialConsistency{Serial, LocalSerial} {
		if level.String() == string(text) {
			*s = level
			return nil
		}
	}
	return fmt.Errorf("gocql: unknown serial consistency %q", text)
}
