// SPDX-License-Identifier: Apache-2.0

package engine

import "testing"

// Per-row TTL of ScyllaDB: the rules of its test/cqlpy/test_ttl_row.py. TestScyllaDeletions has vector indexes.

func TestRowExpiry(t *testing.T) {
	const simple = "CREATE TABLE r (k int PRIMARY KEY, e bigint TTL, f bigint, x int); "
	const rows = "CREATE TABLE c (p int, c int, x int, e timestamp TTL, PRIMARY KEY (p, c)); INSERT INTO c (p, c, x) VALUES (1, 1, 1); " +
		"INSERT INTO c (p, c, e) VALUES (1, 2, '2026-01-02 03:05:05Z'); INSERT INTO c (p, c, e) VALUES (2, 1, '2026-01-02 03:05:05Z'); "
	for name, r := range map[string]scyllaRule{
		"a row expires at the second of its column": {setup: simple + "INSERT INTO r (k, e) VALUES (1, 1767323105); +1m", statement: "SELECT k FROM r", want: ""},
		"it lives until then":                       {setup: simple + "INSERT INTO r (k, e) VALUES (1, 1767323105); +59s", statement: "SELECT k FROM r", want: "1"},
		"a row without a time lives":                {setup: simple + "INSERT INTO r (k, x) VALUES (1, 1); +9999h", statement: "SELECT k FROM r", want: "1"},
		"an UPDATE moves the time":                  {setup: simple + "INSERT INTO r (k, e) VALUES (1, 1767323105); UPDATE r SET e = 1767400000 WHERE k = 1; +1h", statement: "SELECT k FROM r", want: "1"},
		"a time of the past expires at once":        {setup: simple + "INSERT INTO r (k, e) VALUES (1, 1767323000)", statement: "SELECT k FROM r", want: ""},
		"a time of long ago is none":                {setup: simple + "INSERT INTO r (k, e) VALUES (1, 162777600)", statement: "SELECT k FROM r", want: "1"},
		"rows of a partition expire by themselves":  {setup: rows + "+1m", statement: "SELECT p, c FROM c", want: "1 | 1"},
		"a write after the time makes a new row":    {setup: rows + "+2m; UPDATE c SET x = 5 WHERE p = 1 AND c = 2", statement: "SELECT * FROM c", want: "1 | 1 | null | 1, 1 | 2 | null | 5"},
		"so does a batch":                           {setup: rows + "+2m; BEGIN BATCH UPDATE c SET x = 5 WHERE p = 1 AND c = 2 APPLY BATCH", statement: "SELECT c, e, x FROM c", want: "1 | null | 1, 2 | null | 5"},
		"an expired row does not exist":             {setup: rows + "+2m", statement: "UPDATE c SET x = 1 WHERE p = 2 AND c = 1 IF EXISTS", want: "false"},
		"a table has one column":                    {statement: "CREATE TABLE q (k int PRIMARY KEY, e bigint TTL, f bigint TTL)", want: "2200 A table cannot have more than one TTL column: e, f"},
		"it is not in the key":                      {statement: "CREATE TABLE q (k int, e bigint TTL, PRIMARY KEY (k, e))", want: "2200 TTL column e must be a regular column"},
		"it is not the key":                         {statement: "CREATE TABLE q (e bigint TTL PRIMARY KEY)", want: "2200 TTL column e must be a regular column"},
		"it is not static":                          {statement: "CREATE TABLE q (k int, c int, e bigint TTL STATIC, PRIMARY KEY (k, c))", want: "2200 TTL column e must be a regular column"},
		"it has times":                              {statement: "CREATE TABLE q (k int PRIMARY KEY, e double TTL)", want: "2200 TTL column e must be of type timestamp, bigint or int"},
		"ALTER TABLE ADD has no TTL":                {setup: simple, statement: "ALTER TABLE r ADD g bigint TTL", want: "2000 line 1:27 ..."},
		"static columns are refused later, too":     {setup: "CREATE TABLE s (k int, c int, e bigint STATIC, PRIMARY KEY (k, c))", statement: "ALTER TABLE s TTL e", want: "2200 Cannot use a static column as a TTL column: e"},
		"a missing column is refused":               {setup: rows, statement: "ALTER TABLE c TTL \"E\"", want: "2200 Table ks.c already has a TTL column: e"},
		"as is an unknown one":                      {setup: rows + "ALTER TABLE c TTL NULL", statement: "ALTER TABLE c TTL \"E\"", want: "2200 Column 'E' does not exist in table 'ks.c'"},
		"a dropped column ends the expiry":          {setup: simple + "ALTER TABLE r DROP e; ALTER TABLE r ADD e bigint", statement: "ALTER TABLE r TTL NULL", want: "2200 Table ks.r does not have a TTL column"},
		"another dropped column does not":           {setup: simple + "ALTER TABLE r DROP f; INSERT INTO r (k, e) VALUES (1, 1767323105); +1m", statement: "SELECT k FROM r", want: ""},
		"DESCRIBE has the column":                   {setup: `CREATE TABLE q (k int PRIMARY KEY, "E" bigint TTL)`, statement: "DESCRIBE TABLE q", want: "    \"E\" bigint TTL..."},
	} {
		t.Run(name, r.check)
	}
}
