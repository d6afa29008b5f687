// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCollector requires a run for each limit that was released, one at a time, and none for what was released before
// the last run began.
func TestCollector(t *testing.T) {
	var running, runs atomic.Int32
	begun, end := make(chan struct{}, 100), make(chan struct{})
	var natural atomic.Uint64
	c := &collector{limit: 100, cycles: natural.Load, run: func() {
		if running.Add(1) > 1 {
			t.Error("two runs at a time")
		}
		begun <- struct{}{}
		<-end
		runs.Add(1)
		running.Add(-1)
	}}
	c.release(99)
	require.Empty(t, begun)
	c.release(1)
	<-begun
	require.Zero(t, c.released.Load())
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { c.release(10) })
	}
	all.Wait()
	require.Empty(t, begun, "a run is under way")
	end <- struct{}{}
	<-begun // of the 500 bytes since
	c.release(99)
	end <- struct{}{}
	require.Eventually(t, func() bool { return runs.Load() == 2 && !c.running.Load() }, 10*time.Second, time.Millisecond)
	require.EqualValues(t, 99, c.released.Load())
	require.Empty(t, begun)

	natural.Add(1)
	c.release(1)
	require.Eventually(t, func() bool { return c.released.Load() == 0 && !c.running.Load() }, 10*time.Second, time.Millisecond)
	require.Empty(t, begun, "the garbage collector has run")
	c.release(100)
	<-begun
	end <- struct{}{}
	require.Eventually(t, func() bool { return runs.Load() == 3 && !c.running.Load() }, 10*time.Second, time.Millisecond)
	before := cycles()
	runtime.GC()
	require.Greater(t, cycles(), before)
}
