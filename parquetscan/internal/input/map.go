// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd

package input

import (
	"os"
	"syscall"
)

// mapFile maps a file for reading.
func mapFile(f *os.File, size int64) ([]byte, error) {
	if size == 0 || size != int64(int(size)) {
		return nil, nil
	}
	return syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapFile(b []byte) error { return syscall.Munmap(b) }
