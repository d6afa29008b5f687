// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestThriftElementsAreSkipped has lists, sets and maps of each type, before another field.
func TestThriftElementsAreSkipped(t *testing.T) {
	long := func(n int) []byte { return bytes.Repeat([]byte{0x81}, n) } // no byte of it ends a number
	for typ, element := range map[byte][]byte{
		thriftTrue: {1}, thriftFalse: {2}, thriftByte: {0x81}, thriftI16: {0x81, 1}, thriftI32: {0x81, 1}, thriftI64: {0x81, 1},
		thriftDouble: long(8), thriftBinary: append([]byte{3}, long(3)...), thriftList: {0x23, 0x81, 0x81}, thriftSet: {0x14, 0x81, 1},
		thriftMap: {1, thriftByte<<4 | thriftTrue, 0x81, 2}, thriftStruct: {0x15, 14, 0}, thriftUUID: long(16),
	} {
		three := bytes.Repeat(element, 3)
		for kind, value := range map[byte][]byte{
			thriftList: append([]byte{3<<4 | typ}, three...),
			thriftSet:  append([]byte{15<<4 | typ, 3}, three...),
			thriftMap:  append([]byte{3, thriftByte<<4 | typ}, bytes.Repeat(append([]byte{5}, element...), 3)...),
		} {
			b := append([]byte{1<<4 | kind}, value...)
			b = append(b, 1<<4|thriftI32, 14, 0)
			r := thriftReader{b: b}
			r.skip(thriftStruct, 0)
			require.False(t, r.failed(), "type %d in %d", typ, kind)
			require.Equal(t, len(b), r.pos, "type %d in %d", typ, kind)
			for end := 1; end < len(b); end++ {
				r := thriftReader{b: b[:end]}
				r.skip(thriftStruct, 0)
				require.True(t, r.short, "type %d in %d, cut after %d bytes", typ, kind, end)
			}
		}
	}
}
