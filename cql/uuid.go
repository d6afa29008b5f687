// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"time"
)

// UUIDs (RFC 9562; native_protocol_v5.spec, sections 5.19 and 5.22).

// A UUID is a universally unique identifier, in the byte order of the wire.
type UUID [16]byte

// The variants of a UUID.
const (
	VariantNCSCompat = 0
	VariantIETF      = 2
	VariantMicrosoft = 6
	VariantFuture    = 7
)

// uuidEpoch is the start of a time UUID's count of 100 ns steps: 1582-10-15.
var uuidEpoch = time.Date(1582, time.October, 15, 0, 0, 0, 0, time.UTC).Unix()

// uuidNode is the node of this process's time UUIDs: random, and marked as random by the multicast bit (RFC 9562,
// section 6.10).
var uuidNode = func() (node [6]byte) {
	_, _ = rand.Read(node[:]) // crypto/rand.Read never fails
	node[0] |= 1
	return node
}()

// uuidClock counts the time UUIDs of this process from a random start, so that UUIDs of the same 100 ns differ.
var uuidClock = func() *atomic.Uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:])
	var c atomic.Uint32
	c.Store(binary.BigEndian.Uint32(b[:]))
	return &c
}()

// uuidTime is the last timestamp that TimeUUID returned.
var uuidTime atomic.Int64

// RandomUUID returns a random UUID (version 4).
func RandomUUID() (UUID, error) {
	var u UUID
	if _, err := rand.Read(u[:]); err != nil {
		return u, err
	}
	u[6] = u[6]&0x0F | 0x40
	u[8] = u[8]&0x3F | 0x80
	return u, nil
}

// MustRandomUUID returns a RandomUUID, and panics when the system has no randomness.
func MustRandomUUID() UUID {
	u, err := RandomUUID()
	if err != nil {
		panic(err)
	}
	return u
}

// ParseUUID parses 32 hexadecimal digits of either case, without dashes or as 8-4-4-4-12. The error contains the text.
func ParseUUID(s string) (UUID, error) {
	var u UUID
	digits := s
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		digits = s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	}
	if len(digits) != 32 {
		return u, fmt.Errorf("vecql: %.60q is not a UUID", s)
	}
	if _, err := hex.Decode(u[:], []byte(digits)); err != nil {
		return UUID{}, fmt.Errorf("vecql: %.60q is not a UUID", s)
	}
	return u, nil
}

// UUIDFromBytes returns the UUID of 16 bytes, and an error for any other length.
func UUIDFromBytes(b []byte) (UUID, error) {
	if len(b) != 16 {
		return UUID{}, fmt.Errorf("vecql: %d bytes are not a UUID", len(b))
	}
	return UUID(b), nil
}

// TimeUUID returns a UUID of the current time (version 1). Each result in a process is later than the one before.
func TimeUUID() UUID {
	for {
		last := uuidTime.Load()
		now := max(timestamp100ns(time.Now()), last+1)
		if uuidTime.CompareAndSwap(last, now) {
			return TimeUUIDWith(now, uuidClock.Load(), uuidNode[:])
		}
	}
}

// UUIDFromTime returns a UUID of time t (version 1), in the years 1582 to 5236. Each call returns a different UUID.
func UUIDFromTime(t time.Time) UUID {
	return TimeUUIDWith(timestamp100ns(t), uuidClock.Add(1), uuidNode[:])
}

// MinTimeUUID returns the smallest time UUID of time t in the order of servers. It is not unique; use it as a bound of
// a range.
func MinTimeUUID(t time.Time) UUID {
	// servers compare signed bytes
	return TimeUUIDWith(timestamp100ns(t), 0x80, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80})
}

// MaxTimeUUID returns the largest time UUID of time t in the order of servers. It is not unique; use it as a bound of a
// range.
func MaxTimeUUID(t time.Time) UUID {
	return TimeUUIDWith(timestamp100ns(t), 0x3F7F, []byte{0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F})
}

func timestamp100ns(t time.Time) int64 {
	return (t.Unix()-uuidEpoch)*1e7 + int64(t.Nanosecond())/100
}

// TimeUUIDWith returns the version 1 UUID of t, in steps of 100 ns since 1582-10-15, the low 14 bits of clock, and the
// first 6 bytes of node. Bytes that node lacks are 0.
func TimeUUIDWith(t int64, clock uint32, node []byte) UUID {
	var u UUID
	binary.BigEndian.PutUint32(u[0:], uint32(t))
	binary.BigEndian.PutUint16(u[4:], uint16(t>>32))
	binary.BigEndian.PutUint16(u[6:], uint16(t>>48)&0x0FFF|0x1000)
	binary.BigEndian.PutUint16(u[8:], uint16(clock)&0x3FFF|0x8000)
	copy(u[10:], node)
	return u
}

// Bytes returns a copy of the 16 bytes.
func (u UUID) Bytes() []byte { return bytes.Clone(u[:]) }

// IsEmpty reports whether all bytes are zero.
func (u UUID) IsEmpty() bool { return u == UUID{} }

// String returns the UUID as 8-4-4-4-12 lower-case digits.
func (u UUID) String() string {
	var b [36]byte
	hex.Encode(b[0:], u[0:4])
	hex.Encode(b[9:], u[4:6])
	hex.Encode(b[14:], u[6:8])
	hex.Encode(b[19:], u[8:10])
	hex.Encode(b[24:], u[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// Variant returns one of the Variant constants.
func (u UUID) Variant() int {
	switch x := u[8]; {
	case x&0x80 == 0:
		return VariantNCSCompat
	case x&0x40 == 0:
		return VariantIETF
	case x&0x20 == 0:
		return VariantMicrosoft
	}
	return VariantFuture
}

// Version returns the version, e.g. 1 for a time UUID.
func (u UUID) Version() int { return int(u[6] >> 4) }

// Node returns the node of a time UUID, nil for others.
func (u UUID) Node() []byte {
	if u.Version() != 1 {
		return nil
	}
	return bytes.Clone(u[10:])
}

// Clock returns the clock sequence of a time UUID, 0 for others.
func (u UUID) Clock() uint32 {
	if u.Version() != 1 {
		return 0
	}
	return uint32(binary.BigEndian.Uint16(u[8:]) & 0x3FFF)
}

// Timestamp returns the time of a time UUID in steps of 100 ns since 1582-10-15, 0 for others.
func (u UUID) Timestamp() int64 {
	if u.Version() != 1 {
		return 0
	}
	return int64(binary.BigEndian.Uint32(u[0:])) | int64(binary.BigEndian.Uint16(u[4:]))<<32 |
		int64(binary.BigEndian.Uint16(u[6:])&0x0FFF)<<48
}

// Time returns the time of a time UUID, the zero time for others.
func (u UUID) Time() time.Time {
	if u.Version() != 1 {
		return time.Time{}
	}
	t := u.Timestamp()
	return time.Unix(t/1e7+uuidEpoch, t%1e7*100).UTC()
}

// MarshalJSON implements json.Marshaler: the text in quotes.
func (u UUID) MarshalJSON() ([]byte, error) { return []byte(`"` + u.String() + `"`), nil }

// UnmarshalJSON implements json.Unmarshaler. null changes nothing.
func (u *UUID) UnmarshalJSON(data []byte) error {
	n := len(data)
	switch {
	case string(data) == "null":
		return nil
	case n < 2 || data[0] != '"' || data[n-1] != '"':
		return fmt.Errorf("vecql: JSON %.60s is not a UUID", data)
	}
	return u.UnmarshalText(data[1 : n-1])
}

// MarshalText implements encoding.TextMarshaler.
func (u UUID) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler, by ParseUUID.
func (u *UUID) UnmarshalText(text []byte) error {
	v, err := ParseUUID(string(text))
	if err != nil {
		return err
	}
	*u = v
	return nil
}

// Scan implements sql.Scanner of package database/sql: it takes text, as ParseUUID does, and 16 bytes. NULL is an error
// that wraps ErrNull: sql.Null[UUID] and *UUID can be NULL.
func (u *UUID) Scan(src any) error {
	switch v := src.(type) {
	case string:
		return u.UnmarshalText([]byte(v))
	case []byte:
		if len(v) != len(u) {
			return u.UnmarshalText(v)
		}
		*u = UUID(v)
		return nil
	case nil:
		return fmt.Errorf("vecql: scan a UUID: %w", ErrNull)
	}
	return fmt.Errorf("vecql: scan a UUID: %w: %T", ErrConversion, src)
}
