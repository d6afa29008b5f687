// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"errors"
	"io"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/input"
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

	current groupReader
	piece   predicate.Range // the rows of the part

	following *Bucket                 // likely to be read after this one; nil means none
	done      func(rows, bytes int64) // called after each row group
	at        int                     // of file among the dataset's
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
	r.current.start(s)
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
		if err != nil && !errors.Is(err, io.EOF) && r.current.file != nil {
			if cut := r.current.file.CheckSize(); cut != nil {
				err = r.current.locate(-1, cut)
			}
		}
		r.err = err
	}()
	if d.files[0].Mapped != nil {
		defer input.CatchFaults()()
		defer func() {
			if p := recover(); p != nil {
				err = r.current.locate(-1, input.FaultError(p))
			}
		}()
	}
	for b.Rows == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.current.file == nil {
			if err := r.nextGroup(); err != nil {
				r.current.release()
				return err
			}
		}
		if len(r.current.ranges) == 0 {
			if err := r.current.file.CheckSize(); err != nil {
				return err // located above
			}
			if r.done != nil {
				bytes, rows := r.scan.compressed(r.at, r.current.number), r.current.file.Groups[r.current.number].Rows
				r.done(r.piece.To-r.piece.From, share(bytes, r.piece.To, rows)-share(bytes, r.piece.From, rows))
			}
			r.current.file = nil
			continue
		}
		if err := r.current.read(b); err != nil {
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
	r.at = r.files[0]
	f := r.scan.ds.files[r.at]
	group := r.group
	r.group++
	r.piece = predicate.Range{From: 0, To: f.Groups[group].Rows}
	if p := &r.parts[0]; p.To != 0 {
		r.piece = predicate.Range{From: p.From, To: p.To}
	}
	if err := r.current.open(r.at, group, r.piece); err != nil {
		return err
	}
	if len(r.current.ranges) > 0 {
		r.requestAhead(r.at)
	}
	return nil
}

// requestAhead requests the start of the column chunks of the current row group, and of the row group that is likely to
// be next. It leaves out columns whose rows have never been selected so far.
func (r *Reader) requestAhead(at int) {
	if r.current.file.Mapped == nil {
		return
	}
	before := r.scan.requested[at][r.current.number].Load()
	for i := range r.current.columns {
		if c := r.current.columns[i].cursor; c.Expected() {
			c.Ahead(before && !c.Late) // late columns may be missing in the first request
		}
	}
	switch {
	case r.group < r.parts[0].End:
		r.scan.requestGroup(at, r.group)
	case len(r.parts) > 1:
		r.scan.requestGroup(r.files[1], r.parts[1].First)
	case r.following != nil && len(r.following.Parts) > 0:
		r.scan.requestGroup(r.scan.byName[r.following.Parts[0].File], r.following.Parts[0].First)
	}
}
