// SPDX-License-Identifier: Apache-2.0

package vecql

import "sync/atomic"

// This file holds the counters of a session. What each request counts is spread over stripes, so that processors do not meet at one cache
// line; what happens rarely is not.

// Stats is what a session has counted since its start, and what is so right now. Numbers that are read while requests are under way may
// not fit together to the last one.
type Stats struct {
	Requests uint64                // of verbs: pages and batches count once each, PREPAREs do not
	Failed   uint64                // of them, with an error
	Errors   map[ErrorClass]uint64 // attempts that failed, by class; those that lost against a faster execution are ClassCanceled
	Retries  uint64                // attempts that a retry policy asked for
	// SpeculativeExecutions counts executions beside the first one, SpeculativeWins those that answered first.
	SpeculativeExecutions uint64
	SpeculativeWins       uint64
	// BytesOut and BytesIn count bodies of requests and answers, uncompressed, once per attempt.
	BytesOut uint64
	BytesIn  uint64
	// PreparedHits counts statements that were prepared already, PreparedMisses those that were not, PreparedAgain how often a node had
	// forgotten one.
	PreparedHits   uint64
	PreparedMisses uint64
	PreparedAgain  uint64
	// TabletHints counts answers that named the right tablet: ScyllaDB sends that to who did not know it. TabletHintsRefused counts those that
	// made no sense, and those above a million tablets.
	TabletHints, TabletHintsRefused uint64
	// ConnectionsOpened less ConnectionsLost and those that the driver closed are open. ConnectionsFailed could not be opened.
	ConnectionsOpened uint64
	ConnectionsLost   uint64
	ConnectionsFailed uint64
	// Waiting is the number of requests that ClusterConfig.Throttle holds back.
	Waiting int
	Nodes   []NodeStats // by host id
}

// NodeStats is what is so of a node right now.
type NodeStats struct {
	Host        *HostInfo
	Connections int // open
	InFlight    int // requests without an answer, orphans among them
	Orphans     int // requests that were given up and not answered yet
}

// Timeouts returns how many attempts got no answer in time.
func (s *Stats) Timeouts() uint64 { return s.Errors[ClassTimeout] }

// stripes is the number of copies of the counters that each request changes: a power of 2, of the size of a busy machine's processors.
const stripes = 16

// stripe is one copy. It fills two cache lines: processors fetch them in pairs.
type stripe struct {
	requests, preparedHits, bytesOut, bytesIn atomic.Uint64
	_                                         [128 - 4*8]byte
}

var nextStripe atomic.Uint32

type counters struct {
	stripes                                                                                                [stripes]stripe
	errors                                                                                                 [classes]atomic.Uint64
	failed, retries, speculations, speculationWins, prepares, preparesAgain, opened, lost, connectFailures atomic.Uint64
}

// of returns where a call is counted.
func (k *counters) of(c *call) *stripe { return &k.stripes[c.stripe%stripes] }

// Stats returns the session's counters.
func (s *Session) Stats() Stats {
	k := &s.counters
	st := Stats{
		Failed: k.failed.Load(), Errors: map[ErrorClass]uint64{}, Retries: k.retries.Load(), SpeculativeExecutions: k.speculations.Load(),
		SpeculativeWins: k.speculationWins.Load(), PreparedMisses: k.prepares.Load(), PreparedAgain: k.preparesAgain.Load(),
		TabletHints: s.routing.learnt.Load(), TabletHintsRefused: s.routing.refused.Load(),
		ConnectionsOpened: k.opened.Load(), ConnectionsLost: k.lost.Load(),
		ConnectionsFailed: k.connectFailures.Load(),
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
	if s.throttle != nil {
		st.Waiting = s.throttle.waits()
	}
	for _, n := range s.topo.Load().nodes {
		st.Nodes = append(st.Nodes, n.stats())
	}
	return st
}

func (n *node) stats() NodeStats {
	st := NodeStats{Host: n.info}
	for _, c := range n.pool.open.Load().conns {
		st.Connections++
		st.InFlight += c.inFlight()
		st.Orphans += int(c.orphans.Load())
	}
	return st
}
