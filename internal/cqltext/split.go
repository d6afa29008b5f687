// SPDX-License-Identifier: Apache-2.0

package cqltext

import "strings"

// Split returns the statements of a script that end in ";", without it and without comments before them, and the
// statement that the end of the script cuts off, "" for none. A ";" within a batch does not end a statement.
func Split(script string) (statements []string, rest string) {
	start, last := -1, "" // the offset of the first token of the statement, and its last token
	batch := false
	for i, token := range Tokens(script) {
		token = strings.ToUpper(token)
		switch {
		case token == ";" && !batch:
			if start >= 0 {
				statements = append(statements, strings.TrimSpace(script[start:i]))
			}
			start = -1
			continue
		case start < 0:
			start, batch = i, token == "BEGIN"
		case last == "APPLY" && token == "BATCH" || last == "COMMIT" && token == "TRANSACTION":
			batch = false
		}
		last = token
	}
	if start >= 0 {
		rest = strings.TrimSpace(script[start:])
	}
	return statements, rest
}
