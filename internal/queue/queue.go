// SPDX-License-Identifier: Apache-2.0

// Package queue limits the number and size of concurrent requests, and queues the others in order of arrival.
package queue

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Limits bound the requests that are admitted at the same time.
type Limits struct {
	Requests int   // admitted requests; 0 means any number
	Bytes    int64 // their total size; 0 means any size. A larger request is admitted when no other is.
	Waiting  int   // requests in line; 0 means any number, negative means none
}

// A Queue admits requests in the order of their arrival; a small request does not overtake a large one. The methods may
// be called by any number of goroutines.
type Queue struct {
	limits  Limits
	refused error

	mu       sync.Mutex
	requests int   // admitted
	bytes    int64 // of admitted requests
	waiting  int
	head     *waiter // of a doubly linked list, because a canceled request leaves from the middle
	tail     *waiter
}

// waiter is a request in line.
type waiter struct {
	size       int64
	done       chan struct{} // closed when the request is admitted
	prev, next *waiter
}

// New returns an empty queue. Errors of Acquire wrap refused.
func New(limits Limits, refused error) *Queue { return &Queue{limits: limits, refused: refused} }

// fits reports whether a request may be admitted. Callers hold q.mu.
func (q *Queue) fits(size int64) bool {
	return q.requests == 0 ||
		(q.limits.Requests <= 0 || q.requests < q.limits.Requests) && (q.limits.Bytes <= 0 || q.bytes+size <= q.limits.Bytes)
}

// add counts a request as admitted. Callers hold q.mu.
func (q *Queue) add(size int64) {
	q.requests++
	q.bytes += size
}

// TryAcquire admits a request of size bytes if it can do so without blocking, and reports whether it did.
func (q *Queue) TryAcquire(size int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head != nil || !q.fits(size) {
		return false
	}
	q.add(size)
	return true
}

// Acquire admits a request of size bytes. It blocks until the request is admitted, ctx ends or timeout has passed; a
// timeout of 0 means none. The caller of an admitted request calls Release. waited reports whether the request was
// queued.
func (q *Queue) Acquire(ctx context.Context, size int64, timeout time.Duration) (waited bool, err error) {
	if q.TryAcquire(size) {
		return false, nil
	}
	w, err := q.enqueue(size)
	if w == nil {
		return false, err
	}
	var over <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-w.done:
		return true, nil
	case <-over:
		err = q.refused
	case <-ctx.Done():
		err = fmt.Errorf("%w: %w", q.refused, ctx.Err())
	}
	q.leave(w)
	return true, err
}

// enqueue appends a request to the line. It returns nil if the request was admitted after all, or if the line is full.
func (q *Queue) enqueue(size int64) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == nil && q.fits(size) {
		q.add(size)
		return nil, nil
	}
	if most := q.limits.Waiting; most != 0 && q.waiting >= most {
		return nil, fmt.Errorf("%w: %d requests are waiting", q.refused, q.waiting)
	}
	w := &waiter{size: size, done: make(chan struct{}), prev: q.tail}
	if q.tail == nil {
		q.head = w
	} else {
		q.tail.next = w
	}
	q.tail = w
	q.waiting++
	return w, nil
}

// remove removes w from the line. Callers hold q.mu.
func (q *Queue) remove(w *waiter) {
	if w.prev == nil {
		q.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	q.waiting--
}

// leave withdraws a canceled request, even if it has just been admitted.
func (q *Queue) leave(w *waiter) {
	q.mu.Lock()
	select {
	case <-w.done:
		q.mu.Unlock()
		q.Release(w.size)
		return
	default:
	}
	defer q.mu.Unlock()
	q.remove(w)
	q.admit() // others may have been queued behind it
}

// Release releases an admitted request of size bytes.
func (q *Queue) Release(size int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.requests--
	q.bytes -= size
	q.admit()
}

// admit admits requests from the head of the line while they fit. Callers hold q.mu.
func (q *Queue) admit() {
	for w := q.head; w != nil && q.fits(w.size); w = q.head {
		q.add(w.size)
		q.remove(w)
		close(w.done)
	}
}

// Busy reports whether a request of size bytes would block.
func (q *Queue) Busy(size int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.head != nil || !q.fits(size)
}

// Waiting returns the number of requests in line.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting
}
