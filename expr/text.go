// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vecql/vecql/column"
)

// Functions of texts.

// textTexts returns the lane of a function from texts to texts.
func (b *builder) textTexts(t *term) lane[string] {
	if t.op == "strftime" {
		return b.formatted(t)
	}
	first := b.texts(t.args[0])
	switch t.op {
	case "regexp_extract":
		re, group := regexp.MustCompile(t.args[1].value.(string)), 0
		if len(t.args) == 3 {
			group = int(t.args[2].value.(int64))
		}
		return newMap(t, b.block, first, func(s string) (string, error) {
			at := re.FindStringSubmatchIndex(s)
			if at == nil || at[2*group] < 0 {
				return "", nil
			}
			return s[at[2*group]:at[2*group+1]], nil
		})
	case "lower":
		return newMap(t, b.block, first, cased(strings.ToLower))
	case "upper":
		return newMap(t, b.block, first, cased(strings.ToUpper))
	case "regexp_replace":
		replace := replacer(t.args[1].value.(string), groups.Replace(t.args[2].value.(string)))
		return newMap(t, b.block, first, func(s string) (string, error) { return replace(s), nil })
	case "substring":
		from := b.ints(t.args[1])
		if len(t.args) == 2 {
			return newZip(t, b.block, first, from, func(s string, from int64) (string, error) {
				return substringOf(s, max(from, 1), int64(len(s))), nil
			})
		}
		window := newZip(t, b.block, from, b.ints(t.args[2]), func(from, count int64) ([2]int64, error) {
			return [2]int64{from, count}, nil
		})
		return newZip(t, b.block, first, window, func(s string, w [2]int64) (string, error) {
			return substringOf(s, w[0], w[1]), nil
		})
	}
	for _, a := range t.args[1:] { // concat
		first = newZip(t, b.block, first, b.texts(a), func(s, t string) (string, error) { return s + t, nil })
	}
	return first
}

// cased returns the function of lower or upper. It keeps bytes outside of UTF-8, which change replaces by U+FFFD.
func cased(change func(string) string) func(string) (string, error) {
	return func(s string) (string, error) {
		changed := change(s)
		if !strings.Contains(changed, "\uFFFD") || utf8.ValidString(s) {
			return changed, nil
		}
		var kept strings.Builder
		for s != "" {
			char := firstChar(s)
			s = s[len(char):]
			if utf8.ValidString(char) {
				char = change(char)
			}
			kept.WriteString(char)
		}
		return kept.String(), nil
	}
}

// groups replaces \1 by ${1} in a replacement of regexp_replace, and two backslashes by one.
var groups = func() *strings.Replacer {
	pairs := []string{`\\`, `\`}
	for digit := '0'; digit <= '9'; digit++ {
		pairs = append(pairs, `\`+string(digit), "${"+string(digit)+"}")
	}
	return strings.NewReplacer(pairs...)
}()

func (b *builder) length(t *term) lane[int64] {
	length := func(s string) (int64, error) { return int64(utf8.RuneCountInString(s)), nil }
	if t.args[0].typ.Kind == column.Binary || t.op == "strlen" {
		length = func(s string) (int64, error) { return int64(len(s)), nil }
	}
	each := newMap(t, b.block, b.texts(t.args[0]), length)
	if arg := t.args[0]; arg.op == opColumn && arg.typ.ValueWidth() == 0 {
		runes := t.op != "strlen" && arg.typ.Kind == column.String
		return &lengthLane{b.block, b.sources[arg.index], runes, each, room[int64](b.block)}
	}
	return each
}

// A lengthLane is the length of the texts of a column, from their offsets.
type lengthLane struct {
	b     *block
	s     *source
	runes bool // the length in characters: that in bytes if the texts are ASCII
	each  lane[int64]
	out   []int64
}

// eval measures texts with codes, and texts that are not ASCII, one by one.
func (l *lengthLane) eval(rows []int32) (vec[int64], error) {
	c := l.s.column
	if c.Dict != nil {
		return l.each.eval(rows)
	}
	offsets := c.Offsets[l.b.lo : l.b.lo+l.b.n+1]
	if l.runes && (len(rows) < l.b.n || !isASCII(c.Values[offsets[0]:offsets[l.b.n]])) {
		return l.each.eval(rows)
	}
	out := l.out[:l.b.n]
	for i := range out {
		out[i] = int64(offsets[i+1] - offsets[i])
	}
	return vec[int64]{out, l.s.bits(l.b)}, nil
}

// isASCII reports whether all bytes are below 0x80.
func isASCII(b []byte) bool {
	const high = 0x8080808080808080
	for ; len(b) >= 32; b = b[32:] {
		w := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) | binary.LittleEndian.Uint64(b[16:]) |
			binary.LittleEndian.Uint64(b[24:])
		if w&high != 0 {
			return false
		}
	}
	for _, x := range b {
		if x >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// likeness returns the filter of like, ilike, regexp, contains, starts_with and ends_with.
func (b *builder) likeness(t *term, not bool) filter {
	text, second := b.texts(t.args[0]), t.args[1]
	var match func(string) bool
	var test func(s, part string) bool
	switch t.op {
	case opLike, opILike:
		test = likeTest(t.op == opILike)
	case opRegexp:
		match = matcher(second.value.(string))
	case "contains":
		test = strings.Contains
	case "starts_with":
		test = strings.HasPrefix
	default:
		test = strings.HasSuffix
	}
	part, ok := bytesOfLiteral(second.value, second.typ)
	switch {
	case ok && (t.op == opLike || t.op == opILike):
		match = likeMatcher(part, t.op == opILike)
	case ok && test != nil:
		match = func(s string) bool { return test(s, part) }
	}
	if match != nil {
		rows := &matchFilter[string]{text, match, !not}
		if part, ok := containedText(t); ok && !not {
			return b.searched(t.args[0], part, rows)
		}
		return rows
	}
	both := newZip(t, b.block, text, b.texts(second), func(s, part string) (bool, error) { return test(s, part), nil })
	return &truthFilter{both, !not}
}

// containedText returns the text whose presence is all that a predicate requires: of contains, and of like with a
// pattern such as '%text%'.
func containedText(t *term) (string, bool) {
	part, ok := bytesOfLiteral(t.args[1].value, t.args[1].typ)
	switch {
	case t.op == "contains":
		return part, ok
	case t.op != opLike || !ok || len(part) < 2 || part[0] != '%' || part[len(part)-1] != '%':
		return "", false
	}
	part = part[1 : len(part)-1]
	return part, !strings.ContainsAny(part, "%_\\") && utf8.ValidString(part)
}

// isLikeness reports whether an operation is one of likeness.
func isLikeness(op string) bool {
	return slices.Contains([]string{opLike, opILike, opRegexp, "contains", "starts_with", "ends_with"}, op)
}
