// SPDX-License-Identifier: Apache-2.0

package input

import (
	"os"
	"syscall"
)

// madvPopulateRead is MADV_POPULATE_READ (madvise(2), Linux 5.14).
const madvPopulateRead = 22

// mostAdvice bounds the bytes of one MADV_WILLNEED. The kernel reads no more than the greatest request of the device or
// its own read-ahead, whichever is more, and ignores the rest.
const mostAdvice = 512 << 10

// willRead loads a range of a mapped file in one call instead of one fault per 16 pages, which saves a tenth of the
// time of a scan of Snappy pages. Errors are ignored: reading the range reports them.
func willRead(mapped []byte, off, n int64) {
	start := off &^ int64(os.Getpagesize()-1)
	if off+n > start {
		_ = syscall.Madvise(mapped[start:off+n], madvPopulateRead)
	}
}

// willNeed begins to load a range of a mapped file, as far as it lies in the file, and does not wait for it.
func willNeed(mapped []byte, off, n int64) {
	end := min(off+n, int64(len(mapped)))
	for at := off &^ int64(os.Getpagesize()-1); at < end; at += mostAdvice {
		_ = syscall.Madvise(mapped[at:min(at+mostAdvice, end)], syscall.MADV_WILLNEED)
	}
}
