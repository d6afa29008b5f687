// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/stream"
	"github.com/vecql/vecql/internal/wire"
)

// Memory of idle connections.

// The reader holds the memory of a large response until little has arrived for a while. The answer to a heartbeat is
// little.
func TestIdleConnReturnsReadMemory(t *testing.T) {
	for _, version := range []byte{4, 5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fakecql.Server{Version: version}
				c := connectInMemory(t, s, func(cfg *connConfig) { cfg.heartbeat = 30 * time.Second })
				defer endConn(c, s)
				size := func() int { synctest.Wait(); return c.in.Size() }
				require.Equal(t, wire.InputLeast, size())
				for range 10 {
					_, err := c.ask(context.Background(), strings.Repeat("x", 200_000))
					require.NoError(t, err)
				}
				require.Equal(t, wire.InputMost, size())
				_, err := c.ask(context.Background(), "y")
				require.NoError(t, err)
				require.Equal(t, wire.InputMost, size(), "a pause between two pages")
				time.Sleep(31 * time.Second)
				require.Equal(t, wire.InputLeast, size(), "after a heartbeat")
			})
		})
	}
}

// A connection with one call at a time keeps few slots, however many calls it has had.
func TestFewSlots(t *testing.T) {
	c := connectTo(t, &fakecql.Server{Version: 5})
	for i := range 1000 {
		_, err := c.ask(context.Background(), fmt.Sprint(i))
		require.NoError(t, err)
	}
	n := 0
	c.slots.each(func(*slot) { n++ })
	require.Equal(t, firstSlots, n)
}

func TestSlotsOfAllStreams(t *testing.T) {
	var s slots
	seen := map[*slot]bool{}
	for id := range stream.MaxStreams {
		if id&(id-1) == 0 && id >= firstSlots {
			require.Nil(t, s.at(id), "block of id %d", id)
		}
		at := s.claimed(id)
		require.Same(t, at, s.at(id))
		require.NotNil(t, at.wake)
		seen[at] = true
	}
	require.Len(t, seen, stream.MaxStreams, "one slot for each id")
}
