// SPDX-License-Identifier: Apache-2.0

// Package quietlog drops repeated log records. A node that goes up and down, or a control connection that finds no
// node, would otherwise fill disks.
package quietlog

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	// Interval is the minimum time between two equal records.
	Interval = 30 * time.Second
	// maxKinds limits the number of distinct records remembered.
	maxKinds = 512
)

// New returns a logger that passes one of equal records per Interval to log's handler. Records are equal if level,
// message and the attribute named key are equal; error texts vary too much to be compared. The first record after
// dropped ones has the attribute "repeated", the number of records dropped.
//
// The handler is called without a lock of this package held. A panic of the handler becomes an error, which slog drops.
func New(log *slog.Logger, key string) *slog.Logger {
	return slog.New(&handler{next: log.Handler(), key: key, seen: &records{last: map[string]*record{}}})
}

// handler drops repeats and passes the other records to next.
type handler struct {
	next slog.Handler
	key  string
	// by WithAttrs, passed on with each record: the driver creates loggers under locks, where it must not call the
	// program's handler
	bound []slog.Attr
	seen  *records
}

// records stores the time at which each record was last passed on.
type records struct {
	mu   sync.Mutex
	last map[string]*record
}

// record is the last occurrence of a record that was passed on, and its repeats since.
type record struct {
	at      time.Time
	dropped int // since at
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(ctx context.Context, level slog.Level) (on bool) {
	defer func() {
		if recover() != nil {
			on = false
		}
	}()
	return h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) (err error) {
	if len(h.bound) > 0 {
		r = r.Clone()
		r.AddAttrs(h.bound...)
	}
	var value string
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == h.key {
			value = a.Value.String()
		}
		return true
	})
	dropped, pass := h.seen.pass(r.Level.String()+" "+value+" "+r.Message, r.Time)
	if !pass {
		return nil
	}
	if dropped > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("repeated", dropped))
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return h.next.Handle(ctx, r)
}

// pass reports whether a record is passed on, and how many equal ones were dropped before it.
func (s *records) pass(key string, now time.Time) (dropped int, pass bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.last[key]; l != nil {
		if now.Sub(l.at) < Interval {
			l.dropped++
			return 0, false
		}
		dropped = l.dropped
	} else if len(s.last) >= maxKinds {
		for k, l := range s.last {
			if now.Sub(l.at) >= Interval {
				delete(s.last, k)
			}
		}
		if len(s.last) >= maxKinds {
			clear(s.last) // bounds memory; repeats are passed on once more
		}
	}
	s.last[key] = &record{at: now}
	return dropped, true
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	other := *h
	other.bound = slices.Concat(h.bound, attrs)
	return &other
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	other := *h
	other.next = h.next.WithGroup(name)
	return &other
}
