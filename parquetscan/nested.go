// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"io"

	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Nested columns: structs, lists and maps of anything (parquet-format, README.md, "Nested Encoding"; Melnik et al.,
// Dremel, VLDB 2010). The levels of a leaf encode where the lists around it begin and end, and which parts are NULL.
// The first leaf of a list decides, and its other leaves must agree.

// levelBlock is how many levels are decoded at once.
const levelBlock = 4096

// A place is a Column being read, and its node.
type place struct {
	node *footer.Node
	dst  *buffer.Column
}

// readNested appends n rows of a node to dst. chunks are the chunks of the node's leaves, in order.
func readNested(dst *buffer.Column, top *footer.Node, chunks []*chunk, n int) error {
	rest, err := readNode(dst, top, nil, chunks, n)
	if err == nil && len(rest) > 0 {
		err = errors.New("parquetscan: more chunks than leaves")
	}
	if err != nil {
		return err
	}
	return checkNested(dst, n)
}

// readNode reads the leaves under one node, the last of path, and returns the remaining chunks.
func readNode(dst *buffer.Column, nd *footer.Node, path []place, chunks []*chunk, n int) ([]*chunk, error) {
	path = append(path, place{nd, dst})
	if nd.Leaf != nil {
		// Skip places that an earlier leaf has filled.
		own := path[:0:0]
		for _, p := range path {
			if p.node.First() == nd.Leaf {
				own = append(own, p)
			}
		}
		return chunks[1:], chunks[0].readLeaf(own, n)
	}
	for i, child := range nd.Children {
		var err error
		if chunks, err = readNode(dst.Child(i), child, path, chunks, n); err != nil {
			return nil, err
		}
	}
	return chunks, nil
}

// checkNested returns an error unless the columns within c have the lengths that c implies.
func checkNested(c *buffer.Column, n int) error {
	if c.Len != n {
		return failure.Corrupt("columns of one list have %d and %d values", c.Len, n)
	}
	if c.Type.Kind.IsList() {
		if n = int(c.Offsets[len(c.Offsets)-1]); c.Offsets[0] != 0 {
			return failure.Corrupt("elements of a list that is NULL")
		}
	}
	for i := range c.Children {
		if err := checkNested(c.Child(i), n); err != nil {
			return err
		}
	}
	return nil
}

// readLeaf reads n rows of a leaf: its values, into the last of places, and the lists and structs whose first leaf it
// is.
func (c *chunk) readLeaf(places []place, n int) error {
	if int64(n) > c.rows {
		return failure.Corrupt("%d rows beyond the row group's end", n)
	}
	started, entries := 0, int64(0)
	for {
		if c.left == 0 {
			err := c.load()
			if errors.Is(err, io.EOF) && started == n {
				break
			}
			if errors.Is(err, io.EOF) {
				err = failure.Corrupt("column chunk ends %d rows too early", n-started)
			}
			if err != nil {
				return err
			}
		}
		before, leaf := started, places[len(places)-1]
		reps, defs, err := c.levelsOfRows(&started, n)
		if err != nil {
			return err
		}
		if len(reps) == 0 {
			break
		}
		entries += int64(len(reps))
		if entries*int64(max(4, c.leaf.Width)) > int64(c.limit) {
			return failure.AtRow(started-1, fmt.Errorf("%w: more than %d bytes in a batch", failure.ErrTooLarge, c.limit))
		}
		for _, p := range places[:len(places)-1] {
			p.structure(reps, defs)
		}
		filled := leaf.dst.Len
		if err := c.slots(leaf, defs); err != nil {
			return failure.Moved(err, func(value int) int {
				return before - 1 + rowOf(reps, defs, leaf.node.Above, value-filled)
			})
		}
		c.left -= len(reps)
	}
	c.rows -= int64(n)
	return nil
}

// levelsOfRows returns the next levels of the page, at most levelBlock and none after row n; started counts the rows
// that have begun.
func (c *chunk) levelsOfRows(started *int, n int) (reps, defs []uint32, err error) {
	k := min(c.left, levelBlock)
	c.repBuf, c.defBuf = buffer.Grow(c.repBuf[:0], k), buffer.Grow(c.defBuf[:0], k)
	if c.leaf.MaxRep == 0 {
		k = min(k, n-*started)
		*started += k
		clear(c.repBuf[:k])
		return c.repBuf[:k], c.defBuf[:k], c.def.Decode(c.defBuf[:k])
	}
	before := c.rep
	if err := c.rep.Decode(c.repBuf); err != nil {
		return nil, nil, err
	}
	if *started == 0 && c.repBuf[0] != 0 {
		return nil, nil, failure.Corrupt("page begins within a row")
	}
	for i, r := range c.repBuf {
		if int(r) > c.leaf.MaxRep {
			return nil, nil, failure.Corrupt("repetition level %d, want at most %d", r, c.leaf.MaxRep)
		}
		if r != 0 {
			continue
		}
		if *started == n {
			k = i
			c.rep = before
			if err := c.rep.Skip(k); err != nil {
				return nil, nil, err
			}
			break
		}
		*started++
	}
	return c.repBuf[:k], c.defBuf[:k], c.def.Decode(c.defBuf[:k])
}

// structure appends the validity of a struct, or the validity and offsets of a list or map, from levels.
func (p place) structure(reps, defs []uint32) {
	nd, dst := p.node, p.dst
	rep, above, there := uint32(nd.Rep), uint32(nd.Above), uint32(nd.Def)
	list := nd.Field.Type.Kind.IsList()
	elements := int32(0)
	if list {
		elements = dst.Offsets[dst.Len]
	}
	for i, r := range reps {
		d := defs[i]
		if r <= rep && d >= above {
			if list {
				dst.Offsets[dst.Len] = elements
				dst.Offsets = append(dst.Offsets, elements)
			}
			dst.Len++
			if d < there {
				dst.Null()
			} else if dst.Nulls > 0 {
				dst.GrowValidity()
			}
		}
		if list && r <= rep+1 && d > there {
			elements++
		}
	}
	if list {
		dst.Offsets[dst.Len] = elements
	}
}

// rowOf returns the number of rows that begin up to slot i, where slots are the levels with a definition level of at
// least above.
func rowOf(reps, defs []uint32, above, i int) int {
	rows := 0
	for k, r := range reps {
		if r == 0 {
			rows++
		}
		if int(defs[k]) >= above {
			if i == 0 {
				break
			}
			i--
		}
	}
	return rows
}

// slots appends the values and NULLs of a leaf according to definition levels.
func (c *chunk) slots(p place, defs []uint32) error {
	var bitmap [levelBlock / 8]byte
	n := 0
	most := uint32(c.leaf.MaxDef)
	for _, d := range defs {
		if int(d) < p.node.Above {
			continue // neither a value nor a NULL
		}
		if d > most {
			return failure.Corrupt("definition level %d, want at most %d", d, most)
		}
		if d == most {
			bitmap[n>>3] |= 1 << (n & 7)
		}
		n++
	}
	return c.spaced(p.dst, n, bitmap[:], 0)
}
