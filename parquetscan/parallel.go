// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/vecql/vecql/column"
)

// Reading many buckets at once.

// Batches returns the rows of all files in their order, in fresh batches, as an iterator. columns are the names of the
// columns that are read; none means all. It is short for [Scan.All] of a Scan with Options.Ordered: several goroutines
// read ahead, and end before the loop does. An error ends the iteration.
func (d *Dataset) Batches(ctx context.Context, columns ...string) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		o := Options{Ordered: true}
		if len(columns) > 0 {
			o.Columns = columns
		}
		s, err := d.Scan(o)
		if err != nil {
			yield(nil, err)
			return
		}
		s.All(ctx)(yield)
	}
}

// Batches returns the rows of a bucket, in fresh batches, as an iterator. An error ends the iteration.
func (s *Scan) Batches(ctx context.Context, b Bucket) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		r, err := s.Reader(b)
		for err == nil {
			batch := new(column.Batch)
			if err = r.ReadInto(ctx, batch); err == nil && !yield(batch, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, err)
		}
	}
}

// A work is the state that the workers of one call share.
type work struct {
	scan    *Scan
	buckets []Bucket
	next    atomic.Int64

	mu       sync.Mutex
	progress Progress
}

// newWork returns the work on some buckets; nil means all row groups.
func (s *Scan) newWork(buckets []Bucket) *work {
	if buckets == nil {
		buckets = s.plan() // small units let workers end at about the same time
	}
	w := &work{scan: s, buckets: buckets}
	if s.o.Progress != nil {
		w.progress.TotalBuckets = len(buckets)
		for _, b := range buckets {
			w.progress.TotalRows += b.Rows
			w.progress.TotalBytes += b.Bytes
		}
	}
	return w
}

// take returns the number of the next bucket that no worker has taken, and false if there is none.
func (w *work) take() (int, bool) {
	i := int(w.next.Add(1)) - 1
	return i, i < len(w.buckets)
}

// report adds to the progress and calls Options.Progress.
func (w *work) report(rows, bytes int64, buckets int) {
	if w.scan.o.Progress == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress.Rows += rows
	w.progress.Bytes += bytes
	w.progress.Buckets += buckets
	w.scan.o.Progress(w.progress)
}

// reader returns a Reader of bucket i that reports its progress.
func (w *work) reader(i int) (*Reader, error) {
	r, err := w.scan.Reader(w.buckets[i])
	if err != nil {
		return nil, err
	}
	if next := i + w.scan.o.Workers; next < len(w.buckets) {
		r.following = &w.buckets[next]
	}
	if w.scan.o.Progress != nil {
		r.done = func(rows, bytes int64) { w.report(rows, bytes, 0) }
	}
	return r, nil
}

// Borrow reads buckets on [Options].Workers goroutines and calls f for each batch. A nil slice means all row groups, an
// empty slice none. The goroutines call f concurrently; worker is the index of the goroutine, from 0. The batch is
// borrowed: its memory is used again after f returns. The first error, of reading or of f, ends the scan and is
// returned. When Borrow returns, its goroutines have ended.
func (s *Scan) Borrow(ctx context.Context, buckets []Bucket, f func(worker int, b *column.Batch) error) error {
	w := s.newWork(buckets)
	g, ctx := errgroup.WithContext(ctx)
	for worker := range min(s.o.Workers, len(w.buckets)) {
		g.Go(func() error {
			var batch column.Batch
			var old *Reader
			for {
				i, ok := w.take()
				if !ok {
					return nil
				}
				r, err := w.reader(i)
				if err != nil {
					return err
				}
				old = r.reuse(old)
				for {
					if err := r.ReadInto(ctx, &batch); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						return err
					}
					if err := f(worker, &batch); err != nil {
						return err
					}
				}
				w.report(0, 0, 1)
			}
		})
	}
	return g.Wait()
}

// reuse takes over the memory of a Reader of the same Scan that is done, and returns r.
func (r *Reader) reuse(old *Reader) *Reader {
	if old != nil {
		r.current.reuse(&old.current)
	}
	return r
}

// ahead is how many batches of a worker may wait for the consumer of All.
const ahead = 2

// All returns the rows of buckets, in fresh batches, as an iterator: with Options.Ordered in the order of the buckets,
// otherwise in any order. nil means all row groups, an empty slice none. [Options].Workers goroutines read ahead, at
// most three batches each, six with Ordered. An error ends the iteration. When the loop ends, the goroutines have
// ended.
func (s *Scan) All(ctx context.Context, buckets ...Bucket) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w := s.newWork(buckets)
		workers := min(s.o.Workers, len(w.buckets))
		var queues []chan *column.Batch // by bucket, modulo their number; a single one without Ordered
		started := make(chan struct{}, 2*workers)
		if s.o.Ordered {
			// As many buckets may be in progress, so each has a queue of its own.
			queues = make([]chan *column.Batch, 2*workers)
			for i := range queues {
				queues[i] = make(chan *column.Batch, ahead)
			}
		} else {
			queues = []chan *column.Batch{make(chan *column.Batch, ahead*workers)}
		}
		// The workers' context ends with the last worker, when batches may still be queued; ctx ends only with an
		// error.
		g, working := errgroup.WithContext(ctx)
		for range workers {
			g.Go(func() error {
				for {
					if s.o.Ordered {
						select {
						case started <- struct{}{}: // received when the bucket was yielded
						case <-working.Done():
							return working.Err()
						}
					}
					i, ok := w.take()
					if !ok {
						return nil
					}
					if err := w.send(working, i, queues[i%len(queues)]); err != nil {
						return err
					}
				}
			})
		}
		failed := make(chan error, 1)
		go func() {
			err := g.Wait()
			if !s.o.Ordered {
				close(queues[0])
			}
			if err != nil {
				cancel()
			}
			failed <- err
		}()
		given := true
		var ended error
		if s.o.Ordered {
			given, ended = giveOrdered(ctx, queues, started, len(w.buckets), yield)
		} else {
			for b := range queues[0] {
				if given = yield(b, nil); !given {
					break
				}
			}
		}
		if !given {
			cancel()
		}
		err := <-failed
		if err == nil {
			err = ended
		}
		if given && err != nil {
			yield(nil, err)
		}
	}
}

// send reads bucket i into a queue, and with Ordered ends it with nil.
func (w *work) send(ctx context.Context, i int, queue chan<- *column.Batch) error {
	r, err := w.reader(i)
	if err != nil {
		return err
	}
	for {
		b := new(column.Batch)
		err := r.ReadInto(ctx, b)
		if errors.Is(err, io.EOF) {
			w.report(0, 0, 1)
			if !w.scan.o.Ordered {
				return nil
			}
			b = nil
		} else if err != nil {
			return err
		}
		select {
		case queue <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
		if b == nil {
			return nil
		}
	}
}

// giveOrdered yields batches in the order of the buckets. It returns false if the loop was left, and an error if ctx
// ended before the last batch.
func giveOrdered(ctx context.Context, queues []chan *column.Batch, started <-chan struct{}, buckets int,
	yield func(*column.Batch, error) bool,
) (bool, error) {
	for i := range buckets {
		for {
			var b *column.Batch
			select {
			case b = <-queues[i%len(queues)]:
			case <-ctx.Done():
				return true, ctx.Err() // unless a worker returned another error
			}
			if b == nil {
				break
			}
			if !yield(b, nil) {
				return false, nil
			}
		}
		<-started
	}
	return true, nil
}

// Count returns the number of rows in buckets; nil means all row groups, an empty slice none. Without a filter it
// returns the number of the footers and reads nothing.
func (s *Scan) Count(ctx context.Context, buckets ...Bucket) (int64, error) {
	if s.pred == nil && s.o.Selector == nil {
		if buckets == nil {
			return s.ds.rows, nil
		}
		rows := int64(0)
		for _, b := range buckets {
			if _, err := s.check(b); err != nil {
				return 0, err
			}
			for _, p := range b.Parts {
				rows += p.Rows
			}
		}
		return rows, nil
	}
	o := s.o // the columns of filter and selector alone
	o.Columns, o.Positions, o.Lists, o.Vectors, o.Lengths, o.RowNumbers = []string{}, nil, nil, nil, nil, ""
	only, err := s.ds.Scan(o)
	if err != nil {
		return 0, err
	}
	var rows atomic.Int64
	err = only.Borrow(ctx, buckets, func(_ int, b *column.Batch) error {
		rows.Add(int64(b.Rows))
		return nil
	})
	return rows.Load(), err
}
