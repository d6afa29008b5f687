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
