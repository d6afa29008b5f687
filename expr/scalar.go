// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vecql/vecql/column"
)

// Functions that are computed value by value: of texts, and of numbers.

// A signature is the types of a function. args has a letter for each argument, the optional ones included: t is a text,
// i a signed integer, n any number, as a float.
type signature struct {
	args   string
	result column.Type
}

// signatures are the functions with a signature, by name. The functions of floatFunctions have one number.
var signatures = func() map[string]signature {
	all := map[string]signature{
		"trim": {"tt", typeString}, "ltrim": {"tt", typeString}, "rtrim": {"tt", typeString}, "reverse": {"t", typeString},
		"left": {"ti", typeString}, "right": {"ti", typeString}, "replace": {"ttt", typeString}, "lpad": {"tit", typeString},
		"rpad": {"tit", typeString}, "split_part": {"tti", typeString}, "strpos": {"tt", typeInt64},
		"ascii": {"t", typeInt64}, "chr": {"i", typeString}, "repeat": {"ti", typeString}, "translate": {"ttt", typeString},
		"md5": {"t", typeString}, "gcd": {"ii", typeInt64}, "lcm": {"ii", typeInt64},
		"bitand": {"ii", typeInt64}, "bitor": {"ii", typeInt64}, "bitxor": {"ii", typeInt64}, "bitnot": {"i", typeInt64},
		"bitshiftleft": {"ii", typeInt64}, "bitshiftright": {"ii", typeInt64},
		"make_date": {"iii", column.Type{Kind: column.Date}}, "pow": {"nn", typeFloat64}, "atan2": {"nn", typeFloat64},
	}
	for name := range floatFunctions {
		if !slices.Contains(roundings, name) {
			all[name] = signature{"n", typeFloat64}
		}
	}
	return all
}()

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
	case "trim", "ltrim", "rtrim":
		return b.trimmed(t, first)
	case "md5":
		return newMap(t, b.block, first, func(s string) (string, error) { return fmt.Sprintf("%x", md5.Sum([]byte(s))), nil })
	case "repeat":
		return newZip(t, b.block, first, b.ints(t.args[1]), repeated)
	case "translate":
		change := newZip(t, b.block, b.texts(t.args[1]), b.texts(t.args[2]), func(from, to string) ([2]string, error) {
			return [2]string{from, to}, nil
		})
		return newZip(t, b.block, first, change, func(s string, change [2]string) (string, error) {
			return translated(s, change[0], change[1]), nil
		})
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

// trimmed returns the lane of trim, ltrim or rtrim. Without characters these are spaces.
func (b *builder) trimmed(t *term, first lane[string]) lane[string] {
	trim := map[string]func(s, chars string) string{
		"trim": strings.Trim, "ltrim": strings.TrimLeft, "rtrim": strings.TrimRight,
	}[t.op]
	if len(t.args) == 1 {
		return newMap(t, b.block, first, func(s string) (string, error) { return trim(s, " "), nil })
	}
	return newZip(t, b.block, first, b.texts(t.args[1]), func(s, chars string) (string, error) {
		return trim(s, chars), nil
	})
}

// repeated returns a text n times.
func repeated(s string, n int64) (string, error) {
	if n = max(n, 0); s != "" && n > maxPadded/int64(len(s)) {
		return "", ErrOverflow
	}
	return strings.Repeat(s, int(n)), nil
}

// translated returns a text whose characters that from has are the ones of to in the same places. Those without a place
// in to are left out.
func translated(s, from, to string) string {
	source, target := split(from), split(to)
	var b strings.Builder
	for _, char := range split(s) {
		switch i := slices.Index(source, char); {
		case i < 0:
			b.WriteString(char)
		case i < len(target):
			b.WriteString(target[i])
		}
	}
	return b.String()
}

// split returns the characters of a text.
func split(s string) (chars []string) {
	for s != "" {
		char := firstChar(s)
		chars, s = append(chars, char), s[len(char):]
	}
	return chars
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
	return substringOf(s, 1, n)
}

// right returns the last n characters, or, if n is negative, all but the first -n.
func right(s string, n int64) string {
	characters := int64(utf8.RuneCountInString(s))
	if n < 0 {
		n = max(0, characters+n)
	}
	return substringOf(s, max(0, characters-n)+1, characters)
}

// maxPadded is the largest number of characters that texts are padded to, and of bytes that repeat returns.
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
	return strings.Repeat(fill, int(missing/each)) + substringOf(fill, 1, missing%each), nil
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
