// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// products is a keyspace with a table of vectors, their index, and five rows. One row has no vector. A column has
// the name of a column that a search adds.
const products = `CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
	CREATE TABLE shop.products (id int PRIMARY KEY, name text, price double, rank int, v vector<float, 2>);
	CREATE CUSTOM INDEX products_v ON shop.products (v) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': 'euclidean'};
	CREATE INDEX ON shop.products (price) USING 'sai';
	INSERT INTO shop.products (id, name, price, rank, v) VALUES (1, 'chair', 49.5, 10, [0, 0]);
	INSERT INTO shop.products (id, name, price, v) VALUES (2, 'table', 120, [3, 4]);
	INSERT INTO shop.products (id, name, price, v) VALUES (3, 'lamp', 20, [0, 1]);
	INSERT INTO shop.products (id, name, price, v) VALUES (4, 'desk', 150, [6, 8]);
	INSERT INTO shop.products (id, name) VALUES (5, 'none');
	CREATE TABLE shop.plain (a text, b int, w vector<float, 2>, PRIMARY KEY (a, b));
	INSERT INTO shop.plain (a, b, w) VALUES ('x,y', 1, [1, 1]); INSERT INTO shop.plain (a, b, w) VALUES ('x,y', 2, [-1, -1]);`

// TestSearch requires the rows of searches by the index and exactly, in their order, with scores and distances.
func TestSearch(t *testing.T) {
	x := newTester(t, products)
	for _, exact := range [][]string{nil, {"--exact"}} {
		search := func(args ...string) string {
			return x.requireRun(slices.Concat([]string{"search", "shop.products", "--vector", "[0, 0]"}, exact, args)...)
		}
		require.Equal(t, `search_rank       score  distance  id  name   price  rank
-----------  ----------  --------  --  -----  -----  ----
          1           1         0   1  chair   49.5    10
          2         0.5         1   3  lamp      20  NULL
          3  0.03846154         5   2  table    120  NULL
3 rows
`, search("--k", "3"))
		require.Equal(t, `{"rank":1,"score":1,"distance":0,"v":[0,0],"id":1}`+"\n", search("--k", "1", "--columns", "v,id", "--output", "json"))
		for args, want := range map[string]string{
			"":                         "chair lamp table desk",
			"--min-score 0.5":          "chair lamp",
			"--max-distance 5":         "chair lamp table",
			"--max-distance 0":         "chair",
			"--where price>100":        "table desk",
			"--metric euclidean --k 1": "chair",
		} {
			lines := strings.Split(search(append(strings.Fields(args), "--columns", "name", "--output", "csv")...), "\n")
			require.Equal(t, "rank,score,distance,name", lines[0])
			var names []string
			for _, line := range lines[1 : len(lines)-1] {
				names = append(names, line[strings.LastIndexByte(line, ',')+1:])
			}
			require.Equal(t, want, strings.Join(names, " "), "%s %s", args, exact)
		}
		x.in = "[0,\n0]\n"
		require.Equal(t, search(), x.requireRun(slices.Concat([]string{"search", "shop.products(v)", "--vector", "-"}, exact)...))
	}
	require.Equal(t, "rank,score,distance,name\n1,0.5,1,lamp\n",
		x.requireRun("search", "shop.products", "--vector", "[0, 0]", "--exact", "--where", "name ilike 'LA%'", "--columns", "name", "-o", "csv"))
	require.Equal(t, "rank,score,distance,id\n1,28.5,-56,4\n2,14.5,-28,2\n",
		x.requireRun("search", "shop.products", "--vector", "[4, 4]", "--exact", "--metric", "dot", "--k", "2", "--columns", "id", "-o", "csv"))
}

// TestSearchLike searches by the vector of a row, whose key has several columns and a comma.
func TestSearchLike(t *testing.T) {
	x := newTester(t, products)
	require.Equal(t, `rank,score,distance,id,v
1,0.05263158,4.2426405,3,"[0,1]"
2,0.03846154,5,1,"[0,0]"
`, x.requireRun("search", "shop.products", "--like", "2", "--k", "2", "--where", "price < 100", "--columns", "id,v", "--output", "csv"))
	require.Equal(t, `rank  score  distance  a    b
----  -----  --------  ---  -
   1      0         2  x,y  2
1 row
`, x.requireRun("search", "shop.plain", "--like", `"x,y",1`, "--exact", "--metric", "cosine"))
	const id, day = "7a28ff5c-64a5-4c27-9d8e-3f0e3b8f6f1a", "2026-05-01"
	require.NoError(t, x.Exec(`CREATE TABLE shop.keys (a uuid, b date, c timestamp, d blob, e decimal, f inet, v vector<float, 2>,
			tags map<text, frozen<list<int>>>, PRIMARY KEY ((a, b), c, d, e, f));
		INSERT INTO shop.keys (a, b, c, d, e, f, v, tags) VALUES (`+id+`, '`+day+`', '2026-05-01T10:00:00Z', 0x01ff, 1.50, '10.0.0.1', [1, 0], {'a': [1, 2]});
		INSERT INTO shop.keys (a, b, c, d, e, f, v, tags) VALUES (`+id+`, '`+day+`', '2026-05-02T10:00:00Z', 0x, 2, '::1', [0, 1], {'b': []});`))
	like := id + "," + day + ",2026-05-02T10:00:00Z,0x,2,::1"
	require.Equal(t, `{"rank":1,"score":0.5,"distance":1,"a":"`+id+`","b":"2026-05-01","c":"2026-05-01T10:00:00Z","d":"0x01ff","e":1.50,"f":"10.0.0.1",`+
		`"tags":{"a":[1,2]}}`+"\n", x.requireRun("search", "shop.keys", "--like", like, "--exact", "--metric", "cosine", "--output", "json"))
}

// TestSearchCompletes completes tables, columns and similarities.
func TestSearchCompletes(t *testing.T) {
	x := newTester(t, products)
	_, out, _ := x.run("__complete", "search", "shop.")
	require.Equal(t, "shop.plain\nshop.products\n:4\n", out)
	_, out, _ = x.run("__complete", "search", "shop.plain(w)", "--columns", "w,")
	require.Equal(t, "w,a\nw,b\nw,w\n:6\n", out)
	_, out, _ = x.run("__complete", "search", "--columns", "")
	require.Equal(t, ":4\n", out)
	_, out, _ = x.run("__complete", "recall", "shop.plain", "--metric", "")
	require.Equal(t, "cosine\neuclidean\ndot\n:4\n", out)
}

// TestSearchQueries searches by the vectors of files, all at once.
func TestSearchQueries(t *testing.T) {
	x := newTester(t, products)
	t.Chdir(t.TempDir())
	write := func(name, text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o600)) }
	write("q.jsonl", `{"text":"near","emb":[0,0]}`+"\n"+`{"text":"far","emb":[6,8]}`+"\n")
	write("a:b.csv", "emb\n\"[0,0]\"\n\"[6,8]\"\n")
	require.NoError(t, x.Exec(`CREATE TABLE shop.queries (part int, id int, emb list<double>, PRIMARY KEY (part, id));
		INSERT INTO shop.queries (part, id, emb) VALUES (1, 1, [0, 0]); INSERT INTO shop.queries (part, id, emb) VALUES (1, 2, [6, 8])`))
	x.requireRun("unload", "shop.queries", "q.parquet", "--summary", "json")
	const want = `query,rank,score,distance,name
0,1,1,0,chair
0,2,0.5,1,lamp
1,1,1,0,desk
1,2,0.03846154,5,table
`
	search := func(queries string) []string {
		return []string{"search", "shop.products", "--queries", queries, "--k", "2", "--columns", "name", "--output", "csv"}
	}
	for _, queries := range []string{"q.jsonl:emb", "q.parquet", "q.parquet:emb", "a:b.csv"} {
		require.Equal(t, want, x.requireRun(search(queries)...), queries)
		require.Equal(t, want, x.requireRun(append(search(queries), "--exact")...), queries)
	}
	x.in = "{\"emb\":[0,0]}\n{\"emb\":[6,8]}\n"
	require.Equal(t, want, x.requireRun(search("-:emb")...))

	write("two.jsonl", `{"emb":[0,0]}`+"\n"+`{"emb":null}`+"\n")
	write("long.jsonl", `{"emb":[0,0]}`+"\n"+`{"emb":[0,0,0]}`+"\n")
	write("none.csv", "emb\n")
	for queries, want := range map[string]string{
		"q.jsonl":        "2 vecql search: q.jsonl: several columns may have the vectors: want FILE:COLUMN, COLUMN is one of text, emb; see vecql search --help",
		"-":              "2 vecql search: standard input needs the name of the column: -:COLUMN; see vecql search --help",
		"q.jsonl:v":      "1 vecql search: q.jsonl, line 1, column v: the object has no such member",
		"none.jsonl":     "1 vecql search: stat none.jsonl: no such file or directory",
		"none.csv":       "1 vecql search: none.csv has no rows",
		"two.jsonl:emb":  "1 vecql search: two.jsonl: row 1: the vector is NULL",
		"long.jsonl:emb": "1 vecql search: query 1: vector: query of dimension 3, want 2",
	} {
		require.Equal(t, want[2:], x.requireFailure(int(want[0]-'0'), search(queries)...), queries)
	}
}

// TestSearchSends requires that --explain sends no search, and the level and the warnings of a search.
func TestSearchSends(t *testing.T) {
	x := newTester(t, products)
	requests := x.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "products"})
	plan := x.requireRun("search", "shop.products", "--explain", "--where", "price < 100", "--oversample", "3", "--output", "json")
	require.Contains(t, plan, `ORDER BY "v" ANN OF ? LIMIT 30`+"\n")
	require.Contains(t, plan, "\nindex        shop.products_v\n")
	require.Contains(t, plan, "\nconsistency  LOCAL_ONE\n", "the level of the environment is for other requests")
	require.Equal(t, "vecql search: shop.plain: no vector index; --exact reads all rows and compares them",
		x.requireFailure(exitFailed, "search", "shop.plain", "--explain"))
	require.Zero(t, requests.Hits())
	code, _, text := x.run("search", "shop.products", "--vector", "[0, 0]", "--consistency", "QUORUM")
	require.Zero(t, code)
	require.Regexp(t, "^warning: Top-K queries can only be run with consistency level ONE .* Downgrading the consistency level to ONE.\n$", text)
	require.Equal(t, 1, requests.Hits())
}

func TestSearchRefused(t *testing.T) {
	x := newTester(t, products)
	const help = "; see vecql search --help"
	for _, m := range []struct {
		args []string
		want string
	}{
		{[]string{"shop.products"}, "2 want a query: --vector, --like or --queries" + help},
		{[]string{"shop.products", "--vector", "[1]", "--like", "1"}, "2 if any flags in the group [vector like queries] are set none of the others can be; [like vector] were all set" + help},
		{[]string{"shop.products", "--vector", "[0, 0"}, `2 --vector is "[0, 0", want numbers such as [0.5, 1]: unexpected end of JSON input` + help},
		{[]string{"shop.products", "--vector", "[0, null]"}, "2 --vector: element 1 is null, want a number" + help},
		{[]string{"shop.products", "--vector", "[0, 1e39]"}, `2 --vector is "[0, 1e39]", want numbers such as [0.5, 1]: json: cannot unmarshal number 1e39 into Go value of type float32` + help},
		{[]string{"shop.products", "--vector", "[0, 0, 0]"}, "1 query 0: vector: query of dimension 3, want 2"},
		{[]string{"shop.products", "--vector", "[0, 0]", "-k", "3"}, "2 --keyspace is 3, and -k is short for it: the number of rows is --k" + help},
		{[]string{"shop.products", "--vector", "[0, 0]", "--k", "0"}, "2 --k is 0, want at least 1" + help},
		{[]string{"shop.products", "--vector", "[0, 0]", "--k", "1001"}, "1 unsupported number of hits: 1001: an index returns at most 1000, search exactly; --exact searches without an index"},
		{[]string{"shop.products", "--vector", "[0, 0]", "--exact", "--oversample", "2"}, "2 --oversample is for a search by an index: --exact finds the nearest rows" + help},
		{[]string{"shop.products", "--vector", "[0, 0]", "--columns", "color"}, `1 --columns: table shop.products has no column "color"; it has: id, name, price, rank, v`},
		{[]string{"shop.products", "--vector", "[0, 0]", "--metric", "angle"}, `2 --metric is "angle", want cosine, euclidean or dot` + help},
		{[]string{"shop.products", "--vector", "[0, 0]", "--metric", "dot"}, "1 another similarity: the index shop.products_v has L2, the search asks for dot"},
		{[]string{"shop.products", "--vector", "[0, 0]", "--where", "name = 'a'"}, "1 filter name =: Cassandra requires a storage-attached index of the column name (index products_v): create an index that serves it, or search exactly; --exact searches without an index"},
		{[]string{"shop.products", "--vector", "[0, 0]", "--where", "price <"}, "1 --where: at offset 7: found the end, want a column, a literal or a function\nprice <\n       ^"},
		{[]string{"shop.products", "--vector", "[0, 0]", "--consistency", "SERIAL"}, "1 unsupported option: consistency level SERIAL: servers do not search by a serial level"},
		{[]string{"shop.products", "--vector", "[0, 0]", "--consistency", "ANY"}, "1 the consistency level ANY is for writes; choose another one for reads, such as ONE"},
		{[]string{"shop.products", "--like", "2,3"}, `2 --like is "2,3", want id: the record has 2 fields, the list of fields 1; a field with the delimiter ',' needs quotes` + help},
		{[]string{"shop.products", "--like", "x"}, `2 --like is "x", want id: "x" is not a value of type int32` + help},
		{[]string{"shop.products", "--like", "1\n2"}, `2 --like is "1\n2", want one row: id` + help},
		{[]string{"shop.plain", "--like", ",1", "--exact", "--metric", "dot"}, `2 --like is ",1", want a value of each column: a,b` + help},
		{[]string{"shop.products", "--like", "9"}, "1 shop.products: no row has the key of --like"},
		{[]string{"shop.products", "--like", "5"}, "1 the row has no vector: column shop.products(v) of the row [5] is NULL"},
		{[]string{"shop.products(name)", "--vector", "[0, 0]"}, "1 no column of vectors: name of table shop.products; it has: v"},
		{[]string{"shop.nothing", "--vector", "[0, 0]"}, "1 invalid request: table nothing does not exist"},
		{[]string{"shop.plain", "--vector", "[0, 1]"}, "1 shop.plain: no vector index; --exact reads all rows and compares them"},
		{[]string{"shop.plain", "--vector", "[0, 1]", "--exact"}, "1 shop.plain: no index states the similarity; --metric states it: cosine, euclidean or dot"},
		{[]string{"shop.plain", "--vector", "[0, 0]", "--exact", "--metric", "cosine"}, "1 query 0: zero vector has no cosine"},
	} {
		code, out, text := x.run(append([]string{"search"}, m.args...)...)
		require.Equal(t, m.want, string(rune('0'+code))+strings.TrimPrefix(strings.TrimSuffix(text, "\n"), "vecql search:"), m.args)
		require.Empty(t, out, m.args)
	}
}

// TestSearchScylla searches by a vector index of ScyllaDB that has a column for filters, at the level of the session.
func TestSearchScylla(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{Scylla: &cqltest.Scylla{VectorStore: &cqltest.VectorStore{}}}, shop,
		"CREATE CUSTOM INDEX items_v ON shop.items (v, price) USING 'vector_index' WITH OPTIONS = {'quantization': 'i8'}",
		"INSERT INTO shop.items (id, price, v) VALUES (3, 20, [0.5, 1, -1])")
	x.env["VECQL_CONSISTENCY"] = "QUORUM"
	require.Equal(t, "rank,score,distance,id\n1,1,0,1\n", x.requireRun("search", "shop.items", "--vector", "[0.5, 1, -2]",
		"--where", "price > 30", "--columns", "id", "--output", "csv"))
	require.Contains(t, x.requireRun("search", "shop.items", "--where", "price > 30", "--explain"), " LIMIT 10 ALLOW FILTERING\n")
	require.Equal(t, "vecql search: filter name =: ScyllaDB requires the column name to be a filter column of the index (index items_v): "+
		"create an index that serves it, or search exactly; --exact searches without an index",
		x.requireFailure(exitFailed, "search", "shop.items", "--like", "1", "--where", "name = 'lamp'"))
}

// TestSearchNotReady requires what to do while the index is built.
func TestSearchNotReady(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{Scylla: &cqltest.Scylla{VectorStore: &cqltest.VectorStore{Build: time.Hour}}}, shop,
		"CREATE CUSTOM INDEX ON shop.items (v) USING 'vector_index'")
	line := x.requireFailure(exitFailed, "search", "shop.items", "--vector", "[0, 0, 1]")
	require.Regexp(t, `^vecql search: index shop\.items_v_idx does not serve yet, 0\.\d % are built: .*; repeat the command when the index is built$`, line)
}

// TestSearchInterrupted ends an exact search whose scan no node answers, after its progress was shown.
func TestSearchInterrupted(t *testing.T) {
	x := newTester(t, products)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token(", Drop: true})
	screen := &watchedWriter{text: "0 rows read", seen: cancel}
	e := newEnv(strings.NewReader(""), new(bytes.Buffer), screen)
	e.getenv = func(name string) string { return x.env[name] }
	e.errWidth = 80
	require.Equal(t, exitInterrupted, run(ctx, e, []string{"search", "shop.products", "--vector", "[0, 0]", "--exact"}))
	require.True(t, strings.HasSuffix(screen.written.String(), "vecql search: interrupted\n"), screen.written.String())
}

// A watchedWriter calls seen when a text was written.
type watchedWriter struct {
	text    string
	seen    func()
	written bytes.Buffer
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	n, err := w.written.Write(p)
	if strings.Contains(w.written.String(), w.text) {
		w.seen()
	}
	return n, err
}
