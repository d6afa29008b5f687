// SPDX-License-Identifier: Apache-2.0

package cqltext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsRepeatable(t *testing.T) {
	hasKeys := func(column string) bool { return column == "tags" || column == "My Map" }
	for text, want := range map[string]bool{
		"INSERT INTO t (k, v) VALUES (?, ?)":                                     true,
		"insert into ks.now (k, uuid) values (:now, ?) using ttl :t":             true,
		"INSERT INTO t (k) VALUES (?) USING TIMESTAMP :ts AND TTL 5":             true,
		"INSERT INTO t (k, v) VALUES (1, -5)":                                    true,
		"INSERT INTO t (k, v) VALUES (1, 'now() + uuid()') -- now()":             true,
		"INSERT INTO t (k, l) VALUES (1, [-1, 2])":                               true,
		"INSERT INTO t JSON ?":                                                   true,
		"UPDATE t USING TTL ? SET v = ? WHERE k = ?":                             true,
		"UPDATE t SET v = ? WHERE (k) = (?) AND c IN (?, ?)":                     true,
		"UPDATE t SET tags = tags + ? WHERE k = ?":                               true,
		"UPDATE t SET tags += {1} WHERE k = ?":                                   true,
		`UPDATE t SET "My Map" = "My Map" - ? WHERE k = ?`:                       true,
		"UPDATE t SET l[0] = ? WHERE k = ?":                                      true,
		"DELETE FROM t WHERE k = ? AND c > -1":                                   true,
		"DELETE tags[?] FROM t WHERE k = ?":                                      true,
		"DELETE l[0] FROM t WHERE k = ?":                                         false,
		"INSERT INTO t (k) VALUES (now())":                                       false,
		"INSERT INTO t (k) VALUES (uuid ( ))":                                    false,
		"INSERT INTO t (k) VALUES (ks.f(?))":                                     false,
		"INSERT INTO t (k) VALUES (?) IF NOT EXISTS":                             false,
		"UPDATE t SET c = c + ? WHERE k = ?":                                     false,
		"UPDATE t SET c = c + 1 WHERE k = ?":                                     false,
		"UPDATE t SET c = c+1 WHERE k = ?":                                       false,
		"UPDATE t SET c -= 1 WHERE k = ?":                                        false,
		"UPDATE t SET l = [?] + l WHERE k = ?":                                   false,
		"UPDATE t SET l = ? + l WHERE k = ?":                                     false,
		"UPDATE t SET v = ? WHERE k = toDate(now())":                             false,
		"BEGIN BATCH INSERT INTO t (k) VALUES (?) APPLY BATCH":                   false,
		"SELECT v FROM t":                                                        false,
		"":                                                                       false,
		"UPDATE t SET tags = tags + ?, c = c + ? WHERE k = ?":                    false,
		"INSERT INTO t (k, v) VALUES (?, ?) USING TIMEOUT 1m30s AND TTL 5":       true,
		"UPDATE t USING TIMEOUT ? AND TIMESTAMP :ts SET v = ? WHERE k = ?":       true,
		"DELETE FROM t USING TIMEOUT 50ms WHERE k = ? AND c IN (?)":              true,
		"DELETE FROM t WHERE k = ? BYPASS LARGE_DATA_GUARDRAILS":                 true,
		"PRUNE MATERIALIZED VIEW v WHERE token(k) > 7 USING CONCURRENCY 10":      false,
		"INSERT INTO t (k, at) VALUES (?, currentTimestamp())":                   false,
		"UPDATE t SET m['a'] = ? WHERE k = ?":                                    true,
		"UPDATE t USING TIMESTAMP :\"ts\" SET v = :\"v\" WHERE k = :\"the key\"": true,
	} {
		require.Equal(t, want, IsRepeatable(text, hasKeys), text)
	}
}
