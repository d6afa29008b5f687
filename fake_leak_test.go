// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// This file holds what tells that nothing is left of a session or a connection.

// requireNothingLeft checks, when all that is cleaned up after it is gone, that neither goroutines nor buffers are left.
func requireNothingLeft(t testing.TB) {
	before := outstanding.Load()
	t.Cleanup(func() {
		if inBubble() {
			synctest.Wait() // the bubble fails the test when a goroutine is left
		} else {
			requireNoGoroutines(t)
		}
		require.Equal(t, before, outstanding.Load(), "buffers not released")
	})
}

// startedBy is the line of a stack that says where a goroutine was started.
var startedBy = regexp.MustCompile(`(?m)^created by .*$`)

// requireNoGoroutines fails when a goroutine of the driver is left, after a moment of grace for those that are just ending. Those of the
// fake servers are the tests' own.
func requireNoGoroutines(t testing.TB) {
	t.Helper()
	var stacks string
	for range 400 {
		buf := make([]byte, 4<<20)
		stacks = string(buf[:runtime.Stack(buf, true)])
		left := false
		stacks := startedBy.ReplaceAllString(stacks, "")
		for _, name := range []string{"(*conn).", "(*pool).", "(*control).", "(*Session).", "(*statements).", "(*Iter).", "(*schemaCache).", "(*notifier)."} {
			left = left || strings.Contains(stacks, "vecql."+name)
		}
		if !left {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("goroutines of the driver are left:\n%s", stacks)
}

// inBubble reports whether the caller is in a bubble of synctest: time starts in the year 2000 there.
func inBubble() bool { return time.Now().Year() < 2020 }

// within waits until f is true, at most 5 s, and reports it.
func within(f func() bool) bool {
	for range 5000 {
		if f() {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}
