// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"github.com/vecql/vecql/stats"
)

// Counters of a session. Counters that every request increments are striped, so that processors do not contend for one
// cache line. Counters of rare events are not striped.

// Stats returns the session's counters and a snapshot of its nodes, which belongs to the caller. A call copies the
// latencies of each connection. It delays no request.
func (s *Session) Stats() stats.Session {
	k := &s.counters
	st := stats.Session{
		Failed: k.failed.Load(), Errors: map[stats.ErrorClass]uint64{}, Retries: k.retries.Load(), Moved: k.moved.Load(),
		SpeculativeExecutions: k.speculations.Load(), SpeculativeWins: k.speculationWins.Load(),
		PreparedMisses: k.prepares.Load(), PreparedAgain: k.preparesAgain.Load(), TabletHints: s.routing.stored.Load(),
		TabletHintsRefused: s.routing.refused.Load(), ConnectionsOpened: k.opened.Load(), ConnectionsLost: k.lost.Load(),
		ConnectionsFailed: k.connectFailures.Load(), ConnectionsEnded: map[stats.EndCause]uint64{},
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
			st.Errors[stats.ErrorClass(class)] = n
		}
	}
	for cause := range k.ended {
		if n := k.ended[cause].Load(); n > 0 {
			st.ConnectionsEnded[stats.EndCause(cause)] = n
		}
	}
	if s.throttle != nil {
		st.Waiting = s.throttle.Waiting()
	}
	if s.memory != nil {
		use := s.memory.Usage()
		st.Memory = stats.Memory{
			Budget: s.memory.Limit(), InFlight: use.InFlight, Held: use.Held, Peak: use.Peak, Waiting: use.Waiting,
			Waits: use.Waits, Waited: use.Waited, Overdrawn: use.Overdrawn,
		}
	}
	for _, n := range s.topo.Load().nodes {
		st.Nodes = append(st.Nodes, n.stats())
	}
	return st
}

func (n *node) stats() stats.Node {
	st := n.pool.stats()
	st.Address, st.HostID = n.info.Address.String(), idText(n.info.ID)
	st.DataCenter, st.Rack = n.info.DataCenter, n.info.Rack
	return st
}
