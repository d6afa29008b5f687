// SPDX-License-Identifier: Apache-2.0

package gocql

import "github.com/vecql/vecql"

// Adapters of the listeners of a program to vecql. Nodes and metadata are converted for each event.

// adaptMetadata returns the listeners and the cache mode of a session. A policy of the program hears of changes before
// its listeners.
func (s *Session) adaptMetadata(c MetadataConfig) vecql.MetadataConfig {
	m := vecql.MetadataConfig{CacheMode: vecql.MetadataCacheMode(c.CacheMode)}
	var hosts vecql.HostListenersMux
	var keyspaces vecql.SchemaListenersMux
	if s.picker != nil {
		hosts.HostStateChangeListeners = append(hosts.HostStateChangeListeners, s.picker)
		hosts.TopologyChangeListeners = append(hosts.TopologyChangeListeners, s.picker)
		if c.CacheMode != Disabled {
			keyspaces.Keyspaces = append(keyspaces.Keyspaces, s.picker)
		}
	}
	if l := c.HostListener.HostStateChangeListener; l != nil {
		hosts.HostStateChangeListeners = append(hosts.HostStateChangeListeners, statusListener{s, l})
	}
	if l := c.HostListener.TopologyChangeListener; l != nil {
		hosts.TopologyChangeListeners = append(hosts.TopologyChangeListeners, topologyListener{s, l})
	}
	if len(hosts.HostStateChangeListeners) > 0 {
		m.HostListener.HostStateChangeListener = hosts
	}
	if len(hosts.TopologyChangeListeners) > 0 {
		m.HostListener.TopologyChangeListener = hosts
	}
	schema := &m.SchemaListener
	if l := c.SchemaListener.KeyspaceChangeListener; l != nil {
		keyspaces.Keyspaces = append(keyspaces.Keyspaces, keyspaceListener{l})
	}
	if len(keyspaces.Keyspaces) > 0 {
		schema.KeyspaceChangeListener = keyspaces
	}
	if l := c.SchemaListener.TableChangeListener; l != nil {
		schema.TableChangeListener = tableListener{l}
	}
	if l := c.SchemaListener.UserTypeChangeListener; l != nil {
		schema.UserTypeChangeListener = userTypeListener{l}
	}
	if l := c.SchemaListener.FunctionChangeListener; l != nil {
		schema.FunctionChangeListener = functionListener{l}
	}
	if l := c.SchemaListener.AggregateChangeListener; l != nil {
		schema.AggregateChangeListener = aggregateListener{l}
	}
	return m
}

type statusListener struct {
	s *Session
	l HostStatusChangeListener
}

func (a statusListener) OnHostUp(e vecql.HostUpEvent) {
	a.l.OnHostUp(HostUpEvent{a.s.hosts.Of(e.Host)})
}

func (a statusListener) OnHostDown(e vecql.HostDownEvent) {
	a.l.OnHostDown(HostDownEvent{a.s.hosts.Of(e.Host)})
}

type topologyListener struct {
	s *Session
	l TopologyChangeListener
}

func (a topologyListener) OnNewHost(e vecql.NewHostEvent) {
	a.l.OnNewHost(NewHostEvent{a.s.hosts.Of(e.Host)})
}

func (a topologyListener) OnRemovedHost(e vecql.RemovedHostEvent) {
	a.l.OnRemovedHost(RemovedHostEvent{a.s.hosts.Of(e.Host)})
}

type keyspaceListener struct{ l KeyspaceChangeListener }

func (a keyspaceListener) OnKeyspaceCreated(e vecql.OnKeyspaceCreatedEvent) {
	a.l.OnKeyspaceCreated(OnKeyspaceCreatedEvent{keyspaceOf(e.Keyspace)})
}

func (a keyspaceListener) OnKeyspaceUpdated(e vecql.OnKeyspaceUpdatedEvent) {
	a.l.OnKeyspaceUpdated(OnKeyspaceUpdatedEvent{keyspaceOf(e.Old), keyspaceOf(e.New)})
}

func (a keyspaceListener) OnKeyspaceDropped(e vecql.OnKeyspaceDroppedEvent) {
	a.l.OnKeyspaceDropped(OnKeyspaceDroppedEvent{keyspaceOf(e.Keyspace)})
}

type tableListener struct{ l TableChangeListener }

func (a tableListener) OnTableCreated(e vecql.OnTableCreatedEvent) {
	a.l.OnTableCreated(OnTableCreatedEvent{tableOf(e.Table)})
}

func (a tableListener) OnTableUpdated(e vecql.OnTableUpdatedEvent) {
	a.l.OnTableUpdated(OnTableUpdatedEvent{tableOf(e.Old), tableOf(e.New)})
}

func (a tableListener) OnTableDropped(e vecql.OnTableDroppedEvent) {
	a.l.OnTableDropped(OnTableDroppedEvent{tableOf(e.Table)})
}

type userTypeListener struct{ l UserTypeChangeListener }

func (a userTypeListener) OnUserTypeCreated(e vecql.OnUserTypeCreatedEvent) {
	a.l.OnUserTypeCreated(OnUserTypeCreatedEvent{userTypeOf(e.UserType)})
}

func (a userTypeListener) OnUserTypeUpdated(e vecql.OnUserTypeUpdatedEvent) {
	a.l.OnUserTypeUpdated(OnUserTypeUpdatedEvent{userTypeOf(e.Old), userTypeOf(e.New)})
}

func (a userTypeListener) OnUserTypeDropped(e vecql.OnUserTypeDroppedEvent) {
	a.l.OnUserTypeDropped(OnUserTypeDroppedEvent{userTypeOf(e.UserType)})
}

type functionListener struct{ l FunctionChangeListener }

func (a functionListener) OnFunctionCreated(e vecql.OnFunctionCreatedEvent) {
	a.l.OnFunctionCreated(OnFunctionCreatedEvent{functionOf(e.Function)})
}

func (a functionListener) OnFunctionUpdated(e vecql.OnFunctionUpdatedEvent) {
	a.l.OnFunctionUpdated(OnFunctionUpdatedEvent{functionOf(e.Old), functionOf(e.New)})
}

func (a functionListener) OnFunctionDropped(e vecql.OnFunctionDroppedEvent) {
	a.l.OnFunctionDropped(OnFunctionDroppedEvent{functionOf(e.Function)})
}

type aggregateListener struct{ l AggregateChangeListener }

func (a aggregateListener) OnAggregateCreated(e vecql.OnAggregateCreatedEvent) {
	a.l.OnAggregateCreated(OnAggregateCreatedEvent{aggregateOf(e.Aggregate)})
}

func (a aggregateListener) OnAggregateUpdated(e vecql.OnAggregateUpdatedEvent) {
	a.l.OnAggregateUpdated(OnAggregateUpdatedEvent{aggregateOf(e.Old), aggregateOf(e.New)})
}

func (a aggregateListener) OnAggregateDropped(e vecql.OnAggregateDroppedEvent) {
	a.l.OnAggregateDropped(OnAggregateDroppedEvent{aggregateOf(e.Aggregate)})
}
