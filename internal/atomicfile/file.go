// SPDX-License-Identifier: Apache-2.0

// Package atomicfile writes files that appear under their names complete and on disk, or not at all.
package atomicfile

import (
	"cmp"
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
	old  fs.FileInfo // the file that is replaced, nil if there is none
	disk disk
}

// A disk is the operations whose order decides what a crash leaves.
type disk interface {
	sync(f *os.File) error
	rename(from, to string) error
	syncFolder(path string) error
}

// Create returns a File for a path. It writes to a temporary file in the same folder, whose name begins with a point
// and ends with .tmp. Commit replaces an existing file and keeps its permissions; if path is a symbolic link, Commit
// replaces the file that it points at. While it is written, a file that replaces another one is readable by its owner
// only; other files have the default permissions. The caller must call Commit or Abort.
func Create(path string) (*File, error) {
	f, err := locate(path)
	if err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o666)
	if f.old != nil {
		mode = privateMode
	}
	for range 100 {
		if err = f.open(fmt.Sprintf(".%08x", rand.Uint32()), mode); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// privateMode is the permissions of files for their owner only.
const privateMode = 0o600

// locate returns a File without a temporary file.
func locate(path string) (*File, error) {
	f := &File{path: path, disk: osDisk{}}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		f.path = target
	}
	switch info, err := os.Stat(f.path); {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case err == nil:
		f.old = info
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return f, nil
}

// open creates the temporary file, whose name has a mark. There must be no such file.
func (f *File) open(mark string, mode fs.FileMode) (err error) {
	f.file, err = os.OpenFile(f.temporary(mark), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
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
		_ = f.Abort() // the first error is the cause
		return err
	}
	f.file = nil
	return f.disk.syncFolder(filepath.Dir(f.path))
}

func (f *File) commit() error {
	if f.old != nil {
		if err := keepRights(f.file, f.old); err != nil {
			return err
		}
	}
	if err := f.disk.sync(f.file); err != nil { // the content before the name
		return err
	}
	if err := f.file.Close(); err != nil {
		return err
	}
	return f.disk.rename(f.file.Name(), f.path)
}

// osDisk is the disk of the operating system.
type osDisk struct{}

func (osDisk) sync(f *os.File) error        { return f.Sync() }
func (osDisk) rename(from, to string) error { return os.Rename(from, to) }

// syncFolder syncs the names in a folder to disk, where the system supports it.
func (osDisk) syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return cmp.Or(dir.Sync(), dir.Close())
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

// Replace replaces a file by one with this content, and keeps its permissions; a new file is readable by its owner
// only. Its temporary file has one name, so that a process which is killed often leaves one such file at most. One
// process at a time may replace a file.
func Replace(path string, content []byte) error {
	f, err := locate(path)
	if err != nil {
		return err
	}
	return f.replace(content)
}

func (f *File) replace(content []byte) error {
	if err := os.Remove(f.temporary("")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.open("", privateMode); err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		_ = f.Abort() // the first error is the cause
		return err
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
