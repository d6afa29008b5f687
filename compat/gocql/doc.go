// SPDX-License-Identifier: Apache-2.0

// Package gocql is the API of github.com/gocql/gocql v1.7 on vecql. A program uses it by lines of its go.mod:
//
//	require github.com/vecql/vecql v0.1.0
//
//	replace github.com/gocql/gocql => github.com/vecql/vecql/compat/gocql v0.1.0
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
// MaxRoutingKeyInfo (the cache of prepared statements has the routing keys), WriteCoalesceWaitTime (frames that wait
// for a connection are written together, without a timer), WriteTimeout.
//
// ProtoVersion 1 to 3 is 4: every supported server has version 4. A Conn, a ConnConfig and a ConnErrorHandler exist,
// but no function takes or returns one. TimeoutLimit has no effect.
package gocql
