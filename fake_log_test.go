// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"log/slog"
	"sync"
)

// This file holds loggers for tests.

// recordingHandler keeps what is logged.
type recordingHandler struct {
	slog.Handler
	records *[]slog.Record
}

func (h recordingHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h recordingHandler) Handle(_ context.Context, r slog.Record) error {
	*h.records = append(*h.records, r)
	return nil
}
func (h recordingHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h recordingHandler) WithGroup(string) slog.Handler      { return h }

// countedLogger counts records by message.
type countedLogger struct {
	slog.Handler
	mu    sync.Mutex
	count map[string]int
	call  func() // by each record
}

func newCountedLogger() (*countedLogger, *slog.Logger) {
	h := &countedLogger{Handler: slog.DiscardHandler, count: map[string]int{}}
	return h, slog.New(h)
}

func (h *countedLogger) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (h *countedLogger) WithAttrs([]slog.Attr) slog.Handler           { return h }
func (h *countedLogger) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	h.count[r.Message]++
	call := h.call
	h.mu.Unlock()
	if call != nil {
		call()
	}
	return nil
}

func (h *countedLogger) of(message string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count[message]
}
