// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/big"

	"github.com/vecql/vecql/cql"
)

// The order of Cassandra's values, by which servers sort the elements of sets and the keys of maps
// (org.apache.cassandra.db.marshal, compareCustom of each type).

// A comparison compares two cells of one type. It is a total order, in which cells that are malformed come after the
// others: sorting a sorted cell again changes nothing.
type comparison func(a, b []byte) int

// comparisonOf returns the order of values of type info.
func comparisonOf(info cql.TypeInfo) comparison {
	switch info := info.(type) {
	case cql.NativeType:
		return nativeComparison(cql.Type(info))
	case cql.CollectionType:
		if info.Type() == cql.TypeMap {
			return compareSequences(4, cutCell, comparisonOf(info.Key), comparisonOf(info.Elem))
		}
		return compareSequences(4, cutCell, comparisonOf(info.Elem))
	case cql.TupleTypeInfo:
		return compareFields(info.Elems)
	case cql.UDTTypeInfo:
		types := make([]cql.TypeInfo, len(info.Elements))
		for i, f := range info.Elements {
			types[i] = f.Type
		}
		return compareFields(types)
	case cql.VectorType:
		size := fixedSize(info.SubType)
		if size == 0 {
			return bytes.Compare
		}
		cut := func(b []byte) (value, rest []byte, err error) {
			if size > len(b) {
				return nil, nil, cql.ErrMissing
			}
			return cutElement(b, size)
		}
		return compareSequences(0, cut, comparisonOf(info.SubType))
	}
	return bytes.Compare
}

// nativeComparison returns the order of a native type. Text, blobs, addresses, booleans, dates and times have the order
// of their bytes.
func nativeComparison(typ cql.Type) comparison {
	switch typ {
	case cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeTimestamp:
		return compareIntegers
	case cql.TypeVarint:
		return compareVarints
	case cql.TypeDecimal:
		return compareDecimals
	case cql.TypeFloat:
		return compareFloats(4, func(b []byte) float64 { return float64(math.Float32frombits(binary.BigEndian.Uint32(b))) })
	case cql.TypeDouble:
		return compareFloats(8, func(b []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b)) })
	case cql.TypeUUID:
		return compareUUIDs
	case cql.TypeTimeUUID:
		return compareTimeUUIDs
	}
	return bytes.Compare
}

// compareIntegers compares integers of one size in two's complement. An empty cell is the least value, here and in the
// functions below.
func compareIntegers(a, b []byte) int {
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(a), len(b))
	}
	if order := cmp.Compare(int8(a[0]), int8(b[0])); order != 0 {
		return order
	}
	return bytes.Compare(a[1:], b[1:])
}

// compareSizes compares two cells if at least one has another size than its type.
func compareSizes(a, b []byte) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
}

// integerOf returns a number in two's complement.
func integerOf(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

func compareVarints(a, b []byte) int {
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(a), len(b))
	}
	return integerOf(a).Cmp(integerOf(b))
}

// compareDecimals compares numbers: 1.0 is equal to 1.00. Numbers with the same sign are compared first by the position
// of their first digit, because a difference of scales may be as large as 2^32.
func compareDecimals(a, b []byte) int {
	if len(a) < 5 || len(b) < 5 {
		return compareSizes(a, b)
	}
	x, y := integerOf(a[4:]), integerOf(b[4:])
	if order := cmp.Compare(x.Sign(), y.Sign()); order != 0 || x.Sign() == 0 {
		return order
	}
	sign := x.Sign()
	s, t := x.Abs(x).String(), y.Abs(y).String()
	scales := [2]int64{int64(int32(binary.BigEndian.Uint32(a))), int64(int32(binary.BigEndian.Uint32(b)))}
	if order := cmp.Compare(int64(len(s))-scales[0], int64(len(t))-scales[1]); order != 0 {
		return sign * order
	}
	return sign * cmp.Compare(trimZeros(s), trimZeros(t))
}

// trimZeros removes zeros at the end of digits, so that the texts of two fractions have the order of the numbers.
func trimZeros(digits string) string {
	n := len(digits)
	for n > 0 && digits[n-1] == '0' {
		n--
	}
	return digits[:n]
}

// compareFloats returns the order of Java's Float and Double: -0.0 is less than 0.0, and NaN is greater than any other
// value and equal to any NaN.
func compareFloats(size int, value func([]byte) float64) comparison {
	return func(a, b []byte) int {
		if len(a) != size || len(b) != size {
			return compareSizes(a, b)
		}
		x, y := value(a), value(b)
		switch {
		case math.IsNaN(x) || math.IsNaN(y):
			return -cmp.Compare(x, y) // in Go NaN is less than any other value
		case x == y:
			return cmp.Compare(int8(b[0]>>7), int8(a[0]>>7))
		}
		return cmp.Compare(x, y)
	}
}

// uuidTime returns the bits of the time of a UUID of version 1 in the order of their significance.
func uuidTime(u []byte) uint64 {
	n := binary.BigEndian.Uint64(u)
	return n<<48 | n<<16&(0xffff<<32) | n>>32
}

// compareUUIDs compares versions, then, in version 1, times, then the bytes.
func compareUUIDs(a, b []byte) int {
	if len(a) != 16 || len(b) != 16 {
		return compareSizes(a, b)
	}
	version := a[6] >> 4
	if order := cmp.Compare(version, b[6]>>4); order != 0 {
		return order
	}
	if version == 1 {
		if order := cmp.Compare(uuidTime(a), uuidTime(b)); order != 0 {
			return order
		}
	}
	return bytes.Compare(a, b)
}

// compareTimeUUIDs compares times, then the other bytes as signed numbers.
func compareTimeUUIDs(a, b []byte) int {
	if len(a) != 16 || len(b) != 16 {
		return compareSizes(a, b)
	}
	if order := cmp.Compare(uuidTime(a), uuidTime(b)); order != 0 {
		return order
	}
	for i := 8; i < 16; i++ {
		if order := cmp.Compare(int8(a[i]), int8(b[i])); order != 0 {
			return order
		}
	}
	return 0
}

// compareSequences compares sequences of elements, the first different one first, then their lengths. header is the
// number of bytes of the count. Elements have the types of orders in turn.
func compareSequences(header int, cut func([]byte) (value, rest []byte, err error), orders ...comparison) comparison {
	return func(a, b []byte) int {
		if len(a) < header || len(b) < header {
			return compareSizes(a, b)
		}
		counts := bytes.Compare(a[:header], b[:header])
		a, b = a[header:], b[header:]
		for i := 0; len(a) > 0 && len(b) > 0; i++ {
			x, restA, errA := cut(a)
			y, restB, errB := cut(b)
			if errA != nil || errB != nil {
				return compareMalformed(a, b, errA, errB)
			}
			if order := orders[i%len(orders)](x, y); order != 0 {
				return order
			}
			a, b = restA, restB
		}
		return cmp.Or(cmp.Compare(len(a), len(b)), counts) // at least one has ended
	}
}

// compareMalformed compares the rests of two cells if at least one is malformed: a malformed one is the greater.
func compareMalformed(a, b []byte, errA, errB error) int {
	switch {
	case errB == nil:
		return 1
	case errA == nil:
		return -1
	}
	return bytes.Compare(a, b)
}

// compareFields returns the order of tuples and user-defined types: by the first field that differs. NULL is less than
// any value, and fields that are missing at the end are NULL.
func compareFields(types []cql.TypeInfo) comparison {
	orders := make([]comparison, len(types))
	for i, t := range types {
		orders[i] = comparisonOf(t)
	}
	return func(a, b []byte) int {
		for _, order := range orders {
			x, restA, errA := cutField(a)
			y, restB, errB := cutField(b)
			switch {
			case errA != nil || errB != nil:
				return compareMalformed(a, b, errA, errB)
			case x == nil || y == nil:
				if x != nil {
					return 1
				}
				if y != nil {
					return -1
				}
			default:
				if o := order(x, y); o != 0 {
					return o
				}
			}
			a, b = restA, restB
		}
		return bytes.Compare(a, b) // bytes after the last field
	}
}

// cutField is cutCell for a field that may be missing.
func cutField(b []byte) (value, rest []byte, err error) {
	if len(b) == 0 {
		return nil, nil, nil
	}
	return cutCell(b)
}
