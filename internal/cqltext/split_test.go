// SPDX-License-Identifier: Apache-2.0

package cqltext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	for script, want := range map[string][]string{ // the last one is the rest
		"":                               {""},
		" -- only\n/* comments */ ;; //": {""},
		"SELECT 1":                       {"SELECT 1"},
		"SELECT 1;":                      {"SELECT 1", ""},
		"SELECT 1; -- last":              {"SELECT 1", ""},
		"SELECT 1 -- a\n; // b\r/* c */ ; /* open ;":                        {"SELECT 1", ""},
		"SELECT 1 /* a */ -- b":                                             {"SELECT 1"},
		"/* a */ -- b\n; SELECT /* in; */ 1 // c; d\n;":                     {"SELECT /* in; */ 1", ""},
		"BEGIN BATCH -- a;\nINSERT INTO t; -- b;\nAPPLY BATCH -- c\n; -- d": {"BEGIN BATCH -- a;\nINSERT INTO t; -- b;\nAPPLY BATCH", ""},
		"-- first\nUSE a ; ;\nUSE b; U":                                     {"USE a", "USE b", "U"},
		"INSERT INTO t (k) VALUES (';''') -- ;\n; x":                        {"INSERT INTO t (k) VALUES (';''')", "x"},
		`SELECT ";" FROM t /* ; */; `:                                       {`SELECT ";" FROM t`, ""},
		"CREATE FUNCTION f AS $$ a; b; $$; USE c":                           {"CREATE FUNCTION f AS $$ a; b; $$", "USE c"},
		"begin batch INSERT INTO t (k) VALUES (1); INSERT INTO t (k) VALUES (2); apply batch; USE a": {
			"begin batch INSERT INTO t (k) VALUES (1); INSERT INTO t (k) VALUES (2); apply batch", "USE a",
		},
		"BEGIN TRANSACTION SELECT 1; COMMIT TRANSACTION; USE a":      {"BEGIN TRANSACTION SELECT 1; COMMIT TRANSACTION", "USE a"},
		"BEGIN UNLOGGED BATCH UPDATE t SET v = 'APPLY BATCH'; USE a": {"BEGIN UNLOGGED BATCH UPDATE t SET v = 'APPLY BATCH'; USE a"},
		"CREATE TABLE batch (begin int PRIMARY KEY); USE a":          {"CREATE TABLE batch (begin int PRIMARY KEY)", "USE a"},
		"it's": {"it's"},
		"BEGIN UNLOGGED BATCH USING TIMESTAMP 1 INSERT INTO t; UPDATE t; APPLY BATCH; SELECT batch FROM t": {
			"BEGIN UNLOGGED BATCH USING TIMESTAMP 1 INSERT INTO t; UPDATE t; APPLY BATCH", "SELECT batch FROM t",
		},
		"SELECT 'open; string": {"SELECT 'open; string"},
		"CREATE ROLE r WITH HASHED PASSWORD = 'a;b' AND LOGIN = true; ALTER TABLE t TTL NULL; /* CREATE TABLE l; */\nLIST ROLES": {
			"CREATE ROLE r WITH HASHED PASSWORD = 'a;b' AND LOGIN = true", "ALTER TABLE t TTL NULL", "LIST ROLES",
		},
	} {
		statements, rest := Split(script)
		require.Equal(t, want, append(statements, rest), script)
		if rest != "" {
			statements = append(statements, rest)
		}
		require.Equal(t, statements, Statements(script), script)
	}
}
