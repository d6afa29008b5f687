// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"github.com/vecql/vecql/parquetscan/internal/buffer"
)

// Dictionaries of column chunks: hash tables with open addressing and linear probing.

// A dictionary numbers distinct values in the order of their first use. Values that differ in bits are distinct.
type dictionary struct {
	width int // bytes of a value, 0 if they differ in length
	// keys has a number for each entry: the value itself if it has 4 or 8 bytes, else its hash.
	keys  []uint64
	slots []uint32 // the entry plus 1, 0 if the slot is free; a power of 2
	shift uint     // of a product to the index of a slot
	data  []byte   // the entries as PLAIN, without those in keys
	ends  []int    // of the entries in data
}

// leastSlots is the size of an empty table.
const leastSlots = 1 << 8

// hashSeed is the seed of hashes of values, which do not become part of a file.
var hashSeed = maphash.MakeSeed()

// golden spreads keys over slots (Fibonacci hashing).
const golden = 0x9e3779b97f4a7c15

// isNumber reports whether entries are in keys.
func (d *dictionary) isNumber() bool { return d.width == 4 || d.width == 8 }

// reset removes all entries.
func (d *dictionary) reset() {
	d.keys, d.data, d.ends = d.keys[:0], d.data[:0], d.ends[:0]
	if d.slots == nil {
		d.setSlots(leastSlots)
	}
	clear(d.slots)
}

func (d *dictionary) setSlots(n int) {
	d.slots, d.shift = make([]uint32, n), uint(64-bits.TrailingZeros(uint(n)))
}

// size returns the bytes of the entries as PLAIN.
func (d *dictionary) size() int {
	if d.isNumber() {
		return len(d.keys) * d.width
	}
	return len(d.data)
}

// codeWidth returns the bits of a code.
func (d *dictionary) codeWidth() uint {
	return uint(max(min(len(d.keys), 1), bits.Len(uint(max(0, len(d.keys)-1)))))
}

// insert adds an entry with a key at a free slot and returns its code.
func (d *dictionary) insert(slot int, key uint64) uint32 {
	d.keys = append(d.keys, key)
	code := uint32(len(d.keys))
	d.slots[slot] = code
	if 2*len(d.keys) > len(d.slots) {
		d.setSlots(2 * len(d.slots))
		for i, key := range d.keys {
			at := int(key * golden >> d.shift)
			for d.slots[at] != 0 {
				at = (at + 1) & (len(d.slots) - 1)
			}
			d.slots[at] = uint32(i + 1)
		}
	}
	return code - 1
}

// number returns the code of a number.
func (d *dictionary) number(v uint64) uint32 {
	for at := int(v * golden >> d.shift); ; at = (at + 1) & (len(d.slots) - 1) {
		switch code := d.slots[at]; {
		case code == 0:
			return d.insert(at, v)
		case d.keys[code-1] == v:
			return code - 1
		}
	}
}

// text returns the code of a value that is no number.
func (d *dictionary) text(v []byte) uint32 {
	hash := maphash.Bytes(hashSeed, v)
	for at := int(hash * golden >> d.shift); ; at = (at + 1) & (len(d.slots) - 1) {
		switch code := d.slots[at]; {
		case code == 0:
			d.data = appendPlain(d.data, d.width, v)
			d.ends = append(d.ends, len(d.data))
			return d.insert(at, hash)
		case d.keys[code-1] == hash && bytes.Equal(d.entry(int(code-1)), v):
			return code - 1
		}
	}
}

// entry returns an entry that is no number.
func (d *dictionary) entry(i int) []byte {
	from := 0
	if i > 0 {
		from = d.ends[i-1]
	}
	if d.width == 0 {
		from += 4
	}
	return d.data[from:d.ends[i]]
}

// appendFixed appends the codes of values of the dictionary's width.
func (d *dictionary) appendFixed(codes []uint32, values []byte) []uint32 {
	n := len(values) / d.width
	at := len(codes)
	codes = buffer.Grow(codes, at+n)
	switch into := codes[at:]; d.width {
	case 4:
		for i, v := range buffer.SliceOf[uint32](values, n) {
			into[i] = d.number(uint64(v))
		}
	case 8:
		for i, v := range buffer.SliceOf[uint64](values, n) {
			into[i] = d.number(v)
		}
	default:
		for i := range into {
			into[i] = d.text(values[i*d.width:][:d.width])
		}
	}
	return codes
}

// appendEntry appends an entry as PLAIN.
func (d *dictionary) appendEntry(to []byte, i int) []byte {
	switch d.width {
	case 4:
		return binary.LittleEndian.AppendUint32(to, uint32(d.keys[i]))
	case 8:
		return binary.LittleEndian.AppendUint64(to, d.keys[i])
	}
	return appendPlain(to, d.width, d.entry(i))
}

// appendPlain appends a value of a width, 0 for values that differ in length.
func appendPlain(to []byte, width int, v []byte) []byte {
	if width == 0 {
		to = binary.LittleEndian.AppendUint32(to, uint32(len(v)))
	}
	return append(to, v...)
}

// appendAll appends all entries as PLAIN.
func (d *dictionary) appendAll(to []byte) []byte {
	if !d.isNumber() {
		return append(to, d.data...)
	}
	for i := range d.keys {
		to = d.appendEntry(to, i)
	}
	return to
}
