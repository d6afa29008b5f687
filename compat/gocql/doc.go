// SPDX-License-Identifier: Apache-2.0

// Package gocql is the API of github.com/gocql/gocql v1.7 on vecql. A program uses it by one line of its go.mod,
// with the version of a release:
//
//	replace github.com/gocql/gocql => github.com/vecql/vecql/compat/gocql VERSION
//
// In a checkout of vecql two lines name the folders, because the replace lines of a dependency have no effect:
//
//	replace github.com/gocql/gocql => ../vecql/compat/gocql
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
// Fields of ClusterConfig without effect:
//   - ConvictionPolicy: a node is down when no connection to it takes requests.
//   - IgnorePeerAddr: gocql does not read it either.
//   - MaxRoutingKeyInfo: the cache of prepared statements has the routing keys.
//   - WriteCoalesceWaitTime: frames that wait for a connection are written together, without a timer.
//   - WriteTimeout: the Timeout of a request includes its writing.
//
// ProtoVersion 1 to 3 is 4: every supported server has version 4. The default is 4 too, as in gocql.
//
// AddHost of a HostSelectionPolicy is first called when the session has started. Pick receives a request of this
// package's own type, not the *Query, and is also called for the PREPARE of a statement. ReadyPolicy has no effect: a
// session has started one second after its first node was reached, or when all nodes were tried.
//
// Errors have the types and the identity of gocql's, and sentinels and the errors of servers its texts. The texts of
// other errors and of NewTraceWriter are vecql's.
//
// A Conn, a ConnConfig and a ConnErrorHandler exist, but no function takes or returns one. TimeoutLimit has no effect.
// A UUID has the methods IsEmpty and Scan, a Duration the method String.
package gocql
