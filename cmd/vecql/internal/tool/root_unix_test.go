// SPDX-License-Identifier: Apache-2.0

//go:build unix

package tool

import (
	"bytes"
	"os"
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
