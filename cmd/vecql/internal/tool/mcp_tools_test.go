// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
)

// The tools describe, search, files and sql of mcp.

func TestMCPDescribe(t *testing.T) {
	x := newTester(t, products, `CREATE TABLE shop."Views" (id int PRIMARY KEY, w vector<float, 3>, text vector<text, 2>)`)
	c := x.serveMCP()
	require.JSONEq(t, `{"keyspaces":[{"name":"shop","tables":["\"Views\"","plain","products"]}]}`, c.requireCall("describe", nil))
	var out describeOutput
	require.NoError(t, json.Unmarshal([]byte(c.requireCall("describe", arguments{"name": "shop"})), &out))
	require.Equal(t, []vectorText{
		{Target: `shop."Views"(w)`, Dimension: 3},
		{Target: "shop.plain(w)", Dimension: 2},
		{Target: "shop.products(v)", Dimension: 2, Index: "shop.products_v", Similarity: "euclidean"},
	}, out.Vectors)
	require.Equal(t, strings.TrimSpace(x.requireRun("describe", "shop")), strings.Join(out.Statements, "\n\n"))
	require.NoError(t, json.Unmarshal([]byte(c.requireCall("describe", arguments{"name": "SHOP.plain"})), &out))
	require.Equal(t, []vectorText{{Target: "shop.plain(w)", Dimension: 2}}, out.Vectors)
	require.True(t, strings.HasPrefix(out.Statements[0], "CREATE TABLE shop.plain (\n"))
	require.Contains(t, c.requireCall("describe", arguments{"name": "shop.products_v"}), "CREATE CUSTOM INDEX")

	for name, want := range map[string]string{
		"none":                        "invalid request: 'none' not found in keyspaces",
		"shop.none":                   "invalid request: ",
		"CLUSTER":                     "invalid request: 'cluster' not found in keyspaces",
		"shop; DROP TABLE shop.plain": `name is "shop; DROP TABLE shop.plain", want a keyspace or keyspace.table as in CQL`,
		"KEYSPACE shop":               `name is "KEYSPACE shop"`,
		"shop -- x":                   `name is "shop -- x"`,
	} {
		require.Contains(t, c.requireRefused("describe", arguments{"name": name}), want)
	}
	c = x.serveMCP("--max-bytes", "2000", "--keyspace", "shop")
	out = describeOutput{}
	require.NoError(t, json.Unmarshal([]byte(c.requireCall("describe", arguments{"name": "shop"})), &out))
	require.Equal(t, "there is more: the limit of bytes is reached; describe a single keyspace or table", out.Cut)
	require.NotEmpty(t, out.Statements)
	require.Contains(t, c.requireCall("describe", arguments{"name": "plain"}), `"target":"shop.plain(w)"`)
}

func TestMCPSearch(t *testing.T) {
	x := newTester(t, products)
	c := x.serveMCP("--max-rows", "3")
	search := func(args arguments) string {
		_, rows, _ := strings.Cut(c.requireCall("search", args), `"rows":`)
		return rows
	}
	require.Equal(t, `[{"search_rank":1,"score":1,"distance":0,"id":1,"name":"chair","price":49.5,"rank":10},`+
		`{"search_rank":2,"score":0.5,"distance":1,"id":3,"name":"lamp","price":20,"rank":null}]}`,
		search(arguments{"table": "shop.products", "vector": []int{0, 0}, "k": 2}))
	require.Equal(t, `[{"rank":1,"score":0.05263158,"distance":4.2426405,"name":"lamp"},{"rank":2,"score":0.03846154,"distance":5,"name":"chair"}]}`,
		search(arguments{"table": "shop.products", "like": []any{2}, "where": "price < 100", "columns": []string{"name"}}))
	require.Equal(t, `[{"rank":1,"score":0,"distance":2,"a":"x,y","b":2}]}`,
		search(arguments{"table": "shop.plain(w)", "like": []any{"x,y", 1}, "exact": true, "metric": "cosine"}))
	require.Equal(t, `[{"rank":1,"score":0.5,"distance":1,"id":3}]}`, search(arguments{
		"table": "shop.products", "vector": []int{0, 0}, "columns": []string{"id"}, "max_distance": 1, "min_score": 0.1, "where": "price < 49",
	}))
	var out rowsResult
	require.NoError(t, json.Unmarshal([]byte(c.requireCall("search", arguments{"table": "shop.products", "vector": []int{0, 0}})), &out))
	require.Len(t, out.Rows, 3, "k is at most the limit of rows")
	require.Empty(t, out.Cut)

	for want, args := range map[string]arguments{
		"want one query: vector or like":                               {},
		"want one query: vector or  like":                              {"vector": []int{0, 0}, "like": []any{1}},
		"k is 4, and a result has at most 3 rows":                      {"vector": []int{0, 0}, "k": 4},
		"k is -1, want at least 1":                                     {"vector": []int{0, 0}, "k": -1},
		`metric is "angle", want cosine, euclidean or dot`:             {"vector": []int{0, 0}, "metric": "angle"},
		"columns is empty, want names of columns":                      {"vector": []int{0, 0}, "columns": []string{}},
		`columns: table shop.products has no column "color"`:           {"vector": []int{0, 0}, "columns": []string{"color"}},
		"query 0: vector: query of dimension 3, want 2":                {"vector": []int{0, 0, 0}},
		"where: at offset 7: found the end":                            {"vector": []int{0, 0}, "where": "price <"},
		"shop.products: no row has the key of like":                    {"like": []any{9}},
		`like: value 1, id int: "x" is not a value of type int32`:      {"like": []any{"x"}},
		"like: 2 values for 1 marker: want id int":                     {"like": []any{1, 2}},
		"table none does not exist":                                    {"table": "shop.none", "vector": []int{0, 0}},
		"shop.plain: no vector index; exact reads all rows":            {"table": "shop.plain", "vector": []int{0, 1}},
		"shop.plain: no index states the similarity; metric states it": {"table": "shop.plain", "vector": []int{0, 1}, "exact": true},
	} {
		if args["table"] == nil {
			args["table"] = "shop.products"
		}
		text := c.requireRefused("search", args)
		require.Contains(t, text, strings.ReplaceAll(want, "  ", " "))
		require.NotContains(t, text, "--")
	}
}

// writeFiles writes files below a folder.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

func TestMCPFiles(t *testing.T) {
	x := &tester{t: t, ctx: t.Context()}
	outside, dir := t.TempDir(), t.TempDir()
	writeFiles(t, outside, map[string]string{"secret.csv": "a\n1\n", "more/secret.csv": "a\n1\n"})
	writeFiles(t, dir, map[string]string{
		"items.csv": "id,name\n1,chair\n2,table\n3,lamp\n", "sales/may.csv": "n\n5\n", "sales/june.csv": "n\n6\n", "notes.txt": "no",
		".hidden.csv": "a\n1\n", "sales/[x].csv": "n\n7\n", "_temporary.csv": "a\n1\n", ".git/a.csv": "a\n1\n", "_old/a.csv": "a\n1\n",
	})
	link := func(to, name string) { require.NoError(t, os.Symlink(to, filepath.Join(dir, name))) }
	link(filepath.Join(outside, "secret.csv"), "out.csv")
	link("../"+filepath.Base(outside)+"/secret.csv", "up.csv")
	link(outside, "away")
	link("sales", "inner")
	link("items.csv", "same.csv")
	link("none.csv", "broken.csv")
	c := x.serveMCP("--files", dir, "--max-rows", "2")
	query := func(statement string) string {
		_, rows, _ := strings.Cut(c.requireCall("sql", arguments{"statement": statement}), `"rows":`)
		return rows
	}
	require.Equal(t, `{"columns":[{"name":"letters","type":"int64"},{"name":"n","type":"int64"}],"rows":[{"letters":5,"n":2},{"letters":4,"n":1}]}`,
		c.requireCall("sql", arguments{"statement": "SELECT length(name) AS letters, count(*) AS n FROM 'items.csv' GROUP BY 1 ORDER BY 2 DESC"}))
	for statement, want := range map[string]string{
		"SELECT sum(n) AS n FROM 'sales'":                                        `[{"n":18}]}`,
		"SELECT sum(n) AS n FROM 'sales/*.csv'":                                  `[{"n":18}]}`,
		"SELECT sum(n) AS n FROM 'inner/may.csv'":                                `[{"n":5}]}`,
		"SELECT n FROM 'sales/[x].csv'":                                          `[{"n":7}]}`,
		"SELECT sum(n) AS n FROM read('./sales/may.csv', 'sales/june.csv')":      `[{"n":11}]}`,
		"SELECT name FROM 'same.csv' WHERE id = 1":                               `[{"name":"chair"}]}`,
		"SELECT 1 + 1 AS two":                                                    `[{"two":2}]}`,
		"SELECT name FROM 'items.csv' ORDER BY id":                               `[{"name":"chair"},{"name":"table"}],"cut":"there are more rows: a result has at most 2 rows"}`,
		"DESCRIBE 'items.csv'":                                                   `[{"column_name":"id","column_type":"int64","null":"YES"},{"column_name":"name","column_type":"string","null":"YES"}]}`,
		"SELECT n FROM (SELECT sum(n) AS n FROM 'sales') t":                      `[{"n":18}]}`,
		"SELECT id FROM 'items.csv' WHERE id = (SELECT max(n) - 4 FROM 'sales')": `[{"id":3}]}`,
	} {
		require.Equal(t, want, query(statement), statement)
	}
	for _, path := range []string{
		"out.csv", "up.csv", "away/secret.csv", "away", "away/more", "../" + filepath.Base(outside) + "/secret.csv", "..", "sales/../../x", "",
		filepath.Join(outside, "secret.csv"), filepath.Join(dir, "items.csv"), "/dev/stdin", "-", "/etc/passwd", "o*.csv", "*/secret.csv", `..\x`,
	} {
		for _, statement := range []string{
			"SELECT * FROM '%s'", "SELECT name FROM 'items.csv' UNION ALL SELECT name FROM '%s'", "SELECT * FROM (SELECT * FROM '%s') t",
			"WITH t AS (SELECT * FROM '%s') SELECT * FROM t", "DESCRIBE '%s'",
			"SELECT (SELECT max(a) FROM '%s') FROM 'items.csv'", "SELECT id FROM 'items.csv' WHERE id IN (SELECT a FROM '%s')",
			"SELECT id FROM 'items.csv' WHERE EXISTS (SELECT 1 FROM '%s')", "FROM '%s' SELECT a",
			"SELECT id FROM 'items.csv' GROUP BY id HAVING id NOT IN (FROM (SELECT a FROM '%s') t)",
			"DESCRIBE SELECT (SELECT a FROM '%s') FROM 'items.csv'", "SELECT a FROM '%s' GROUP BY ROLLUP (a)",
			"SELECT id FROM 'items.csv' ORDER BY (SELECT 1 UNION ALL SELECT a FROM '%s')",
			"SELECT * REPLACE ((SELECT a FROM '%s') AS id) FROM 'items.csv'",
		} {
			text := c.requireRefused("sql", arguments{"statement": fmt.Sprintf(statement, path)})
			require.Contains(t, text, "below the folder of --files", path)
			require.NotContains(t, strings.Replace(text, path, "", 1), outside)
		}
	}
	for statement, want := range map[string]string{
		"SELECT * FROM 'none.csv'":   `"none.csv": no such file below the folder of --files`,
		"SELECT * FROM 'broken.csv'": `"broken.csv": no such file below the folder of --files`,
		"SELECT * FROM shop.items":   "shop.items is a table: sql reads files, as in FROM 'items.parquet'",
		"SELECT id FROM 'items.csv' WHERE id IN (SELECT id FROM shop.items)": "shop.items is a table: sql reads files, as in FROM 'items.parquet'",
		"WITH t AS (SELECT * FROM shop.items) SELECT * FROM t":               "shop.items is a table: sql reads files, as in FROM 'items.parquet'",
		"SELECT id FROM items.csv":                                           "items.csv is a table: sql reads files, as in FROM 'items.csv'",
		"SELECT nosuch FROM 'items.csv'":                                     "line 1, column 8: nosuch: no such column: \"nosuch\"; the columns are: id, name\nSELECT nosuch FROM 'items.csv'\n       ^",
		"COPY (SELECT 1) TO 'x.csv'":                                         "line 1, column 1: ",
		"CREATE TABLE x AS SELECT 1":                                         "line 1, column 1: ",
		"SELECT 1; SELECT 2":                                                 "line 1, column ",
		"SELECT * INTO 'x.csv' FROM 'items.csv'":                             "line 1, column ",
		"SELECT * FROM 'items.csv' join 'items.csv' on":                      "joins: not supported",
	} {
		require.Contains(t, c.requireRefused("sql", arguments{"statement": statement}), want)
	}
	require.JSONEq(t, `{"files":[{"path":"items.csv","bytes":31},{"path":"sales/[x].csv","bytes":4}],"cut":"there are 4 files: name a folder or a pattern"}`,
		c.requireCall("files", nil))
	require.JSONEq(t, `{"files":[{"path":"sales/may.csv","bytes":4}]}`, c.requireCall("files", arguments{"pattern": "sales/m*"}))
	require.Contains(t, c.requireRefused("files", arguments{"pattern": "../*"}), "below the folder of --files")
	require.JSONEq(t, `{"files":[]}`, (&tester{t: t, ctx: t.Context()}).serveMCP("--files", t.TempDir()).requireCall("files", nil))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 13, "nothing was written")
	require.JSONEq(t, `{"files":[{"path":"items.csv","bytes":31}],"cut":"there are 4 files: name a folder or a pattern"}`,
		x.serveMCP("--files", dir, "--max-bytes", "20").requireCall("files", nil), "the names have 22 bytes")
}

// TestMCPText requires that text which is not UTF-8, and control characters, do not break the protocol.
func TestMCPText(t *testing.T) {
	x := &tester{t: t, ctx: t.Context()}
	dir := t.TempDir()
	b := column.NewBatch(column.Strings("text", []string{"\x1b[31m\u2028\n\x00"}), column.Strings("raw", []string{"a\xffb\xc3"}))
	f, err := rowfile.Create(filepath.Join(dir, "a.parquet"), b.Schema(), rowfile.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, f.Write(b))
	require.NoError(t, f.Close())
	c := x.serveMCP("--files", dir)
	var out rowsResult
	require.NoError(t, json.Unmarshal([]byte(c.requireCall("sql", arguments{"statement": "SELECT text FROM 'a.parquet'"})), &out))
	require.Equal(t, []map[string]any{{"text": "\x1b[31m\u2028\n\x00"}}, out.Rows)
	require.Equal(t, "column raw: the text is not UTF-8", c.requireRefused("sql", arguments{"statement": "SELECT raw FROM 'a.parquet'"}))
	require.Contains(t, c.requireRefused("sql", arguments{"statement": "SELECT \x1b FROM 'a.parquet'"}), "line 1, column 8")
}

// TestMCPDocument runs the commands of the configuration in the document.
func TestMCPDocument(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/mcp.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(text), "```json\n")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	var config struct {
		Servers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	require.NoError(t, json.Unmarshal([]byte(block), &config))
	require.Len(t, config.Servers, 2)
	for _, s := range config.Servers {
		require.Equal(t, "vecql", s.Command)
		x := &tester{t: t, ctx: t.Context(), env: s.Env, in: initialize}
		for i, arg := range s.Args {
			if arg == "/data/reports" {
				s.Args[i] = t.TempDir()
			}
		}
		require.Contains(t, x.requireRun(s.Args...), `"serverInfo":{"name":"vecql"`)
	}
}

// TestMCPRole has the role of the document on a real server: it reads its keyspace, and can neither write nor read
// another one.
func TestMCPRole(t *testing.T) {
	soak.Only(t)
	server, err := cassandra.Start(t.Context(), cassandra.Options{Auth: true, Log: t.Log})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	x := &tester{t: t, ctx: t.Context(), env: map[string]string{"VECQL_HOSTS": strings.Join(server.Hosts(), ",")}}
	document, err := os.ReadFile("../../../../docs/mcp.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(document), "```sql\n")
	require.True(t, found)
	role, _, _ := strings.Cut(block, "```")
	root := []string{"query", "--user", cassandra.Username, "--password", cassandra.Password}
	x.requireRun(append(root, shop, strings.ReplaceAll(shop, "shop", "other"), strings.ReplaceAll(role, "...", "secret"))...)

	x.env["VECQL_USER"], x.env["VECQL_PASSWORD"] = "reader", "secret"
	for stmt, want := range map[string]string{
		"INSERT INTO shop.items (id) VALUES (9)":    "User reader has no MODIFY permission",
		"TRUNCATE shop.items":                       "User reader has no MODIFY permission",
		"DROP TABLE shop.items":                     "User reader has no DROP permission",
		"SELECT id FROM other.items":                "User reader has no SELECT permission",
		"SELECT salted_hash FROM system_auth.roles": "User reader has no SELECT permission",
	} {
		require.Contains(t, x.requireFailure(exitFailed, "query", stmt), want)
	}
	c := x.serveMCP()
	require.Contains(t, c.requireCall("query", arguments{"statement": "SELECT name FROM shop.items WHERE id = ?", "values": []any{1}}), "chair")
	require.Contains(t, c.requireCall("describe", arguments{"name": "shop.items"}), "CREATE TABLE shop.items")
	require.Contains(t, c.requireCall("search", arguments{"table": "shop.items", "vector": []int{1, 2, 3}, "exact": true, "metric": "dot"}), "chair")
	require.Contains(t, c.requireRefused("query", arguments{"statement": "SELECT id FROM other.items"}), "User reader has no SELECT permission")
}
