// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Functions to numbers that are computed value by value.

// scalarInts returns the lane of a function to integers or dates.
func (b *builder) scalarInts(t *term) lane[int64] {
	switch t.op {
	case "strpos":
		return newZip(t, b.block, b.texts(t.args[0]), b.texts(t.args[1]), func(s, part string) (int64, error) {
			at := strings.Index(s, part)
			if at < 0 {
				return 0, nil
			}
			return int64(utf8.RuneCountInString(s[:at])) + 1, nil
		})
	case "ascii":
		return newMap(t, b.block, b.texts(t.args[0]), func(s string) (int64, error) {
			switch char := firstChar(s); {
			case char == "":
				return 0, nil
			case !utf8.ValidString(char):
				return int64(char[0]), nil
			default:
				r, _ := utf8.DecodeRuneInString(char)
				return int64(r), nil
			}
		})
	case "abs":
		return newMap(t, b.block, b.ints(t.args[0]), absolute)
	case "bitnot":
		return newMap(t, b.block, b.ints(t.args[0]), func(v int64) (int64, error) { return ^v, nil })
	case "make_date":
		rest := newZip(t, b.block, b.ints(t.args[1]), b.ints(t.args[2]), func(month, day int64) ([2]int64, error) {
			return [2]int64{month, day}, nil
		})
		return newZip(t, b.block, b.ints(t.args[0]), rest, func(year int64, rest [2]int64) (int64, error) {
			return dateOf(year, rest[0], rest[1])
		})
	}
	if f, ok := pairFunctions[t.op]; ok {
		return newZip(t, b.block, b.ints(t.args[0]), b.ints(t.args[1]), f)
	}
	return b.ints(t.args[0])
}

// pairFunctions are the functions of two integers.
var pairFunctions = map[string]func(v, w int64) (int64, error){
	"gcd": divisor, "lcm": multiple, "bitshiftleft": shiftedLeft, "bitshiftright": shiftedRight,
	"bitand": func(v, w int64) (int64, error) { return v & w, nil },
	"bitor":  func(v, w int64) (int64, error) { return v | w, nil },
	"bitxor": func(v, w int64) (int64, error) { return v ^ w, nil },
}

// shiftedLeft returns v times 2 to the power of n.
func shiftedLeft(v, n int64) (int64, error) {
	if n < 0 || v != 0 && n > 62 || v<<n>>n != v {
		return 0, ErrOverflow
	}
	return v << n, nil
}

// shiftedRight returns v divided by 2 to the power of n, rounded down.
func shiftedRight(v, n int64) (int64, error) {
	if n < 0 {
		return 0, ErrOverflow
	}
	return v >> n, nil
}

func absolute(v int64) (int64, error) {
	if v == math.MinInt64 {
		return 0, ErrOverflow
	}
	return max(v, -v), nil
}

// divisor returns the greatest common divisor. It is 0 of two zeros.
func divisor(v, w int64) (int64, error) {
	for w != 0 {
		v, w = w, v%w
	}
	return absolute(v)
}

// multiple returns the least common multiple. It is 0 if one of the two is.
func multiple(v, w int64) (int64, error) {
	if v == 0 || w == 0 {
		return 0, nil
	}
	d, err := divisor(v, w)
	if err != nil {
		return 0, err
	}
	product, ok := mulInt(v/d, w)
	if !ok {
		return 0, ErrOverflow
	}
	return absolute(product)
}

// maxYear is larger than all years of dates, which have 32 bits.
const maxYear = 6_000_000

// dateOf returns the days since 1970-01-01 of a date.
func dateOf(year, month, day int64) (int64, error) {
	if year < -maxYear || year > maxYear || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, ErrCast
	}
	days := dayOf(int(year), time.Month(month), int(day))
	if _, m, _ := (clock{perDay: 1, date: true}).time(days).Date(); m != time.Month(month) || days != int64(int32(days)) {
		return 0, ErrCast
	}
	return days, nil
}

// floatFunctions are the functions of one float, with the results of IEEE 754: NaN outside of the domain.
var floatFunctions = map[string]func(v float64) float64{
	"abs": math.Abs, "ceil": math.Ceil, "floor": math.Floor, "round": math.Round, "trunc": math.Trunc, "exp": math.Exp,
	"sqrt": math.Sqrt, "cbrt": math.Cbrt, "ln": math.Log, "log10": math.Log10, "log2": math.Log2, "sin": math.Sin,
	"cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan, "sinh": math.Sinh,
	"cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
	"cot":     func(v float64) float64 { return 1 / math.Tan(v) },
	"degrees": func(v float64) float64 { return v * (180 / math.Pi) },
	"radians": func(v float64) float64 { return v * (math.Pi / 180) },
	"gamma":   math.Gamma, "lgamma": func(v float64) float64 { l, _ := math.Lgamma(v); return l },
}

// scalarFloats returns the lane of a function to floats.
func (b *builder) scalarFloats(t *term) lane[float64] {
	first := b.floats(t.args[0])
	switch {
	case t.op == "pow" || t.op == "atan2":
		f := map[string]func(v, w float64) float64{"pow": math.Pow, "atan2": math.Atan2}[t.op]
		return newZip(t, b.block, first, b.floats(t.args[1]), func(v, w float64) (float64, error) { return f(v, w), nil })
	case len(t.args) == 2:
		return newZip(t, b.block, first, b.ints(t.args[1]), func(v float64, digits int64) (float64, error) {
			return rounded(v, digits), nil
		})
	}
	f := floatFunctions[t.op]
	return newMap(t, b.block, first, func(v float64) (float64, error) { return f(v), nil })
}

// rounded rounds to a number of digits behind the point, or before it if the number is negative: half away from zero.
func rounded(v float64, digits int64) float64 {
	if digits >= 0 && v == math.Trunc(v) { // also beyond the digits of floats
		return v
	}
	unit := math.Pow(10, math.Abs(float64(max(-400, min(digits, 400)))))
	if digits < 0 {
		if r := math.Round(v/unit) * unit; r == r {
			return r
		}
		return v * 0 // of the infinite unit
	}
	if r := math.Round(v*unit) / unit; !math.IsInf(r, 0) && r == r {
		return r
	}
	return v
}
