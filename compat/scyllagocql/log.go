// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"log"
	"log/slog"

	"github.com/vecql/vecql/compat"
)

// Loggers.

// A StdLogger receives the log of a session, one record per call.
type StdLogger interface {
	Print(v ...any)
	Printf(format string, v ...any)
	Println(v ...any)
}

// defaultLogger writes to the standard logger of package log.
type defaultLogger struct{}

func (*defaultLogger) Print(v ...any)                 { log.Print(v...) }
func (*defaultLogger) Printf(format string, v ...any) { log.Printf(format, v...) }
func (*defaultLogger) Println(v ...any)               { log.Println(v...) }

// adaptLogger returns the logger of vecql that writes to l; nil means the standard logger.
func adaptLogger(l StdLogger) *slog.Logger {
	if l == nil {
		l = &defaultLogger{}
	}
	return compat.Logger(slog.LevelInfo, func(_ slog.Level, message string, attrs []slog.Attr) {
		l.Println("gocql: " + compat.LogText(message, attrs))
	})
}
