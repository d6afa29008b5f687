// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"time"

	"github.com/vecql/vecql/cql"
)

// Aliases of the values, codec interfaces and consistency levels of package cql.

// Go types for CQL values. They are documented in package cql.
type (
	// UUID is a universally unique identifier. See [cql.UUID].
	UUID = cql.UUID
	// Duration is a CQL duration. See [cql.Duration].
	Duration = cql.Duration
	// Null is a value that may be NULL. See [cql.Null].
	Null[T any] = cql.Null[T]
	// Unset is the type of UnsetValue. See [cql.Unset].
	Unset = cql.Unset
	// Named is a bound value with the name of its bind marker. See [cql.Named].
	Named = cql.Named
)

// Interfaces of values and destinations.
type (
	// Marshaler is a value that encodes itself. See [cql.Marshaler].
	Marshaler = cql.Marshaler
	// Unmarshaler is a destination that decodes itself. See [cql.Unmarshaler].
	Unmarshaler = cql.Unmarshaler
	// UDTMarshaler is a value of a user-defined type that encodes itself field by field. See [cql.UDTMarshaler].
	UDTMarshaler = cql.UDTMarshaler
	// UDTUnmarshaler is a destination for a user-defined type that decodes itself field by field. See
	// [cql.UDTUnmarshaler].
	UDTUnmarshaler = cql.UDTUnmarshaler
	// Destination is a destination that is decoded in place, made by Into, AppendTo or Borrow. See [cql.Destination].
	Destination = cql.Destination
	// Decimal is a CQL decimal. See [cql.Decimal].
	Decimal = cql.Decimal
	// PageToken is the position at which a page of a result begins. See [cql.PageToken].
	PageToken = cql.PageToken
	// VectorElement is the constraint on the elements of Into and AppendTo. See [cql.VectorElement].
	VectorElement = cql.VectorElement
)

// UnsetValue as a bound value leaves the column unchanged on the server. See [cql.UnsetValue].
var UnsetValue = cql.UnsetValue

// NullOf returns a valid Null that holds v.
func NullOf[T any](v T) Null[T] { return cql.NullOf(v) }

// ParseDuration parses a duration such as "1h30m" or "1y2mo3d". See [cql.ParseDuration].
func ParseDuration(s string) (Duration, error) { return cql.ParseDuration(s) }

// ParseDecimal parses decimal digits with an optional sign, point and exponent. See [cql.ParseDecimal].
func ParseDecimal(s string) (Decimal, error) { return cql.ParseDecimal(s) }

// ParsePageToken parses the text of a PageToken made by its String method. See [cql.ParsePageToken].
func ParsePageToken(text string) (PageToken, error) { return cql.ParsePageToken(text) }

// ErrPageToken means that a text is not a page token, or was modified. See [cql.ErrPageToken].
var ErrPageToken = cql.ErrPageToken

// NamedValue binds value to the bind marker :name of a statement.
func NamedValue(name string, value any) Named { return cql.NamedValue(name, value) }

// The variants of a UUID. See [cql.UUID.Variant].
const (
	VariantNCSCompat = cql.VariantNCSCompat
	VariantIETF      = cql.VariantIETF
	VariantMicrosoft = cql.VariantMicrosoft
	VariantFuture    = cql.VariantFuture
)

// RandomUUID returns a random UUID (version 4).
func RandomUUID() (UUID, error) { return cql.RandomUUID() }

// MustRandomUUID is RandomUUID but panics if the system has no randomness.
func MustRandomUUID() UUID { return cql.MustRandomUUID() }

// ParseUUID parses a UUID of 32 hexadecimal digits. See [cql.ParseUUID].
func ParseUUID(s string) (UUID, error) { return cql.ParseUUID(s) }

// UUIDFromBytes returns the UUID of 16 bytes.
func UUIDFromBytes(b []byte) (UUID, error) { return cql.UUIDFromBytes(b) }

// TimeUUID returns a UUID of the current time (version 1). See [cql.TimeUUID].
func TimeUUID() UUID { return cql.TimeUUID() }

// UUIDFromTime returns a UUID of time t (version 1). See [cql.UUIDFromTime].
func UUIDFromTime(t time.Time) UUID { return cql.UUIDFromTime(t) }

// MinTimeUUID returns the smallest time UUID of time t in the order of servers. See [cql.MinTimeUUID].
func MinTimeUUID(t time.Time) UUID { return cql.MinTimeUUID(t) }

// MaxTimeUUID returns the largest time UUID of time t in the order of servers. See [cql.MaxTimeUUID].
func MaxTimeUUID(t time.Time) UUID { return cql.MaxTimeUUID(t) }

// TimeUUIDWith returns the version 1 UUID of a timestamp, clock and node. See [cql.TimeUUIDWith].
func TimeUUIDWith(t int64, clock uint32, node []byte) UUID { return cql.TimeUUIDWith(t, clock, node) }

// Consistency is the number of replicas that must respond before a request succeeds. See [cql.Consistency].
type Consistency = cql.Consistency

// SerialConsistency is the consistency of the Paxos phase of a lightweight transaction: Serial or LocalSerial.
type SerialConsistency = cql.SerialConsistency

// The consistency levels. See [cql.Consistency].
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

// ParseConsistency returns the level named s, in any case.
func ParseConsistency(s string) (Consistency, error) { return cql.ParseConsistency(s) }
