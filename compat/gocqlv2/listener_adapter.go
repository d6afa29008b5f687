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
		callKeyspace(l.KeyspaceChangeListener, objects(c, keyspaceOf))
	case *cql.TableMetadata:
		callTable(l.TableChangeListener, objects(c, tableOf))
	case *cql.UserTypeMetadata:
		callUserType(l.UserTypeChangeListener, objects(c, userTypeOf))
	case *cql.FunctionMetadata:
		callFunction(l.FunctionChangeListener, objects(c, functionOf))
	case *cql.AggregateMetadata:
		callAggregate(l.AggregateChangeListener, objects(c, aggregateOf))
	}
}

// A change has the metadata of an object before and after it. nil means that the object did not exist.
type change[T any] struct{ old, now *T }

// objects converts the metadata of a change.
func objects[V, T any](c vecql.SchemaChange, convert func(*V) *T) (to change[T]) {
	if old, ok := c.Old.(*V); ok {
		to.old = convert(old)
	}
	if now, ok := c.New.(*V); ok {
		to.now = convert(now)
	}
	return to
}

func callKeyspace(l KeyspaceChangeListener, c change[KeyspaceMetadata]) {
	switch {
	case l == nil:
	case c.old == nil:
		l.OnKeyspaceCreated(OnKeyspaceCreatedEvent{c.now})
	case c.now == nil:
		l.OnKeyspaceDropped(OnKeyspaceDroppedEvent{c.old})
	default:
		l.OnKeyspaceUpdated(OnKeyspaceUpdatedEvent{c.old, c.now})
	}
}

func callTable(l TableChangeListener, c change[TableMetadata]) {
	switch {
	case l == nil:
	case c.old == nil:
		l.OnTableCreated(OnTableCreatedEvent{c.now})
	case c.now == nil:
		l.OnTableDropped(OnTableDroppedEvent{c.old})
	default:
		l.OnTableUpdated(OnTableUpdatedEvent{c.old, c.now})
	}
}

func callUserType(l UserTypeChangeListener, c change[UserTypeMetadata]) {
	switch {
	case l == nil:
	case c.old == nil:
		l.OnUserTypeCreated(OnUserTypeCreatedEvent{c.now})
	case c.now == nil:
		l.OnUserTypeDropped(OnUserTypeDroppedEvent{c.old})
	default:
		l.OnUserTypeUpdated(OnUserTypeUpdatedEvent{c.old, c.now})
	}
}

func callFunction(l FunctionChangeListener, c change[FunctionMetadata]) {
	switch {
	case l == nil:
	case c.old == nil:
		l.OnFunctionCreated(OnFunctionCreatedEvent{c.now})
	case c.now == nil:
		l.OnFunctionDropped(OnFunctionDroppedEvent{c.old})
	default:
		l.OnFunctionUpdated(OnFunctionUpdatedEvent{c.old, c.now})
	}
}

func callAggregate(l AggregateChangeListener, c change[AggregateMetadata]) {
	switch {
	case l == nil:
	case c.old == nil:
		l.OnAggregateCreated(OnAggregateCreatedEvent{c.now})
	case c.now == nil:
		l.OnAggregateDropped(OnAggregateDroppedEvent{c.old})
	default:
		l.OnAggregateUpdated(OnAggregateUpdatedEvent{c.old, c.now})
	}
}
