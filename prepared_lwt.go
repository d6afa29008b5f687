// SPDX-License-Identifier: Apache-2.0

package vecql

import "strings"

// This file tells conditional statements by their text, for servers that do not mark them in the answer to PREPARE: only ScyllaDB does.

// isConditional reports whether a statement is certainly conditional: INSERT, UPDATE, DELETE or a batch with the word IF outside of
// literals, quoted names and comments. IF is reserved, so that nothing else is spelled so.
func isConditional(text string) bool {
	word := true // the last byte belongs to no name
	first := ""
	for i := 0; i < len(text); {
		rest := text[i:]
		switch c := rest[0]; {
		case c == '\'' || c == '"':
			i += quotedLen(rest, c)
			word = true
		case strings.HasPrefix(rest, "$$"):
			i += delimitedLen(rest, "$$", "$$")
			word = true
		case strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "//"):
			i += delimitedLen(rest, rest[:2], "\n")
			word = true
		case strings.HasPrefix(rest, "/*"):
			i += delimitedLen(rest, "/*", "*/")
			word = true
		case isNameByte(c):
			n := 1
			for n < len(rest) && isNameByte(rest[n]) {
				n++
			}
			if first == "" {
				switch first = strings.ToUpper(rest[:n]); first {
				case "INSERT", "UPDATE", "DELETE", "BEGIN":
				default:
					return false
				}
			} else if word && n == 2 && strings.EqualFold(rest[:2], "IF") {
				return true
			}
			i += n
			word = true
		default:
			word = c != ':' && c != '.' // a named marker, a field
			i++
		}
	}
	return false
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// quotedLen returns the length of the literal or name in quotes that text begins with; a doubled quote stands for itself.
func quotedLen(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		if text[i] != quote {
			continue
		}
		if i+1 == len(text) || text[i+1] != quote {
			return i + 1
		}
		i++
	}
	return len(text)
}

// delimitedLen returns the length of what text begins with, from open to the next end.
func delimitedLen(text, open, end string) int {
	if i := strings.Index(text[len(open):], end); i >= 0 {
		return len(open) + i + len(end)
	}
	return len(text)
}
