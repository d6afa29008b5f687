// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// This file holds requests back: a bound on how many requests, and how many bytes of them, a session has under way. Who finds no room
// waits in line.

// Throttle bounds what a session has under way. The zero value bounds nothing and costs nothing. It counts attempts from their sending to
// their answer, PREPAREs too; waits between two attempts do not count. Where a request finds no room it waits, first come, first served,
// as long as its context or timeout allows; then it fails with ErrThrottled, not sent.
type Throttle struct {
	MaxRequests int   // attempts under way; 0: any number
	MaxBytes    int64 // bytes of their bodies, uncompressed; 0: any number. A larger request is sent when it is alone.
	MaxWaiting  int   // requests that may wait; further ones fail at once. 0: any number; negative: none may wait
}

type throttle struct {
	limits Throttle

	mu       sync.Mutex
	requests int
	bytes    int64
	waiting  int
	first    *throttled // of a doubly linked list: who gives up leaves from its middle
	last     *throttled
}

// throttled is a request that waits.
type throttled struct {
	size       int64
	admitted   chan struct{} // closed when it has its room
	prev, next *throttled
}

// newThrottle returns nil when nothing is bounded.
func newThrottle(t Throttle) *throttle {
	if t.MaxRequests <= 0 && t.MaxBytes <= 0 {
		return nil
	}
	return &throttle{limits: t}
}

// fits reports whether there is room for a request. t.mu is held.
func (t *throttle) fits(size int64) bool {
	return t.requests == 0 ||
		(t.limits.MaxRequests <= 0 || t.requests < t.limits.MaxRequests) && (t.limits.MaxBytes <= 0 || t.bytes+size <= t.limits.MaxBytes)
}

// take makes a request count. t.mu is held.
func (t *throttle) take(size int64) {
	t.requests++
	t.bytes += size
}

// tryAcquire takes room for a request of size bytes if there is some and nobody waits for it.
func (t *throttle) tryAcquire(size int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first != nil || !t.fits(size) {
		return false
	}
	t.take(size)
	return true
}

// acquire takes room for a request of size bytes, waiting for it if need be: until ctx ends, at most timeout unless that is 0.
func (t *throttle) acquire(ctx context.Context, size int64, timeout time.Duration) (waited bool, err error) {
	if t.tryAcquire(size) {
		return false, nil
	}
	w, err := t.enqueue(size)
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
	case <-w.admitted:
		return true, nil
	case <-over:
		err = ErrThrottled
	case <-ctx.Done():
		err = fmt.Errorf("%w: %w", ErrThrottled, ctx.Err())
	}
	t.leave(w)
	return true, err
}

// enqueue puts a request at the end of the line; it returns nil when there is room after all, or when the line is full.
func (t *throttle) enqueue(size int64) (*throttled, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first == nil && t.fits(size) {
		t.take(size)
		return nil, nil
	}
	if most := t.limits.MaxWaiting; most != 0 && t.waiting >= most {
		return nil, fmt.Errorf("%w, and %d waiting", ErrThrottled, t.waiting)
	}
	w := &throttled{size: size, admitted: make(chan struct{}), prev: t.last}
	if t.last == nil {
		t.first = w
	} else {
		t.last.next = w
	}
	t.last = w
	t.waiting++
	return w, nil
}

// remove takes w out of the line. t.mu is held.
func (t *throttle) remove(w *throttled) {
	if w.prev == nil {
		t.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		t.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	t.waiting--
}

// leave ends the wait of a request that has given up, also if it was just admitted.
func (t *throttle) leave(w *throttled) {
	t.mu.Lock()
	select {
	case <-w.admitted:
		t.mu.Unlock()
		t.release(w.size)
		return
	default:
	}
	defer t.mu.Unlock()
	t.remove(w)
	t.admit() // it may have been what the others waited behind
}

// release gives back the room of a request.
func (t *throttle) release(size int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests--
	t.bytes -= size
	t.admit()
}

// admit lets in those at the head of the line who fit. t.mu is held.
func (t *throttle) admit() {
	for w := t.first; w != nil && t.fits(w.size); w = t.first {
		t.take(w.size)
		t.remove(w)
		close(w.admitted)
	}
}

// busy reports whether a request of size bytes would have to wait.
func (t *throttle) busy(size int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first != nil || !t.fits(size)
}

// waits returns how many requests wait.
func (t *throttle) waits() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting
}
