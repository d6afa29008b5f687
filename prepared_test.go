// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFault19SingleFlightOfCache is 19 for the cache alone.
func TestFault19SingleFlightOfCache(t *testing.T) {
	c := newStatements(10)
	key := statementKey{text: "SELECT 1"}
	var calls atomic.Int32
	release := make(chan struct{})
	want := &statement{text: "SELECT 1"}
	prepare := func() (*statement, error) { calls.Add(1); <-release; return want, nil }

	leader, cancel := context.WithCancel(context.Background())
	leaderDone := make(chan error, 1)
	go func() { _, err := c.get(leader, key, prepare); leaderDone <- err }()
	for calls.Load() == 0 {
	}
	cancel()
	require.ErrorIs(t, <-leaderDone, context.Canceled)
	var wg sync.WaitGroup // the followers outlive a leader that gave up
	for range 100 {
		wg.Go(func() {
			got, err := c.get(context.Background(), key, prepare)
			if err != nil || got != want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	close(release)
	wg.Wait()
	require.EqualValues(t, 1, calls.Load())
}

func TestStatementsForgetsFailures(t *testing.T) {
	c := newStatements(10)
	key := statementKey{text: "SELECT 1"}
	boom := errors.New("boom")
	_, err := c.get(context.Background(), key, func() (*statement, error) { return nil, boom })
	require.ErrorIs(t, err, boom)
	want := &statement{}
	got, err := c.get(context.Background(), key, func() (*statement, error) { return want, nil })
	require.NoError(t, err)
	require.Same(t, want, got)
	c.drop(key, &statement{}) // another one: stays
	require.Equal(t, 1, c.cache.Len())
	c.drop(key, want)
	require.Equal(t, 0, c.cache.Len())
}
