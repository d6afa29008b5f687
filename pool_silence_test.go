// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/conn"
)

// Silent connections of a pool.

// TestPoolAvoidsSilentConnections picks from pools with no, some and only silent connections.
func TestPoolAvoidsSilentConnections(t *testing.T) {
	p := newPool(t.Context(), "127.0.0.1:9042", poolConfig{})
	conns := []*conn.Conn{idleConn(), idleConn(), idleConn()}
	for silent := range len(conns) + 1 {
		for _, c := range conns[:silent] {
			c.Silent.Store(true)
		}
		p.open.Store(newPoolView(conns))
		for range 100 {
			c := p.pick()
			require.NotNil(t, c)
			require.Equal(t, silent == len(conns), c.Silent.Load())
		}
	}
}
