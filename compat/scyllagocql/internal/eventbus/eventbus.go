// SPDX-License-Identifier: Apache-2.0

// Package eventbus passes events to subscribers.
package eventbus

import (
	"errors"
	"sync"
)

// An EventBusConfig would bound the events that wait for subscribers. It has no effect: each Subscriber has a queue.
type EventBusConfig struct {
	InputEventsQueueSize int
}

// A FilterFunc selects events.
type FilterFunc[T any] func(T) bool

// ErrSubscriberNotFound means that a Subscriber was stopped before.
var ErrSubscriberNotFound = errors.New("gocql: the subscriber is stopped already")

// A Bus passes events to its subscribers. The zero value is ready for use.
type Bus[T any] struct {
	mu          sync.Mutex
	subscribers map[*Subscriber[T]]bool
	closed      bool
}

// A Subscriber receives events.
type Subscriber[T any] struct {
	ch     chan T
	bus    *Bus[T]
	filter FilterFunc[T]
}

// Subscribe returns a new Subscriber of the events that filter accepts; nil accepts all. Events that find its queue
// full are dropped.
func (b *Bus[T]) Subscribe(queueSize int, filter FilterFunc[T]) *Subscriber[T] {
	s := &Subscriber[T]{ch: make(chan T, max(queueSize, 0)), bus: b, filter: filter}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(s.ch)
		return s
	}
	if b.subscribers == nil {
		b.subscribers = make(map[*Subscriber[T]]bool)
	}
	b.subscribers[s] = true
	return s
}

// Publish passes an event to the subscribers. It does not block.
func (b *Bus[T]) Publish(event T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subscribers {
		if s.filter != nil && !s.filter(event) {
			continue
		}
		select {
		case s.ch <- event:
		default:
		}
	}
}

// Close closes the channels of all subscribers.
func (b *Bus[T]) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for s := range b.subscribers {
		close(s.ch)
	}
	b.subscribers = nil
}

// Events returns the channel of the events. It is closed by Stop and at the end of the session.
func (s *Subscriber[T]) Events() <-chan T { return s.ch }

// Stop ends the subscription.
func (s *Subscriber[T]) Stop() error {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	if !s.bus.subscribers[s] {
		return ErrSubscriberNotFound
	}
	delete(s.bus.subscribers, s)
	close(s.ch)
	return nil
}
