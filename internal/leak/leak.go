// SPDX-License-Identifier: Apache-2.0

// Package leak finds goroutines that a session, a scan or a server of a test leaves behind. It matches the package
// paths on their stacks, because names of types and functions change. Only tests import it.
package leak

import (
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// Module is the path of the driver's module and root package.
const Module = "github.com/vecql/vecql"

// Require fails the test if a goroutine of the driver is left, or a function in held returns another number than now,
// after the cleanup functions registered later have run.
func Require(t testing.TB, held ...func() int64) {
	t.Helper()
	before := make([]int64, len(held))
	for i, f := range held {
		before[i] = f()
	}
	t.Cleanup(func() {
		if inBubble() {
			synctest.Wait() // the bubble itself fails if a goroutine is left
		} else {
			RequireNone(t, Driver)
		}
		for i, f := range held {
			assert.Equal(t, before[i], f(), "buffers not released")
		}
	})
}

// RequireNone fails the test if find still returns stacks after 5 s, the time for goroutines that are about to end.
func RequireNone(t testing.TB, find func() []string) {
	t.Helper()
	left := find()
	for end := time.Now().Add(5 * time.Second); len(left) > 0 && time.Now().Before(end); left = find() {
		time.Sleep(5 * time.Millisecond)
	}
	if len(left) > 0 {
		t.Errorf("goroutines are left:\n%s", strings.Join(left, "\n\n"))
	}
}

// Driver returns the stacks of the goroutines of the driver, except the caller's.
func Driver() []string { return goroutines(ofDriver) }

// Of returns the stacks of the goroutines that run a function of the package outside of its test files, or that such a
// function created, except the caller's.
func Of(path string) []string {
	return goroutines(func(stack string) bool {
		found := false
		for name := range functions(stack) {
			found = found || strings.HasPrefix(name, path+".")
		}
		return found
	})
}

// goroutines returns the stacks that ok accepts, except the caller's.
func goroutines(ok func(stack string) bool) (found []string) {
	buf := make([]byte, 4<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	for _, stack := range all[1:] {
		if ok(stack) {
			found = append(found, stack)
		}
	}
	return found
}

// ofDriver reports whether a goroutine belongs to the driver: a function of the root package or of a connection is on
// its stack or created it, or its stack has a function of an internal package and no server of a test.
func ofDriver(stack string) bool {
	driver, inner, server := false, false, false
	for name, created := range functions(stack) {
		switch {
		case strings.HasPrefix(name, Module+"."), strings.HasPrefix(name, Module+"/internal/conn."):
			driver = true
		case strings.HasPrefix(name, Module+"/internal/fakecql."), strings.HasPrefix(name, Module+"/internal/memconn."),
			strings.HasPrefix(name, Module+"/internal/cassandra."),
			strings.HasPrefix(name, Module+"/cqltest"):
			server = true
		case strings.HasPrefix(name, Module+"/internal/"):
			inner = inner || !created
		}
	}
	return driver || inner && !server
}

// functions yields the functions on a stack that are not in test files, and whether it is the function that created the
// goroutine.
func functions(stack string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		lines := strings.Split(stack, "\n")
		for i, line := range lines[:len(lines)-1] {
			name, created := strings.CutPrefix(line, "created by ")
			if strings.HasPrefix(name, "\t") || strings.Contains(lines[i+1], "_test.go:") {
				continue
			}
			if !yield(name, created) {
				return
			}
		}
	}
}

// inBubble reports whether the caller is in a synctest bubble, where time starts in the year 2000.
func inBubble() bool { return time.Now().Year() < 2020 }

// Allocated returns how many bytes f allocates.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
