// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"net"

	"github.com/gocql/gocql/events"
	"github.com/gocql/gocql/internal/eventbus"
	"github.com/vecql/vecql"
)

// Events of a session: nodes that come, go, and change their state. Changes of the schema are not published, because a
// listener for them makes vecql read the whole schema.

// SubscribeToEvents returns a Subscriber of the events that filter accepts; nil accepts all. The events are about
// nodes; events that find the queue full are dropped.
func (s *Session) SubscribeToEvents(
	name string, queueSize int, filter eventbus.FilterFunc[events.Event],
) *eventbus.Subscriber[events.Event] {
	return s.events.Subscribe(queueSize, filter)
}

// configureEvents publishes the changes of nodes, after the HostSelectionPolicy of the program has received them.
func (s *Session) configureEvents(c *vecql.ClusterConfig) {
	bus, policy := &s.events, s.picker
	c.Nodes.OnChange = func(change vecql.NodeChange) {
		if policy != nil {
			policy.NodeChanged(change)
		}
		publish(bus, change)
	}
}

// publish publishes a change of a node.
func publish(bus *eventbus.Bus[events.Event], c vecql.NodeChange) {
	address, port := net.IP(c.Host.Address.Addr().AsSlice()), int(c.Host.Address.Port())
	switch c.Kind {
	case vecql.NodeAdded:
		bus.Publish(&events.TopologyChangeEvent{Change: "NEW_NODE", Host: address, Port: port})
	case vecql.NodeRemoved:
		bus.Publish(&events.TopologyChangeEvent{Change: "REMOVED_NODE", Host: address, Port: port})
	case vecql.NodeUp:
		bus.Publish(&events.StatusChangeEvent{Change: "UP", Host: address, Port: port})
	case vecql.NodeDown:
		bus.Publish(&events.StatusChangeEvent{Change: "DOWN", Host: address, Port: port})
	}
}
