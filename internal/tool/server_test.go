// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/tests/cassandra"
)

// TestWholeTablesOnCassandra counts, copies and verifies a table with write times, times to live, static columns and
// collections on a real server.
func TestWholeTablesOnCassandra(t *testing.T) {
	server, err := cassandra.Shared(t.Context())
	require.NoError(t, err)
	x := &tester{t: t, ctx: t.Context(), env: map[string]string{
		"VECQL_HOSTS": server.Host, "VECQL_USER": cassandra.Username, "VECQL_PASSWORD": cassandra.Password,
	}}
	name := fmt.Sprint("vecql_whole_", os.Getpid())
	defer x.run("query", "DROP KEYSPACE IF EXISTS "+name)
	columns := ` (id int, part text, shared text STATIC, name text, n int, tags set<text>, f frozen<list<int>>,
		v vector<float, 2>, PRIMARY KEY (id, part))`
	file := filepath.Join(t.TempDir(), "whole.cql")
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(`
		CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE ks.a`+columns+`; CREATE TABLE ks.b`+columns+` WITH default_time_to_live = 1000;
		INSERT INTO ks.a (id, part, name, n, tags, f, v) VALUES (1, 'p', 'lamp', 7, {'x', 'y'}, [1], [1, 2]) USING TIMESTAMP 1000;
		INSERT INTO ks.a (id, part, name) VALUES (1, 'q', 'cup') USING TIMESTAMP 1000 AND TTL 10000;
		UPDATE ks.a USING TIMESTAMP 2000 AND TTL 20000 SET n = 8 WHERE id = 1 AND part = 'q';
		UPDATE ks.a USING TIMESTAMP 3000 SET tags = tags + {'z'} WHERE id = 1 AND part = 'p';
		INSERT INTO ks.a (id, part) VALUES (2, 'key alone');
		UPDATE ks.a USING TIMESTAMP 4000 SET shared = 'with rows' WHERE id = 1;
		UPDATE ks.a USING TIMESTAMP 5000 AND TTL 30000 SET shared = 'without rows' WHERE id = 3`, "ks.", name+".")), 0o600))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "KEYSPACE ks ", "KEYSPACE "+name+" ")), 0o600))
	x.requireRun("query", "--file", file)
	require.Equal(t, "4\n", x.requireRun("count", name+".a"))
	require.Contains(t, x.requireRun("count", name+".a", "--largest", "1"), " 1     2\n")
	require.Contains(t, x.requireRun("count", name+".a", "--by-node"), "100\n")
	require.Contains(t, x.requireRun("copy", name+".a", name+".b"),
		"1 collections had elements with several write times: their elements got the latest.\n")
	require.Equal(t, "4 rows are equal.\n", x.requireRun("verify", name+".a", name+".b", "--write-times"))
	ttls := x.requireRun("query", "--output", "json", "SELECT part, ttl(name), ttl(n), ttl(shared), ttl(f) FROM "+name+".b")
	require.Regexp(t, `(?m)^{"part":"p","ttl\(name\)":null,"ttl\(n\)":null,"ttl\(shared\)":null,"ttl\(f\)":null}$`, ttls)
	require.Regexp(t, `(?m)^{"part":"q","ttl\(name\)":(10000|99\d\d),"ttl\(n\)":(20000|199\d\d),`, ttls)
	require.Regexp(t, `(?m)^{"part":null,"ttl\(name\)":null,"ttl\(n\)":null,"ttl\(shared\)":(30000|299\d\d),`, ttls)
	parquet := filepath.Join(t.TempDir(), "a.parquet")
	x.requireRun("unload", name+".a", parquet, "--summary", "json")
	_, out, _ := x.run("verify", parquet, name+".b", "--columns", "name,n,tags,f,v")
	require.Equal(t, "id=3 part=NULL: not compared, because its primary key has NULL\n", out)
	_, out, _ = x.run("doctor", "--probes", "3")
	require.Contains(t, out, "protocol v5")
}
