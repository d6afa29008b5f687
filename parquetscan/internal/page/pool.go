// SPDX-License-Identifier: Apache-2.0

package page

import (
	"math/bits"
	"sync"

	"github.com/vecql/vecql/parquetscan/internal/buffer"
)

// The memory of pages is used again by later readers: a query of a few milliseconds would otherwise spend a good part
// of them on new memory, a page or more for each column and goroutine.

// A memory holds the bytes of a page.
type memory struct{ bytes []byte }

// mostPooled is the logarithm of the largest memory that is kept.
const mostPooled = 24

// memories has the memories with a capacity of at least 1<<i bytes at index i.
var memories [mostPooled + 1]sync.Pool

// grow makes room for n bytes, and loses those that are there.
func (m *memory) grow(n int) []byte {
	if cap(m.bytes)-buffer.Slack < n {
		m.release()
		m.bytes = takeBytes(n)
	}
	m.bytes = m.bytes[:n]
	return m.bytes
}

// takeBytes returns at least n bytes of released memory, or of new memory.
func takeBytes(n int) []byte {
	class := bits.Len(uint(n + buffer.Slack - 1))
	if class > mostPooled {
		return buffer.GrowBytes(nil, n)
	}
	if old, ok := memories[class].Get().(*memory); ok {
		return old.bytes
	}
	return buffer.GrowBytes(nil, 1<<class-buffer.Slack)
}

// release lets others use the bytes.
func (m *memory) release() {
	class := bits.Len(uint(cap(m.bytes))) - 1
	if class >= 0 && class <= mostPooled {
		memories[class].Put(&memory{m.bytes})
	}
	m.bytes = nil
}
