// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"syscall"
	"unsafe"
)

// adviseHuge requests huge pages for n bytes from p. The kernel may ignore the request; no byte changes.
func adviseHuge(p unsafe.Pointer, n int) {
	from, to := uintptr(p)&^(hugePage-1), (uintptr(p)+uintptr(n)+hugePage-1)&^(hugePage-1)
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, 14) // MADV_HUGEPAGE
}
