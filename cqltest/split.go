// SPDX-License-Identifier: Apache-2.0

package cqltest

import "strings"

// Splitting of scripts into statements.

// splitStatements returns the statements of a script, without their ";". A ";" within strings, quoted names, comments,
// $$ bodies and BEGIN BATCH ... APPLY BATCH does not end a statement.
func splitStatements(script string) []string {
	var list []string
	start, batch, blank := 0, false, true
	word := "" // the previous word
	for i := 0; i < len(script); {
		rest := script[i:]
		switch c := script[i]; {
		case c == '\'' || c == '"':
			i += span(rest, 1, script[i:i+1])
			blank = false
		case strings.HasPrefix(rest, "$$"):
			i += span(rest, 2, "$$")
			blank = false
		case strings.HasPrefix(rest, "/*"):
			i += span(rest, 2, "*/")
		case strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "//"):
			i += span(rest, 2, "\n")
		case isLetter(c):
			n := 1
			for n < len(rest) && isLetter(rest[n]) {
				n++
			}
			this := strings.ToUpper(rest[:n])
			if this == "BATCH" {
				batch = word != "APPLY"
			}
			if batch && this == "BATCH" && word != "BEGIN" && word != "UNLOGGED" && word != "LOGGED" && word != "COUNTER" {
				batch = false // a name
			}
			word, blank = this, false
			i += n
		case c == ';' && !batch:
			if !blank {
				list = append(list, strings.TrimSpace(script[start:i]))
			}
			i++
			start, blank = i, true
		default:
			blank = blank && strings.IndexByte(" \t\r\n", c) >= 0
			i++
		}
	}
	if !blank {
		list = append(list, strings.TrimSpace(script[start:]))
	}
	return list
}

// span returns the length of the prefix of s that starts with n bytes and ends with end.
func span(s string, n int, end string) int {
	if k := strings.Index(s[n:], end); k >= 0 {
		return n + k + len(end)
	}
	return len(s)
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
