// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/stats"
)

// Orphans: calls whose caller has left before the response arrived. Their stream ids stay in use until then.

const (
	// defaultMaxOrphans is the default of Config.maxOrphans.
	defaultMaxOrphans = 1024
	// orphanAge is the age from which an orphan counts. The answers to younger ones are merely late, for example the
	// answers of speculative executions that lost.
	orphanAge = time.Second
)

// errOrphans means that the connection was closed because too many canceled requests had no response.
var errOrphans = errors.New("canceled requests without a response")

// orphaned counts a canceled call, then wakes a drain, which would wait on if it did not find the call counted. onTick
// counts the old orphans.
func (c *Conn) orphaned() {
	orphans := int(c.Orphans.Add(1))
	c.callEnded()
	if orphans > c.orphanLimit() {
		c.startTicking()
	}
}

// MaxOrphans returns the number of old orphans that a connection with so many streams may have.
func MaxOrphans(streams int) int { return min(defaultMaxOrphans, max(streams/4, 1)) }

// orphanLimit returns the number of old orphans that the connection may have.
func (c *Conn) orphanLimit() int {
	return min(cmp.Or(c.Config.maxOrphans, defaultMaxOrphans), max(c.Streams.Cap()/4, 1))
}

// overdue handles too many old orphans, which mean that the server does not respond to some requests: the connection is
// replaced. Without an owner it refuses further calls, and closes when those in flight have ended or timed out.
func (c *Conn) overdue() {
	if c.Config.OnOverdue != nil {
		if !c.Refuses() {
			c.Config.OnOverdue(c)
		}
		return
	}
	err := errtext.Errorf("%w: more than %d", errOrphans, c.orphanLimit())
	c.closeWhenIdle(&EndError{Cause: stats.EndOrphans, Err: err})
}

// closeWhenIdle refuses further calls, and closes the connection with err when those in flight have ended or timed out.
func (c *Conn) closeWhenIdle(err error) {
	if !c.Draining.CompareAndSwap(false, true) {
		return
	}
	c.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), max(c.Config.Timeout, time.Second))
		defer cancel()
		c.awaitCalls(ctx)
		c.Close(err)
	})
}
