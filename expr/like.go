// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// LIKE patterns.

// A likePart is one character of a pattern, or one of the two wildcards.
type likePart struct {
	char string // "" of a wildcard
	any  bool   // %, otherwise _
}

// parseLike splits a pattern. The character after a backslash stands for itself; a backslash at the end too.
func parseLike(pattern string) []likePart {
	var parts []likePart
	for pattern != "" {
		char := firstChar(pattern)
		pattern = pattern[len(char):]
		switch {
		case char == "%":
			parts = append(parts, likePart{any: true})
		case char == "_":
			parts = append(parts, likePart{})
		case char == `\` && pattern != "":
			char = firstChar(pattern)
			pattern = pattern[len(char):]
			fallthrough
		default:
			parts = append(parts, likePart{char: char})
		}
	}
	return parts
}

// firstChar returns the first character, or the first byte if it begins no character in UTF-8.
func firstChar(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

// likeMatcher returns a function that reports whether a text matches a pattern. Patterns of texts between % become
// searches for these texts.
func likeMatcher(pattern string, fold bool) func(string) bool {
	parts := parseLike(pattern)
	texts := []string{""} // between wildcards %
	for _, p := range parts {
		switch {
		case p.any:
			texts = append(texts, "")
		case p.char == "" || fold || !utf8.ValidString(p.char): // such bytes may be part of a character
			return func(s string) bool { return matchLike(parts, s, fold) }
		default:
			texts[len(texts)-1] += p.char
		}
	}
	first, last := texts[0], texts[len(texts)-1]
	switch {
	case len(texts) == 1:
		return func(s string) bool { return s == first }
	case len(texts) == 2 && last == "":
		return func(s string) bool { return strings.HasPrefix(s, first) }
	case len(texts) == 2 && first == "":
		return func(s string) bool { return strings.HasSuffix(s, last) }
	case len(texts) == 3 && first == "" && last == "":
		return func(s string) bool { return strings.Contains(s, texts[1]) }
	}
	return func(s string) bool { return matchTexts(texts, s) }
}

// likeTest returns a function that reports whether a text matches a pattern. It keeps the matcher of the last pattern.
func likeTest(fold bool) func(s, pattern string) bool {
	last, match := "", likeMatcher("", fold)
	return func(s, pattern string) bool {
		if pattern != last {
			last = strings.Clone(pattern)
			match = likeMatcher(last, fold)
		}
		return match(s)
	}
}

// matchTexts reports whether s begins with the first text, ends with the last, and has the others in between, in order.
func matchTexts(texts []string, s string) bool {
	first, last := texts[0], texts[len(texts)-1]
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, text := range texts[1 : len(texts)-1] {
		i := strings.Index(s, text)
		if i < 0 {
			return false
		}
		s = s[i+len(text):]
	}
	return true
}

// matchLike matches character by character. After a mismatch it goes back to the last % and lets it stand for one
// character more; earlier ones need no other attempt.
func matchLike(parts []likePart, s string, fold bool) bool {
	i, back, rest := 0, -1, ""
	for s != "" {
		char := firstChar(s)
		switch {
		case i < len(parts) && parts[i].any:
			back, rest = i, s
			i++
			continue
		case i < len(parts) && (parts[i].char == "" || parts[i].char == char || fold && equalFold(parts[i].char, char)):
			i++
			s = s[len(char):]
			continue
		case back < 0:
			return false
		}
		rest = rest[len(firstChar(rest)):]
		s, i = rest, back+1
	}
	for i < len(parts) && parts[i].any {
		i++
	}
	return i == len(parts)
}

// equalFold reports whether two characters are equal under simple folding. Bytes outside of UTF-8 equal only
// themselves.
func equalFold(a, b string) bool {
	r, n := utf8.DecodeRuneInString(a)
	q, m := utf8.DecodeRuneInString(b)
	if r == utf8.RuneError && n == 1 || q == utf8.RuneError && m == 1 {
		return a == b
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f == q {
			return true
		}
	}
	return r == q
}

// substringOf returns count characters of s from number from on, counted from 1. Characters before the first count as
// empty.
func substringOf(s string, from, count int64) string {
	if count <= 0 {
		return ""
	}
	if from < 1 {
		if count += from; count <= 1 { // no overflow: the signs differ
			return ""
		}
		from, count = 1, count-1
	}
	for ; from > 1 && s != ""; from-- {
		s = s[len(firstChar(s)):]
	}
	end := 0
	for ; count > 0 && end < len(s); count-- {
		end += len(firstChar(s[end:]))
	}
	return s[:end]
}
