// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vecql/vecql/column"
)

// The reference of the functions of texts.

// referenceCut has the functions that take parts of texts or add to them, on characters.
func referenceCut(t *term, args []any) (any, error) {
	chars := characters(args[0].(string))
	join := func(chars []string) (any, error) { return strings.Join(chars, ""), nil }
	number := func(i int) int { // as large as matters
		v := args[i].(*big.Int)
		if !v.IsInt64() || v.Int64() > 1e9 || v.Int64() < -1e9 {
			return v.Sign() * 1e9
		}
		return int(v.Int64())
	}
	switch t.op {
	case "trim", "ltrim", "rtrim":
		for t.op != "rtrim" && len(chars) > 0 && chars[0] == " " {
			chars = chars[1:]
		}
		for t.op != "ltrim" && len(chars) > 0 && chars[len(chars)-1] == " " {
			chars = chars[:len(chars)-1]
		}
		return join(chars)
	case "reverse":
		slices.Reverse(chars)
		return join(chars)
	case "left", "right":
		n := number(1)
		if n < 0 {
			n = max(0, len(chars)+n)
		}
		n = min(n, len(chars))
		if t.op == "left" {
			return join(chars[:n])
		}
		return join(chars[len(chars)-n:])
	case "lpad", "rpad":
		n, fill := number(1), characters(args[2].(string))
		if n > maxPadded {
			return nil, ErrOverflow
		}
		if n <= len(chars) {
			return join(chars[:max(0, n)])
		}
		var added []string
		for i := 0; len(fill) > 0 && len(added) < n-len(chars); i++ {
			added = append(added, fill[i%len(fill)])
		}
		if t.op == "lpad" {
			return join(append(added, chars...))
		}
		return join(append(chars, added...))
	case "ascii":
		if len(chars) == 0 {
			return new(big.Int), nil
		}
		if r, n := utf8.DecodeRuneInString(chars[0]); r != utf8.RuneError || n > 1 {
			return big.NewInt(int64(r)), nil
		}
		return big.NewInt(int64(chars[0][0])), nil
	}
	return referenceSplit(t, args)
}

// referenceSplit has the functions that look for a text in another one, byte by byte.
func referenceSplit(t *term, args []any) (any, error) {
	s, part := args[0].(string), args[1].(string)
	var before []string // the texts between
	last, first := 0, -1
	for at := 0; at+len(part) <= len(s) && (part != "" || at == 0); at++ {
		if s[at:at+len(part)] != part || at < last {
			continue
		}
		if first < 0 {
			first = at
		}
		if part != "" {
			before, last = append(before, s[last:at]), at+len(part)
		}
	}
	parts := append(before, s[last:])
	switch t.op {
	case "strpos":
		if first < 0 {
			return new(big.Int), nil
		}
		return big.NewInt(int64(len(characters(s[:first])) + 1)), nil
	case "replace":
		return strings.Join(parts, args[2].(string)), nil
	}
	n := args[2].(*big.Int)
	for i := range parts {
		if n.Cmp(big.NewInt(int64(i+1))) == 0 || n.Cmp(big.NewInt(int64(i-len(parts)))) == 0 {
			return parts[i], nil
		}
	}
	return "", nil
}

// characters splits a text as LIKE counts it.
func characters(s string) []string {
	var chars []string
	for s != "" {
		_, n := utf8.DecodeRuneInString(s)
		chars = append(chars, s[:n])
		s = s[n:]
	}
	return chars
}

func referenceText(t *term, args []any) (any, error) {
	s := args[0].(string)
	text := func(i int) string { return args[i].(string) }
	switch t.op {
	case "lower", "upper":
		chars := characters(s)
		for i, c := range chars {
			switch r, n := utf8.DecodeRuneInString(c); {
			case r == utf8.RuneError && n == 1:
			case t.op == "lower":
				chars[i] = string(unicode.ToLower(r))
			default:
				chars[i] = string(unicode.ToUpper(r))
			}
		}
		return strings.Join(chars, ""), nil
	case "length":
		if t.args[0].typ.Kind == column.Binary {
			return big.NewInt(int64(len(s))), nil
		}
		return big.NewInt(int64(len(characters(s)))), nil
	case "strlen":
		return big.NewInt(int64(len(s))), nil
	case "trim", "ltrim", "rtrim", "reverse", "left", "right", "lpad", "rpad", "ascii", "strpos", "replace", "split_part":
		return referenceCut(t, args)
	case "concat":
		for i := range args[1:] {
			s += text(i + 1)
		}
		return s, nil
	case "substring":
		var sub strings.Builder
		from, end := args[1].(*big.Int), big.NewInt(math.MaxInt64)
		if len(args) == 3 {
			end = new(big.Int).Add(from, args[2].(*big.Int))
		}
		for i, c := range characters(s) {
			if at := big.NewInt(int64(i + 1)); at.Cmp(from) >= 0 && at.Cmp(end) < 0 {
				sub.WriteString(c)
			}
		}
		return sub.String(), nil
	case "contains":
		return strings.Contains(s, text(1)), nil
	case "starts_with":
		return strings.HasPrefix(s, text(1)), nil
	case "ends_with":
		return strings.HasSuffix(s, text(1)), nil
	case opRegexp:
		return regexp.MustCompile(text(1)).MatchString(s), nil
	case "regexp_extract":
		group := 0
		if len(args) == 3 {
			group = int(args[2].(*big.Int).Int64())
		}
		if found := regexp.MustCompile(text(1)).FindStringSubmatch(s); found != nil {
			return found[group], nil
		}
		return "", nil
	case "regexp_replace":
		return regexp.MustCompile(text(1)).ReplaceAllString(s, groups.Replace(text(2))), nil
	}
	return referenceLike(characters(text(1)), characters(s), t.op == opILike), nil
}

// referenceLike matches a pattern by trying all splits.
func referenceLike(pattern, s []string, fold bool) bool {
	switch {
	case len(pattern) == 0:
		return len(s) == 0
	case pattern[0] == "%":
		return referenceLike(pattern[1:], s, fold) || len(s) > 0 && referenceLike(pattern, s[1:], fold)
	case len(s) == 0:
		return false
	case pattern[0] == "_":
		return referenceLike(pattern[1:], s[1:], fold)
	case pattern[0] == `\` && len(pattern) > 1:
		pattern = pattern[1:]
	}
	// EqualFold takes all bytes outside of UTF-8 as equal.
	same := pattern[0] == s[0] || fold && utf8.ValidString(pattern[0]) && utf8.ValidString(s[0]) &&
		strings.EqualFold(pattern[0], s[0])
	return same && referenceLike(pattern[1:], s[1:], fold)
}
