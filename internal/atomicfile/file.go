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
	f, err := locate(path)
	if err != nil {
		return nil, err
	}
	for range 100 {
		if err = f.open(fmt.Sprintf(".%08x", rand.Uint32())); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// locate returns a File without a temporary file.
func locate(path string) (*File, error) {
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
	return f, nil
}

// open creates the temporary file, whose name has a mark. There must be no such file.
func (f *File) open(mark string) (err error) {
	f.file, err = os.OpenFile(f.temporary(mark), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	return err
}

func (f *File) temporary(mark string) string {
	dir, base := filepath.Split(f.path)
	return filepath.Join(dir, "."+base+mark+".tmp")
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

// Replace replaces a file by one with this content. Its temporary file has one name, so that a process which is killed
// often leaves one such file at most. One process at a time may replace a file.
func Replace(path string, content []byte) error {
	f, err := locate(path)
	if err != nil {
		return err
	}
	if err := os.Remove(f.temporary("")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.open(""); err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Commit()
}

// Read returns the content of a regular file. It refuses a device or a pipe, whose content may have no end.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
