// SPDX-License-Identifier: Apache-2.0

package thrift

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestThriftElementsAreSkipped has lists, sets and maps of each type, before another field.
func TestThriftElementsAreSkipped(t *testing.T) {
	long := func(n int) []byte { return bytes.Repeat([]byte{0x81}, n) } // no byte of it ends a number
	for typ, element := range map[byte][]byte{
		True: {1}, False: {2}, Byte: {0x81}, I16: {0x81, 1}, I32: {0x81, 1}, I64: {0x81, 1},
		Double: long(8), Binary: append([]byte{3}, long(3)...), List: {0x23, 0x81, 0x81}, Set: {0x14, 0x81, 1},
		Map: {1, Byte<<4 | True, 0x81, 2}, Struct: {0x15, 14, 0}, UUID: long(16),
	} {
		three := bytes.Repeat(element, 3)
		for kind, value := range map[byte][]byte{
			List: append([]byte{3<<4 | typ}, three...),
			Set:  append([]byte{15<<4 | typ, 3}, three...),
			Map:  append([]byte{3, Byte<<4 | typ}, bytes.Repeat(append([]byte{5}, element...), 3)...),
		} {
			b := append([]byte{1<<4 | kind}, value...)
			b = append(b, 1<<4|I32, 14, 0)
			r := Reader{B: b}
			r.Skip(Struct, 0)
			require.False(t, r.Failed(), "type %d in %d", typ, kind)
			require.Equal(t, len(b), r.Pos, "type %d in %d", typ, kind)
			for end := 1; end < len(b); end++ {
				r := Reader{B: b[:end]}
				r.Skip(Struct, 0)
				require.True(t, r.Short, "type %d in %d, cut after %d bytes", typ, kind, end)
			}
		}
	}
}

// FuzzSkipNumbers holds the walk over the integers of a struct equal to one that reads field after field.
func FuzzSkipNumbers(f *testing.F) {
	number := bytes.Repeat([]byte{0x80}, 9)
	for _, last := range []byte{0x80, 0x01, 0x02, 0x30} { // the last byte of a number of ten bytes has one bit
		f.Add(slices.Concat([]byte{0x15, 14, 0x26}, number, []byte{last}, bytes.Repeat([]byte{0x14, 0x81, 0x01}, 10), []byte{0}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, want := Reader{B: b}, Reader{B: b}
		r.Skip(Struct, 0)
		for _, typ := range want.Fields() {
			if I16 <= typ && typ <= I64 {
				want.Uvarint()
			} else {
				want.Skip(typ, 1)
			}
		}
		require.Equal(t, want.Failed(), r.Failed())
		if !want.Failed() {
			require.Equal(t, want.Pos, r.Pos)
			return
		}
		require.Equal(t, want.Bad, r.Bad)
	})
}
