// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"regexp"
	"strconv"
	"strings"
)

// Patterns in the ways that SQL has beside like. Each becomes a regular expression.

// rewritten parses an operand that is a text literal, and returns the literal that f makes of its text.
func (p *parser) rewritten(f func(string) string) Expr {
	at := p.Start
	return p.changed(at, p.bits(), f)
}

// changed returns the literal that f makes of a text literal.
func (p *parser) changed(at int, e Expr, f func(string) string) Expr {
	text, ok := e.n.value.(string)
	if !ok {
		p.failAt(at, "a text literal", strconv.Quote(e.String()))
		return Lit(nil)
	}
	return p.literal(at, f(text))
}

// anchored returns the regular expression that matches whole texts only.
func anchored(pattern string) string { return "^(?:" + pattern + ")$" }

// inAnyCase returns the regular expression that matches letters in any case.
func inAnyCase(pattern string) string { return "(?i)" + pattern }

// replaced is the form of regexp_replace with options: g, which means all matches and must be there, and the options of
// the form matches.
func replaced(p *parser, at int, args []Expr) Expr {
	if len(args) < 4 {
		return p.make(at, "regexp_replace", args...)
	}
	options, ok := args[3].n.value.(string)
	if !ok || strings.Trim(options, "cgis") != "" || !strings.Contains(options, "g") {
		p.failAt(at, "options of c, i and s, and g: all matches are replaced", args[3].String())
	}
	pattern := p.changed(at, args[1], func(s string) string { return flags(options) + s })
	return p.make(at, "regexp_replace", args[0], pattern, args[2])
}

// flags returns options as the flags of a regular expression. The last one of i and c counts.
func flags(options string) string {
	set := ""
	if strings.LastIndexByte(options, 'i') > strings.LastIndexByte(options, 'c') {
		set += "i"
	}
	if strings.Contains(options, "s") {
		set += "s"
	}
	if set == "" {
		return ""
	}
	return "(?" + set + ")"
}

// globbed returns the regular expression of a pattern of glob: * are any characters, ? is one, [a-c] and [!a-c] are one
// of a set, and a backslash stands before a character for itself. A pattern with an open set matches nothing.
func globbed(pattern string) string {
	var b strings.Builder
	for pattern != "" {
		char := firstChar(pattern)
		pattern = pattern[len(char):]
		set, rest, closed := globSet(pattern)
		switch {
		case char == "*":
			b.WriteString("(?s:.*)")
		case char == "?":
			b.WriteString("(?s:.)")
		case char == `\` && pattern != "":
			char = firstChar(pattern)
			pattern = pattern[len(char):]
			b.WriteString(regexp.QuoteMeta(char))
		case char == "[" && closed:
			b.WriteString("[")
			if set[0] == '!' {
				b.WriteString("^")
				set = set[1:]
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "^", `\^`).Replace(set) + "]")
			pattern = rest
		case char == "[":
			return nothing
		default:
			b.WriteString(regexp.QuoteMeta(char))
		}
	}
	return anchored(b.String())
}

// nothing is the regular expression without a match.
const nothing = `[^\x00-\x{10FFFF}]`

// globSet returns the set of a pattern behind its bracket, and the pattern behind the set. A closing bracket that comes
// first is part of the set.
func globSet(pattern string) (set, rest string, closed bool) {
	least := len("x")
	if strings.HasPrefix(pattern, "!") {
		least = len("!x")
	}
	if len(pattern) < least {
		return "", pattern, false
	}
	end := strings.IndexByte(pattern[least:], ']') + least
	if end < least {
		return "", pattern, false
	}
	return pattern[:end], pattern[end+1:], true
}

// matches is the form of a match of a regular expression, which f may change. The options are i (in any case), c (not),
// and s (a point is any character).
func matches(f func(string) string) form {
	return form{arity{2, 3}, func(p *parser, at int, args []Expr) Expr {
		options := ""
		if len(args) == 3 {
			var ok bool
			if options, ok = args[2].n.value.(string); !ok || strings.Trim(options, "cis") != "" {
				p.failAt(at, "options of c, i and s", args[2].String())
			}
		}
		pattern := p.changed(at, args[1], func(s string) string { return flags(options) + f(s) })
		return p.make(at, opRegexp, args[0], pattern)
	}}
}
