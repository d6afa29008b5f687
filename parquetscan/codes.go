// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/chunk"
	"github.com/vecql/vecql/parquetscan/internal/decode"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// Filters on a page, whose column is not decoded. With a dictionary they are evaluated once for each entry. If the
// entries that pass, or those that do not, come one after the other, the codes of the page are compared with the first
// and the last of them; otherwise the results are looked up by the codes. Plain texts are tested where they are.

// stageHits are the results of a stage of one column for the entries of a dictionary.
type stageHits struct {
	dictionary chunk.Dictionary
	bits       []byte   // a bit for each entry
	hits       []byte   // 1 for each entry that passes
	interval   interval // of the entries that pass
	barren     bool     // no entry passes, and NULL does not
	ones       []byte   // of a batch, 1 for each row that passes
}

// A tester evaluates a predicate for one Reader. It keeps the results for the entries of dictionaries.
type tester struct {
	*predicate.Evaluator
	hits []stageHits // by stage
}

// newTester returns a tester of a predicate.
func newTester(p *predicate.Predicate) *tester {
	return &tester{Evaluator: predicate.NewEvaluator(p)}
}

// testPage reduces sel to the rows of a view of n rows that stage i, of one column, selects. selected rows are in sel,
// whose bits are undefined if that is n.
func (e *tester) testPage(i int, v *chunk.View, n int, sel []byte, selected int) error {
	if v.Kind == chunk.Codes {
		return e.testCodes(i, v, n, sel, selected)
	}
	c, err := v.Column()
	if err != nil {
		return err
	}
	st := &e.P.Stages[i]
	e.Cols[st.Columns[0]] = c
	e.Gap = decode.TextGap
	e.EvalStage(st, n, sel, selected == n)
	e.Gap = 0
	return nil
}

// sparse is the number of rows among which one is selected, or fewer, so that their codes are looked up one by one.
const sparse = 16

// testCodes is testPage for codes, which it decodes.
func (e *tester) testCodes(i int, v *chunk.View, n int, sel []byte, selected int) error {
	if e.hits == nil {
		e.hits = make([]stageHits, len(e.P.Stages))
	}
	h := &e.hits[i]
	if d := v.Dictionary(); h.dictionary != d {
		h.dictionary = d
		e.testEntries(i, v)
	}
	if h.barren {
		clear(sel)
		return nil
	}
	if selected < n/sparse {
		return v.Keep(sel, h.hits)
	}
	all := selected == n
	h.ones = slices.Grow(h.ones[:0], n+8)[:n]
	if !h.interval.ok {
		err := v.LookUp(h.ones, h.hits)
		packOnes(sel, h.ones, all)
		return err
	}
	if all {
		return v.Between(sel, h.interval.lo, h.interval.span)
	}
	between := h.ones[:len(sel)]
	err := v.Between(between, h.interval.lo, h.interval.span)
	for i, b := range between {
		sel[i] &= b
	}
	return err
}

// An interval is the codes from lo to lo + span, modulo 1<<32.
type interval struct {
	lo, span uint32
	ok       bool // false means that the codes are no interval
}

// intervalOf returns the interval of the entries among n whose bits are set: they, or the others, come one after the
// other.
func intervalOf(set []byte, n int) interval {
	var runs [][2]int
	buffer.Ones(set, n, func(from, to int) {
		if len(runs) < 3 {
			runs = append(runs, [2]int{from, to})
		}
	})
	switch {
	case len(runs) == 1:
		return interval{uint32(runs[0][0]), uint32(runs[0][1] - runs[0][0] - 1), true}
	case len(runs) == 2 && runs[0][0] == 0 && runs[1][1] == n:
		lo := uint32(runs[1][0])
		return interval{lo, uint32(runs[0][1]) - 1 - lo, true}
	}
	return interval{}
}

// testEntries evaluates stage i, of one column, on the entries of a dictionary.
func (e *tester) testEntries(i int, v *chunk.View) {
	st, h, entries := &e.P.Stages[i], &e.hits[i], v.Entries()
	e.Cols[st.Columns[0]] = entries
	h.bits = slices.Grow(h.bits[:0], (entries.Len+7)/8)[:(entries.Len+7)/8]
	passed := e.EvalStage(st, entries.Len, h.bits, true)
	if h.barren = passed == 0 && !(v.HasNulls() && e.passesNull(st, entries)); h.barren {
		return
	}
	h.interval = intervalOf(h.bits, entries.Len)
	h.hits = slices.Grow(h.hits[:0], entries.Len)[:entries.Len]
	for k := range h.hits {
		h.hits[k] = h.bits[k>>3] >> (k & 7) & 1
	}
}

// passesNull reports whether a stage of one column selects NULL.
func (e *tester) passesNull(st *predicate.Stage, like *column.Column) bool {
	null := column.Column{Type: like.Type, Len: 1, Nulls: 1, Validity: make([]byte, 8)}
	null.Values = make([]byte, like.Type.ValueWidth())
	if like.Offsets != nil {
		null.Offsets = make([]int32, 2)
	}
	e.Cols[st.Columns[0]] = &null
	return e.EvalStage(st, 1, make([]byte, 1), true) > 0
}

// isBarren reports whether the dictionary that stage i saw last has no entry that passes.
func (e *tester) isBarren(i int) bool { return e.hits != nil && e.hits[i].barren }

// packOnes sets sel to bits from bytes that are 0 or 1, or with all unset, removes the bits of zeros. ones has room for
// 8 more bytes.
func packOnes(sel, ones []byte, all bool) {
	n := len(ones)
	ones = ones[:8*len(sel)]
	clear(ones[n:])
	for i := range sel {
		// The product moves bit k of byte k to the highest byte.
		b := byte(binary.LittleEndian.Uint64(ones[8*i:]) * 0x0102040810204080 >> 56)
		if !all {
			b &= sel[i]
		}
		sel[i] = b
	}
}
