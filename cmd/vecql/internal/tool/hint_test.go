// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

func TestNearest(t *testing.T) {
	candidates := []string{"items", "id", "name", "QUORUM", "similarity_cosine"}
	for name, want := range map[string]string{
		"itms": "items", "ITEMSS": "items", "anme": "name", "quorm": "QUORUM", "similarty_cosin": "similarity_cosine",
		"ix": "id", "x": "", "none": "", "items": "", "": "", "orders": "",
	} {
		require.Equal(t, want, nearest(name, candidates), name)
	}
	require.Empty(t, nearest(strings.Repeat("name", 1<<20), candidates))
	for pair, want := range map[[2]string]int{
		{"", "abc"}: 3, {"abc", "abc"}: 0, {"ab", "ba"}: 1, {"kitten", "sitting"}: 3, {"abcd", "acbd"}: 1,
	} {
		require.Equal(t, want, distance(pair[0], pair[1]), pair)
		require.Equal(t, want, distance(pair[1], pair[0]), pair)
	}
}

// TestUnknownNames requires the names that are meant, in statements and in arguments of verbs.
func TestUnknownNames(t *testing.T) {
	x := newTester(t, shop, backup, `CREATE TABLE shop."Orders" (id int PRIMARY KEY, "At" timestamp)`)
	for stmt, want := range map[string]string{
		"SELECT id FROM shop.itmes":                            "table itmes does not exist; did you mean shop.items?",
		"USE shop; SELECT id FROM itmes":                       "table itmes does not exist; did you mean items?",
		"USE shop; SELECT id FROM ordres":                      `table ordres does not exist; did you mean "Orders"?`,
		"USE system; SELECT id FROM items":                     "table items does not exist; did you mean backup.items?",
		"SELECT id FROM shpo.items":                            "keyspace shpo does not exist; did you mean shop?",
		"USE shpo":                                             "the keyspace shpo does not exist; did you mean shop?",
		"SELECT anme FROM shop.items":                          "Undefined column name anme in table shop.items; did you mean name?",
		"UPDATE shop.items SET prce = 1 WHERE id = 1":          "Undefined column name prce in table shop.items; did you mean price?",
		`SELECT at FROM shop."Orders"`:                         `Undefined column name at in table shop."Orders"; did you mean "At"?`,
		"SELECT conut(id) FROM shop.items":                     "did you mean count?",
		"SELECT id FORM shop.items":                            "did you mean FROM?",
		"CREATE TABLE shop.w (id int PRIMARY KEY, token text)": `did you mean "token"?`,
		"DELTE FROM shop.items WHERE id = 1":                   "did you mean DELETE?",
		"DESCRIBE shop.itms":                                   "did you mean shop.items?",
		"DESCRIBE TABLE shop.itms":                             "did you mean shop.items?",
		"DESCRIBE KEYSPACE shpo":                               "did you mean shop?",
		"INSERT INTO shop.items (id, nme) VALUES (1, '')":      "did you mean name?",
	} {
		require.True(t, strings.HasSuffix(x.requireFailure(exitFailed, "query", stmt), want),
			"%s: %s", stmt, x.requireFailure(exitFailed, "query", stmt))
	}
	for _, stmt := range []string{"SELECT id FROM shop.orchids", "SELECT id FROM from shop.items"} {
		require.NotContains(t, x.requireFailure(exitFailed, "query", stmt), "did you mean")
	}
	for args, want := range map[string]string{
		"unload shop.itms x.csv":       "vecql unload: invalid request: table itms does not exist; did you mean shop.items?",
		"count shpo.items":             "vecql count: invalid request: keyspace shpo does not exist; did you mean shop?",
		"copy shop.items backup.itmes": "vecql copy: invalid request: table itmes does not exist; did you mean backup.items?",
	} {
		require.Equal(t, want, x.requireFailure(exitFailed, strings.Fields(args)...))
	}
}

// TestUnknownNamePatterns has texts of Cassandra and ScyllaDB that cqltest does not have.
func TestUnknownNamePatterns(t *testing.T) {
	for text, want := range map[string]string{
		"unconfigured table itmes":                              "2 itmes",
		"Keyspace 'shpo' does not exist":                        "1 shpo",
		"Unrecognized name anme":                                "3 anme",
		"Undefined name anme in where clause ('anme = 1')":      "3 anme",
		"Unknown identifier anme":                               "3 anme",
		"Unknown function 'conut'":                              "4 conut",
		"'itms' not found in keyspace 'shop'":                   "2 itms",
		"line 1:10 no viable alternative at input 'FORM' (...)": "0 ",
		"Not enough replicas":                                   "0 ",
	} {
		kind, name := unknownName(&cql.ServerError{Code: cql.CodeInvalid, Message: text})
		require.Equal(t, want, fmt.Sprintf("%d %s", kind, name), text)
	}
}
