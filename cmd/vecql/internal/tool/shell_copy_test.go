// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// newCopyShop returns a tester in a folder of its own, with the tables items and, without rows, again.
func newCopyShop(t *testing.T) *tester {
	x := newTester(t, shop, "CREATE TABLE shop.again (id int PRIMARY KEY, name text, price double, tags set<text>, v vector<float, 3>)")
	x.env["VECQL_KEYSPACE"] = "shop"
	t.Chdir(t.TempDir())
	return x
}

// TestCopyCommand writes a table by COPY, loads the file, and requires the same rows.
func TestCopyCommand(t *testing.T) {
	x := newCopyShop(t)
	for i, options := range []string{
		"", "WITH HEADER = true", "WITH HEADER = TRUE AND NULL = '-' AND DELIMITER = '|'", "with quote = '''' and escape = '^'",
		"WITH DELIMITER='\\t' AND DECIMALSEP = ',' AND NULL=none", "WITH BOOLSTYLE = 'yes, no' AND HEADER = false",
	} {
		file := fmt.Sprintf("%d.csv", i)
		require.Equal(t, "unloaded 2 rows to "+file+"\n", x.requireRun("query", "COPY items TO '"+file+"' "+options))
		require.Equal(t, "loaded 2 rows from 1 file, 0 rejected\n", x.requireRun("query", "COPY shop.again FROM '"+file+"'\n"+options+";"), options)
		require.Equal(t, "2 rows are equal.\n", x.requireRun("verify", "shop.items", "shop.again"), options)
		x.requireRun("query", "TRUNCATE again")
	}
	require.Equal(t, []string{"", "chair;1", "table;2"},
		sortedLines([]byte(x.requireRun("query", "COPY items (name, id) TO STDOUT WITH DELIMITER = ';'"))))
	require.NoError(t, os.WriteFile("a.csv", []byte("lamp;7\n"), 0o600))
	require.NoError(t, os.WriteFile("b.csv", []byte("bed;8\n"), 0o600))
	x.requireRun("query", "CONSISTENCY ONE\nCOPY again (name, id) -- two files\nFROM 'a.csv, b.csv'\nWITH DELIMITER = ';' AND TTL = 1000 AND INGESTRATE = 9;")
	require.Equal(t, "id,name,price\n7,lamp,\n8,bed,\n", x.requireRun("query", "-o", "csv", "SELECT id, name, price FROM again WHERE id IN (7, 8)"))
	require.NotContains(t, x.requireRun("query", "-o", "csv", "SELECT ttl(name) FROM again WHERE id = 7"), "\n\n")

	x.requireRun("query", "TRUNCATE again")
	require.NoError(t, os.WriteFile("bad.csv", []byte("id,name,price,tags,v\n1,chair,2,{'a'},\nx,lamp,,,\n"), 0o600))
	require.Equal(t, "loaded 1 row from 1 file, 1 rejected\n", x.requireRun("query",
		"COPY again FROM 'bad.csv' WITH HEADER = true AND SKIPCOLS = 'price, tags' AND MAXPARSEERRORS = -1 AND ERRFILE = 'bad.jsonl'"))
	require.Equal(t, "id,name,price\n1,chair,\n", x.requireRun("query", "-o", "csv", "SELECT id, name, price FROM again"))
	bad, err := os.ReadFile("bad.jsonl")
	require.NoError(t, err)
	require.Contains(t, string(bad), `"record":"x,lamp,,,"`)
	x.in = "9,stool\n"
	require.Equal(t, "loaded 1 row from 1 file, 0 rejected\n", x.requireRun("query", "COPY again (id, name) FROM STDIN"))
}

// TestCopyInShell requires the keyspace and the consistency of the shell, and that a COPY has several lines.
func TestCopyInShell(t *testing.T) {
	x := newCopyShop(t)
	delete(x.env, "VECQL_KEYSPACE")
	history := filepath.Join(t.TempDir(), "history")
	got := runShell(x, history, &typist{lines: []string{
		"use shop;\r", "COPY items TO 'items.csv'\r", "WITH HEADER = true;\r", "copy again FROM stdin;\r", "CONSISTENCY ANY\r", "COPY items TO 'any.csv';\r",
	}})
	require.Contains(t, got.screen, "vecql:shop> COPY items TO 'items.csv'\n       ...> WITH HEADER = true;\nunloaded 2 rows to items.csv\n")
	require.Contains(t, got.errors, "error: COPY FROM STDIN: standard input has the statements; name a file\nerror: the consistency level ANY is for writes; ")
	require.Contains(t, got.history, "COPY items TO 'items.csv' WITH HEADER = true;")
	require.NoFileExists(t, "any.csv")
}

// TestCopyFailures requires an error for each COPY that is wrong.
func TestCopyFailures(t *testing.T) {
	x := newCopyShop(t)
	syntax := func(found, want string) string {
		return "COPY: found " + found + ", want " + want + ", as in " + copySyntax
	}
	for statement, want := range map[string]string{
		"COPY":                                                       syntax("the end", "the name of a table"),
		"COPY 'items' TO 'a.csv'":                                    syntax("'items'", "the name of a table"),
		"COPY items":                                                 syntax("the end", "TO or FROM"),
		"COPY items (id TO 'a.csv'":                                  syntax("TO", ")"),
		"COPY items TO a.csv":                                        syntax("a", "the name of a file in quotes or STDOUT"),
		"COPY items FROM stdout":                                     syntax("stdout", "the name of a file in quotes or STDIN"),
		"COPY items TO 'a.csv' HEADER = true":                        syntax("HEADER", "the end"),
		"COPY items TO 'a.csv' WITH":                                 syntax("the end", "an option"),
		"COPY items TO 'a.csv' WITH HEADER":                          syntax("the end", "="),
		"COPY items TO 'a.csv' WITH HEADER = AND":                    syntax("AND", "the value of HEADER"),
		"COPY items TO 'a.csv' WITH HEADER = maybe":                  `HEADER is "maybe", want true or false`,
		"COPY items TO 'a.csv' WITH HEADER = true AND HEADER = true": "COPY: the option HEADER is there twice",
		"COPY items TO 'a.csv' WITH DELIMITER = 'ab'":                `DELIMITER is "ab", want one ASCII character`,
		"COPY items TO 'a.csv' WITH HEDER = true":                    "COPY has no option HEDER, want HEADER, DELIMITER, QUOTE, ESCAPE, NULL, DECIMALSEP or BOOLSTYLE; did you mean HEADER?",
		"COPY items TO 'a.csv' WITH TTL = 5":                         "TTL is an option of COPY FROM, not of COPY TO",
		"COPY items TO 'a.csv' WITH BOOLSTYLE = yes":                 `BOOLSTYLE is "yes", want two words with a comma, such as yes,no`,
		"COPY items FROM 'a.csv' WITH TTL = -5":                      `TTL is "-5", want a number of seconds, at least 1`,
		"COPY items FROM 'a.csv' WITH MAXPARSEERRORS = few":          `MAXPARSEERRORS is "few", want a number of records, or -1 for any number`,
		"COPY items FROM 'a.csv' WITH chunksize = 5":                 "the option CHUNKSIZE of COPY is not supported: leave it out; vecql load --help and vecql unload --help list what there is",
		"COPY items TO 'a.parquet'":                                  "COPY is for CSV, and the name a.parquet is of another format: vecql load and vecql unload have it",
		"COPY items FROM 'none.csv'":                                 "stat none.csv: no such file or directory",
		"COPY items (id, nam) FROM 'a.csv'":                          "COPY: table items has no column nam; did you mean name?",
		"COPY itmes TO 'a.csv'":                                      "invalid request: table itmes does not exist",
	} {
		require.Equal(t, "vecql query: "+want, x.requireFailure(exitFailed, "query", statement), statement)
	}
	x.in = "COPY items FROM STDIN"
	require.Contains(t, x.requireFailure(exitFailed, "query"), "COPY FROM STDIN: standard input has the statements; name a file")
	require.NoFileExists(t, "a.csv")
}

// TestCopyOfCQLsh loads and writes a file that COPY FROM of cqlsh has loaded.
func TestCopyOfCQLsh(t *testing.T) {
	x := newCopied(t)
	const options = ` WITH HEADER = true AND NULL = '\N'`
	require.Equal(t, "loaded 5 rows from 1 file, 0 rejected\n", x.requireRun("query", "COPY copied.every_loaded FROM 'testdata/cqlsh-from.csv'"+options))
	path := filepath.Join(t.TempDir(), "every.csv")
	x.requireRun("query", "COPY copied.every_loaded TO '"+path+"'"+options)
	want, err := os.ReadFile("testdata/cqlsh-from.csv")
	require.NoError(t, err)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, sortedLines(want), sortedLines(got))
}
