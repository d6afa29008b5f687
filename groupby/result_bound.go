// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"cmp"
	"encoding/binary"
	"math"
	"strings"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// The last group that a limit keeps. Groups in a table are compared with it before their keys are copied: most groups
// of a result with a limit come after it, and long texts decide few comparisons.

// A bound is the last of the first groups so far.
type bound struct {
	*keyPlan
	at    []keyPlace // of keys in words
	leads bool       // an aggregate or the numbers of rows come first in the order
	word  uint64     // the value of it
	by    []boundKey // then keys
	bytes [16]byte   // of the key that is compared

	up, down int // shifts that extract the first key from its word, for beyond
}

// A boundKey is a key column of an order, and its value in the last group.
type boundKey struct {
	column  int
	desc    bool
	null    bool
	word    uint64                // as orderedWord, if compare is nil
	text    string                // the bytes of the value otherwise
	compare func(a, b string) int // of the bytes of values
}

// newBound returns the bound of the last row of a piece that is in the order of the plan. It returns nil if groups
// cannot be compared with it.
func (e *emitter) newBound(p *piece) *bound {
	b, last := &bound{keyPlan: e.plan.keys}, p.rows-1
	if b.form <= keyWords {
		b.at = b.places()
	}
	add := func(c int, desc bool) {
		col := p.keys[c].column()
		k := boundKey{column: c, desc: desc, null: col.Null(last)}
		if hasWord(col.Type) {
			k.word = orderedWord(col.Type, wordOf(&col, last))
		} else {
			k.compare, k.text = comparer(col.Type), strings.Clone(textAt(&col, last))
		}
		b.by = append(b.by, k)
	}
	if key, ok := e.firstKey(columnsOf(p.values), p.numbers); ok {
		words := key.words()
		if words == nil || key.col.Null(last) {
			return nil
		}
		b.leads, b.word = true, words[last]
	} else if e.plan.Order.by == byColumn {
		add(e.plan.orderBy, e.plan.Order.desc)
	}
	if e.plan.Order.by != byAppearance {
		for c := range p.keys {
			add(c, false)
		}
	}
	return b
}

// within reports whether the key of a group does not come after the bound. Most keys do, by their first column.
func (b *bound) within(first []uint64, r *keyRows, id uint32) bool {
	return (first == nil || !b.beyond(first[id])) && b.compareKey(r, id) <= 0
}

// firstWords returns the words of groups that have the first key of the bound, for within. It returns nil if the order
// of that key is not the one of signed integers in the words. NULL comes after the bound, whatever its word is.
func (b *bound) firstWords(r *keyRows) []uint64 {
	if len(b.by) == 0 || b.form > keyWords {
		return nil
	}
	k := &b.by[0]
	t := b.types[k.column]
	if k.desc || k.null || k.compare != nil || !isSigned(storedAs(t)) {
		return nil
	}
	place, bits := b.at[k.column], 8*b.widths[k.column]
	b.up, b.down = 64-place.shift-bits, 64-bits
	if place.word == 1 {
		return r.w1
	}
	return r.w0
}

// beyond reports whether a group, by its word of firstWords, comes after the bound by its first key alone.
func (b *bound) beyond(word uint64) bool {
	return uint64(int64(word<<(b.up&63))>>(b.down&63))^signBit > b.by[0].word
}

// compareKey compares the key of a group with the key of the bound.
func (b *bound) compareKey(r *keyRows, id uint32) int {
	for i := range b.by {
		k := &b.by[i]
		null := r.mask != nil && r.mask[id]>>k.column&1 != 0
		c := 0
		switch {
		case null || k.null:
			c = cmp.Compare(truth(null), truth(k.null))
		case k.compare == nil:
			word, _ := b.value(r, id, k.column)
			c = cmp.Compare(orderedWord(b.types[k.column], word)^flipIf(k.desc), k.word^flipIf(k.desc))
		default:
			if c = k.compare(stringOf(b.bytesOf(r, id, k.column)), k.text); k.desc {
				c = -c
			}
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// bytesOf returns the bytes of a key column of a group, as in column.Column.Values. They are valid until the next call.
func (b *bound) bytesOf(r *keyRows, id uint32, c int) []byte {
	word, text := b.value(r, id, c)
	if w := b.widths[c]; w > 0 && w <= 8 {
		storeWord(unsafe.Pointer(&b.bytes), w, word)
		return b.bytes[:w]
	}
	return text
}

// value returns a key column of a group: as a word if it has 1 to 8 bytes, otherwise its bytes, which are valid until
// the next call.
func (b *bound) value(r *keyRows, id uint32, c int) (word uint64, text []byte) {
	width := b.widths[c]
	if b.form > keyWords {
		return b.valueOf(b.record(r, id), c, width)
	}
	if width == 16 {
		binary.LittleEndian.PutUint64(b.bytes[:8], r.w0[id])
		binary.LittleEndian.PutUint64(b.bytes[8:], r.w1[id])
		return 0, b.bytes[:]
	}
	if word = r.w0[id]; b.at[c].word == 1 {
		word = r.w1[id]
	}
	return word >> (b.at[c].shift & 63) & (1<<(8*width) - 1), nil
}

// record returns the bytes of a key with text: the words of a long key, or the words without their lengths.
func (b *bound) record(r *keyRows, id uint32) []byte {
	w0, w1 := r.w0[id], r.w1[id]
	if w1>>tagShift == tagLong {
		return r.long(id)
	}
	binary.LittleEndian.PutUint64(b.bytes[:8], w0)
	binary.LittleEndian.PutUint64(b.bytes[8:], w1)
	if b.form == keyTexts {
		return b.bytes[:]
	}
	return b.bytes[:w1>>tagShift-1]
}

// valueOf returns column c of a record of a key with text.
func (b *bound) valueOf(rec []byte, c, width int) (word uint64, text []byte) {
	switch {
	case b.form == keyText:
		return 0, rec
	case b.form == keyTexts && unsafe.SliceData(rec) == &b.bytes[0]:
		part := b.bytes[8*c:][:8]
		return 0, part[:part[7]-1]
	}
	for k := range c {
		w := b.widths[k]
		if w == 0 {
			n, size := binary.Uvarint(rec)
			w = size + int(n)
		}
		rec = rec[w:]
	}
	switch width {
	case 0:
		n, size := binary.Uvarint(rec)
		return 0, rec[size:][:n]
	case 1:
		return uint64(rec[0]), nil
	case 2:
		return uint64(binary.LittleEndian.Uint16(rec)), nil
	case 4:
		return uint64(binary.LittleEndian.Uint32(rec)), nil
	case 8:
		return binary.LittleEndian.Uint64(rec), nil
	}
	return 0, rec[:width]
}

// hasWord reports whether orderedWord has the order of a type: the order of sortKey.words.
func hasWord(t column.Type) bool {
	return isSortable(t) || t.Kind == column.Float16 || t.Kind == column.Bool
}

// orderedWord converts the bits of a value of at most 64 bits to a word in the order of values, as sortKey.words does
// for a column.
func orderedWord(t column.Type, w uint64) uint64 {
	kind := storedAs(t)
	switch {
	case isSigned(kind):
		shift := 64 - 8*t.ValueWidth()
		return uint64(int64(w<<shift)>>shift) ^ signBit
	case kind == column.Float16:
		return uint64(orderedFloat16(uint16(w)))
	case kind == column.Float32:
		w = canonical64(float64(math.Float32frombits(uint32(w))))
	case kind == column.Float64:
		w = canonical64(math.Float64frombits(w))
	default:
		return w
	}
	return w ^ (uint64(int64(w)>>63) | signBit)
}
