// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"log/slog"
	"strings"
)

// Loggers.

// Logger returns a logger whose records of level least and above are passed to write: the message, and the attributes
// with their values resolved, groups as prefixes of the key. Several goroutines may call write at once.
func Logger(least slog.Level, write func(level slog.Level, message string, attrs []slog.Attr)) *slog.Logger {
	return slog.New(&logHandler{least: least, write: write})
}

// LogText returns a record as one line: the message and key=value for each attribute.
func LogText(message string, attrs []slog.Attr) string {
	var b strings.Builder
	b.WriteString(message)
	for _, a := range attrs {
		b.WriteString(" " + a.Key + "=" + a.Value.String())
	}
	return b.String()
}

// logHandler is the slog.Handler of Logger.
type logHandler struct {
	least  slog.Level
	write  func(level slog.Level, message string, attrs []slog.Attr)
	group  string
	before []slog.Attr
}

func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.least }

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	attrs := h.before[:len(h.before):len(h.before)]
	r.Attrs(func(a slog.Attr) bool {
		attrs = appendAttr(attrs, h.group, a)
		return true
	})
	h.write(r.Level, r.Message, attrs)
	return nil
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.before = h.before[:len(h.before):len(h.before)]
	for _, a := range attrs {
		with.before = appendAttr(with.before, h.group, a)
	}
	return &with
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.group = h.group + name + "."
	return &with
}

// appendAttr appends a, or the attributes of the group a, with their values resolved.
func appendAttr(attrs []slog.Attr, group string, a slog.Attr) []slog.Attr {
	a.Value = a.Value.Resolve()
	if a.Value.Kind() != slog.KindGroup {
		if a.Equal(slog.Attr{}) {
			return attrs
		}
		a.Key = group + a.Key
		return append(attrs, a)
	}
	if a.Key != "" {
		group += a.Key + "."
	}
	for _, inner := range a.Value.Group() {
		attrs = appendAttr(attrs, group, inner)
	}
	return attrs
}
