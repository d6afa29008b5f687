// SPDX-License-Identifier: Apache-2.0

// Package gocqlzap adapts a zap logger to sessions.
package gocqlzap

import (
	"go.uber.org/zap"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// DefaultName is the name of the logger of NewZapLogger.
const DefaultName = "gocql"

// A Logger is a gocql.StructuredLogger that writes to a zap logger.
type Logger interface {
	gocql.StructuredLogger
	ZapLogger() *zap.Logger
}

type logger struct{ to *zap.Logger }

// NewZapLogger returns a Logger that writes to l under the name DefaultName.
func NewZapLogger(l *zap.Logger) Logger { return &logger{l.Named(DefaultName)} }

// NewUnnamedZapLogger returns a Logger that writes to l.
func NewUnnamedZapLogger(l *zap.Logger) Logger { return &logger{l} }

func (l *logger) ZapLogger() *zap.Logger { return l.to }

func (l *logger) Error(msg string, fields ...gocql.LogField) { l.to.Error(msg, zapFields(fields)...) }

func (l *logger) Warning(msg string, fields ...gocql.LogField) { l.to.Warn(msg, zapFields(fields)...) }

func (l *logger) Info(msg string, fields ...gocql.LogField) { l.to.Info(msg, zapFields(fields)...) }

func (l *logger) Debug(msg string, fields ...gocql.LogField) { l.to.Debug(msg, zapFields(fields)...) }

func zapFields(fields []gocql.LogField) []zap.Field {
	out := make([]zap.Field, len(fields))
	for i, f := range fields {
		out[i] = zap.Any(f.Name, f.Value.Any())
	}
	return out
}
