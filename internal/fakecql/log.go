// SPDX-License-Identifier: Apache-2.0

package fakecql

import (
	"context"
	"log/slog"
	"sync"
)

// Handlers of log records.

// A LogRecorder appends every record to Records. It serves one goroutine at a time.
type LogRecorder struct {
	slog.Handler
	Records *[]slog.Record
}

// Enabled implements slog.Handler.
func (h LogRecorder) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h LogRecorder) Handle(_ context.Context, r slog.Record) error {
	*h.Records = append(*h.Records, r)
	return nil
}

// WithAttrs implements slog.Handler. It drops the attributes.
func (h LogRecorder) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler. It drops the group.
func (h LogRecorder) WithGroup(string) slog.Handler { return h }

// A LogCounter counts records of level INFO and above by message.
type LogCounter struct {
	slog.Handler
	mu    sync.Mutex
	count map[string]int
	call  func()
}

// NewLogCounter returns a LogCounter and a logger that writes to it.
func NewLogCounter() (*LogCounter, *slog.Logger) {
	h := &LogCounter{Handler: slog.DiscardHandler, count: map[string]int{}}
	return h, slog.New(h)
}

// Enabled implements slog.Handler.
func (h *LogCounter) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// WithAttrs implements slog.Handler. It drops the attributes.
func (h *LogCounter) WithAttrs([]slog.Attr) slog.Handler { return h }

// Handle implements slog.Handler.
func (h *LogCounter) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	h.count[r.Message]++
	call := h.call
	h.mu.Unlock()
	if call != nil {
		call()
	}
	return nil
}

// Call makes every record call f, without a lock held. nil means none.
func (h *LogCounter) Call(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.call = f
}

// Of returns the number of records with the message.
func (h *LogCounter) Of(message string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count[message]
}
