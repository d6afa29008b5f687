// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"

	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/stats"
)

// The health of a session: which nodes serve requests, and why others do not.

// Health returns a snapshot of which nodes serve requests. It sends nothing.
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
// silent. The nodes are those of the last reading of the system tables that HostFilter and HostSelectionPolicy accept
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
