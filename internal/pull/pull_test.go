// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"fmt"
	"iter"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/leak"
)

// pairs returns an iterator of n pairs that panics after them, if panics is set, and notes its end.
func pairs(n int, panics bool, ended *bool) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		defer func() { *ended = true }()
		for i := range n {
			if !yield(i, fmt.Sprint(i)) {
				break
			}
		}
		if panics {
			panic("broken")
		}
	}
}

// record makes the calls of a script, n for next and s for stop, and returns what they return.
func record(script string, next func() (int, string, bool), stop func(), ended *bool) (calls []string) {
	call := func(f func() string) {
		defer func() {
			if p := recover(); p != nil {
				calls = append(calls, fmt.Sprint("panic ", p, *ended))
			}
		}()
		calls = append(calls, f(), fmt.Sprint(*ended))
	}
	for _, c := range script {
		call(func() string {
			if c == 's' {
				stop()
				return "stop"
			}
			return fmt.Sprint(next())
		})
	}
	call(func() string { stop(); return "end" })
	return calls
}

// requireEqual requires that Seq2 does what iter.Pull2 does.
func requireEqual(t *testing.T, script string, n int, panics bool) {
	t.Helper()
	var wantEnded, ended bool
	next, stop := iter.Pull2(pairs(n, panics, &wantEnded))
	want := record(script, next, stop, &wantEnded)
	next, stop = Seq2(pairs(n, panics, &ended))
	require.Equal(t, want, record(script, next, stop, &ended), "%s of %d", script, n)
}

func TestSeq2EqualsPull2(t *testing.T) {
	leak.Require(t)
	for _, script := range []string{"", "s", "n", "nn", "nnnn", "nns", "nnsn", "ns", "snn", "nnnnns"} {
		for n := range 4 {
			requireEqual(t, script, n, false)
			requireEqual(t, script, n, true)
		}
	}
}

func FuzzSeq2(f *testing.F) {
	f.Add("nnsn", uint8(3), true)
	f.Fuzz(func(t *testing.T, script string, n uint8, panics bool) {
		requireEqual(t, script[:min(len(script), 20)], int(n%8), panics)
	})
}

// Each call is made on a thread of its own that is locked to its goroutine, which iter.Pull2 does not survive.
func TestSeq2OnLockedThreads(t *testing.T) {
	leak.Require(t)
	var next func() (int, string, bool)
	var stop func()
	var ended bool
	var got []int
	pull := func() {
		i, _, _ := next()
		got = append(got, i)
	}
	for _, f := range []func(){
		func() { next, stop = Seq2(pairs(9, false, &ended)) }, pull, pull, pull, func() { stop() },
	} {
		var thread sync.WaitGroup
		thread.Go(func() {
			runtime.LockOSThread() // the goroutine ends with its thread
			f()
		})
		thread.Wait()
	}
	require.Equal(t, []int{0, 1, 2}, got)
	require.True(t, ended)
}

func TestSeq2RefusesAnIteratorThatGoesOn(t *testing.T) {
	leak.Require(t)
	next, stop := Seq2(func(yield func(int, int) bool) {
		yield(1, 1)
		yield(2, 2)
	})
	_, _, _ = next()
	require.PanicsWithValue(t, "pull: the iterator goes on after the end of its loop", stop)
}
