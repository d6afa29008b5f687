// SPDX-License-Identifier: Apache-2.0

package expr

import "github.com/vecql/vecql/internal/substring"

// Searches in whole columns of texts.

// A searchFilter selects the rows of a text column that contain a text. For all rows of a block it searches the bytes
// of all texts at once, which costs little per row where matches are rare.
type searchFilter struct {
	b    *block
	s    *source
	text string // not empty
	rows filter // for columns with codes, for some rows, and for the rows that do not match
}

// searched returns a searchFilter if the term is a column of texts, otherwise the filter of rows.
func (b *builder) searched(t *term, text string, rows filter) filter {
	if t.op != opColumn || text == "" || t.typ.ValueWidth() > 0 {
		return rows
	}
	return &searchFilter{b.block, b.sources[t.index], text, rows}
}

// keep goes from match to match, and past matches that span rows.
func (f *searchFilter) keep(rows, out []int32) ([]int32, error) {
	c := f.s.column
	if c.Dict != nil || len(rows) < f.b.n {
		return f.rows.keep(rows, out)
	}
	text := []byte(f.text)
	offsets := c.Offsets[f.b.lo : f.b.lo+f.b.n+1]
	at, end, row, k := int(offsets[0]), int(offsets[f.b.n]), 0, 0
	for {
		i := substring.Index(c.Values[at:end], text)
		if i < 0 {
			break
		}
		at += i
		for int(offsets[row+1]) <= at {
			row++
		}
		if at+len(f.text) > int(offsets[row+1]) {
			at++ // the match spans two rows
			continue
		}
		out[k] = int32(row)
		k++
		at = int(offsets[row+1])
	}
	return validRows(f.s.bits(f.b), out[:k], out), nil
}
