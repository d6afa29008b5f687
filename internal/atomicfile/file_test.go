// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplace requires that a file changes in Commit only, and that nothing else is left in its folder.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	requireContent := func(want string) {
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	require.NoError(t, Replace(path, []byte("one")))
	require.NoError(t, os.Chmod(path, 0o600))
	f, err := Create(path)
	require.NoError(t, err)
	_, err = f.Write([]byte("two"))
	require.NoError(t, err)
	requireContent("one")
	require.NoError(t, f.Commit())
	requireContent("two")
	require.Empty(t, f.Name())
	require.NoError(t, f.Abort())
	require.ErrorIs(t, f.Commit(), fs.ErrClosed)
	_, err = f.Write(nil)
	require.ErrorIs(t, err, fs.ErrClosed)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())

	require.ErrorContains(t, Replace(dir, nil), "not a regular file")
	f, err = Create(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(f.Name()))
	require.ErrorIs(t, f.Commit(), fs.ErrNotExist)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	killed := filepath.Join(dir, ".x.tmp") // what a killed process leaves
	require.NoError(t, os.WriteFile(killed, []byte("a long text"), 0o600))
	require.NoError(t, Replace(path, []byte("three")))
	requireContent("three")
	require.NoFileExists(t, killed)
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	_, err := Read(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("one"), 0o600))
	text, err := Read(path)
	require.NoError(t, err)
	require.Equal(t, "one", string(text))
	_, err = Read(os.DevNull)
	require.EqualError(t, err, os.DevNull+" is not a regular file")
}

// A recorder is a disk that records its operations, with the size of the file at that moment.
type recorder struct {
	osDisk

	done []string
}

func (r *recorder) sync(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r.done = append(r.done, fmt.Sprint("sync ", info.Size(), " bytes"))
	return r.osDisk.sync(f)
}

func (r *recorder) rename(from, to string) error {
	r.done = append(r.done, "rename to "+filepath.Base(to))
	return r.osDisk.rename(from, to)
}

func (r *recorder) syncFolder(path string) error {
	r.done = append(r.done, "sync the folder")
	return r.osDisk.syncFolder(path)
}

// TestOrderOnDisk requires that the content is on disk before the name, and the name at the end.
func TestOrderOnDisk(t *testing.T) {
	want := []string{"sync 5 bytes", "rename to x", "sync the folder"}
	path := filepath.Join(t.TempDir(), "x")
	for range 2 { // a new file, and one that is replaced
		r := &recorder{}
		f, err := Create(path)
		require.NoError(t, err)
		f.disk = r
		_, err = f.Write([]byte("hello"))
		require.NoError(t, err)
		require.Empty(t, r.done)
		require.NoError(t, f.Commit())
		require.Equal(t, want, r.done)
	}
	r := &recorder{}
	f, err := locate(path)
	require.NoError(t, err)
	f.disk = r
	require.NoError(t, f.replace([]byte("again")))
	require.Equal(t, want, r.done)
}
