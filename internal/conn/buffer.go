// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"math/bits"
	"sync"

	"github.com/vecql/vecql/internal/pooled"
	"github.com/vecql/vecql/internal/queue"
)

// Ownership of request and response bodies.
//
// A buffer holds the body of one request or one response. It has one owner. The owner calls release exactly once and
// does not touch the buffer or a part of it afterwards:
//
//   - a request's body belongs to the function that made the request, for all attempts: RoundTrip copies it before it
//     returns;
//   - a response's body belongs to the reader until it is stored in the call's slot, then to the caller of RoundTrip;
//     the reader releases the response to a canceled call.
//
// Cells of a result are parts of the response's body. Every default verb copies them, so that they outlive the body.

const (
	MinBufferBits = 9  // 512 bytes
	maxBufferBits = 25 // 32 MiB, a page of 5000 embeddings; larger buffers are not pooled
)

// Buffer is a body in pooled memory. b may grow and move.
type Buffer struct {
	B        []byte
	released bool // set in poisoned builds only

	memory  *queue.Budget // counts the buffer; nil means that it is not counted
	counted int64         // bytes counted
	held    bool          // counted as held, else as in flight
}

// bufferPools holds buffers by size: those in pool i have a capacity of at least 1<<(MinBufferBits+i) bytes. The pools
// hold pointers, because a slice in an interface costs an allocation.
var bufferPools [maxBufferBits - MinBufferBits + 1]sync.Pool

// poison is true in builds with -race or the tag poison: release then overwrites buffers and counts them.
const poison = pooled.Poisoned

// outstanding counts the buffers that are not released, in poisoned builds only.
var outstanding = &pooled.Held

// voidBody is the body of every RESULT of kind Void. It is shared: its owners do not write to it.
var voidBody = &Buffer{B: []byte(voidResult)}

const voidResult = "\x00\x00\x00\x01"

// GetBuffer returns a buffer of size bytes with undefined content.
func GetBuffer(size int) *Buffer {
	if poison {
		outstanding.Add(1)
	}
	class := max(bits.Len(uint(max(size, 1)-1))-MinBufferBits, 0)
	if class >= len(bufferPools) {
		return &Buffer{B: make([]byte, size)}
	}
	if b, _ := bufferPools[class].Get().(*Buffer); b != nil {
		b.released = false
		b.B = b.B[:size]
		return b
	}
	return &Buffer{B: make([]byte, size, 1<<(MinBufferBits+class))}
}

// Release returns the buffer to its pool.
func (b *Buffer) Release() {
	if b == voidBody { // shared
		return
	}
	if poison {
		b.poison()
	}
	b.uncount()
	class := bits.Len(uint(cap(b.B))) - 1 - MinBufferBits // the largest class that its capacity covers
	if class < 0 || class >= len(bufferPools) {
		return
	}
	b.B = b.B[:0]
	bufferPools[class].Put(b)
}

// SmallBody is the size up to which a response is not counted in the memory budget. The objects of an open Iter are as
// large, and most requests save two atomic additions.
const SmallBody = 4 << 10

// MemorySize returns the bytes to count for a response.
func (b *Buffer) MemorySize() int64 {
	if cap(b.B) <= SmallBody {
		return 0
	}
	return int64(cap(b.B))
}

// count counts a response that is arriving as memory in flight, except the bytes that its request has acquired. nil
// means no budget.
func (b *Buffer) count(memory *queue.Budget, acquired int64) {
	if memory == nil {
		return
	}
	if size := b.MemorySize() - acquired; size > 0 {
		b.memory, b.counted, b.held = memory, size, false
		memory.Add(size)
	}
}

// Hold counts a response as held memory, and releases the memory in flight that its request has acquired.
func (b *Buffer) Hold(memory *queue.Budget, acquired int64) {
	if b == voidBody { // shared
		memory.Release(acquired)
		return
	}
	arrived, size := b.counted, b.MemorySize()
	b.memory, b.counted, b.held = nil, 0, true
	if size > 0 {
		b.memory, b.counted = memory, size
	}
	memory.Answered(acquired+arrived, size)
}

// uncount ends the counting.
func (b *Buffer) uncount() {
	switch {
	case b.memory == nil:
		return
	case b.held:
		b.memory.ReleaseHeld(b.counted)
	default:
		b.memory.Release(b.counted)
	}
	b.memory, b.counted = nil, 0
}

// poison exposes a use after release: it overwrites the bytes, and panics at a second release.
func (b *Buffer) poison() {
	if b.released {
		panic("vecql: buffer released twice")
	}
	b.released = true
	outstanding.Add(-1)
	all := b.B[:cap(b.B)]
	// by doubling; byte by byte it would dominate the time of tests with -race
	for n := copy(all, []byte{0xDB}); n < len(all); {
		n += copy(all[n:], all[:n])
	}
}
