// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
)

// Files of COPY of cqlsh. testdata/README.md says how they were recorded.

// newCopied returns a tester with the tables of testdata/cqlsh.cql, and an empty one for each, such as every_loaded.
func newCopied(t *testing.T) *tester {
	x := newTester(t)
	schema, err := os.ReadFile("testdata/cqlsh.cql")
	require.NoError(t, err)
	x.in = string(schema)
	for _, statement := range strings.Split(string(schema), ";\n") {
		if rest, found := strings.CutPrefix(statement, "CREATE TABLE copied."); found {
			name, columns, _ := strings.Cut(rest, " ")
			x.in += "CREATE TABLE copied." + name + "_loaded " + columns + ";\n"
		}
	}
	x.requireRun("query")
	return x
}

// TestLoadCopyTo loads files that COPY TO has written, and requires the rows of its tables.
func TestLoadCopyTo(t *testing.T) {
	x := newCopied(t)
	load := func(table, file string, more ...string) string {
		return x.requireRun(append([]string{"load", "copied." + table + "_loaded", filepath.Join("testdata", file)}, more...)...)
	}
	require.Equal(t, "loaded 5 rows from 1 file, 0 rejected\n", load("every", "cqlsh-every.csv", "--dialect", "copy-to", "--no-header", "--null", `\N`))
	require.Equal(t, "5 rows are equal.\n", x.requireRun("verify", "copied.every", "copied.every_loaded"))
	require.Equal(t, "5 rows are equal.\n", x.requireRun("verify", "testdata/cqlsh-every.csv", "copied.every",
		"--dialect", "copy-to", "--no-header", "--null", `\N`, "--fields", "id,c,a,b,bl,bo,d,dbl,de,du,f,fixed,i,l,lt,m,mt,n,s,si,st,sv,t,ti,tn,ts,tu,tv,u,v,vi"))
	require.Equal(t, "loaded 2 rows from 1 file, 0 rejected\n", load("plain", "cqlsh-plain.csv"), "without an option")
	require.Equal(t, "2 rows are equal.\n", x.requireRun("verify", "copied.plain", "copied.plain_loaded"))
	x.requireFailureContains("--no-header if the first line is a row", "load", "copied.every_loaded", "testdata/cqlsh-every.csv", "--dialect", "copy-to")
}

// TestUnloadCopyFrom requires the file that COPY FROM has loaded.
func TestUnloadCopyFrom(t *testing.T) {
	x := newCopied(t)
	want, err := os.ReadFile("testdata/cqlsh-from.csv")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "every.csv")
	x.requireRun("unload", "copied.every", path, "--dialect", "copy-from", "--null", `\N`)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, sortedLines(want), sortedLines(got))
	require.Equal(t, "loaded 5 rows from 1 file, 0 rejected\n",
		x.requireRun("load", "copied.every_loaded", path, "--dialect", "copy-from", "--null", `\N`))
	require.Equal(t, "5 rows are equal.\n", x.requireRun("verify", "copied.every", "copied.every_loaded"))
	for _, args := range [][]string{
		{"unload", "copied.every", path, "--dialect", "copy-to"},
		{"unload", "copied.every", path, "--dialect", "mysql"},
		{"load", "copied.every", path, "--encoding", "none"},
	} {
		code, _, _ := x.run(args...)
		require.Equal(t, exitUsage, code, args)
	}
}

// TestCopyDialects requires the escapes of --dialect beside --escape.
func TestCopyDialects(t *testing.T) {
	for _, m := range []struct {
		form, escape string
		want         rowfile.Dialect
	}{
		{"", "", rowfile.Dialect{Quote: '"'}},
		{"", "^", rowfile.Dialect{Quote: '"', Escape: '^'}},
		{copyFrom, "", rowfile.Dialect{Quote: '"', Escape: '\\', EscapeAny: true}},
		{copyTo, "^", rowfile.Dialect{Quote: '"', Escape: '^', EscapeAny: true}},
		{copyTo, `"`, rowfile.Dialect{Quote: '"'}}, // ESCAPE='"' of COPY
	} {
		f := fileFlags{copyForm: m.form, quote: `"`, escape: m.escape}
		got, err := f.dialect()
		require.NoError(t, err)
		require.Equal(t, m.want, got, "%s %s", m.form, m.escape)
	}
}

func sortedLines(text []byte) []string {
	lines := strings.Split(string(text), "\n")
	slices.Sort(lines)
	return lines
}
