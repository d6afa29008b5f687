// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Keys in the form in which tables compare them. A key of any number of columns becomes two words, w0 and w1, and mask,
// one bit for each NULL column. Keys that fit into the words are stored there exactly. Other keys are stored as a
// fingerprint in the words, and as bytes; the table compares first the words and then the bytes.
//
// Integers are extended to 64 bits. Floats are canonical: one NaN, one zero. A NULL column is zero in words and bytes;
// only mask distinguishes it from zero.

// A keyForm is the layout of keys in words.
type keyForm uint8

const (
	keyWord    keyForm = iota // one word: all columns have fixed widths of together at most 64 bits; w1 is nil
	keyWords                  // two words: 128 bits at most
	keyText                   // one text; in the words if it has at most 15 bytes
	keyTexts                  // two texts; in the words if both have at most 7 bytes
	keyRecords                // any other columns, one after the other; in the words if they have at most 15 bytes
)

// A keyPlan determines how keys become words. It is immutable.
type keyPlan struct {
	types  []column.Type
	widths []int // see keyWidth
	form   keyForm
	seed   [2]uint64
	hash   maphash.Seed
}

// keyWidth returns the width of a key of this type if it is 1, 2, 4, 8 or 16 bytes. It returns 0 for text, and for
// kinds of other widths, which are treated as text.
func keyWidth(t column.Type) int {
	switch w := t.ValueWidth(); w {
	case 1, 2, 4, 8, 16:
		return w
	}
	return 0
}

// checkKey returns an error if columns of a type cannot be keys.
func checkKey(t column.Type) error {
	switch k := t.Kind; {
	case k == column.Decimal:
		return fmt.Errorf("its type is %v, in which one number has several forms; use decimal64, decimal128 or decimal256", t)
	case k == column.Vector, k.IsNested():
		return fmt.Errorf("its type is %v; a key is text or has a fixed width and no children", t)
	}
	return nil
}

// newKeyPlan selects the form of keys of these types: words if their widths add up to at most 16 bytes, else one of the
// forms with text. Seeds are random and odd.
func newKeyPlan(types []column.Type) *keyPlan {
	p := &keyPlan{types: types, widths: make([]int, len(types)), hash: maphash.MakeSeed()}
	p.seed[0], p.seed[1] = maphash.Comparable(p.hash, 0)|1, maphash.Comparable(p.hash, 1)|1
	width, texts := 0, 0
	for i, t := range types {
		p.widths[i] = keyWidth(t)
		width += p.widths[i]
		if p.widths[i] == 0 {
			texts++
		}
	}
	switch {
	case texts == 0 && width <= 8:
		p.form = keyWord
	case texts == 0 && width <= 16:
		p.form = keyWords
	case texts == 1 && len(types) == 1:
		p.form = keyText
	case texts == 2 && len(types) == 2:
		p.form = keyTexts
	default:
		p.form = keyRecords
	}
	return p
}

// keys are the keys of some rows as words. w1 is nil if the plan's form is keyWord, mask if no key has a NULL. longs
// lists the rows whose words are a fingerprint.
type keys struct {
	w0, w1 []uint64
	mask   []uint32
	// The bytes of long keys. In a chunk of rows the strings share the memory of the input; in keyRows the bytes are in
	// an arena.
	texts []string
	longs []uint32
}

// In keyText, keyTexts and keyRecords the top byte of w1 is a tag: the number of bytes in the words plus 1, or tagLong.
const (
	tagShift = 56
	tagLong  = 0xff // w0 and the rest of w1 are a fingerprint
)

// long reports whether the words of row i are a fingerprint.
func (k *keys) long(i uint32) bool { return k.texts != nil && k.w1[i]>>tagShift == tagLong }

// changes lists the rows whose key differs from the key of the row before, in dst, which has room for all rows. It
// has no branch on each row unless there are long keys, whose bytes it compares.
func (k *keys) changes(dst []uint32) []uint32 {
	dst = dst[:len(k.w0)]
	n, last0, last1, lastMask := 0, uint64(0), uint64(0), uint32(0)
	for i, w0 := range k.w0 {
		w1, mask := uint64(0), k.maskOf(uint32(i))
		if k.w1 != nil {
			w1 = k.w1[i]
		}
		same := bit(w0 == last0) & bit(w1 == last1) & bit(mask == lastMask) & bit(i > 0)
		if k.texts != nil && same != 0 && k.long(uint32(i)) && k.texts[i] != k.texts[i-1] {
			same = 0
		}
		dst[n] = uint32(i)
		n += 1 - same
		last0, last1, lastMask = w0, w1, mask
	}
	return dst[:n]
}

// chunkRows is the number of rows that go through both phases at a time. Their keys, ids and values stay in the
// first-level cache.
const chunkRows = 2048

// A keyMaker converts columns to keys. It has the memory for scatterRows keys.
type keyMaker struct {
	*keyPlan
	keys
	buf     keys   // memory of keys
	records []byte // the bytes of long keys of several columns
	at      []int  // keyRecords: offset of each row's record
	dicts   map[*column.Dictionary]*packed
	used    int // used elements of buf.texts
}

// newKeyMaker returns a maker with buffers for scatterRows rows, as far as the form needs them.
func newKeyMaker(p *keyPlan) *keyMaker {
	m := &keyMaker{keyPlan: p}
	m.buf.w0 = make([]uint64, scatterRows)
	if p.form != keyWord {
		m.buf.w1 = make([]uint64, scatterRows)
	}
	m.buf.mask = make([]uint32, scatterRows)
	if p.form >= keyText {
		m.buf.texts = make([]string, scatterRows)
	}
	return m
}

// make sets m.keys to the keys of rows [i, j). j-i is at most scatterRows, and i is a multiple of 64. The keys are
// valid until the next call, and only as long as the columns.
func (m *keyMaker) make(cols []column.Column, i, j int) {
	n := j - i
	m.w0 = m.buf.w0[:n]
	if len(cols) == 0 {
		return // all zeros
	}
	if m.buf.w1 != nil {
		m.w1 = m.buf.w1[:n]
	}
	m.mask, m.texts, m.longs = nil, nil, m.longs[:0]
	for c := range cols {
		if cols[c].Nulls != 0 {
			m.addMask(&cols[c], c, i, n)
		}
	}
	switch m.form {
	case keyWord:
		m.makeWord(cols, i, n)
	case keyWords:
		m.makeWords(cols, i, n)
	case keyText:
		m.makeText(&cols[0], i)
	case keyTexts:
		m.makeTexts(cols, i)
	case keyRecords:
		if m.canPrefix(cols) {
			m.makePrefixed(cols, i)
		} else {
			m.makeRecords(cols, i)
		}
	}
}

// release drops references to the columns of the last keys.
func (m *keyMaker) release() {
	m.keys = keys{longs: m.longs[:0]}
	clear(m.buf.texts[:m.used])
	m.used = 0
}

// addMask sets the bit of column c in mask for the rows that are NULL.
func (m *keyMaker) addMask(col *column.Column, c, i, n int) {
	for k := 0; k < n; k += 64 {
		w := ^validWord(col, i+k)
		if left := n - k; left < 64 {
			w &= 1<<left - 1
		}
		if w == 0 {
			continue
		}
		if m.mask == nil {
			m.mask = m.buf.mask[:n]
			clear(m.mask)
		}
		for ; w != 0; w &= w - 1 {
			m.mask[k+bits.TrailingZeros64(w)] |= 1 << c
		}
	}
}

// makeWord packs all columns into w0, the first column lowest.
func (m *keyMaker) makeWord(cols []column.Column, i, n int) {
	float := cols[0].Type.Kind == column.Float64
	if len(cols) == 1 && m.widths[0] == 8 && !float && cols[0].Values != nil && m.mask == nil {
		m.w0 = view[uint64](&cols[0])[i : i+n] // no copy
		return
	}
	m.w0 = m.buf.w0[:n]
	if len(cols) == 1 && float && m.mask == nil {
		canonicalBits(m.w0, view[uint64](&cols[0])[i:])
		return
	}
	clear(m.w0)
	shift := 0
	for c := range cols {
		m.orWord(m.w0, &cols[c], i, shift, c)
		shift += 8 * m.widths[c]
	}
}

// makeWords packs columns into w0 as far as they fit, and the others into w1. A key of 16 bytes is split into halves.
func (m *keyMaker) makeWords(cols []column.Column, i, n int) {
	if m.widths[0] == 16 {
		for k, id := range view[[16]byte](&cols[0])[i : i+n] {
			m.w0[k], m.w1[k] = binary.LittleEndian.Uint64(id[:8]), binary.LittleEndian.Uint64(id[8:])
		}
		if m.mask != nil {
			for k, b := range m.mask {
				if b&1 != 0 {
					m.w0[k], m.w1[k] = 0, 0
				}
			}
		}
		return
	}
	clear(m.w0)
	clear(m.w1)
	for c, place := range m.places() {
		w := m.w0
		if place.word == 1 {
			w = m.w1
		}
		m.orWord(w, &cols[c], i, place.shift, c)
	}
}

// A keyPlace is the position of a column in the words. Columns fill the first word in their order as far as they fit
// whole, then the second.
type keyPlace struct{ word, shift int }

// places returns the position of each column, for forms of fixed widths.
func (p *keyPlan) places() []keyPlace {
	places := make([]keyPlace, len(p.types))
	var used [2]int
	for c, w := range p.widths {
		w *= 8
		word := 0
		if used[0]+w > 64 {
			word = 1
		}
		places[c] = keyPlace{word, used[word]}
		used[word] += w
	}
	return places
}

// orWord sets the bits of a column in the words of rows i and following, from bit shift. NULLs, marked by bit c of
// mask, leave zeros.
func (m *keyMaker) orWord(w []uint64, col *column.Column, i, shift, c int) {
	if isZeros(col) {
		return
	}
	from, to := i, i+len(w)
	shift &= 63
	mask := m.mask
	if col.Nulls == 0 {
		mask = nil
	}
	switch bit := uint32(1) << c; {
	case col.Type.Kind == column.Float64:
		for k, x := range view[float64](col)[from:to] {
			if mask == nil || mask[k]&bit == 0 {
				w[k] |= canonical64(x)
			}
		}
	case col.Type.Kind == column.Float32:
		for k, x := range view[float32](col)[from:to] {
			if mask == nil || mask[k]&bit == 0 {
				w[k] |= uint64(canonical32(x)) << (shift & 63)
			}
		}
	case col.Type.Kind == column.Float16:
		for k, x := range view[uint16](col)[from:to] {
			if mask == nil || mask[k]&bit == 0 {
				w[k] |= uint64(canonical16(x)) << (shift & 63)
			}
		}
	case m.widths[c] == 1:
		orBits(w, view[uint8](col)[from:to], mask, bit, shift)
	case m.widths[c] == 2:
		orBits(w, view[uint16](col)[from:to], mask, bit, shift)
	case m.widths[c] == 4:
		orBits(w, view[uint32](col)[from:to], mask, bit, shift)
	case m.widths[c] == 8:
		orBits(w, view[uint64](col)[from:to], mask, bit, 0)
	}
}

// orBits sets the bits of x in words, from bit shift, except for rows that have bit set in mask. A nil mask means no
// exceptions.
func orBits[T unsigned](w []uint64, x []T, mask []uint32, bit uint32, shift int) {
	x = x[:len(w)]
	if mask == nil {
		for k, v := range x {
			w[k] |= uint64(v) << (shift & 63)
		}
		return
	}
	mask = mask[:len(w)]
	for k, v := range x {
		valid := uint64((int64(mask[k]&bit) - 1) >> 63) // all ones or 0, so that a NULL needs no branch
		w[k] |= uint64(v) & valid << (shift & 63)
	}
}

const (
	nan16 = 0x7e00
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

// canonical64 returns the bits of x, with one NaN and one zero.
func canonical64(x float64) uint64 {
	b := math.Float64bits(x + 0) // -0 + 0 = 0
	if b<<1 > 0x7ff<<53 {        // without a branch, unlike x != x
		b = nan64
	}
	return b
}

// canonicalBits is canonical64 for the bits of floats, as many as to has. It has neither branches nor floats.
func canonicalBits(to, bits []uint64) {
	bits = bits[:len(to)]
	for k, b := range bits {
		sized := b << 1 // without the sign
		if sized == 0 {
			b = 0
		}
		if sized > 0x7ff<<53 {
			b = nan64
		}
		to[k] = b
	}
}

func canonical32(x float32) uint32 {
	b := math.Float32bits(x + 0)
	if x != x {
		b = nan32
	}
	return b
}

// canonical16 is canonical64 for the bits of a 16-bit float.
func canonical16(b uint16) uint16 {
	switch {
	case b == 1<<15:
		return 0
	case b&0x7fff > 0x7c00:
		return nan16
	}
	return b
}

// wordOf returns the bits of row i of a column with rows of 1, 2, 4 or 8 bytes.
func wordOf(col *column.Column, i int) uint64 {
	if col.Values == nil {
		return 0
	}
	switch p := unsafe.Pointer(unsafe.SliceData(col.Values)); col.Type.ValueWidth() {
	case 1:
		return uint64(*(*uint8)(unsafe.Add(p, i)))
	case 2:
		return uint64(*(*uint16)(unsafe.Add(p, 2*i)))
	case 4:
		return uint64(*(*uint32)(unsafe.Add(p, 4*i)))
	}
	return view[uint64](col)[i]
}

// hash1 and hash2 hash a key. Each word is mixed, so that its high bits count as much as the low ones, and multiplied
// by an odd random number of the Grouper (multiply-shift: M. Dietzfelbinger et al., A reliable randomized algorithm for
// the closest-pair problem, 1997). The top bits select the partition, those from slotShift the slot.
func (p *keyPlan) hash1(w0 uint64, mask uint32) uint64 {
	return mix(w0^uint64(mask)) * p.seed[0]
}

func (p *keyPlan) hash2(w0, w1 uint64, mask uint32) uint64 {
	return mix(w0^uint64(mask))*p.seed[0] + mix(w1)*p.seed[1]
}

func mix(w uint64) uint64 { return w ^ w>>32 }

const slotShift = 24
