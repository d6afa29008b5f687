// SPDX-License-Identifier: Apache-2.0

// Package queue bounds the requests of a session: a Queue their number, a Budget their memory. Requests beyond a bound
// wait in order of arrival.
package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Limits bound the requests that are admitted at the same time.
type Limits struct {
	Requests int // admitted requests
	Waiting  int // requests in line; 0 means any number, negative means none
}

// A Queue admits requests in the order of their arrival. The methods may be called by any number of goroutines.
type Queue struct {
	limits  Limits
	refused error

	mu       sync.Mutex
	requests int // admitted
	line     line
}

// New returns an empty queue. Errors of Acquire wrap refused.
func New(limits Limits, refused error) *Queue { return &Queue{limits: limits, refused: refused} }

// tryAcquire admits a request if it can do so without blocking, and reports whether it did. Callers hold q.mu.
func (q *Queue) tryAcquire() bool {
	if q.requests >= q.limits.Requests { // none is in line unless this holds
		return false
	}
	q.requests++
	return true
}

// Acquire admits a request. It blocks until the request is admitted, ctx ends or timeout has passed; a timeout of 0
// means none. The caller of an admitted request calls Release. waited reports whether the request was queued.
func (q *Queue) Acquire(ctx context.Context, timeout time.Duration) (waited bool, err error) {
	w, err := q.enqueue()
	if w == nil {
		return false, err
	}
	if err = w.wait(ctx, timeout, nil); err == nil {
		return true, nil
	}
	q.leave(w)
	if errors.Is(err, errTimeout) {
		return true, q.refused
	}
	return true, fmt.Errorf("%w: %w", q.refused, err)
}

// enqueue admits a request or appends it to the line. It returns nil if the request was admitted, or if the line is
// full.
func (q *Queue) enqueue() (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.tryAcquire() {
		return nil, nil
	}
	if most := q.limits.Waiting; most != 0 && q.line.n >= most {
		return nil, fmt.Errorf("%w: %d requests are waiting", q.refused, q.line.n)
	}
	w := &waiter{}
	q.line.push(w)
	return w, nil
}

// leave withdraws a canceled request, even if it has just been admitted.
func (q *Queue) leave(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.admitted() {
		q.release()
	} else {
		q.line.remove(w)
	}
}

// Release releases an admitted request.
func (q *Queue) Release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.release()
}

// release passes the place of an admitted request to the head of the line. Callers hold q.mu.
func (q *Queue) release() {
	w := q.line.head
	if w == nil {
		q.requests--
		return
	}
	q.line.remove(w)
	close(w.done)
}

// Busy reports whether a request would block.
func (q *Queue) Busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.requests >= q.limits.Requests
}

// Waiting returns the number of requests in line.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.line.n
}
