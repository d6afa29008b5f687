// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"errors"
	"fmt"
	"io"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Nested columns: structs, lists and maps of anything (parquet-format, README.md, "Nested Encoding"; Melnik et al.,
// Dremel, VLDB 2010). The levels of a leaf encode where the lists around it begin and end, and which parts are NULL.
// The first leaf of a list decides, and its other leaves must agree.

// A nested reads columns of structs, lists and maps.
type nested struct{ *Cursor }

// Ready implements Task.
func (c nested) Ready(row int64, n int) (int, error) { return c.ready(row, n) }

// Read implements Task: all rows, and removes the others.
func (c nested) Read(dst *column.Column, r Rows) error {
	c.reset(dst, false)
	return c.readAll(c, (*buffer.Column)(dst), r)
}

// Finish implements Task.
func (c nested) Finish(dst *column.Column, read bool, r Rows) error {
	return finish(c, c.Cursor, dst, read, r)
}

// appendRows implements appender.
func (c nested) appendRows(dst *buffer.Column, n int) error {
	return readNested(dst, c.node, c.chunks, n)
}

// View implements Task.
func (c nested) View(int64, int) (View, error) { return View{}, nil }

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
	var bitmap [LevelBlock / 8]byte
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
