// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/decode"
)

// Lengths of texts in place of the texts: those of plain texts are found within their page, and no text is copied.

// addLengths marks the columns of Options.Lengths.
func (s *Scan) addLengths() error {
	for _, name := range s.o.Lengths {
		found := false
		for i := range s.columns[:s.outputs] {
			c := &s.columns[i]
			if c.name != name {
				continue
			}
			if n := c.node; n.Leaf == nil || !n.Field.Type.Kind.IsText() || n.Leaf.Type != n.Field.Type {
				return fmt.Errorf("parquetscan: Lengths: column %s is %v, not a String or Binary", name, n.Field.Type)
			}
			if slices.Contains(s.chosen, i) {
				return fmt.Errorf("parquetscan: Lengths: the Selector needs the texts of column %s", name)
			}
			c.length, found = true, true
		}
		if !found {
			return fmt.Errorf("parquetscan: Lengths: column %s is not read", name)
		}
	}
	return nil
}

// readLengths sets dst to the lengths of the selected texts among the next n.
func (r *Reader) readLengths(dst *column.Column, at, n, selected int) error {
	c := &r.columns[at]
	*dst = column.Column{
		Name: r.scan.columns[at].name, Type: column.TypeOf[int64](), Len: selected, Validity: dst.Validity[:0],
		Values: buffer.GrowBytes(dst.Values[:0], 8*selected),
	}
	out := buffer.SliceOf[int64](dst.Values, selected)
	if !r.got[at] {
		if ok, err := c.atTexts(r.row, n); ok || err != nil {
			if err == nil {
				c.state.used.Store(true)
				c.row += int64(n)
				err = c.chunks[0].readLengths(out, r.sel, n)
			}
			if err != nil {
				return r.locate(at, err)
			}
			return nil
		}
		if err := r.readColumn(&c.extra, at, n, selected); err != nil {
			return err
		}
	}
	if dst.Nulls = c.extra.Nulls; dst.Nulls > 0 {
		dst.Validity = append(dst.Validity, c.extra.Validity...)
	}
	lengthsOf(out, &c.extra)
	return nil
}

// readLengths sets out to the lengths of the selected of the next n plain texts; of all if out has n values.
func (c *chunk) readLengths(out []int64, sel []byte, n int) error {
	t, err := c.takeTexts(n)
	if err != nil {
		return err
	}
	if len(out) == n {
		from := t.At[0]
		for i, end := range t.At[1:] {
			out[i], from = int64(end-from-decode.TextGap), end
		}
		return nil
	}
	k := 0
	for i, b := range sel[:(n+7)/8] {
		for ; b != 0; b &= b - 1 {
			row := 8*i + bits.TrailingZeros8(b)
			out[k] = int64(t.At[row+1] - t.At[row] - decode.TextGap)
			k++
		}
	}
	return nil
}

// lengthsOf sets out to the lengths of the texts of a column, 0 of NULL.
func lengthsOf(out []int64, c *column.Column) {
	if c.Dict == nil {
		for i := range out {
			out[i] = int64(c.Offsets[i+1] - c.Offsets[i])
		}
		return
	}
	_, offsets := c.Dict.Buffers()
	for i, code := range buffer.SliceOf[uint32](c.Values, len(out)) {
		if out[i] = 0; c.Nulls == 0 || !c.Null(i) {
			out[i] = int64(offsets[code+1] - offsets[code])
		}
	}
}
