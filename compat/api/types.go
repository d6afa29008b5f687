// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"strings"

	"github.com/vecql/vecql/cql"
)

// Names of CQL types.

// A Type is the option id of a CQL type.
type Type int

// String returns the name of the type.
func (t Type) String() string {
	id := cql.Type(t)
	switch {
	case id == cql.TypeVarchar:
		return "varchar"
	case t < 0 || id == cql.TypeUDT || id > cql.TypeDuration && id < cql.TypeList ||
		id > cql.TypeSet && id != cql.TypeTuple:
		return fmt.Sprintf("unknown_type_%d", int(t))
	}
	return id.String()
}

// MarshalPackage is the Java package of the server's types.
const MarshalPackage = "org.apache.cassandra.db.marshal."

// classes are the names of the server's classes for types that a vector may have.
var classes = map[cql.Type]string{
	cql.TypeAscii: "AsciiType", cql.TypeBigInt: "LongType", cql.TypeBlob: "BytesType", cql.TypeBoolean: "BooleanType",
	cql.TypeCounter: "CounterColumnType", cql.TypeDecimal: "DecimalType", cql.TypeDouble: "DoubleType",
	cql.TypeFloat: "FloatType", cql.TypeInt: "Int32Type", cql.TypeText: "UTF8Type", cql.TypeTimestamp: "TimestampType",
	cql.TypeUUID: "UUIDType", cql.TypeVarchar: "UTF8Type", cql.TypeVarint: "IntegerType",
	cql.TypeTimeUUID: "TimeUUIDType", cql.TypeInet: "InetAddressType", cql.TypeDate: "SimpleDateType",
	cql.TypeTime: "TimeType", cql.TypeSmallInt: "ShortType", cql.TypeTinyInt: "ByteType",
	cql.TypeDuration: "DurationType", cql.TypeList: "ListType", cql.TypeMap: "MapType", cql.TypeSet: "SetType",
	cql.TypeTuple: "TupleType",
}

// ClassName returns the class of a type as the server writes it in a TypeCustom. Elements of vectors are frozen, which
// the name leaves out: the encoding is the same.
func ClassName(t cql.TypeInfo) string {
	switch t := t.(type) {
	case cql.CustomType:
		return t.Class
	case cql.VectorType:
		return fmt.Sprintf("%sVectorType(%s, %d)", MarshalPackage, ClassName(t.SubType), t.Dimensions)
	case cql.CollectionType:
		elems := ClassName(t.Elem)
		if t.Type() == cql.TypeMap {
			elems = ClassName(t.Key) + "," + elems
		}
		return MarshalPackage + classes[t.Type()] + "(" + elems + ")"
	case cql.TupleTypeInfo:
		elems := make([]string, len(t.Elems))
		for i, e := range t.Elems {
			elems[i] = ClassName(e)
		}
		return MarshalPackage + "TupleType(" + strings.Join(elems, ",") + ")"
	case cql.UDTTypeInfo:
		parts := []string{t.Keyspace, fmt.Sprintf("%x", t.Name)}
		for _, e := range t.Elements {
			parts = append(parts, fmt.Sprintf("%x:%s", e.Name, ClassName(e.Type)))
		}
		return MarshalPackage + "UserType(" + strings.Join(parts, ",") + ")"
	}
	return MarshalPackage + classes[t.Type()]
}
