// SPDX-License-Identifier: Apache-2.0

//go:build unix

package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Permissions of files, under a wide umask.

// TestRights requires permissions that are never wider than the permissions of the file that is replaced, under a
// wide umask.
func TestRights(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	modeOf := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode()
	}
	dir := t.TempDir()
	for i, c := range []struct{ before, during, after fs.FileMode }{
		{0, 0o666, 0o666}, {0o600, 0o600, 0o600}, {0o640, 0o600, 0o640}, {0o644, 0o600, 0o644}, {0o400, 0o600, 0o400},
	} {
		path := filepath.Join(dir, fmt.Sprint("created", i))
		if c.before != 0 {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
			require.NoError(t, os.Chmod(path, c.before))
		}
		f, err := Create(path)
		require.NoError(t, err)
		require.Equal(t, c.during, modeOf(f.Name()))
		require.NoError(t, f.Commit())
		require.Equal(t, c.after, modeOf(path))
	}
	path := filepath.Join(dir, "replaced")
	for _, mode := range []fs.FileMode{0o600, 0o640} {
		require.NoError(t, Replace(path, []byte("x")))
		require.Equal(t, mode, modeOf(path))
		require.NoError(t, os.Chmod(path, 0o640))
	}
	if os.Getuid() == 0 { // only a privileged process gives files away
		require.NoError(t, os.Chown(path, 12345, 54321))
		require.NoError(t, Replace(path, []byte("y")))
		info, err := os.Stat(path)
		require.NoError(t, err)
		owner := info.Sys().(*syscall.Stat_t)
		require.Equal(t, [2]uint32{12345, 54321}, [2]uint32{owner.Uid, owner.Gid})
		require.Equal(t, fs.FileMode(0o640), info.Mode())
	}
}
