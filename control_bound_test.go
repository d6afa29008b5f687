// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"net/netip"
	"testing"
	"time"

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

// TestEventsLost reads view and schema again after events were lost.
func TestEventsLost(t *testing.T) {
	var changes []schemaEvent
	c := &control{onSchema: func(e schemaEvent) { changes = append(changes, e) }, refreshWake: make(chan struct{}, 1)}
	c.event(eventsLost{})
	require.Equal(t, []schemaEvent{{}}, changes, "anything may have changed")
	require.True(t, c.takeDue().view)
	require.Len(t, c.refreshWake, 1)
}

// TestTimeoutOfCall returns the timeout of the request, else none if the context has a deadline, else the default.
func TestTimeoutOfCall(t *testing.T) {
	bounded, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	c := &call{}
	require.Equal(t, 3*time.Second, c.timeout(t.Context(), 3*time.Second))
	require.Zero(t, c.timeout(bounded, 3*time.Second))
	c.req.timeout = time.Minute
	require.Equal(t, time.Minute, c.timeout(bounded, 3*time.Second))

	// An attempt after a silent connection has what is left of the time.
	c.req.began = time.Now().Add(-45 * time.Second)
	c.spend(t.Context(), time.Hour)
	require.InDelta(t, 15, c.req.timeout.Seconds(), 10)
	c.req.began = time.Now().Add(-time.Hour)
	c.spend(t.Context(), time.Hour)
	require.Equal(t, tickInterval, c.req.timeout)
}
