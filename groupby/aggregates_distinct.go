// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"errors"
	"hash/maphash"
	"math/bits"

	"github.com/vecql/vecql/column"
)

// Exact counts of distinct values. One hash table with open addressing and linear probing, at most half full, holds all
// pairs of a group and a value: a table per group would cost more than its content. Rows are processed 512 at a time.
// Values that repeat the row before are left out first, since they are frequent in sorted data and cheap to find. The
// others are hashed before they are looked up, so that the cache misses of a block overlap.

// CountDistinct counts the distinct values of a column that are not NULL: COUNT(DISTINCT). Int64; 0 if all values are
// NULL. NaN is one value, and -0 equals 0. The column has any kind except Decimal, vectors, and kinds with children.
// Memory: 8 bytes per group, and 32 to 64 bytes per distinct value of a group. Values of 16 bytes and text take 48 to
// 96 instead, text also its bytes.
func CountDistinct(name string) Aggregate {
	seed := maphash.MakeSeed()
	k := maphash.Comparable(seed, 0) | 1
	return call("count_distinct", []string{name}).newWith(func(t column.Type) (Accumulator, error) {
		if !hasOrder(t) {
			return nil, refused(0, "a kind without children, other than decimal and vector")
		}
		d := distinct{k: k}
		switch w := keyWidth(t); w {
		case 0:
			return &distinctTexts{distinct: d, seed: seed}, nil
		case 16:
			return &distinctFixed[[2]uint64]{distinct: d, fixedForm: pairForm}, nil
		default:
			return &distinctFixed[uint64]{distinct: d, fixedForm: wordForm(w)}, nil
		}
	})
}

// distinct is the common part of the accumulators for all types.
type distinct struct {
	k    uint64  // odd and random, the same for all accumulators of an aggregate
	n    []int64 // by group
	used int     // slots in use, of all groups
	// A block of rows: their groups and hashes, and a list of some of them.
	ids    [distinctRows]uint32
	hashes [distinctRows]uint64
	rows   [distinctRows]uint32
	// State uses buf, the values of all groups one after the other, and at, where the values of each group end. They
	// are filled on the first call, and again after a change.
	buf     []byte
	at      []int
	laid    bool
	offsets []int32
}

// distinctRows is the number of rows of a block.
const distinctRows = 512

const (
	minDistinctSlots = 256
	golden           = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
)

func (d *distinct) Types() ([]column.Type, column.Field) {
	return []column.Type{typeBytes}, fieldOf(typeInt64)
}

func (d *distinct) Resize(n int) { d.n, d.laid = grown(d.n, n), false }

func (d *distinct) Result(i, j int) (column.Column, error) { return of(d.n[i:j]), nil }

func (d *distinct) size() int64 {
	return int64(cap(d.buf)) + 16*int64(distinctRows) + 8*int64(cap(d.n)+cap(d.at)) + 4*int64(cap(d.offsets))
}

func (d *distinct) reset() { d.n, d.used, d.laid = d.n[:0], 0, false }

// hashWord hashes a word and a group.
func (d *distinct) hashWord(w uint64, id uint32) uint64 {
	hi, lo := bits.Mul64(w^d.k, golden^uint64(id)<<32)
	hi, lo = bits.Mul64(hi^lo^uint64(id), d.k)
	return hi ^ lo
}

// locate writes the groups of rows at, at+1, ... of a column to d.ids, 0 for NULLs.
func (d *distinct) locate(ids []uint32, col *column.Column, at int) {
	copy(d.ids[:], ids)
	if col.Nulls == 0 {
		return
	}
	for i := range ids {
		if col.Null(at + i) {
			d.ids[i] = 0
		}
	}
}

// roomFor returns the number of slots for a number of values, at least size.
func roomFor(size, values int) int {
	size = max(size, minDistinctSlots)
	for 2*values > size {
		size *= 2
	}
	return size
}

// concatenated returns a column with the concatenated values of each of groups [i, j). The table is unordered, so it
// is read twice: sizes calls add with the number of bytes of each value, then write copies each value to the slice
// that place returns.
func (d *distinct) concatenated(i, j int, sizes func(add func(id uint32, n int)),
	write func(place func(id uint32, n int) []byte),
) ([]column.Column, error) {
	if !d.laid {
		d.lay(sizes, write)
		d.laid = true
	}
	start := 0
	if i > 0 {
		start = d.at[i-1]
	}
	d.offsets = append(d.offsets[:0], 0)
	for _, end := range d.at[i:j] {
		if end-start > maxText {
			return nil, tooLarge(end - start)
		}
		d.offsets = append(d.offsets, int32(end-start))
	}
	end := start + int(d.offsets[j-i])
	return []column.Column{{Type: typeBytes, Len: j - i, Values: d.buf[start:end:end], Offsets: d.offsets}}, nil
}

// lay fills buf and at.
func (d *distinct) lay(sizes func(add func(id uint32, n int)), write func(place func(id uint32, n int) []byte)) {
	d.at = grown(d.at[:0], len(d.n))
	sizes(func(id uint32, n int) { d.at[id] += n })
	total := 0
	for id, n := range d.at {
		d.at[id] = total
		total += n
	}
	d.buf = grown(d.buf[:0], total)
	write(func(id uint32, n int) []byte {
		at := d.at[id]
		d.at[id] += n
		return d.buf[at : at+n]
	})
}

var errDistinctState = errors.New("groupby: malformed state of distinct values")

// bit returns 1 for true and 0 for false, without a branch.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
