// SPDX-License-Identifier: Apache-2.0

package paging

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// addAll adds pages with the states of state, by number, and returns the number of the page with an error, -1 for
// none.
func addAll(n int, state func(page int) string) int {
	var r *EmptyRun
	sent := ""
	for i := range n {
		var err error
		if r, err = r.After(0, []byte(sent), []byte(state(i))); err != nil {
			return i
		}
		sent = state(i)
	}
	return -1
}

// TestEmptyRunRepeats requires the number of pages after which an endless run is an error.
func TestEmptyRunRepeats(t *testing.T) {
	const many = 100_000
	require.Equal(t, -1, addAll(many, strconv.Itoa), "states that differ are never an error")
	require.Equal(t, 1, addAll(many, func(int) string { return "same" }))
	require.Equal(t, 8, addAll(many, func(i int) string { return strconv.Itoa(min(i, 7)) }), "the same from the eighth page on")
	for length := 2; length < 5000; length = length*3/2 + 1 {
		got := addAll(many, func(i int) string { return strconv.Itoa(i % length) })
		require.GreaterOrEqual(t, got, cycleLeast, "circle of %d states", length)
		require.LessOrEqual(t, got, 4*max(length, cycleLeast), "circle of %d states", length)
	}
	require.Equal(t, -1, addAll(cycleLeast, func(i int) string { return strconv.Itoa(i % 2) }))
}

// TestPageWithRows requires that rows end a run, except on a page that leads to itself.
func TestPageWithRows(t *testing.T) {
	r := &EmptyRun{count: freePages}
	next, err := r.After(1, []byte("a"), []byte("b"))
	require.NoError(t, err)
	require.Nil(t, next)
	_, err = next.After(1, []byte("b"), []byte("b"))
	require.ErrorIs(t, err, ErrRepeated)
	_, err = r.After(1, []byte{}, nil)
	require.NoError(t, err, "the last page, of a request without a state")
}

// TestEmptyRunPace requires that the requests of a long run are paced, unless the pages take long.
func TestEmptyRunPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(took time.Duration) time.Duration {
			var r *EmptyRun
			began := time.Now()
			for i := range freePages + 1000 {
				require.True(t, r.Await(t.Context()))
				time.Sleep(took)
				var err error
				r, err = r.After(0, []byte(strconv.Itoa(i)), []byte(strconv.Itoa(i+1)))
				require.NoError(t, err)
			}
			return time.Since(began)
		}
		require.Equal(t, 999*pace, run(0))
		require.Equal(t, (freePages+1000)*2*pace, run(2*pace))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := EmptyRun{count: freePages, asked: time.Now()}
		require.False(t, r.Await(ctx))
	})
}
