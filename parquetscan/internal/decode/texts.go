// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/binary"

	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Texts within a plain page: each follows its length, so that all of them are found before those that are selected are
// copied.

// Texts are texts of a plain page: text i is data[at[i]+TextGap : at[i+1]].
type Texts struct {
	Data []byte
	At   []int32
}

// TextGap is the number of bytes between plain texts: the length of the next one.
const TextGap = 4

// FindTexts returns the next n plain texts without consuming them.
func (c *Decoder) FindTexts(n int) (Texts, error) {
	data := c.Data
	if n > len(data)/4 {
		return Texts{}, failure.Corrupt("page ends within %d strings", n)
	}
	if c.foundIn != len(data) || len(c.found) <= n {
		c.found, c.foundIn = buffer.Grow(c.found[:0], n+1), len(data)
		if err := findTexts(c.found, data); err != nil {
			c.foundIn = -1
			return Texts{}, err
		}
	}
	return Texts{data, c.found[:n+1]}, nil
}

// findTexts sets at to the positions of texts' lengths in data, and of the end of the last text.
func findTexts(at []int32, data []byte) error {
	pos := 0
	at[0] = 0
	for i := range at[1:] {
		if pos+4 > len(data) {
			return failure.Corrupt("page ends within a string")
		}
		length := binary.LittleEndian.Uint32(data[pos:])
		if pos += 4; uint64(length) > uint64(len(data)-pos) {
			return failure.Corrupt("string of %d bytes, but the page has %d left", length, len(data)-pos)
		}
		pos += int(length)
		at[i+1] = int32(pos)
	}
	return nil
}

// CopyText copies text i, and returns its length. It may overwrite up to 16 bytes.
func (t *Texts) CopyText(dst []byte, i int) int {
	from, end := int(t.At[i]+TextGap), int(t.At[i+1])
	if end-from <= 16 && from+16 <= len(t.Data) {
		buffer.Copy16(dst, t.Data[from:])
		return end - from
	}
	return copy(dst, t.Data[from:end])
}
