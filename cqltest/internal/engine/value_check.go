// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Validation of the bytes of a value (native_protocol_v5.spec, section 6), with Cassandra's error texts.

// maxDepth is the depth of nested types up to which values are validated; deeper types cannot be created.
const maxDepth = 64

// check returns an error if b is not a value of the type. Zero bytes are a value of most types: Cassandra's "empty".
func (t *Type) check(b []byte) error {
	switch t.Kind {
	case KindASCII:
		for _, c := range b {
			if c >= 0x80 {
				return badValue("Invalid byte for ascii: %d", int8(c))
			}
		}
	case KindText:
		if !utf8.Valid(b) {
			return badValue("String didn't validate.")
		}
	case KindBigInt, KindCounter:
		return checkSize(b, "Expected 8 or 0 byte long (%d)", 0, 8)
	case KindBoolean:
		return checkSize(b, "Expected 1 or 0 byte value (%d)", 0, 1)
	case KindDecimal:
		if len(b) != 0 && len(b) < 4 {
			return badValue("Expected 0 or at least 4 bytes (%d)", len(b))
		}
	case KindDouble:
		return checkSize(b, "Expected 8 or 0 byte value for a double (%d)", 0, 8)
	case KindFloat:
		return checkSize(b, "Expected 4 or 0 byte value for a float (%d)", 0, 4)
	case KindInt:
		return checkSize(b, "Expected 4 or 0 byte int (%d)", 0, 4)
	case KindTimestamp:
		return checkSize(b, "Expected 8 or 0 byte long for date (%d)", 0, 8)
	case KindUUID:
		return checkSize(b, "UUID should be 16 or 0 bytes (%d)", 0, 16)
	case KindTimeUUID:
		if err := checkSize(b, "UUID should be 16 or 0 bytes (%d)", 0, 16); err != nil {
			return err
		}
		if len(b) == 16 && b[6]>>4 != 1 {
			return badValue("Invalid version for TimeUUID type: 0x%d", b[0]>>4) // the first byte, as in Cassandra
		}
	case KindInet:
		if n := len(b); n != 0 && n != 4 && n != 16 {
			return badValue("Expected 4 or 16 byte inetaddress; got %x", b)
		}
	case KindDate:
		return checkSize(b, "Expected 4 byte long for date (%d)", 4)
	case KindTime:
		if err := checkSize(b, "Expected 8 byte long for time (%d)", 8); err != nil {
			return err
		}
		if v := int64(binary.BigEndian.Uint64(b)); v < 0 || v >= dayNanos {
			return badValue("Input long for TimeType should be between 0 and 86400000000000")
		}
	case KindSmallInt:
		return checkSize(b, "Expected 2 bytes for a smallint (%d)", 2)
	case KindTinyInt:
		return checkSize(b, "Expected 1 byte for a tinyint (%d)", 1)
	case KindDuration:
		_, _, _, err := splitDuration(b)
		return err
	case KindList, KindSet, KindMap, KindTuple, KindUDT, KindVector:
		return t.checkParts(b)
	}
	return nil
}

// anyBytes reports whether all bytes of the length fixedSize, which is not 0, are a value.
func (t *Type) anyBytes() bool {
	switch t.Kind {
	case KindBoolean, KindInt, KindFloat, KindBigInt, KindDouble, KindTimestamp, KindUUID:
		return true
	case KindVector:
		return t.Elems[0].anyBytes()
	}
	return false
}

// checkParts checks the parts of a value. The parts of a collection are not NULL.
func (t *Type) checkParts(b []byte) error {
	if t.Kind == KindVector && t.Elems[0].anyBytes() && len(b) > 0 && len(b) == t.fixedSize() {
		return nil
	}
	parts, err := t.split(b)
	if err != nil {
		return err
	}
	for i, p := range parts {
		if p == nil && t.isCollection() {
			return errors.New("null is not supported inside collections")
		}
		if p == nil {
			continue
		}
		if err := t.part(i).check(p); err != nil {
			return err
		}
	}
	return nil
}

func checkSize(b []byte, message string, sizes ...int) error {
	for _, n := range sizes {
		if len(b) == n {
			return nil
		}
	}
	return fmt.Errorf(message, len(b))
}

// splitDuration reads three zigzag vints, which must have the same sign.
func splitDuration(b []byte) (months, days int32, nanos int64, err error) {
	var v [3]int64
	if len(b) < 3 {
		return 0, 0, 0, badValue("Expected at least 3 bytes for a duration (%d)", len(b))
	}
	for i := range v {
		u, rest, ok := cutVint(b)
		if !ok {
			return 0, 0, 0, badValue("Not enough bytes to read a duration")
		}
		v[i], b = zigzag(u), rest
	}
	switch {
	case len(b) > 0:
		return 0, 0, 0, badValue("Unexpected extraneous bytes after duration value")
	case v[0] != int64(int32(v[0])):
		return 0, 0, 0, badValue("The duration months must be a 32 bits integer but was: %d", v[0])
	case v[1] != int64(int32(v[1])):
		return 0, 0, 0, badValue("The duration days must be a 32 bits integer but was: %d", v[1])
	case !(v[0] >= 0 && v[1] >= 0 && v[2] >= 0) && !(v[0] <= 0 && v[1] <= 0 && v[2] <= 0):
		return 0, 0, 0, badValue("The duration months, days and nanoseconds must be all of the same sign (%d, %d, %d)", v[0],
			v[1], v[2])
	}
	return int32(v[0]), int32(v[1]), v[2], nil
}

const dayNanos = 24 * 60 * 60 * 1e9
