// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Levels of the current page.

// LevelBlock is how many levels are decoded at once.
const LevelBlock = 4096

// countPresent returns how many of the next n definition levels are the maximum, without consuming them.
func (c *chunk) countPresent(n int) (int, error) {
	h, present := c.def, 0
	c.defBuf = buffer.Grow(c.defBuf[:0], min(n, LevelBlock))
	for n > 0 {
		part := c.defBuf[:min(n, len(c.defBuf))]
		if err := h.Decode(part); err != nil {
			return 0, err
		}
		for _, d := range part {
			if int(d) == c.leaf.MaxDef {
				present++
			}
		}
		n -= len(part)
	}
	return present, nil
}

// levelsOfRows returns the next levels of the page, at most LevelBlock and none after row n; started counts the rows
// that have begun.
func (c *chunk) levelsOfRows(started *int, n int) (reps, defs []uint32, err error) {
	k := min(c.left, LevelBlock)
	c.repBuf, c.defBuf = buffer.Grow(c.repBuf[:0], k), buffer.Grow(c.defBuf[:0], k)
	if c.leaf.MaxRep == 0 {
		k = min(k, n-*started)
		*started += k
		clear(c.repBuf[:k])
		return c.repBuf[:k], c.defBuf[:k], c.def.Decode(c.defBuf[:k])
	}
	before := c.rep
	if err := c.rep.Decode(c.repBuf); err != nil {
		return nil, nil, err
	}
	if *started == 0 && c.repBuf[0] != 0 {
		return nil, nil, failure.Corrupt("page begins within a row")
	}
	for i, r := range c.repBuf {
		if int(r) > c.leaf.MaxRep {
			return nil, nil, failure.Corrupt("repetition level %d, want at most %d", r, c.leaf.MaxRep)
		}
		if r != 0 {
			continue
		}
		if *started == n {
			k = i
			c.rep = before
			if err := c.rep.Skip(k); err != nil {
				return nil, nil, err
			}
			break
		}
		*started++
	}
	return c.repBuf[:k], c.defBuf[:k], c.def.Decode(c.defBuf[:k])
}
