// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/frame"
)

// Tests of a control connection that ends before its view is passed on.

// TestControlLostAtOnce ends a control connection while the view that it has read is passed on.
func TestControlLostAtOnce(t *testing.T) {
	c := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory})
	cfg := &ClusterConfig{Hosts: c.Hosts()}
	cfg.Pool.Dialer, cfg.Logger = c.Dialer(), slog.New(slog.DiscardHandler)
	s, err := NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer s.Close()
	own := &control{
		dial: s.dialControl, contacts: s.contacts, readView: s.readView, readVersions: s.readVersions, admit: s.admit, log: s.log, timeout: time.Minute, onEvent: func(any) {},
		lostWake: make(chan struct{}, 1), refreshWake: make(chan struct{}, 1), settled: func() {}, onSchema: func(frame.SchemaEvent) {},
	}
	own.onView = func(clusterView) {
		own.current().Close(errors.New("lost"))
		require.Eventually(t, func() bool { return own.current() == nil }, 5*time.Second, time.Millisecond)
	}
	require.True(t, own.refreshOnce(t.Context(), &dueEvents{view: true}))
	select { // current loses the connection a moment before the token is sent
	case <-own.lostWake:
	case <-time.After(5 * time.Second):
		t.Fatal("no token triggers another connection")
	}
}
