// SPDX-License-Identifier: Apache-2.0

package zstd

// Sequences (RFC 8878, 3.1.1.3.2 and 3.1.1.4): each copies literals, and then content from an offset before it.

// An entry is a state of a decoder of sequences. From the lowest bits on: the bits of the number that follow in the
// stream (8), the bits of the next state that follow (8), the next state without them (16), the number without its
// bits (32).
type entry uint64

// Tables of entries, for lengths of literals and of matches and for offsets. The kernel knows the layout.
type tables struct {
	literals, matches [1 << lengthLog]entry
	offsets           [1 << offsetLog]entry
}

const (
	lengthLog = 9 // the greatest accuracy of tables of lengths
	offsetLog = 8 // and of offsets

	lengthCodes = 36
	matchCodes  = 53
	offsetCodes = 31 // higher ones have offsets that no window has
)

// A kind is a kind of numbers in sequences: how their codes are read.
type kind struct {
	base         [maxStateSymbols]uint32 // the first number of each code
	bits         [maxStateSymbols]byte   // bits that are added to it
	codes        int
	maxLog       int
	predefined   []int16 // probabilities (RFC 8878, 3.1.1.3.2.2)
	predefineLog int
}

// lengthKind is the kind of lengths of literals.
var lengthKind = newKind(lengthCodes, lengthLog, 0,
	[]byte{16: 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
	6, []int16{
		4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
		-1, -1, -1, -1,
	})

// matchKind is the kind of lengths of matches.
var matchKind = newKind(matchCodes, lengthLog, 3,
	[]byte{32: 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
	6, []int16{
		1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
	})

// offsetKind is the kind of offsets. Their numbers are 3 less than in the RFC: a new offset is its number, and the
// numbers of the three that repeat are -2, -1 and 0.
var offsetKind = func() *kind {
	bits := make([]byte, offsetCodes)
	for code := range bits {
		bits[code] = byte(code)
	}
	return newKind(offsetCodes, offsetLog, -2, bits, 5, []int16{
		1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
	})
}()

// newKind returns a kind whose numbers begin with first. Each code begins where the one before ends.
func newKind(codes, maxLog int, first int32, bits []byte, log int, predefined []int16) *kind {
	k := &kind{codes: codes, maxLog: maxLog, predefined: predefined, predefineLog: log}
	copy(k.bits[:], bits)
	base := uint32(first)
	for code := range codes {
		k.base[code] = base
		base += 1 << k.bits[code]
	}
	return k
}

// entry returns the entry of a state.
func (k *kind) entry(s state) entry {
	return entry(k.bits[s.symbol]) | entry(s.bits)<<8 | entry(s.next)<<16 | entry(k.base[s.symbol])<<32
}

func (e entry) bits() int     { return int(e & 0xff) }
func (e entry) nextBits() int { return int(e >> 8 & 0xff) }
func (e entry) next() int     { return int(e >> 16 & 0xffff) }
func (e entry) number() int   { return int(int32(e >> 32)) }

// A tableReader reads the tables of sections of sequences, and keeps them for the sections after.
type tableReader struct {
	tables
	logs   [3]int // of lengths of literals, offsets and matches; -1 for a table that is missing
	states [1 << lengthLog]state
	count  [maxStateSymbols]int16
}

// reset removes the tables of the frame before.
func (r *tableReader) reset() { r.logs = [3]int{-1, -1, -1} }

// read reads the tables at the start of a section, and returns their length (RFC 8878, 3.1.1.3.2.1).
func (r *tableReader) read(section []byte) (length int, ok bool) {
	modes := section[0]
	if modes&3 != 0 {
		return 0, false
	}
	length = 1
	for i, k := range [...]*kind{lengthKind, offsetKind, matchKind} {
		table := [...][]entry{r.literals[:], r.offsets[:], r.matches[:]}[i]
		log, n, ok := r.readTable(table, k, modes>>(6-2*i)&3, r.logs[i], section[length:])
		if !ok {
			return 0, false
		}
		r.logs[i] = log
		length += n
	}
	return length, true
}

// readTable reads a table, and returns its logarithm and the length of its description. latest is the logarithm of the
// table that is there.
func (r *tableReader) readTable(table []entry, k *kind, mode byte, latest int, data []byte) (log, length int, ok bool) {
	var count []int16
	switch mode {
	case 0: // Predefined_Mode
		count, log = k.predefined, k.predefineLog
	case 1: // RLE_Mode
		if len(data) == 0 || int(data[0]) >= k.codes {
			return 0, 0, false
		}
		table[0] = k.entry(state{symbol: data[0]})
		return 0, 1, true
	case 2: // FSE_Compressed_Mode
		symbols, l, n, ok := readProbabilities(r.count[:k.codes], data, k.maxLog)
		if !ok {
			return 0, 0, false
		}
		count, log, length = r.count[:symbols], l, n
	default: // Repeat_Mode
		return latest, 0, latest >= 0
	}
	states := r.states[:1<<log]
	if !makeStates(states, count) {
		return 0, 0, false
	}
	for i, s := range states {
		table[i] = k.entry(s)
	}
	return log, length, true
}

// sequences is the state of a block whose sequences are being decoded. The kernel knows the layout. Positions of the
// stream are in src, of content in dst, and of literals in lits.
type sequences struct {
	unread int // of the 64 bits at in, the number of bits, from the lowest on, that are not yet read: 56 to 63
	in     int // position in src of the 8 bytes
	first  int // the kernel ends before a sequence with a lower in: the start of the stream

	out     int // position in dst
	limit   int // of the content that the kernel writes
	lit     int // position in lits
	lits    int // number of literals
	left    int // sequences that are not yet decoded
	window  int // bounds offsets
	entries struct{ literals, matches, offsets entry }
	repeat  [4]uint32 // the latest three offsets

	length, match, offset int // of the sequence that the kernel decoded and did not execute
}

// sequences decodes the sequences of a block, whose literals are in d.lits. It returns the position in dst after the
// content of the block.
func (d *decoder) sequences(b *block, window, out int) (end int, ok bool) {
	n, ok := d.readers.read(b.sequences)
	if !ok {
		return 0, false
	}
	in, ok := readBackward(b.sequences[n:])
	if !ok {
		return 0, false
	}
	s := &d.copies
	*s = sequences{
		first: b.start + n, out: out, limit: min(len(d.dst), cap(d.dst)-Spare), lits: b.size, left: b.number, window: window,
		repeat: s.repeat,
	}
	t := &d.readers
	s.entries.literals = t.literals[in.read(t.logs[0])]
	s.entries.offsets = t.offsets[in.read(t.logs[1])]
	s.entries.matches = t.matches[in.read(t.logs[2])]
	for s.left > 0 {
		if !d.decodeMany(s, &in) && !d.decodeOne(s, &in) || !d.execute(s) {
			return 0, false
		}
	}
	if in.left != 0 {
		return 0, false
	}
	s.length = s.lits - s.lit // the rest of the literals
	ok = d.copyLiterals(s)
	return s.out, ok && s.out-out <= min(maxBlock, window)
}

// decodeMany decodes and executes sequences by the kernel. The kernel leaves the last sequence, which no state follows,
// and ends before one near the start of the stream. It returns true if it has decoded one more, whose execution needs
// the checks of execute.
func (d *decoder) decodeMany(s *sequences, in *backward) (decoded bool) {
	s.unread = in.left&7 | 56
	s.in = s.first + (in.left-s.unread)>>3
	if !hasKernel || s.left < 2 || s.in < s.first || s.limit <= s.out {
		return false
	}
	decoded = kernelSequences(d.dst, d.src, d.lits[:], &d.readers.tables, s)
	in.left = 8*(s.in-s.first) + s.unread
	return decoded
}

// decodeOne decodes a sequence: its numbers, and the states after it.
func (d *decoder) decodeOne(s *sequences, in *backward) bool {
	e := &s.entries
	offset := e.offsets.number() + in.read(e.offsets.bits())
	s.match = e.matches.number() + in.read(e.matches.bits())
	s.length = e.literals.number() + in.read(e.literals.bits())
	s.offset = s.latest(offset, s.length)
	s.left--
	if s.left > 0 {
		t := &d.readers
		e.literals = t.literals[e.literals.next()+in.read(e.literals.nextBits())]
		e.matches = t.matches[e.matches.next()+in.read(e.matches.nextBits())]
		e.offsets = t.offsets[e.offsets.next()+in.read(e.offsets.nextBits())]
	}
	return in.left >= 0
}

// latest returns the offset that a number means, and makes it the latest one (RFC 8878, 3.1.1.5).
func (s *sequences) latest(number, length int) int {
	r := &s.repeat
	if number > 0 {
		*r = [4]uint32{uint32(number), r[0], r[1]}
		return number
	}
	which := number + 2
	if length == 0 {
		which++
	}
	switch which {
	case 1:
		r[0], r[1] = r[1], r[0]
	case 2:
		r[0], r[1], r[2] = r[2], r[0], r[1]
	case 3:
		r[0], r[1], r[2] = r[0]-1, r[0], r[1]
	}
	return int(r[0])
}

// execute copies the literals and the match of a sequence.
func (d *decoder) execute(s *sequences) bool {
	if !d.copyLiterals(s) || s.match > len(d.dst)-s.out || s.offset < 1 || s.offset > min(s.out, s.window) {
		return false
	}
	for s.match > 0 { // a match may overlap its copy
		n := copy(d.dst[s.out:s.out+s.match], d.dst[s.out-s.offset:s.out])
		s.out += n
		s.match -= n
	}
	return true
}

// copyLiterals copies the literals of a sequence.
func (d *decoder) copyLiterals(s *sequences) bool {
	if s.length > s.lits-s.lit || s.length > len(d.dst)-s.out {
		return false
	}
	s.out += copy(d.dst[s.out:], d.lits[s.lit:s.lit+s.length])
	s.lit += s.length
	return true
}
