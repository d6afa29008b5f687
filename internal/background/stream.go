// SPDX-License-Identifier: Apache-2.0

package background

import (
	"context"
	"errors"
)

// Values of workers on the goroutine of a loop.

// errLeft means that the loop was left.
var errLeft = errors.New("the loop was left")

// Stream passes the values of a producer to pass, on the goroutine of the caller, until the producer ends, whose error
// it returns, or pass returns false: then it returns nil. The producer runs on a goroutine of its own, and has ended
// when Stream returns. It may call put on several goroutines at once. put returns nil when pass has returned true, and
// an error when pass has returned false or panicked, or when ctx has ended before pass was called: its cause.
func Stream[V any](ctx context.Context, produce func(ctx context.Context, put func(V) error) error,
	pass func(V) (more bool),
) error {
	type offer struct {
		value   V
		answers chan error // one
	}
	ctx, cancel := context.WithCancel(ctx)
	offers, done := make(chan offer), make(chan struct{})
	var failed error // of the producer; valid when done is closed
	go func() {
		defer close(done)
		failed = produce(ctx, func(v V) error {
			o := offer{v, make(chan error, 1)}
			select {
			case offers <- o:
				return <-o.answers
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	defer func() {
		cancel()
		<-done
	}()
	take := func(o offer) (more bool) {
		answer := errLeft
		defer func() { o.answers <- answer }() // also when pass panics
		if more = pass(o.value); more {
			answer = nil
		}
		return more
	}
	for {
		select {
		case o := <-offers:
			if !take(o) {
				return nil
			}
		case <-done:
			return failed
		}
	}
}
