// SPDX-License-Identifier: Apache-2.0

// Package schema builds schema metadata from rows of the system_schema tables, and compares two versions of it. It
// supports the tables of Cassandra (SchemaKeyspace) and of ScyllaDB (docs/dev/system_schema_keyspace.md).
//
// A Scope selects what to read and returns the queries for it; Rows collects their rows and updates Keyspaces; Diff
// compares. The package does no I/O: the caller runs the queries.
package schema

import "github.com/vecql/vecql/cql"

// A Keyspace is the metadata of a keyspace, with the data for comparing and updating it. It is immutable, and safe for
// concurrent use.
type Keyspace struct {
	Metadata *cql.KeyspaceMetadata

	fingerprint uint64                     // of the keyspace's own row
	types       map[string]cql.UDTTypeInfo // the user-defined types that column types may refer to

	// The objects to compare: tables and types by name, functions and aggregates by signature. A signature identifies
	// an overloaded function, while the function with the bare name in Metadata may change when another function
	// changes.
	tables     map[string]object[*cql.TableMetadata]
	userTypes  map[string]object[*cql.UserTypeMetadata]
	functions  map[string]object[*cql.FunctionMetadata]
	aggregates map[string]object[*cql.AggregateMetadata]
}

// object is an object of a keyspace with the fingerprint of its rows.
type object[T any] struct {
	meta        T
	fingerprint uint64
}
