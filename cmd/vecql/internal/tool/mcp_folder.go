// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
)

// The folder of --files.

// errOutside means that a path leads out of the folder.
var errOutside = errors.New("the path is not below the folder of --files: want a relative path such as sales/2026.parquet")

// errNoFiles means that a name stands for no file of a known format.
var errNoFiles = errors.New("no such file below the folder of --files")

// A folder is a folder whose files may be read. Neither .. nor symbolic links lead out of it.
type folder struct {
	root *os.Root
	path string // without symbolic links
}

// openFolder opens a folder.
func openFolder(name string) (*folder, error) {
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fmt.Errorf("--files: %w", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("--files: %w", err)
	}
	return &folder{root, real}, nil
}

func (f *folder) close() { _ = f.root.Close() } // it was read only

// fault returns the error of a path. The package os has no error value for a path that leads out of a root.
func (f *folder) fault(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%.200q: %w", name, errNoFiles)
	}
	var at *fs.PathError
	if errors.As(err, &at) && strings.Contains(at.Err.Error(), "escapes") {
		return fmt.Errorf("%w: %.200q", errOutside, name)
	}
	return fmt.Errorf("%.200q: %w", name, err)
}

// within returns a regular file, or the files of known formats in a folder and below it, in lexical order. As rowfile
// does, it leaves out names that begin with a point or an underscore, and it does not follow links in a folder.
func (f *folder) within(name string) (files []string, err error) {
	info, err := f.root.Stat(name)
	switch {
	case err != nil:
		return nil, f.fault(name, err)
	case info.Mode().IsRegular():
		return []string{name}, nil
	case !info.IsDir():
		return nil, fmt.Errorf("%.200q is neither a file nor a folder", name)
	}
	err = fs.WalkDir(f.root.FS(), name, func(path string, d fs.DirEntry, err error) error {
		hidden := path != name && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_"))
		format, _ := rowfile.ByName(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && hidden:
			return fs.SkipDir
		case d.Type().IsRegular() && !hidden && format != 0:
			files = append(files, path)
		}
		return nil
	})
	return files, err
}
