// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// This file limits repeats in the log: a node that comes and goes, a control connection that finds nobody, would fill disks.

const (
	logInterval = 30 * time.Second // between two equal records
	logKinds    = 512              // different records that are remembered
)

// limitedLogger returns a logger that hands records on to that of the program.
func limitedLogger(log *slog.Logger) *slog.Logger {
	return slog.New(&limitHandler{next: log.Handler(), seen: &logSeen{last: map[string]*logged{}}})
}

// limitHandler hands on one of equal records per interval: equal are those of the same level, message and node, since errors have texts of
// many forms. The program's handler is called under no lock; its panic is an error that slog drops.
type limitHandler struct {
	next  slog.Handler
	bound []slog.Attr // by WithAttrs: the program's handler learns of them with a record, since loggers are also made under a lock
	seen  *logSeen
}

type logSeen struct {
	mu   sync.Mutex
	last map[string]*logged
}

type logged struct {
	at      time.Time
	leftOut int // since then
}

// Enabled implements slog.Handler.
func (h *limitHandler) Enabled(ctx context.Context, level slog.Level) (on bool) {
	defer func() {
		if recover() != nil {
			on = false
		}
	}()
	return h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *limitHandler) Handle(ctx context.Context, r slog.Record) (err error) {
	if len(h.bound) > 0 {
		r = r.Clone()
		r.AddAttrs(h.bound...)
	}
	var node string
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "node" {
			node = a.Value.String()
		}
		return true
	})
	leftOut, pass := h.seen.pass(r.Level.String()+" "+node+" "+r.Message, r.Time)
	if !pass {
		return nil
	}
	if leftOut > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("repeated", leftOut))
	}
	defer recovered(&err)
	return h.next.Handle(ctx, r)
}

// pass reports whether a record is handed on, and how many equal ones before it were not.
func (s *logSeen) pass(key string, now time.Time) (leftOut int, pass bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.last[key]; l != nil {
		if now.Sub(l.at) < logInterval {
			l.leftOut++
			return 0, false
		}
		leftOut = l.leftOut
	} else if len(s.last) >= logKinds {
		for k, l := range s.last {
			if now.Sub(l.at) >= logInterval {
				delete(s.last, k)
			}
		}
		if len(s.last) >= logKinds {
			clear(s.last) // repeats come through once more: better than memory without bound
		}
	}
	s.last[key] = &logged{at: now}
	return leftOut, true
}

// WithAttrs implements slog.Handler.
func (h *limitHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	other := *h
	other.bound = slices.Concat(h.bound, attrs)
	return &other
}

// WithGroup implements slog.Handler.
func (h *limitHandler) WithGroup(name string) slog.Handler {
	other := *h
	other.next = h.next.WithGroup(name)
	return &other
}
