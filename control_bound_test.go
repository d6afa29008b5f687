// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUpHintsAreBounded: a peer announces more nodes than there can be, each of them twice.
func TestUpHintsAreBounded(t *testing.T) {
	hints := 0
	c := &control{onEvent: func(any) { hints++ }, refreshWake: make(chan struct{}, 1)}
	announce := func() {
		for i := range 2 * maxUpHints {
			addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 9042)
			c.event(statusEvent{change: "UP", addr: addr})
			c.event(statusEvent{change: "UP", addr: addr})
		}
	}
	for n := 1; n <= 2; n++ {
		announce()
		require.Equal(t, n*maxUpHints, hints)
		due := c.takeDue()
		require.True(t, due.view)
		require.Len(t, due.up, maxUpHints)
	}
}
