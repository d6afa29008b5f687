// SPDX-License-Identifier: Apache-2.0

//go:build unix

package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// Tests that need named pipes, signals, umask or guard pages of Unix.

// TestInterrupted sends SIGINT to a query that no node answers.
func TestInterrupted(t *testing.T) {
	x := newTester(t, shop)
	rule := x.Inject(cqltest.Fault{Statement: "FROM shop.items", Drop: true})
	go func() {
		if rule.Wait(t.Context(), 1) == nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		}
	}()
	var out, errOut bytes.Buffer
	args := []string{"query", "--hosts", x.Hosts()[0], "--consistency", "ONE", "SELECT * FROM shop.items"}
	require.Equal(t, exitInterrupted, Main(args, nil, &out, &errOut))
	require.Equal(t, "vecql query: interrupted\n", errOut.String())
	require.Empty(t, out.String())
}

// TestMCPPipe requires that a statement does not wait for a named pipe in the folder of --files.
func TestMCPPipe(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.csv"), 0o600))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero.csv")))
	c := (&tester{t: t, ctx: t.Context()}).serveMCP("--files", dir)
	require.Equal(t, `"pipe.csv" is neither a file nor a folder`, c.requireRefused("sql", arguments{"statement": "SELECT * FROM 'pipe.csv'"}))
	require.Contains(t, c.requireRefused("sql", arguments{"statement": "SELECT * FROM 'zero.csv'"}), "below the folder of --files")
	require.JSONEq(t, `{"files":[]}`, c.requireCall("files", nil))
}
