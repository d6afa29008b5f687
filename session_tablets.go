// SPDX-License-Identifier: Apache-2.0

package vecql

import "github.com/vecql/vecql/cql"

// ScyllaDB's tablets as a program sees them.

// A Tablet is a range of tokens of a table, with its replicas.
type Tablet struct {
	FirstToken int64 // not part of the range
	LastToken  int64
	Replicas   []TabletReplica
}

// A TabletReplica is a shard of a node.
type TabletReplica struct {
	HostID string
	Shard  int
}

// Tablets returns the tablets of a table that the session has received, in the order of their tokens. The session
// receives a tablet in the response of a node that is not a replica: the result may lack tablets, or be empty.
func (s *Session) Tablets(keyspace, table string) []Tablet {
	var out []Tablet
	for t := range s.routing.tablets.All(keyspace, table) {
		known := Tablet{FirstToken: t.First, LastToken: t.Last, Replicas: make([]TabletReplica, len(t.Replicas))}
		for i, r := range t.Replicas {
			known.Replicas[i] = TabletReplica{HostID: cql.UUID(r.Host).String(), Shard: int(r.Shard)}
		}
		out = append(out, known)
	}
	return out
}
