// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
)

// realTester returns a tester with the server of VECQL_TEST_HOSTS, or the shared one.
func realTester(t *testing.T) *tester {
	x := &tester{t: t, ctx: t.Context(), env: map[string]string{
		"VECQL_HOSTS": os.Getenv("VECQL_TEST_HOSTS"), "VECQL_TIMEOUT": "30s", "VECQL_PROTOCOL": fmt.Sprint(cassandra.Protocol()),
	}}
	if x.env["VECQL_HOSTS"] == "" {
		server, err := cassandra.Shared(t.Context())
		require.NoError(t, err)
		x.env["VECQL_HOSTS"], x.env["VECQL_USER"], x.env["VECQL_PASSWORD"] = server.Host, cassandra.Username, cassandra.Password
	}
	return x
}

// whole are tables of rows with write times, times to live, static columns and collections.
const whole = `
	CREATE TABLE shop.a COLUMNS; CREATE TABLE shop.b COLUMNS WITH default_time_to_live = 1000;`

const wholeRows = `
	INSERT INTO shop.a (id, part, name, n, tags, f, v) VALUES (1, 'p', 'lamp', 7, {'x', 'y'}, [1], [1, 2]) USING TIMESTAMP 1000;
	INSERT INTO shop.a (id, part, name) VALUES (1, 'q', 'cup') USING TIMESTAMP 1000 AND TTL 10000;
	UPDATE shop.a USING TIMESTAMP 2000 AND TTL 20000 SET n = 8 WHERE id = 1 AND part = 'q';
	UPDATE shop.a USING TIMESTAMP 3000 SET tags = tags + {'z'} WHERE id = 1 AND part = 'p';
	INSERT INTO shop.a (id, part) VALUES (2, 'key alone');
	UPDATE shop.a USING TIMESTAMP 4000 SET shared = 'with rows' WHERE id = 1;
	UPDATE shop.a USING TIMESTAMP 5000 AND TTL 30000 SET shared = 'without rows' WHERE id = 3;`

// TestOnServer runs the verbs on a real server, each on few rows: changes of the schema take most of its time.
func TestOnServer(t *testing.T) {
	soak.NoRace(t)
	x := realTester(t)
	keyspace := fmt.Sprint("vecql_tool_", os.Getpid())
	copied := keyspace + "_copy"
	defer x.run("query", "DROP KEYSPACE IF EXISTS "+keyspace, "DROP KEYSPACE IF EXISTS "+copied)
	release := x.requireRun("query", "--output", "json", "SELECT release_version FROM system.local")
	vectors := release >= `{"release_version":"5`
	t.Run("tables", func(t *testing.T) {
		x := *x
		x.t = t
		columns := `(id int, part text, shared text STATIC, name text, n int, tags set<text>, f frozen<list<int>>,
			v vector<float, 2>, PRIMARY KEY (id, part))`
		statements := described + describedViews + strings.ReplaceAll(whole, "COLUMNS", columns)
		if !vectors {
			statements = vectorIndex.ReplaceAllString(vectorType.ReplaceAllString(statements, "frozen<list<float>>"), "")
			x.note = "note: the source does not report the write times of tags: their elements get the latest of the row\n"
		}
		x.in = strings.ReplaceAll(statements+wholeRows, "shop", keyspace)
		x.requireRun("query")
		x.requireRoundTrip(keyspace, copied, statements)
		x.requireGenerated(keyspace)
		t.Run("whole", func(t *testing.T) {
			if cassandra.Protocol() == 3 {
				t.Skip("missing: no values that are not set")
			}
			x := x
			x.t = t
			x.requireWholeTables(keyspace)
		})
		_, out, _ := x.run("doctor", "--probes", "3")
		require.Contains(t, out, fmt.Sprint("protocol v", cmp.Or(cassandra.Protocol(), 5)))
		x.requireTop(keyspace)
	})
	t.Run("shell", func(t *testing.T) {
		x := *x
		x.t = t
		x.requireCommands(keyspace)
	})
	t.Run("search", func(t *testing.T) {
		if !vectors {
			t.Skip("missing: no vectors")
		}
		x := *x
		x.t = t
		x.requireSearches(keyspace)
		x.requireDemo("200 rows verified bit for bit", "--rows", "200")
	})
}

// requireTop requires what the node does, while a table is read: once, and on a terminal until an interrupt.
func (x *tester) requireTop(keyspace string) {
	x.t.Helper()
	reading, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-reading:
				return
			default:
				x.run("query", strings.Repeat("SELECT * FROM "+keyspace+".a WHERE id = 1;", 200))
			}
		}
	}()
	code, out, text := x.run("top", "--once")
	live, stop := context.WithTimeout(x.ctx, 8*time.Second)
	defer stop()
	terminal := &tester{t: x.t, ctx: live, env: x.env, out: 100}
	liveCode, screen, liveText := terminal.run("top")
	close(reading)
	<-ended
	require.Zero(x.t, code, text)
	require.Regexp(x.t, `(?m)^node +clients +requests/s .*\n-.*\n\S+:\d+ +[1-9]\d* +[1-9]\d* +\d+\.\d `, out)
	require.Regexp(x.t, `(?m)^`+keyspace+`\.a +[1-9]\d* +\d+$`, out)
	require.Zero(x.t, liveCode, liveText)
	require.Contains(x.t, screen, keyspace+".a ")
}

// vectorType and vectorIndex find what Cassandra 4 lacks in the statements of tests.
var (
	vectorType  = regexp.MustCompile(`vector<float, \d>`)
	vectorIndex = regexp.MustCompile(`CREATE CUSTOM INDEX [^;]*;`)
)

// requireSearches searches by an index and exactly, and measures the recall of the index.
func (x *tester) requireSearches(keyspace string) {
	t, table := x.t, keyspace+".products"
	x.in = strings.ReplaceAll(products, "CREATE KEYSPACE shop", "CREATE KEYSPACE IF NOT EXISTS shop")
	x.in = strings.ReplaceAll(x.in, "shop", keyspace)
	code, _, text := x.run("query") // with a warning about vector indexes
	require.Zero(t, code, text)
	args := []string{"search", table, "--vector", "[0, 0]", "--where", "price < 140", "--output", "csv"}
	const want = "search_rank,score,distance,id,name,price,rank\n1,1,0,1,chair,49.5,10\n2,0.5,1,3,lamp,20,\n3,0.03846154,5,2,table,120,\n"
	require.Equal(t, want, x.requireRun(append(args, "--exact")...))
	var out string
	require.Eventually(t, func() bool { // until the index is built
		code, out, text = x.run(args...)
		return code == 0
	}, time.Minute, 100*time.Millisecond, text)
	require.Equal(t, want, out)
	require.Equal(t, []string{"2,1,3,1,1,0"}, x.recallOf(table, "--k", "2", "--oversample", "1", "--sample", "5"))
}

// requireWholeTables counts, loads, copies and verifies tables with times.
func (x *tester) requireWholeTables(keyspace string) {
	t, a, b := x.t, keyspace+".a", keyspace+".b"
	require.Equal(t, "4\n", x.requireRun("count", a))
	require.Contains(t, x.requireRun("count", a, "--largest", "1"), " 1     2\n")
	require.Contains(t, x.requireRun("count", a, "--by-node"), "100\n")
	dir := t.TempDir()
	timed, parquet := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.parquet")
	x.requireRun("unload", a, timed, "--times")
	require.Equal(t, "loaded 4 rows from 1 file, 0 rejected\n", x.requireRun("load", b, timed, "--times"))
	x.requireCopied(a, b)
	require.Contains(t, x.requireRun("copy", a, b), "Copied 4 rows in ")
	x.requireCopied(a, b)
	x.requireRun("unload", a, parquet)
	require.Equal(t, "4 rows are equal.\n", x.requireRun("verify", parquet, b, "--columns", "name,n,tags,f,v"))
	require.Equal(t, "4 rows are equal.\n", x.requireRun("verify", parquet, b))
}

// requireCopied requires that b has the rows, write times and times to live of a.
func (x *tester) requireCopied(a, b string) {
	x.t.Helper()
	require.Equal(x.t, "4 rows are equal.\n", x.requireRun("verify", a, b, "--write-times"))
	ttls := x.requireRun("query", "--output", "json", "SELECT part, ttl(name), ttl(n), ttl(shared), ttl(f) FROM "+b)
	require.Regexp(x.t, `(?m)^{"part":"p","ttl\(name\)":null,"ttl\(n\)":null,"ttl\(shared\)":null,"ttl\(f\)":null}$`, ttls)
	require.Regexp(x.t, `(?m)^{"part":"q","ttl\(name\)":(10000|99\d\d),"ttl\(n\)":(20000|199\d\d),`, ttls)
	require.Regexp(x.t, `(?m)^{"part":null,"ttl\(name\)":null,"ttl\(n\)":null,"ttl\(shared\)":(30000|299\d\d),`, ttls)
}

// requireCommands executes commands of the shell, and requires the names that are meant where the server does not know
// one.
func (x *tester) requireCommands(keyspace string) {
	require.Regexp(x.t, `\[vecql .+ \| (Cassandra|ScyllaDB) \d.+ \| CQL spec 3\..+ \| Native protocol v\d\]`, x.requireRun("query", "SHOW VERSION"))
	require.Contains(x.t, x.requireRun("query", `\c `+keyspace+"\n\\dt"), "items")
	_, _, notes := x.run("query", "TRACING ON\nSELECT id FROM "+keyspace+".items WHERE id = 1;")
	id := regexp.MustCompile(`tracing session ([0-9a-f]{32})`).FindStringSubmatch(notes)
	require.NotNil(x.t, id, notes)
	require.Contains(x.t, x.requireRun("query", "SHOW SESSION "+id[1]), id[1])
	file := filepath.Join(x.t.TempDir(), "items.csv")
	require.Regexp(x.t, `^unloaded \d+ rows? to .+\nloaded \d+ rows? from 1 file, 0 rejected\n$`, x.requireRun("query", fmt.Sprintf(
		"INSERT INTO %[1]s.items (id, name) VALUES (1, 'lamp'); COPY %[1]s.items (id, name) TO '%[2]s'; COPY %[1]s.items (id, name) FROM '%[2]s'",
		keyspace, file)))
	if user := x.env["VECQL_USER"]; user != "" {
		x.requireRun("query", fmt.Sprintf("LOGIN '%s' '%s'; SELECT key FROM system.local", user, x.env["VECQL_PASSWORD"]))
		require.Contains(x.t, x.requireFailure(exitFailed, "query", "LOGIN '"+user+"' 'wrong'"), "wrong user name or password")
	}
	if os.Getenv("VECQL_TEST_HOSTS") != "" {
		return // servers of other versions have other texts
	}
	for stmt, want := range map[string]string{
		"SELECT id FROM shop.itmes":                         keyspace + ".items",
		"SELECT anme FROM shop.items":                       "name",
		"SELECT id FROM shop.items WHERE anme = 'a'":        "name",
		"SELECT conut(id) FROM shop.items":                  "count",
		"SELECT id FORM shop.items":                         "FROM",
		"DELTE FROM shop.items":                             "DELETE",
		"INSERT INTO shop.items (id, anme) VALUES (1, 'a')": "name",
		"UPDATE shop.items SET anme = 'a' WHERE id = 1":     "name",
		"DESCRIBE TABLE shop.itms":                          keyspace + ".items",
		"DESCRIBE shop.itms":                                keyspace + ".items",
		"USE shopp":                                         keyspace,
		"SELECT id FROM shopp.items":                        keyspace,
	} {
		text := x.requireFailure(exitFailed, "query", strings.ReplaceAll(stmt, "shop", keyspace))
		require.True(x.t, strings.HasSuffix(text, "; did you mean "+want+"?"), "%s: %s", stmt, text)
	}
}
