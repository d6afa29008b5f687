// SPDX-License-Identifier: Apache-2.0

//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// The permissions of a file that replaces another one.

// keepRights gives a file the owner, the group and the permissions of the file that it replaces. Where the group cannot
// be kept, the new group gets no more than all users have.
func keepRights(f *os.File, old fs.FileInfo) error {
	mode := old.Mode().Perm()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	was, okOld := old.Sys().(*syscall.Stat_t)
	is, okNew := info.Sys().(*syscall.Stat_t)
	if okOld && okNew {
		if was.Uid != is.Uid {
			_ = f.Chown(int(was.Uid), -1) // only a privileged process may; the new owner wrote the content
		}
		if was.Gid != is.Gid && f.Chown(-1, int(was.Gid)) != nil {
			mode &= 0o707 | mode&7<<3
		}
	}
	return f.Chmod(mode)
}
