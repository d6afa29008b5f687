// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// This file tests a control connection that ends as soon as it is there.

func TestControlLostAtOnce(t *testing.T) {
	c := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory})
	cfg := NewCluster(c.Hosts()...)
	cfg.Dialer, cfg.Logger = c.Dialer(), slog.New(slog.DiscardHandler)
	s, err := cfg.CreateSession()
	require.NoError(t, err)
	defer s.Close()
	own := &control{
		dial: s.dial, contacts: s.contacts, isUp: s.isUp, admit: s.admit, log: s.log, timeout: time.Minute, onEvent: func(any) {},
		lost: make(chan struct{}, 1), poke: make(chan struct{}, 1), settled: func() {}, onSchema: func(schemaEvent) {},
	}
	own.onView = func(clusterView) {
		own.current().close(errors.New("lost"))
		require.Eventually(t, func() bool { return own.current() == nil }, 5*time.Second, time.Millisecond)
	}
	require.True(t, own.refreshOnce(t.Context()))
	require.Len(t, own.lost, 1, "another one is wanted")
}
