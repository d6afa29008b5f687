// SPDX-License-Identifier: Apache-2.0

package vecql

import "github.com/vecql/vecql/cql"

// Changes of nodes and of the schema, as functions of the program receive them. session_notify.go calls the functions.

// A NodeChange is a change of a node. See ClusterConfig.OnNodeChange.
type NodeChange struct {
	Kind NodeChangeKind
	Host *cql.Host
}

// A NodeChangeKind is the kind of a [NodeChange].
type NodeChangeKind uint8

// The kinds of changes. A node is up if the session has a connection to it; the state that servers report does not
// count. Nodes are identified by host id; a change of address is not reported.
const (
	NodeAdded   NodeChangeKind = iota // has joined the cluster since the start of the session, which has no connection yet
	NodeUp                            // the session has a connection to the node
	NodeDown                          // the session has no connection to the node
	NodeRemoved                       // has left the cluster; NodeDown precedes if the node was up
)

// String returns "added", "up", "down" or "removed".
func (k NodeChangeKind) String() string {
	switch k {
	case NodeAdded:
		return "added"
	case NodeUp:
		return "up"
	case NodeDown:
		return "down"
	default:
		return "removed"
	}
}

// A SchemaChange is a change of one object of the schema: of a keyspace itself, a table with its columns, options and
// indexes, a type, a function or an aggregate. See ClusterConfig.OnSchemaChange.
type SchemaChange struct {
	// Old and New are the metadata before and after the change: both a *cql.KeyspaceMetadata, *cql.TableMetadata,
	// *cql.UserTypeMetadata, *cql.FunctionMetadata or *cql.AggregateMetadata. Old is nil if the object was created, New
	// if it was dropped.
	Old, New any
}
