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
)

// This file reads many buckets at once.

// Batches gives the rows of a bucket. Each Batch has memory of its own, which is the caller's for ever. After an error there is no more.
func (s *Scan) Batches(ctx context.Context, b Bucket) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		r, err := s.Reader(b)
		for err == nil {
			batch := new(Batch)
			if err = r.ReadInto(ctx, batch); err == nil && !yield(batch, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, err)
		}
	}
}

// work is what the workers of one call share.
type work struct {
	scan    *Scan
	buckets []Bucket
	next    atomic.Int64

	mu       sync.Mutex
	progress Progress
}

// newWork returns the work on some buckets; on all row groups if buckets is nil.
func (s *Scan) newWork(buckets []Bucket) *work {
	if buckets == nil {
		// A bucket per row group: whoever has done one takes the next, so that workers end at about the same time.
		buckets = s.SplitByBytes(0)
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

// take returns the number of the next bucket that nobody has, and false if there is none.
func (w *work) take() (int, bool) {
	i := int(w.next.Add(1)) - 1
	return i, i < len(w.buckets)
}

// report tells the user how far the work has come.
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
	if w.scan.o.Progress != nil {
		r.done = func(rows, bytes int64) { w.report(rows, bytes, 0) }
	}
	return r, nil
}

// Borrow reads buckets, all row groups if buckets is nil (an empty slice is none), on [Options].Workers goroutines, and calls f for each batch: on all of them at once, worker
// being the number of the goroutine, from 0. A batch is lent: it is valid until f returns, and then used again. The first error, of reading or of
// f, ends the scan and is returned; when Borrow returns, nothing runs any more.
func (s *Scan) Borrow(ctx context.Context, buckets []Bucket, f func(worker int, b *Batch) error) error {
	w := s.newWork(buckets)
	g, ctx := errgroup.WithContext(ctx)
	for worker := range min(s.o.Workers, len(w.buckets)) {
		g.Go(func() error {
			var batch Batch
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
		r.columns, r.sel, r.ranges, r.eval = old.columns, old.sel, old.ranges, old.eval
		old.columns = nil
	}
	return r
}

// ahead is how many batches of a worker may wait for the consumer of All.
const ahead = 2

// All gives the rows of buckets, of all row groups if there is no such argument (an empty slice is none), read by [Options].Workers goroutines; in the order of the buckets if Options.Ordered,
// in any order otherwise. Each Batch has memory of its own, which is the caller's for ever. At most three batches per worker are there that were
// not given yet; with Ordered, six. After an error there is no more. When the loop ends, nothing runs any more.
func (s *Scan) All(ctx context.Context, buckets ...Bucket) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w := s.newWork(buckets)
		workers := min(s.o.Workers, len(w.buckets))
		var queues []chan *Batch // by bucket, modulo their number; one for all if the order is any
		started := make(chan struct{}, 2*workers)
		if s.o.Ordered {
			// Only so many buckets are under way that each has a queue of its own.
			queues = make([]chan *Batch, 2*workers)
			for i := range queues {
				queues[i] = make(chan *Batch, ahead)
			}
		} else {
			queues = []chan *Batch{make(chan *Batch, ahead*workers)}
		}
		// The workers' context ends with the last of them, when batches may still be queued; ctx only with an error.
		g, working := errgroup.WithContext(ctx)
		for range workers {
			g.Go(func() error {
				for {
					if s.o.Ordered {
						select {
						case started <- struct{}{}: // taken back when the bucket has been given
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

// send reads bucket i to a queue, and ends it with nil if order matters.
func (w *work) send(ctx context.Context, i int, queue chan<- *Batch) error {
	r, err := w.reader(i)
	if err != nil {
		return err
	}
	for {
		b := new(Batch)
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

// giveOrdered gives batches, bucket after bucket. It returns false if the consumer wants no more, and an error if ctx ended before all were given.
func giveOrdered(ctx context.Context, queues []chan *Batch, started <-chan struct{}, buckets int, yield func(*Batch, error) bool) (bool, error) {
	for i := range buckets {
		for {
			var b *Batch
			select {
			case b = <-queues[i%len(queues)]:
			case <-ctx.Done():
				return true, ctx.Err() // unless a worker has a better one
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
