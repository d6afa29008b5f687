// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/hooks"
	"github.com/vecql/vecql/internal/queue"
)

// The half of a session that sends requests.

// sender sends requests to the nodes of a cluster.
type sender struct {
	*core
	preparing       sync.Map         // flight.Key to call.asked of its PREPARE
	start           atomic.Uint32    // where the next request's query plan begins
	timestamp       atomic.Int64     // the last write timestamp used, in microseconds
	defaultPolicies *policies        // of requests that do not set their own
	throttle        *queue.Queue     // nil means none
	hook            hooks.Exchange   // nil means none
	tasks           background.Group // speculative executions, and PREPAREs in the background
	races           raceBudget
}

// nextTimestamp returns now in microseconds, or the previous timestamp plus 1 if that is later.
func (s *sender) nextTimestamp(now time.Time) int64 {
	for {
		last := s.timestamp.Load()
		next := max(now.UnixMicro(), last+1)
		if s.timestamp.CompareAndSwap(last, next) {
			return next
		}
	}
}
