// SPDX-License-Identifier: Apache-2.0

package fakecql

import (
	"net"

	"github.com/vecql/vecql/internal/memconn"
)

// In-memory connections.

// pipeWindow is the number of bytes in flight in one direction before a writer blocks.
const pipeWindow = 256 << 10

// A PipeEnd is one end of a connection in memory.
type PipeEnd = memconn.Conn

// NewPipe returns the two ends of a connection.
func NewPipe() (a, b *PipeEnd) { return memconn.Pair(pipeWindow, &net.TCPAddr{}, &net.TCPAddr{}) }
