// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vecql/vecql/column"
)

// Functions that are computed value by value: of texts, and of numbers.

// A signature is the types of a function. args has a letter for each argument: t is a text, i a signed integer, n any
// number, as a float.
type signature struct {
	args   string
	result column.Type
}

// signatures are the functions with a signature, by name.
var signatures = map[string]signature{
	"trim": {"t", typeString}, "ltrim": {"t", typeString}, "rtrim": {"t", typeString}, "reverse": {"t", typeString},
	"left": {"ti", typeString}, "right": {"ti", typeString}, "replace": {"ttt", typeString}, "lpad": {"tit", typeString},
	"rpad": {"tit", typeString}, "split_part": {"tti", typeString}, "strpos": {"tt", typeInt64},
	"ascii": {"t", typeInt64}, "chr": {"i", typeString},
	"sqrt": {"n", typeFloat64}, "exp": {"n", typeFloat64}, "ln": {"n", typeFloat64}, "log10": {"n", typeFloat64},
	"log2": {"n", typeFloat64}, "pow": {"nn", typeFloat64},
}

// roundings are the functions whose result has the type of the number that is the argument. Those but for abs leave
// integers as they are.
var roundings = []string{"abs", "ceil", "floor", "round", "trunc"}

// signature checks a function with a signature.
func (c *checker) signature(t *term, s signature) error {
	t.set(s.result)
	for i, a := range t.args {
		want, name := typeString, "a text"
		switch s.args[i] {
		case 'i':
			want, name = typeInt64, "a signed integer"
		case 'n':
			want, name = typeFloat64, "a number"
		}
		if a.untyped() {
			if err := c.settleArgument(a, want); err != nil {
				return err
			}
		}
		if a.typ != want && (want != typeInt64 || a.class != classInt) && (want != typeFloat64 || !a.class.isNumeric()) {
			return fault(t.e, "%s requires %s: %s", t.op, name, a.describe())
		}
	}
	return nil
}

// settleArgument gives a literal the type of an argument. A number keeps its own type, which a float may not have
// exactly.
func (c *checker) settleArgument(t *term, want column.Type) error {
	if want == typeFloat64 && t.value != nil {
		return c.settleAlone(t)
	}
	return c.settle(t, want)
}

// rounding checks the functions of roundings.
func (c *checker) rounding(t *term) error {
	a := t.args[0]
	if a.untyped() {
		if err := c.settleArgument(a, typeFloat64); err != nil {
			return err
		}
	}
	switch {
	case a.class.isDecimal():
		return c.decimalRounding(t)
	case !a.class.isNumber():
		return fault(t.e, "%s requires a number: %s", t.op, a.describe())
	case len(t.args) == 2:
		return c.signature(t, signature{"ni", typeFloat64})
	case a.class == classInt:
		t.set(typeInt64)
	case a.class == classUint:
		t.set(typeUint64)
	default:
		t.set(typeFloat64)
	}
	return nil
}

// scalarInts returns the lane of a function to integers.
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
		return newMap(t, b.block, b.ints(t.args[0]), func(v int64) (int64, error) {
			if v == math.MinInt64 {
				return 0, ErrOverflow
			}
			return max(v, -v), nil
		})
	}
	return b.ints(t.args[0])
}

// floatFunctions are the functions of one float, with the results of IEEE 754: NaN outside of the domain.
var floatFunctions = map[string]func(v float64) float64{
	"abs": math.Abs, "ceil": math.Ceil, "floor": math.Floor, "round": math.Round, "trunc": math.Trunc, "exp": math.Exp,
	"sqrt": math.Sqrt, "ln": math.Log, "log10": math.Log10, "log2": math.Log2,
}

// scalarFloats returns the lane of a function to floats.
func (b *builder) scalarFloats(t *term) lane[float64] {
	first := b.floats(t.args[0])
	switch {
	case t.op == "pow":
		by := b.floats(t.args[1])
		return newZip(t, b.block, first, by, func(v, by float64) (float64, error) { return math.Pow(v, by), nil })
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

// scalarTexts returns the lane of a function to texts.
func (b *builder) scalarTexts(t *term) lane[string] {
	if t.op == "chr" {
		return newMap(t, b.block, b.ints(t.args[0]), func(v int64) (string, error) {
			if v != int64(rune(v)) || !utf8.ValidRune(rune(v)) {
				return "", ErrCast
			}
			return string(rune(v)), nil
		})
	}
	first := b.texts(t.args[0])
	switch t.op {
	case "trim":
		return newMap(t, b.block, first, func(s string) (string, error) { return strings.Trim(s, " "), nil })
	case "ltrim":
		return newMap(t, b.block, first, func(s string) (string, error) { return strings.TrimLeft(s, " "), nil })
	case "rtrim":
		return newMap(t, b.block, first, func(s string) (string, error) { return strings.TrimRight(s, " "), nil })
	case "reverse":
		return newMap(t, b.block, first, func(s string) (string, error) { return inReverse(s), nil })
	case "left", "right":
		cut := left
		if t.op == "right" {
			cut = right
		}
		return newZip(t, b.block, first, b.ints(t.args[1]), func(s string, n int64) (string, error) { return cut(s, n), nil })
	case "replace":
		from := newZip(t, b.block, b.texts(t.args[1]), b.texts(t.args[2]), func(from, to string) (string, error) {
			return packed(int64(len(from)), from+to), nil
		})
		return newZip(t, b.block, first, from, func(s, arguments string) (string, error) {
			n, texts := unpacked(arguments)
			if n == 0 {
				return s, nil
			}
			from, to := texts[:n], texts[n:]
			if more := int64(len(to) - len(from)); more > 0 && int64(strings.Count(s, from)) > math.MaxInt32/more {
				return "", ErrOverflow // no column has such a text
			}
			return strings.ReplaceAll(s, from, to), nil
		})
	case "split_part":
		part := newZip(t, b.block, b.texts(t.args[1]), b.ints(t.args[2]), func(separator string, n int64) (string, error) {
			return packed(n, separator), nil
		})
		return newZip(t, b.block, first, part, func(s, arguments string) (string, error) {
			n, separator := unpacked(arguments)
			return splitPart(s, separator, n), nil
		})
	}
	fill := newZip(t, b.block, b.ints(t.args[1]), b.texts(t.args[2]), func(n int64, fill string) (string, error) {
		return packed(n, fill), nil
	})
	return newZip(t, b.block, first, fill, func(s, arguments string) (string, error) {
		n, fill := unpacked(arguments)
		missing, err := padding(s, n, fill)
		switch {
		case err != nil || n < int64(utf8.RuneCountInString(s)):
			return left(s, max(n, 0)), err
		case t.op == "lpad":
			return missing + s, nil
		}
		return s + missing, nil
	})
}

// packed returns an integer and a text as one text, for functions of three arguments.
func packed(n int64, s string) string {
	return string(binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(s)), uint64(n))) + s
}

func unpacked(s string) (int64, string) {
	return int64(binary.LittleEndian.Uint64([]byte(s[:8]))), s[8:]
}

// inReverse returns the characters of a text in reverse.
func inReverse(s string) string {
	out := make([]byte, len(s))
	for at := len(s); s != ""; {
		char := firstChar(s)
		at -= copy(out[at-len(char):], char)
		s = s[len(char):]
	}
	return string(out)
}

// left returns the first n characters, or, if n is negative, all but the last -n.
func left(s string, n int64) string {
	if n < 0 {
		n += int64(utf8.RuneCountInString(s))
	}
	return substring(s, 1, n)
}

// right returns the last n characters, or, if n is negative, all but the first -n.
func right(s string, n int64) string {
	characters := int64(utf8.RuneCountInString(s))
	if n < 0 {
		n = max(0, characters+n)
	}
	return substring(s, max(0, characters-n)+1, characters)
}

// maxPadded is the largest number of characters that texts are padded to.
const maxPadded = 1 << 20

// padding returns the characters of fill, again and again, that a text lacks of n characters. An empty fill has none.
func padding(s string, n int64, fill string) (string, error) {
	missing, each := max(n, 0)-int64(utf8.RuneCountInString(s)), int64(utf8.RuneCountInString(fill))
	switch {
	case n > maxPadded:
		return "", ErrOverflow
	case missing <= 0 || each == 0:
		return "", nil
	}
	return strings.Repeat(fill, int(missing/each)) + substring(fill, 1, missing%each), nil
}

// splitPart returns part n, counted from 1, or from the end if it is negative, of the parts of a text between
// separators. A part that is not there is empty. Without a separator the text is the only part.
func splitPart(s, separator string, n int64) string {
	parts := []string{s}
	if separator != "" {
		parts = strings.Split(s, separator)
	}
	if n < 0 {
		n += int64(len(parts)) + 1
	}
	if n < 1 || n > int64(len(parts)) {
		return ""
	}
	return parts[n-1]
}

// An extremeLane is the greatest or the least of several values that are not NULL.
type extremeLane[T any] struct {
	b      *block
	args   []lane[T]
	before func(v, than T) bool // v takes the place of than
	out    merged[T]
}

// extreme returns the lane of greatest or least. less is the order of the values.
func extreme[T any](b *builder, t *term, build func(*term) lane[T], less func(v, w T) bool) lane[T] {
	l := &extremeLane[T]{b: b.block, before: less, out: merged[T]{values: room[T](b.block)}}
	if t.op == "greatest" {
		l.before = func(v, w T) bool { return less(w, v) }
	}
	for _, a := range t.args {
		l.args = append(l.args, build(a))
	}
	return l
}

func (l *extremeLane[T]) eval(rows []int32) (vec[T], error) {
	l.out.start(l.b)
	for _, arg := range l.args {
		v, err := arg.eval(rows)
		if err != nil {
			return vec[T]{}, err
		}
		for _, r := range validRows(v.valid, rows, l.out.rows[:]) {
			if l.out.valid[r>>3]>>(r&7)&1 == 0 || l.before(v.values[r], l.out.values[r]) {
				l.out.values[r] = v.values[r]
				l.out.valid[r>>3] |= 1 << (r & 7)
			}
		}
	}
	return l.out.vec(l.b), nil
}

func lessThan[T int64 | uint64 | string](v, w T) bool { return v < w }

// lessFloat is the order of floats: NaN is the greatest.
func lessFloat(v, w float64) bool { return v < w || w != w && v == v }

// extremes checks greatest and least.
func (c *checker) extremes(t *term) error {
	if err := c.unify(t, t.args); err != nil {
		return err
	}
	if t.class == classBool {
		return fault(t.e, "%s takes no booleans; and, or", t.op)
	}
	return nil
}

// isScalar reports whether a function is computed by this file.
func isScalar(op string) bool {
	_, ok := signatures[op]
	return ok || slices.Contains(roundings, op)
}
