// SPDX-License-Identifier: Apache-2.0

package cqltext

import "iter"

// Tokens yields the tokens of a statement with their offsets: names, keywords and numbers; quoted names and literals
// with their quotes; each other byte by itself. It skips comments and white space.
func Tokens(stmt string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := 0; i < len(stmt); {
			rest, n := stmt[i:], 1
			skip := rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n'
			switch {
			case opaqueLen(rest) > 0:
				n, skip = opaqueLen(rest), isComment(rest)
			case isNameByte(rest[0]):
				n = nameLen(rest)
			}
			if !skip && !yield(i, rest[:n]) {
				return
			}
			i += n
		}
	}
}
