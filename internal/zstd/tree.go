// SPDX-License-Identifier: Apache-2.0

package zstd

import "math/bits"

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
	var count [maxWeight + 1]int16
	symbols, log, used, ok := readProbabilities(count[:], data, weightBits)
	if !ok || !makeStates(r.states[:1<<log], count[:symbols]) {
		return 0, false
	}
	in, ok := readBackward(data[used:])
	if !ok || in.left < 2*log {
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
