// SPDX-License-Identifier: Apache-2.0

// Package events has the events of a session.
package events

import (
	"fmt"
	"net"
)

// An Event is a change of the cluster or of a session.
type Event interface {
	Type() EventType
	String() string
}

// An EventType is the type of an event.
type EventType int

// The types of events.
const (
	ClusterEventTypeTopologyChange EventType = iota
	ClusterEventTypeStatusChange
	ClusterEventTypeSchemaChangeKeyspace
	ClusterEventTypeSchemaChangeTable
	ClusterEventTypeSchemaChangeType
	ClusterEventTypeSchemaChangeFunction
	ClusterEventTypeSchemaChangeAggregate
	ClusterEventTypeClientRoutesChanged
	SessionEventTypeControlConnectionRecreated
)

// eventTypes are the names of the types.
var eventTypes = [...]string{
	"CLUSTER<TOPOLOGY_CHANGE>", "CLUSTER<STATUS_CHANGE>", "CLUSTER<SCHEMA_CHANGE_KEYSPACE>",
	"CLUSTER<SCHEMA_CHANGE_TABLE>", "CLUSTER<SCHEMA_CHANGE_TYPE>", "CLUSTER<SCHEMA_CHANGE_FUNCTION>",
	"CLUSTER<SCHEMA_CHANGE_AGGREGATE>", "CLUSTER<CLIENT_ROUTES_CHANGE>", "SESSION<CONTROL_CONNECTION_RECREATED>",
}

// IsClusterEvent reports whether servers send events of the type.
func (t EventType) IsClusterEvent() bool {
	return t >= ClusterEventTypeTopologyChange && t <= ClusterEventTypeClientRoutesChanged
}

// String returns the name of the type.
func (t EventType) String() string {
	if t < 0 || int(t) >= len(eventTypes) {
		return fmt.Sprintf("UNKNOWN(%d)", int(t))
	}
	return eventTypes[t]
}

// FrameToEvent returns nil: the frames that it would convert are not exported.
func FrameToEvent(f any) Event { return nil }

// A TopologyChangeEvent means that a node has come or gone: NEW_NODE or REMOVED_NODE.
type TopologyChangeEvent struct {
	Change string
	Host   net.IP
	Port   int
}

// Type implements Event.
func (e *TopologyChangeEvent) Type() EventType { return ClusterEventTypeTopologyChange }

// String implements Event.
func (e *TopologyChangeEvent) String() string {
	return fmt.Sprintf("TopologyChange{change=%s, host=%s, port=%d}", e.Change, e.Host, e.Port)
}

// A StatusChangeEvent means that a node is UP or DOWN.
type StatusChangeEvent struct {
	Change string
	Host   net.IP
	Port   int
}

// Type implements Event.
func (e *StatusChangeEvent) Type() EventType { return ClusterEventTypeStatusChange }

// String implements Event.
func (e *StatusChangeEvent) String() string {
	return fmt.Sprintf("StatusChange{change=%s, host=%s, port=%d}", e.Change, e.Host, e.Port)
}

// A SchemaChangeKeyspaceEvent means that a keyspace was CREATED, UPDATED or DROPPED.
type SchemaChangeKeyspaceEvent struct {
	Change   string
	Keyspace string
}

// Type implements Event.
func (e *SchemaChangeKeyspaceEvent) Type() EventType { return ClusterEventTypeSchemaChangeKeyspace }

// String implements Event.
func (e *SchemaChangeKeyspaceEvent) String() string {
	return fmt.Sprintf("SchemaChangeKeyspace{change=%s, keyspace=%s}", e.Change, e.Keyspace)
}

// A SchemaChangeTableEvent means that a table was CREATED, UPDATED or DROPPED.
type SchemaChangeTableEvent struct {
	Change   string
	Keyspace string
	Table    string
}

// Type implements Event.
func (e *SchemaChangeTableEvent) Type() EventType { return ClusterEventTypeSchemaChangeTable }

// String implements Event.
func (e *SchemaChangeTableEvent) String() string {
	return fmt.Sprintf("SchemaChangeTable{change=%s, keyspace=%s, table=%s}", e.Change, e.Keyspace, e.Table)
}

// A SchemaChangeTypeEvent means that a user-defined type was CREATED, UPDATED or DROPPED.
type SchemaChangeTypeEvent struct {
	Change   string
	Keyspace string
	TypeName string
}

// Type implements Event.
func (e *SchemaChangeTypeEvent) Type() EventType { return ClusterEventTypeSchemaChangeType }

// String implements Event.
func (e *SchemaChangeTypeEvent) String() string {
	return fmt.Sprintf("SchemaChangeType{change=%s, keyspace=%s, type=%s}", e.Change, e.Keyspace, e.TypeName)
}

// A SchemaChangeFunctionEvent means that a function was CREATED, UPDATED or DROPPED.
type SchemaChangeFunctionEvent struct {
	Change    string
	Keyspace  string
	Function  string
	Arguments []string
}

// Type implements Event.
func (e *SchemaChangeFunctionEvent) Type() EventType { return ClusterEventTypeSchemaChangeFunction }

// String implements Event.
func (e *SchemaChangeFunctionEvent) String() string {
	return fmt.Sprintf("SchemaChangeFunction{change=%s, keyspace=%s, function=%s, args=%v}", e.Change, e.Keyspace,
		e.Function, e.Arguments)
}

// A SchemaChangeAggregateEvent means that an aggregate was CREATED, UPDATED or DROPPED.
type SchemaChangeAggregateEvent struct {
	Change    string
	Keyspace  string
	Aggregate string
	Arguments []string
}

// Type implements Event.
func (e *SchemaChangeAggregateEvent) Type() EventType { return ClusterEventTypeSchemaChangeAggregate }

// String implements Event.
func (e *SchemaChangeAggregateEvent) String() string {
	return fmt.Sprintf("SchemaChangeAggregate{change=%s, keyspace=%s, aggregate=%s, args=%v}", e.Change, e.Keyspace,
		e.Aggregate, e.Arguments)
}

// A ClientRoutesChangedEvent would mean that client routes changed. No session publishes one.
type ClientRoutesChangedEvent struct {
	ChangeType    string
	ConnectionIDs []string
	HostIDs       []string
}

// Type implements Event.
func (e *ClientRoutesChangedEvent) Type() EventType { return ClusterEventTypeClientRoutesChanged }

// String implements Event.
func (e *ClientRoutesChangedEvent) String() string {
	return fmt.Sprintf("ConnectionMetadataChanged{changeType=%s, ConnectionIDs=%s, HostIDs=%s}", e.ChangeType,
		e.ConnectionIDs, e.HostIDs)
}

// A HostInfo is a node.
type HostInfo struct {
	HostID string
	Host   net.IP
	Port   int
}

// String returns the fields.
func (h *HostInfo) String() string {
	return fmt.Sprintf("HostInfo{Host=%s, Port=%d, HostID=%s}", h.Host, h.Port, h.HostID)
}

// A ControlConnectionRecreatedEvent would mean that another node serves the control connection. No session publishes
// one.
type ControlConnectionRecreatedEvent struct {
	OldHost HostInfo
	NewHost HostInfo
}

// Type implements Event.
func (e *ControlConnectionRecreatedEvent) Type() EventType {
	return SessionEventTypeControlConnectionRecreated
}

// String implements Event.
func (e *ControlConnectionRecreatedEvent) String() string {
	return fmt.Sprintf("ControlConnectionRecreatedEvent{OldHost=%s, NewHost=%s}", e.OldHost.String(), e.NewHost.String())
}
