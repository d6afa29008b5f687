// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
)

// The files that a command writes beside its result: none is standard output, an input, or the file of another flag.

// An outputFile is the value of a flag that names a file to write.
type outputFile struct{ flag, path string }

// checkOutputs returns a usage error for a file that would replace a stream of the command, one of its inputs, or the
// file of another flag.
func (e *env) checkOutputs(inputs []string, outputs ...outputFile) error {
	for i, o := range outputs {
		switch {
		case o.path == "":
			continue
		case o.path == rowfile.Stdin:
			return usagef("%s is -, want the name of a file: standard output has the result", o.flag)
		case slices.ContainsFunc(e.streams, func(w io.Writer) bool { return isStream(o.path, w) }):
			return usagef("%s is %s, which is an output of the command: want another file", o.flag, o.path)
		}
		if info, err := os.Stat(o.path); err == nil && info.IsDir() {
			return usagef("%s is %s, a folder: want the name of a file", o.flag, o.path)
		}
		for _, name := range inputs {
			if isSameFile(o.path, name) {
				return usagef("%s is %s, which is read: want another file", o.flag, o.path)
			}
		}
		for _, other := range outputs[:i] {
			if other.path != "" && isSameFile(o.path, other.path) {
				return usagef("%s and %s are one file, %s", other.flag, o.flag, o.path)
			}
		}
	}
	return nil
}

// isStream reports whether a path leads to a stream of the command. The null device, which keeps nothing, is none.
func isStream(path string, stream io.Writer) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	to, err := f.Stat()
	info, pathErr := os.Stat(path)
	if err != nil || pathErr != nil || !os.SameFile(to, info) {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(null, info)
}

// isSameFile reports whether two paths are one file, or would be.
func isSameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB) && infoA.Mode().IsRegular()
	}
	return absolute(a) == absolute(b)
}

// absolute returns a path from the root, through the symbolic links of its folder.
func absolute(path string) string {
	folder, name := filepath.Split(path)
	if folder == "" {
		folder = "."
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	whole, err := filepath.Abs(filepath.Join(folder, name))
	if err != nil {
		return path
	}
	return whole
}
