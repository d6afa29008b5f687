// SPDX-License-Identifier: Apache-2.0

//go:build unix

package tool

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tests that need named pipes, signals, umask or guard pages of Unix.

// TestOutputsAreFilesOfTheirOwn refuses files that would replace a stream, an input, a folder or another output.
func TestOutputsAreFilesOfTheirOwn(t *testing.T) {
	x := newTester(t, shop)
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("in.csv", []byte(itemsCSV), 0o666))
	require.NoError(t, os.Symlink("in.csv", "link"))
	require.NoError(t, os.Mkdir("folder", 0o777))
	for flags, want := range map[string]string{
		"--rejected -":                       "--rejected is -, want the name of a file: standard output has the result",
		"--checkpoint -":                     "--checkpoint is -, want the name of a file",
		"--rejected folder":                  "--rejected is folder, a folder",
		"--rejected in.csv":                  "--rejected is in.csv, which is read",
		"--rejected ./folder/../in.csv":      "which is read",
		"--rejected link":                    "which is read",
		"--checkpoint in.csv --resume":       "--checkpoint is in.csv, which is read",
		"--rejected new --checkpoint ./new":  "--checkpoint and --rejected are one file, new",
		"--rejected link2 --checkpoint link": "--checkpoint is link, which is read",
	} {
		line := x.requireFailure(exitUsage, append([]string{"load", "shop.items", "in.csv"}, strings.Fields(flags)...)...)
		require.Contains(t, line, want, flags)
	}
	require.Equal(t, itemsCSV, string(must1(os.ReadFile("in.csv"))))
	require.NoFileExists(t, "-")
	for _, verb := range []string{"copy", "verify"} {
		require.Contains(t, x.requireFailure(exitUsage, verb, "shop.items", "backup.items", "--checkpoint", "-"), "--checkpoint is -")
	}
	require.NoError(t, syscall.Mkfifo("fifo", 0o600))
	require.Contains(t, x.requireFailure(exitUsage, "load", "shop.items", "fifo", "--format", "csv", "--checkpoint", "c"), "fifo is not a regular file")
}

// TestFilesOfLoadArePrivate creates files for the user alone, also with a wide umask, and keeps the rights of files
// that exist.
func TestFilesOfLoadArePrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	x := newTester(t, shop)
	dir := t.TempDir()
	x.in = "id,name\nx,y\n1,z\n"
	run := func(bad string) {
		x.requireRun("load", "shop.items", "-", "--format", "csv", "--allow-missing", "--max-errors", "1", "--rejected",
			filepath.Join(dir, bad), "--checkpoint", filepath.Join(dir, bad+".json"))
	}
	run("bad")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "wide"), nil, 0o640))
	run("wide")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 6)
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if entry.Name() == "wide" {
			want = 0o640
		}
		require.Equal(t, want, info.Mode(), entry.Name())
	}
}
