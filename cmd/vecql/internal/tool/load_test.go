// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
)

// file writes a file in a folder of the test and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o666))
	return path
}

// items returns the rows of shop.items as lines of JSON, by id.
func (x *tester) items() []string {
	x.t.Helper()
	out := filepath.Join(x.t.TempDir(), "items.jsonl")
	x.requireRun("unload", "shop.items", out)
	content, err := os.ReadFile(out)
	require.NoError(x.t, err)
	lines := map[float64]string{}
	for line := range strings.Lines(string(content)) {
		var row map[string]any
		require.NoError(x.t, json.Unmarshal([]byte(line), &row))
		lines[row["id"].(float64)] = strings.TrimSpace(line)
	}
	var sorted []string
	for id := 0; len(sorted) < len(lines); id++ {
		if line, ok := lines[float64(id)]; ok {
			sorted = append(sorted, line)
		}
	}
	return sorted
}

const itemsCSV = `id,name,price,tags,v
1,chair,49.5,"[""new"",""wood""]","[0.5,1,-2]"
2,table,,,
`

// TestLoad loads the same rows from each format, plain and compressed, from files and standard input.
func TestLoad(t *testing.T) {
	x := newTester(t, shop)
	want := []string{
		`{"id":1,"name":"chair","price":49.5,"tags":["new","wood"],"v":[0.5,1,-2]}`,
		`{"id":2,"name":"table","price":null,"tags":null,"v":null}`,
	}
	require.Equal(t, want, x.items())
	dir := t.TempDir()
	for _, name := range []string{"a.parquet", "b.arrow", "c.csv.gz", "d.json.zst", "e.csv"} {
		path := filepath.Join(dir, name)
		require.Equal(t, "unloaded 2 rows to "+path+"\n", x.requireRun("unload", "shop.items", path))
		require.NoError(t, x.Exec("TRUNCATE shop.items"))
		require.Equal(t, "loaded 2 rows from 1 file, 0 rejected\n", x.requireRun("load", "shop.items", path))
		require.Equal(t, want, x.items(), name)
	}
	require.NoError(t, x.Exec("TRUNCATE shop.items"))
	require.Equal(t, "loaded 4 rows from 2 files, 0 rejected\n", x.requireRun("load", "-k", "shop", "items", filepath.Join(dir, "[cd].*")))
	require.Equal(t, "loaded 10 rows from 5 files, 0 rejected\n", x.requireRun("load", "shop.items", dir))
	require.NoError(t, x.Exec("TRUNCATE shop.items"))
	x.in = itemsCSV
	var s summary
	require.NoError(t, json.Unmarshal([]byte(x.requireRun("load", "shop.items", "-", "--format", "csv", "--summary", "json", "--progress", "none")), &s))
	require.EqualValues(t, 2, s.Rows)
	require.Positive(t, s.P99)
	require.Equal(t, want, x.items())
	for format, head := range map[string]string{"csv": "id,name", "json": `{"id":`, "parquet": "PAR1", "arrow": "\xff\xff\xff\xff"} {
		x.in = x.requireRun("unload", "shop.items", "-", "--format", format)
		require.Equal(t, head, x.in[:len(head)])
		require.Equal(t, "loaded 2 rows from 1 file, 0 rejected\n", x.requireRun("load", "shop.items", "-"))
	}
	streams := filepath.Join(t.TempDir(), "x.arrows") // a folder, whose name means nothing
	require.NoError(t, os.Mkdir(streams, 0o700))
	for name, head := range map[string]string{"a.arrow": "ARROW1", "b.arrows": "\xff\xff\xff\xff", "C.ARROWS": "\xff\xff\xff\xff"} {
		path := filepath.Join(streams, name)
		x.requireRun("unload", "shop.items", path)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, head, string(content[:len(head)]), name)
		require.Equal(t, "count(*)\n2\n", x.requireRun("sql", "-o", "csv", "SELECT count(*) FROM '"+path+"'"))
	}
}

// TestLoadStatement maps fields to columns, sets TTL and timestamp, and executes statements of the user.
func TestLoadStatement(t *testing.T) {
	x := newTester(t, shop+`; CREATE TABLE shop.hits (id int PRIMARY KEY, n counter)`)
	costs := file(t, "costs.csv", "nr,\"The Name\",cost,ttl,ts\n3,lamp,1.5,1000,7\n4,desk,,2000,8\n")
	require.Contains(t, x.requireFailure(exitFailed, "load", "shop.items", costs), `there is no column "id"; there are: nr, The Name, cost, ttl, ts`)
	fields := []string{"load", "shop.items", costs, "--map", "id=nr", "--map", `name = "The Name"`, "--map", "v=[1.5, 2, 3]", "--map", "tags=", "--map"}
	x.requireRun(append(fields, "price=cost", "--ttl-field", "ttl", "--timestamp-field", "ts")...)
	require.Equal(t, []string{
		`{"id":3,"name":"lamp","price":1.5,"tags":null,"v":[1.5,2,3]}`, `{"id":4,"name":"desk","price":null,"tags":null,"v":[1.5,2,3]}`,
	}, x.items()[2:])
	requireTimes := func(writetime, ttl string) {
		t.Helper()
		times := x.requireRun("unload", "--statement", "SELECT writetime(name), ttl(name) FROM shop.items WHERE id = 4", "-", "--format", "csv", "--no-header")
		require.Regexp(t, "^"+writetime+","+ttl+"\n$", times)
	}
	requireTimes("8", `(19\d\d|2000)`)
	require.NoError(t, x.Exec("TRUNCATE shop.items"))
	x.requireRun(append(fields, "price=blobAsDouble(0x4008000000000000)", "--dry-run")...)
	require.Empty(t, x.items())
	x.requireRun(append(fields, "price=9", "--ttl", "1h", "--timestamp", "5")...)
	require.Contains(t, x.items()[1], `"price":9`)
	requireTimes("5", `3[56]\d\d`)
	x.requireRun("load", "--statement", "-- costs\nUPDATE shop.items USING TTL :ttl SET price = :cost WHERE id = :nr; -- all", costs)
	require.Contains(t, x.items()[0], `"price":1.5`)

	hits := file(t, "hits.csv", "id,n\n1,5\n1,-2\n")
	require.Contains(t, x.requireFailure(exitFailed, "load", "shop.hits", hits), "--counters allows it")
	x.requireRun("load", "shop.hits", hits, "--counters")
	require.Contains(t, x.requireRun("unload", "shop.hits", "-", "--format", "csv"), "1,3\n")
	for args, want := range map[string]string{
		"--map idnr":               `--map is "idnr", want COLUMN=VALUE`,
		"--map nr=id":              `--map: table items has no column "nr"`,
		"--map id=":                `column "id" is part of the key and needs a value`,
		"--ttl 1ms":                "--ttl is not a number of seconds",
		"--ttl 1h --ttl-field ttl": "--ttl and --ttl-field are both set",
		"--map id=nr --refuse-extra --allow-missing": `column "The Name" is not wanted`,
		"--map id=nosuch": `there is no column "nosuch"`,
		"--map id=nr --map name=f(1) --map price=cost": "f",
	} {
		x.requireFailureContains(want, append([]string{"load", "shop.items", costs}, strings.Fields(args)...)...)
	}
}

// requireFailureContains requires that the tool fails with one line that has a text.
func (x *tester) requireFailureContains(want string, args ...string) {
	x.t.Helper()
	code, stdout, stderr := x.run(args...)
	require.NotZero(x.t, code, args)
	require.Empty(x.t, stdout, args)
	require.Equal(x.t, 1, strings.Count(stderr, "\n"), stderr)
	require.Contains(x.t, stderr, want, args)
}

// TestLoadNulls keeps values where the file has NULL, unless they are to be deleted.
func TestLoadNulls(t *testing.T) {
	x := newTester(t, shop)
	nulls := file(t, "x.csv", "id,name\n1,-\n")
	x.requireRun("load", "shop.items", nulls, "--allow-missing", "--null", "-")
	require.Contains(t, x.items()[0], `"name":"chair","price":49.5`)
	x.requireRun("load", "shop.items", nulls, "--map", "price=", "--map", "v=", "--map", "tags=", "--null", "-", "--write-nulls")
	require.Contains(t, x.items()[0], `"name":null,"price":49.5`)
}

// TestLoadRejected goes on after bad records, up to a number or a share.
func TestLoadRejected(t *testing.T) {
	x := newTester(t, shop, "TRUNCATE shop.items")
	records := file(t, "x.csv", "id,name\n1,a\nx,b\n3,c\n4\n,e\n6,f\n")
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	load := func(more ...string) []string {
		return append([]string{"load", "shop.items", records, "--map", "price=", "--map", "v=", "--map", "tags="}, more...)
	}
	x.requireFailureContains(`x.csv, line 3, column id: "x" is not a value of type int32; --max-errors allows such records, --rejected keeps them`, load()...)
	for more, want := range map[string]string{"2": "3 records were rejected, the last one: ", "0.15%": "2 records were rejected, the last one: "} {
		code, out, lines := x.run(load("--max-errors", more)...)
		require.Equal(t, exitFailed, code)
		require.Empty(t, out)
		require.True(t, strings.HasPrefix(lines, "rejected: "+records+`, line 3, column id: "x" is not a value of type int32`), lines)
		require.Contains(t, lines, "\nvecql load: "+want)
	}
	require.NoError(t, x.Exec("TRUNCATE shop.items"))
	for _, more := range [][]string{{"--dry-run"}, {}} {
		done := map[bool]string{true: "checked", false: "loaded"}[len(more) > 0]
		require.Equal(t, done+" 3 rows from 1 file, 3 rejected\n", x.requireRun(load(append(more, "--max-errors", "3", "--rejected", bad)...)...))
		content, err := os.ReadFile(bad)
		require.NoError(t, err)
		var got []string
		for line := range strings.Lines(string(content)) {
			var r rejectedRecord
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			require.NotEmpty(t, r.Error)
			got = append(got, fmt.Sprintf("%d %d %s %s", r.Row, r.Line, r.Column, r.Record))
		}
		require.ElementsMatch(t, []string{"1 3 id x,b", "3 5  4", "4 0  ,e"}, got)
		require.Len(t, x.items(), 3-3*len(more))
	}
	code, out, lines := x.run(load("--max-errors", "50%")...)
	require.Equal(t, exitRejected, code)
	require.Equal(t, "loaded 3 rows from 1 file, 3 rejected\n", out)
	require.Regexp(t, `^rejected: .*, line 3, column id: .*\nrejected: .*, line 5: the record has 1 fields.*\nrejected: .*x.csv, row 4: .*\n`+
		`vecql load: 3 records were rejected; --rejected keeps them in a file\n$`, lines)
	x.requireFailureContains("no space left on device", load("--max-errors", "3", "--rejected", "/dev/full")...)
	x.requireFailureContains(`--max-errors is "many", want a number or a percentage`, load("--max-errors", "many")...)
}

// TestLoadOverflow refuses numbers that do not fit, and types that lose digits.
func TestLoadOverflow(t *testing.T) {
	x := newTester(t, shop)
	path := filepath.Join(t.TempDir(), "x.parquet")
	f, err := rowfile.Create(path, column.NewBatch(column.Of("id", []int64{})).Schema(), rowfile.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, f.Write(column.NewBatch(column.Of("id", []int64{5, 1 << 40}))))
	require.NoError(t, f.Close())
	x.requireFailureContains("x.parquet, row 1: ", "load", "shop.items", path, "--allow-missing")
	code, out, lines := x.run("load", "shop.items", path, "--allow-missing", "--max-errors", "1")
	require.Equal(t, exitRejected, code)
	require.Equal(t, "loaded 1 row from 1 file, 1 rejected\n", out)
	require.Contains(t, lines, "\nvecql load: 1 record was rejected; ")
	x.requireFailureContains("double and a column of int64", "load", "--statement", "UPDATE shop.items SET price = :id WHERE id = 1", path)
}

// TestLoadResume interrupts a load by an error: the second run writes each other row, and rejects no record twice.
func TestLoadResume(t *testing.T) {
	x := newTester(t, shop, "TRUNCATE shop.items")
	var text strings.Builder
	text.WriteString("id,name\nx,y\n")
	for id := range 300 {
		fmt.Fprintf(&text, "%d,n%d\n", id, id)
	}
	dir := t.TempDir()
	path := file(t, "x.csv", text.String())
	checkpoint, bad := filepath.Join(dir, "load.json"), filepath.Join(dir, "bad.jsonl")
	args := []string{
		"load", "shop.items", path, "--allow-missing", "--checkpoint", checkpoint, "--rejected", bad, "--max-errors", "1",
		"--batch-partitions", "1",
	}
	failing := x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Skip: 200, Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
	x.requireFailureContains("; --resume continues the load", args...)
	failing.Remove()
	written := len(x.items())
	require.NotZero(t, written)
	x.requireFailureContains("the checkpoint "+checkpoint+" exists; --resume continues its work", args...)
	require.NoError(t, os.WriteFile(bad, append(must1(os.ReadFile(bad)), `{"file":"torn`...), 0o666))
	inserts := x.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT"})
	out := x.requireRun(append(args, "--resume")...)
	require.Contains(t, out, "loaded ")
	require.Equal(t, 300, written+inserts.Hits(), "each row is written once")
	require.Equal(t, 1, strings.Count(string(must1(os.ReadFile(bad))), "\n"))
	for range 2 {
		require.Contains(t, x.requireRun(append(args, "--resume")...), "loaded 0 rows from 1 file, ")
	}
	x.requireFailureContains("--resume needs --checkpoint", "load", "shop.items", path, "--resume")
	for _, mapped := range []string{"name='x'", "name=id", "name="} {
		line := x.requireFailure(exitFailed, append(args, "--resume", "--map", mapped)...)
		require.Contains(t, line, "belongs to another job")
		require.Contains(t, line, "; --resume needs the table, the statement and the mapping of the first run")
	}
}

// TestLoadInterrupted ends a load by its context, and continues it.
func TestLoadInterrupted(t *testing.T) {
	x := newTester(t, shop, "CREATE TABLE shop.many (id int PRIMARY KEY, n int)")
	args := []string{
		"load", "shop.many", ids(t, 400), "--checkpoint", filepath.Join(t.TempDir(), "load.json"), "--max-in-flight", "2",
		"--batch-partitions", "1",
	}
	ctx, cancel := context.WithCancel(t.Context())
	x.ctx = ctx
	inserts := x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Skip: 100, Match: func(cqltest.Request) bool { cancel(); return false }})
	require.Equal(t, "vecql load: interrupted; --resume continues the load", x.requireFailure(exitInterrupted, args...))
	inserts.Remove()
	x.ctx = t.Context()
	var s summary
	require.NoError(t, json.Unmarshal([]byte(x.requireRun(append(args, "--resume", "--summary", "json")...)), &s))
	require.EqualValues(t, 400, s.Rows+s.Skipped)
	require.Positive(t, s.Skipped)
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestLoadErrors has inputs and clusters that a load cannot use.
func TestLoadErrors(t *testing.T) {
	x := newTester(t, shop)
	good := file(t, "x.csv", itemsCSV)
	broken := file(t, "x.parquet", "PAR1 not really PAR1")
	for args, want := range map[string]string{
		"":                                           "a table or --statement is missing; see vecql load --help",
		"shop.items":                                 "no file is named; - is standard input",
		"shop.items missing.csv":                     "stat missing.csv: no such file or directory",
		"shop.items missing-*.csv":                   "missing-*.csv: no such file",
		"shop.nothing " + good:                       "vecql load: ",
		"nowhere.items " + good:                      "vecql load: ",
		"shop.items " + broken:                       "x.parquet",
		"shop.items " + t.TempDir():                  "the folder has no file with a known extension",
		"shop.items - --format xml":                  `unknown format "xml"`,
		"shop.items - --delimiter ;;":                `--delimiter is ";;", want one ASCII character`,
		"shop.items - --quote ,":                     "the character ',' cannot separate or quote fields",
		"shop.items - --blobs hexa":                  "--blobs is",
		"shop.items - --booleans yes":                "--booleans is",
		"shop.items - --time-zone Mar":               "--time-zone: ",
		"shop.items - --summary xml":                 "--summary is neither",
		"shop.items - --progress xml":                "--progress is",
		"shop.items " + good + " --statement INSERT": "file or directory",
		"--statement SELECT " + good:                 "vecql load: ",
	} {
		x.in = itemsCSV
		x.requireFailureContains(want, append([]string{"load"}, strings.Fields(args)...)...)
	}
	x.requireFailureContains("the statement is not an INSERT", "load", "--statement", "SELECT * FROM shop.items WHERE id = :id", good)
	x.requireFailureContains("--statement has 0 statements, want one", "load", "--statement", "-- DELETE", good)
	x.requireFailureContains("--statement has 2 statements, want one", "load", "--statement", "DELETE FROM a; DELETE FROM b", good)
	x.requireFailureContains("no bind marker", "load", "--statement", "DELETE FROM shop.items WHERE id = 1", good)
	require.NoError(t, os.Chmod(good, 0))
	if os.Getuid() != 0 {
		x.requireFailureContains("permission denied", "load", "shop.items", good)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, silent.Close())
	x.requireFailureContains("connection refused", "load", "shop.items", broken, "--hosts", silent.Addr().String())
}

// TestLoadTimes keeps write times and times to live of each column, also where the table has a default.
// TestOnServer does so on a real server.
func TestLoadTimes(t *testing.T) {
	x := newTester(t)
	const columns = " (id int, ck int, s text STATIC, a text, b int, l list<int>, f frozen<list<int>>, PRIMARY KEY (id, ck))"
	query := func(stmt string) string {
		return x.requireRun("query", "--output", "csv", stmt)
	}
	query("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	query("CREATE TABLE shop.old" + columns)
	query("CREATE TABLE shop.new" + columns + " WITH default_time_to_live = 5000")
	query("INSERT INTO shop.old (id, ck, s, a, b, l) VALUES (1, 1, 's', 'a', 2, [3]) USING TIMESTAMP 1000 AND TTL 9000")
	query("UPDATE shop.old USING TIMESTAMP 2000 SET a = 'A', f = [4] WHERE id = 1 AND ck = 1")
	query("INSERT INTO shop.old (id, ck) VALUES (1, 2)")
	query("INSERT INTO shop.old (id, ck, b) VALUES (2, 1, 5) USING TIMESTAMP 3000")
	query("INSERT INTO shop.old (id, s) VALUES (3, 'x')")
	times := func(table string) []string {
		lines := strings.Split(query("SELECT id, ck, s, a, b, f, writetime(s), writetime(a), writetime(b), writetime(f), ttl(a), l FROM shop."+table), "\n")
		slices.Sort(lines)
		return lines
	}
	for _, name := range []string{"old.parquet", "old.csv"} {
		query("TRUNCATE shop.new")
		path := filepath.Join(t.TempDir(), name)
		x.requireRun("unload", "shop.old", path, "--times")
		load := []string{"load", "shop.new", path, "--times", "--checkpoint", path + ".json"}
		noted := func(args ...string) string {
			code, out, note := x.run(args...)
			require.Zero(t, code)
			require.Equal(t, "note: CQL cannot write the elements of a list one by one: where their times differ, the elements of l "+
				"get the latest write time and the longest time to live of their list\n", note)
			return out
		}
		require.Equal(t, "checked 4 rows from 1 file, 0 rejected\n", noted("load", "shop.new", path, "--times", "--dry-run"))
		require.Equal(t, "0\n", x.requireRun("count", "shop.new"))
		require.Equal(t, "loaded 4 rows from 1 file, 0 rejected\n", noted(load...))
		require.Contains(t, noted(append(load, "--resume")...), "loaded 4 rows")
		require.Equal(t, times("old"), times("new"))
		require.Regexp(t, `\n[89]\d\d\d,[89]\d\d\d\n$`, query("SELECT ttl(b), ttl(s) FROM shop.new WHERE id = 1 AND ck = 1"))
	}
	x.requireFailureContains("--times has statements of its own", "load", "shop.new", "-", "--times", "--ttl", "1h")
	code, _, stderr := x.run("load", "shop.new", file(t, "x.csv", "id,ck,s,a,b,l,f\n"), "--times")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, `there is no column "writetime(`)
}
