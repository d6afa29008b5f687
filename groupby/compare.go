// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"cmp"
	"encoding/binary"
	"strings"

	"github.com/vecql/vecql/column"
)

// Orders of values that do not fit into a word.

// hasOrder reports whether values of a type have an order. Decimal, whose values have individual scales, vectors, and
// kinds with children have none.
func hasOrder(t column.Type) bool {
	return t.Kind != column.Decimal && t.Kind != column.Vector && !t.Kind.IsNested()
}

// comparer returns a function that compares the bytes of two values of an ordered type. Decimals and varints are
// compared as numbers; durations by months, then days, then nanoseconds; all others by their bytes.
func comparer(t column.Type) func(a, b string) int {
	switch t.Kind {
	case column.Decimal128, column.Decimal256:
		return compareWords
	case column.Duration:
		return compareDurations
	case column.Varint:
		return compareVarints
	case column.Float16:
		return func(a, b string) int { return cmp.Compare(orderedFloat16(half(a)), orderedFloat16(half(b))) }
	}
	return strings.Compare
}

// orderedFloat16 converts the bits of a 16-bit float to an integer with the same order, NaN last and -0 equal to 0.
func orderedFloat16(b uint16) uint16 {
	if b = canonical16(b); b>>15 != 0 {
		return ^b
	}
	return b | 1<<15
}

func half(s string) uint16 { return binary.NativeEndian.Uint16([]byte(s)) }

func word(s string, i int) uint64 { return binary.NativeEndian.Uint64([]byte(s[i : i+8])) }

// compareWords compares integers of several words in two's complement, the least significant word first.
func compareWords(a, b string) int {
	top := len(a) - 8
	if c := cmp.Compare(int64(word(a, top)), int64(word(b, top))); c != 0 {
		return c
	}
	for i := top - 8; i >= 0; i -= 8 {
		if c := cmp.Compare(word(a, i), word(b, i)); c != 0 {
			return c
		}
	}
	return 0
}

// compareDurations compares two cql.Duration: int32 months, int32 days, int64 nanoseconds.
func compareDurations(a, b string) int {
	part := func(s string, i int) int32 { return int32(binary.NativeEndian.Uint32([]byte(s[i : i+4]))) }
	return cmp.Or(cmp.Compare(part(a, 0), part(b, 0)), cmp.Compare(part(a, 4), part(b, 4)),
		cmp.Compare(int64(word(a, 8)), int64(word(b, 8))))
}

// compareVarints compares integers of any length in two's complement, the most significant byte first.
func compareVarints(a, b string) int {
	a, b = trimVarint(a), trimVarint(b)
	negative := func(s string) bool { return s != "" && s[0]&0x80 != 0 }
	switch n := negative(a); {
	case n && !negative(b):
		return -1
	case !n && negative(b):
		return 1
	case len(a) != len(b) && n:
		return cmp.Compare(len(b), len(a))
	case len(a) != len(b):
		return cmp.Compare(len(a), len(b))
	}
	return strings.Compare(a, b)
}

// trimVarint returns the shortest form of an integer in two's complement, "" for 0.
func trimVarint(s string) string {
	for len(s) > 1 && (s[0] == 0 && s[1]&0x80 == 0 || s[0] == 0xff && s[1]&0x80 != 0) {
		s = s[1:]
	}
	if s == "\x00" {
		return ""
	}
	return s
}
