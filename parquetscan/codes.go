// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/decode"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// Filters on a page, whose column is not decoded. With a dictionary they are evaluated once for each entry, then looked
// up by the codes of the page, run by run. Plain texts are tested where they are (texts.go).

// stageHits are the results of a stage of one column for the entries of a dictionary.
type stageHits struct {
	chunk  *chunk
	serial int    // chunk.serial of the dictionary
	hits   []byte // 1 for each entry that passes
	ones   []byte // of a batch, 1 for each row that passes
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

// filterPage reduces r.sel to the rows that stage i of a predicate selects, and returns their number; false if it
// cannot, and the column must be read: the rows of the batch are codes or plain texts of one page, none of them NULL,
// and no later stage needs the column. all means that r.sel is undefined yet and has all rows. The chunk stays before
// the rows if the column is read later.
func (r *Reader) filterPage(e *tester, i int, columns []int, n int, all bool) (selected int, ok bool, err error) {
	st := &e.P.Stages[i]
	if len(st.Columns) != 1 || st.Shared {
		return 0, false, nil
	}
	at := columns[st.Columns[0]]
	reader := &r.columns[at]
	if r.got[at] || reader.node.Leaf == nil || reader.vector || len(reader.chunks) != 1 {
		return 0, false, nil
	}
	c := reader.chunks[0]
	if err := reader.catchUp(r.row); err != nil {
		return 0, false, r.locate(at, err)
	}
	if c.left == 0 {
		if err := c.must(); err != nil {
			return 0, false, r.locate(at, err)
		}
	}
	sel, codes, data := r.sel[:(n+7)/8], c.values.Codes, c.values.Data
	switch {
	case c.hasCodes(n):
		err = e.filterCodes(i, c, &codes, n, sel, all)
	case c.hasTexts(n):
		data, err = e.filterTexts(i, c, n, sel, all)
	default:
		return 0, false, nil
	}
	if err == nil && r.isLast(e, at) {
		err = c.def.Skip(n) // one run of levels, or none
		c.values.Codes, c.values.Data = codes, data
		c.left -= n
		c.rows -= int64(n)
		reader.row += int64(n)
	}
	if err != nil {
		return 0, false, r.locate(at, err)
	}
	return predicate.CountBits(sel), true, nil
}

// filterCodes reduces sel to the rows that stage i, of one column, selects by the next n codes, which it decodes.
func (e *tester) filterCodes(i int, c *chunk, codes *decode.Hybrid, n int, sel []byte, all bool) error {
	if e.hits == nil {
		e.hits = make([]stageHits, len(e.P.Stages))
	}
	h := &e.hits[i]
	if h.chunk != c || h.serial != c.values.Serial {
		e.hitEntries(i, c)
	}
	h.ones = slices.Grow(h.ones[:0], n+8)[:n]
	err := decode.LookUp(codes, h.ones, h.hits, &c.values.Scratch)
	packOnes(sel, h.ones, all)
	return err
}

// isLast reports whether nothing after a predicate needs a column.
func (r *Reader) isLast(e *tester, at int) bool {
	s := r.scan
	return at >= s.outputs && !slices.Contains(s.chosen, at) && (e == r.eval || !slices.Contains(s.filter, at))
}

// hasCodes reports whether the next n rows of a flat column are codes of the current page, without NULLs, and the
// dictionary is not larger than the rest of the chunk.
func (c *chunk) hasCodes(n int) bool {
	return c.values.Coded && int64(c.values.DictLen) <= c.rows && c.hasValues(n)
}

// hasValues reports whether the next n rows of a column are in the current page, one value each.
func (c *chunk) hasValues(n int) bool {
	if c.left < n || c.leaf.MaxRep > 0 {
		return false
	}
	switch c.leaf.MaxDef {
	case 0:
		return true
	case 1:
		def := c.def // a copy
		return def.Run() == nil && !def.Packed && def.Value == 1 && def.Left >= n
	}
	return false
}

// hitEntries evaluates stage i, of one column, on the dictionary of a chunk.
func (e *tester) hitEntries(i int, c *chunk) {
	st, h := &e.P.Stages[i], &e.hits[i]
	h.chunk, h.serial = c, c.values.Serial
	entries := column.Column{Type: c.leaf.Type, Len: c.values.DictLen, Values: c.values.DictValues}
	if c.leaf.Type.Kind.IsText() {
		entries.Values, entries.Offsets = c.values.Dict.Buffers()
	}
	e.Cols[st.Columns[0]] = &entries
	bits := make([]byte, (c.values.DictLen+7)/8)
	e.EvalStage(st, c.values.DictLen, bits, true)
	h.hits = slices.Grow(h.hits[:0], c.values.DictLen)[:c.values.DictLen]
	for k := range h.hits {
		h.hits[k] = bits[k>>3] >> (k & 7) & 1
	}
}

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
