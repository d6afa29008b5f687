// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A typist is a terminal: each Read returns the keys of one line, and Write keeps the output.
type typist struct {
	lines  []string
	before func(line int) // called before a line is typed
	read   int
}

// Read implements io.Reader.
func (t *typist) Read(p []byte) (int, error) {
	if t.read == len(t.lines) {
		return 0, io.EOF
	}
	if t.before != nil {
		t.before(t.read)
	}
	t.read++
	return copy(p, t.lines[t.read-1]), nil
}

// shellRun is the outcome of a shell.
type shellRun struct {
	screen, errors string
	history        []string
}

// runShell runs the shell on lines of keys.
func runShell(x *tester, historyFile string, keys *typist) shellRun {
	x.t.Helper()
	var out, errOut bytes.Buffer
	e := newEnv(nil, &out, &errOut)
	e.getenv = func(name string) string { return x.env[name] }
	cfg, err := e.clusterConfig()
	require.NoError(x.t, err)
	r := &runner{e: e, o: queryOptions{pageSize: 100}, cfg: cfg}
	r.session, err = e.open(x.ctx, cfg)
	require.NoError(x.t, err)
	h := openHistory(historyFile)
	require.NoError(x.t, newShell(r, keys, e.out, h).loop(x.ctx))
	r.session.Close()
	return shellRun{strings.ReplaceAll(out.String(), "\r", ""), errOut.String(), h.entries}
}

func TestShell(t *testing.T) {
	x := newTester(t, shop)
	file := filepath.Join(t.TempDir(), "new", "history")
	first := runShell(x, file, &typist{lines: []string{
		"SELECT name\r", "FROM shop.items WHERE id = 1; SELECT id\r", " FROM shop.items WHERE id = 2;\r",
		"use shop;\r", "SELECT id FROM none;\r", "SELECT id FROM items -- comment\r", "WHERE id = 2;\r",
		"CREATE ROLE a WITH PASSWORD = 'b';\r",
		"EXIT;\r", "SELECT id FROM items;\r",
	}})
	require.Equal(t, "error: invalid request: table none does not exist\nerror: "+
		"invalid request: CREATE ROLE is not supported\n", first.errors)
	require.Equal(t, "vecql> SELECT name\n  ...> FROM shop.items WHERE id = 1; SELECT id\n"+
		"name\n-----\nchair\n1 row\n"+
		"  ...>  FROM shop.items WHERE id = 2;\nid\n--\n 2\n1 row\nvecql> use shop;\nvecql:shop> SELECT id FROM none;\n"+
		"vecql:shop> SELECT id FROM items -- comment\n       ...> WHERE id = 2;\nid\n--\n 2\n1 row\n"+
		"vecql:shop> CREATE ROLE a WITH PASSWORD = 'b';\nvecql:shop> EXIT;\n", first.screen)
	want := []string{
		"SELECT name FROM shop.items WHERE id = 1;", "SELECT id  FROM shop.items WHERE id = 2;", "use shop;", "SELECT id FROM none;",
		"SELECT id FROM items WHERE id = 2;", // without its comment
	}
	require.Equal(t, want, first.history)

	const up = "\x1b[A"
	second := runShell(x, file, &typist{lines: []string{up + up + up + up + "\r", "half a statement\r", "x\x03", up + "\r"}})
	require.Equal(t, 2, strings.Count(second.screen, "id\n--\n 2\n1 row\n"), second.screen)
	require.Contains(t, second.screen, "^C\nvecql> ")
	require.Empty(t, second.errors)
	const search = "\x12"
	third := runShell(x, file, &typist{lines: []string{"from shop" + search + "\r", "from shop" + search + search + "\r", "none at all" + search + "\x03"}})
	require.Equal(t, 1, strings.Count(third.screen, "id\n--\n 2\n1 row\n"), third.screen)
	require.Equal(t, 1, strings.Count(third.screen, "chair\n1 row\n"), third.screen)
	require.Contains(t, third.screen, "none at all")
	require.Empty(t, third.errors)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestShellCommands(t *testing.T) {
	x := newTester(t, shop)
	got := runShell(x, "", &typist{lines: []string{
		"help\r", "timing on\r", "USE shop;\r", "TIMING\r", "tracing;\r", "CONSISTENCY\r", "consistency local_one\r", "consistency few\r", "quit\r",
	}})
	require.Contains(t, got.screen, helpIntro+commandHelp())
	require.Contains(t, got.screen, "timing on\nTiming is on.\n")
	require.Contains(t, got.screen, "TIMING\nTiming is on.\n")
	require.Contains(t, got.screen, "Tracing is off.\n")
	require.Contains(t, got.screen, "CONSISTENCY\nConsistency is ONE.\n")
	require.Contains(t, got.screen, "Consistency is LOCAL_ONE.\n")
	require.Equal(t, "error: unknown consistency \"FEW\"\n", got.errors)
	got = runShell(x, "", &typist{lines: []string{"consistency three\r", "SELECT id FROM shop.items WHERE id = 1;\r"}})
	require.Contains(t, got.errors, "error: unavailable: ")
}

// TestShellHistory prints and empties the history.
func TestShellHistory(t *testing.T) {
	x := newTester(t, shop)
	file := filepath.Join(t.TempDir(), "history")
	got := runShell(x, file, &typist{lines: []string{
		"timing off\r", "USE shop;\r", "SELECT id FROM items WHERE id = 1;\r", "history\r", "HISTORY 2;\r", "\\s\r", "HISTORY 0\r", "history few\r",
	}})
	require.Contains(t, got.screen, "vecql:shop> history\ntiming off\nUSE shop;\nSELECT id FROM items WHERE id = 1;\n"+
		"vecql:shop> HISTORY 2;\nUSE shop;\nSELECT id FROM items WHERE id = 1;\n"+
		"vecql:shop> \\s\nUSE shop;\nSELECT id FROM items WHERE id = 1;\nvecql:shop> HISTORY 0\n")
	require.Equal(t, "error: HISTORY is 0, want CLEAR or a number, at least 1\nerror: HISTORY is few, want CLEAR or a number, at least 1\n", got.errors)
	require.Len(t, got.history, 3)

	const up = "\x1b[A"
	got = runShell(x, file, &typist{lines: []string{"History clear\r", "HISTORY\r", up + "\r", "USE shop;\r"}})
	require.Equal(t, "vecql> History clear\nThe history is empty.\nvecql> HISTORY\nvecql> \nvecql> USE shop;\nvecql:shop> \n", got.screen)
	require.Empty(t, got.errors)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "USE shop;\n", string(text))
	require.Equal(t, "vecql> HISTORY clear\nThe history is empty.\nvecql> \n", runShell(x, "", &typist{lines: []string{"HISTORY clear\r"}}).screen)
}

func TestShellCompletes(t *testing.T) {
	x := newTester(t, shop, "CREATE TABLE shop.images (id int PRIMARY KEY, pixels blob)")
	got := runShell(x, "", &typist{lines: []string{
		"use shop;\r", "sel\tpric\tfrom shop.it\tWHE\tid = 1;\r", "DESCRIBE shop.i\t\x03",
	}})
	require.Contains(t, got.screen, "price\n-----\n 49.5\n1 row\n", "SELECT price FROM shop.items WHERE id = 1")
	require.Contains(t, got.screen, "shop.images  shop.items\n")
	require.Empty(t, got.errors)
}

func TestComplete(t *testing.T) {
	names := schemaNames{
		tables: map[string]map[string][]string{
			"shop":   {"items": {"id", "name"}, "Orders": {"id", "At"}},
			"system": {"local": {"key"}},
		},
		functions: map[string][]string{"shop": {"nameOf"}},
	}
	for text, want := range map[string]string{
		"sel":                                    "SELECT",
		"SELECT na| FROM items":                  "name",
		"SELECT na| FROM shop.items":             "name",
		"SELECT k| FROM system.local WHERE":      "key",
		"SELECT * FROM ":                         `"Orders" items shop. system.`,
		"SELECT * FROM i":                        "items",
		"SELECT * FROM system.":                  "system.local",
		`INSERT INTO "Or`:                        `"Orders"`,
		`UPDATE shop."Orders" SET "`:             `"At"`,
		"USE s":                                  "shop system",
		"DROP KEYSPACE sh":                       "shop",
		"SELECT nam":                             "name",
		"SELECT * FROM none.":                    "",
		"SELECT name FROM items WHERE id":        "",
		"SELECT name FROM items WHERE nam":       "name",
		"timing ":                                "OFF ON",
		"USE shop; PAGING o":                     "OFF ON",
		"SHOW ":                                  "HOST SESSION VERSION",
		"consistency local_":                     "LOCAL_ONE LOCAL_QUORUM LOCAL_SERIAL",
		"serial consistency s":                   "SERIAL",
		"xyz":                                    "",
		"SELECT similarity_c":                    "similarity_cosine(",
		`SELECT "name`:                           `"nameOf"(`,
		"SELECT name FROM items WHERE id = 1 AN": "AND ANN",
		"SELECT name FROM items; cons":           "CONSISTENCY",
		"ALTER TABLE items DROP na":              "name",
		"COPY it":                                "items",
		"COPY items (na":                         "name",
		"HISTORY ":                               "CLEAR",
		"CREATE INDEX ON items (n":               "name",
		"SELECT id FROM items ORDER BY DESC":     "",
	} {
		before, after, _ := strings.Cut(text, "|")
		start, got := names.complete("shop", before, after)
		require.Equal(t, want, strings.Join(got, " "), text)
		require.LessOrEqual(t, start, len(before))
	}
	x := newTester(t, shop)
	_, out, _ := x.run("__complete", "describe", "sh")
	require.Contains(t, out, "shop.\n")
	_, out, _ = x.run("__complete", "describe", "shop.")
	require.Equal(t, "shop.items\n:4\n", out)
	_, out, _ = x.run("__complete", "describe", "--hosts", "127.0.0.1:1", "shop.")
	require.Equal(t, ":1\n", out)
}
