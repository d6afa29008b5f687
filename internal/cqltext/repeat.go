// SPDX-License-Identifier: Apache-2.0

package cqltext

import "strings"

// Which writes may be executed twice.

// IsRepeatable reports whether executing a statement twice with the same values certainly has the effect of executing
// it once: an INSERT, UPDATE or DELETE without a condition, without functions such as now(), without arithmetic and
// without positions in lists. hasKeys reports whether a column is a set or a map, whose elements may be added or
// removed again.
func IsRepeatable(stmt string, hasKeys func(column string) bool) bool {
	first := FirstWord(stmt)
	if first != "INSERT" && first != "UPDATE" && first != "DELETE" || IsConditional(stmt) {
		return false
	}
	var last, operand string // the last word of the text, and the last one that is not part of a value
	values := first != "INSERT"
	for i := 0; i < len(stmt); {
		rest := stmt[i:]
		n := 1
		switch c := rest[0]; {
		case c == '"':
			n = quotedLen(rest, '"')
			last = UnquoteIdentifier(rest[:n])
			operand = last
		case opaqueLen(rest) > 0:
			n = opaqueLen(rest)
			if !isComment(rest) {
				last, operand = "", ""
			}
		case isNameByte(c):
			n = nameLen(rest)
			last = strings.ToLower(rest[:n])
			operand = last
			values = values || last == "values" || last == "json"
		case c == '(':
			if values && last != "" && !precedesParenthesis[last] {
				return false
			}
			last, operand = "", ""
		case c == '+' || c == '-':
			if values && !isSign(stmt[:i], rest) && (operand == "" || !hasKeys(operand)) {
				return false
			}
		case c == '[':
			if first == "DELETE" && operand != "" && !hasKeys(operand) {
				return false
			}
			last, operand = "", ""
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		default:
			last, operand = "", ""
		}
		i += n
	}
	return true
}

// precedesParenthesis are the words before a parenthesis that is not a call of a function.
var precedesParenthesis = map[string]bool{
	"values": true, "in": true, "and": true, "where": true, "set": true, "token": true,
}

// isSign reports whether the + or - at the start of rest is the sign of a number: it follows an operator or a
// parenthesis.
func isSign(before, rest string) bool {
	if len(rest) < 2 || rest[1] < '0' || rest[1] > '9' {
		return false
	}
	before = strings.TrimRight(before, " \t\r\n")
	return before == "" || strings.ContainsRune("=(,[{:<>", rune(before[len(before)-1]))
}
