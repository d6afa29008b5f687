// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
)

// The order of values of each type, as in Cassandra's AbstractType.compare.

// compare compares two values of the type. nil (NULL, in tuples) and empty values come first.
func (t *Type) compare(a, b []byte) int {
	if len(a) == 0 || len(b) == 0 {
		if a == nil || b == nil {
			return cmp.Compare(btoi(a != nil), btoi(b != nil))
		}
		return cmp.Compare(len(a), len(b))
	}
	switch t.Kind {
	case KindBigInt, KindCounter, KindTimestamp:
		if len(a) == 8 && len(b) == 8 {
			return cmp.Compare(int64(binary.BigEndian.Uint64(a)), int64(binary.BigEndian.Uint64(b)))
		}
	case KindInt:
		if len(a) == 4 && len(b) == 4 {
			return cmp.Compare(int32(binary.BigEndian.Uint32(a)), int32(binary.BigEndian.Uint32(b)))
		}
	case KindSmallInt:
		if len(a) == 2 && len(b) == 2 {
			return cmp.Compare(int16(binary.BigEndian.Uint16(a)), int16(binary.BigEndian.Uint16(b)))
		}
	case KindTinyInt:
		return cmp.Compare(int8(a[0]), int8(b[0]))
	case KindFloat:
		if len(a) == 4 && len(b) == 4 {
			return compareFloat(float64(math.Float32frombits(binary.BigEndian.Uint32(a))),
				float64(math.Float32frombits(binary.BigEndian.Uint32(b))))
		}
	case KindDouble:
		if len(a) == 8 && len(b) == 8 {
			return compareFloat(math.Float64frombits(binary.BigEndian.Uint64(a)),
				math.Float64frombits(binary.BigEndian.Uint64(b)))
		}
	case KindVarint:
		return readVarint(a).Cmp(readVarint(b))
	case KindDecimal:
		return compareDecimal(a, b)
	case KindUUID:
		if len(a) == 16 && len(b) == 16 {
			return compareUUID(a, b)
		}
	case KindTimeUUID:
		if len(a) == 16 && len(b) == 16 {
			return compareTimeUUID(a, b)
		}
	case KindList, KindSet, KindMap, KindTuple, KindUDT, KindVector:
		return t.compareParts(a, b)
	}
	return bytes.Compare(a, b)
}

// compareParts compares element by element, then by number of elements. Invalid values, which are never stored, are
// compared bytewise.
func (t *Type) compareParts(a, b []byte) int {
	as, err := t.split(a)
	bs, err2 := t.split(b)
	if err != nil || err2 != nil {
		return bytes.Compare(a, b)
	}
	for i := range min(len(as), len(bs)) {
		if c := t.part(i).compare(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compareFloat compares like Java's Double.compare: -0 before 0, NaN last.
func compareFloat(a, b float64) int {
	if a == b && a == 0 {
		return cmp.Compare(btoi(!math.Signbit(a)), btoi(!math.Signbit(b)))
	}
	if math.IsNaN(a) || math.IsNaN(b) {
		return cmp.Compare(btoi(math.IsNaN(a)), btoi(math.IsNaN(b)))
	}
	return cmp.Compare(a, b)
}

// compareUUID compares by version, then by time for version 1, then by bytes.
func compareUUID(a, b []byte) int {
	if c := cmp.Compare(a[6]>>4, b[6]>>4); c != 0 {
		return c
	}
	if a[6]>>4 == 1 {
		if c := cmp.Compare(uuidTime(a), uuidTime(b)); c != 0 {
			return c
		}
		return bytes.Compare(a[8:], b[8:])
	}
	return bytes.Compare(a, b)
}

// compareTimeUUID compares by time, then by the last eight bytes as signed bytes.
func compareTimeUUID(a, b []byte) int {
	if c := cmp.Compare(uuidTime(a), uuidTime(b)); c != 0 {
		return c
	}
	for i := 8; i < 16; i++ {
		if c := cmp.Compare(int8(a[i]), int8(b[i])); c != 0 {
			return c
		}
	}
	return 0
}

// uuidTime returns the 60-bit time of a version 1 UUID, in units of 100 ns since 1582-10-15.
func uuidTime(u []byte) int64 {
	high, middle, low := binary.BigEndian.Uint16(u[6:]), binary.BigEndian.Uint16(u[4:]), binary.BigEndian.Uint32(u)
	return int64(high&0x0FFF)<<48 | int64(middle)<<32 | int64(low)
}

// readVarint decodes two's complement of any length.
func readVarint(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(len(b))*8))
	}
	return v
}

// varintBytes encodes the shortest two's complement.
func varintBytes(v *big.Int) []byte {
	if v.Sign() >= 0 {
		b := v.Bytes()
		if len(b) == 0 || b[0] >= 0x80 {
			b = append([]byte{0}, b...)
		}
		return b
	}
	n := new(big.Int).Not(v).BitLen()/8 + 1
	b := new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(n)*8)).Bytes()
	for len(b) < n {
		b = append([]byte{0}, b...)
	}
	return b
}

// splitDecimal decodes scale and unscaled value; b has at least four bytes or none.
func splitDecimal(b []byte) (unscaled *big.Int, scale int32) {
	if len(b) < 4 {
		return new(big.Int), 0
	}
	return readVarint(b[4:]), int32(binary.BigEndian.Uint32(b))
}

func decimalBytes(unscaled *big.Int, scale int32) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(scale)), varintBytes(unscaled)...)
}

// compareDecimal compares by value. If the magnitudes differ it does not expand the digits: a scale may be two billion.
func compareDecimal(a, b []byte) int {
	x, xs := splitDecimal(a)
	y, ys := splitDecimal(b)
	if x.Sign() != y.Sign() || x.Sign() == 0 {
		return cmp.Compare(x.Sign(), y.Sign())
	}
	if c := cmp.Compare(int64(decimalDigits(x))-int64(xs), int64(decimalDigits(y))-int64(ys)); c != 0 {
		return c * x.Sign()
	}
	// The magnitudes are equal: the scales differ at most by the number of digits.
	if d := int64(xs) - int64(ys); d > 0 {
		y = new(big.Int).Mul(y, pow10(d))
	} else if d < 0 {
		x = new(big.Int).Mul(x, pow10(-d))
	}
	return x.Cmp(y)
}

func decimalDigits(v *big.Int) int { return len(new(big.Int).Abs(v).String()) }

func pow10(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }
