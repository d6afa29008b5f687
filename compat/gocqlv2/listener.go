// SPDX-License-Identifier: Apache-2.0

package gocql

// Listeners for changes of nodes and schema. listener_adapter.go calls them.

// A SessionReadyListener is called when a session is ready.
type SessionReadyListener interface {
	OnSessionReady(*Session)
}

// A TopologyChangeListener is called when a node has joined or left the cluster.
type TopologyChangeListener interface {
	OnNewHost(event NewHostEvent)
	OnRemovedHost(event RemovedHostEvent)
}

// A HostStatusChangeListener is called when a node goes up or down.
type HostStatusChangeListener interface {
	OnHostUp(event HostUpEvent)
	OnHostDown(event HostDownEvent)
}

// The events of nodes.
type (
	// NewHostEvent means that a node has joined the cluster.
	NewHostEvent struct{ Host *HostInfo }
	// RemovedHostEvent means that a node has left the cluster.
	RemovedHostEvent struct{ Host *HostInfo }
	// HostUpEvent means that the session has a connection to the node.
	HostUpEvent struct{ Host *HostInfo }
	// HostDownEvent means that the session has no connection to the node.
	HostDownEvent struct{ Host *HostInfo }
)

// A KeyspaceChangeListener is called after changes of keyspaces.
type KeyspaceChangeListener interface {
	OnKeyspaceCreated(event OnKeyspaceCreatedEvent)
	OnKeyspaceUpdated(event OnKeyspaceUpdatedEvent)
	OnKeyspaceDropped(event OnKeyspaceDroppedEvent)
}

// A TableChangeListener is called after changes of tables.
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

// A FunctionChangeListener is called after changes of functions.
type FunctionChangeListener interface {
	OnFunctionCreated(event OnFunctionCreatedEvent)
	OnFunctionUpdated(event OnFunctionUpdatedEvent)
	OnFunctionDropped(event OnFunctionDroppedEvent)
}

// An AggregateChangeListener is called after changes of aggregates.
type AggregateChangeListener interface {
	OnAggregateCreated(event OnAggregateCreatedEvent)
	OnAggregateUpdated(event OnAggregateUpdatedEvent)
	OnAggregateDropped(event OnAggregateDroppedEvent)
}

// The events of the schema.
type (
	// OnKeyspaceCreatedEvent means that a keyspace was created.
	OnKeyspaceCreatedEvent struct{ Keyspace *KeyspaceMetadata }
	// OnKeyspaceUpdatedEvent means that a keyspace was altered.
	OnKeyspaceUpdatedEvent struct{ Old, New *KeyspaceMetadata }
	// OnKeyspaceDroppedEvent means that a keyspace was dropped.
	OnKeyspaceDroppedEvent struct{ Keyspace *KeyspaceMetadata }
	// OnTableCreatedEvent means that a table was created.
	OnTableCreatedEvent struct{ Table *TableMetadata }
	// OnTableUpdatedEvent means that a table was altered.
	OnTableUpdatedEvent struct{ Old, New *TableMetadata }
	// OnTableDroppedEvent means that a table was dropped.
	OnTableDroppedEvent struct{ Table *TableMetadata }
	// OnUserTypeCreatedEvent means that a user-defined type was created.
	OnUserTypeCreatedEvent struct{ UserType *UserTypeMetadata }
	// OnUserTypeUpdatedEvent means that a user-defined type was altered.
	OnUserTypeUpdatedEvent struct{ Old, New *UserTypeMetadata }
	// OnUserTypeDroppedEvent means that a user-defined type was dropped.
	OnUserTypeDroppedEvent struct{ UserType *UserTypeMetadata }
	// OnFunctionCreatedEvent means that a function was created.
	OnFunctionCreatedEvent struct{ Function *FunctionMetadata }
	// OnFunctionUpdatedEvent means that a function was altered.
	OnFunctionUpdatedEvent struct{ Old, New *FunctionMetadata }
	// OnFunctionDroppedEvent means that a function was dropped.
	OnFunctionDroppedEvent struct{ Function *FunctionMetadata }
	// OnAggregateCreatedEvent means that an aggregate was created.
	OnAggregateCreatedEvent struct{ Aggregate *AggregateMetadata }
	// OnAggregateUpdatedEvent means that an aggregate was altered.
	OnAggregateUpdatedEvent struct{ Old, New *AggregateMetadata }
	// OnAggregateDroppedEvent means that an aggregate was dropped.
	OnAggregateDroppedEvent struct{ Aggregate *AggregateMetadata }
)
