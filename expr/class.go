// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/int128"
)

// Classes of types, and literals as values of them.

// A class is a set of types whose values are computed in the same Go type.
type class uint8

const (
	classNone      class = iota // only IS NULL
	classBool                   // bool
	classInt                    // int64: all integers but Uint64
	classUint                   // uint64
	classFloat                  // float64
	classText                   // string
	classBytes                  // string: Binary, Fixed, UUID
	classDate                   // int64, days
	classTime                   // int64, units since midnight
	classTimestamp              // int64, units since 1970
	classDecimal                // int64, unscaled: Decimal64
	classWide                   // column.Int128, unscaled: Decimal128
	classVector
	classInterval // a literal
)

// classOf returns the class of a type.
func classOf(t column.Type) class {
	switch k := t.Kind; k {
	case column.Bool:
		return classBool
	case column.Uint64:
		return classUint
	case column.Float16, column.Float32, column.Float64:
		return classFloat
	case column.String:
		return classText
	case column.Binary, column.Fixed, column.UUID:
		return classBytes
	case column.Date:
		return classDate
	case column.Time:
		return classTime
	case column.Timestamp:
		return classTimestamp
	case column.Decimal64:
		return classDecimal
	case column.Decimal128:
		return classWide
	case column.Vector:
		return classVector
	default:
		if k >= column.Int8 && k <= column.Uint32 {
			return classInt
		}
	}
	return classNone
}

// isInts reports whether values of the class are computed as int64.
func (c class) isInts() bool { return c == classInt || c >= classDate && c <= classDecimal }

func (c class) isNumber() bool { return c >= classInt && c <= classFloat }

// isNumeric reports whether values of the class are numbers: integers, floats and decimals.
func (c class) isNumeric() bool { return c.isNumber() || c.isDecimal() }

func (c class) isDecimal() bool { return c == classDecimal || c == classWide }

// isTexts reports whether values of the class are computed as string.
func (c class) isTexts() bool { return c == classText || c == classBytes }

func isUnsigned(k column.Kind) bool { return k >= column.Uint8 && k <= column.Uint64 }

// A point is the position of a literal among the values of a type: the greatest value that is at most the literal. side
// is -1 if all values are greater than the literal, and 1 if all are less.
type point struct {
	bits  uint64  // an int64, or the uint64 of a Uint64
	float float64 // of floats
	wide  column.Int128
	exact bool // the value equals the literal
	side  int
}

// pointOf returns the position of a literal among the values of a type computed as int64, uint64 or float64; false if
// they do not compare.
func pointOf(value any, t column.Type) (point, bool) {
	class := classOf(t)
	if f, ok := value.(float64); ok && class != classDate && class != classTimestamp && class != classTime {
		switch {
		case class == classFloat:
			return point{float: f, exact: true}, true
		case math.IsNaN(f) || math.IsInf(f, 1):
			return point{side: 1}, true
		case math.IsInf(f, -1):
			return point{side: -1}, true
		}
	}
	if a, ok := value.(amount); ok && class == classFloat {
		return point{float: a.float(), exact: true}, true
	}
	r, ok := ratOf(value, t)
	if !ok {
		return point{}, false
	}
	if class == classFloat {
		f, exact := r.Float64()
		if !exact && new(big.Rat).SetFloat64(f).Cmp(r) > 0 {
			f = math.Nextafter(f, math.Inf(-1))
		}
		return point{float: f, exact: exact}, true
	}
	floor, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int)) // denominators are positive
	p := point{exact: rest.Sign() == 0}
	if class == classWide {
		if p.wide, ok = int128.OfBig(floor); !ok {
			p.side = floor.Sign()
		}
		return p, true
	}
	switch {
	case class == classUint && floor.Sign() < 0, class != classUint && !floor.IsInt64() && floor.Sign() < 0:
		p.side = -1
	case class == classUint && !floor.IsUint64(), class != classUint && !floor.IsInt64():
		p.side = 1
	case class == classUint:
		p.bits = floor.Uint64()
	default:
		p.bits = uint64(floor.Int64())
	}
	return p, true
}

// ratOf returns a literal in the unit of a type: days, units of time, unscaled decimals.
func ratOf(value any, t column.Type) (*big.Rat, bool) {
	class := classOf(t)
	r := new(big.Rat)
	switch v := value.(type) {
	case int64:
		r.SetInt64(v)
	case uint64:
		r.SetUint64(v)
	case float64:
		r.SetFloat64(v)
	case *big.Rat: // of a decimal
		r.Set(v)
	case amount:
		r = v.rat()
	case moment:
		r.SetInt64(v.at.Unix())
		r.Add(r, big.NewRat(int64(v.at.Nanosecond()), 1e9))
		switch class {
		case classDate:
			return r.Quo(r, big.NewRat(86400, 1)), true
		case classTimestamp:
			return r.Mul(r, big.NewRat(t.Unit.PerSecond(), 1)), true
		}
		return nil, false
	case timeOfDay:
		return ratOf(cql.Duration{Nanoseconds: int64(v)}, t)
	case cql.Duration:
		if class != classTime || v.Months != 0 || v.Days != 0 {
			return nil, false
		}
		return r.SetFrac(big.NewInt(v.Nanoseconds), big.NewInt(1e9/t.Unit.PerSecond())), true
	default:
		return nil, false
	}
	if class.isDecimal() {
		r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)))
	}
	return r, class.isNumber() || class.isDecimal()
}

// fromText converts a text literal to the literal of a type that has texts of its own. A decimal beside a float becomes
// the nearest float. Other literals stay.
func fromText(value any, t column.Type) (any, bool) {
	if a, ok := value.(amount); ok && classOf(t) == classFloat {
		return a.float(), true
	}
	s, ok := value.(string)
	if !ok {
		return value, true
	}
	switch classOf(t) {
	case classDate, classTimestamp:
		v, err := parseTimestamp(s)
		return v, err == nil
	case classTime:
		v, err := parseClock(s)
		return v, err == nil
	case classDecimal, classWide:
		r, ok := new(big.Rat).SetString(s)
		return r, ok && len(s) < maxDecimalText && strings.Trim(s, "+-.0123456789") == ""
	case classBytes:
		if t.Kind == column.UUID {
			id, err := cql.ParseUUID(s)
			return id, err == nil
		}
	}
	return value, true
}

// maxDecimalText is the length that texts of decimals are less than. Texts of floats have at most 326 bytes.
const maxDecimalText = 400

// decimalLiteral returns the shortest decimal text of a finite float, and other floats as they are.
func decimalLiteral(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return f
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// bytesOfLiteral returns the bytes of a literal of a text or of bytes.
func bytesOfLiteral(value any, t column.Type) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, t.Kind != column.UUID
	case []byte:
		return string(v), t.Kind != column.String
	case cql.UUID:
		return string(v[:]), t.Kind != column.String
	}
	return "", false
}
