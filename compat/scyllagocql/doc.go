// SPDX-License-Identifier: Apache-2.0

// Package gocql is the API of ScyllaDB's fork of gocql, v1.19 (github.com/scylladb/gocql, imported as
// github.com/gocql/gocql), on vecql. A program uses it by one line of its go.mod, with the version of a release, in
// place of the line that names the fork:
//
//	replace github.com/gocql/gocql => github.com/vecql/vecql/compat/scyllagocql VERSION
//
// In a checkout of vecql two lines name the folders, because the replace lines of a dependency have no effect:
//
//	replace github.com/gocql/gocql => ../vecql/compat/scyllagocql
//	replace github.com/vecql/vecql => ../vecql
//
// The program is not changed. [Session.Vecql] returns the session of vecql, so that a program moves to vecql's own
// verbs piece by piece.
//
// # Differences
//
// On purpose:
//   - A request that may have been executed is sent again only if it is idempotent: marked so, or a SELECT. No
//     RetryPolicy changes that.
//   - The certificates of servers are verified, unless SslOptions.Config has InsecureSkipVerify.
//   - A value that was read is never overwritten: each row has memory of its own.
//
// Fields of ClusterConfig without effect: ConvictionPolicy (a node is down when no connection to it takes requests),
// DisableDriverConfigReporting, DriverName and DriverVersion (a server sees vecql's), EventBusConfig,
// MaxExcessShardConnectionsRate, MaxRoutingKeyInfo (the cache of prepared statements has the routing keys),
// MetadataSchemaRequestTimeout, ReadTimeout, WriteCoalesceWaitTime (frames that wait for a connection are written
// together, without a timer), WriteTimeout. Of a ClientRoutesConfig only the connection ids have an effect.
//
// Hosts with different ports are accepted, each with its own. KeyspaceMetadata.ToCQL needs a server that can describe a
// keyspace. The tablets are those that the session has learned from responses; while there are none, the methods
// return ErrTabletsNotUsed. ScyllaFeatures, and the shards and ports of a HostInfo, are zero.
//
// UnmarshalText of a Consistency accepts a name in any case.
//
// ProtoVersion 0 to 3 is 4. A Conn, a ConnConfig and a ConnPicker exist, but no function takes or returns one.
// SubscribeToEvents has events of nodes, and no events of the schema. A WarningHandler receives the warnings of the
// first page. A DialShard method is not called: a ShardDialer is used as a HostDialer.
//
// Absent, because they serve the tests of gocql itself: the packages debounce, dialer, dialer/recorder and
// dialer/replayer, and in package tablets CowTabletList, ReplicaSetGenerator, GenerateHostUUIDs and ParseHint. The
// package lz4 is a module of its own, which programs keep.
package gocql
