// SPDX-License-Identifier: Apache-2.0

// Package encoder writes column chunks and files: pages, levels, dictionaries, statistics, indexes, footers.
package encoder

import "encoding/binary"

// Levels and dictionary codes: runs, and groups of 8 bit-packed values (parquet-format, Encodings.md, "RLE/Bit-Packing
// Hybrid").

// groupValues is the number of values of a bit-packed group.
const groupValues = 8

// mostGroups is the greatest number of groups whose header takes one byte.
const mostGroups = 63

// A Hybrid encodes integers.
type Hybrid struct {
	width  uint // bits of a value
	out    []byte
	value  uint32 // of the open run
	run    int    // length of the open run, 0 if there is none
	groups int    // of the open sequence of groups, 0 if there is none
	header int    // place of its header in out
	// The first values of the next group.
	pending [groupValues]uint32
	count   int
}

// reset drops all values.
func (h *Hybrid) reset(width uint) { *h = Hybrid{width: width, out: h.out[:0]} }

// Run appends n times the same value.
func (h *Hybrid) Run(v uint32, n int) {
	for h.count > 0 && n > 0 {
		h.put(v)
		n--
	}
	switch {
	case n == 0:
	case h.run > 0 && h.value == v:
		h.run += n
	case n >= groupValues:
		h.endRun()
		h.endGroups()
		h.value, h.run = v, n
	default:
		for range n {
			h.put(v)
		}
	}
}

// put appends a value to the next group.
func (h *Hybrid) put(v uint32) {
	h.pending[h.count] = v
	h.count++
	if h.count == groupValues {
		h.count = 0
		h.pack(&h.pending)
	}
}

// appendHybrid appends values.
func appendHybrid[T int16 | uint32](h *Hybrid, values []T) {
	for len(values) > 0 {
		n := 1
		for n < len(values) && values[n] == values[0] {
			n++
		}
		if n >= groupValues || h.count > 0 || len(values) < groupValues || h.run > 0 && h.value == uint32(values[0]) {
			h.Run(uint32(values[0]), n)
			values = values[n:]
			continue
		}
		var group [groupValues]uint32
		for i, v := range values[:groupValues] {
			group[i] = uint32(v)
		}
		h.pack(&group)
		values = values[groupValues:]
	}
}

// Append appends levels.
func (h *Hybrid) Append(levels []int16) { appendHybrid(h, levels) }

// pack appends a group.
func (h *Hybrid) pack(group *[groupValues]uint32) {
	h.endRun()
	if h.groups == mostGroups {
		h.endGroups()
	}
	if h.groups == 0 {
		h.header = len(h.out)
		h.out = append(h.out, 0)
	}
	h.groups++
	word, bits := uint64(0), uint(0)
	for _, v := range group {
		word |= uint64(v) << bits
		if bits += h.width; bits >= 32 {
			h.out = binary.LittleEndian.AppendUint32(h.out, uint32(word))
			word, bits = word>>32, bits-32
		}
	}
	for ; bits > 0; bits -= 8 {
		h.out = append(h.out, byte(word))
		word >>= 8
	}
}

// endRun writes the open run.
func (h *Hybrid) endRun() {
	if h.run == 0 {
		return
	}
	h.out = binary.AppendUvarint(h.out, uint64(h.run)<<1)
	for bits := uint(0); bits < h.width; bits += 8 {
		h.out = append(h.out, byte(h.value>>bits))
	}
	h.run = 0
}

// endGroups writes the header of the open groups.
func (h *Hybrid) endGroups() {
	if h.groups > 0 {
		h.out[h.header] = byte(h.groups<<1 | 1)
		h.groups = 0
	}
}

// finish returns the encoded values, which are valid until the next reset. Readers ignore values that complete the
// last group.
func (h *Hybrid) finish() []byte {
	if h.count > 0 {
		clear(h.pending[h.count:])
		h.count = 0
		h.pack(&h.pending)
	}
	h.endRun()
	h.endGroups()
	return h.out
}
