// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/bitmap"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Columns that grow while they are read: values, NULLs, capacity.

// A Column is a column.Column while values are appended to it. Its slices are memory of an earlier batch, or new.
type Column column.Column

// Child returns child i as a builder.
func (c *Column) Child(i int) *Column { return (*Column)(&c.Children[i]) }

// Reset empties the column and sets the type that a node is decoded as. It keeps the memory.
func (c *Column) Reset(name string, nd *footer.Node, vector bool) {
	c.Name, c.Type = name, nd.Field.Type
	switch {
	case nd.Leaf != nil:
		c.Type = nd.Leaf.Type
	case vector:
		c.Type = column.Type{Kind: column.Vector, Elem: nd.Children[0].Leaf.Type.Kind}
	}
	c.Len, c.Nulls, c.Dict = 0, 0, nil
	c.Values, c.Offsets = c.Values[:0], c.Offsets[:0]
	if c.Type.Kind.IsText() || c.Type.Kind.IsList() {
		c.Offsets = append(c.Offsets, 0)
	}
	if !c.Type.Kind.IsNested() {
		c.Children = nil
		return
	}
	if len(c.Children) != len(nd.Children) {
		c.Children = make([]column.Column, len(nd.Children))
	}
	for i, child := range nd.Children {
		c.Child(i).Reset(child.Field.Name, child, false)
	}
}

// GrowValidity extends Validity to all values. New bits are 1. It is called only after the first NULL.
func (c *Column) GrowValidity() {
	have := len(c.Validity)
	need := (c.Len + 7) / 8
	if need <= have {
		return
	}
	c.Validity = Grow(c.Validity, need)
	for i := have; i < need; i++ {
		c.Validity[i] = 0xff
	}
}

// AppendNulls appends n NULLs.
func (c *Column) AppendNulls(n int) {
	at := c.Len
	c.appendZeros(n)
	c.startValidity()
	c.Len += n
	c.Nulls += n
	c.GrowValidity()
	bitmap.Clear(c.Validity, at, n)
}

// startValidity creates Validity before the first NULL, with all bits 1.
func (c *Column) startValidity() {
	if c.Nulls == 0 {
		c.Validity = c.Validity[:0]
		c.GrowValidity()
	}
}

// appendZeros appends n zeros, or empty strings, without changing Len.
func (c *Column) appendZeros(n int) {
	if c.Type.Kind.IsText() && c.Dict == nil {
		at := len(c.Offsets)
		last := c.Offsets[at-1]
		c.Offsets = Grow(c.Offsets, at+n)
		for i := range n {
			c.Offsets[at+i] = last
		}
		return
	}
	at := len(c.Values)
	c.Values = GrowBytes(c.Values, at+n*c.Width())
	clear(c.Values[at:])
}

// Width returns the bytes of one row in Values, codes included.
func (c *Column) Width() int {
	if c.Type.Kind.IsText() {
		return 4
	}
	return c.Type.ValueWidth()
}

// Spread moves the last ones values, which were just appended, to the positions whose bit is 1 among n bits from
// position bit on. It sets the other values to zero, and adds n to Len.
func (c *Column) Spread(n, ones int, valid []byte, bit int) {
	from := c.Len
	c.startValidity()
	c.Len += n
	c.Nulls += n - ones
	c.GrowValidity()
	bitmap.Copy(c.Validity, from, valid, bit, n)
	if c.Type.Kind.IsText() && c.Dict == nil {
		c.Offsets = Grow(c.Offsets, from+n+1)
		spreadOffsets(c.Offsets[from:], n, ones, valid, bit)
		return
	}
	w := c.Width()
	c.Values = GrowBytes(c.Values, (from+n)*w)
	v := c.Values[from*w:]
	switch w {
	case 1:
		spread(SliceOf[uint8](v, n), ones, valid, bit)
	case 2:
		spread(SliceOf[uint16](v, n), ones, valid, bit)
	case 4:
		spread(SliceOf[uint32](v, n), ones, valid, bit)
	case 8:
		spread(SliceOf[uint64](v, n), ones, valid, bit)
	default:
		spreadWide(v, w, n, ones, valid, bit)
	}
}

// spread is the loop of builder.spread. It goes backward so that no value is overwritten. v begins with the values.
func spread[T uint8 | uint16 | uint32 | uint64](v []T, ones int, valid []byte, bit int) {
	j := ones - 1
	i := len(v) - 1
	for ; j >= 0; i-- {
		at := bit + i
		b := T(valid[at>>3] >> (at & 7) & 1)
		v[i] = v[j] & -b // without a branch: NULLs are unpredictable
		j -= int(b)
	}
	clear(v[:i+1])
}

// spreadWide is spread for values of w bytes.
func spreadWide(v []byte, w, n, ones int, valid []byte, bit int) {
	j := ones - 1
	for i := n - 1; i >= 0; i-- {
		at := bit + i
		if valid[at>>3]>>(at&7)&1 == 0 {
			clear(v[i*w : (i+1)*w])
			continue
		}
		if i != j {
			copy(v[i*w:(i+1)*w], v[j*w:(j+1)*w])
		}
		j--
	}
}

// spreadOffsets is spread for the ends of strings: offsets[0] is where the first one starts.
func spreadOffsets(offsets []int32, n, ones int, valid []byte, bit int) {
	j := ones
	for i := n - 1; i >= 0; i-- {
		at := bit + i
		offsets[i+1] = offsets[j]
		j -= int(valid[at>>3] >> (at & 7) & 1)
	}
}

// Null makes the last value, which Len already counts, a NULL.
func (c *Column) Null() {
	c.startValidity()
	c.Nulls++
	c.GrowValidity()
	c.Validity[(c.Len-1)>>3] &^= 1 << ((c.Len - 1) & 7)
}
