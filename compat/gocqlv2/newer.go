// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

//compat:copy scyllagocql

// What v2 and the fork declare alike, and v1.7 otherwise or not.

type (
	// A Consistency is the number of replicas that must respond before a request succeeds.
	Consistency = cql.Consistency
	// SerialConsistency is the consistency of the Paxos phase of a conditional statement: Serial or LocalSerial.
	SerialConsistency = Consistency
)

// The consistency levels.
const (
	Any         = cql.Any
	One         = cql.One
	Two         = cql.Two
	Three       = cql.Three
	Quorum      = cql.Quorum
	All         = cql.All
	LocalQuorum = cql.LocalQuorum
	EachQuorum  = cql.EachQuorum
	Serial      = cql.Serial
	LocalSerial = cql.LocalSerial
	LocalOne    = cql.LocalOne
)

// ParseConsistency returns the level named s, in any case. It panics if there is none.
func ParseConsistency(s string) Consistency { return api.Must(ParseConsistencyWrapper(s)) }

// ParseConsistencyWrapper returns the level named s, in any case.
func ParseConsistencyWrapper(s string) (consistency Consistency, err error) {
	return cql.ParseConsistency(s)
}

// DataCenterHostFilter accepts the nodes of a data center.
func DataCenterHostFilter(dataCenter string) HostFilter {
	return api.FilterDataCenter[*HostInfo](dataCenter)
}

// DataCentreHostFilter is DataCenterHostFilter.
//
// Deprecated: use DataCenterHostFilter.
func DataCentreHostFilter(dataCenter string) HostFilter { return DataCenterHostFilter(dataCenter) }

// NewBatch returns an empty batch.
//
// Deprecated: use Batch.
func (s *Session) NewBatch(typ BatchType) *Batch { return s.Batch(typ) }

// Query adds a statement.
func (b *Batch) Query(stmt string, args ...any) *Batch {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, Args: args})
	return b
}

// SetHostID sends the query only to the node with that HostInfo.HostID.
func (q *Query) SetHostID(hostID string) *Query { api.SetHost(q, hostID); return q }

// GetHostID returns the host id set by SetHostID.
func (q *Query) GetHostID() string { return api.HostOf(q) }

// SetKeyspace sets the keyspace of the query (protocol v5).
func (q *Query) SetKeyspace(keyspace string) *Query { api.SetKeyspace(q, keyspace); return q }

// WithNowInSeconds sets the time that the server assumes, in seconds since the epoch (protocol v5).
func (q *Query) WithNowInSeconds(now int) *Query { api.SetNow(q, now); return q }
