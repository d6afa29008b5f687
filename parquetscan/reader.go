// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/input"
	"github.com/vecql/vecql/parquetscan/internal/page"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// Reading a bucket, batch by batch.

// A Reader reads the rows of one Bucket. It is not safe for concurrent use.
type Reader struct {
	scan  *Scan
	parts []Part
	files []int // of parts
	group int   // the next row group of parts[0]
	err   error // the error that ended the Reader

	// The current row group.
	file    *dataFile
	number  int
	piece   predicate.Range   // the rows of the part
	ranges  []predicate.Range // rows to read, in order
	row     int64
	rows    int // of a batch
	columns []columnReader
	eval    *tester
	narrow  *tester // of the scan's narrowing; nil means none yet
	got     []bool  // the columns of a batch that are read
	sel     []byte  // the selected rows of a batch, a bit each
	// Of the selector: the function, its batch, the positions in it that it kept, and a bit for each of its rows.
	selector func(b *column.Batch, rows []int32) ([]int32, error)
	view     column.Batch
	kept     []int32
	some     []byte

	following *Bucket                 // likely to be read after this one; nil means none
	done      func(rows, bytes int64) // called after each row group
	at        int                     // of file among the dataset's
}

// A columnReader reads one column of the current row group.
type columnReader struct {
	node   *footer.Node
	vector bool // read as one matrix
	state  *columnState
	chunks []*chunk
	row    int64         // the next row of the chunks; it is less than Reader.row after rows that nothing needed
	extra  column.Column // of columns that only the filter needs
}

// Reader returns a Reader of a bucket, which may come from another process. It returns an error if the bucket's files
// are not open, or have changed (ErrChanged).
func (s *Scan) Reader(b Bucket) (*Reader, error) {
	files, err := s.check(b)
	if err != nil {
		return nil, err
	}
	r := &Reader{scan: s, parts: b.Parts, files: files}
	if len(b.Parts) > 0 {
		r.group = b.Parts[0].First
	}
	if s.pred != nil {
		r.eval = newTester(s.pred)
	}
	r.columns = make([]columnReader, len(s.columns))
	for i := range r.columns {
		r.columns[i].state = &s.states[i]
	}
	r.got = make([]bool, len(s.columns))
	return r, nil
}

// ReadInto reads the next rows into b, which is the zero Batch or one that an earlier ReadInto filled: its memory is
// used again. After the last row it returns io.EOF and no rows. Any other error ends the Reader, and later calls return
// it again, except for the error of a ctx that was done before the call.
func (r *Reader) ReadInto(ctx context.Context, b *column.Batch) (err error) {
	b.Rows = 0
	if r.err != nil {
		return r.err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	d := r.scan.ds
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return ErrClosed
	}
	defer func() {
		if err != nil && !errors.Is(err, io.EOF) && r.file != nil {
			if cut := r.file.CheckSize(); cut != nil {
				err = r.locate(-1, cut)
			}
		}
		r.err = err
	}()
	if d.files[0].Mapped != nil {
		defer input.CatchFaults()()
		defer func() {
			if p := recover(); p != nil {
				err = r.locate(-1, input.FaultError(p))
			}
		}()
	}
	for b.Rows == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.file == nil {
			if err := r.nextGroup(); err != nil {
				return err
			}
		}
		if len(r.ranges) == 0 {
			if err := r.file.CheckSize(); err != nil {
				return err // located above
			}
			if r.done != nil {
				bytes, rows := r.scan.compressed(r.at, r.number), r.file.Groups[r.number].Rows
				r.done(r.piece.To-r.piece.From, share(bytes, r.piece.To, rows)-share(bytes, r.piece.From, rows))
			}
			r.file = nil
			continue
		}
		if err := r.read(b); err != nil {
			return err
		}
	}
	return nil
}

// nextGroup opens the next row group, or returns io.EOF.
func (r *Reader) nextGroup() error {
	for len(r.parts) > 0 && r.group >= r.parts[0].End {
		r.parts, r.files = r.parts[1:], r.files[1:]
		if len(r.parts) > 0 {
			r.group = r.parts[0].First
		}
	}
	if len(r.parts) == 0 {
		return io.EOF
	}
	at := r.files[0]
	r.at = at
	r.file, r.number, r.row = r.scan.ds.files[at], r.group, 0
	r.group++
	rows := r.file.Groups[r.number].Rows
	r.piece = predicate.Range{From: 0, To: rows}
	if p := &r.parts[0]; p.To != 0 {
		r.piece = predicate.Range{From: p.From, To: p.To}
	}
	r.ranges = predicate.AddRange(r.ranges[:0], r.piece)
	if r.scan.pred != nil {
		r.ranges = predicate.IntersectRanges(r.ranges, r.scan.pred.Prune(&r.file.File, r.number, r.file.LeafOf))
	}
	if w := r.scan.narrowing.Load(); w != nil && len(r.ranges) > 0 {
		r.ranges = predicate.IntersectRanges(r.ranges, w.pred.Prune(&r.file.File, r.number, r.file.LeafOf))
	}
	if len(r.ranges) == 0 {
		return nil
	}
	return r.openGroup(at, rows)
}

// openGroup opens the column chunks of the current row group, and sets the rows of its batches.
func (r *Reader) openGroup(at int, rows int64) error {
	total := int64(0)
	for i := range r.columns {
		c := &r.columns[i]
		c.node, c.row = r.scan.nodes[at][i], 0
		if err := c.node.CheckReadable(); err != nil {
			return r.locate(i, err)
		}
		leaves := c.node.Leaves(nil)
		for len(c.chunks) < len(leaves) {
			c.chunks = append(c.chunks, new(chunk))
		}
		c.chunks = c.chunks[:len(leaves)]
		for k, leaf := range leaves {
			bytes, err := r.openChunk(c.chunks[k], c, leaf, rows)
			if err != nil {
				return r.locate(i, err)
			}
			total += bytes
		}
	}
	r.requestAhead(at)
	r.rows = max(1, int(min(int64(r.scan.o.BatchRows), int64(r.scan.o.BatchBytes)/max(1, total/rows))))
	return nil
}

// openChunk opens one column chunk, and returns an estimate of its bytes in memory.
func (r *Reader) openChunk(c *chunk, column *columnReader, l *footer.Leaf, rows int64) (bytes int64, err error) {
	meta, err := r.file.Chunk(r.number, l.Index)
	if err != nil {
		return 0, err
	}
	if meta.Path != "" {
		return 0, fmt.Errorf("%w: column chunk is in another file (%s)", ErrUnsupported, meta.Path)
	}
	if l.MaxRep == 0 && meta.Values != rows {
		return 0, failure.Corrupt("column chunk has %d values for %d rows", meta.Values, rows)
	}
	c.leaf, c.limit, c.text, c.dim = l, r.scan.o.MaxBatchBytes, r.scan.o.Text, &column.state.dim
	cfg := &r.scan.ds.cfg
	o := page.Options{Limit: c.limit, ReadBytes: cfg.ReadBytes, Verify: !cfg.NoChecksums}
	p, err := page.Open(&r.file.File, r.number, l.Index, &meta, o, c.pages)
	if err != nil {
		return 0, err
	}
	c.open(p, rows)
	values := max(meta.Values, rows)
	width := int64(max(l.Width, 4))
	if values < 0 || values > (1<<62)/width {
		return 0, failure.Corrupt("column chunk has %d values", values)
	}
	return max(meta.Uncompressed, values*width), nil
}

// locate wraps an error in an Error with its location.
func (r *Reader) locate(column int, err error) error {
	e := &Error{RowGroup: r.number, Row: -1, Err: err}
	if r.file != nil {
		e.File = r.file.src.Name
	}
	if column >= 0 {
		e.Column = r.scan.columns[column].name
	}
	var row *failure.RowError
	if errors.As(err, &row) {
		e.Row, e.Err = r.row+int64(row.Row), row.Err
	}
	return e
}
