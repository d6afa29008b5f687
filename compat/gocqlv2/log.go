// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"log"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"github.com/vecql/vecql/compat"
)

// Loggers: the API's structured logger, which receives vecql's records.

// StdLogger is not used.
//
// Deprecated: use StructuredLogger.
type StdLogger any

// A StructuredLogger receives the log records of a session.
type StructuredLogger interface {
	Error(msg string, fields ...LogField)
	Warning(msg string, fields ...LogField)
	Info(msg string, fields ...LogField)
	Debug(msg string, fields ...LogField)
}

// A LogLevel is the greatest level of the records that a logger writes.
type LogLevel int

// The levels of records.
const (
	LogLevelDebug = LogLevel(5)
	LogLevelInfo  = LogLevel(4)
	LogLevelWarn  = LogLevel(3)
	LogLevelError = LogLevel(2)
	LogLevelNone  = LogLevel(0)
)

func (recv LogLevel) String() string {
	switch recv {
	case LogLevelDebug:
		return "debug"
	case LogLevelInfo:
		return "info"
	case LogLevelWarn:
		return "warn"
	case LogLevelError:
		return "error"
	case LogLevelNone:
		return "none"
	}
	return "invalid level " + strconv.Itoa(int(recv))
}

// A LogField is a name with a value.
type LogField struct {
	Name  string
	Value LogFieldValue
}

// A LogFieldValue is a text, an integer or a boolean.
type LogFieldValue struct{ value any }

// LogFieldValueType is the type of a LogFieldValue.
type LogFieldValueType int

// The types of values.
const (
	LogFieldTypeAny LogFieldValueType = iota
	LogFieldTypeBool
	LogFieldTypeInt64
	LogFieldTypeString
)

func (t LogFieldValueType) String() string {
	switch t {
	case LogFieldTypeAny:
		return "Any"
	case LogFieldTypeBool:
		return "Bool"
	case LogFieldTypeInt64:
		return "Int64"
	case LogFieldTypeString:
		return "String"
	}
	return "<unknown gocql.LogFieldValueType>"
}

// LogFieldValueType returns the type of the value.
func (v LogFieldValue) LogFieldValueType() LogFieldValueType {
	switch v.value.(type) {
	case bool:
		return LogFieldTypeBool
	case int64:
		return LogFieldTypeInt64
	case string:
		return LogFieldTypeString
	}
	return LogFieldTypeAny
}

// Any returns the value.
func (v LogFieldValue) Any() any { return v.value }

// String returns the value as text.
func (v LogFieldValue) String() string { return fmt.Sprint(v.value) }

// Int64 returns the integer. It panics for a value of another type.
func (v LogFieldValue) Int64() int64 { return logValue[int64](v, LogFieldTypeInt64) }

// Bool returns the boolean. It panics for a value of another type.
func (v LogFieldValue) Bool() bool { return logValue[bool](v, LogFieldTypeBool) }

func logValue[T any](v LogFieldValue, want LogFieldValueType) T {
	value, ok := v.value.(T)
	if !ok {
		panic(fmt.Sprintf("gocql: the value is of type %s, not %s", v.LogFieldValueType(), want))
	}
	return value
}

// NewLogFieldIP returns a field of an address.
func NewLogFieldIP(name string, value net.IP) LogField {
	return NewLogFieldString(name, value.String())
}

// NewLogFieldError returns a field of an error; nil is the empty text.
func NewLogFieldError(name string, value error) LogField {
	if value == nil {
		return NewLogFieldString(name, "")
	}
	return NewLogFieldString(name, value.Error())
}

// NewLogFieldStringer returns a field of a value's text; nil is the empty text.
func NewLogFieldStringer(name string, value fmt.Stringer) LogField {
	if value == nil {
		return NewLogFieldString(name, "")
	}
	return NewLogFieldString(name, value.String())
}

// NewLogFieldString returns a field of a text.
func NewLogFieldString(name, value string) LogField { return LogField{name, LogFieldValue{value}} }

// NewLogFieldInt returns a field of an integer.
func NewLogFieldInt(name string, value int) LogField {
	return LogField{name, LogFieldValue{int64(value)}}
}

// NewLogFieldBool returns a field of a boolean.
func NewLogFieldBool(name string, value bool) LogField { return LogField{name, LogFieldValue{value}} }

// NewLogger returns a logger that writes the records up to a level to the standard logger of package log.
func NewLogger(logLevel LogLevel) StructuredLogger { return &standardLogger{logLevel} }

type standardLogger struct{ level LogLevel }

func (l *standardLogger) Error(msg string, fields ...LogField) {
	l.write(LogLevelError, "ERR", msg, fields)
}

func (l *standardLogger) Warning(msg string, fields ...LogField) {
	l.write(LogLevelWarn, "WRN", msg, fields)
}

func (l *standardLogger) Info(msg string, fields ...LogField) {
	l.write(LogLevelInfo, "INF", msg, fields)
}

func (l *standardLogger) Debug(msg string, fields ...LogField) {
	l.write(LogLevelDebug, "DBG", msg, fields)
}

func (l *standardLogger) write(level LogLevel, name, msg string, fields []LogField) {
	if level > l.level {
		return
	}
	var line strings.Builder
	line.WriteString(name + " gocql: " + msg)
	for _, f := range fields {
		line.WriteString(" " + f.Name + "=" + f.Value.String())
	}
	log.Println(line.String())
}

// newLogger returns the slog.Logger of a session. nil means no records.
func newLogger(to StructuredLogger) *slog.Logger {
	if to == nil {
		return slog.New(slog.DiscardHandler)
	}
	return compat.Logger(slog.LevelDebug, func(level slog.Level, message string, attrs []slog.Attr) {
		fields := make([]LogField, len(attrs))
		for i, a := range attrs {
			fields[i] = fieldOf(a)
		}
		switch {
		case level >= slog.LevelError:
			to.Error(message, fields...)
		case level >= slog.LevelWarn:
			to.Warning(message, fields...)
		case level >= slog.LevelInfo:
			to.Info(message, fields...)
		default:
			to.Debug(message, fields...)
		}
	})
}

// fieldOf returns an attribute as a field.
func fieldOf(a slog.Attr) LogField {
	switch a.Value.Kind() {
	case slog.KindInt64:
		return LogField{a.Key, LogFieldValue{a.Value.Int64()}}
	case slog.KindBool:
		return NewLogFieldBool(a.Key, a.Value.Bool())
	}
	return NewLogFieldString(a.Key, a.Value.String())
}
