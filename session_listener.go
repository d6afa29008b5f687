// SPDX-License-Identifier: Apache-2.0

package vecql

// This file names those who may be told of changes in the cluster; session_notify.go tells them.

// MetadataConfig says how much of the schema a session keeps and who is told of changes. Its zero value keeps what was asked for, and tells
// nobody.
//
// Listeners are called on one goroutine of the session, one call after the other, in the order in which things happened. They may take
// their time, call the session, and close it; a panic in one is logged. While a listener is busy changes are not queued but summed up: it
// is told of the differences since it was told last, so that a node that went down and came up meanwhile, or a table that was created and
// dropped, is not mentioned at all. No listener is called after Close has returned, but one that was running then may still be.
type MetadataConfig struct {
	// CacheMode says how much of the schema is kept. Default Full.
	CacheMode MetadataCacheMode
	// HostListener is told of nodes. Default none.
	HostListener HostListenersConfig
	// SchemaListener is told of the schema. With it the session reads the whole schema at its start and again, in parts, after changes;
	// CacheMode must not be Disabled, and with KeyspaceOnly there may be a KeyspaceChangeListener only. Default none.
	SchemaListener SchemaListenersConfig
	// SessionReadyListener is told once that the session may be used, before any other listener is called. Default none.
	SessionReadyListener SessionReadyListener
}

// HostListenersConfig names the listeners for nodes; each may be nil.
type HostListenersConfig struct {
	HostStateChangeListener HostStatusChangeListener
	TopologyChangeListener  TopologyChangeListener
}

// SchemaListenersConfig names the listeners for the schema; each may be nil. What is in a keyspace that was created or dropped is told of,
// too: created after the keyspace, dropped before it.
type SchemaListenersConfig struct {
	KeyspaceChangeListener  KeyspaceChangeListener
	TableChangeListener     TableChangeListener
	UserTypeChangeListener  UserTypeChangeListener
	FunctionChangeListener  FunctionChangeListener
	AggregateChangeListener AggregateChangeListener
}

// inKeyspaces reports whether somebody listens to what is in keyspaces.
func (c SchemaListenersConfig) inKeyspaces() bool {
	return c.TableChangeListener != nil || c.UserTypeChangeListener != nil || c.FunctionChangeListener != nil || c.AggregateChangeListener != nil
}

// any reports whether there is a listener.
func (c SchemaListenersConfig) any() bool { return c.KeyspaceChangeListener != nil || c.inKeyspaces() }

// SessionReadyListener is told that a session may be used. NewSession may not have returned yet.
type SessionReadyListener interface {
	OnSessionReady(session *Session)
}

// HostStatusChangeListener is told whether the session reaches a node: up is a node with a connection, down one without. What the server
// says of a node's state is not told. Nodes known at the start are taken to be up; of those that could not be reached OnHostDown tells.
type HostStatusChangeListener interface {
	OnHostUp(event HostUpEvent)
	OnHostDown(event HostDownEvent)
}

// TopologyChangeListener is told of nodes that joined or left the cluster since the session began. A node is who has its host id: that its
// address changes is not told.
type TopologyChangeListener interface {
	OnNewHost(event NewHostEvent)
	OnRemovedHost(event RemovedHostEvent)
}

// HostUpEvent says that a node is connected.
type HostUpEvent struct{ Host *HostInfo }

// HostDownEvent says that a node has no connection any more.
type HostDownEvent struct{ Host *HostInfo }

// NewHostEvent says that a node is new. It is not connected yet.
type NewHostEvent struct{ Host *HostInfo }

// RemovedHostEvent says that a node has left. OnHostDown has told before that it is down.
type RemovedHostEvent struct{ Host *HostInfo }

// KeyspaceChangeListener is told of keyspaces.
type KeyspaceChangeListener interface {
	OnKeyspaceCreated(event OnKeyspaceCreatedEvent)
	OnKeyspaceUpdated(event OnKeyspaceUpdatedEvent)
	OnKeyspaceDropped(event OnKeyspaceDroppedEvent)
}

// TableChangeListener is told of tables: of their columns, options and indexes.
type TableChangeListener interface {
	OnTableCreated(event OnTableCreatedEvent)
	OnTableUpdated(event OnTableUpdatedEvent)
	OnTableDropped(event OnTableDroppedEvent)
}

// UserTypeChangeListener is told of user-defined types.
type UserTypeChangeListener interface {
	OnUserTypeCreated(event OnUserTypeCreatedEvent)
	OnUserTypeUpdated(event OnUserTypeUpdatedEvent)
	OnUserTypeDropped(event OnUserTypeDroppedEvent)
}

// FunctionChangeListener is told of user-defined functions.
type FunctionChangeListener interface {
	OnFunctionCreated(event OnFunctionCreatedEvent)
	OnFunctionUpdated(event OnFunctionUpdatedEvent)
	OnFunctionDropped(event OnFunctionDroppedEvent)
}

// AggregateChangeListener is told of user-defined aggregates.
type AggregateChangeListener interface {
	OnAggregateCreated(event OnAggregateCreatedEvent)
	OnAggregateUpdated(event OnAggregateUpdatedEvent)
	OnAggregateDropped(event OnAggregateDroppedEvent)
}

// OnKeyspaceCreatedEvent says that there is a keyspace now.
type OnKeyspaceCreatedEvent struct{ Keyspace *KeyspaceMetadata }

// OnKeyspaceUpdatedEvent says that a keyspace's replication or durability has changed.
type OnKeyspaceUpdatedEvent struct{ Old, New *KeyspaceMetadata }

// OnKeyspaceDroppedEvent says that a keyspace is gone.
type OnKeyspaceDroppedEvent struct{ Keyspace *KeyspaceMetadata }

// OnTableCreatedEvent says that there is a table now.
type OnTableCreatedEvent struct{ Table *TableMetadata }

// OnTableUpdatedEvent says that a table has changed.
type OnTableUpdatedEvent struct{ Old, New *TableMetadata }

// OnTableDroppedEvent says that a table is gone.
type OnTableDroppedEvent struct{ Table *TableMetadata }

// OnUserTypeCreatedEvent says that there is a type now.
type OnUserTypeCreatedEvent struct{ UserType *UserTypeMetadata }

// OnUserTypeUpdatedEvent says that a type has changed.
type OnUserTypeUpdatedEvent struct{ Old, New *UserTypeMetadata }

// OnUserTypeDroppedEvent says that a type is gone.
type OnUserTypeDroppedEvent struct{ UserType *UserTypeMetadata }

// OnFunctionCreatedEvent says that there is a function now.
type OnFunctionCreatedEvent struct{ Function *FunctionMetadata }

// OnFunctionUpdatedEvent says that a function has changed.
type OnFunctionUpdatedEvent struct{ Old, New *FunctionMetadata }

// OnFunctionDroppedEvent says that a function is gone.
type OnFunctionDroppedEvent struct{ Function *FunctionMetadata }

// OnAggregateCreatedEvent says that there is an aggregate now.
type OnAggregateCreatedEvent struct{ Aggregate *AggregateMetadata }

// OnAggregateUpdatedEvent says that an aggregate has changed.
type OnAggregateUpdatedEvent struct{ Old, New *AggregateMetadata }

// OnAggregateDroppedEvent says that an aggregate is gone.
type OnAggregateDroppedEvent struct{ Aggregate *AggregateMetadata }

// HostListenersMux hands each event to several listeners, in their order. It may stand for both listeners of HostListenersConfig.
type HostListenersMux struct {
	HostStateChangeListeners []HostStatusChangeListener
	TopologyChangeListeners  []TopologyChangeListener
}

// SchemaListenersMux hands each event to several listeners, in their order. It may stand for every listener of SchemaListenersConfig.
type SchemaListenersMux struct {
	Keyspaces  []KeyspaceChangeListener
	Tables     []TableChangeListener
	UserTypes  []UserTypeChangeListener
	Functions  []FunctionChangeListener
	Aggregates []AggregateChangeListener
}

// SessionReadyListenersMux hands the event to several listeners, in their order.
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
