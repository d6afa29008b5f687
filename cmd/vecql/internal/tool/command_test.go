// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// TestCommands executes commands of cqlsh and of psql in scripts.
func TestCommands(t *testing.T) {
	x := newTester(t, shop)
	x.env["VECQL_KEYSPACE"] = "shop"
	for script, want := range map[string]string{
		"CONSISTENCY":                   "Consistency is ONE.\n",
		"consistency all\nConsistency;": "Consistency is ALL.\n",
		"SERIAL CONSISTENCY":            "Serial consistency is SERIAL.\n",
		"serial consistency local_serial; Serial  Consistency -- ?": "Serial consistency is LOCAL_SERIAL.\n",
		"PAGING OFF; PAGING":                                         "Paging is off.\n1000 rows are fetched at a time.\n",
		"PAGING OFF; PAGING 7; PAGING":                               "Paging is on.\n7 rows are fetched at a time.\n",
		"TIMING; TRACING; EXPAND":                                    "Timing is off.\nTracing is off.\nExpand is off.\n",
		"elapsed on\n\\timing\nTIMING":                               "Timing is off.\n",
		"EXPAND ON; SELECT id, name FROM items WHERE id = 1":         "id    1\nname  chair\n\n1 row\n",
		"\\x\nSELECT id FROM items WHERE id = 1;\\x on; ":            "id  1\n\n1 row\n",
		"SELECT id FROM items WHERE id = 2; EXIT; SELECT id FROM no": "id\n--\n 2\n1 row\n",
		"\\q\nSELECT id FROM no":                                     "",
		"use\n system;\nSELECT key FROM local;":                      "key\n-----\nlocal\n1 row\n",
		"\\c system\n SELECT key FROM local;":                        "key\n-----\nlocal\n1 row\n",
		"SHOW HOST":                                                  "Connected to cluster cqltest at " + x.Hosts()[0] + ".\n",
		"CLEAR; cls":                                                 "",
		"CAPTURE":                                                    "Results are not captured.\n",
		"CAPTURE OFF":                                                "",
		"help capture":                                               "  CAPTURE ['file'|OFF]         \\o            append results to a file\n" + commandNamed("CAPTURE").more,
		"HELP create type":                                           "  CREATE TYPE [IF NOT EXISTS] name (field type, ...)\n",
		`\pset`:                                                      "Format is table.\nNull is NULL in tables, empty in csv.\nPager is on.\nExpanded is off.\n",
		"PSET format; pset Expanded on;\n\\pset":                     "Format is table.\nFormat is table.\nNull is NULL in tables, empty in csv.\nPager is on.\nExpanded is on.\n",
		"\\pset expanded\nSELECT id FROM items WHERE id = 1":         "id  1\n\n1 row\n",
		"\\pset pager\nPAGING":                                       "Paging is off.\n1000 rows are fetched at a time.\n",
		"\\pset null ''\n\\pset null":                                "Null is \"\".\n",
		"PSET null '(null)'; SELECT name, price FROM items":          "name    price\n-----  ------\nchair    49.5\ntable  (null)\n2 rows\n",
		"\\pset format csv\nSELECT id, price FROM items":             "id,price\n1,49.5\n2,\n",
		"PSET null ?; PSET format CSV; SELECT id, price FROM items":  "id,price\n1,49.5\n2,?\n",
		"PSET null ?; pset format json; SELECT price FROM items":     "{\"price\":49.5}\n{\"price\":null}\n",
		"SELECT id FROM items WHERE id = 1 -- comment\n; -- last":    "id\n--\n 1\n1 row\n",
	} {
		require.Equal(t, want, x.requireRun("query", script), script)
	}
	require.Regexp(t, `^\[vecql .+ \| Cassandra 5\.0\.9 \| CQL spec 3\..+ \| Native protocol v5\]\n$`, x.requireRun("query", "show version"))
	require.Equal(t, "id  1\n\n1 row\n", x.requireRun("query", "-x", "SELECT id FROM items WHERE id = 1"))
	for shortcut, command := range map[string]string{
		`\d`: "DESCRIBE TABLES", `\dt`: "describe tables;", `\d shop.items;`: "DESC shop.items", `\l`: "DESCRIBE KEYSPACES",
		`\dn`: "DESCRIBE KEYSPACES", `\?`: "HELP", `?`: "HELP",
	} {
		want := x.requireRun("query", command)
		require.NotEmpty(t, want)
		require.Equal(t, want, x.requireRun("query", shortcut), shortcut)
	}
}

func commandNamed(name string) *command {
	c, _ := commandAt(name)
	return c
}

// TestCommandHelp requires a line for each command, in the width of a terminal, and help on each first word of CQL.
func TestCommandHelp(t *testing.T) {
	x := newTester(t)
	help := x.requireRun("query", "HELP")
	for _, c := range commands {
		require.Contains(t, help, c.usage())
		require.Contains(t, x.requireRun("query", "HELP "+strings.ToLower(c.name)), c.usage()+c.more)
		for _, s := range c.shortcuts {
			require.Contains(t, help, s.name)
		}
	}
	for _, word := range statementWords {
		require.Contains(t, x.requireRun("query", "help "+word), word)
	}
	for _, s := range statementSyntax {
		help += s.text
	}
	for line := range strings.Lines(help) {
		require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 84, line)
	}
}

// TestCommandFailures requires an error for each wrong use of a command.
func TestCommandFailures(t *testing.T) {
	x := newTester(t, shop)
	for script, want := range map[string]string{
		"TIMING SOON":            "TIMING is SOON, want ON or OFF",
		"PAGING LESS":            "PAGING is LESS, want ON or OFF or a number of rows",
		"PAGING 0":               "PAGING is 0, want at least 1 row",
		"CONSISTENCY FEW":        `unknown consistency "FEW"`,
		"CONSISTENCY QORUM":      `unknown consistency "QORUM"; did you mean QUORUM?`,
		"SERIAL CONSISTENCY ONE": "SERIAL CONSISTENCY is ONE, want SERIAL or LOCAL_SERIAL",
		"SOURCE more.cql":        "SOURCE needs the name of a file in quotes, such as SOURCE 'items.cql'",
		"SOURCE":                 "SOURCE needs the name of a file in quotes, such as SOURCE 'items.cql'",
		"SOURCE 'none.cql'":      "open none.cql: no such file or directory",
		"SOURCE ''":              "SOURCE needs the name of a file in quotes, such as SOURCE 'items.cql'",
		"SOURCE '":               "SOURCE needs the name of a file in quotes, such as SOURCE 'items.cql'",
		`SOURCE 'none.cql"`:      "SOURCE needs the name of a file in quotes, such as SOURCE 'items.cql'",
		`\i it''s none.cql`:      "open it''s none.cql: no such file or directory",
		`\i none.cql`:            "open none.cql: no such file or directory",
		"CAPTURE rows.txt":       "CAPTURE needs the name of a file in quotes, such as CAPTURE 'items.cql'",
		"SHOW ME":                "SHOW wants VERSION, HOST or SESSION with the id of a trace",
		"SHOW SESSION 7":         `"7" is not a UUID`,
		"SHOW SESSION 5a1c395e-b41f-11e5-9f22-ba0be0483c18": "there is no trace 5a1c395e-b41f-11e5-9f22-ba0be0483c18; TRACING ON prints the id of each",
		"LOGIN":              "LOGIN wants a user and a password, in quotes where they are not plain names",
		"LOGIN ann b c":      "LOGIN wants a user and a password, in quotes where they are not plain names",
		`\pset nul x`:        `PSET has no option nul, want format, null, pager or expanded; did you mean null?`,
		`\pset format html`:  "FORMAT is html, want table, json or csv; --output has formats of files",
		`\pset format jsn`:   "FORMAT is jsn, want table, json or csv; --output has formats of files; did you mean json?",
		`\pset pager always`: "PAGER is always, want ON or OFF",
		`\pset null a,b`:     `NULL is "a,b", want a text without comma, double quote and line break, which csv needs`,
		`\e`:                 "EDIT is for the shell: vecql query without a statement on a terminal",
		`HISTORY 3`:          "HISTORY is for the shell: vecql query without a statement on a terminal",
		`\timng`:             `unknown command \timng; \? lists the commands; did you mean \timing?`,
		`\w a.sql`:           `unknown command \w; \? lists the commands`,
		"HELP CREAT":         "no help on CREAT; HELP lists the commands; did you mean CREATE?",
		"HELP selct":         "no help on SELCT; HELP lists the commands; did you mean SELECT?",
	} {
		require.Equal(t, "vecql query: "+want, x.requireFailure(exitFailed, "query", script), script)
	}
	require.Equal(t, "vecql query: CAPTURE is ., a folder: want the name of a file; see vecql query --help",
		x.requireFailure(exitUsage, "query", "CAPTURE '.'"))
	for script, want := range map[string]string{
		"CAPTURE 'x.arrow'":                          "--output arrow is for one result in a file, and CAPTURE appends; see vecql query --help",
		"DESCRIBE TABLES; SELECT id FROM shop.items": "--output arrow is for one statement, not 2; see vecql query --help",
		"SOURCE 'x.cql'":                             "--output arrow is for one statement, and a file may have several; see vecql query --help",
		`\pset format csv`:                           "--output arrow is for one result in a file, and PSET would change the format; see vecql query --help",
	} {
		require.Equal(t, "vecql query: "+want, x.requireFailure(exitUsage, "query", "-o", "arrow", script))
	}
}

// TestCommandsOfScylla requires the name and the version of a server of ScyllaDB.
func TestCommandsOfScylla(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{Nodes: 1, Scylla: &cqltest.Scylla{}})
	require.Regexp(t, `^\[vecql .+ \| ScyllaDB 20\d\d\..+ \| CQL spec 3\..+ \| Native protocol v4\]\n$`, x.requireRun("query", "SHOW VERSION"))
}

// TestCommandsApply requires that the settings of commands change the requests.
func TestCommandsApply(t *testing.T) {
	x := newTester(t, shop)
	pages := x.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "FROM shop.items"})
	x.requireRun("query", "PAGING 1; SELECT id FROM shop.items")
	require.GreaterOrEqual(t, pages.Hits(), 2)
	require.Contains(t, x.requireFailure(exitFailed, "query", "CONSISTENCY THREE; SELECT id FROM shop.items"), "unavailable: ")
	_, _, notes := x.run("query", "TIMING ON\nTRACING ON\nSELECT id FROM shop.items WHERE id = 1;")
	require.Regexp(t, `(?s)^tracing session .*\n[0-9.]+[mµ]?s, 1 page, node 127`, notes)
	id := regexp.MustCompile(`tracing session ([0-9a-f]+)`).FindStringSubmatch(notes)[1]
	require.Contains(t, notes, x.requireRun("query", "SHOW SESSION "+id))
}

// TestSource requires the place of an error in nested files, and that an error or EXIT ends a file.
func TestSource(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	write := func(name, text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o600)) }
	write("inner.cql", "-- two\n-- lines\nSELECT id\nFROM items WHERE id = 1; \\q\nSELECT id FROM none;")
	write("outer.cql", "\ufeffUSE shop;\n/* a\n b */ SOURCE 'inner.cql'; SELECT id FROM items WHERE id = 2;\n")
	want := "id\n--\n 1\n1 row\nid\n--\n 2\n1 row\n"
	require.Equal(t, want, x.requireRun("query", "-f", "outer.cql"))
	require.Equal(t, want, x.requireRun("query", "\\i outer.cql"))
	got := runShell(x, "", &typist{lines: []string{"source 'outer.cql'\r", "SELECT name FROM items WHERE id = 2;\r"}})
	require.Contains(t, got.screen, want)
	require.Contains(t, got.screen, "name\n-----\ntable\n1 row\n", "EXIT in a file does not end the shell")

	write("inner.cql", "\n\nSELECT id FROM nothing;\n")
	const failure = "outer.cql:3: inner.cql:3: invalid request: table nothing does not exist"
	code, out, text := x.run("query", "-f", "outer.cql")
	require.Equal(t, exitFailed, code)
	require.Empty(t, out, "the statement after the error is not executed")
	require.Equal(t, "vecql query: "+failure+"\n", text)
	got = runShell(x, "", &typist{lines: []string{"source 'outer.cql';\r", "SELECT name FROM shop.items WHERE id = 2;\r"}})
	require.Equal(t, "error: "+failure+"\n", got.errors)
	require.Contains(t, got.screen, "table\n1 row\n")
	x.in = "USE shop;\n\nSELECT id FROM nothing"
	require.Equal(t, "vecql query: standard input:3: invalid request: table nothing does not exist", x.requireFailure(exitFailed, "query"))
	require.Equal(t, "vecql query: statement 2: invalid request: table nothing does not exist", x.requireFailure(exitFailed, "query", x.in))

	write("empty.cql", "-- nothing")
	require.Empty(t, x.requireRun("query", strings.Repeat("SOURCE 'empty.cql';", maxDepth+1)), "one after another")
	write("inner.cql", "SOURCE 'inner.cql'")
	require.Contains(t, x.requireFailure(exitFailed, "query", "SOURCE 'inner.cql'"), "16 files execute each other")
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	require.Equal(t, "vecql query: open "+filepath.Join(home, "it's none.cql")+": no such file or directory",
		x.requireFailure(exitFailed, "query", "SOURCE '~/it''s none.cql'"))
}

// TestCapture requires that results are appended to a file, and that only they are.
func TestCapture(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("rows.txt", []byte("kept\n"), 0o600))
	const one = "SELECT id FROM shop.items WHERE id = 1;"
	require.Equal(t, "Consistency is ONE.\nid\n--\n 1\n1 row\n", x.requireRun("query", "CAPTURE 'rows.txt'\n"+one+"CONSISTENCY\nCAPTURE OFF; "+one))
	x.requireRun("query", "\\o rows.txt\n"+one+"\n\\o new.txt\n"+one+"\n\\o\n")
	for name, want := range map[string]string{
		"rows.txt": "kept\nid\n--\n 1\n1 row\nid\n--\n 1\n1 row\n",
		"new.txt":  "id\n--\n 1\n1 row\n",
	} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
	info, err := os.Stat("new.txt")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	x.requireRun("query", "-o", "csv", "CAPTURE 'items.csv'; "+one)
	text, err := os.ReadFile("items.csv")
	require.NoError(t, err)
	require.Equal(t, "id\n1\n", string(text))
	got := runShell(x, "", &typist{lines: []string{"capture 'rows.txt'\r", "capture\r", one + "\r", "capture off\r", "capture\r"}})
	require.Contains(t, got.screen, "Results go to rows.txt; CAPTURE OFF ends that.\n")
	require.Contains(t, got.screen, "Results go to rows.txt.\n")
	require.Contains(t, got.screen, "Results are not captured.\n")
	require.NotContains(t, got.screen, "1 row")
	if _, err := os.Stat("/dev/full"); err == nil {
		require.Equal(t, "vecql query: statement 2: write /dev/full: no space left on device",
			x.requireFailure(exitFailed, "query", "CAPTURE '/dev/full'; "+one))
	}
}

// TestLogin connects as other users, and requires that a failure keeps the session.
func TestLogin(t *testing.T) {
	x := newTester(t, shop)
	x.SetUsers(map[string]string{"ann": "secret", "Bob B": "it's"})
	x.env["VECQL_KEYSPACE"] = "shop"
	const one = " SELECT id FROM items WHERE id = 1"
	want := "id\n--\n 1\n1 row\n"
	require.Equal(t, want, x.requireRun("query", "-u", "ann", "-p", "secret", one))
	require.Equal(t, want, x.requireRun("query", "-u", "ann", "-p", "secret", "login \"Bob B\" 'it''s';"+one))
	x.env["VECQL_USER"], x.env["VECQL_PASSWORD"] = "ann", "secret"
	history := filepath.Join(t.TempDir(), "history")
	got := runShell(x, history, &typist{lines: []string{"LOGIN 'Bob B' 'wrong'\r", "LOGIN ann 'secret'\r", one + ";\r"}})
	require.Equal(t, "error: connect to "+x.Hosts()[0]+": wrong user name or password; check --user and VECQL_PASSWORD\n", got.errors)
	require.Contains(t, got.screen, "Connected as ann.\n")
	require.Contains(t, got.screen, want)
	require.Equal(t, []string{"SELECT id FROM items WHERE id = 1;"}, got.history)
}
