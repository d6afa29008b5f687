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

// OnSessionReady implements SessionReadyListener.
func (mux SessionReadyListenersMux) OnSessionReady(session *Session) {
	for _, l := range mux.SessionReady {
		l.OnSessionReady(session)
	}
}

// OnHostUp implements HostStatusChangeListener.
func (mux HostListenersMux) OnHostUp(event HostUpEvent) {
	for _, l := range mux.HostStateChangeListeners {
		l.OnHostUp(event)
	}
}

// OnHostDown implements HostStatusChangeListener.
func (mux HostListenersMux) OnHostDown(event HostDownEvent) {
	for _, l := range mux.HostStateChangeListeners {
		l.OnHostDown(event)
	}
}

// OnNewHost implements TopologyChangeListener.
func (mux HostListenersMux) OnNewHost(event NewHostEvent) {
	for _, l := range mux.TopologyChangeListeners {
		l.OnNewHost(event)
	}
}

// OnRemovedHost implements TopologyChangeListener.
func (mux HostListenersMux) OnRemovedHost(event RemovedHostEvent) {
	for _, l := range mux.TopologyChangeListeners {
		l.OnRemovedHost(event)
	}
}

// OnKeyspaceCreated implements KeyspaceChangeListener.
func (mux SchemaListenersMux) OnKeyspaceCreated(event OnKeyspaceCreatedEvent) {
	for _, l := range mux.Keyspaces {
		l.OnKeyspaceCreated(event)
	}
}

// OnKeyspaceUpdated implements KeyspaceChangeListener.
func (mux SchemaListenersMux) OnKeyspaceUpdated(event OnKeyspaceUpdatedEvent) {
	for _, l := range mux.Keyspaces {
		l.OnKeyspaceUpdated(event)
	}
}

// OnKeyspaceDropped implements KeyspaceChangeListener.
func (mux SchemaListenersMux) OnKeyspaceDropped(event OnKeyspaceDroppedEvent) {
	for _, l := range mux.Keyspaces {
		l.OnKeyspaceDropped(event)
	}
}

// OnTableCreated implements TableChangeListener.
func (mux SchemaListenersMux) OnTableCreated(event OnTableCreatedEvent) {
	for _, l := range mux.Tables {
		l.OnTableCreated(event)
	}
}

// OnTableUpdated implements TableChangeListener.
func (mux SchemaListenersMux) OnTableUpdated(event OnTableUpdatedEvent) {
	for _, l := range mux.Tables {
		l.OnTableUpdated(event)
	}
}

// OnTableDropped implements TableChangeListener.
func (mux SchemaListenersMux) OnTableDropped(event OnTableDroppedEvent) {
	for _, l := range mux.Tables {
		l.OnTableDropped(event)
	}
}

// OnUserTypeCreated implements UserTypeChangeListener.
func (mux SchemaListenersMux) OnUserTypeCreated(event OnUserTypeCreatedEvent) {
	for _, l := range mux.UserTypes {
		l.OnUserTypeCreated(event)
	}
}

// OnUserTypeUpdated implements UserTypeChangeListener.
func (mux SchemaListenersMux) OnUserTypeUpdated(event OnUserTypeUpdatedEvent) {
	for _, l := range mux.UserTypes {
		l.OnUserTypeUpdated(event)
	}
}

// OnUserTypeDropped implements UserTypeChangeListener.
func (mux SchemaListenersMux) OnUserTypeDropped(event OnUserTypeDroppedEvent) {
	for _, l := range mux.UserTypes {
		l.OnUserTypeDropped(event)
	}
}

// OnFunctionCreated implements FunctionChangeListener.
func (mux SchemaListenersMux) OnFunctionCreated(event OnFunctionCreatedEvent) {
	for _, l := range mux.Functions {
		l.OnFunctionCreated(event)
	}
}

// OnFunctionUpdated implements FunctionChangeListener.
func (mux SchemaListenersMux) OnFunctionUpdated(event OnFunctionUpdatedEvent) {
	for _, l := range mux.Functions {
		l.OnFunctionUpdated(event)
	}
}

// OnFunctionDropped implements FunctionChangeListener.
func (mux SchemaListenersMux) OnFunctionDropped(event OnFunctionDroppedEvent) {
	for _, l := range mux.Functions {
		l.OnFunctionDropped(event)
	}
}

// OnAggregateCreated implements AggregateChangeListener.
func (mux SchemaListenersMux) OnAggregateCreated(event OnAggregateCreatedEvent) {
	for _, l := range mux.Aggregates {
		l.OnAggregateCreated(event)
	}
}

// OnAggregateUpdated implements AggregateChangeListener.
func (mux SchemaListenersMux) OnAggregateUpdated(event OnAggregateUpdatedEvent) {
	for _, l := range mux.Aggregates {
		l.OnAggregateUpdated(event)
	}
}

// OnAggregateDropped implements AggregateChangeListener.
func (mux SchemaListenersMux) OnAggregateDropped(event OnAggregateDroppedEvent) {
	for _, l := range mux.Aggregates {
		l.OnAggregateDropped(event)
	}
}
