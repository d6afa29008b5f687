// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/gocql/gocql/events"
	"github.com/gocql/gocql/internal/eventbus"
	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Events of a session: nodes that come, go, and change their state. Changes of the schema are not published, because a
// listener for them makes vecql read the whole schema.

// SubscribeToEvents returns a Subscriber of the events that filter accepts; nil accepts all. The events are those of
// nodes; events that find the queue full are dropped.
func (s *Session) SubscribeToEvents(
	name string, queueSize int, filter eventbus.FilterFunc[events.Event],
) *eventbus.Subscriber[events.Event] {
	return s.events.Subscribe(queueSize, filter)
}

// hostEvents publishes the events of nodes, and passes them to the HostSelectionPolicy of the program.
type hostEvents struct {
	bus    *eventbus.Bus[events.Event]
	policy *api.Picker[*HostInfo] // nil means none
}

// configureEvents sets the listeners.
func (s *Session) configureEvents(c *vecql.ClusterConfig) {
	l := hostEvents{&s.events, s.picker}
	c.Metadata.HostListener = vecql.HostListenersConfig{HostStateChangeListener: l, TopologyChangeListener: l}
}

// OnNewHost implements vecql.TopologyChangeListener.
func (l hostEvents) OnNewHost(e vecql.NewHostEvent) {
	if l.policy != nil {
		l.policy.OnNewHost(e)
	}
	l.topology("NEW_NODE", e.Host)
}

// OnRemovedHost implements vecql.TopologyChangeListener.
func (l hostEvents) OnRemovedHost(e vecql.RemovedHostEvent) {
	if l.policy != nil {
		l.policy.OnRemovedHost(e)
	}
	l.topology("REMOVED_NODE", e.Host)
}

// OnHostUp implements vecql.HostStatusChangeListener.
func (l hostEvents) OnHostUp(e vecql.HostUpEvent) {
	if l.policy != nil {
		l.policy.OnHostUp(e)
	}
	l.status("UP", e.Host)
}

// OnHostDown implements vecql.HostStatusChangeListener.
func (l hostEvents) OnHostDown(e vecql.HostDownEvent) {
	if l.policy != nil {
		l.policy.OnHostDown(e)
	}
	l.status("DOWN", e.Host)
}

func (l hostEvents) topology(change string, h *vecql.HostInfo) {
	l.bus.Publish(&events.TopologyChangeEvent{Change: change, Host: h.ConnectAddress(), Port: h.Port()})
}

func (l hostEvents) status(change string, h *vecql.HostInfo) {
	l.bus.Publish(&events.StatusChangeEvent{Change: change, Host: h.ConnectAddress(), Port: h.Port()})
}
