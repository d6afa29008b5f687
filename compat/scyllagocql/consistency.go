// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"strings"

	"github.com/vecql/vecql/cql"
)

// Consistency levels.

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
	Serial      Consistency = 0x08 // of the Paxos phase of a conditional statement, as LocalSerial
	LocalSerial Consistency = 0x09
	LocalOne    Consistency = 0x0A
)

// SerialConsistency is Consistency.
type SerialConsistency = Consistency

// IsSerial reports whether c is Serial or LocalSerial.
func (c Consistency) IsSerial() bool { return c == Serial || c == LocalSerial }

// valid reports whether c is a level of this type.
func (c Consistency) valid() bool { return c <= LocalOne }

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
func ParseConsistency(s string) Consistency {
	c, err := ParseConsistencyWrapper(s)
	if err != nil {
		panic(err)
	}
	return c
}

// ParseConsistencyWrapper returns the level named s, in any case.
func ParseConsistencyWrapper(s string) (consistency Consistency, err error) {
	err = consistency.UnmarshalText([]byte(strings.ToUpper(s)))
	return consistency, err
}
