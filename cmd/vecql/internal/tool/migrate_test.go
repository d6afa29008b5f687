// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The verb migrate. Package migrate has the tests of runs.

func TestMigrate(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("m", 0o700))
	write := func(name, text string) { require.NoError(t, os.WriteFile("m/"+name, []byte(text), 0o600)) }
	write("001_notes.cql", "CREATE TABLE notes (id int PRIMARY KEY);\n")
	write("002_text.cql", "-- texts\nALTER TABLE notes ADD text text;\nALTER TABLE notes\n  ADD nosuch nosuchtype;\n")
	in := func(args ...string) []string { return append([]string{"migrate", "m", "--keyspace", "shop"}, args...) }
	require.Equal(t, "-- 001_notes.cql\nCREATE TABLE notes (id int PRIMARY KEY);\n", x.requireRun(in("--dry-run", "--to", "1")...))
	code, stdout, stderr := x.run(in()...)
	require.Equal(t, exitFailed, code)
	require.Equal(t, "001_notes.cql: 1 of 1: CREATE TABLE notes (id int PRIMARY KEY)\n002_text.cql: 1 of 2: ALTER TABLE notes ADD text text\n", stdout)
	require.Contains(t, stderr, "002_text.cql, statement 2 of 2: ")
	require.Contains(t, stderr, "mend the statement and run again")
	require.Contains(t, x.requireRun(in("--status")...), "002_text.cql   1 of 2 statements  NULL")
	require.Equal(t, "-- 002_text.cql\nALTER TABLE notes\n  ADD nosuch nosuchtype;\n", x.requireRun(in("--dry-run")...))
	write("002_text.cql", "ALTER TABLE notes ADD text text;\nALTER TABLE notes\n  ADD added date;\n")
	require.Equal(t, "002_text.cql: 2 of 2: ALTER TABLE notes\n", x.requireRun(in()...))
	require.Empty(t, x.requireRun(in()...))
	require.Empty(t, x.requireRun(in("--dry-run")...))
	write("001_notes.cql", "CREATE TABLE notes (id bigint PRIMARY KEY);\n")
	code, stdout, stderr = x.run(in("--status", "-o", "csv")...)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stdout, "1,001_notes.cql,applied,20")
	require.Contains(t, stderr, "version 1, 001_notes.cql: the file was changed after it was applied; restore it")
	for _, args := range [][]string{{"migrate", "m"}, in("--lock-for", "1ms"), in("--wait", "-1s")} {
		code, _, _ = x.run(args...)
		require.Equal(t, exitUsage, code, "%q", args)
	}
}
