// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

// keepRights gives a file the permissions of the file that it replaces.
func keepRights(f *os.File, old fs.FileInfo) error { return f.Chmod(old.Mode().Perm()) }
