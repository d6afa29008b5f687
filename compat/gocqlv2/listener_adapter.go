// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Adapters of the listeners of a program to vecql. Nodes and metadata are converted for each event.

// adaptMetadata sets the cache mode, and the functions that call the listeners. A policy of the program receives a
// change before its listeners.
func (s *Session) adaptMetadata(c *vecql.ClusterConfig) {
	m := &s.cfg.Metadata
	c.Schema.Metadata = vecql.MetadataMode(m.CacheMode)
	if s.picker != nil || m.HostListener != (HostListenersConfig{}) {
		c.Nodes.OnChange = func(change vecql.NodeChange) {
			if s.picker != nil {
				s.picker.NodeChanged(change)
			}
			m.HostListener.call(change.Kind, s.hosts.Of(change.Host))
		}
	}
	if m.SchemaListener != (SchemaListenersConfig{}) || s.picker != nil && m.CacheMode != Disabled {
		c.Schema.OnChange = func(change vecql.SchemaChange) {
			if s.picker != nil {
				s.picker.SchemaChanged(change)
			}
			m.SchemaListener.call(change)
		}
	}
}

// call calls the listener of a change of a node.
func (l *HostListenersConfig) call(kind vecql.NodeChangeKind, host *HostInfo) {
	status, topology := l.HostStateChangeListener, l.TopologyChangeListener
	switch {
	case kind == vecql.NodeUp && status != nil:
		status.OnHostUp(HostUpEvent{host})
	case kind == vecql.NodeDown && status != nil:
		status.OnHostDown(HostDownEvent{host})
	case kind == vecql.NodeAdded && topology != nil:
		topology.OnNewHost(NewHostEvent{host})
	case kind == vecql.NodeRemoved && topology != nil:
		topology.OnRemovedHost(RemovedHostEvent{host})
	}
}

// inKeyspaces reports whether there is a listener for objects of keyspaces.
func (l SchemaListenersConfig) inKeyspaces() bool {
	l.KeyspaceChangeListener = nil
	return l != SchemaListenersConfig{}
}

// call calls the listener of a change of the schema.
func (l *SchemaListenersConfig) call(c vecql.SchemaChange) {
	object := c.New
	if object == nil {
		object = c.Old
	}
	switch object.(type) {
	case *cql.KeyspaceMetadata:
		if l := l.KeyspaceChangeListener; l != nil {
			notify(c, keyspaceOf, func(k *KeyspaceMetadata) { l.OnKeyspaceCreated(OnKeyspaceCreatedEvent{k}) },
				func(old, k *KeyspaceMetadata) { l.OnKeyspaceUpdated(OnKeyspaceUpdatedEvent{old, k}) },
				func(k *KeyspaceMetadata) { l.OnKeyspaceDropped(OnKeyspaceDroppedEvent{k}) })
		}
	case *cql.TableMetadata:
		if l := l.TableChangeListener; l != nil {
			notify(c, tableOf, func(t *TableMetadata) { l.OnTableCreated(OnTableCreatedEvent{t}) },
				func(old, t *TableMetadata) { l.OnTableUpdated(OnTableUpdatedEvent{old, t}) },
				func(t *TableMetadata) { l.OnTableDropped(OnTableDroppedEvent{t}) })
		}
	case *cql.UserTypeMetadata:
		if l := l.UserTypeChangeListener; l != nil {
			notify(c, userTypeOf, func(u *UserTypeMetadata) { l.OnUserTypeCreated(OnUserTypeCreatedEvent{u}) },
				func(old, u *UserTypeMetadata) { l.OnUserTypeUpdated(OnUserTypeUpdatedEvent{old, u}) },
				func(u *UserTypeMetadata) { l.OnUserTypeDropped(OnUserTypeDroppedEvent{u}) })
		}
	case *cql.FunctionMetadata:
		if l := l.FunctionChangeListener; l != nil {
			notify(c, functionOf, func(f *FunctionMetadata) { l.OnFunctionCreated(OnFunctionCreatedEvent{f}) },
				func(old, f *FunctionMetadata) { l.OnFunctionUpdated(OnFunctionUpdatedEvent{old, f}) },
				func(f *FunctionMetadata) { l.OnFunctionDropped(OnFunctionDroppedEvent{f}) })
		}
	case *cql.AggregateMetadata:
		if l := l.AggregateChangeListener; l != nil {
			notify(c, aggregateOf, func(a *AggregateMetadata) { l.OnAggregateCreated(OnAggregateCreatedEvent{a}) },
				func(old, a *AggregateMetadata) { l.OnAggregateUpdated(OnAggregateUpdatedEvent{old, a}) },
				func(a *AggregateMetadata) { l.OnAggregateDropped(OnAggregateDroppedEvent{a}) })
		}
	}
}

// notify calls one of the functions with the metadata of an object before and after a change.
func notify[V, T any](
	c vecql.SchemaChange, convert func(*V) *T, created func(*T), updated func(old, now *T), dropped func(*T),
) {
	old, _ := c.Old.(*V)
	now, _ := c.New.(*V)
	switch {
	case old == nil:
		created(convert(now))
	case now == nil:
		dropped(convert(old))
	default:
		updated(convert(old), convert(now))
	}
}
