// SPDX-License-Identifier: Apache-2.0

package vecql

import "github.com/vecql/vecql/cql"

// Aliases of the CQL types of package cql.

// CQL types. They are documented in package cql.
type (
	// Type is the option id of a CQL type. See [cql.Type].
	Type = cql.Type
	// TypeInfo is a CQL type with its parameters: one of the types below. See [cql.TypeInfo].
	TypeInfo = cql.TypeInfo
	// NativeType is a type without parameters. See [cql.NativeType].
	NativeType = cql.NativeType
	// CustomType is a server-side class without a codec. See [cql.CustomType].
	CustomType = cql.CustomType
	// CollectionType is a list, set or map. See [cql.CollectionType].
	CollectionType = cql.CollectionType
	// TupleTypeInfo is a tuple. See [cql.TupleTypeInfo].
	TupleTypeInfo = cql.TupleTypeInfo
	// UDTTypeInfo is a user-defined type. See [cql.UDTTypeInfo].
	UDTTypeInfo = cql.UDTTypeInfo
	// UDTField is a field of a user-defined type. See [cql.UDTField].
	UDTField = cql.UDTField
	// VectorType is a vector of a fixed dimension. See [cql.VectorType].
	VectorType = cql.VectorType
	// ColumnInfo describes a result column or a bind marker. See [cql.ColumnInfo].
	ColumnInfo = cql.ColumnInfo
)

// The option ids of CQL types. See [cql.Type].
const (
	TypeCustom    = cql.TypeCustom
	TypeAscii     = cql.TypeAscii
	TypeBigInt    = cql.TypeBigInt
	TypeBlob      = cql.TypeBlob
	TypeBoolean   = cql.TypeBoolean
	TypeCounter   = cql.TypeCounter
	TypeDecimal   = cql.TypeDecimal
	TypeDouble    = cql.TypeDouble
	TypeFloat     = cql.TypeFloat
	TypeInt       = cql.TypeInt
	TypeText      = cql.TypeText
	TypeTimestamp = cql.TypeTimestamp
	TypeUUID      = cql.TypeUUID
	TypeVarchar   = cql.TypeVarchar
	TypeVarint    = cql.TypeVarint
	TypeTimeUUID  = cql.TypeTimeUUID
	TypeInet      = cql.TypeInet
	TypeDate      = cql.TypeDate
	TypeTime      = cql.TypeTime
	TypeSmallInt  = cql.TypeSmallInt
	TypeTinyInt   = cql.TypeTinyInt
	TypeDuration  = cql.TypeDuration
	TypeList      = cql.TypeList
	TypeMap       = cql.TypeMap
	TypeSet       = cql.TypeSet
	TypeUDT       = cql.TypeUDT
	TypeTuple     = cql.TypeTuple
)

// NewNativeType returns typ as a TypeInfo. See [cql.NewNativeType].
func NewNativeType(proto byte, typ Type, class string) TypeInfo {
	return cql.NewNativeType(proto, typ, class)
}

// NewListType returns list<elem>.
func NewListType(elem TypeInfo) CollectionType { return cql.NewListType(elem) }

// NewSetType returns set<elem>.
func NewSetType(elem TypeInfo) CollectionType { return cql.NewSetType(elem) }

// NewMapType returns map<key, elem>.
func NewMapType(key, elem TypeInfo) CollectionType { return cql.NewMapType(key, elem) }

// ParseClassName parses a type given as a Cassandra class name. See [cql.ParseClassName].
func ParseClassName(class string) (TypeInfo, error) { return cql.ParseClassName(class) }

// ParseType parses a type in CQL syntax. See [cql.ParseType].
func ParseType(text string, udt func(keyspace, name string) (UDTTypeInfo, bool)) (TypeInfo, error) {
	return cql.ParseType(text, udt)
}
