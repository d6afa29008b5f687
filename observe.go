// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"time"

	"github.com/vecql/vecql/cql"
)

// Observers of attempts and connections, and changes that a program follows. An observer runs on the goroutine that
// made the request, which for a page requested ahead is a goroutine of its own; a ConnectObserver runs on the goroutine
// that dialed. No observer runs on the reader of a connection or under a lock of the driver. So a slow observer delays
// its own request only, and any observer may use the session. A panic in an observer is logged and has no other effect.

// An Observer is called after each attempt of a query or batch with the context of the request. Each page of a result
// is one request. The attempts of a PREPARE that failed are reported too, to each request that waited for it. Attempts
// of speculative executions are reported together when the request is complete, except those still in flight.
type Observer func(ctx context.Context, a ObservedAttempt)

// An ObservedAttempt is one attempt of a query or batch.
type ObservedAttempt struct {
	Request    any    // the *Query or *Batch: a copy as executed
	Keyspace   string // of the request or the session
	Statements []string
	// Values are the values of each statement as bound, not copied; nil for values from a struct, from rows or of a
	// binding function.
	Values     [][]any
	Start, End time.Time
	Rows       int // in the page
	Host       *cql.Host
	Metrics    HostMetrics // of the attempts on Host
	Err        error       // nil means success
	Attempt    int         // from 0
}

// HostMetrics are the totals of the attempts of one request on one node.
type HostMetrics struct {
	Attempts     int
	TotalLatency time.Duration
}

// An ObservedConnect is one attempt to open a connection: dialing, TLS, STARTUP, authentication, and the verification
// of the peer.
type ObservedConnect struct {
	Host  *cql.Host // for a node not known yet it has the address only
	Start time.Time
	End   time.Time
	Err   error
}

// A Tracer receives the tracing id, 16 bytes, of each traced request, on the goroutine that made the request. It may
// keep the slice.
type Tracer interface {
	Trace(traceID []byte)
}

// Changes of nodes and of the schema, as functions of the program receive them. cluster_notify.go calls the functions.

// A NodeChange is a change of a node. See ClusterConfig.Nodes.OnChange.
type NodeChange struct {
	Kind NodeChangeKind
	Host *cql.Host
}

// A NodeChangeKind is the kind of a [NodeChange].
type NodeChangeKind uint8

// The kinds of changes. A node is up if the session has a connection to it; the state that servers report does not
// count. Nodes are identified by host id: a change of address is not reported, and a node that gets another host id is
// removed and added.
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
// indexes, a type, a function or an aggregate. See ClusterConfig.Schema.OnChange.
type SchemaChange struct {
	// Old and New are the metadata before and after the change: both a *cql.KeyspaceMetadata, *cql.TableMetadata,
	// *cql.UserTypeMetadata, *cql.FunctionMetadata or *cql.AggregateMetadata. Old is nil if the object was created, New
	// if it was dropped.
	Old, New any
}
