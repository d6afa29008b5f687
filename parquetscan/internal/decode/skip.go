// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/binary"

	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Skipping values of the current page.

// Skip skips n values of the page, none of them NULL.
func (c *Decoder) Skip(n int) error {
	switch {
	case n == 0:
		return nil
	case c.Coded || c.bools:
		return c.Codes.Skip(n)
	case c.leaf.Physical == format.Boolean:
		if c.bit+n > len(c.Data)*8 {
			return failure.Corrupt("page ends %d booleans too early", c.bit+n-len(c.Data)*8)
		}
		c.bit += n
		return nil
	case c.leaf.Physical == format.ByteArray:
		return c.skipByteArrays(n)
	default:
		if n > len(c.Data)/max(1, c.leaf.Stored) {
			return failure.Corrupt("page ends %d bytes too early", n*c.leaf.Stored-len(c.Data))
		}
		c.Data = c.Data[n*c.leaf.Stored:]
		return nil
	}
}

// skipByteArrays skips n plain byte arrays.
func (c *Decoder) skipByteArrays(n int) error {
	data := c.Data
	for range n {
		if len(data) < 4 {
			return failure.Corrupt("page ends within a string")
		}
		length := uint64(binary.LittleEndian.Uint32(data))
		if length > uint64(len(data)-4) {
			return failure.Corrupt("string of %d bytes, but the page has %d left", length, len(data)-4)
		}
		data = data[4+length:]
	}
	c.Data = data
	return nil
}
