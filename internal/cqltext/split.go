// SPDX-License-Identifier: Apache-2.0

package cqltext

import "strings"

// Split returns the statements of a script that end in ";", without it and without comments around them, and the
// statement that the end of the script cuts off, "" for none. A ";" within a batch does not end a statement.
func Split(script string) (statements []string, rest string) {
	for {
		start, end, next := Next(script)
		if next == 0 {
			return statements, script[start:end]
		}
		statements = append(statements, script[start:end])
		script = script[next:]
	}
}

// Statements returns the statements of Split, and as the last one the statement that the end of the script cuts off.
func Statements(script string) []string {
	statements, rest := Split(script)
	if rest != "" {
		statements = append(statements, rest)
	}
	return statements
}

// Next returns the offsets of the first statement of a script, without comments around it and without the ";" after it,
// and the offset of what follows the ";". A server refuses a comment of -- or // at the end of a statement, because no
// line break ends it. next is 0 if the end of the script cuts the statement off; start and end are then equal if there
// is no statement.
func Next(script string) (start, end, next int) {
	start, end = len(script), len(script)
	last := "" // token of the statement
	batch := false
	for i, token := range Tokens(script) {
		upper := strings.ToUpper(token)
		switch {
		case token == ";" && last == "":
			continue
		case token == ";" && !batch:
			return start, end, i + 1
		case last == "":
			start, batch = i, upper == "BEGIN"
		case last == "APPLY" && upper == "BATCH" || last == "COMMIT" && upper == "TRANSACTION":
			batch = false
		}
		last, end = upper, i+len(token)
	}
	return start, end, 0
}
