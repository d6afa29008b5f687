// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/substring"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
)

// Evaluation of predicates on columns of bytes, and on the texts of a plain page.

// A textRun is a run of texts: text i is data[at[i]+gap : at[i+1]]. The gap is 0 in a column, and 4 in a plain page,
// where the length of each text precedes it.
type textRun struct {
	data []byte
	at   []int32
	gap  int32
}

func (t *textRun) text(i int) []byte { return t.data[t.at[i]+t.gap : t.at[i+1]] }

// texts tests the values of columns of bytes. With a dictionary it tests each entry once, and then codes.
func (e *Evaluator) texts(l *leafTerm, c *column.Column, n int, out []byte) {
	state := &e.leaves[l.number]
	switch {
	case c.Dict != nil:
		if state.dict != c.Dict {
			state.dict = c.Dict
			state.hits = slices.Grow(state.hits[:0], c.Dict.Len())[:c.Dict.Len()]
			for i := range state.hits {
				state.hits[i] = boolBit(state.hasText(l, c.Dict.Bytes(uint32(i))))
			}
		}
		// NULL rows have code 0, even if the dictionary is empty.
		codeBits(buffer.SliceOf[uint32](c.Values, n), state.hits, out)
	case c.Type.Kind.IsText():
		t := &textRun{c.Values, c.Offsets[:n+1], e.Gap}
		switch {
		case l.part != nil && (e.some == nil || CountBits(e.some) > n/fewTexts):
			t.contain(l.part, out)
		case l.part != nil:
			t.someContain(l.part, e.some, out)
		case len(l.spans.texts) == 1 && l.spans.texts[0].hi == "":
			t.empty(out)
		case len(l.spans.texts) == 1 && l.spans.texts[0].lo == "":
			t.before(l.spans.texts[0].hi, l.spans.texts[0].open, out)
		default:
			packBits(out, n, func(i int) bool { return state.hasText(l, t.text(i)) })
		}
	default:
		w := l.typ.ValueWidth()
		packBits(out, n, func(i int) bool { return state.hasText(l, c.Values[i*w:(i+1)*w]) })
	}
}

// fewTexts is the number of texts among which one must be searched, or fewer, so that each is searched alone.
const fewTexts = 8

// contain sets out to the texts that contain a part, which is not empty. It searches the bytes of all texts at once,
// which costs little per text where matches are rare.
func (t *textRun) contain(part, out []byte) {
	clear(out)
	n := len(t.at) - 1
	at, end, i := int(t.at[0]), int(t.at[n]), 0
	for {
		next := substring.Index(t.data[at:end], part)
		if next < 0 {
			return
		}
		at += next
		for int(t.at[i+1]) <= at {
			i++
		}
		if at < int(t.at[i]+t.gap) || at+len(part) > int(t.at[i+1]) {
			at++ // the match is not within a text
			continue
		}
		out[i>>3] |= 1 << (i & 7)
		at = int(t.at[i+1])
	}
}

// someContain is contain for some of the texts.
func (t *textRun) someContain(part, some, out []byte) {
	for i, b := range some[:len(out)] {
		out[i] = 0
		for ; b != 0; b &= b - 1 {
			if k := bits.TrailingZeros8(b); bytes.Contains(t.text(8*i+k), part) {
				out[i] |= 1 << k
			}
		}
	}
}

// empty sets out to the texts without a byte.
func (t *textRun) empty(out []byte) {
	for i := range out {
		b := byte(0)
		at := t.at[8*i : min(8*i+9, len(t.at))]
		for j, end := range at[1:] {
			b |= boolBit(end-at[j] == t.gap) << j
		}
		out[i] = b
	}
}

// before sets out to the texts before an end, and to those equal to it unless it is open. The first 8 bytes of a text
// decide most comparisons.
func (t *textRun) before(end string, open bool, out []byte) {
	most := firstBytes([]byte(end))
	for i := range out {
		b := byte(0)
		at := t.at[8*i : min(8*i+9, len(t.at))]
		for j, next := range at[1:] {
			from := int(at[j] + t.gap)
			size := int(next) - from
			var first uint64
			if from+8 <= len(t.data) {
				first = binary.BigEndian.Uint64(t.data[from:]) &^ (math.MaxUint64 >> (8 * min(uint(size), 8)))
			} else {
				first = firstBytes(t.data[from:next])
			}
			bit := boolBit(first < most)
			if first == most {
				text := t.data[from:next]
				bit = boolBit(string(text) < end || !open && string(text) == end)
			}
			b |= bit << j
		}
		out[i] = b
	}
}

// firstBytes returns the first 8 bytes as a word of their order, filled with zeros.
func firstBytes(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	w := uint64(0)
	for i, x := range b {
		w |= uint64(x) << (56 - 8*i)
	}
	return w
}

// codeBits sets out to the codes that are hits.
func codeBits(codes []uint32, hits, out []byte) {
	for i := range out {
		b := byte(0)
		for j, code := range codes[8*i : min(8*i+8, len(codes))] {
			if uint64(code) < uint64(len(hits)) {
				b |= hits[code] << j
			}
		}
		out[i] = b
	}
}

// hasText reports whether the text has the part, or is in one of the spans.
func (state *leafState) hasText(l *leafTerm, b []byte) bool {
	if l.part != nil {
		return bytes.Contains(b, l.part)
	}
	if state.points != nil {
		_, found := state.points[string(b)]
		return found
	}
	s := &l.spans.texts[0]
	if s.lo == s.hi {
		return string(b) == s.hi
	}
	return string(b) < s.hi || !s.open && string(b) == s.hi // Lt or Le: lo is ""
}
