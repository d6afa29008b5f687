// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// evil is a text with what terminals obey: colors, a title, a bell, an overwritten line, C1 controls, reversed text.
const evil = "\x1b[31mred\x1b]0;title\x07\rover\u009b2J\u202egnp\x00\x7f\u2028end"

func TestPrintable(t *testing.T) {
	require.Equal(t, `\x1b[31mred\x1b]0;title\x07\x0dover\x9b2J\u202egnp\x00\x7f\u2028end`, printable(evil))
	require.Equal(t, "a\n\tü 日本\\xff\\xc3", printable("a\n\tü 日本\xff\xc3"))
	require.Equal(t, `a\n\tb`, printableLine("a\n\tb"))
	for at := range len(evil) + 1 { // characters that are split between two writes
		var out bytes.Buffer
		w := &plainWriter{w: &out}
		for _, part := range []string{evil[:at], evil[at:]} {
			n, err := w.Write([]byte(part))
			require.NoError(t, err)
			require.Equal(t, len(part), n)
		}
		require.Equal(t, printable(evil), out.String())
	}
}

// requirePrintable requires that no control character is in an output.
func requirePrintable(t *testing.T, text string, what any) {
	t.Helper()
	require.False(t, hasControl(text), "%v: %q", what, text)
	require.NotContains(t, text, "\r")
}

// TestOutputsArePrintable has names, values, file names and errors of the server with control characters, and runs the
// verbs with a terminal, and in pipes where the text is for people.
func TestOutputsArePrintable(t *testing.T) {
	name := `"` + evil + `"`
	x := newTester(t, shop, backup, "CREATE TABLE shop.evil (id int PRIMARY KEY, "+name+" text)",
		"CREATE TABLE backup.evil (id int PRIMARY KEY, "+name+" text)", "INSERT INTO shop.evil (id, "+name+") VALUES (1, '"+evil+"')")
	dir := t.TempDir()
	path := filepath.Join(dir, strings.ReplaceAll(evil, "\x00", "")+".csv")
	require.NoError(t, os.WriteFile(path, []byte("id,name\n"+strings.ReplaceAll(evil, "\r", "")+",x\n"), 0o600))
	commands := [][]string{
		{"query", "SELECT * FROM shop.evil"},
		{"query", "SELECT id AS " + name + " FROM shop.evil"},
		{"verify", "shop.evil", "backup.evil"},
		{"query", "SELECT " + evil + " FROM shop.evil"},
		{"query", "SELECT * FROM " + name},
		{"load", "shop.items", path, "--allow-missing"},
		{"load", "shop.items", path, "--allow-missing", "--max-errors", "100%"},
		{"load", "shop.items", path + "x"},
		{"describe", name},
		{"sql", "SELECT * FROM '" + path + "' WHERE " + evil},
		{"doctor", "--hosts", evil},
		{evil},
		{"load", evil},
		{"query", "--" + evil},
		{"unload", "shop.items", path},
		{"count", name},
		{"copy", name, "backup.evil"},
	}
	for _, width := range []int{0, 100} {
		x.out = width
		for _, args := range commands {
			_, out, errs := x.run(args...)
			requirePrintable(t, out, args)
			requirePrintable(t, errs, args)
		}
	}
	for _, args := range [][]string{{"query", "-o", "csv", "SELECT * FROM shop.evil"}, {"describe", "shop.evil"}} {
		_, out, errs := x.run(args...)
		requirePrintable(t, out, args)
		requirePrintable(t, errs, args)
	}
	x.out = 0
	_, out, _ := x.run("query", "-o", "csv", "SELECT * FROM shop.evil")
	require.Contains(t, out, evil, "data in a pipe is unchanged")

	for _, code := range []int32{cqltest.CodeInvalid, cqltest.CodeUnauthorized} {
		failing := x.Inject(cqltest.Fault{Op: cqltest.OpPrepare, Statement: "items", Error: &cqltest.Error{Code: code, Message: evil + "\nsecond"}})
		for _, args := range [][]string{
			{"query", "SELECT * FROM shop.items"},
			{"count", "shop.items"},
			{"unload", "shop.items", "-", "--format", "csv"},
			{"query", "--verbose", "SELECT * FROM shop.items"},
			{"sql", "SELECT * FROM shop.items"},
		} {
			code, _, errs := x.run(args...)
			require.NotZero(t, code)
			requirePrintable(t, errs, args)
		}
		failing.Remove()
	}
	warned := x.Inject(cqltest.Fault{Statement: "shop.items", Op: cqltest.OpExecute, Edit: func(a *cqltest.Answer) { a.Warnings = []string{evil} }})
	_, _, errs := x.run("query", "SELECT * FROM shop.items")
	warned.Remove()
	require.Contains(t, errs, "warning: ")
	requirePrintable(t, errs, "warnings")

	requirePrintable(t, (&shell{run: &runner{cfg: &vecql.ClusterConfig{Keyspace: evil}}}).prompt(), "prompt")
}
