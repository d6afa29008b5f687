// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"fmt"
	"strings"
)

// Consistency levels (native_protocol_v5.spec, section 3).

// A Consistency is a level: how many replicas must answer before a request succeeds.
type Consistency uint16

// SerialConsistency is the consistency of the Paxos phase of a lightweight transaction: Serial or LocalSerial.
type SerialConsistency = Consistency

// The consistency levels, with their numbers on the wire.
const (
	Any         Consistency = 0x00
	One         Consistency = 0x01
	Two         Consistency = 0x02
	Three       Consistency = 0x03
	Quorum      Consistency = 0x04
	All         Consistency = 0x05
	LocalQuorum Consistency = 0x06
	EachQuorum  Consistency = 0x07
	Serial      Consistency = 0x08
	LocalSerial Consistency = 0x09
	LocalOne    Consistency = 0x0A
)

var consistencyNames = [...]string{
	"ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE",
}

// String returns the name as cqlsh writes it: "LOCAL_QUORUM".
func (c Consistency) String() string {
	if int(c) < len(consistencyNames) {
		return consistencyNames[c]
	}
	return fmt.Sprintf("UNKNOWN_CONSISTENCY_0x%x", uint16(c))
}

// IsSerial reports whether c is Serial or LocalSerial.
func (c Consistency) IsSerial() bool { return c == Serial || c == LocalSerial }

// ParseConsistency returns the level named s, such as "LOCAL_QUORUM", in upper or lower case. The error contains s.
func ParseConsistency(s string) (Consistency, error) {
	for i, name := range consistencyNames {
		if strings.EqualFold(s, name) {
			return Consistency(i), nil
		}
	}
	return 0, fmt.Errorf("vecql: unknown consistency %q", s)
}

// MarshalText implements encoding.TextMarshaler.
func (c Consistency) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Consistency) UnmarshalText(text []byte) error {
	v, err := ParseConsistency(string(text))
	if err != nil {
		return err
	}
	*c = v
	return nil
}
