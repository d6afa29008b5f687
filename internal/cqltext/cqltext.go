// SPDX-License-Identifier: Apache-2.0

// Package cqltext inspects the text of CQL statements without parsing them: first word, condition, bind markers, quoted
// names.
package cqltext

import "strings"

// FirstWord returns the first word of a statement in upper case, or "" if the text does not begin with a word. It skips
// comments.
func FirstWord(stmt string) string {
	stmt = strings.TrimLeft(stmt, " \t\r\n;(")
	for stmt != "" && isComment(stmt) && opaqueLen(stmt) > 0 {
		stmt = strings.TrimLeft(stmt[opaqueLen(stmt):], " \t\r\n;(")
	}
	end := strings.IndexFunc(stmt, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') })
	if end < 0 {
		end = len(stmt)
	}
	switch word := stmt[:end]; word { // the usual spelling needs no copy
	case "SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN":
		return word
	default:
		return strings.ToUpper(word)
	}
}

// IsPreparable reports whether a statement without values should be prepared. Queries, writes and batches should,
// because a program may run them again; other statements, such as DDL, should not.
func IsPreparable(stmt string) bool {
	switch FirstWord(stmt) {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN":
		return true
	}
	return false
}

// IsSelect reports whether a statement is a SELECT. Executing one again writes nothing, whatever functions it calls:
// functions, user-defined ones too, cannot write.
func IsSelect(stmt string) bool { return FirstWord(stmt) == "SELECT" }

// IsUse reports whether a statement is a USE, which changes the keyspace of a connection.
func IsUse(stmt string) bool { return FirstWord(stmt) == "USE" }

// IsConditional reports whether a statement is certainly conditional (a lightweight transaction): an INSERT, UPDATE,
// DELETE or batch with the word IF outside of literals, quoted names and comments. IF is a reserved word, so it cannot
// be an unquoted name. A transaction of Cassandra 6 is not conditional: its rows do not say whether it was applied.
func IsConditional(stmt string) bool {
	switch FirstWord(stmt) {
	case "INSERT", "UPDATE", "DELETE":
		return hasWord(stmt, "IF")
	case "BEGIN":
		return hasWord(stmt, "IF") && !isTransaction(stmt)
	}
	return false
}

// isTransaction reports whether a statement that begins with BEGIN is a transaction of Cassandra 6, not a batch.
func isTransaction(stmt string) bool {
	words := 0
	for _, token := range Tokens(stmt) {
		if words++; words == 2 {
			return strings.EqualFold(token, "TRANSACTION")
		}
	}
	return false
}

// MayWriteSeveral reports whether a statement may write several partitions: a batch, a transaction, or an UPDATE or
// DELETE with the word IN, which is reserved like IF.
func MayWriteSeveral(stmt string) bool {
	switch FirstWord(stmt) {
	case "BEGIN":
		return true
	case "UPDATE", "DELETE":
		return hasWord(stmt, "IN")
	}
	return false
}

// hasWord reports whether a statement has the reserved word outside of literals, quoted names and comments.
func hasWord(stmt, reserved string) bool {
	word := true // the last byte is not part of a name
	for i := 0; i < len(stmt); {
		rest := stmt[i:]
		if n := opaqueLen(rest); n > 0 {
			i += n
			word = true
			continue
		}
		switch c := rest[0]; {
		case isNameByte(c):
			n := nameLen(rest)
			if word && strings.EqualFold(rest[:n], reserved) {
				return true
			}
			i += n
			word = true
		default:
			word = c != ':' && c != '.' // the next word is a named marker or a field
			i++
		}
	}
	return false
}

// BindMarkers returns the bind markers of a statement in order: an empty string for ?, the name for :name and :"name".
// It ignores literals, quoted names and comments.
func BindMarkers(stmt string) []string {
	var markers []string
	braces := 0      // number of open braces: literals of maps, sets and user-defined types
	inValue := false // the last token may be a key in braces, so a colon after it separates key and value
	for i := 0; i < len(stmt); {
		rest := stmt[i:]
		n := 1
		switch c := rest[0]; {
		case opaqueLen(rest) > 0:
			n = opaqueLen(rest)
			inValue = inValue || !isComment(rest)
		case isNameByte(c):
			n, inValue = nameLen(rest), true
		case c == '?':
			markers, inValue = append(markers, ""), true
		case c == ':' && !(braces > 0 && inValue):
			name, length := markerName(rest[1:])
			if length > 0 {
				markers, n = append(markers, name), 1+length
			}
			inValue = length > 0
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case c == '{':
			braces++
			inValue = false
		case c == '}':
			braces--
			inValue = true
		default:
			inValue = c == ')' || c == ']'
		}
		i += n
	}
	return markers
}

// markerName returns the name at the start of text, which follows a colon, and its length in text, 0 if there is none.
func markerName(text string) (name string, length int) {
	if strings.HasPrefix(text, `"`) {
		n := quotedLen(text, '"')
		return strings.ReplaceAll(strings.TrimSuffix(text[1:n], `"`), `""`, `"`), n
	}
	n := nameLen(text)
	return text[:n], n
}

// QuoteIdentifier returns a CQL identifier that means exactly name.
func QuoteIdentifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// UnquoteIdentifier returns the name that a CQL identifier means: the text within double quotes, or the lower case.
func UnquoteIdentifier(identifier string) string {
	if n := len(identifier); n > 1 && identifier[0] == '"' && identifier[n-1] == '"' {
		return strings.ReplaceAll(identifier[1:n-1], `""`, `"`)
	}
	return strings.ToLower(identifier)
}

// QualifiedName returns a table with its keyspace as CQL.
func QualifiedName(keyspace, table string) string {
	return QuoteIdentifier(keyspace) + "." + QuoteIdentifier(table)
}

// SplitTable returns the keyspace and the table that a name means, which IsTable accepts. A name without a keyspace is
// in the default one.
func SplitTable(text, defaultKeyspace string) (keyspace, table string) {
	keyspace = defaultKeyspace
	for _, word := range Tokens(text) {
		if word == "." {
			keyspace = table
		}
		table = UnquoteIdentifier(word)
	}
	return keyspace, table
}

// IsTable reports whether text is the name of a table, with or without a keyspace, and nothing else.
func IsTable(text string) bool {
	n := identifierLen(text)
	if n > 0 && n < len(text) && text[n] == '.' {
		text = text[n+1:]
		n = identifierLen(text)
	}
	return n > 0 && n == len(text)
}

// identifierLen returns the length of the identifier at the start of text, 0 if there is none.
func identifierLen(text string) int {
	switch {
	case text == "":
		return 0
	case text[0] == '"':
		n := quotedLen(text, '"')
		if n == 2 || strings.Count(text[:n], `"`)%2 != 0 { // empty, or without an end
			return 0
		}
		return n
	case text[0] == '_' || text[0] >= '0' && text[0] <= '9':
		return 0
	}
	return nameLen(text)
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// nameLen returns the length of the name, keyword or number at the start of text.
func nameLen(text string) int {
	n := 0
	for n < len(text) && isNameByte(text[n]) {
		n++
	}
	return n
}

// opaqueLen returns the length of the literal, quoted name or comment at the start of text, 0 if there is none.
func opaqueLen(text string) int {
	switch {
	case text[0] == '\'' || text[0] == '"':
		return quotedLen(text, text[0])
	case strings.HasPrefix(text, "$$"):
		return delimitedLen(text, "$$", "$$")
	case strings.HasPrefix(text, "--") || strings.HasPrefix(text, "//"):
		if i := strings.IndexAny(text, "\r\n"); i >= 0 { // either ends a line for servers
			return i + 1
		}
		return len(text)
	case strings.HasPrefix(text, "/*"):
		return delimitedLen(text, "/*", "*/")
	}
	return 0
}

// isComment reports whether the literal, quoted name or comment at the start of text is a comment.
func isComment(text string) bool { return text[0] == '-' || text[0] == '/' }

// quotedLen returns the length of the quoted literal or name at the start of text. A quote inside is doubled.
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

// delimitedLen returns the length of the part of text from open to the first end after it, or of all of text if there
// is no end.
func delimitedLen(text, open, end string) int {
	if i := strings.Index(text[len(open):], end); i >= 0 {
		return len(open) + i + len(end)
	}
	return len(text)
}
