// SPDX-License-Identifier: Apache-2.0

// Package pattern has the shuffles by which the kernels of the decoders of Snappy and Zstandard repeat the first bytes
// of a register of 16 bytes: the copies whose source overlaps with their destination.
package pattern

// A Pattern repeats the first n bytes of a register: byte i of the result is byte Shuffle[i]. Step is the number of
// bytes of all whole repetitions. The kernels know the layout.
type Pattern struct {
	Shuffle [16]uint8
	Step    uint64
	_       uint64
}

// Patterns has the pattern of each n from 1 to 15 at index n.
var Patterns = func() *[16]Pattern {
	var all [16]Pattern
	for n := 1; n < len(all); n++ {
		p := &all[n]
		for i := range p.Shuffle {
			p.Shuffle[i] = uint8(i % n)
		}
		p.Step = uint64(16 / n * n)
	}
	return &all
}()
