// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
)

// This file brings keys to the form in which tables compare them. However many columns a key has, it becomes two words, w0 and w1, and mask, the
// bits of its columns that are NULL. Keys that fit into the words are there whole (exact). Those that do not are there as a fingerprint,
// and as bytes: the table compares the words first and then the bytes.
//
// Integers are extended to 64 bits. Floats are canonical: one NaN, one zero. A NULL column counts as zero in words and bytes, so that mask
// tells it.

// A keyForm is how the keys of a Config are brought to words.
type keyForm uint8

const (
	keyWord    keyForm = iota // one word: all columns are fixed and have 64 bits at most; w1 is nil
	keyWords                  // two words: 128 bits at most
	keyText                   // one string, in the words if it has at most 15 bytes
	keyTexts                  // two strings, in the words if both have at most 7 bytes
	keyRecords                // anything: columns one after the other, in the words if they have at most 15 bytes
)

// maxKeys is the number of key columns that mask has bits for.
const maxKeys = 32

// A keyPlan says how keys become words. It does not change.
type keyPlan struct {
	types []Type
	form  keyForm
	seed  [2]uint64
	hash  maphash.Seed
}

func newKeyPlan(types []Type) (*keyPlan, error) {
	p := &keyPlan{types: types, hash: maphash.MakeSeed()}
	p.seed[0], p.seed[1] = maphash.Comparable(p.hash, 0)|1, maphash.Comparable(p.hash, 1)|1
	width, strings := 0, 0
	for i, t := range types {
		if !t.valid() || t.Dim() > 0 {
			return nil, fmt.Errorf("key %d: no keys of type %s", i, t)
		}
		width += t.width()
		if t == String {
			strings++
		}
	}
	switch {
	case len(types) > maxKeys:
		return nil, fmt.Errorf("%d key columns: at most %d", len(types), maxKeys)
	case strings == 0 && width <= 8:
		p.form = keyWord
	case strings == 0 && width <= 16:
		p.form = keyWords
	case strings == 1 && len(types) == 1:
		p.form = keyText
	case strings == 2 && len(types) == 2:
		p.form = keyTexts
	default:
		p.form = keyRecords
	}
	return p, nil
}

// keys are the keys of some rows in words. w1 is nil if the plan's form is keyWord, mask if no key has a NULL. longs are the rows whose words are a fingerprint
// of texts.
type keys struct {
	w0, w1 []uint64
	mask   []uint32
	// The bytes of long keys; those of others are in the words. In a chunk of rows they are strings of the caller, in what is kept they
	// are in an arena of their own.
	texts []string
	longs []uint32
}

// In keyText, keyTexts and keyRecords the top byte of w1 tells what the words are: one more than the number of bytes in them, or tagLong.
const (
	tagShift = 56
	tagLong  = 0xff // w0 and the rest of w1 are a fingerprint
)

// long tells whether the words of row i are a fingerprint.
func (k *keys) long(i uint32) bool { return k.texts != nil && k.w1[i]>>tagShift == tagLong }

// chunkRows is the number of rows that go through both phases at a time: keys, ids and values of them stay in the first-level cache.
const chunkRows = 2048

// A keyMaker makes keys of columns. It keeps the memory for scatterRows of them.
type keyMaker struct {
	*keyPlan
	keys
	buf     keys   // what keys is made in
	records []byte // the bytes of long keys of several columns
	at      []int  // keyRecords: where each row's record is
	dicts   map[*Dictionary]*packed
	used    int // of buf.texts
}

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

// make sets m.keys to the keys of rows i to j, j-i being at most scatterRows, i a multiple of 64. They are valid until the next call, and no
// longer than the columns are.
func (m *keyMaker) make(cols []Column, i, j int) {
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
		if cols[c].validity != nil {
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
		m.makeRecords(cols, i)
	}
}

// release forgets the columns that keys were made of.
func (m *keyMaker) release() {
	m.keys = keys{longs: m.longs[:0]}
	clear(m.buf.texts[:m.used])
	m.used = 0
}

// addMask sets the bit of column c in mask for the rows that are NULL.
func (m *keyMaker) addMask(col *Column, c, i, n int) {
	for k := 0; k < n; k += 64 {
		w := ^col.validWord(i + k)
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

// makeWord packs all columns into w0, the first lowest.
func (m *keyMaker) makeWord(cols []Column, i, n int) {
	if len(cols) == 1 {
		if t := cols[0].typ; (t == Int64 || t == Uint64) && cols[0].form == formPlain && m.mask == nil {
			m.w0 = view[uint64](&cols[0])[i : i+n] // no copy
			return
		}
	}
	m.w0 = m.buf.w0[:n]
	if len(cols) == 1 && cols[0].typ == Float64 && m.mask == nil {
		for k, x := range view[float64](&cols[0])[i : i+n] {
			m.w0[k] = canonical64(x)
		}
		return
	}
	clear(m.w0)
	shift := 0
	for c := range cols {
		m.orWord(m.w0, &cols[c], i, shift, c)
		shift += 8 * cols[c].typ.width()
	}
}

// makeWords packs columns into w0 as long as they fit, and the others into w1. Ids, which are as long as both, go there in halves.
func (m *keyMaker) makeWords(cols []Column, i, n int) {
	if cols[0].typ == ID {
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

// A keyPlace is where a column lies in the words. Columns fill the first word as far as they fit whole, in their order, then the second.
type keyPlace struct{ word, shift int }

func (p *keyPlan) places() []keyPlace {
	places := make([]keyPlace, len(p.types))
	var used [2]int
	for c, t := range p.types {
		w := 8 * t.width()
		word := 0
		if used[0]+w > 64 {
			word = 1
		}
		places[c] = keyPlace{word, used[word]}
		used[word] += w
	}
	return places
}

// orWord sets the bits of a column in the words of rows i on, from shift on. NULLs, which are bit c of mask, leave zeros.
func (m *keyMaker) orWord(w []uint64, col *Column, i, shift, c int) {
	n := len(w)
	if col.form == formZero {
		return
	}
	if col.validity != nil && m.mask != nil {
		// The slow way, but for the most usual.
		bit := uint32(1) << c
		if col.typ.width() == 8 && !col.typ.isFloat() {
			for k, x := range view[uint64](col)[i : i+n] {
				if m.mask[k]&bit == 0 {
					w[k] |= x
				}
			}
			return
		}
		for k := range w {
			if m.mask[k]&bit == 0 {
				w[k] |= wordOf(col, i+k) << shift
			}
		}
		return
	}
	switch col.typ {
	case Int8, Uint8, Bool:
		for k, x := range view[uint8](col)[i : i+n] {
			w[k] |= uint64(x) << (shift & 63)
		}
	case Int16, Uint16:
		for k, x := range view[uint16](col)[i : i+n] {
			w[k] |= uint64(x) << (shift & 63)
		}
	case Int32, Uint32:
		for k, x := range view[uint32](col)[i : i+n] {
			w[k] |= uint64(x) << (shift & 63)
		}
	case Int64, Uint64:
		for k, x := range view[uint64](col)[i : i+n] {
			w[k] |= x
		}
	case Float32:
		for k, x := range view[float32](col)[i : i+n] {
			w[k] |= uint64(canonical32(x)) << (shift & 63)
		}
	case Float64:
		for k, x := range view[float64](col)[i : i+n] {
			w[k] |= canonical64(x)
		}
	}
}

// wordOf returns a value of at most 64 bits as they stand in a key.
func wordOf(col *Column, i int) uint64 {
	switch col.typ {
	case Int8, Uint8, Bool:
		return uint64(view[uint8](col)[i])
	case Int16, Uint16:
		return uint64(view[uint16](col)[i])
	case Int32, Uint32:
		return uint64(view[uint32](col)[i])
	case Float32:
		return uint64(canonical32(view[float32](col)[i]))
	case Float64:
		return canonical64(view[float64](col)[i])
	}
	return view[uint64](col)[i]
}

const (
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

func canonical32(x float32) uint32 {
	b := math.Float32bits(x + 0)
	if x != x {
		b = nan32
	}
	return b
}

// hash1 and hash2 hash a key: each word is folded, so that its high bits count as much as the low ones, and multiplied by an odd number drawn for
// the Grouper (multiply-shift: M. Dietzfelbinger et al., A reliable randomized algorithm for the closest-pair problem, 1997). The top bits
// tell the partition, those from slotShift on the slot.
func (p *keyPlan) hash1(w0 uint64, mask uint32) uint64 {
	return fold(w0^uint64(mask)) * p.seed[0]
}

func (p *keyPlan) hash2(w0, w1 uint64, mask uint32) uint64 {
	return fold(w0^uint64(mask))*p.seed[0] + fold(w1)*p.seed[1]
}

func fold(w uint64) uint64 { return w ^ w>>32 }

const slotShift = 24
