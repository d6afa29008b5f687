// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

//compat:copy gocqlv2

// Schema metadata in this API's shape, and its conversion.

// The names of columns of tables that were created through Thrift.
const (
	DEFAULT_KEY_ALIAS    = "key"
	DEFAULT_COLUMN_ALIAS = "column"
	DEFAULT_VALUE_ALIAS  = "value"
)

// Classes of the server, as system tables of Cassandra 2 name them.
const (
	REVERSED_TYPE   = api.MarshalPackage + "ReversedType"
	COMPOSITE_TYPE  = api.MarshalPackage + "CompositeType"
	COLLECTION_TYPE = api.MarshalPackage + "ColumnToCollectionType"
)

// A TableMetadata describes a table. The fields from KeyValidator to ValueAlias are empty: servers since Cassandra 3
// have no such columns.
type TableMetadata api.Table[ColumnMetadata]

// A ColumnMetadata describes a column.
type ColumnMetadata api.Column[TypeInfo, ColumnKind, ColumnIndexMetadata]

// A FunctionMetadata describes a user-defined function.
type FunctionMetadata api.Function[TypeInfo]

// An AggregateMetadata describes a user-defined aggregate.
type AggregateMetadata api.Aggregate[TypeInfo, FunctionMetadata]

// A UserTypeMetadata describes a user-defined type.
type UserTypeMetadata api.UserType[TypeInfo]

// A ColumnOrder is the order of rows by a clustering column.
type ColumnOrder = api.ColumnOrder

// The orders of a clustering column.
const (
	ASC  ColumnOrder = false
	DESC ColumnOrder = true
)

func tableOf(t *cql.TableMetadata) *TableMetadata {
	return (*TableMetadata)(api.NewTable(t, columnOf))
}

func functionOf(f *cql.FunctionMetadata) *FunctionMetadata {
	return (*FunctionMetadata)(api.NewFunction(f, schemaType))
}

func aggregateOf(a *cql.AggregateMetadata) *AggregateMetadata {
	return (*AggregateMetadata)(api.NewAggregate(a, schemaType, functionOf))
}

func userTypeOf(t *cql.UserTypeMetadata) *UserTypeMetadata {
	return (*UserTypeMetadata)(api.NewUserType(t, schemaType))
}
