// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"fmt"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// The place of a Reader in a column of a row group.

// Shared is the state of a column that all readers of a scan share.
type Shared struct {
	Dim    atomic.Int64 // of a vector, 0 if not known yet
	Ragged atomic.Bool  // vectors are read as lists
	Used   atomic.Bool  // rows have been read
}

// Settings are the settings of a column of a scan.
type Settings struct {
	Name    string
	Limit   int     // bytes of a column of a batch
	Text    bool    // strings are read as text even if they are coded
	Late    bool    // the column is read after some rows of a batch have been selected
	Paged   bool    // batches end with pages of codes and of plain texts
	Vector  bool    // a list that is read as one matrix
	Inner   bool    // nested lists that are read as vectors
	Must    bool    // ragged rows are errors, never read as lists
	Parsed  bool    // text that is parsed
	Lengths bool    // the lengths of texts
	Shared  *Shared // by all readers of the scan
}

// Expected reports whether rows of the column will probably be read.
func (s *Settings) Expected() bool { return !s.Late || s.Shared.Used.Load() }

// Rows are rows of a row group: Selected of N rows from Row on, by the bits of Sel. Sel is undefined if all rows are
// selected.
type Rows struct {
	Row      int64
	Sel      []byte
	N        int
	Selected int
}

// A Cursor is the place of a Reader in a column of the current row group. It keeps memory from one row group to the
// next.
type Cursor struct {
	*Settings
	node   *footer.Node
	chunks []*chunk
	row    int64         // the next row of the chunks; less than the next row of the Reader after rows that nothing needed
	extra  column.Column // of columns that are no output as they are read

	file  *footer.File
	group int
	pages page.Options
}

// NewCursor returns a Cursor of a column.
func NewCursor(s *Settings) *Cursor { return &Cursor{Settings: s} }

// Open opens the column chunks of a row group, and returns an estimate of their bytes in memory.
func (c *Cursor) Open(f *footer.File, group int, node *footer.Node, o page.Options) (bytes int64, err error) {
	c.file, c.group, c.node, c.pages, c.row = f, group, node, o, 0
	if err := node.CheckReadable(); err != nil {
		return 0, err
	}
	leaves := node.Leaves(nil)
	for len(c.chunks) < len(leaves) {
		c.chunks = append(c.chunks, new(chunk))
	}
	c.chunks = c.chunks[:len(leaves)]
	for k, leaf := range leaves {
		n, err := c.openChunk(c.chunks[k], leaf)
		if err != nil {
			return 0, err
		}
		bytes += n
	}
	return bytes, nil
}

// openChunk opens one column chunk, and returns an estimate of its bytes in memory.
func (c *Cursor) openChunk(k *chunk, l *footer.Leaf) (bytes int64, err error) {
	rows := c.file.Groups[c.group].Rows
	meta, err := c.file.Chunk(c.group, l.Index)
	if err != nil {
		return 0, err
	}
	if meta.Path != "" {
		return 0, fmt.Errorf("%w: column chunk is in another file (%s)", failure.ErrUnsupported, meta.Path)
	}
	if l.MaxRep == 0 && meta.Values != rows {
		return 0, failure.Corrupt("column chunk has %d values for %d rows", meta.Values, rows)
	}
	p, err := page.Open(c.file, c.group, l.Index, &meta, c.pages, k.pages)
	if err != nil {
		return 0, err
	}
	k.leaf, k.limit, k.text, k.dim = l, c.Limit, c.Text, &c.Shared.Dim
	k.open(p, rows)
	values := max(meta.Values, rows)
	width := int64(max(l.Width, 4))
	if values < 0 || values > (1<<62)/width {
		return 0, failure.Corrupt("column chunk has %d values", values)
	}
	return max(meta.Uncompressed, values*width), nil
}

// Ahead requests the first bytes of the column chunks; requested means that they have been requested before.
func (c *Cursor) Ahead(requested bool) {
	for _, k := range c.chunks {
		k.pages.Ahead(requested)
	}
}

// Release ends the use of the current pages, whose memory others may use then.
func (c *Cursor) Release() {
	for _, k := range c.chunks {
		if k.pages != nil {
			k.pages.Release()
		}
	}
}

// Skip skips rows up to a row of the row group.
func (c *Cursor) Skip(row int64) error {
	for _, k := range c.chunks {
		if err := k.skip(row - c.row); err != nil {
			return err
		}
	}
	c.row = row
	return nil
}

// Extra returns memory for a column that is no output.
func (c *Cursor) Extra() *column.Column { return &c.extra }

// Raw implements Task: values are read into their column of the batch.
func (c *Cursor) Raw(dst *column.Column) *column.Column { return dst }

// ready implements Task.Ready for columns with text.
func (c *Cursor) ready(row int64, n int) (int, error) {
	if len(c.chunks) != 1 {
		return n, nil
	}
	k := c.chunks[0]
	var err error
	if c.Late {
		var skipped int64
		n, skipped, err = k.readyLate(row-c.row, n)
		c.row += skipped
	} else if err = c.Skip(row); err == nil {
		n, err = k.ready(n)
	}
	if err == nil && c.Paged {
		n = k.within(n)
	}
	return n, err
}

// reset empties a column before it is read.
func (c *Cursor) reset(dst *column.Column, vector bool) {
	if !c.Shared.Used.Load() {
		c.Shared.Used.Store(true)
	}
	(*buffer.Column)(dst).Reset(c.Name, c.node, vector)
}

// An appender appends the next n rows of a column.
type appender interface {
	appendRows(dst *buffer.Column, n int) error
}

// readRows reads rows run by run if there are few runs, otherwise all rows, and removes the others. Each run
// costs as much as a few rows.
func (c *Cursor) readRows(a appender, dst *buffer.Column, r Rows, few int) error {
	if r.Selected == r.N || buffer.CountRuns(r.Sel) > r.N/few {
		return c.readAll(a, dst, r)
	}
	return c.readRuns(a, dst, r, 0, r.N)
}

// readRuns reads the selected rows from one to another, run by run.
func (c *Cursor) readRuns(a appender, dst *buffer.Column, r Rows, first, end int) error {
	var err error
	buffer.Ones(r.Sel, end, func(from, to int) {
		if from = max(from, first); from >= to {
			return
		}
		if err == nil {
			err = c.Skip(r.Row + int64(from))
		}
		if err != nil {
			return
		}
		before := dst.Len
		c.row += int64(to - from)
		if err = a.appendRows(dst, to-from); err != nil {
			err = failure.Moved(err, func(row int) int { return from + row - before })
		}
	})
	return err
}

// readAll reads all rows, and removes those that are not selected.
func (c *Cursor) readAll(a appender, dst *buffer.Column, r Rows) error {
	if err := c.Skip(r.Row); err != nil {
		return err
	}
	c.row += int64(r.N)
	err := a.appendRows(dst, r.N)
	if err == nil && r.Selected < r.N {
		dst.Take(r.Sel, r.N, r.Selected)
	}
	return err
}
