// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"log"
	"log/slog"

	"github.com/vecql/vecql/compat"
)

// Loggers of v1.7 and the fork.

// A StdLogger receives the log of a session, one record per call.
type StdLogger interface {
	Print(v ...any)
	Printf(format string, v ...any)
	Println(v ...any)
}

// DefaultLogger writes to the standard logger of package log.
type DefaultLogger struct{}

// Print implements StdLogger.
func (*DefaultLogger) Print(v ...any) { log.Print(v...) }

// Printf implements StdLogger.
func (*DefaultLogger) Printf(format string, v ...any) { log.Printf(format, v...) }

// Println implements StdLogger.
func (*DefaultLogger) Println(v ...any) { log.Println(v...) }

// AdaptLogger returns the logger of vecql that writes to l.
func AdaptLogger(l StdLogger) *slog.Logger {
	return compat.Logger(slog.LevelInfo, func(_ slog.Level, message string, attrs []slog.Attr) {
		l.Println("gocql: " + compat.LogText(message, attrs))
	})
}
