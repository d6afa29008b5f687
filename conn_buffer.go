// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// This file alone says who owns bytes, and until when.
//
// A buffer holds the body of one request or of one response. It has one owner, who calls release exactly once and touches neither the
// buffer nor a part of it afterwards:
//
//   - a request's body belongs to who made the request, for all its attempts: a connection copies it into its outgoing bytes before
//     roundTrip returns;
//   - a response's body belongs to the reader until it is put into the call's slot, then to the caller of roundTrip; an answer that
//     nobody waits for any more is released by the reader.
//
// Cells of a result are parts of the response's body, so that whatever outlives it is copied: every default verb does.

const (
	minBufferBits = 9  // 512 bytes
	maxBufferBits = 25 // 32 MiB, a page of 5000 embeddings: larger ones are left to the garbage collector
)

// buffer is a body in pooled memory. b may grow, also into other memory.
type buffer struct {
	b        []byte
	released bool // kept in poisoned builds only
}

// bufferPools holds buffers by size: those in pool i have room for at least 1<<(minBufferBits+i) bytes. It holds pointers, since a slice
// in an interface costs an allocation.
var bufferPools [maxBufferBits - minBufferBits + 1]sync.Pool

// outstanding counts buffers that were not released, in poisoned builds only.
var outstanding atomic.Int64

// getBuffer returns a buffer of that length, with any content.
func getBuffer(size int) *buffer {
	if poison {
		outstanding.Add(1)
	}
	class := max(bits.Len(uint(max(size, 1)-1))-minBufferBits, 0)
	if class >= len(bufferPools) {
		return &buffer{b: make([]byte, size)}
	}
	if b, _ := bufferPools[class].Get().(*buffer); b != nil {
		b.released = false
		b.b = b.b[:size]
		return b
	}
	return &buffer{b: make([]byte, size, 1<<(minBufferBits+class))}
}

// release gives the buffer back.
func (b *buffer) release() {
	if poison {
		b.poison()
	}
	class := bits.Len(uint(cap(b.b))) - 1 - minBufferBits // the largest size that it is sure to hold
	if class < 0 || class >= len(bufferPools) {
		return
	}
	b.b = b.b[:0]
	bufferPools[class].Put(b)
}

// poison makes a use after release visible: the bytes are overwritten, and a second release panics.
func (b *buffer) poison() {
	if b.released {
		panic("vecql: buffer released twice")
	}
	b.released = true
	outstanding.Add(-1)
	all := b.b[:cap(b.b)]
	for n := copy(all, []byte{0xDB}); n < len(all); { // doubling: byte by byte it would be most of what tests with -race do
		n += copy(all[n:], all[:n])
	}
}
