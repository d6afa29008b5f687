// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math/bits"

	"github.com/vecql/vecql/column"
)

// Values that are not NULL: the rows of a column that have one, and the groups that have received one.

// forValid calls f for each row of the column that is not NULL.
func forValid(c *column.Column, f func(i int)) {
	for at := 0; at < c.Len; at += 64 {
		for w := validWord(c, at); w != 0; w &= w - 1 {
			f(at + bits.TrailingZeros64(w))
		}
	}
}

// validRows lists the rows of a column that are not NULL, in dst if it has room. Words with many such rows have no
// branch on each.
func validRows(dst []uint32, c *column.Column) []uint32 {
	dst = extended(dst, (c.Len+63)&^63)
	n := 0
	for at := 0; at < c.Len; at += 64 {
		w := validWord(c, at)
		if bits.OnesCount64(w) < 16 {
			for ; w != 0; w &= w - 1 {
				dst[n] = uint32(at + bits.TrailingZeros64(w))
				n++
			}
			continue
		}
		to, m := (*[64]uint32)(dst[n:]), 0
		for k := range to {
			to[m%64] = uint32(at + k)
			m += int(w >> k & 1)
		}
		n += m
	}
	return dst[:n]
}

// seen is the set of groups that have a value other than NULL. Until the first NULL it has no bits: every group has
// rows, so all groups are in the set.
type seen struct {
	bits  []bool
	n     int
	known int      // groups that had rows before the current rows
	rows  []uint32 // memory of valid
}

// valid lists the rows of a column that are not NULL, until the next call.
func (s *seen) valid(c *column.Column) []uint32 {
	s.rows = validRows(s.rows, c)
	return s.rows
}

func (s *seen) resize(n int) {
	s.n = n
	if s.bits != nil {
		s.bits = grown(s.bits, n)
	}
}

func (s *seen) reset() { *s = seen{rows: s.rows} }

// begin is called before rows are added, and end after. nulls reports whether the rows have NULLs. If they have, the
// caller's loop marks groups one by one; otherwise begin marks them.
func (s *seen) begin(ids []uint32, nulls bool) {
	if nulls && s.bits == nil {
		s.bits = make([]bool, s.n)
		for i := range s.bits[:s.known] {
			s.bits[i] = true
		}
	}
	if !nulls && s.bits != nil {
		for _, id := range ids {
			s.bits[id] = true
		}
	}
}

func (s *seen) end() { s.known = s.n }

// validity returns the validity of groups [i, j); nil means that all bits are set.
func (s *seen) validity(i, j int) []byte {
	if s.bits == nil {
		return nil
	}
	return bitsOf(s.bits[i:j])
}
