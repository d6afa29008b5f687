// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// CPU returns the processor time that this process has used.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Measure runs f, which performs b.N operations, and reports the client's processor time per operation.
func Measure(b *testing.B, f func() error) {
	b.Helper()
	b.ReportAllocs()
	b.ResetTimer()
	before := CPU()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64((CPU()-before).Nanoseconds())/1000/float64(b.N), "cpu-us/op")
}

// Threads parses a list of numbers of threads, separated by commas.
func Threads(tb testing.TB, list string) (threads []int) {
	tb.Helper()
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			tb.Fatalf("-threads %s: want positive numbers separated by commas", list)
		}
		threads = append(threads, n)
	}
	return threads
}

// InFlight calls op n times in total, from the given number of goroutines, with the numbers of the calls. It returns
// the first error.
func InFlight(n, goroutines int, op func(i int) error) error {
	var left atomic.Int64
	left.Store(int64(n))
	errs := make(chan error, goroutines)
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i := left.Add(-1); i >= 0; i = left.Add(-1) {
				if err := op(int(i)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}
