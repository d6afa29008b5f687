// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/stream"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// Memory of idle connections.

// idleMost is the most memory of a connection without traffic, in bytes. Its goroutine has a stack of 4 KiB besides,
// the socket and its configuration about 2 KiB. BenchmarkScale (package tests) measures all of it.
const idleMost = 6 << 10

// memoryOf returns the bytes that a connection holds itself.
func memoryOf(c *Conn) int {
	const channel = 96
	bytes := int(unsafe.Sizeof(*c)) + c.in.Size()
	c.slots.each(func(s *slot) { bytes += int(unsafe.Sizeof(*s)) + channel })
	bytes += 8 * 8 * powersOfTwo(&c.Latencies)
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	w := &c.w
	return bytes + cap(w.pending.B) + cap(w.spare) + cap(w.frames) + cap(w.segments) + cap(w.sealed)
}

// powersOfTwo returns the number of powers of two whose counts a Recorder has allocated: 8 counts each.
func powersOfTwo(r *stats.Recorder) int {
	var h stats.Histogram
	h.Add(r)
	used := map[int]bool{}
	for _, b := range h.Buckets() {
		used[bits.Len64(uint64(b.Upper-1)>>13)] = true
	}
	return len(used)
}

// A connection is small until it is busy, and again after a heartbeat. Until then it holds the memory for responses.
func TestIdleConnMemory(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fakecql.Server{Version: version}
				c := connectInMemory(t, s, func(cfg *Config) { cfg.Heartbeat = 30 * time.Second })
				defer endConn(c, s)
				require.Less(t, memoryOf(c), idleMost)
				body := strings.Repeat("x", 200_000)
				for range 3 {
					var wg sync.WaitGroup
					for range 40 {
						wg.Go(func() {
							_, err := c.ask(context.Background(), body)
							assert.NoError(t, err)
						})
					}
					wg.Wait()
				}
				_, err := c.ask(context.Background(), "a pause between two pages")
				require.NoError(t, err)
				synctest.Wait()
				require.Greater(t, c.in.Size(), 4*wire.InputLeast)
				require.Greater(t, memoryOf(c), 2*idleMost)
				time.Sleep(31 * time.Second)
				synctest.Wait()
				require.Less(t, memoryOf(c), idleMost)
				_, err = c.ask(context.Background(), body)
				require.NoError(t, err)
			})
		})
	}
}

// A connection with one call at a time keeps few slots, however many calls it has had.
func TestFewSlots(t *testing.T) {
	c := connectTo(t, &fakecql.Server{Version: 5})
	for i := range 1000 {
		_, err := c.ask(context.Background(), fmt.Sprint(i))
		require.NoError(t, err)
	}
	n := 0
	c.slots.each(func(*slot) { n++ })
	require.Equal(t, firstSlots, n)
}

// Slots are dropped while other calls claim theirs: each call gets its response.
func TestSlotsShrinkUnderLoad(t *testing.T) {
	c := connectTo(t, &fakecql.Server{Version: 5})
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			for j := range 100 {
				want := fmt.Sprint(i, " ", j)
				got, err := c.ask(context.Background(), want)
				assert.NoError(t, err)
				assert.Equal(t, want, got)
			}
		})
	}
	go func() { wg.Wait(); close(done) }()
	for open := true; open; {
		c.slots.shrink(c.Streams)
		select {
		case <-done:
			open = false
		default:
			runtime.Gosched()
		}
	}
	c.slots.shrink(c.Streams)
	n := 0
	c.slots.each(func(*slot) { n++ })
	require.Equal(t, firstSlots, n)
}

func TestSlotsOfAllStreams(t *testing.T) {
	var s slots
	seen := map[*slot]bool{}
	for id := range stream.MaxStreams {
		if id&(id-1) == 0 && id >= firstSlots {
			require.Nil(t, s.at(id), "block of id %d", id)
		}
		at := s.claimed(id)
		if at != s.at(id) || at.wake == nil {
			t.Fatalf("slot of id %d", id)
		}
		seen[at] = true
	}
	require.Len(t, seen, stream.MaxStreams, "one slot for each id")
}

// TestSlotsShrinkByBlocks requires that all blocks after the first one are dropped, except blocks with a stream id in
// use, and that no stream id is lost.
func TestSlotsShrinkByBlocks(t *testing.T) {
	const streams = 256
	for _, used := range [][]int{{0}, {firstSlots - 1}, {firstSlots}, {2*firstSlots - 1, 100}, {streams - 1}} {
		c := New(&Config{Version: frame.V5, MaxStreams: streams}, "", nil)
		claimAll := func() (ids []int) {
			for id, ok := c.Streams.Claim(); ok; id, ok = c.Streams.Claim() {
				c.slots.claimed(id)
				ids = append(ids, id)
			}
			return ids
		}
		ids := claimAll()
		require.Len(t, ids, streams)
		kept, blocks := map[int]*slot{}, map[int]bool{0: true}
		for _, id := range ids {
			if slices.Contains(used, id) {
				kept[id] = c.slots.at(id)
				block, _, _ := blockOf(id)
				blocks[block] = true
			} else {
				c.Streams.Release(id)
			}
		}
		c.slots.shrink(c.Streams)
		for id, s := range kept {
			require.Same(t, s, c.slots.at(id))
		}
		for block := range slotBlocks {
			require.Equal(t, blocks[block], c.slots[block].Load() != nil, "block %d with %v in use", block, used)
		}
		require.Len(t, claimAll(), streams-len(used))
	}
	c := New(&Config{Version: frame.V5}, "", nil)
	c.slots.claimed(stream.MaxStreams - 1)
	c.slots.claimed(stream.MaxStreams/2 - 1)
	c.slots.shrink(c.Streams)
	require.Nil(t, c.slots.at(stream.MaxStreams-1))
	require.Nil(t, c.slots.at(stream.MaxStreams/2-1))
	require.Zero(t, c.InFlight())
}
