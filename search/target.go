// SPDX-License-Identifier: Apache-2.0

package search

import (
	"github.com/vecql/vecql/internal/cqltext"
)

// A target is a column of a table: "shop.products(embedding)", or a table, "shop.products". Names are spelled as the
// server stores them.
type target struct {
	keyspace, table string
	column          string // empty means the only column of vectors
}

// parseTarget parses the name of a table, perhaps without a keyspace, with or without a column, in CQL.
func parseTarget(text, keyspace string) (target, error) {
	var words []string
	for _, word := range cqltext.Tokens(text) {
		words = append(words, word)
	}
	t := target{keyspace: keyspace}
	rest := words
	if len(rest) >= 3 && rest[1] == "." {
		t.keyspace, rest = cqltext.UnquoteIdentifier(rest[0]), rest[2:]
	}
	if len(rest) == 4 && rest[1] == "(" && rest[3] == ")" && isName(rest[2]) {
		t.column, rest = cqltext.UnquoteIdentifier(rest[2]), rest[:1]
	}
	if len(rest) != 1 || !isName(rest[0]) {
		return t, errorf(`%w: %.100q: want "keyspace.table" or "keyspace.table(column)"`, ErrTarget, text)
	}
	if t.table = cqltext.UnquoteIdentifier(rest[0]); t.keyspace == "" {
		return t, errorf(`%w: %.100q: neither the name nor the session has a keyspace`, ErrTarget, text)
	}
	return t, nil
}

func isName(word string) bool { return cqltext.IsTable(word) }

func (t target) String() string { return t.keyspace + "." + t.table + "(" + t.column + ")" }

// inCQL returns the table in CQL.
func (t target) inCQL() string { return cqltext.QualifiedName(t.keyspace, t.table) }
