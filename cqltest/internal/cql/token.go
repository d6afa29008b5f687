// SPDX-License-Identifier: Apache-2.0

package cql

import "strings"

// Tokens and keywords (src/antlr/Lexer.g of Cassandra 5.0).

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEOF         tokenKind = iota
	tokenBad                   // invalid text; the parser reports it when it reaches it
	tokenSpace                 // white space or one comment
	tokenPunct                 // word is the text
	tokenIdent                 // not a keyword
	tokenKeyword               // word is the keyword, upper case
	tokenQuotedName            // "name"
	tokenEmptyName             // ""
	tokenString                // 'text' or $$text$$
	tokenInteger               // -1
	tokenFloat                 // -1.5e3
	tokenBoolean               // true
	tokenDuration              // 1h30m, P1Y
	tokenUUID                  // 8-4-4-4-12
	tokenHex                   // 0xcafe
	tokenNaN                   // NaN, -NaN
	tokenInfinity              // Infinity
	tokenNegInfinity           // -Infinity
)

// A token is text[start:end].
type token struct {
	kind       tokenKind
	start, end int
	word       string // tokenPunct, tokenKeyword
}

// isLast reports whether no token follows this one.
func (t token) isLast() bool { return t.kind == tokenEOF || t.kind == tokenBad }

// keywordClass is the places where a keyword may be a name.
type keywordClass uint8

const (
	reserved keywordClass = iota + 1 // nowhere
	basic                            // everywhere
	native                           // everywhere except as the name of a user-defined type: native types
	// as the name of columns, tables and keyspaces, not of functions and types, except KEY
	special
)

// A keyword is a word with a meaning in the grammar.
type keyword struct {
	word  string // upper case
	class keywordClass
}

// keywords are all keywords by word.
var keywords = func() map[string]keyword {
	m := map[string]keyword{}
	for class, words := range map[keywordClass]string{
		reserved: `ADD ALLOW ALTER AND APPLY ASC AUTHORIZE BATCH BEGIN BY COLUMNFAMILY CREATE DELETE DESC DESCRIBE DROP ENTRIES EXECUTE
			FROM FULL GRANT IF IN INDEX INSERT INTO IS KEYSPACE LIMIT MATERIALIZED MODIFY NORECURSIVE NOT NULL OF ON OR ORDER PRIMARY
			RENAME REVOKE SCHEMA SELECT SET TABLE TO TOKEN TRUNCATE UNLOGGED UPDATE USE USING VIEW WHERE WITH`,
		basic: `ACCESS AGGREGATE AGGREGATES ALL ANN AS CALLED CIDRS CLUSTER CLUSTERING COLUMNFAMILIES COMPACT CONTAINS CUSTOM DATACENTERS
			DEFAULT EXISTS FILTERING FINALFUNC FROZEN FUNCTION FUNCTIONS GROUP HASHED IDENTITY INITCOND INPUT INTERNALS KEYS KEYSPACES
			LANGUAGE LIKE LIST LOGIN MAP MASKED MBEAN MBEANS NOLOGIN NOSUPERUSER ONLY OPTIONS PARTITION PASSWORD PER PERMISSION
			PERMISSIONS REPLACE RETURNS ROLE ROLES SELECT_MASKED SFUNC STATIC STORAGE STYPE SUPERUSER TABLES TRIGGER TUPLE TYPE TYPES
			UNMASK UNSET USER USERS VALUES VECTOR`,
		native: `ASCII BIGINT BLOB BOOLEAN COUNTER DATE DECIMAL DOUBLE DURATION FLOAT INET INT SMALLINT TEXT TIME TIMESTAMP TIMEUUID
			TINYINT UUID VARCHAR VARINT`,
		special: `CAST COUNT DISTINCT JSON KEY MAXWRITETIME TTL WRITETIME`,
	} {
		for word := range strings.FieldsSeq(words) {
			m[word] = keyword{word, class}
		}
	}
	return m
}()

// keywordOf returns the keyword text, or the zero keyword. It does not allocate.
func keywordOf(text string) keyword {
	const longest = len("COLUMNFAMILIES")
	var upper [longest]byte
	if len(text) > longest {
		return keyword{}
	}
	for i := range len(text) {
		c := text[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper[i] = c
	}
	return keywords[string(upper[:len(text)])]
}
