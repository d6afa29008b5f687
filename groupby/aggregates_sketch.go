// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Approximate counts of distinct values by HyperLogLog (P. Flajolet, É. Fusy, O. Gandouet, F. Meunier, HyperLogLog: the
// analysis of a near-optimal cardinality estimation algorithm, 2007). The first p bits of the hash of a value select a
// register. The register keeps the greatest rank, the position of the first 1 among the bits that follow. As long as
// values are few, a sparse sketch with p = 25 keeps only registers that are not 0 (S. Heule, M. Nunkesser, A. Hall,
// HyperLogLog in practice, 2013, section 5.3). The estimate is the improved raw estimator of O. Ertl (New cardinality
// estimation algorithms for HyperLogLog sketches, arXiv:1702.01284, algorithm 6), which needs no tables of biases.
//
// Sketches are merged across machines and releases: the hash and the encoding below are a fixed format.
//
// Hash. A value is converted to words of 64 bits. Integers are extended to 64 bits; booleans are 0 or 1; floats are the
// bits of their float64, with one NaN and one zero; floats of 16 bits are their own bits. UUIDs are their two
// little-endian halves. All others are their bytes, eight to a word, little-endian, padded with zeros. h starts as
// sketchSeed plus the number of bytes (8 for numbers). For each word h becomes (h^word)*sketchMul, then h^(h>>32). The
// result is mix64(h).
//
// Encoding, version 1. A group without values takes no bytes. Otherwise: the version; p; 1 or 2; and then
//  - 1, sparse: the entries in ascending order, each as a uvarint less the one before it: the first 25 bits of the hash
//    <<6 | the rank in the others.
//  - 2, dense: 2^p registers of 6 bits, four in three bytes, the first lowest.

// ApproxCountDistinct estimates the number of distinct values of a column that are not NULL. Int64; 0 if all values are
// NULL. NaN is one value, and -0 equals 0. The column has any kind except Decimal, vectors, and kinds with children.
// The standard error is 0.8 % (see [ApproxCountDistinctPrecision], p = 14), far less for up to a few thousand values.
// Memory: up to 16 KiB per group; below 1,500 values 21 bytes, and 6 to 24 per value.
func ApproxCountDistinct(name string) Aggregate {
	return newApproxDistinct(call("approx_count_distinct", []string{name}), 14)
}

// ApproxCountDistinctPrecision counts as ApproxCountDistinct does, with 2^p registers of a byte, 4 <= p <= 18: a
// standard error of 1.04/sqrt(2^p).
func ApproxCountDistinctPrecision(name string, p int) Aggregate {
	return newApproxDistinct(call("approx_count_distinct", []string{name}, p), p)
}

func newApproxDistinct(a Aggregate, p int) Aggregate {
	if p < 4 || p > 18 {
		a.err = fmt.Errorf("precision is %d, want 4 to 18", p)
	}
	return a.newWith(func(t column.Type) (Accumulator, error) {
		if !hasOrder(t) {
			return nil, refused(0, "a kind without children, other than decimal and vector")
		}
		return &hyperLogLog{p: uint8(p)}, nil
	})
}

const (
	sketchSeed = 0x6a09e667f3bcc909 // the fractional part of the square root of 2
	sketchMul  = 0x9e3779b97f4a7c15
)

// mix64 is a bijection in which every bit of the result depends on every bit of h (D. Stafford's variant 13 of the
// finalizer of MurmurHash3).
func mix64(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func sketchStep(h, word uint64) uint64 {
	h = (h ^ word) * sketchMul
	return h ^ h>>32
}

func sketchWord(w uint64) uint64 { return mix64(sketchStep(sketchSeed+8, w)) }

func sketchID(id *[16]byte) uint64 {
	h := sketchStep(sketchSeed+16, binary.LittleEndian.Uint64(id[:8]))
	return mix64(sketchStep(h, binary.LittleEndian.Uint64(id[8:])))
}

// sketchText returns the hash of a text for sketches. It is the fixed hash of the encoding above.
func sketchText(s string) uint64 {
	h := sketchSeed + uint64(len(s))
	for ; len(s) >= 8; s = s[8:] {
		h = sketchStep(h, le64(s, 0))
	}
	if len(s) > 0 {
		var b [8]byte
		copy(b[:], s)
		h = sketchStep(h, binary.LittleEndian.Uint64(b[:]))
	}
	return mix64(h)
}

// hashRows is the number of rows that are hashed at a time.
const hashRows = 512

// sketchHashes writes the hashes of rows at, at+1, ... of a column to h. Hashes of NULLs are unspecified.
func sketchHashes(h []uint64, col *column.Column, at int) {
	switch storedAs(col.Type) {
	case column.Int8:
		hashInts(h, view[int8](col)[at:])
	case column.Int16:
		hashInts(h, view[int16](col)[at:])
	case column.Int32:
		hashInts(h, view[int32](col)[at:])
	case column.Int64, column.Uint64:
		hashInts(h, view[int64](col)[at:])
	case column.Uint8, column.Bool:
		hashInts(h, view[uint8](col)[at:])
	case column.Uint16:
		hashInts(h, view[uint16](col)[at:])
	case column.Uint32:
		hashInts(h, view[uint32](col)[at:])
	case column.Float16:
		for i, x := range view[uint16](col)[at:][:len(h)] {
			h[i] = sketchWord(uint64(canonical16(x)))
		}
	case column.Float32:
		for i, x := range view[float32](col)[at:][:len(h)] {
			h[i] = sketchWord(canonical64(float64(x)))
		}
	case column.Float64:
		for i, x := range view[float64](col)[at:][:len(h)] {
			h[i] = sketchWord(canonical64(x))
		}
	case column.UUID:
		x := view[[16]byte](col)[at:]
		for i := range h {
			h[i] = sketchID(&x[i])
		}
	default:
		for i := range h {
			if !col.Null(at + i) {
				h[i] = sketchText(textAt(col, at+i))
			}
		}
	}
}

func hashInts[T signed | unsigned](h []uint64, x []T) {
	for i, v := range x[:len(h)] {
		h[i] = sketchWord(uint64(int64(v)))
	}
}

// A sparse sketch has 2^25 registers. An entry is the number of a register, and in the low 6 bits its rank, which is
// never 0.
const (
	sparseBits    = 25
	sparseMaxRank = 64 - sparseBits + 1
	rankBits      = 6
	rankMask      = 1<<rankBits - 1
)

func sparseEntry(hash uint64) uint32 {
	rank := bits.LeadingZeros64(hash<<sparseBits|1<<(sparseBits-1)) + 1
	return uint32(hash>>(64-sparseBits))<<rankBits | uint32(rank)
}

// hyperLogLog is ApproxCountDistinct. The whole span of a group is a hash table of entries, where 0 is an empty slot.
// If dense is set, the span holds the registers, one byte each. The lists themselves stay empty.
type hyperLogLog struct {
	p      uint8
	data   lists[uint32]
	used   []uint32 // number of entries
	dense  []bool
	hashes [hashRows]uint64
	sorted []uint32
	buf    textBuffer
	out    []int64
}

func (l *hyperLogLog) Types() ([]column.Type, column.Field) {
	return []column.Type{typeBytes}, fieldOf(typeInt64)
}

func (l *hyperLogLog) Reset() { l.data.reset(); l.used, l.dense = l.used[:0], l.dense[:0] }

func (l *hyperLogLog) Size() int64 {
	return l.data.size() + 4*int64(cap(l.used)) + int64(cap(l.dense)) + l.buf.size() + 8*int64(cap(l.out)) + 8*hashRows
}

func (l *hyperLogLog) Resize(n int) {
	l.data.resize(n)
	l.used, l.dense = grown(l.used, n), grown(l.dense, n)
}

// Add updates a register of the row's group if the group is dense, else its sparse entries. The low bit that is set
// bounds the rank of a hash of zeros.
func (l *hyperLogLog) Add(rows Rows) error {
	col, ids := &rows.Args[0], rows.IDs
	for at := 0; at < len(ids); at += hashRows {
		part := ids[at:min(at+hashRows, len(ids))]
		h := l.hashes[:len(part)]
		sketchHashes(h, col, at)
		for i, id := range part {
			if id == 0 || col.Null(at+i) {
				continue
			}
			if l.dense[id] {
				l.raise(id, h[i]>>(64-l.p), uint8(bits.LeadingZeros64(h[i]<<l.p|1<<(l.p-1))+1))
			} else {
				l.addEntry(id, sparseEntry(h[i]))
			}
		}
	}
	return nil
}

// registers returns the registers of a dense group.
func (l *hyperLogLog) registers(id uint32) []byte {
	w := l.data.whole(id)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), 4*len(w))
}

func (l *hyperLogLog) raise(id uint32, register uint64, rank uint8) {
	if r := &l.registers(id)[register]; *r < rank {
		*r = rank
	}
}

// addSparse adds an entry to a group, dense or not.
func (l *hyperLogLog) addSparse(id uint32, entry uint32) {
	if !l.dense[id] {
		l.addEntry(id, entry)
		return
	}
	// The dense rank counts from bit p. If the rest of the 25 bits contains a 1, the first one determines the rank.
	rest := sparseBits - l.p
	index := entry >> rankBits
	rank := rest + uint8(entry&rankMask)
	if low := index & (1<<rest - 1); low != 0 {
		rank = rest - uint8(bits.Len32(low)) + 1
	}
	l.raise(id, uint64(index>>rest), rank)
}

// addEntry adds an entry to a group that is not dense.
func (l *hyperLogLog) addEntry(id uint32, entry uint32) {
	if len(l.data.whole(id)) > 0 && l.put(id, entry) {
		return
	}
	if l.grow(id); l.dense[id] {
		l.addSparse(id, entry)
	} else {
		l.put(id, entry)
	}
}

// put inserts an entry into the hash table of a group. It returns false if the table is too full.
func (l *hyperLogLog) put(id uint32, entry uint32) bool {
	slots := l.data.whole(id)
	last := uint32(len(slots) - 1)
	for h := (entry >> rankBits * 0x9e3779b1) >> 7; ; h++ {
		s := &slots[h&last]
		switch {
		case *s>>rankBits == entry>>rankBits && *s != 0:
			*s = max(*s, entry)
			return true
		case *s == 0:
			if 4*(l.used[id]+1) > 3*uint32(len(slots)) {
				return false
			}
			*s = entry
			l.used[id]++
			return true
		}
	}
}

// grow enlarges the hash table of a group, or replaces it by registers once these take no more memory.
func (l *hyperLogLog) grow(id uint32) {
	old := l.entries(id)
	p := &l.data.of[id]
	class := p.class + 1
	if (span{class: class}).room() >= 1<<l.p/4 {
		l.dense[id] = true
		for class = 1; (span{class: class}).room() < 1<<l.p/4; {
			class++
		}
	}
	p.n = 0
	if class != p.class {
		l.data.widen(id, class)
	}
	clear(l.data.whole(id))
	l.used[id] = 0
	for _, e := range old {
		if l.dense[id] {
			l.addSparse(id, e)
		} else {
			l.put(id, e)
		}
	}
}

// entries returns a copy of the entries of a group that is not dense, valid until the next call.
func (l *hyperLogLog) entries(id uint32) []uint32 {
	l.sorted = l.sorted[:0]
	for _, e := range l.data.whole(id) {
		if e != 0 {
			l.sorted = append(l.sorted, e)
		}
	}
	return l.sorted
}

const sketchVersion = 1

const (
	sketchSparse = 1
	sketchDense  = 2
)

// State returns, by group, a version, the precision, a kind, and either registers in 6 bits each or sparse entries in
// ascending order as uvarint differences (encoding version 1 above).
func (l *hyperLogLog) State(i, j int) ([]column.Column, error) {
	c, err := l.buf.column(i, j, func(dst []byte, id uint32) []byte {
		switch {
		case l.dense[id]:
			dst = append(dst, sketchVersion, l.p, sketchDense)
			for r := l.registers(id); len(r) > 0; r = r[4:] {
				w := uint32(r[0]) | uint32(r[1])<<6 | uint32(r[2])<<12 | uint32(r[3])<<18
				dst = append(dst, byte(w), byte(w>>8), byte(w>>16))
			}
		case l.used[id] > 0:
			dst = append(dst, sketchVersion, l.p, sketchSparse)
			entries := l.entries(id)
			slices.Sort(entries)
			last := uint32(0)
			for _, e := range entries {
				dst = binary.AppendUvarint(dst, uint64(e-last))
				last = e
			}
		}
		return dst
	})
	return []column.Column{c}, err
}

func (l *hyperLogLog) Merge(ids []uint32, state []column.Column) error {
	for i, id := range ids {
		if id == 0 || state[0].Null(i) {
			continue
		}
		if err := l.merge(id, textAt(&state[0], i)); err != nil {
			return fmt.Errorf("groupby: state of approx_count_distinct: %w", err)
		}
	}
	return nil
}

// merge merges one state into a group. A dense state is checked as a whole before the group changes.
func (l *hyperLogLog) merge(id uint32, s string) error {
	if s == "" {
		return nil
	}
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	if len(b) < 3 || b[0] != sketchVersion {
		return errors.New("unknown version, want 1")
	}
	if b[1] != l.p {
		return fmt.Errorf("precision is %d, want %d", b[1], l.p)
	}
	kind, b := b[2], b[3:]
	switch kind {
	case sketchSparse:
		last := uint64(0)
		for len(b) > 0 {
			d, w := binary.Uvarint(b)
			// Entries ascend, and each has another register.
			if w <= 0 || d > math.MaxUint32 || (last+d)>>rankBits >= 1<<sparseBits ||
				last != 0 && (last+d)>>rankBits == last>>rankBits {
				return errors.New("malformed entries")
			}
			last += d
			if rank := last & rankMask; rank == 0 || rank > sparseMaxRank {
				return fmt.Errorf("rank of an entry is %d", rank)
			}
			l.addSparse(id, uint32(last))
			b = b[w:]
		}
		return nil
	case sketchDense:
		if len(b) != 3<<l.p/4 {
			return fmt.Errorf("length of the registers is %d bytes", len(b))
		}
		for at := 0; at < len(b); at += 3 {
			w := uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16
			for range 4 {
				if uint8(w&rankMask) > 64-l.p+1 {
					return fmt.Errorf("rank of a register is %d", w&rankMask)
				}
				w >>= rankBits
			}
		}
		for !l.dense[id] {
			l.grow(id)
		}
		r := l.registers(id)
		for at := 0; at < len(b); at += 3 {
			w := uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16
			for k := range 4 {
				j := at/3*4 + k
				r[j] = max(r[j], uint8(w&rankMask))
				w >>= rankBits
			}
		}
		return nil
	}
	return fmt.Errorf("unknown kind %d", kind)
}

// Result returns the estimates. Sparse entries are registers of precision sparseBits, most of them 0.
func (l *hyperLogLog) Result(i, j int) (column.Column, error) {
	l.out = grown(l.out[:0], j-i)
	for k := range l.out {
		id := i + k
		var histogram [66]int // of ranks
		p := l.p
		if l.dense[id] {
			for _, r := range l.registers(uint32(id)) {
				histogram[r]++
			}
		} else {
			p = sparseBits
			for _, e := range l.data.whole(uint32(id)) {
				histogram[e&rankMask]++
			}
			histogram[0] = 1<<sparseBits - int(l.used[id])
		}
		l.out[k] = int64(math.Round(hllEstimate(&histogram, p)))
	}
	return of(l.out), nil
}

// hllEstimate returns the estimated number of values of a sketch of 2^p registers, where histogram[r] is the number of
// registers of rank r. Ertl's constant holds for infinitely many registers; the last factor, of Flajolet et al.,
// corrects it for 2^p: 7 % for 16 registers.
func hllEstimate(histogram *[66]int, p uint8) float64 {
	m, q := float64(uint64(1)<<p), int(64-p)
	if histogram[0] == 1<<p {
		return 0
	}
	z := m * hllTau(1-float64(histogram[q+1])/m)
	for k := q; k >= 1; k-- {
		z = 0.5 * (z + float64(histogram[k]))
	}
	z += m * hllSigma(float64(histogram[0])/m)
	return m * m / (2 * math.Ln2 * z * (1 + 1.079/m))
}

// hllSigma is x + x^2 + 2 x^4 + 4 x^8 + ..., for 0 <= x < 1.
func hllSigma(x float64) float64 {
	y, z := 1.0, x
	for {
		x *= x
		old := z
		z += x * y
		y += y
		if z == old {
			return z
		}
	}
}

// hllTau is (1 - x - (1-sqrt(x))^2/2 - (1-sqrt(sqrt(x)))^2/4 - ...)/3, for 0 <= x <= 1.
func hllTau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		old := z
		y *= 0.5
		z -= (1 - x) * (1 - x) * y
		if z == old {
			return z / 3
		}
	}
}
