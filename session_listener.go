// SPDX-License-Identifier: Apache-2.0

package vecql

import "github.com/vecql/vecql/cql"

// Listeners for changes of nodes and schema. session_notify.go calls them.

// A MetadataConfig sets how much of the schema a session caches, and its listeners. The zero value caches each keyspace
// that was requested, and has no listeners.
//
// One goroutine of the session calls all listeners, one at a time, in the order of the changes. A listener may block,
// use the session, and close it; a panic in a listener is logged. While a listener runs, changes are merged, not
// queued: the next call reports the difference to the last reported state. A node that went down and came up in
// between, or a table that was created and dropped, is not reported. No listener is called after Close has returned,
// but a listener that was running then may still run.
type MetadataConfig struct {
	// CacheMode sets how much of the schema the session caches. Default Full.
	CacheMode MetadataCacheMode
	// HostListener are the listeners for nodes. Default none.
	HostListener HostListenersConfig
	// SchemaListener are the listeners for the schema. With one of them the session reads the whole schema at its
	// start, and the changed parts after changes. CacheMode must not be Disabled; with KeyspaceOnly only
	// KeyspaceChangeListener may be set. Default none.
	SchemaListener SchemaListenersConfig
	// SessionReadyListener is called once, before all other listeners, when the session is ready. Default none.
	SessionReadyListener SessionReadyListener
}

// A HostListenersConfig holds the listeners for nodes; nil means none.
type HostListenersConfig struct {
	HostStateChangeListener HostStatusChangeListener
	TopologyChangeListener  TopologyChangeListener
}

// A SchemaListenersConfig holds the listeners for the schema; nil means none. The objects of a created or dropped
// keyspace are reported too: created after the keyspace, dropped before it.
type SchemaListenersConfig struct {
	KeyspaceChangeListener  KeyspaceChangeListener
	TableChangeListener     TableChangeListener
	UserTypeChangeListener  UserTypeChangeListener
	FunctionChangeListener  FunctionChangeListener
	AggregateChangeListener AggregateChangeListener
}

// inKeyspaces reports whether there is a listener for objects of keyspaces.
func (c SchemaListenersConfig) inKeyspaces() bool {
	return c.TableChangeListener != nil || c.UserTypeChangeListener != nil || c.FunctionChangeListener != nil ||
		c.AggregateChangeListener != nil
}

// any reports whether there is a listener.
func (c SchemaListenersConfig) any() bool { return c.KeyspaceChangeListener != nil || c.inKeyspaces() }

// A SessionReadyListener is called when a session is ready. NewSession may not have returned yet.
type SessionReadyListener interface {
	OnSessionReady(session *Session)
}

// A HostStatusChangeListener is called when a node goes up or down. A node is up if the session has a connection to it;
// the state that servers report does not count. Nodes known at the start count as up; OnHostDown is called for those
// that were not reached.
type HostStatusChangeListener interface {
	OnHostUp(event HostUpEvent)
	OnHostDown(event HostDownEvent)
}

// A TopologyChangeListener is called when a node has joined or left the cluster since the start of the session. Nodes
// are identified by host id; a change of address is not reported.
type TopologyChangeListener interface {
	OnNewHost(event NewHostEvent)
	OnRemovedHost(event RemovedHostEvent)
}

// A HostUpEvent means that the session has a connection to the node.
type HostUpEvent struct{ Host *HostInfo }

// A HostDownEvent means that the session has no connection to the node.
type HostDownEvent struct{ Host *HostInfo }

// A NewHostEvent means that a node has joined the cluster. The session has no connection to it yet.
type NewHostEvent struct{ Host *HostInfo }

// A RemovedHostEvent means that a node has left the cluster. OnHostDown precedes it if the node was up.
type RemovedHostEvent struct{ Host *HostInfo }

// A KeyspaceChangeListener is called after changes of keyspaces.
type KeyspaceChangeListener interface {
	OnKeyspaceCreated(event OnKeyspaceCreatedEvent)
	OnKeyspaceUpdated(event OnKeyspaceUpdatedEvent)
	OnKeyspaceDropped(event OnKeyspaceDroppedEvent)
}

// A TableChangeListener is called after changes of tables, their columns, options and indexes.
type TableChangeListener interface {
	OnTableCreated(event OnTableCreatedEvent)
	OnTableUpdated(event OnTableUpdatedEvent)
	OnTableDropped(event OnTableDroppedEvent)
}

// A UserTypeChangeListener is called after changes of user-defined types.
type UserTypeChangeListener interface {
	OnUserTypeCreated(event OnUserTypeCreatedEvent)
	OnUserTypeUpdated(event OnUserTypeUpdatedEvent)
	OnUserTypeDropped(event OnUserTypeDroppedEvent)
}

// A FunctionChangeListener is called after changes of user-defined functions.
type FunctionChangeListener interface {
	OnFunctionCreated(event OnFunctionCreatedEvent)
	OnFunctionUpdated(event OnFunctionUpdatedEvent)
	OnFunctionDropped(event OnFunctionDroppedEvent)
}

// An AggregateChangeListener is called after changes of user-defined aggregates.
type AggregateChangeListener interface {
	OnAggregateCreated(event OnAggregateCreatedEvent)
	OnAggregateUpdated(event OnAggregateUpdatedEvent)
	OnAggregateDropped(event OnAggregateDroppedEvent)
}

// An OnKeyspaceCreatedEvent means that a keyspace was created.
type OnKeyspaceCreatedEvent struct{ Keyspace *cql.KeyspaceMetadata }

// An OnKeyspaceUpdatedEvent means that the replication or durability of a keyspace was altered.
type OnKeyspaceUpdatedEvent struct{ Old, New *cql.KeyspaceMetadata }

// An OnKeyspaceDroppedEvent means that a keyspace was dropped.
type OnKeyspaceDroppedEvent struct{ Keyspace *cql.KeyspaceMetadata }

// An OnTableCreatedEvent means that a table was created.
type OnTableCreatedEvent struct{ Table *cql.TableMetadata }

// An OnTableUpdatedEvent means that a table was altered.
type OnTableUpdatedEvent struct{ Old, New *cql.TableMetadata }

// An OnTableDroppedEvent means that a table was dropped.
type OnTableDroppedEvent struct{ Table *cql.TableMetadata }

// An OnUserTypeCreatedEvent means that a user-defined type was created.
type OnUserTypeCreatedEvent struct{ UserType *cql.UserTypeMetadata }

// An OnUserTypeUpdatedEvent means that a user-defined type was altered.
type OnUserTypeUpdatedEvent struct{ Old, New *cql.UserTypeMetadata }

// An OnUserTypeDroppedEvent means that a user-defined type was dropped.
type OnUserTypeDroppedEvent struct{ UserType *cql.UserTypeMetadata }

// An OnFunctionCreatedEvent means that a function was created.
type OnFunctionCreatedEvent struct{ Function *cql.FunctionMetadata }

// An OnFunctionUpdatedEvent means that a function was altered.
type OnFunctionUpdatedEvent struct{ Old, New *cql.FunctionMetadata }

// An OnFunctionDroppedEvent means that a function was dropped.
type OnFunctionDroppedEvent struct{ Function *cql.FunctionMetadata }

// An OnAggregateCreatedEvent means that an aggregate was created.
type OnAggregateCreatedEvent struct{ Aggregate *cql.AggregateMetadata }

// An OnAggregateUpdatedEvent means that an aggregate was altered.
type OnAggregateUpdatedEvent struct{ Old, New *cql.AggregateMetadata }

// An OnAggregateDroppedEvent means that an aggregate was dropped.
type OnAggregateDroppedEvent struct{ Aggregate *cql.AggregateMetadata }

// A HostListenersMux passes each event to several listeners, in order. It may serve as both listeners of
// HostListenersConfig.
type HostListenersMux struct {
	HostStateChangeListeners []HostStatusChangeListener
	TopologyChangeListeners  []TopologyChangeListener
}

// A SchemaListenersMux passes each event to several listeners, in order. It may serve as every listener of
// SchemaListenersConfig.
type SchemaListenersMux struct {
	Keyspaces  []KeyspaceChangeListener
	Tables     []TableChangeListener
	UserTypes  []UserTypeChangeListener
	Functions  []FunctionChangeListener
	Aggregates []AggregateChangeListener
}

// A SessionReadyListenersMux passes the event to several listeners, in order.
type SessionReadyListenersMux struct {
	SessionReady []SessionReadyListener
}

// OnHostUp implements HostStatusChangeListener.
func (m HostListenersMux) OnHostUp(event HostUpEvent) {
	for _, l := range m.HostStateChangeListeners {
		l.OnHostUp(event)
	}
}

// OnHostDown implements HostStatusChangeListener.
func (m HostListenersMux) OnHostDown(event HostDownEvent) {
	for _, l := range m.HostStateChangeListeners {
		l.OnHostDown(event)
	}
}

// OnNewHost implements TopologyChangeListener.
func (m HostListenersMux) OnNewHost(event NewHostEvent) {
	for _, l := range m.TopologyChangeListeners {
		l.OnNewHost(event)
	}
}

// OnRemovedHost implements TopologyChangeListener.
func (m HostListenersMux) OnRemovedHost(event RemovedHostEvent) {
	for _, l := range m.TopologyChangeListeners {
		l.OnRemovedHost(event)
	}
}

// OnKeyspaceCreated implements KeyspaceChangeListener.
func (m SchemaListenersMux) OnKeyspaceCreated(event OnKeyspaceCreatedEvent) {
	for _, l := range m.Keyspaces {
		l.OnKeyspaceCreated(event)
	}
}

// OnKeyspaceUpdated implements KeyspaceChangeListener.
func (m SchemaListenersMux) OnKeyspaceUpdated(event OnKeyspaceUpdatedEvent) {
	for _, l := range m.Keyspaces {
		l.OnKeyspaceUpdated(event)
	}
}

// OnKeyspaceDropped implements KeyspaceChangeListener.
func (m SchemaListenersMux) OnKeyspaceDropped(event OnKeyspaceDroppedEvent) {
	for _, l := range m.Keyspaces {
		l.OnKeyspaceDropped(event)
	}
}

// OnTableCreated implements TableChangeListener.
func (m SchemaListenersMux) OnTableCreated(event OnTableCreatedEvent) {
	for _, l := range m.Tables {
		l.OnTableCreated(event)
	}
}

// OnTableUpdated implements TableChangeListener.
func (m SchemaListenersMux) OnTableUpdated(event OnTableUpdatedEvent) {
	for _, l := range m.Tables {
		l.OnTableUpdated(event)
	}
}

// OnTableDropped implements TableChangeListener.
func (m SchemaListenersMux) OnTableDropped(event OnTableDroppedEvent) {
	for _, l := range m.Tables {
		l.OnTableDropped(event)
	}
}

// OnUserTypeCreated implements UserTypeChangeListener.
func (m SchemaListenersMux) OnUserTypeCreated(event OnUserTypeCreatedEvent) {
	for _, l := range m.UserTypes {
		l.OnUserTypeCreated(event)
	}
}

// OnUserTypeUpdated implements UserTypeChangeListener.
func (m SchemaListenersMux) OnUserTypeUpdated(event OnUserTypeUpdatedEvent) {
	for _, l := range m.UserTypes {
		l.OnUserTypeUpdated(event)
	}
}

// OnUserTypeDropped implements UserTypeChangeListener.
func (m SchemaListenersMux) OnUserTypeDropped(event OnUserTypeDroppedEvent) {
	for _, l := range m.UserTypes {
		l.OnUserTypeDropped(event)
	}
}

// OnFunctionCreated implements FunctionChangeListener.
func (m SchemaListenersMux) OnFunctionCreated(event OnFunctionCreatedEvent) {
	for _, l := range m.Functions {
		l.OnFunctionCreated(event)
	}
}

// OnFunctionUpdated implements FunctionChangeListener.
func (m SchemaListenersMux) OnFunctionUpdated(event OnFunctionUpdatedEvent) {
	for _, l := range m.Functions {
		l.OnFunctionUpdated(event)
	}
}

// OnFunctionDropped implements FunctionChangeListener.
func (m SchemaListenersMux) OnFunctionDropped(event OnFunctionDroppedEvent) {
	for _, l := range m.Functions {
		l.OnFunctionDropped(event)
	}
}

// OnAggregateCreated implements AggregateChangeListener.
func (m SchemaListenersMux) OnAggregateCreated(event OnAggregateCreatedEvent) {
	for _, l := range m.Aggregates {
		l.OnAggregateCreated(event)
	}
}

// OnAggregateUpdated implements AggregateChangeListener.
func (m SchemaListenersMux) OnAggregateUpdated(event OnAggregateUpdatedEvent) {
	for _, l := range m.Aggregates {
		l.OnAggregateUpdated(event)
	}
}

// OnAggregateDropped implements AggregateChangeListener.
func (m SchemaListenersMux) OnAggregateDropped(event OnAggregateDroppedEvent) {
	for _, l := range m.Aggregates {
		l.OnAggregateDropped(event)
	}
}

// OnSessionReady implements SessionReadyListener.
func (m SessionReadyListenersMux) OnSessionReady(session *Session) {
	for _, l := range m.SessionReady {
		l.OnSessionReady(session)
	}
}
