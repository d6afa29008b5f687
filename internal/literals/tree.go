// SPDX-License-Identifier: Apache-2.0

package literals

import (
	"encoding/binary"
	"math/bits"
)

// Huffman trees: weights, directly or as FSE codes, and the table that they make (RFC 8878, 4.2.1).

const (
	tableBits    = 11 // the longest code
	weightBits   = 6  // the greatest accuracy of FSE tables of weights
	maxWeight    = tableBits
	maxSymbols   = 256
	weightsRoom  = maxSymbols
	directHeader = 128 // header bytes from this one on mean weights of 4 bits
)

// A table has an entry for each 11 bits that may follow in a stream: the first symbol, and below it the length of its
// code in bits.
type table [1 << tableBits]uint16

// A treeReader reads the description of trees.
type treeReader struct {
	weights [weightsRoom]byte
	states  [1 << weightBits]state
}

// A state is a state of an FSE decoder of weights: its symbol, and the next state, to which the next bits are added.
type state struct {
	symbol, bits byte
	next         uint16
}

// read reads the description of a tree at the start of data, makes its table, and returns the description's length.
func (r *treeReader) read(t *table, data []byte) (length int, ok bool) {
	if len(data) < 2 {
		return 0, false
	}
	var n int // weights
	head := int(data[0])
	if head >= directHeader {
		n = head - (directHeader - 1)
		length = 1 + (n+1)/2
		if length > len(data) {
			return 0, false
		}
		for i := range n {
			r.weights[i] = data[1+i/2] >> (4 * (^i & 1)) & 15
		}
	} else {
		length = 1 + head
		if length > len(data) {
			return 0, false
		}
		if n, ok = r.readWeights(data[1:length]); !ok {
			return 0, false
		}
	}
	return length, r.fill(t, n)
}

// fill makes the table of the first n weights and the last one, which is not stored.
func (r *treeReader) fill(t *table, n int) bool {
	if n >= maxSymbols {
		return false
	}
	var count [16]int
	for _, w := range r.weights[:n] {
		count[w]++
	}
	total := 0
	for w := 1; w < len(count); w++ {
		if w > maxWeight && count[w] > 0 {
			return false
		}
		total += count[w] << (w - 1)
	}
	if total == 0 {
		return false
	}
	log := bits.Len(uint(total)) // of the sum with the last weight, which is a power of 2
	rest := 1<<log - total
	if log > tableBits || rest&(rest-1) != 0 {
		return false
	}
	last := bits.Len(uint(rest))
	r.weights[n] = byte(last)
	count[last]++
	if count[1] < 2 || count[1]&1 != 0 {
		return false
	}
	// Long codes, which have low weights, come first; symbols with equal weights are in order.
	var at [16]int
	for w, next := 1, 0; w <= log; w++ {
		at[w] = next
		next += count[w] << (w - 1)
	}
	scale := tableBits - log
	for s, w := range r.weights[:n+1] {
		if w == 0 {
			continue
		}
		from := at[w] << scale
		at[w] += 1 << (w - 1)
		e := uint16(s)<<8 | uint16(log+1-int(w))
		part := t[from : at[w]<<scale]
		for i := range part {
			part[i] = e
		}
	}
	return true
}

// readWeights decodes weights that are FSE codes, and returns their number (RFC 8878, 4.2.1.2).
func (r *treeReader) readWeights(data []byte) (n int, ok bool) {
	if len(data) < 4 { // what the other decoder needs
		return 0, false
	}
	log, used, ok := r.readStates(data)
	if !ok || used >= len(data) || data[len(data)-1] == 0 {
		return 0, false
	}
	in := backward{data: data[used:]}
	in.left = 8*len(in.data) - 1 - bits.LeadingZeros8(data[len(data)-1])
	if in.left < 2*log {
		return 0, false
	}
	// Two states take turns. The codes end when the state that is next needs bits and none is left.
	a, b := &r.states[in.read(log)], &r.states[in.read(log)]
	for n < maxSymbols-2 {
		r.weights[n] = a.symbol
		n++
		if int(a.bits) > in.left {
			r.weights[n] = b.symbol
			return n + 1, in.left == 0
		}
		a, b = b, &r.states[int(a.next)+in.read(int(a.bits))]
	}
	return 0, false
}

// readStates reads the probabilities of weights, makes their states, and returns the number of bits of a state and the
// length of the probabilities in bytes (RFC 8878, 4.1.1).
func (r *treeReader) readStates(data []byte) (log, used int, ok bool) {
	in := forward{data: data}
	log = 5 + in.read(4)
	if log > weightBits {
		return 0, 0, false
	}
	var count [maxWeight + 1]int // -1 is a probability of less than 1
	symbols := 0
	for left := 1 << log; left > 0; symbols++ {
		if symbols > maxWeight || in.at > 8*len(data) {
			return 0, 0, false
		}
		c := in.value(left+1) - 1
		count[symbols] = c
		left -= max(c, -c)
		if c != 0 {
			continue
		}
		for more := 3; more == 3; { // weights without probability
			more = in.read(2)
			if symbols += more; symbols > maxWeight {
				return 0, 0, false
			}
		}
	}
	if in.at > 8*len(data) || symbols < 2 {
		return 0, 0, false
	}
	return log, (in.at + 7) / 8, r.makeStates(count[:symbols], log)
}

// makeStates makes the states for probabilities, whose sum is 1<<log.
func (r *treeReader) makeStates(count []int, log int) bool {
	size := 1 << log
	var next [maxWeight + 1]int
	top := size
	for s, c := range count {
		next[s] = c
		switch c {
		case size: // the state would never end
			return false
		case -1:
			top--
			r.states[top].symbol = byte(s)
			next[s] = 1
		}
	}
	at := 0
	for s, c := range count {
		for range c {
			r.states[at].symbol = byte(s)
			for at = (at + size/2 + size/8 + 3) & (size - 1); at >= top; {
				at = (at + size/2 + size/8 + 3) & (size - 1)
			}
		}
	}
	for i := range r.states[:size] {
		s := &r.states[i]
		x := next[s.symbol]
		next[s.symbol]++
		s.bits = byte(log + 1 - bits.Len(uint(x)))
		s.next = uint16(x<<s.bits - size)
	}
	return at == 0
}

// forward reads bits from the start of data, the lowest of each byte first. After the end there are zeros.
type forward struct {
	data []byte
	at   int
}

// peek returns up to 16 bits.
func (f *forward) peek(n int) int {
	var b [4]byte
	if i := f.at / 8; i < len(f.data) {
		copy(b[:], f.data[i:])
	}
	return int(binary.LittleEndian.Uint32(b[:])>>(f.at%8)) & (1<<n - 1)
}

func (f *forward) read(n int) int {
	v := f.peek(n)
	f.at += n
	return v
}

// value reads a number from 0 to most. Low numbers have one bit less if most is not a power of 2 minus 1.
func (f *forward) value(most int) int {
	n := bits.Len(uint(most))
	short := 1<<n - 1 - most // numbers with one bit less
	if v := f.peek(n - 1); v < short {
		f.at += n - 1
		return v
	}
	v := f.read(n)
	if v >= 1<<(n-1) {
		v -= short
	}
	return v
}

// backward reads bits from the end of data, the highest first.
type backward struct {
	data []byte
	left int // bits
}

// read returns the next n bits, at most 8. There must be as many.
func (b *backward) read(n int) int {
	b.left -= n
	i := b.left / 8
	v := int(b.data[i])
	if i+1 < len(b.data) {
		v |= int(b.data[i+1]) << 8
	}
	return v >> (b.left % 8) & (1<<n - 1)
}
