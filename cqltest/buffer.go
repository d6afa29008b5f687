// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"sync"

	"github.com/vecql/vecql/internal/pooled"
)

// buffers are the buffers of answers. A page takes three: its body, its frame and its segments. Pages of large tables
// would otherwise fill the heap faster than anything else.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func getBuffer() *[]byte { return buffers.Get().(*[]byte) }

// putBuffer releases a buffer. Its bytes are overwritten where tests detect a use after release.
func putBuffer(b *[]byte) {
	if pooled.Poisoned {
		for i := range *b {
			(*b)[i] = 0xDB
		}
	}
	buffers.Put(b)
}
