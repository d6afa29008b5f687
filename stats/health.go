// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Health is a snapshot of the nodes that serve requests, for a health check. Its JSON has all fields, except zero
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
	LastRead time.Time `json:"last_read,omitzero"` // see Control
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
	NextDial    time.Time `json:"next_dial,omitzero"`   // see Node
	LastError   string    `json:"last_error,omitempty"` // see Node
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
