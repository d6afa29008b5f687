// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"sync/atomic"
	"time"
)

// Counters of a session. Counters that every request increments are striped, so that processors do not contend for one
// cache line. Counters of rare events are not striped.

// Stats are the counters of a session since its start, and a snapshot of its nodes. The counters are read one by one:
// while requests are in flight they may be slightly inconsistent with each other.
type Stats struct {
	// Requests counts the requests of verbs, one for each page and batch. A PREPARE does not count, nor does a verb whose
	// PREPARE has failed: no request follows.
	Requests uint64
	Failed   uint64                // of Requests: those that returned an error
	Errors   map[ErrorClass]uint64 // failed attempts by class; attempts that lost to a faster execution are ClassCanceled
	Retries  uint64                // attempts that the retry policy requested
	Moved    uint64                // attempts of idempotent requests that left a silent node for the next one
	// SpeculativeExecutions counts executions after the first one of a request, SpeculativeWins those that responded
	// first.
	SpeculativeExecutions uint64
	SpeculativeWins       uint64
	// BytesOut and BytesIn are the bytes of request and response bodies, uncompressed, counted per attempt.
	BytesOut uint64
	BytesIn  uint64
	// PreparedHits counts lookups that found a prepared statement, PreparedMisses those that did not, PreparedAgain the
	// statements prepared again because a node had evicted them.
	PreparedHits   uint64
	PreparedMisses uint64
	PreparedAgain  uint64
	// TabletHints counts responses with the tablet of a partition, which ScyllaDB sends when a request reaches the
	// wrong node. TabletHintsRefused counts invalid hints and those beyond a million tablets.
	TabletHints, TabletHintsRefused uint64
	// ConnectionsOpened counts opened connections, the control connection included. ConnectionsLost counts those that
	// broke, ConnectionsFailed failed attempts to open one. ConnectionsEnded counts all that were opened and have ended,
	// by cause.
	ConnectionsOpened uint64
	ConnectionsLost   uint64
	ConnectionsFailed uint64
	ConnectionsEnded  map[EndCause]uint64
	// WrongPeers counts failed attempts at whose address another cluster or node answered: see PeerError.
	WrongPeers uint64
	// Waiting is the number of requests in the queue of ClusterConfig.Throttle.
	Waiting int
	Memory  MemoryStats
	Control ControlStats
	Nodes   []NodeStats // ordered by host id
}

// MemoryStats is the use of ClusterConfig.MemoryBudget. Sizes are in bytes. Without a budget nothing is counted. An
// answer counts with the memory of its body, mostly less than twice its length; answers of up to 4 KiB do not count.
type MemoryStats struct {
	Budget int64 // 0 means none
	// InFlight is the memory of requests that were sent and of their answers, expected or arriving.
	InFlight int64
	// Held is the memory of answers that have arrived: pages of open rows, pages requested ahead, and answers that a verb
	// is reading. It ends when the rows move to the next page or are closed, and with each batch of columns.
	Held int64
	// Peak is the largest sum of InFlight and Held since the start.
	Peak    int64
	Waiting int    // requests that are waiting for memory
	Waits   uint64 // requests that have waited, those that are waiting included
	// Waited is the time that requests have waited, without those that are waiting.
	Waited time.Duration
	// Overdrawn counts requests that were sent beyond the budget because no memory held was released for a second.
	Overdrawn uint64
}

// Timeouts returns the number of attempts without a response in time.
func (s *Stats) Timeouts() uint64 { return s.Errors[ClassTimeout] }

// stripes is the number of stripes: a power of 2, about the number of processors of a busy machine.
const stripes = 16

// stripe is one copy of the striped counters. It fills two cache lines, since processors fetch them in pairs.
type stripe struct {
	requests, preparedHits, bytesOut, bytesIn atomic.Uint64
	_                                         [128 - 4*8]byte
}

var nextStripe atomic.Uint32

// counters count what Stats returns. Those that every request updates are striped; sums are taken when they are read.
type counters struct {
	stripes [stripes]stripe
	errors  [classes]atomic.Uint64

	failed, retries, moved, speculations, speculationWins atomic.Uint64
	prepares, preparesAgain                               atomic.Uint64
	opened, lost, connectFailures, wrongPeers             atomic.Uint64
	ended                                                 [endCauses]atomic.Uint64
}

// of returns the stripe of a call.
func (k *counters) of(c *call) *stripe { return &k.stripes[c.stripe%stripes] }

// Stats returns the session's counters and a snapshot of its nodes, which belongs to the caller. A call copies the
// latencies of each connection. It delays no request.
func (s *Session) Stats() Stats {
	k := &s.counters
	st := Stats{
		Failed: k.failed.Load(), Errors: map[ErrorClass]uint64{}, Retries: k.retries.Load(), Moved: k.moved.Load(),
		SpeculativeExecutions: k.speculations.Load(), SpeculativeWins: k.speculationWins.Load(),
		PreparedMisses: k.prepares.Load(), PreparedAgain: k.preparesAgain.Load(), TabletHints: s.routing.stored.Load(),
		TabletHintsRefused: s.routing.refused.Load(), ConnectionsOpened: k.opened.Load(), ConnectionsLost: k.lost.Load(),
		ConnectionsFailed: k.connectFailures.Load(), ConnectionsEnded: map[EndCause]uint64{},
		WrongPeers: k.wrongPeers.Load(), Control: s.control.stats(),
	}
	for i := range k.stripes {
		p := &k.stripes[i]
		st.Requests += p.requests.Load()
		st.PreparedHits += p.preparedHits.Load()
		st.BytesOut += p.bytesOut.Load()
		st.BytesIn += p.bytesIn.Load()
	}
	for class := range k.errors {
		if n := k.errors[class].Load(); n > 0 {
			st.Errors[ErrorClass(class)] = n
		}
	}
	for cause := range k.ended {
		if n := k.ended[cause].Load(); n > 0 {
			st.ConnectionsEnded[EndCause(cause)] = n
		}
	}
	if s.throttle != nil {
		st.Waiting = s.throttle.Waiting()
	}
	if s.memory != nil {
		use := s.memory.Usage()
		st.Memory = MemoryStats{
			Budget: s.memory.Limit(), InFlight: use.InFlight, Held: use.Held, Peak: use.Peak, Waiting: use.Waiting,
			Waits: use.Waits, Waited: use.Waited, Overdrawn: use.Overdrawn,
		}
	}
	for _, n := range s.topo.Load().nodes {
		st.Nodes = append(st.Nodes, n.stats())
	}
	return st
}

func (n *node) stats() NodeStats {
	st := n.pool.stats()
	st.Host = n.info
	return st
}
