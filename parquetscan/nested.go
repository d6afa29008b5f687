// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"io"
)

// This file reads nested columns: structs, lists and maps of anything (parquet-format, README.md, "Nested Encoding"; Melnik et al., Dremel,
// VLDB 2010). Each leaf tells, by its levels, where the lists it lies in begin and end and what of them is NULL; of several leaves in one list
// the first one is listened to, and the others must agree.

// levelBlock is how many levels are decoded at once.
const levelBlock = 4096

// A place is a Column being read, and the node it is for.
type place struct {
	node *node
	dst  *Column
}

// readNested appends n rows of a node to dst. chunks are those of the node's leaves, in order.
func readNested(dst *Column, top *node, chunks []*chunk, n int) error {
	rest, err := readNode(dst, top, nil, chunks, n)
	if err == nil && len(rest) > 0 {
		err = errors.New("parquetscan: more chunks than leaves")
	}
	if err != nil {
		return err
	}
	return checkNested(dst, n)
}

// readNode reads the leaves under one node, which lies at the end of path, and returns the chunks that are left.
func readNode(dst *Column, nd *node, path []place, chunks []*chunk, n int) ([]*chunk, error) {
	path = append(path, place{nd, dst})
	if nd.leaf != nil {
		// Places that an earlier leaf has filled are left out.
		own := path[:0:0]
		for _, p := range path {
			if p.node.first() == nd.leaf {
				own = append(own, p)
			}
		}
		return chunks[1:], chunks[0].readLeaf(own, n)
	}
	for i, child := range nd.children {
		var err error
		if chunks, err = readNode(&dst.children[i], child, path, chunks, n); err != nil {
			return nil, err
		}
	}
	return chunks, nil
}

// checkNested returns an error unless the columns within c have the lengths that c says.
func checkNested(c *Column, n int) error {
	if c.n != n {
		return corrupt("columns of one list have %d values and %d", c.n, n)
	}
	if c.Type.Kind == List || c.Type.Kind == Map {
		if n = int(c.offsets[len(c.offsets)-1]); c.offsets[0] != 0 {
			return corrupt("elements of a list that is not there")
		}
	}
	for i := range c.children {
		if err := checkNested(&c.children[i], n); err != nil {
			return err
		}
	}
	return nil
}

// readLeaf reads n rows of a leaf: its values, which belong at the last of places, and the lists and structs that it is the first leaf of.
func (c *chunk) readLeaf(places []place, n int) error {
	if int64(n) > c.rows {
		return corrupt("%d rows beyond the row group's end", n)
	}
	started, entries := 0, int64(0)
	for {
		if c.left == 0 {
			err := c.load()
			if errors.Is(err, io.EOF) && started == n {
				break
			}
			if errors.Is(err, io.EOF) {
				err = corrupt("column chunk ends %d rows too early", n-started)
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
		if entries*int64(max(4, c.leaf.width)) > int64(c.limit) {
			return &rowError{started - 1, fmt.Errorf("%w: more than %d bytes in a batch", ErrTooLarge, c.limit)}
		}
		for _, p := range places[:len(places)-1] {
			p.structure(reps, defs)
		}
		filled := leaf.dst.n
		if err := c.slots(leaf, defs); err != nil {
			return moved(err, func(value int) int { return before - 1 + rowOf(reps, defs, leaf.node.above, value-filled) })
		}
		c.left -= len(reps)
	}
	c.rows -= int64(n)
	return nil
}

// levelsOfRows returns the next levels of the page, at most levelBlock and none of what follows row n; started counts the rows that have begun.
func (c *chunk) levelsOfRows(started *int, n int) (reps, defs []uint32, err error) {
	k := min(c.left, levelBlock)
	c.repBuf, c.defBuf = grow(c.repBuf[:0], k), grow(c.defBuf[:0], k)
	if c.leaf.maxRep == 0 {
		k = min(k, n-*started)
		*started += k
		clear(c.repBuf[:k])
		return c.repBuf[:k], c.defBuf[:k], c.def.decode(c.defBuf[:k])
	}
	before := c.rep
	if err := c.rep.decode(c.repBuf); err != nil {
		return nil, nil, err
	}
	if *started == 0 && c.repBuf[0] != 0 {
		return nil, nil, corrupt("row without a beginning")
	}
	for i, r := range c.repBuf {
		if int(r) > c.leaf.maxRep {
			return nil, nil, corrupt("level of repetition %d of at most %d", r, c.leaf.maxRep)
		}
		if r != 0 {
			continue
		}
		if *started == n {
			k = i
			c.rep = before
			if err := c.rep.skip(k); err != nil {
				return nil, nil, err
			}
			break
		}
		*started++
	}
	return c.repBuf[:k], c.defBuf[:k], c.def.decode(c.defBuf[:k])
}

// structure appends what levels say about a struct, or about a list or map and where it ends.
func (p place) structure(reps, defs []uint32) {
	nd, dst := p.node, p.dst
	rep, above, there := uint32(nd.rep), uint32(nd.above), uint32(nd.def)
	list := nd.field.Type.Kind != Struct
	elements := int32(0)
	if list {
		elements = dst.offsets[dst.n]
	}
	for i, r := range reps {
		d := defs[i]
		if r <= rep && d >= above {
			if list {
				dst.offsets[dst.n] = elements
				dst.offsets = append(dst.offsets, elements)
			}
			dst.n++
			if d < there {
				dst.null()
			} else if dst.nulls > 0 {
				dst.growValidity()
			}
		}
		if list && r <= rep+1 && d > there {
			elements++
		}
	}
	if list {
		dst.offsets[dst.n] = elements
	}
}

// null makes the last value, which was just counted, a NULL.
func (c *Column) null() {
	c.startValidity()
	c.nulls++
	c.growValidity()
	c.validity[(c.n-1)>>3] &^= 1 << ((c.n - 1) & 7)
}

// rowOf returns how many rows begin up to slot i of some levels: one that levels of definition from above on stand for.
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

// slots appends the values of a leaf that levels of definition say are there, and NULLs.
func (c *chunk) slots(p place, defs []uint32) error {
	var bitmap [levelBlock / 8]byte
	n := 0
	most := uint32(c.leaf.maxDef)
	for _, d := range defs {
		if int(d) < p.node.above {
			continue // nothing is here, not even a NULL
		}
		if d > most {
			return corrupt("level of definition %d of at most %d", d, most)
		}
		if d == most {
			bitmap[n>>3] |= 1 << (n & 7)
		}
		n++
	}
	return c.spaced(p.dst, n, bitmap[:], 0)
}
