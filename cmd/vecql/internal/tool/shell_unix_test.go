// SPDX-License-Identifier: Apache-2.0

//go:build unix

package tool

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// Tests that need named pipes, signals, umask or guard pages of Unix.

// TestShellInterrupt requires that SIGINT ends a statement and not the shell, which SIGTERM ends.
func TestShellInterrupt(t *testing.T) {
	x := newTester(t, shop)
	rule := x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "id = 1", Drop: true})
	go func() {
		if rule.Wait(t.Context(), 1) == nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		}
	}()
	got := runShell(x, "", &typist{lines: []string{"SELECT id FROM shop.items WHERE id = 1;\r", "SELECT id FROM shop.items WHERE id = 2;\r"}})
	require.Equal(t, "error: interrupted\n", got.errors)
	require.Contains(t, got.screen, " 2\n1 row\n")

	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	keys := &typist{lines: []string{"SELECT id FROM shop.items WHERE id = 2;\r", "\r"}, before: func(line int) {
		if line == 1 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
			<-hold
		}
	}}
	require.Contains(t, runShell(x, "", keys).screen, " 2\n1 row\n")
}

// TestShellEdit edits statements in a program that replaces the file by one that the test has written.
func TestShellEdit(t *testing.T) {
	x := newTester(t, shop)
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	script := "cat \"$1\" >> " + dir + "/seen; if [ -e " + dir + "/next ]; then mv " + dir + "/next \"$1\"; fi\n"
	require.NoError(t, os.WriteFile(dir+"/editor", []byte(script), 0o600))
	x.env["VISUAL"] = "sh " + dir + "/editor"
	lines, saved := []string{}, map[int]string{}
	edit := func(line, text string) {
		saved[len(lines)] = text
		lines = append(lines, line+"\r")
	}
	edit(`\e`, "SELECT id FROM shop.items WHERE id = 2; SELECT none;\n") // nothing so far
	edit(`edit;`, "SELECT name\nFROM shop.items")
	edit(`WHERE id = 1`, "")
	edit(`\e`, "SELECT price FROM shop.items WHERE id = 1;")
	edit(`\e`, "") // no change
	edit(`\e x`, "")
	got := runShell(x, "", &typist{lines: lines, before: func(line int) {
		if text := saved[line]; text != "" {
			require.NoError(t, os.WriteFile(dir+"/next", []byte(text), 0o600))
		}
	}})
	require.Equal(t, "error: syntax error: line 0:-1 mismatched input '<EOF>' expecting K_FROM\n"+
		"error: EDIT has no argument: it edits the last statement\n", got.errors)
	require.Equal(t, "vecql> \\e\nvecql> SELECT id FROM shop.items WHERE id = 2; SELECT none;\nid\n--\n 2\n1 row\n"+
		"vecql> edit;\nvecql> SELECT name\nFROM shop.items\n  ...> WHERE id = 1\n  ...> \\e\n"+
		"vecql> SELECT price FROM shop.items WHERE id = 1;\nprice\n-----\n 49.5\n1 row\nvecql> \\e\nvecql> \\e x\nvecql> \n", got.screen)
	seen, err := os.ReadFile(dir + "/seen")
	require.NoError(t, err)
	require.Equal(t, "\nSELECT none;\nSELECT name\nFROM shop.items\nWHERE id = 1\nSELECT price FROM shop.items WHERE id = 1;\n", string(seen))
	require.Equal(t, []string{
		"SELECT id FROM shop.items WHERE id = 2;", "SELECT none;", "SELECT price FROM shop.items WHERE id = 1;",
	}, got.history)

	x.env["EDITOR"] = "false" // comes before VISUAL
	got = runShell(x, "", &typist{lines: []string{`\e` + "\r"}})
	require.Equal(t, "error: the editor false: exit status 1; nothing is executed; EDITOR names another editor\n", got.errors)
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, left)
}
