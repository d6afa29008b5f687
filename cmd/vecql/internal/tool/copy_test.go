// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cmd/vecql/internal/tablediff"
	"github.com/vecql/vecql/cqltest"
)

// backup is the table shop.items in another keyspace.
const backup = `CREATE KEYSPACE backup WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
	CREATE TABLE backup.items (id int PRIMARY KEY, name text, price double, tags set<text>, v vector<float, 3>)`

// took replaces the time in a line of copy.
var took = regexp.MustCompile(` in [0-9.µm]+s\.`)

func TestCopyAndVerify(t *testing.T) {
	x := newTester(t, shop, backup)
	require.Equal(t, "Copied 2 rows.\n", took.ReplaceAllString(x.requireRun("copy", "shop.items", "backup.items"), "."))
	require.Equal(t, "2 rows are equal.\n", x.requireRun("verify", "shop.items", "backup.items", "--write-times"))
	require.NoError(t, x.Exec(`INSERT INTO backup.items (id, name) VALUES (3, 'new');
		DELETE FROM backup.items WHERE id = 2; UPDATE backup.items SET price = 49.6 WHERE id = 1`))
	code, out, errOut := x.run("verify", "shop.items", "backup.items")
	require.Equal(t, exitFailed, code)
	require.Equal(t, `id=1: price: 49.5 in the source, 49.6 in the target
id=2: missing in the target
id=3: only in the target
`, out)
	require.Equal(t, "vecql verify: 2 rows: 1 missing, 1 different; 1 only in the target\n", errOut)
	_, out, _ = x.run("verify", "shop.items", "backup.items", "--tolerance", "0.01", "--allow-extra")
	require.Equal(t, "id=2: missing in the target\n", out)
	_, out, _ = x.run("verify", "shop.items", "backup.items", "--shown", "1", "--columns", "price")
	require.Contains(t, out, "... and 2 more\n")
}

func TestCopyToOtherCluster(t *testing.T) {
	x, other := newTester(t, shop), newTester(t, backup)
	to := []string{"shop.items", "backup.items", "--to-hosts", other.Hosts()[0]}
	require.Contains(t, x.requireRun(append([]string{"copy"}, to...)...), "Copied 2 rows in ")
	require.Equal(t, "2 rows are equal.\n", x.requireRun(append([]string{"verify"}, to...)...))
	require.Equal(t, "2\n", other.requireRun("count", "backup.items"))
	config := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(config, []byte("[new]\nhosts = [\""+other.Hosts()[0]+"\"]\n"), 0o600))
	require.Equal(t, "2 rows are equal.\n",
		x.requireRun("verify", "shop.items", "backup.items", "--to-profile", "new", "--config", config))
}

// TestCopyResumed interrupts a copy, and continues it with its checkpoint.
func TestCopyResumed(t *testing.T) {
	x := newTester(t, shop, backup)
	for id := range 500 {
		require.NoError(t, x.Exec(fmt.Sprintf("INSERT INTO shop.items (id, name) VALUES (%d, 'x')", id)))
	}
	checkpoint := filepath.Join(t.TempDir(), "copy.json")
	ctx, cancel := context.WithCancel(t.Context())
	x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Skip: 100, Edit: func(*cqltest.Answer) { cancel() }})
	x.ctx = ctx
	args := []string{"copy", "shop.items", "backup.items", "--workers", "1", "--batch-partitions", "1", "--checkpoint", checkpoint}
	require.Equal(t, "vecql copy: interrupted; --resume continues", x.requireFailure(exitInterrupted, args...))
	x.ClearFaults()
	x.ctx = t.Context()
	require.Contains(t, x.requireFailure(exitFailed, args...), "exists; --resume continues its work")
	writes := x.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT"})
	require.Contains(t, x.requireRun(append(args, "--resume")...), "Copied 500 rows in ")
	require.Less(t, writes.Hits(), 500, "rows are not written again")
	require.NoFileExists(t, checkpoint)
	require.Equal(t, "500 rows are equal.\n", x.requireRun("verify", "shop.items", "backup.items", "--write-times"))
}

// TestCheckpointsOfOtherWork refuses the checkpoint of another copy, and of a comparison with a file that has changed.
func TestCheckpointsOfOtherWork(t *testing.T) {
	x := newTester(t, shop, backup, "CREATE TABLE shop.other (id int PRIMARY KEY, name text, price double, tags set<text>, v vector<float, 3>)")
	dir := t.TempDir()
	checkpoint := filepath.Join(dir, "c.json")
	failing := x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
	copies := []string{"copy", "shop.items", "backup.items", "--checkpoint", checkpoint, "--resume"}
	require.Contains(t, x.requireFailure(exitFailed, copies...), "; --resume continues")
	failing.Remove()
	copies[2] = "shop.other"
	require.Contains(t, x.requireFailure(exitFailed, copies...), "c.json is of another copy: it is of shop.items ")
	copies[2] = "backup.items"
	require.Contains(t, x.requireFailure(exitFailed, append(copies, "--columns", "name")...), "c.json is of another copy")
	require.Contains(t, x.requireRun(copies...), "Copied 2 rows")

	path := filepath.Join(dir, "items.csv")
	x.requireRun("unload", "shop.items", path)
	verify := []string{"verify", path, "shop.items", "--checkpoint", checkpoint, "--resume"}
	reads := x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "WHERE", Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
	require.Contains(t, x.requireFailure(exitFailed, verify...), "; --resume continues")
	reads.Remove()
	text := must1(os.ReadFile(path))
	require.NoError(t, os.WriteFile(path, append(text, "9,x,,,\n"...), 0o666))
	require.Contains(t, x.requireFailure(exitFailed, verify...), "c.json is of another input: "+path+" has ")
	require.NoError(t, os.WriteFile(path, text, 0o666))
	require.Equal(t, "2 rows are equal.\n", x.requireRun(verify...))
}

// writers are command lines that write to standard output, in each format. path is a file with rows.
func writers(path string) [][]string {
	return [][]string{
		{"query", "SELECT * FROM shop.items"},
		{"query", "-o", "csv", "SELECT * FROM shop.items"},
		{"query", "-o", "parquet", "SELECT * FROM shop.items"},
		{"query", "-o", "arrow", "SELECT * FROM shop.items"},
		{"query", "-o", "json", "SELECT * FROM shop.items"},
		{"unload", "shop.items", "-", "--format", "arrow"},
		{"unload", "shop.items", "-", "--format", "parquet"},
		{"unload", "shop.items", "-", "--format", "csv"},
		{"load", "shop.items", path, "--allow-missing", "--summary", "json"},
		{"sql", "SELECT * FROM '" + path + "'"},
		{"sql", "SELECT * FROM shop.items", "-o", "arrow"},
		{"sql", "DESCRIBE '" + path + "'", "-o", "parquet"},
		{"agg", path, "-o", "csv"},
		{"describe", path},
		{"describe", "shop.items"},
		{"count", "shop.items"},
		{"search", "shop.items", "--vector", "[0, 0, 1]", "--exact", "--metric", "dot"},
		{"doctor"},
		{"version"},
		{"help", "load"},
		{"load", "--help"},
	}
}

// runTo runs the tool with another standard output. It returns the exit code and standard error.
func (x *tester) runTo(out io.Writer, args ...string) (code int, stderr string) {
	var text strings.Builder
	e := newEnv(strings.NewReader(""), out, &text)
	e.getenv = func(name string) string { return x.env[name] }
	code = run(x.ctx, e, args)
	return code, text.String()
}

// TestErrorsAreToldOnce requires the cause of a failed write once, also where closing the output fails, too.
func TestErrorsAreToldOnce(t *testing.T) {
	x := newTester(t, shop, backup)
	full := must1(os.OpenFile("/dev/full", os.O_WRONLY, 0))
	defer full.Close()
	for _, args := range append(writers(file(t, "x.csv", "id\n1\n")), [][]string{
		{"unload", "shop.items", "/dev/full", "--format", "parquet"},
		{"unload", "shop.items", "/dev/full", "--format", "arrow"},
	}...) {
		code, text := x.runTo(full, args...)
		require.Equal(t, exitFailed, code, args)
		require.Equal(t, 1, strings.Count(text, "no space left on device"), text)
	}
}

// TestClosedPipe requires silence where nothing reads the output, as of programs that SIGPIPE ends. A load is done
// before its summary.
func TestClosedPipe(t *testing.T) {
	x := newTester(t, shop)
	for _, args := range writers(file(t, "x.csv", "id\n7\n")) {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, r.Close())
		code, text := x.runTo(w, args...)
		require.NoError(t, w.Close())
		require.Equal(t, exitPipe, code, "%q: %s", args, text)
		require.Empty(t, text, "%q", args)
	}
	require.Equal(t, "id\n7\n", x.requireRun("query", "-o", "csv", "SELECT id FROM shop.items WHERE id = 7"))
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	defer w.Close()
	code, text := x.runTo(w, "query", "SELECT none FROM shop.items")
	require.Equal(t, exitFailed, code)
	require.Contains(t, text, "none", "another failure is printed")
}

func TestVerifyResumed(t *testing.T) {
	x := newTester(t, shop, backup)
	checkpoint := filepath.Join(t.TempDir(), "verify.json")
	ctx, cancel := context.WithCancel(t.Context())
	x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token(", Skip: 60, Edit: func(*cqltest.Answer) { cancel() }})
	x.ctx = ctx
	args := []string{"verify", "shop.items", "backup.items", "--workers", "1", "--checkpoint", checkpoint}
	require.Equal(t, "vecql verify: interrupted; --resume continues", x.requireFailure(exitInterrupted, args...))
	x.ClearFaults()
	x.ctx = t.Context()
	text, err := os.ReadFile(checkpoint)
	require.NoError(t, err)
	var saved tablediff.Checkpoint
	require.NoError(t, json.Unmarshal(text, &saved))
	require.NotEmpty(t, saved.Left)
	reads := x.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token("})
	require.Contains(t, x.requireFailure(exitFailed, append(args, "--resume")...), "2 rows: 2 missing")
	require.Less(t, reads.Hits(), 80)
	require.NoFileExists(t, checkpoint)
}

func TestVerifyFiles(t *testing.T) {
	x := newTester(t, shop)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	good := write("items.csv", `id,name,price,tags,v
1,chair,49.5,"[""wood"", ""new""]","[0.5, 1, -2]"
2,table,,,
`)
	require.Equal(t, "2 rows are equal.\n", x.requireRun("verify", good, "shop.items"))
	chair := write("chair.csv", "id,name\n1,chair\n")
	require.Equal(t, "1 row is equal.\n", x.requireRun("verify", chair, "shop.items", "--columns", "name", "--allow-extra"))
	bad := write("bad.csv", "id,name\n1,chair\n3,lamp\n")
	code, out, errOut := x.run("verify", bad, "shop.items", "--columns", "name")
	require.Equal(t, exitFailed, code)
	require.Equal(t, "id=2: only in the target\nid=3: missing in the target\n", out)
	require.Equal(t, "vecql verify: 2 rows: 1 missing, 0 different; 1 only in the target\n", errOut)
	require.Contains(t, x.requireFailure(exitFailed, "verify", bad, "shop.items"), `there is no column "price"`)
	require.Contains(t, x.requireFailure(exitFailed, "verify", dir+"/none.csv", "shop.items"), "no such file")
	require.Contains(t, x.requireFailure(exitFailed, "verify", write("x.parquet", "PAR1"), "shop.items"), "x.parquet")
	require.Contains(t, x.requireFailure(exitFailed, "verify", write("y.csv", "id,name\nx,y\n"), "shop.items", "--columns", "name"),
		"y.csv")
}

func TestCopyRefused(t *testing.T) {
	x := newTester(t, shop, `CREATE TABLE shop.small (id int PRIMARY KEY); CREATE TABLE shop.other (id text PRIMARY KEY);
		CREATE TABLE shop.counts (id int PRIMARY KEY, n counter)`)
	for args, want := range map[string]string{
		"copy shop.items shop.items":                                     "2 source and target are one table: name another one, or --to-hosts or --to-profile; see vecql copy --help",
		"copy shop.items shop.small":                                     `1 table shop.small has no column "name"`,
		"copy shop.counts shop.small":                                    "1 tables of counters cannot be copied: shop.counts",
		"copy shop.items shop.none":                                      "1 invalid request: table none does not exist",
		"copy shop.items shop.small --workers 0":                         "2 --workers is 0, want at least 1; see vecql copy --help",
		"copy shop.items shop.small --resume":                            "2 --resume needs --checkpoint; see vecql copy --help",
		"copy shop.items shop.small --checkpoint-every 0s":               "2 --checkpoint-every is 0s, must be positive; see vecql copy --help",
		"copy shop.items":                                                "2 accepts 2 arg(s), received 1; see vecql copy --help",
		"verify shop.items shop.other":                                   "1 the primary key of shop.other is ((id text), ), in shop.items it is ((id int), )",
		"verify shop.items shop.small --shown 0":                         "2 --shown is 0, want at least 1; see vecql verify --help",
		"verify shop.items shop.small --workers -1":                      "2 --workers is -1, want at least 1; see vecql verify --help",
		"verify shop.items shop.small --tolerance -1":                    "2 --tolerance is -1, want at least 0; see vecql verify --help",
		"verify a.csv shop.small --write-times":                          "2 --write-times is for two tables: files have no write times; see vecql verify --help",
		"verify a.csv shop.small --to-hosts localhost":                   "2 --to-hosts and --to-profile are for two tables; see vecql verify --help",
		"verify shop.items shop.items --to-hosts 1::2:x":                 "1 ",
		"verify shop.items shop.small --checkpoint /dev/null/x --resume": "1 stat /dev/null/x: not a directory",
	} {
		code := exitFailed
		if want[0] == '2' {
			code = exitUsage
		}
		verb, _, _ := strings.Cut(args, " ")
		require.Contains(t, x.requireFailure(code, strings.Fields(args)...), "vecql "+verb+": "+want[2:], args)
	}
}
