// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// requireFolder fails unless a folder has exactly these files.
func requireFolder(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.ElementsMatch(t, want, names)
}

// readFile returns the rows of a file.
func readFile(t *testing.T, path string) *column.Batch {
	t.Helper()
	d, err := Open(t.Context(), path)
	require.NoError(t, err)
	defer d.Close()
	var batches []*column.Batch
	for b, err := range d.Batches(t.Context()) {
		require.NoError(t, err)
		batches = append(batches, b)
	}
	all, err := column.Concat(batches...)
	require.NoError(t, err)
	return all
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.parquet")
	first, second := column.NewBatch(column.Of("id", []int64{1, 2})), column.NewBatch(column.Of("id", []int64{3}))
	want := column.NewBatch(column.Of("id", []int64{1, 2, 3}))
	require.NoError(t, WriteFile(t.Context(), path, first, second))
	requireFolder(t, dir, "x.parquet")
	require.Empty(t, column.Diff(readFile(t, path), want))

	// After an error the old file is unchanged, and there is no other file.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, WriteFile(ended, path, second), context.Canceled)
	require.ErrorIs(t, WriteFile(t.Context(), path, second, column.NewBatch(column.Of("other", []int64{3}))), ErrNoColumn)
	require.ErrorContains(t, WriteFile(t.Context(), path), "no batches")
	require.ErrorContains(t, WriteFile(t.Context(), path, &column.Batch{}), "the file has no fields")
	require.ErrorContains(t, WriteFile(t.Context(), dir, second), "is not a regular file")
	require.ErrorIs(t, WriteFile(t.Context(), filepath.Join(dir, "none", "x.parquet"), second), os.ErrNotExist)
	requireFolder(t, dir, "x.parquet")
	require.Empty(t, column.Diff(readFile(t, path), want))

	// Close replaces the target of a link, and keeps its permissions.
	require.NoError(t, os.Chmod(path, 0o640))
	link := filepath.Join(dir, "link.parquet")
	require.NoError(t, os.Symlink("x.parquet", link))
	require.NoError(t, WriteFile(t.Context(), link, second))
	requireFolder(t, dir, "x.parquet", "link.parquet")
	require.Empty(t, column.Diff(readFile(t, path), second))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	info, err = os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.parquet")
	b := column.NewBatch(column.Of("id", []int64{1, 2}))
	w, err := Create(path, b.Schema(), WriterOptions{Codec: Zstd})
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	require.NoFileExists(t, path)
	require.NoError(t, w.Abort())
	require.NoError(t, w.Abort())
	require.ErrorIs(t, w.Write(b), errWriterClosed)
	require.ErrorIs(t, w.Close(), errWriterClosed)
	requireFolder(t, dir)

	// Abort keeps the error of a Write.
	w, err = Create(path, b.Schema(), WriterOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, w.Write(column.NewBatch(column.Of("other", []int64{3}))), ErrNoColumn)
	require.NoError(t, w.Abort())
	require.ErrorIs(t, w.Write(b), ErrNoColumn)
	require.ErrorIs(t, w.Close(), ErrNoColumn)
	requireFolder(t, dir)

	w, err = Create(path, b.Schema(), WriterOptions{Codec: Zstd})
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	require.NoFileExists(t, path)
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	require.NoError(t, w.Abort())
	require.Empty(t, column.Diff(readFile(t, path), b))

	// The temporary file is removed during writing, so it cannot be renamed.
	w, err = Create(path, b.Schema(), WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, os.Remove(w.file.Name()))
	require.ErrorIs(t, w.Close(), os.ErrNotExist)
	requireFolder(t, dir, "x.parquet")
	_, err = Create(path, nil, WriterOptions{})
	require.ErrorContains(t, err, "the file has no fields")
	requireFolder(t, dir, "x.parquet")
}
