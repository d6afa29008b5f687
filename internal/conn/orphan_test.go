// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// Orphans of a connection with an owner.

// TestOldOrphansAreReported requires that the owner learns of too many orphans once they are old, again and again until
// the connection refuses calls. The age of the connection does not matter.
func TestOldOrphansAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 2
		var reported atomic.Int32
		s := &fakecql.Server{Version: frame.V5, Handle: func(*fakecql.Conn, wire.Header, []byte) {}}
		c := connectInMemory(t, s, func(cfg *Config) {
			cfg.maxOrphans, cfg.OnOverdue = limit, func(*Conn) { reported.Add(1) }
		})
		defer endConn(c, s)
		giveUp := func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			_, err := c.ask(ctx, "question")
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		time.Sleep(time.Hour)
		for range limit {
			giveUp()
		}
		time.Sleep(time.Minute)
		require.Zero(t, reported.Load(), "as many as there may be")
		giveUp()
		time.Sleep(orphanAge - TickInterval)
		require.Zero(t, reported.Load(), "one of them is young")
		time.Sleep(3 * TickInterval)
		first := reported.Load()
		require.Positive(t, first)
		require.False(t, c.Refuses(), "the owner decides")
		time.Sleep(time.Second)
		require.Greater(t, reported.Load(), first)
		c.Draining.Store(true)
		last := reported.Load()
		time.Sleep(time.Second)
		require.Equal(t, last, reported.Load())
	})
}

// TestOrphanLimit requires that at most a quarter of the stream ids are in use by old orphans, and at least one may be.
func TestOrphanLimit(t *testing.T) {
	for _, m := range []struct{ streams, orphans, want int }{
		{0, 0, 1024}, {0, 5, 5}, {0, 5000, 5000}, {400, 0, 100}, {400, 99, 99}, {400, 101, 100}, {8, 0, 2}, {7, 0, 1}, {1, 0, 1},
	} {
		c := New(&Config{MaxStreams: m.streams, maxOrphans: m.orphans}, "", nil)
		require.Equal(t, m.want, c.orphanLimit(), "%+v", m)
	}
}
