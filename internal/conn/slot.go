// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"math/bits"
	"sync/atomic"

	"github.com/vecql/vecql/internal/stream"
)

// Slots: where the calls of a connection wait for their responses.

// States of a slot. The caller moves it from free to waiting, and back to free at the end. The reader moves it from
// waiting to delivering to answered, or from orphaned to free.
const (
	slotFree       uint32 = iota
	slotWaiting           // the caller waits
	slotDelivering        // the reader or close writes the outcome
	slotAnswered          // the caller takes the outcome
	slotOrphaned          // the caller has left; the stream id is in use until the response arrives
)

// slot is where a call waits. Each stream id has one slot, which its calls reuse.
type slot struct {
	state atomic.Uint32
	start atomic.Int64 // offset of its frame in all bytes ever queued, -1 before it is queued
	// when onTick wakes the caller, on the connection's clock; 0 means never. Of an orphan: when its caller has left
	due      atomic.Int64
	began    int64         // start of the request on the connection's clock; 0 means that its latency is not recorded
	expected atomic.Int64  // memory that the request has acquired for the response
	wake     chan struct{} // a token may be stale: its receiver checks the state
	resp     Response
	err      error
}

// take stores the response of an answered slot in resp, or returns the error, and frees the slot.
func (s *slot) take(resp *Response) error {
	err := s.err
	if err == nil {
		*resp = s.resp
	}
	s.resp.Body, s.err = nil, nil
	s.state.Store(slotFree)
	return err
}

// startDelivery claims the slot of a waiting caller for its outcome, and reports whether a caller waits.
func (s *slot) startDelivery() bool { return s.state.CompareAndSwap(slotWaiting, slotDelivering) }

// signal wakes the caller of the slot, now or at its next wait.
func (s *slot) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

const (
	// firstSlots is the number of slots of the first block. A power of two.
	firstSlots = 8
	slotBlocks = 13 // for stream.MaxStreams
)

var _ = [1]struct{}{}[firstSlots<<(slotBlocks-1)-stream.MaxStreams]

// slots has a slot for each stream id, in blocks that are allocated on first use. Each further block has as many slots
// as all before it: a connection with few calls in flight needs little memory, and one with many needs few blocks.
type slots [slotBlocks]atomic.Pointer[[]slot]

// blockOf returns the block of a stream id, the first id in the block, and the number of its slots.
func blockOf(id int) (block, first, size int) {
	block = bits.Len(uint(id) / firstSlots)
	if block == 0 {
		return 0, 0, firstSlots
	}
	size = firstSlots << (block - 1)
	return block, size, size
}

// at returns the slot of a stream id from 0 to stream.MaxStreams-1, nil if no id of its block was used before.
func (s *slots) at(id int) *slot {
	block, first, _ := blockOf(id)
	b := s[block].Load()
	if b == nil {
		return nil
	}
	return &(*b)[id-first]
}

// claimed returns the slot of a claimed stream id.
func (s *slots) claimed(id int) *slot {
	if found := s.at(id); found != nil {
		return found
	}
	block, _, size := blockOf(id)
	b := make([]slot, size)
	for i := range b {
		b[i].wake = make(chan struct{}, 1)
	}
	s[block].CompareAndSwap(nil, &b)
	return s.at(id)
}

// shrink drops the blocks after the first one whose stream ids are all free.
func (s *slots) shrink(streams *stream.Table) {
	for block := 1; block < slotBlocks; block++ {
		first := firstSlots << (block - 1)
		if s[block].Load() != nil && streams.Hold(first, first) { // no call claims a slot of the block meanwhile
			s[block].Store(nil)
			streams.Free(first, first)
		}
	}
}

// each calls visit for all slots in use or used before.
func (s *slots) each(visit func(s *slot)) {
	for i := range s {
		if b := s[i].Load(); b != nil {
			for j := range *b {
				visit(&(*b)[j])
			}
		}
	}
}
