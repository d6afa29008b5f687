// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/soak"
)

// The bounds of rejected records, the input of a load that is resumed, and the files that a command writes.

// TestPercentageIsTestedAtTheEnd rejects 4 of 6 records: fewer than the percentage of 1,000 records, and more than
// the percentage of all.
func TestPercentageIsTestedAtTheEnd(t *testing.T) {
	x := newTester(t, shop)
	path := file(t, "x.csv", "id,name\na,x\nb,x\n3,x\nd,x\n5,x\ne,x\n")
	for _, more := range []string{"", "--dry-run"} {
		args := append([]string{"load", "shop.items", path, "--allow-missing", "--max-errors"}, "10%", "--rejected", filepath.Join(t.TempDir(), "bad"))
		if more != "" {
			args = append(args, more)
		}
		x.requireFailureContains("4 of 6 records were rejected, more than 10%", args...)
		args[5] = "67%"
		x.requireRun(args...)
		args[5] = "66%"
		x.requireFailureContains("4 of 6 records were rejected, more than 66%", args...)
	}
}

// TestNoRecordIsARow fails for input without a row among its records, and loads an input without records.
func TestNoRecordIsARow(t *testing.T) {
	x := newTester(t, shop)
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	path := file(t, "x.csv", "id,name\na,x\nb,x\n")
	x.requireFailureContains("none of 2 records is a row", "load", "shop.items", path, "--allow-missing", "--max-errors", "100%", "--rejected", bad)
	require.Equal(t, "loaded 0 rows from 1 file, 0 rejected\n", x.requireRun("load", "shop.items", file(t, "y.csv", "id,name\n"), "--allow-missing"))
}

// partly loads a part of an input with a checkpoint, and returns the arguments to continue.
func (x *tester) partly(args ...string) []string {
	failing := x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Skip: 3, Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
	x.requireFailureContains("; --resume continues the load", args...)
	failing.Remove()
	return append(args, "--resume")
}

// TestResumeNeedsTheSameInput changes the input between two runs: its size, one byte, its name, its files. A run that
// resumes refuses each, and continues with the first input, also when its time has changed.
func TestResumeNeedsTheSameInput(t *testing.T) {
	const text = "id,n\n1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n7,7\n8,8\n"
	x := newTester(t, shop, "CREATE TABLE shop.many (id int PRIMARY KEY, n int)")
	dir := t.TempDir()
	in, other := filepath.Join(dir, "in"), filepath.Join(dir, "other")
	require.NoError(t, os.Mkdir(in, 0o777))
	path := filepath.Join(in, "a.csv")
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o666)) }
	write(path, text)
	info, err := os.Stat(path)
	require.NoError(t, err)
	args := x.partly("load", "shop.many", in, "--checkpoint", filepath.Join(dir, "load.json"), "--batch-partitions", "1", "--max-in-flight", "1")
	refuse := func(want string) {
		t.Helper()
		x.requireFailureContains("load.json is of another input: "+want+"; --resume needs the files of the first run", args...)
	}
	write(path, text+"9,9\n")
	refuse(path + " has 41 bytes, and had 37")
	write(path, strings.Replace(text, "5,5", "5,6", 1))
	require.NoError(t, os.Chtimes(path, time.Time{}, info.ModTime()))
	refuse(path + " has other content")
	write(path, text)
	write(filepath.Join(in, "b.csv"), "id,n\n")
	refuse(filepath.Join(in, "b.csv") + " was not part of it")
	require.NoError(t, os.Remove(filepath.Join(in, "b.csv")))
	require.NoError(t, os.Rename(path, filepath.Join(in, "c.csv")))
	refuse(filepath.Join(in, "c.csv") + " in place of " + path)
	write(other+".csv", text)
	args[2] = other + ".csv"
	refuse(other + ".csv in place of " + path)
	args[2] = in
	require.NoError(t, os.Rename(filepath.Join(in, "c.csv"), path))
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
	for range 2 {
		x.requireRun(args...)
		require.Equal(t, "8\n", x.requireRun("count", "shop.many"))
	}
}

// TestResumeNeedsTheSameStream resumes a load of standard input, which may be longer than before, but not another one.
func TestResumeNeedsTheSameStream(t *testing.T) {
	soak.NoRace(t)
	x := newTester(t, shop, "CREATE TABLE shop.many (id int PRIMARY KEY, n int)")
	var text strings.Builder
	text.WriteString("id,n\n")
	for id := range 40_000 { // several pieces
		fmt.Fprintf(&text, "%d,%d\n", id, id)
	}
	x.in = text.String()
	checkpoint := filepath.Join(t.TempDir(), "load.json")
	args := x.partly("load", "shop.many", "-", "--format", "csv", "--checkpoint", checkpoint, "--batch-partitions", "1", "--max-in-flight", "1")
	before := x.requireRun("count", "shop.many")
	for _, other := range []string{
		strings.Replace(text.String(), "\n7,7\n", "\n7,8\n", 1), text.String()[:1000], "id,n\n1,2\n", "",
	} {
		x.in = other
		x.requireFailureContains("standard input differs from the first run: it differs after byte 0", args...)
		require.Equal(t, before, x.requireRun("count", "shop.many"))
	}
	x.in = text.String() + "50000,5\n"
	x.requireRun(args...)
	require.Equal(t, "40001\n", x.requireRun("count", "shop.many"))
}

// TestResumeWithoutCheckpoint starts each verb, so that one command line starts and continues the work.
func TestResumeWithoutCheckpoint(t *testing.T) {
	x := newTester(t, shop, backup)
	dir := t.TempDir()
	path := filepath.Join(dir, "items.parquet")
	x.requireRun("unload", "shop.items", path)
	require.NoError(t, x.Exec("TRUNCATE shop.items"))
	stale := file(t, "bad.jsonl", `{"file":"`+path+`","row":0,"error":"x","record":"y"}`+"\n")
	load := []string{"load", "shop.items", path, "--checkpoint", filepath.Join(dir, "load.json"), "--resume", "--rejected", stale}
	require.Equal(t, "loaded 2 rows from 1 file, 0 rejected\n", x.requireRun(load...))
	require.Equal(t, "loaded 0 rows from 1 file, 0 rejected, 2 loaded before\n", x.requireRun(load...))
	require.Contains(t, x.requireRun("copy", "shop.items", "backup.items", "--checkpoint", filepath.Join(dir, "copy.json"), "--resume"), "Copied 2 rows")
	require.Equal(t, "2 rows are equal.\n", x.requireRun("verify", "shop.items", "backup.items", "--checkpoint", filepath.Join(dir, "v.json"), "--resume"))
	require.Contains(t, x.requireRun("unload", "shop.items", filepath.Join(dir, "parts")+"/", "--resume"), "unloaded 2 rows")
}

// TestRejectedLeavesStandardOutput runs a process whose standard output is a file: naming it for rejected records must
// not truncate it.
func TestRejectedLeavesStandardOutput(t *testing.T) {
	x := newTester(t, shop)
	out := filepath.Join(t.TempDir(), "out")
	require.NoError(t, os.WriteFile(out, []byte("kept\n"), 0o666))
	for _, path := range []string{"/dev/stdout", "/proc/self/fd/1", out} {
		f, err := os.OpenFile(out, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		cmd := x.process("load", "shop.items", file(t, "x.csv", itemsCSV), "--rejected", path)
		var text strings.Builder
		cmd.Stdout, cmd.Stderr = f, &text
		require.Error(t, cmd.Run())
		require.NoError(t, f.Close())
		require.Contains(t, text.String(), "which is an output of the command")
		require.Equal(t, "kept\n", string(must1(os.ReadFile(out))))
	}
}
