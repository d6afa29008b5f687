// SPDX-License-Identifier: Apache-2.0

// Package atomicfile writes files that appear under their names complete and on disk, or not at all.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
)

// A File is a file that appears under its name when Commit has completed it. It is not safe for concurrent use.
type File struct {
	path string
	file *os.File    // temporary, in the same folder; nil after Commit and Abort
	mode fs.FileMode // of the file that is replaced, 0 if there is none
}

// Create returns a File for a path. It writes to a temporary file in the same folder, whose name begins with a point
// and ends with .tmp. Commit replaces an existing file and keeps its permissions; if path is a symbolic link, Commit
// replaces the file that it points at. The caller must call Commit or Abort.
func Create(path string) (*File, error) {
	f := &File{path: path}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		f.path = target
	}
	switch info, err := os.Stat(f.path); {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case err == nil:
		f.mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	var err error
	for range 100 {
		dir, base := filepath.Split(f.path)
		name := filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base, rand.Uint32()))
		if f.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Name returns the name of the temporary file, empty after Commit and Abort.
func (f *File) Name() string {
	if f.file == nil {
		return ""
	}
	return f.file.Name()
}

// Write appends to the temporary file.
func (f *File) Write(p []byte) (int, error) {
	if f.file == nil {
		return 0, fs.ErrClosed
	}
	return f.file.Write(p)
}

// Commit makes the file appear under its name: it syncs the content, renames the file and syncs the folder, so that a
// crash leaves the old file or the complete new one. After an error it removes the temporary file.
func (f *File) Commit() error {
	if f.file == nil {
		return fs.ErrClosed
	}
	if err := f.commit(); err != nil {
		return errors.Join(err, f.Abort())
	}
	f.file = nil
	return syncFolder(filepath.Dir(f.path))
}

func (f *File) commit() error {
	if f.mode != 0 {
		if err := f.file.Chmod(f.mode); err != nil {
			return err
		}
	}
	if err := f.file.Sync(); err != nil { // the content before the name
		return err
	}
	if err := f.file.Close(); err != nil {
		return err
	}
	return os.Rename(f.file.Name(), f.path)
}

// syncFolder syncs the names in a folder to disk, where the system supports it.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Abort removes the temporary file. After Commit and Abort it does nothing.
func (f *File) Abort() error {
	if f.file == nil {
		return nil
	}
	name := f.file.Name()
	_ = f.file.Close() // it may be closed
	f.file = nil
	return os.Remove(name)
}

// Replace replaces a file by one with this content.
func Replace(path string, content []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Commit()
}
