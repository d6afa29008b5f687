// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// argsVariable is the variable of the environment with the arguments of TestProcess.
const argsVariable = "VECQL_TEST_ARGS"

// TestProcess is the tool as a process of its own.
func TestProcess(t *testing.T) {
	var args []string
	if json.Unmarshal([]byte(os.Getenv(argsVariable)), &args) != nil {
		t.Skip("for other tests")
	}
	os.Exit(Main(args, os.Stdin, os.Stdout, os.Stderr))
}

// process returns the tool as a process that has not started.
func (x *tester) process(args ...string) *exec.Cmd {
	text, err := json.Marshal(args)
	require.NoError(x.t, err)
	cmd := exec.Command(os.Args[0], "-test.run=^TestProcess$")
	cmd.Env = append(os.Environ(), argsVariable+"="+string(text))
	for name, value := range x.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// killUntilDone runs the tool and kills it after so many requests of a statement, again and again with --resume, until
// a run ends by itself. It returns the number of runs that were killed.
func (x *tester) killUntilDone(statement string, requests int, args ...string) (killed int) {
	for {
		seen := x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: statement, Delay: time.Millisecond})
		cmd := x.process(args...)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(x.t, cmd.Start())
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		ended := make(chan error, 1)
		go func() { ended <- seen.Wait(x.t.Context(), requests) }()
		select {
		case err := <-done:
			require.NoError(x.t, err, out.String())
			return killed
		case err := <-ended:
			require.NoError(x.t, err)
			require.NoError(x.t, cmd.Process.Kill())
			require.Error(x.t, <-done)
		}
		seen.Remove()
		if killed++; killed == 1 && !slices.Contains(args, "--resume") {
			args = append(args, "--resume")
		}
	}
}

// ids returns a CSV file with so many rows.
func ids(t *testing.T, n int) string {
	var text strings.Builder
	text.WriteString("id,n\n")
	for id := range n {
		fmt.Fprintf(&text, "%d,1\n", id)
	}
	return file(t, "ids.csv", text.String())
}

// TestLoadKilled kills a load several times. Afterwards the table has each row.
func TestLoadKilled(t *testing.T) {
	const rows = 1200
	x := newTester(t, shop, "CREATE TABLE shop.many (id int PRIMARY KEY, n int)")
	checkpoint := filepath.Join(t.TempDir(), "load.json")
	killed := x.killUntilDone("INSERT", 500, "load", "shop.many", ids(t, rows), "--checkpoint", checkpoint,
		"--checkpoint-every", "1ms", "--max-in-flight", "4", "--batch-partitions", "1")
	t.Log(killed, "processes were killed")
	require.Positive(t, killed)
	dir := t.TempDir() + "/"
	x.requireRun("unload", "shop.many", dir)
	requireIDs(t, dir, rows)
}

// TestLoadCountersKilled kills a load of counters. No counter is too high. One that is too low, or may be, is rejected.
func TestLoadCountersKilled(t *testing.T) {
	const rows = 600
	x := newTester(t, shop, "CREATE TABLE shop.hits (id int PRIMARY KEY, n counter)")
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.jsonl")
	killed := x.killUntilDone("UPDATE", 250, "load", "shop.hits", ids(t, rows), "--counters", "--checkpoint", filepath.Join(dir, "load.json"),
		"--checkpoint-every", "1ms", "--max-in-flight", "4", "--max-errors", "100%", "--rejected", bad)
	t.Log(killed, "processes were killed")
	require.Positive(t, killed)
	counted := x.requireRun("unload", "shop.hits", "-", "--format", "csv", "--no-header")
	inDoubt := 0
	for line := range strings.Lines(string(must1(os.ReadFile(bad)))) {
		var r rejectedRecord
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.Contains(t, r.Error, "may have been written before")
		if !strings.Contains("\n"+counted, "\n"+strings.TrimSuffix(r.Record, "1")) {
			inDoubt++
		}
	}
	require.Equal(t, rows, strings.Count(counted, ",1\n")+inDoubt)
	require.Equal(t, strings.Count(counted, "\n"), strings.Count(counted, ",1\n"), "no counter is 2")
}

// TestLoadStatementKilled kills a load of a statement that is not idempotent, with one command line. No row is written
// twice, each row that is not written is rejected, and each kill leaves few rows in doubt.
func TestLoadStatementKilled(t *testing.T) {
	const rows, most = 2000, 64
	x := newTester(t, shop, "CREATE TABLE shop.logs (id int PRIMARY KEY, l list<int>)")
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.jsonl")
	killed := x.killUntilDone("UPDATE", 600, "load", "--statement", "UPDATE shop.logs SET l = l + [1] WHERE id = :id", ids(t, rows), "--checkpoint",
		filepath.Join(dir, "load.json"), "--resume", "--max-errors", "100%", "--rejected", bad, "--summary", "json")
	require.Positive(t, killed)
	rejected := map[string]bool{}
	for line := range strings.Lines(string(must1(os.ReadFile(bad)))) {
		var r rejectedRecord
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.Contains(t, r.Error, "may have been written before")
		rejected[strings.TrimSuffix(r.Record, ",1")] = true
	}
	t.Log(killed, "processes were killed,", len(rejected), "rows were in doubt")
	require.LessOrEqual(t, len(rejected), killed*most)
	written := map[string]string{}
	for line := range strings.Lines(x.requireRun("unload", "shop.logs", "-", "--format", "csv", "--no-header")) {
		id, list, _ := strings.Cut(strings.TrimSpace(line), ",")
		written[id] = list
	}
	for id := range rows {
		list, ok := written[fmt.Sprint(id)]
		require.True(t, ok || rejected[fmt.Sprint(id)], id)
		if ok {
			require.Equal(t, "[1]", list, id)
		}
	}
}

// TestCopyKilled kills a copy several times. Afterwards the target has each row, with its write time.
func TestCopyKilled(t *testing.T) {
	const rows = 600
	x := newTester(t, shop, "CREATE TABLE shop.many (id int PRIMARY KEY, n int); CREATE TABLE shop.copied (id int PRIMARY KEY, n int)")
	x.requireRun("load", "shop.many", ids(t, rows))
	checkpoint := filepath.Join(t.TempDir(), "copy.json")
	writes := x.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: `INSERT INTO "shop"."copied"`})
	killed := x.killUntilDone(`INSERT INTO "shop"."copied"`, 250, "copy", "shop.many", "shop.copied", "--checkpoint", checkpoint,
		"--checkpoint-every", "1ms", "--max-in-flight", "4", "--batch-partitions", "1", "--workers", "2")
	t.Log(killed, "processes were killed,", writes.Hits(), "rows written")
	require.Positive(t, killed)
	require.Less(t, writes.Hits(), (killed+1)*rows, "rows of the checkpoint are not written again")
	require.Equal(t, fmt.Sprintln(rows, "rows are equal."), x.requireRun("verify", "shop.many", "shop.copied", "--write-times"))
	require.NoFileExists(t, checkpoint)
}

// TestUnloadKilled kills an unload several times. Afterwards the parts have each row once.
func TestUnloadKilled(t *testing.T) {
	x := manyRows(t, 1000)
	dir := filepath.Join(t.TempDir(), "out") + "/"
	killed := x.killUntilDone("token(", 40, "unload", "shop.many", dir, "--part-rows", "60", "--page-bytes", "1000", "--workers", "3")
	t.Log(killed, "processes were killed")
	require.Positive(t, killed)
	requireIDs(t, dir, 1000)
}
