// SPDX-License-Identifier: Apache-2.0

// Package engine holds the data of a whole CQL cluster in memory: types and values, schema, storage and the execution
// of statements. It uses no sockets and no frames; values enter and leave in serialized form (native_protocol_v5.spec,
// section 6).
package engine

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Types of columns and values, and their two spellings: CQL's and Cassandra's class names.

// A Kind is the kind of a type. Its value is the option id of native_protocol_v5.spec, section 4.2.5.2, if the type has
// one.
type Kind uint32

// Kinds of types. A vector has no option id: it is sent as a custom type (0x0000) with its class name.
const (
	KindCustom    Kind = 0x0000
	KindASCII     Kind = 0x0001
	KindBigInt    Kind = 0x0002
	KindBlob      Kind = 0x0003
	KindBoolean   Kind = 0x0004
	KindCounter   Kind = 0x0005
	KindDecimal   Kind = 0x0006
	KindDouble    Kind = 0x0007
	KindFloat     Kind = 0x0008
	KindInt       Kind = 0x0009
	KindTimestamp Kind = 0x000B
	KindUUID      Kind = 0x000C
	KindText      Kind = 0x000D
	KindVarint    Kind = 0x000E
	KindTimeUUID  Kind = 0x000F
	KindInet      Kind = 0x0010
	KindDate      Kind = 0x0011
	KindTime      Kind = 0x0012
	KindSmallInt  Kind = 0x0013
	KindTinyInt   Kind = 0x0014
	KindDuration  Kind = 0x0015
	KindList      Kind = 0x0020
	KindMap       Kind = 0x0021
	KindSet       Kind = 0x0022
	KindUDT       Kind = 0x0030
	KindTuple     Kind = 0x0031
	KindVector    Kind = 0x10000
)

// A Type is a CQL type. It is immutable.
type Type struct {
	Kind     Kind
	Elems    []*Type  // list, set, vector: 1; map: key and value; tuple: its elements; UDT: its fields
	Dim      int      // vector: number of elements
	Keyspace string   // UDT
	Name     string   // UDT
	Fields   []string // UDT: names, one for each of Elems
	Frozen   bool     // collections and UDTs; tuples and vectors are always frozen
}

// natives are the types without parameters: CQL name and last part of the class name.
var natives = []struct {
	kind       Kind
	cql, class string
}{
	{KindASCII, "ascii", "AsciiType"},
	{KindBigInt, "bigint", "LongType"},
	{KindBlob, "blob", "BytesType"},
	{KindBoolean, "boolean", "BooleanType"},
	{KindCounter, "counter", "CounterColumnType"},
	{KindDecimal, "decimal", "DecimalType"},
	{KindDouble, "double", "DoubleType"},
	{KindFloat, "float", "FloatType"},
	{KindInt, "int", "Int32Type"},
	{KindTimestamp, "timestamp", "TimestampType"},
	{KindUUID, "uuid", "UUIDType"},
	{KindText, "text", "UTF8Type"},
	{KindVarint, "varint", "IntegerType"},
	{KindTimeUUID, "timeuuid", "TimeUUIDType"},
	{KindInet, "inet", "InetAddressType"},
	{KindDate, "date", "SimpleDateType"},
	{KindTime, "time", "TimeType"},
	{KindSmallInt, "smallint", "ShortType"},
	{KindTinyInt, "tinyint", "ByteType"},
	{KindDuration, "duration", "DurationType"},
}

// partWords are the names of the types whose parameters are types.
var partWords = map[Kind]struct{ cql, class string }{
	KindList: {"list", "ListType"}, KindSet: {"set", "SetType"}, KindMap: {"map", "MapType"},
	KindTuple: {"tuple", "TupleType"},
}

// nativeByName and nativeByKind index the types without parameters. They are read-only.
var nativeByName, nativeByKind = func() (map[string]*Type, map[Kind]int) {
	names, kinds := map[string]*Type{}, map[Kind]int{}
	for i, n := range natives {
		names[n.cql], kinds[n.kind] = &Type{Kind: n.kind}, i
	}
	names["varchar"] = names["text"]
	return names, kinds
}()

// Native returns the type without parameters of a CQL name ("int", "text", "varchar"); nil means that there is none.
func Native(name string) *Type { return nativeByName[name] }

// ListOf returns the type list<elem>.
func ListOf(elem *Type) *Type { return &Type{Kind: KindList, Elems: []*Type{elem}} }

// MapOf returns the type map<key, value>.
func MapOf(key, value *Type) *Type { return &Type{Kind: KindMap, Elems: []*Type{key, value}} }

// String returns the CQL spelling, as in system_schema.columns: "frozen<list<int>>", "vector<float, 3>".
func (t *Type) String() string {
	if t == nil {
		return "null"
	}
	switch t.Kind {
	case KindList, KindSet, KindMap, KindUDT:
		s := t.bare()
		if t.Frozen {
			return "frozen<" + s + ">"
		}
		return s
	case KindTuple:
		return "frozen<" + t.bare() + ">"
	}
	return t.bare()
}

// bare returns the CQL spelling without an outer frozen<>.
func (t *Type) bare() string {
	switch t.Kind {
	case KindList, KindSet, KindMap, KindTuple:
		return partWords[t.Kind].cql + "<" + joinTypes(t.Elems, ", ", (*Type).String) + ">"
	case KindVector:
		return "vector<" + t.Elems[0].String() + ", " + strconv.Itoa(t.Dim) + ">"
	case KindUDT:
		return quoteName(t.Name)
	}
	if i, ok := nativeByKind[t.Kind]; ok {
		return natives[i].cql
	}
	return "'" + t.Name + "'"
}

const marshalPackage = "org.apache.cassandra.db.marshal."

// ClassName returns the type as Cassandra's class name: "org.apache.cassandra.db.marshal.VectorType(...FloatType , 3)".
// The space before the comma of a vector is Cassandra's, and so is that only the outermost of frozen types is marked.
func (t *Type) ClassName() string { return t.className(true) }

// className returns the class name, with FrozenType(...) around frozen types if marked.
func (t *Type) className(marked bool) string {
	within := marked && !t.Frozen || marked && t.Kind == KindVector
	inner := func(e *Type) string { return e.className(within) }
	switch t.Kind {
	case KindList, KindSet, KindMap, KindUDT, KindTuple, KindVector:
	default:
		if i, ok := nativeByKind[t.Kind]; ok {
			return marshalPackage + natives[i].class
		}
		return t.Name
	}
	var s string
	switch t.Kind {
	case KindList, KindSet, KindMap, KindTuple:
		s = partWords[t.Kind].class + "(" + joinTypes(t.Elems, ",", inner) + ")"
	case KindVector:
		return marshalPackage + "VectorType(" + inner(t.Elems[0]) + " , " + strconv.Itoa(t.Dim) + ")"
	case KindUDT:
		var b strings.Builder
		fmt.Fprintf(&b, "UserType(%s,%s", t.Keyspace, hex.EncodeToString([]byte(t.Name)))
		for i, e := range t.Elems {
			fmt.Fprintf(&b, ",%s:%s", hex.EncodeToString([]byte(t.Fields[i])), inner(e))
		}
		s = b.String() + ")"
	}
	if t.Frozen && marked && t.Kind != KindTuple {
		return marshalPackage + "FrozenType(" + marshalPackage + s + ")"
	}
	return marshalPackage + s
}

func joinTypes(types []*Type, sep string, spell func(*Type) string) string {
	parts := make([]string, len(types))
	for i, e := range types {
		parts[i] = spell(e)
	}
	return strings.Join(parts, sep)
}
