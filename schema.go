// SPDX-License-Identifier: Apache-2.0

package vecql

import "github.com/vecql/vecql/cql"

// Aliases of the schema metadata of package cql.

// Schema metadata, as Session.KeyspaceMetadata returns it. It is documented in package cql.
type (
	// KeyspaceMetadata describes a keyspace. It is shared: callers must not modify it. See [cql.KeyspaceMetadata].
	KeyspaceMetadata = cql.KeyspaceMetadata
	// TableMetadata describes a table. See [cql.TableMetadata].
	TableMetadata = cql.TableMetadata
	// TableMetadataOptions holds the options of a table or a view. See [cql.TableMetadataOptions].
	TableMetadataOptions = cql.TableMetadataOptions
	// MaterializedViewMetadata describes a materialized view. See [cql.MaterializedViewMetadata].
	MaterializedViewMetadata = cql.MaterializedViewMetadata
	// ColumnMetadata describes a column of a table or a view. See [cql.ColumnMetadata].
	ColumnMetadata = cql.ColumnMetadata
	// ColumnIndexMetadata describes an index of a column. See [cql.ColumnIndexMetadata].
	ColumnIndexMetadata = cql.ColumnIndexMetadata
	// IndexMetadata describes a secondary index. See [cql.IndexMetadata].
	IndexMetadata = cql.IndexMetadata
	// UserTypeMetadata describes a user-defined type. See [cql.UserTypeMetadata].
	UserTypeMetadata = cql.UserTypeMetadata
	// FunctionMetadata describes a user-defined function. See [cql.FunctionMetadata].
	FunctionMetadata = cql.FunctionMetadata
	// AggregateMetadata describes a user-defined aggregate. See [cql.AggregateMetadata].
	AggregateMetadata = cql.AggregateMetadata
	// SchemaError means that the metadata of an object is incomplete. See [cql.SchemaError].
	SchemaError = cql.SchemaError
)

// ColumnKind is the role of a column in its table. See [cql.ColumnKind].
type ColumnKind = cql.ColumnKind

// The kinds of columns. See [cql.ColumnKind].
const (
	ColumnUnkownKind    = cql.ColumnUnkownKind
	ColumnPartitionKey  = cql.ColumnPartitionKey
	ColumnClusteringKey = cql.ColumnClusteringKey
	ColumnRegular       = cql.ColumnRegular
	ColumnCompact       = cql.ColumnCompact
	ColumnStatic        = cql.ColumnStatic
)

// ColumnOrder is the order of rows by a clustering column. See [cql.ColumnOrder].
type ColumnOrder = cql.ColumnOrder

// The orders of a clustering column.
const (
	ASC  = cql.ASC
	DESC = cql.DESC
)
