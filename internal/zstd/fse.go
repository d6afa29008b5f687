// SPDX-License-Identifier: Apache-2.0

package zstd

import (
	"encoding/binary"
	"math/bits"
)

// Finite State Entropy (RFC 8878, 4.1): the probabilities of symbols, the states that they make, and readers of bits.

// A state is a state of an FSE decoder: its symbol, and the next state, to which the next bits are added.
type state struct {
	symbol, bits byte
	next         uint16
}

// readProbabilities reads the probabilities of symbols to count, which bounds their number. -1 is a probability of less
// than 1. It returns the number of symbols, the logarithm of the sum of the probabilities, which maxLog bounds, and the
// length of their description in bytes (RFC 8878, 4.1.1).
func readProbabilities(count []int16, data []byte, maxLog int) (symbols, log, length int, ok bool) {
	in := forward{data: data}
	log = 5 + in.read(4)
	if log > maxLog {
		return 0, 0, 0, false
	}
	for left := 1 << log; left > 0; symbols++ {
		if symbols >= len(count) || in.at > 8*len(data) {
			return 0, 0, 0, false
		}
		c := in.value(left+1) - 1
		count[symbols] = int16(c)
		left -= max(c, -c)
		if c != 0 {
			continue
		}
		for more := 3; more == 3; { // symbols without probability
			more = in.read(2)
			if symbols+more >= len(count) {
				return 0, 0, 0, false
			}
			clear(count[symbols+1 : symbols+1+more])
			symbols += more
		}
	}
	if in.at > 8*len(data) || symbols < 2 {
		return 0, 0, 0, false
	}
	return symbols, log, (in.at + 7) / 8, true
}

const maxStateSymbols = 53 // lengths of matches have the most symbols

// makeStates makes the states for probabilities, whose sum is len(states), a power of 2.
func makeStates(states []state, count []int16) bool {
	size := len(states)
	log := bits.Len(uint(size)) - 1
	var next [maxStateSymbols]int
	top := size
	for s, c := range count {
		next[s] = int(c)
		switch int(c) {
		case size: // the state would never end
			return false
		case -1:
			top--
			states[top].symbol = byte(s)
			next[s] = 1
		}
	}
	at := 0
	for s, c := range count {
		for range c {
			states[at].symbol = byte(s)
			for at = (at + size/2 + size/8 + 3) & (size - 1); at >= top; {
				at = (at + size/2 + size/8 + 3) & (size - 1)
			}
		}
	}
	for i := range states {
		s := &states[i]
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

// backward reads bits from the end of data, the highest first. The highest 1 of the last byte marks the end.
type backward struct {
	data []byte
	left int // bits; less than 0 after more bits have been read than there are
}

// readBackward returns a reader of data, or false if the mark is missing.
func readBackward(data []byte) (in backward, ok bool) {
	if len(data) == 0 || data[len(data)-1] == 0 {
		return in, false
	}
	return backward{data: data, left: 8*len(data) - 1 - bits.LeadingZeros8(data[len(data)-1])}, true
}

// read returns the next n bits, at most 32.
func (b *backward) read(n int) int {
	b.left -= n
	if b.left < 0 {
		return 0
	}
	var w [8]byte
	if i := b.left / 8; i+8 <= len(b.data) {
		copy(w[:], b.data[i:i+8])
	} else {
		copy(w[:], b.data[i:])
	}
	return int(binary.LittleEndian.Uint64(w[:]) >> (b.left % 8) & (1<<n - 1))
}
