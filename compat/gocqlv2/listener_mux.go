// SPDX-License-Identifier: Apache-2.0

package gocql

// Listeners that pass each event to several listeners, in order.

// A HostListenersMux passes events of nodes to several listeners.
type HostListenersMux struct {
	HostStateChangeListeners []HostStatusChangeListener
	TopologyChangeListeners  []TopologyChangeListener
}

// A SchemaListenersMux passes events of the schema to several listeners.
type SchemaListenersMux struct {
	Keyspaces  []KeyspaceChangeListener
	Tables     []TableChangeListener
	UserTypes  []UserTypeChangeListener
	Functions  []FunctionChangeListener
	Aggregates []AggregateChangeListener
}

// A SessionReadyListenersMux passes the event to several listeners.
type SessionReadyListenersMux struct {
	SessionReady []SessionReadyListener
}

// each calls a method of each listener with an event.
func each[L, E any](listeners []L, method func(L, E), event E) {
	for _, l := range listeners {
		method(l, event)
	}
}

// OnSessionReady implements SessionReadyListener.
func (mux SessionReadyListenersMux) OnSessionReady(session *Session) {
	each(mux.SessionReady, SessionReadyListener.OnSessionReady, session)
}

// OnHostUp implements HostStatusChangeListener.
func (mux HostListenersMux) OnHostUp(event HostUpEvent) {
	each(mux.HostStateChangeListeners, HostStatusChangeListener.OnHostUp, event)
}

// OnHostDown implements HostStatusChangeListener.
func (mux HostListenersMux) OnHostDown(event HostDownEvent) {
	each(mux.HostStateChangeListeners, HostStatusChangeListener.OnHostDown, event)
}

// OnNewHost implements TopologyChangeListener.
func (mux HostListenersMux) OnNewHost(event NewHostEvent) {
	each(mux.TopologyChangeListeners, TopologyChangeListener.OnNewHost, event)
}

// OnRemovedHost implements TopologyChangeListener.
func (mux HostListenersMux) OnRemovedHost(event RemovedHostEvent) {
	each(mux.TopologyChangeListeners, TopologyChangeListener.OnRemovedHost, event)
}

// OnKeyspaceCreated implements KeyspaceChangeListener.
func (mux SchemaListenersMux) OnKeyspaceCreated(event OnKeyspaceCreatedEvent) {
	each(mux.Keyspaces, KeyspaceChangeListener.OnKeyspaceCreated, event)
}

// OnKeyspaceUpdated implements KeyspaceChangeListener.
func (mux SchemaListenersMux) OnKeyspaceUpdated(event OnKeyspaceUpdatedEvent) {
	each(mux.Keyspaces, KeyspaceChangeListener.OnKeyspaceUpdated, event)
}

// OnKeyspaceDropped implements KeyspaceChangeListener.
func (mux SchemaListenersMux) OnKeyspaceDropped(event OnKeyspaceDroppedEvent) {
	each(mux.Keyspaces, KeyspaceChangeListener.OnKeyspaceDropped, event)
}

// OnTableCreated implements TableChangeListener.
func (mux SchemaListenersMux) OnTableCreated(event OnTableCreatedEvent) {
	each(mux.Tables, TableChangeListener.OnTableCreated, event)
}

// OnTableUpdated implements TableChangeListener.
func (mux SchemaListenersMux) OnTableUpdated(event OnTableUpdatedEvent) {
	each(mux.Tables, TableChangeListener.OnTableUpdated, event)
}

// OnTableDropped implements TableChangeListener.
func (mux SchemaListenersMux) OnTableDropped(event OnTableDroppedEvent) {
	each(mux.Tables, TableChangeListener.OnTableDropped, event)
}

// OnUserTypeCreated implements UserTypeChangeListener.
func (mux SchemaListenersMux) OnUserTypeCreated(event OnUserTypeCreatedEvent) {
	each(mux.UserTypes, UserTypeChangeListener.OnUserTypeCreated, event)
}

// OnUserTypeUpdated implements UserTypeChangeListener.
func (mux SchemaListenersMux) OnUserTypeUpdated(event OnUserTypeUpdatedEvent) {
	each(mux.UserTypes, UserTypeChangeListener.OnUserTypeUpdated, event)
}

// OnUserTypeDropped implements UserTypeChangeListener.
func (mux SchemaListenersMux) OnUserTypeDropped(event OnUserTypeDroppedEvent) {
	each(mux.UserTypes, UserTypeChangeListener.OnUserTypeDropped, event)
}

// OnFunctionCreated implements FunctionChangeListener.
func (mux SchemaListenersMux) OnFunctionCreated(event OnFunctionCreatedEvent) {
	each(mux.Functions, FunctionChangeListener.OnFunctionCreated, event)
}

// OnFunctionUpdated implements FunctionChangeListener.
func (mux SchemaListenersMux) OnFunctionUpdated(event OnFunctionUpdatedEvent) {
	each(mux.Functions, FunctionChangeListener.OnFunctionUpdated, event)
}

// OnFunctionDropped implements FunctionChangeListener.
func (mux SchemaListenersMux) OnFunctionDropped(event OnFunctionDroppedEvent) {
	each(mux.Functions, FunctionChangeListener.OnFunctionDropped, event)
}

// OnAggregateCreated implements AggregateChangeListener.
func (mux SchemaListenersMux) OnAggregateCreated(event OnAggregateCreatedEvent) {
	each(mux.Aggregates, AggregateChangeListener.OnAggregateCreated, event)
}

// OnAggregateUpdated implements AggregateChangeListener.
func (mux SchemaListenersMux) OnAggregateUpdated(event OnAggregateUpdatedEvent) {
	each(mux.Aggregates, AggregateChangeListener.OnAggregateUpdated, event)
}

// OnAggregateDropped implements AggregateChangeListener.
func (mux SchemaListenersMux) OnAggregateDropped(event OnAggregateDroppedEvent) {
	each(mux.Aggregates, AggregateChangeListener.OnAggregateDropped, event)
}
