// SPDX-License-Identifier: Apache-2.0

// Package gocql has the API of gocql v2 (github.com/apache/cassandra-gocql-driver/v2, v2.1.2) on package vecql. A
// program that was written for gocql v2 builds with it unmodified, by a line in its go.mod, with the version of a
// release:
//
//	replace github.com/apache/cassandra-gocql-driver/v2 => github.com/vecql/vecql/compat/gocqlv2 VERSION
//
// In a checkout of vecql two lines name the folders, because the replace lines of a dependency have no effect:
//
//	replace github.com/apache/cassandra-gocql-driver/v2 => ../vecql/compat/gocqlv2
//	replace github.com/vecql/vecql => ../vecql
//
// Names, signatures, method sets and the meanings of values, NULLs, tuples, errors and policies are gocql v2's.
// [Session.Vecql] returns the session of vecql beneath, which shares the connections, so that a program moves piece
// by piece.
//
// # Differences
//
// On purpose:
//
//   - SslOptions verifies the certificates of servers unless Config.InsecureSkipVerify is set. gocql does not verify
//     either if Config is nil and EnableHostVerification is not set.
//   - Rows never share memory: bytes and texts that were read belong to the program.
//   - Timestamps of a session strictly increase.
//
// In names that vecql has no use for:
//
//   - ConvictionPolicy, MaxRoutingKeyInfo, WriteCoalesceWaitTime and DialedHost.DisableCoalesce are accepted and not
//     used. Neither is WriteTimeout: Timeout bounds writes too.
//   - ReadyPolicy: a session is ready one second after its first node was reached, or when all nodes were tried.
//   - Conn, ConnConfig, ConnErrorHandler and ConnReader exist for the compiler. The methods of Conn return an error.
//   - KeyValidator, Comparator, DefaultValidator and the aliases of TableMetadata are empty. Servers since Cassandra 3
//     have none.
//
// In details:
//
//   - ProtoVersion 3 means 4.
//   - Texts of errors differ; types, fields and sentinels are the same.
//   - A policy's Pick is also called for the PREPARE of a statement, before its key is known.
//   - Types of RegisteredTypes serve classes of the server that vecql does not decode, as types of columns, not of
//     elements. Params and TypeInfoFromParams are not called.
//   - Session.Close waits for the requests in flight, at most 11 seconds.
//   - Listeners and policies are called by one goroutine, one change after the other.
//   - Consistency, Duration and UUID are vecql's types, with further methods: IsSerial, String, IsEmpty and Scan.
package gocql
