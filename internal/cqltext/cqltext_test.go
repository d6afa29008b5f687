// SPDX-License-Identifier: Apache-2.0

package cqltext

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsConditional(t *testing.T) {
	for text, want := range map[string]bool{
		"INSERT INTO t (k) VALUES (?) IF NOT EXISTS":                                 true,
		"insert into t (k) values (?) if not exists":                                 true,
		"UPDATE t SET v = ? WHERE k = ? IF v = ?":                                    true,
		"UPDATE t SET v = ? WHERE k = ?\nIF\nEXISTS":                                 true,
		"DELETE FROM t WHERE k = ?IF EXISTS":                                         true,
		"DELETE FROM t WHERE k = 'a'IF EXISTS":                                       true,
		" /* IF */ -- IF\n UPDATE t SET v = 1 WHERE k = 2 IF v > 1":                  true,
		"BEGIN BATCH UPDATE t SET v = 1 WHERE k = 2 IF v = 1; APPLY BATCH":           true,
		"BEGIN BATCH UPDATE transaction SET v = 1 WHERE k = 2 IF v = 1; APPLY BATCH": true,
		"BEGIN TRANSACTION LET x = (SELECT v FROM t WHERE k = 1); IF x.v = 1 THEN UPDATE t SET v = 2 WHERE k = 1; END IF COMMIT TRANSACTION": false,
		"begin -- BATCH\n transaction IF x IS NULL THEN INSERT INTO t (k) VALUES (1); END IF COMMIT TRANSACTION":                             false,
		"INSERT INTO t (k) VALUES (?)":                                     false,
		"INSERT INTO t (k) VALUES (' IF NOT EXISTS')":                      false,
		"INSERT INTO t (k) VALUES ('it''s IF NOT EXISTS')":                 false,
		"INSERT INTO t (k) VALUES ($$ IF ' NOT $ EXISTS$$)":                false,
		`INSERT INTO " IF " (k) VALUES (?)`:                                false,
		`INSERT INTO "a"" IF " (k) VALUES (?)`:                             false,
		"INSERT INTO t (k) VALUES (?) -- IF NOT EXISTS":                    false,
		"INSERT INTO t (k) VALUES (?) // IF NOT EXISTS":                    false,
		"INSERT INTO t (k) /* IF */ VALUES (?) /* IF":                      false,
		"INSERT INTO t (gif, iffy, ifs, x_if, if1) VALUES (?, ?, ?, ?, ?)": false,
		"INSERT INTO t (k) VALUES (:if)":                                   false,
		"SELECT v FROM t WHERE k = ? IF":                                   false,
		"DELETE FROM t WHERE k = ? IF EXISTS BYPASS LARGE_DATA_GUARDRAILS": true,
		"UPDATE t USING TIMEOUT 5s SET v = ? WHERE k = ? IF v = null":      true,
		"PRUNE MATERIALIZED VIEW v WHERE k = 1":                            false,
		"CREATE TABLE IF NOT EXISTS t (k int PRIMARY KEY)":                 false,
		"INSERT INTO t (k) VALUES ('unfinished IF NOT EXISTS":              false,
		"'": false, `"`: false, "$$": false, "--": false, "/*": false, "": false, "INSERT": false, "é IF": false,
	} {
		require.Equal(t, want, IsConditional(text), text)
	}
}

func TestMayWriteSeveral(t *testing.T) {
	for text, want := range map[string]bool{
		"UPDATE t SET v = ? WHERE k IN (?, ?)":                                 true,
		"update t set v = ? where k in ?":                                      true,
		"DELETE FROM t WHERE k IN(1, 2)":                                       true,
		"BEGIN BATCH INSERT INTO t (k) VALUES (1) APPLY BATCH":                 true,
		"BEGIN TRANSACTION UPDATE t SET v = 2 WHERE k = 1; COMMIT TRANSACTION": true,
		"UPDATE t SET v = ? WHERE k = ?":                                       false,
		"UPDATE t SET v = ' IN ' WHERE k = :in":                                false,
		`DELETE "IN" FROM t WHERE k = ? -- IN`:                                 false,
		"INSERT INTO t (k, inn) VALUES (?, ?)":                                 false,
		"SELECT v FROM t WHERE k IN (1, 2)":                                    false,
		"":                                                                     false,
	} {
		require.Equal(t, want, MayWriteSeveral(text), text)
	}
}

func TestFirstWord(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1": "SELECT", "select 1": "SELECT", " \t\r\n;(insert": "INSERT", "USE ks": "USE", "use": "USE", "": "", "1": "", "-5": "",
		"-- x\nSELECT": "SELECT", "/* INSERT */ // USE\n select": "SELECT", "-- only": "", "/*": "", "/": "", "-": "",
		"-- x\rDELETE FROM t -- \nSELECT": "DELETE", "// x\r\nSELECT": "SELECT",
		"BEGIN BATCH": "BEGIN", "DROP TABLE t": "DROP", "é": "",
	} {
		require.Equal(t, want, FirstWord(text), text)
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { FirstWord("  SELECT * FROM t") }))
	require.True(t, IsUse("  use ks"))
	require.False(t, IsUse("USER"))
	require.True(t, IsPreparable("delete from t"))
	require.False(t, IsPreparable("CREATE TABLE t (k int PRIMARY KEY)"))
	require.False(t, IsPreparable("PRUNE MATERIALIZED VIEW v"))
	require.False(t, IsSelect("LIST EFFECTIVE SERVICE LEVEL OF r"))
}

func TestBindMarkers(t *testing.T) {
	for text, want := range map[string][]string{
		"UPDATE t SET name = ? WHERE id = ? IF name = ?":                                        {"", "", ""},
		"UPDATE t SET name = :new WHERE id = :id IF name=:old":                                  {"new", "id", "old"},
		`SELECT v FROM t WHERE k = :"My ""Key""" AND c IN :list LIMIT :n`:                       {`My "Key"`, "list", "n"},
		"INSERT INTO t (a, b) VALUES (:a,?) USING TTL :ttl":                                     {"a", "", "ttl"},
		"INSERT INTO t (a) VALUES ('? :a') -- ? :b\n IF NOT EXISTS /* ? */ // ?":                nil,
		`SELECT "?", ":x" FROM t WHERE k = $$?$$ AND c = ?`:                                     {""},
		"UPDATE t SET m = {'a': ?, 'b' : :b, ?: 1, :k : :v, 1:true, (x):?}":                     {"", "b", "", "k", "v", ""},
		"UPDATE t SET u = {street:'x', number: ?, at: now(), zip /* : */ :zip}":                 {""},
		"UPDATE t SET s = {:a, ?}, l = [:b, ?], m[?] = ?":                                       {"a", "", "b", "", "", ""},
		"UPDATE t SET s = {1} WHERE k IN (:a)":                                                  {"a"},
		"SELECT k FROM t WHERE BM25(v, ?) > 0 ORDER BY BM25(v, :words) LIMIT ? USING TIMEOUT ?": {"", "words", "", ""},
		"SELECT k FROM t ORDER BY ANN(v, :near) LIMIT 5 BYPASS CACHE":                           {"near"},
		"ALTER KEYSPACE ks WITH replication = {'dc': ['r1', 'r2']}":                             nil,
		"SELECT '": nil,
		":":        nil, ":?": {""}, "::a": {"a"}, `:"`: {""}, "}:a": {"a"}, "": nil,
	} {
		require.Equal(t, want, BindMarkers(text), text)
	}
}

// FuzzBindMarkers requires that any text is scanned to its end, and that each marker has its reported length.
func FuzzBindMarkers(f *testing.F) {
	f.Add(`UPDATE t SET m = {:a : ?, "b" : $$?$$} WHERE k = :"K" -- ?`)
	f.Fuzz(func(t *testing.T, text string) {
		length := 0
		for _, name := range BindMarkers(text) {
			length += 1 + len(name)
		}
		require.LessOrEqual(t, length, len(text))
	})
}

func TestQuoteIdentifier(t *testing.T) {
	require.Equal(t, `"ks"`, QuoteIdentifier("ks"))
	require.Equal(t, `"a""b"`, QuoteIdentifier(`a"b`))
	for _, name := range []string{"", "ks", "Ks", `"`, `a"`, `"a"`, `""`, "a.b", "ß Ä"} {
		require.Equal(t, name, UnquoteIdentifier(QuoteIdentifier(name)))
	}
	require.Equal(t, "ks", UnquoteIdentifier("Ks"))
	require.Equal(t, `"ks`, UnquoteIdentifier(`"Ks`), "not a quoted name")
}

// FuzzIsConditional requires that any text is scanned to its end.
func FuzzIsConditional(f *testing.F) {
	f.Add("UPDATE t SET v = 'it''s' WHERE k = ? IF v = $$ IF $$")
	f.Fuzz(func(t *testing.T, text string) {
		if IsConditional(text) {
			require.Contains(t, []string{"INSERT", "UPDATE", "DELETE", "BEGIN"}, FirstWord(afterComments(text)))
		}
	})
}

// afterComments returns text from its first name on.
func afterComments(text string) string {
	for i := 0; i < len(text); {
		switch rest := text[i:]; {
		case rest[0] == '\'' || rest[0] == '"':
			i += quotedLen(rest, rest[0])
		case len(rest) > 1 && (rest[:2] == "--" || rest[:2] == "//"):
			end := strings.IndexAny(rest, "\r\n")
			if end < 0 {
				return ""
			}
			i += end + 1
		case len(rest) > 1 && rest[:2] == "/*":
			i += delimitedLen(rest, "/*", "*/")
		case len(rest) > 1 && rest[:2] == "$$":
			i += delimitedLen(rest, "$$", "$$")
		case isNameByte(rest[0]):
			return rest
		default:
			i++
		}
	}
	return ""
}

func TestTokens(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT a, \"B c\" FROM ks.t -- x\nWHERE a='it''s' /* , */ AND b>=?;": {
			"SELECT", "a", ",", `"B c"`, "FROM", "ks", ".", "t", "WHERE", "a", "=", "'it''s'", "AND", "b", ">", "=", "?", ";",
		},
		"$$ a $$b":       {"$$ a $$", "b"},
		"1.5 - /":        {"1", ".", "5", "-", "/"},
		"'open":          {"'open"},
		"":               nil,
		" \t\r\n/* only": nil,
	} {
		var got []string
		for at, token := range Tokens(text) {
			require.Equal(t, token, text[at:at+len(token)])
			got = append(got, token)
		}
		require.Equal(t, want, got, text)
	}
}

// TestIsTable compares texts of the bytes that matter with a regular expression, the reference.
func TestSplitTable(t *testing.T) {
	for text, want := range map[string][2]string{
		"t": {"k", "t"}, "Shop.Items": {"shop", "items"}, `"Sh.op" . "a""b"`: {"Sh.op", `a"b`}, `"T"`: {"k", "T"},
	} {
		keyspace, table := SplitTable(text, "k")
		require.Equal(t, want, [2]string{keyspace, table}, text)
	}
}

func TestIsTable(t *testing.T) {
	reference := regexp.MustCompile(`^(?:[A-Za-z]\w*|"(?:[^"]|"")+")(?:\.(?:[A-Za-z]\w*|"(?:[^"]|"")+"))?$`)
	const letters = "a\"._1 Zé"
	var texts func(prefix string, n int)
	accepted := 0
	texts = func(prefix string, n int) {
		want := reference.MatchString(prefix)
		require.Equal(t, want, IsTable(prefix), "%q", prefix)
		if want {
			accepted++
		}
		for i := 0; n > 0 && i < len(letters); i++ {
			texts(prefix+letters[i:i+1], n-1)
		}
	}
	texts("", 5)
	require.NotZero(t, accepted)
}
