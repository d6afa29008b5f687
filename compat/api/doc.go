// SPDX-License-Identifier: Apache-2.0

// Package gocql holds the parts of gocql's API that its editions share: v1.7, v2 and ScyllaDB's fork. The compat
// modules declare them under their own names, by aliases: type HostFilter = api.HostFilter[*HostInfo]. What differs
// between the editions is a type parameter: the nodes (H), the queries and batches (S), the CQL types (T), the
// consistency levels (C).
//
// The package has the name of the modules, not of its folder, so that %T shows the types as gocql's.
package gocql
