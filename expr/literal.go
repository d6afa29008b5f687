// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/int128"
)

// Literals: Go values in their normal forms, and their text.

// Lit returns a literal: nil for NULL, or a value of one of these types or of a type derived from them:
//
//	bool, integers, floats       numbers adapt to their context
//	cql.Decimal                  of up to 38 digits and a scale from 0
//	string                       a text, or a date, time, timestamp, decimal or UUID where the context requires one
//	[]byte                       of Binary and Fixed columns
//	[16]byte                     a UUID
//	time.Time                    of Date and Timestamp columns, compared as an instant; years 0 to 9999; without a column
//	                             a Timestamp in UTC
//	time.Duration, cql.Duration  an interval; without months and days also a time of day
//	[]float32, []float64         a vector
//
// [Compile] reports a value of another type.
func Lit(v any) Expr {
	value, err := normalize(v)
	return Expr{&node{op: opLiteral, value: value, err: err, depth: 1}}
}

// LitAs returns a literal of a type, which is the type of column.Column.Value for a column of this type, nil for NULL:
// it does not adapt to its context as [Lit] does. [Compile] reports a value that the type does not have. A Float16 is a
// Float32 here, and a vector adapts. The text of the expression is the text of Lit(v).
func LitAs(v any, t column.Type) Expr {
	e := Lit(v)
	switch m, ok := e.n.value.(moment); {
	case ok:
		e.n.value = moment{m.at, t}
	case t.Kind == column.Float16:
		t.Kind = column.Float32
	case t.Kind == column.Vector && v != nil:
		return e
	case t.Kind == column.Vector:
		e.n.err = fmt.Errorf("there is no literal for NULL of type %v", t)
	}
	e.n.typ = t
	return e
}

// normalize returns the normal form of the value of a literal: nil, bool, int64, uint64 beyond int64, float64, string,
// []byte, cql.UUID, moment, timeOfDay, amount, cql.Duration, []float64. It copies slices.
func normalize(v any) (any, error) {
	switch x := v.(type) {
	case nil, moment, timeOfDay, amount:
		return x, nil
	case time.Time:
		return timestampAt(x, true)
	case time.Duration:
		return cql.Duration{Nanoseconds: int64(x)}, nil
	case cql.Decimal:
		return amountOfDecimal(x)
	case cql.Duration:
		if back, err := cql.ParseDuration(x.String()); err != nil || back != x {
			return nil, fmt.Errorf("interval literal %v with parts of different signs", x)
		}
		return x, nil
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Bool:
		return r.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return r.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return integer(r.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return r.Float(), nil
	case reflect.String:
		return r.String(), nil
	case reflect.Array:
		if r.Len() == 16 && r.Type().Elem().Kind() == reflect.Uint8 {
			var id cql.UUID
			reflect.Copy(reflect.ValueOf(id[:]), r)
			return id, nil
		}
	case reflect.Slice:
		return normalizeSlice(r)
	}
	return nil, fmt.Errorf("literal of Go type %T", v)
}

func normalizeSlice(r reflect.Value) (any, error) {
	switch r.Type().Elem().Kind() {
	case reflect.Uint8:
		return append([]byte{}, r.Bytes()...), nil
	case reflect.Float32, reflect.Float64:
		vector := make([]float64, r.Len())
		for i := range vector {
			vector[i] = r.Index(i).Float()
		}
		return vector, nil
	}
	return nil, fmt.Errorf("literal of Go type %v", r.Type())
}

// integer returns v as an int64, or as a uint64 if it is beyond int64.
func integer(v uint64) any {
	if v <= math.MaxInt64 {
		return int64(v)
	}
	return v
}

// literalText returns the text of a literal.
func literalText(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case float64:
		return floatText(v)
	case string:
		return quote(v)
	case []byte:
		return "x'" + hex.EncodeToString(v) + "'"
	case cql.UUID:
		return "uuid " + quote(v.String())
	case moment:
		return v.text()
	case timeOfDay:
		return v.text()
	case amount:
		return "decimal " + quote(v.digits())
	case cql.Duration:
		return "interval " + quote(v.String())
	case []float64:
		parts := make([]string, len(v))
		for i, f := range v {
			parts[i] = floatText(f)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(value)
}

// quote returns s as a text literal.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func floatText(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "float64 " + quote(s)
	case !strings.ContainsAny(s, ".e"):
		return s + ".0"
	}
	return s
}

// typedLiteral returns the value of a literal with its type's name: date '2026-01-01'. It reports whether there is such
// a type.
func typedLiteral(name, text string) (value any, known bool, err error) {
	switch name {
	case "date":
		value, err = parseDate(text)
	case "timestamp":
		value, err = parseTimestamp(text)
	case "time":
		value, err = parseClock(text)
	case "interval":
		value, err = parseInterval(text)
	case "uuid":
		value, err = cql.ParseUUID(text)
	case "float64":
		value, err = parseFloat(text, 64)
	case "decimal", "numeric":
		a, ok := parseAmount(text)
		if value = a; !ok {
			return nil, true, fmt.Errorf("%q is not a decimal of at most %d digits", text, int128.MaxDigits)
		}
	default:
		return nil, false, nil
	}
	if err != nil {
		return nil, true, fmt.Errorf("%q is not a value of %s", text, name)
	}
	return value, true, nil
}
