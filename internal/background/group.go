// SPDX-License-Identifier: Apache-2.0

// Package background manages the driver's goroutines: groups that can be awaited, sleep that ends with a context,
// jitter and exponential backoff.
package background

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Grace is the time that the last steps of a shutdown always get: goroutines that are ending, a farewell to the peer.
const Grace = time.Second

// A Group counts goroutines, and the timers that run functions on goroutines of the group, until it ends. The zero
// value is ready to use. A Group must not be copied.
type Group struct {
	mu      sync.Mutex
	running int
	ended   bool // no further goroutines start
	timers  []*time.Timer
	done    chan struct{} // closed when the group has ended and no goroutine runs; nil until End or Done
}

// Enter counts the calling goroutine and reports true, unless the group has ended. Leave ends the count.
func (g *Group) Enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return false
	}
	g.running++
	return true
}

// Leave ends the count of the calling goroutine.
func (g *Group) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running--; g.ended && g.running == 0 {
		close(g.done)
	}
}

// Go runs f on a new goroutine, unless the group has ended.
func (g *Group) Go(f func()) {
	if g.Enter() {
		go func() {
			defer g.Leave()
			f()
		}()
	}
}

// End stops the timers and prevents further goroutines from starting. It is called once and does not block.
func (g *Group) End() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	for _, t := range g.timers {
		t.Stop()
	}
	if g.done == nil {
		g.done = make(chan struct{})
	}
	if g.running == 0 {
		close(g.done)
	}
}

// Done returns a channel that is closed when the group has ended and none of its goroutines runs.
func (g *Group) Done() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done == nil {
		g.done = make(chan struct{})
	}
	return g.done
}

// A Timer runs a function of a Group each time it expires.
type Timer struct {
	group *Group
	timer *time.Timer
}

// NewTimer returns a stopped timer that runs f on a goroutine of the group.
func (g *Group) NewTimer(f func()) *Timer {
	t := time.AfterFunc(time.Hour, func() {
		if g.Enter() {
			defer g.Leave()
			f()
		}
	})
	t.Stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timers = append(g.timers, t)
	return &Timer{g, t}
}

// Reset makes the timer expire after d, unless the group has ended.
func (t *Timer) Reset(d time.Duration) {
	t.group.mu.Lock()
	defer t.group.mu.Unlock()
	if !t.group.ended {
		t.timer.Reset(d)
	}
}

// Await blocks until done is closed, at least for Grace and then until ctx ends. It returns ctx's error if ctx ended
// first.
func Await(ctx context.Context, done <-chan struct{}) error {
	grace := time.NewTimer(Grace)
	defer grace.Stop()
	select {
	case <-done:
		return nil
	case <-grace.C:
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// AwaitAll waits as Await does, for goroutines that may run the program's code. That code may never return, or may
// itself be the caller of AwaitAll.
func AwaitAll(ctx context.Context, g *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		g.Wait()
		close(done)
	}()
	return Await(ctx, done)
}

// Recover converts a panic into an error. Call it with defer.
func Recover(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v", v)
	}
}
