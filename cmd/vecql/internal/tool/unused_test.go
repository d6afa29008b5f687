// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFieldsWithoutAColumnAreNamed loads and verifies files with a field too many.
func TestFieldsWithoutAColumnAreNamed(t *testing.T) {
	x := newTester(t, "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE shop.items (id int PRIMARY KEY, name text)")
	for _, path := range []string{
		file(t, "x.csv", "id,naem,name,\"a\x1bb\"\n1,x,lamp,2\n"), file(t, "x.jsonl", `{"id":1,"naem":"x","name":"lamp","a\u001bb":2}`),
	} {
		code, out, errOut := x.run("load", "shop.items", path)
		require.Zero(t, code)
		require.Equal(t, "loaded 1 row from 1 file, 0 rejected\n", out)
		require.Equal(t, `left out: the table has no column for the fields "naem", "a\x1bb"; --refuse-extra makes them an error`+"\n", errOut)
		code, _, errOut = x.run("verify", path, "shop.items")
		require.Zero(t, code)
		require.Contains(t, errOut, `left out: the table has no column for the fields "naem", "a\x1bb"`)
		require.Contains(t, x.requireFailure(exitFailed, "load", "shop.items", path, "--refuse-extra"), "naem")
	}
}

// TestDamagedFilesAreRefused has files that load and verify must not take as rows.
func TestDamagedFilesAreRefused(t *testing.T) {
	x := newTester(t, "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE shop.items (id int PRIMARY KEY, name text)")
	for name, c := range map[string]struct {
		text, want string
		flags      []string
	}{
		"wide.csv":  {"id,name\n70,lamp, red\n", "wide.csv, line 2: the record has 3 fields, the header 2", nil},
		"bare.csv":  {"70,lamp, red\n", "bare.csv, line 1: the record has 3 fields", []string{"--no-header", "--fields", "id,name"}},
		"short.csv": {"id,name\n70\n", "short.csv, line 2: the record has 1 fields", nil},
		"empty.csv": {"", "not even a header", nil},
		"none.csv":  {"", "the input is empty", []string{"--no-header", "--fields", "id,name"}},
		"x.jsonl":   {"", "the input is empty", nil},
		"zero.json": {`{"id":01,"name":"a"}`, `"01" is not a number of JSON`, nil},
	} {
		path := file(t, name, c.text)
		for _, args := range [][]string{{"load", "shop.items", path}, {"verify", path, "shop.items"}, {"load", "shop.items", path, "--refuse-extra"}} {
			require.Contains(t, x.requireFailure(exitFailed, append(args, c.flags...)...), c.want)
		}
	}
	require.Contains(t, x.requireRun("unload", "shop.items", "-", "--format", "csv"), "id,name\n")
}
