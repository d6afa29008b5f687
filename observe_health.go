// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// The health of a session: which nodes serve requests, and why others do not.

// Health is a snapshot of which nodes serve requests, for a health check. Its JSON has all fields, except zero
// times and empty texts.
type Health struct {
	Serving bool          `json:"serving"` // at least one node serves requests
	Ready   bool          `json:"ready"`   // all nodes that Session.Ready waits for serve requests
	Control ControlHealth `json:"control"`
	Nodes   []NodeHealth  `json:"nodes"` // ordered by host id
}

// ControlHealth is the health of the control connection. Requests do not need it, but without it a session does not
// notice nodes that are added, removed or have moved.
type ControlHealth struct {
	Node     string    `json:"node,omitempty"`     // host:port; empty means that there is no control connection
	LastRead time.Time `json:"last_read,omitzero"` // see ControlStats
	Error    string    `json:"error,omitempty"`    // of the last attempt to read the system tables or to connect
}

// NodeHealth is the health of a node.
type NodeHealth struct {
	Node        string    `json:"node"` // host:port
	HostID      string    `json:"host_id"`
	DataCenter  string    `json:"data_center"`
	Rack        string    `json:"rack"`
	Local       bool      `json:"local"`   // by HostSelectionPolicy
	Serving     bool      `json:"serving"` // a connection takes requests and answers them
	State       PoolState `json:"state"`   // of the connections to the node
	Connections int       `json:"connections"`
	Silent      int       `json:"silent,omitempty"`     // connections that answer no request
	NextDial    time.Time `json:"next_dial,omitzero"`   // see NodeStats
	LastError   string    `json:"last_error,omitempty"` // see NodeStats
}

// String returns one line: how many nodes serve, the control connection, and the nodes that do not serve with the
// reasons.
func (h Health) String() string {
	var b strings.Builder
	serving := 0
	for i := range h.Nodes {
		if h.Nodes[i].Serving {
			serving++
		}
	}
	fmt.Fprintf(&b, "%d of %d nodes serve, control connection: %s", serving, len(h.Nodes), cmp.Or(h.Control.Node, "none"))
	for i := range h.Nodes {
		if n := &h.Nodes[i]; !n.Serving {
			b.WriteString("; node " + n.Node + " does not: " + n.reason())
		}
	}
	return b.String()
}

// reason returns why a node does not serve.
func (n *NodeHealth) reason() string {
	text := n.State.String()
	if n.Silent > 0 {
		text = "silent"
	}
	if !n.NextDial.IsZero() {
		text += " until " + n.NextDial.Format(time.RFC3339)
	}
	if n.LastError != "" {
		text += ", " + n.LastError
	}
	return text
}

// Health returns a snapshot of which nodes serve requests. It sends nothing.
func (s *Session) Health() Health {
	control := s.control.stats()
	h := Health{Control: ControlHealth{Node: control.Node, LastRead: control.LastRead, Error: errorText(control.Err)}}
	nodes := s.topo.Load().nodes
	required := requiredNodes(nodes)
	h.Ready = len(nodes) > 0
	for _, n := range nodes {
		st := n.stats()
		health := NodeHealth{
			Node: n.info.addr.String(), HostID: n.info.HostID(), DataCenter: n.info.dc, Rack: n.info.rack,
			Local: !n.info.remote, Serving: st.Serves(), State: st.State, Connections: st.Connections, Silent: st.Silent,
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
	return unprefixed{err}.Error()
}

// requiredNodes returns whether Session.Ready waits for a node: for local ones, or for all if none is local.
func requiredNodes(nodes []*node) func(*node) bool {
	for _, n := range nodes {
		if !n.info.remote {
			return func(n *node) bool { return !n.info.remote }
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
			return errorf("wait for the nodes: %w", ErrSessionClosed)
		}
		missing := s.notServing()
		if len(missing) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
		case <-ctx.Done():
			return errorf("wait for the nodes: %w: %w", ctx.Err(), notServingError(missing))
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
			errs = append(errs, errorf("node %s is silent", n.info.addr))
		case st.LastError != nil:
			errs = append(errs, errorf("node %s is not connected (%v): %w", n.info.addr, st.State, st.LastError))
		default:
			errs = append(errs, errorf("node %s is not connected (%v)", n.info.addr, st.State))
		}
	}
	return joinErrors(errs...)
}

// broadcast wakes any number of goroutines.
type broadcast struct {
	mu   sync.Mutex
	done chan struct{} // closed by the next notify; nil means that no goroutine waits
}

// next returns a channel that the next notify closes.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done == nil {
		b.done = make(chan struct{})
	}
	return b.done
}

// notify wakes the goroutines that wait.
func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done != nil {
		close(b.done)
		b.done = nil
	}
}
