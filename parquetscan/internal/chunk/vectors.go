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

// Lists of one length, read as one matrix. Their levels are stored in long runs, so that a row of any length is checked
// in two or three steps.

// A vectors reads lists of one length as one matrix, until a row does not fit; then it reads lists.
type vectors struct{ *Cursor }

// Ready implements Task: a batch may have any rows.
func (c vectors) Ready(row int64, n int) (int, error) { return flat(c).Ready(row, n) }

// Read implements Task.
func (c vectors) Read(dst *column.Column, r Rows) error {
	if !c.Shared.Ragged.Load() {
		c.reset(dst, true)
		err := c.readRows(c, (*buffer.Column)(dst), r, 2)
		if c.Must || !errors.Is(err, failure.ErrRagged) {
			return err
		}
		// The rows fit a list. Rows up to this one are already read from the column chunk.
		if err := c.fallBack(); err != nil {
			return err
		}
	}
	return nested(c).Read(dst, r)
}

// fallBack turns the column into lists, for all readers of the scan, and opens the column chunk again.
func (c vectors) fallBack() error {
	c.Shared.Ragged.Store(true)
	c.row = 0
	_, err := c.openChunk(c.chunks[0], c.chunks[0].leaf)
	return err
}

// Finish implements Task.
func (c vectors) Finish(dst *column.Column, read bool, r Rows) error {
	return finish(c, c.Cursor, dst, read, r)
}

// appendRows implements appender.
func (c vectors) appendRows(dst *buffer.Column, n int) error {
	return c.chunks[0].readVectors(dst, c.node, n)
}

// View implements Task.
func (c vectors) View(int64, int) (View, error) { return View{}, nil }

// readVectors appends n rows of the list node to dst, a Vector.
func (c *chunk) readVectors(dst *buffer.Column, list *footer.Node, n int) error {
	if int64(n) > c.rows {
		return failure.Corrupt("%d rows beyond the row group's end", n)
	}
	r := vectorReader{chunk: c, dst: dst, list: list, first: dst.Len}
	if dst.Len == 0 {
		dst.Type.Dim = int(c.dim.Load())
	}
	if dst.Type.Dim == 0 {
		r.nulls = dst.Len
	}
	for end := dst.Len + n; dst.Len < end; {
		if err := r.row(); err != nil {
			return failure.AtRow(dst.Len, err)
		}
	}
	if err := r.flush(); err != nil {
		return failure.AtRow(dst.Len-1, err)
	}
	c.rows -= int64(n)
	return nil
}

// A vectorReader is the state of one call of readVectors.
type vectorReader struct {
	*chunk
	dst     *buffer.Column
	list    *footer.Node
	pending int // elements of the current page that are counted but not decoded
	first   int // rows of dst before the call
	nulls   int // rows that are NULL at the start of dst, whose dimension is not known
}

// flush decodes the pending elements.
func (r *vectorReader) flush() error {
	n := r.pending
	r.pending = 0
	return r.values.Append(r.dst, n)
}

// more loads a page if no level is left; it returns io.EOF at the chunk's end.
func (r *vectorReader) more() error {
	if r.left > 0 {
		return nil
	}
	if err := r.flush(); err != nil {
		return err
	}
	return r.load()
}

// row reads one row.
func (r *vectorReader) row() error {
	if err := r.more(); err != nil {
		if errors.Is(err, io.EOF) {
			err = failure.Corrupt("column chunk ends %d rows too early", r.chunk.rows-int64(r.dst.Len-r.first))
		}
		return err
	}
	if zero, err := r.rep.Same(0, 1); err != nil || zero != 1 {
		return errors.Join(err, failure.Corrupt("page begins within a row"))
	}
	var def [1]uint32
	if err := r.def.Decode(def[:]); err != nil {
		return err
	}
	r.left--
	if int(def[0]) != r.leaf.MaxDef {
		return r.missing(int(def[0]))
	}
	length := 1
	r.pending++
	for {
		most := r.left
		if r.dst.Type.Dim > 0 {
			most = min(most, r.dst.Type.Dim-length)
		}
		k, err := r.rep.Same(1, most)
		if err != nil {
			return err
		}
		there, err := r.def.Same(uint32(r.leaf.MaxDef), k)
		if err != nil {
			return err
		}
		if there != k {
			if err := r.def.Decode(def[:]); err != nil {
				return err
			}
			if int(def[0]) > r.leaf.MaxDef {
				return badLevel(int(def[0]), r.leaf.MaxDef)
			}
			return fmt.Errorf("%w: element %d is NULL", failure.ErrRagged, length+there)
		}
		length += k
		r.left -= k
		r.pending += k
		if r.left > 0 && (k < most || length == r.dst.Type.Dim) {
			break
		}
		if r.left > 0 {
			continue
		}
		if err := r.more(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	if err := r.setDim(length); err != nil {
		return err
	}
	// The next level, if there is one, must begin a row.
	if r.left > 0 {
		if k, err := r.rep.Peek(1); err != nil || k {
			return errors.Join(err, fmt.Errorf("%w: more than %d elements", failure.ErrRagged, length))
		}
	}
	r.dst.Len++
	if r.dst.Nulls > 0 {
		r.dst.GrowValidity()
	}
	return nil
}

// badLevel returns the error for a definition level beyond the schema.
func badLevel(level, most int) error {
	return failure.Corrupt("definition level %d, want at most %d", level, most)
}

// missing appends a row without elements, which must be NULL.
func (r *vectorReader) missing(def int) error {
	switch {
	case def > r.leaf.MaxDef:
		return badLevel(def, r.leaf.MaxDef)
	case def > r.list.Def:
		return fmt.Errorf("%w: element 0 is NULL", failure.ErrRagged)
	case def == r.list.Def:
		return fmt.Errorf("%w: an empty list", failure.ErrRagged)
	}
	if r.left > 0 {
		if k, err := r.rep.Peek(1); err != nil || k {
			return errors.Join(err, failure.Corrupt("elements of a list that is NULL"))
		}
	}
	if err := r.flush(); err != nil {
		return err
	}
	if r.dst.Type.Dim == 0 {
		r.nulls++
	}
	if int64(len(r.dst.Values))+int64(r.dst.Width()) > int64(r.limit) {
		return fmt.Errorf("%w: more than %d bytes in a batch", failure.ErrTooLarge, r.limit)
	}
	r.dst.AppendNulls(1)
	return nil
}

// setDim checks the length of a row, or sets the dimension to it.
func (r *vectorReader) setDim(length int) error {
	if r.dst.Type.Dim == length {
		return nil
	}
	if r.dst.Type.Dim == 0 {
		r.dim.CompareAndSwap(0, int64(length))
		r.dst.Type.Dim = int(r.dim.Load())
	}
	if r.dst.Type.Dim != length {
		return fmt.Errorf("%w: %d elements instead of %d", failure.ErrRagged, length, r.dst.Type.Dim)
	}
	if r.nulls == 0 {
		return nil
	}
	// Earlier rows had no dimension. Part of this row may already be decoded.
	before := int64(r.nulls) * int64(length) * int64(r.leaf.Width)
	if before+int64(len(r.dst.Values)) > int64(r.limit) {
		return fmt.Errorf("%w: more than %d bytes in a batch", failure.ErrTooLarge, r.limit)
	}
	have := len(r.dst.Values)
	r.dst.Values = buffer.GrowBytes(r.dst.Values, have+int(before))
	copy(r.dst.Values[before:], r.dst.Values[:have])
	clear(r.dst.Values[:before])
	r.nulls = 0
	return nil
}
