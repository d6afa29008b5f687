// SPDX-License-Identifier: Apache-2.0

package load

import (
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// newSleep returns a function that replaces time.Sleep, which is late by up to a millisecond because epoll counts
// milliseconds. A timerfd wakes the poller of the runtime in time, and occupies no thread.
func newSleep() func(d time.Duration) {
	const monotonic = 1 // CLOCK_MONOTONIC
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, monotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return time.Sleep
	}
	timer := os.NewFile(fd, "timerfd")
	expirations := make([]byte, 8)
	return func(d time.Duration) {
		spec := &[2]syscall.Timespec{1: syscall.NsecToTimespec(d.Nanoseconds())} // no interval
		_, _, errno := syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(spec)), 0, 0, 0)
		runtime.KeepAlive(spec)
		if errno != 0 {
			time.Sleep(d)
			return
		}
		if _, err := timer.Read(expirations); err != nil {
			time.Sleep(d)
		}
	}
}
