// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Splitting and joining of serialized collections, tuples and vectors (native_protocol_v5.spec, section 6). Parts alias
// the value.

// fixedSize returns the size of a value if Cassandra stores vectors of the type without lengths, otherwise 0. Cassandra
// does not treat some types of constant size (tinyint, smallint, date, time) so.
func (t *Type) fixedSize() int {
	switch t.Kind {
	case KindBoolean:
		return 1
	case KindInt, KindFloat:
		return 4
	case KindBigInt, KindDouble, KindTimestamp:
		return 8
	case KindUUID, KindTimeUUID:
		return 16
	case KindVector:
		return t.Elems[0].fixedSize() * t.Dim
	}
	return 0
}

// isCollection reports whether the type is a list, set or map.
func (t *Type) isCollection() bool {
	return t.Kind == KindList || t.Kind == KindSet || t.Kind == KindMap
}

// multiCell reports whether a column of the type is stored with one cell per element.
func (t *Type) multiCell() bool {
	return !t.Frozen && (t.isCollection() || t.Kind == KindUDT)
}

// hasParts reports whether the values of the type have parts.
func (t *Type) hasParts() bool {
	return t.isCollection() || t.Kind == KindTuple || t.Kind == KindUDT || t.Kind == KindVector
}

// split returns the parts of a value: elements, alternating keys and values, or fields.
func (t *Type) split(b []byte) ([][]byte, error) {
	switch t.Kind {
	case KindTuple, KindUDT:
		return splitTuple(t, b)
	case KindVector:
		return splitVector(t, b)
	}
	return splitCollection(t, b)
}

// part returns the type of part i of a value.
func (t *Type) part(i int) *Type { return t.Elems[i%len(t.Elems)] }

// join is the reverse of split. It sorts sets and maps.
func (t *Type) join(parts [][]byte) []byte {
	switch t.Kind {
	case KindTuple, KindUDT:
		return joinTuple(parts)
	case KindVector:
		return joinVector(t, parts)
	case KindSet, KindMap:
		return joinSorted(t, parts)
	}
	return joinCollection(t, parts)
}

// splitCollection returns the elements of a list or set, or the alternating keys and values of a map. A nil element is
// NULL.
func splitCollection(t *Type, b []byte) ([][]byte, error) {
	if len(b) < 4 {
		return nil, badValue("Not enough bytes to read a %s", collectionWord(t))
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	b = b[4:]
	if t.Kind == KindMap {
		if n > math.MaxInt32/2 {
			n = -1
		}
		n *= 2
	}
	if n < 0 || n > len(b)/4 {
		return nil, badValue("Not enough bytes to read a %s", collectionWord(t))
	}
	out := make([][]byte, n)
	var ok bool
	for i := range out {
		if out[i], b, ok = cutBytes(b); !ok {
			return nil, badValue("Not enough bytes to read a %s", collectionWord(t))
		}
	}
	if len(b) > 0 {
		return nil, badValue("Unexpected extraneous bytes after %s value", collectionWord(t))
	}
	return out, nil
}

func collectionWord(t *Type) string {
	switch t.Kind {
	case KindSet:
		return "set"
	case KindMap:
		return "map"
	}
	return "list"
}

// cutBytes cuts a [bytes] off the front of b.
func cutBytes(b []byte) (part, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := int32(binary.BigEndian.Uint32(b))
	b = b[4:]
	if n < 0 {
		return nil, b, true
	}
	if int64(n) > int64(len(b)) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}

// splitTuple returns the elements of a tuple or UDT; missing ones at the end are NULL.
func splitTuple(t *Type, b []byte) ([][]byte, error) {
	out := make([][]byte, len(t.Elems))
	for i := range out {
		if len(b) == 0 {
			break
		}
		var ok bool
		if out[i], b, ok = cutBytes(b); !ok {
			return nil, badValue("Not enough bytes to read %dth component", i)
		}
	}
	if len(b) > 0 {
		return nil, badValue("Invalid remaining data after end of %s value", tupleWord(t))
	}
	return out, nil
}

func tupleWord(t *Type) string {
	if t.Kind == KindUDT {
		return "UDT"
	}
	return "tuple"
}

// splitVector returns the elements of a vector.
func splitVector(t *Type, b []byte) ([][]byte, error) {
	if len(b) == 0 {
		return nil, badValue("Invalid empty vector value")
	}
	elem := t.Elems[0]
	if size := elem.fixedSize(); size > 0 {
		if len(b) < size*t.Dim {
			return nil, badValue("Not enough bytes to read a %s", t)
		}
		if len(b) > size*t.Dim {
			return nil, badValue("Unexpected %d extraneous bytes after %s value", len(b)-size*t.Dim, t)
		}
		out := make([][]byte, t.Dim)
		for i := range out {
			out[i] = b[i*size : (i+1)*size : (i+1)*size]
		}
		return out, nil
	}
	if t.Dim > len(b) {
		return nil, badValue("Not enough bytes to read a %s", t)
	}
	out := make([][]byte, t.Dim)
	for i := range out {
		n, rest, ok := cutVint(b)
		if !ok || n > uint64(len(rest)) {
			return nil, badValue("Not enough bytes to read a %s", t)
		}
		out[i], b = rest[:n:n], rest[n:]
	}
	if len(b) > 0 {
		return nil, badValue("Unexpected %d extraneous bytes after %s value", len(b), t)
	}
	return out, nil
}

// cutVint cuts an [unsigned vint] off the front of b (section 3).
func cutVint(b []byte) (v uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	extra := bits.LeadingZeros8(^b[0])
	if len(b) < 1+extra {
		return 0, nil, false
	}
	if extra < 8 {
		v = uint64(b[0]) & (0xFF >> (extra + 1))
	}
	for _, x := range b[1 : 1+extra] {
		v = v<<8 | uint64(x)
	}
	return v, b[1+extra:], true
}

func appendVint(dst []byte, v uint64) []byte {
	extra := (bits.Len64(v|1) - 1) / 7
	if extra >= 8 {
		return binary.BigEndian.AppendUint64(append(dst, 0xFF), v)
	}
	v |= (uint64(0xFF) << (8 - extra) & 0xFF) << (8 * extra)
	for i := extra; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

// zigzag decodes a [vint].
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func appendZigzag(dst []byte, v int64) []byte {
	return appendVint(dst, uint64(v<<1)^uint64(v>>63))
}

// appendBytes appends a [bytes]; nil is NULL.
func appendBytes(dst, part []byte) []byte {
	if part == nil {
		return binary.BigEndian.AppendUint32(dst, math.MaxUint32)
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(part))), part...)
}

// joinCollection is the reverse of splitCollection.
func joinCollection(t *Type, parts [][]byte) []byte {
	n := len(parts)
	if t.Kind == KindMap {
		n /= 2
	}
	size := 4
	for _, p := range parts {
		size += 4 + len(p)
	}
	out := binary.BigEndian.AppendUint32(make([]byte, 0, size), uint32(n))
	for _, p := range parts {
		out = appendBytes(out, p)
	}
	return out
}

// joinTuple is the reverse of splitTuple.
func joinTuple(parts [][]byte) []byte {
	out := []byte{}
	for _, p := range parts {
		out = appendBytes(out, p)
	}
	return out
}

// joinVector is the reverse of splitVector.
func joinVector(t *Type, parts [][]byte) []byte {
	fixed := t.Elems[0].fixedSize() > 0
	out := []byte{}
	for _, p := range parts {
		if !fixed {
			out = appendVint(out, uint64(len(p)))
		}
		out = append(out, p...)
	}
	return out
}

func int32Bytes(v int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }
func int64Bytes(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

func float32Bytes(v float32) []byte { return binary.BigEndian.AppendUint32(nil, math.Float32bits(v)) }

// float64Bytes serializes a double. Every NaN has the bytes of Java's.
func float64Bytes(v float64) []byte {
	bits := math.Float64bits(v)
	if math.IsNaN(v) {
		bits = 0x7ff8 << 48
	}
	return binary.BigEndian.AppendUint64(nil, bits)
}

func boolBytes(v bool) []byte {
	if v {
		return []byte{1}
	}
	return []byte{0}
}
