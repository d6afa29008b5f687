// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"errors"
	"time"
)

// Lines of waiting requests, in order of arrival.

// errTimeout means that a request waited until its timeout.
var errTimeout = errors.New("timeout")

// waiter is a request in line.
type waiter struct {
	size       int64         // of a Budget
	page       bool          // of a Budget
	arrival    uint64        // of a Budget: its number
	done       chan struct{} // closed when the request is admitted
	prev, next *waiter
}

// wait blocks until the request is admitted, ctx or closed ends, or timeout has passed; a timeout of 0 means none. nil
// means admitted.
func (w *waiter) wait(ctx context.Context, timeout time.Duration, closed <-chan struct{}) error {
	var over <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-w.done:
		return nil
	case <-over:
		return errTimeout
	case <-ctx.Done():
		return ctx.Err()
	case <-closed:
		return ErrClosed
	}
}

// admitted reports whether the request has left the line because it was admitted.
func (w *waiter) admitted() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// line is a doubly linked list of waiters, because a canceled request leaves from the middle.
type line struct {
	head, tail *waiter
	n          int
}

// push appends w to the line.
func (l *line) push(w *waiter) {
	w.done, w.prev = make(chan struct{}), l.tail
	if l.tail == nil {
		l.head = w
	} else {
		l.tail.next = w
	}
	l.tail = w
	l.n++
}

// remove removes w from the line.
func (l *line) remove(w *waiter) {
	if w.prev == nil {
		l.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	l.n--
}
