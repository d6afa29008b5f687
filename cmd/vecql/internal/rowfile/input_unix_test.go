// SPDX-License-Identifier: Apache-2.0

//go:build unix

package rowfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tests that need named pipes, signals, umask or guard pages of Unix.

// TestPipeIsRead reads a named pipe, whose size is not known.
func TestPipeIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.csv")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, []byte("id\n1\n2\n"), 0) }()
	in, err := Open(Options{}, path)
	require.NoError(t, err)
	rows := 0
	for b, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
		rows += b.Rows
	}
	require.Equal(t, 2, rows)
	require.NoError(t, <-written)
	_, total := in.Progress()
	require.Zero(t, total)
}
