// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// This file tests how conditional statements are told from others.

func TestIsConditional(t *testing.T) {
	for text, want := range map[string]bool{
		"INSERT INTO t (k) VALUES (?) IF NOT EXISTS":                       true,
		"insert into t (k) values (?) if not exists":                       true,
		"UPDATE t SET v = ? WHERE k = ? IF v = ?":                          true,
		"UPDATE t SET v = ? WHERE k = ?\nIF\nEXISTS":                       true,
		"DELETE FROM t WHERE k = ?IF EXISTS":                               true,
		"DELETE FROM t WHERE k = 'a'IF EXISTS":                             true,
		" /* IF */ -- IF\n UPDATE t SET v = 1 WHERE k = 2 IF v > 1":        true,
		"BEGIN BATCH UPDATE t SET v = 1 WHERE k = 2 IF v = 1; APPLY BATCH": true,
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
		"CREATE TABLE IF NOT EXISTS t (k int PRIMARY KEY)":                 false,
		"INSERT INTO t (k) VALUES ('unfinished IF NOT EXISTS":              false,
		"'": false, `"`: false, "$$": false, "--": false, "/*": false, "": false, "INSERT": false, "é IF": false,
	} {
		require.Equal(t, want, isConditional(text), text)
	}
}
