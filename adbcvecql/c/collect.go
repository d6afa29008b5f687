// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/metrics"
	"sync/atomic"
)

// A collector runs the garbage collector when C has released much memory and Go has not run it since. Go itself runs it
// when the heap has twice the size that was in use at the last run, memory held by C included. Without a collector, a
// program that reads large results one after the other therefore has two of them in memory.
type collector struct {
	limit    int64         // bytes
	run      func()        // the garbage collector
	cycles   func() uint64 // the number of its runs, also of those that Go started
	released atomic.Int64
	running  atomic.Bool
	last     uint64 // the cycles at the last check; running guards it
}

// release counts n bytes that C has released. It does not block.
func (c *collector) release(n int) {
	if c.released.Add(int64(n)) >= c.limit && !c.running.Load() {
		go c.collect()
	}
}

// collect runs the garbage collector until less than the limit was released since the last run began.
func (c *collector) collect() {
	for c.released.Load() >= c.limit && c.running.CompareAndSwap(false, true) {
		c.released.Store(0)
		if c.cycles() == c.last {
			c.run()
		}
		c.last = c.cycles()
		c.running.Store(false)
	}
}

// cycles returns the number of runs of the garbage collector.
func cycles() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
