// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"

	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/stats"
)

// The health of a session, which nodes serve requests and why others do not, and its counters.

// Health returns a snapshot of the nodes that serve requests. It sends nothing.
func (s *Session) Health() stats.Health {
	control := s.control.stats()
	h := stats.Health{Control: stats.ControlHealth{
		Node: control.Node, LastRead: control.LastRead, Error: errorText(control.Err),
	}}
	nodes := s.topo.Load().nodes
	required := requiredNodes(nodes)
	h.Ready = len(nodes) > 0
	for _, n := range nodes {
		st := n.stats()
		health := stats.NodeHealth{
			Node: n.info.Address.String(), HostID: idText(n.info.ID), DataCenter: n.info.DataCenter, Rack: n.info.Rack,
			Local: !n.remote, Serving: st.Serves(), State: st.State, Connections: st.Connections, Silent: st.Silent,
			NextDial: st.NextDial, LastError: errorText(st.LastError),
		}
		h.Serving = h.Serving || health.Serving
		h.Ready = h.Ready && (health.Serving || !required(n))
		h.Nodes = append(h.Nodes, health)
	}
	return h
}

// errorText returns the text of an error without the prefix of this package, empty for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return errtext.Of(err)
}

// requiredNodes returns whether Session.Ready waits for a node: for local ones, or for all if none is local.
func requiredNodes(nodes []*node) func(*node) bool {
	for _, n := range nodes {
		if !n.remote {
			return func(n *node) bool { return !n.remote }
		}
	}
	return func(*node) bool { return true }
}

// Ready blocks until each node of the local data center serves requests: until a connection to it is open and not
// silent. It asks for the nodes of the last reading of the system tables that HostFilter and HostSelectionPolicy accept
// and that the policy regards as local; without a local data center, all of them. A node that is down counts until it
// leaves the cluster, because the system tables do not contain the state of a node.
//
// If ctx ends first, the error names each node that does not serve and why, and wraps the error of ctx. After Close it
// is ErrSessionClosed.
func (s *Session) Ready(ctx context.Context) error {
	for {
		changed := s.changes.next() // before the state is read, so that no change is missed
		if s.closed.Load() {
			return errtext.Errorf("wait for the nodes: %w", ErrSessionClosed)
		}
		missing := s.notServing()
		if len(missing) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
		case <-ctx.Done():
			return errtext.Errorf("wait for the nodes: %w: %w", ctx.Err(), notServingError(missing))
		}
	}
}

// notServing returns the nodes that Ready waits for.
func (s *Session) notServing() []*node {
	nodes := s.topo.Load().nodes
	required := requiredNodes(nodes)
	var missing []*node
	for _, n := range nodes {
		if required(n) && !n.pool.serves() {
			missing = append(missing, n)
		}
	}
	return missing
}

// notServingError returns an error that names the nodes and why they do not serve.
func notServingError(nodes []*node) error {
	var errs []error
	for _, n := range nodes {
		st := n.stats()
		switch {
		case st.Silent > 0:
			errs = append(errs, errtext.Errorf("node %s is silent", n.info.Address))
		case st.LastError != nil:
			errs = append(errs, errtext.Errorf("node %s is not connected (%v): %w", n.info.Address, st.State, st.LastError))
		default:
			errs = append(errs, errtext.Errorf("node %s is not connected (%v)", n.info.Address, st.State))
		}
	}
	return errtext.Join(errs...)
}

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
