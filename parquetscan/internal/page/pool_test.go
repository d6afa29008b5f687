// SPDX-License-Identifier: Apache-2.0

package page

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/buffer"
)

// TestMemoryHasRoom takes memory of other sizes again and again: it has the length and the spare capacity.
func TestMemoryHasRoom(t *testing.T) {
	var m memory
	for i := range 2000 {
		n := i * i % 70_001
		b := m.grow(n)
		require.Len(t, b, n)
		require.GreaterOrEqual(t, cap(b)-n, buffer.Slack)
		if i%3 == 0 {
			m.release()
		}
	}
	m.bytes = make([]byte, 100) // of Brotli: no power of 2
	m.release()
	require.GreaterOrEqual(t, cap(m.grow(64)), 64+buffer.Slack)
	require.Len(t, m.grow(1<<mostPooled+1), 1<<mostPooled+1)
}
