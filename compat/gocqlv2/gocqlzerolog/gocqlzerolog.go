// SPDX-License-Identifier: Apache-2.0

// Package gocqlzerolog adapts a zerolog logger to sessions.
package gocqlzerolog

import (
	"github.com/rs/zerolog"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// The field that NewZerologLogger adds.
const (
	DefaultName      = "gocql"
	DefaultNameField = "logger"
)

// A Logger is a gocql.StructuredLogger that writes to a zerolog logger.
type Logger interface {
	gocql.StructuredLogger
	ZerologLogger() zerolog.Logger
}

type logger struct{ to zerolog.Logger }

// NewZerologLogger returns a Logger that writes to l with the field DefaultNameField.
func NewZerologLogger(l zerolog.Logger) Logger {
	return &logger{l.With().Str(DefaultNameField, DefaultName).Logger()}
}

// NewUnnamedZerologLogger returns a Logger that writes to l.
func NewUnnamedZerologLogger(l zerolog.Logger) Logger { return &logger{l} }

func (l *logger) ZerologLogger() zerolog.Logger { return l.to }

func (l *logger) Error(msg string, fields ...gocql.LogField)   { write(l.to.Error(), msg, fields) }
func (l *logger) Warning(msg string, fields ...gocql.LogField) { write(l.to.Warn(), msg, fields) }
func (l *logger) Info(msg string, fields ...gocql.LogField)    { write(l.to.Info(), msg, fields) }
func (l *logger) Debug(msg string, fields ...gocql.LogField)   { write(l.to.Debug(), msg, fields) }

func write(e *zerolog.Event, msg string, fields []gocql.LogField) {
	for _, f := range fields {
		switch value := f.Value.Any().(type) {
		case string:
			e = e.Str(f.Name, value)
		case int64:
			e = e.Int64(f.Name, value)
		case bool:
			e = e.Bool(f.Name, value)
		default:
			e = e.Any(f.Name, value)
		}
	}
	e.Msg(msg)
}
