// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Column types of CQL types.

var nativeKinds = map[cql.Type]column.Type{
	cql.TypeBoolean: {Kind: column.Bool}, cql.TypeTinyInt: {Kind: column.Int8}, cql.TypeSmallInt: {Kind: column.Int16},
	cql.TypeInt: {Kind: column.Int32}, cql.TypeBigInt: {Kind: column.Int64}, cql.TypeCounter: {Kind: column.Int64},
	cql.TypeVarint: {Kind: column.Varint}, cql.TypeFloat: {Kind: column.Float32}, cql.TypeDouble: {Kind: column.Float64},
	cql.TypeDecimal: {Kind: column.Decimal}, cql.TypeAscii: {Kind: column.String}, cql.TypeText: {Kind: column.String},
	cql.TypeVarchar: {Kind: column.String}, cql.TypeBlob: {Kind: column.Binary}, cql.TypeCustom: {Kind: column.Binary},
	cql.TypeUUID: {Kind: column.UUID}, cql.TypeTimeUUID: {Kind: column.UUID}, cql.TypeInet: {Kind: column.Inet},
	cql.TypeDate: {Kind: column.Date}, cql.TypeTime: {Kind: column.Time, Unit: column.Nanos},
	cql.TypeTimestamp: {Kind: column.Timestamp, Unit: column.Millis, UTC: true}, cql.TypeDuration: {Kind: column.Duration},
}

// ColumnField returns the column type of values of a CQL type. A vector of float, double, int, bigint, uuid or timeuuid
// is a Vector; a list, a set and a vector of any other type is a List; a UDT is a Struct. Fields are nullable, except
// for the keys of maps.
func ColumnField(name string, info cql.TypeInfo) column.Field {
	f := column.Field{Name: name, Nullable: true}
	add := func(name string, info cql.TypeInfo) { f.Fields = append(f.Fields, ColumnField(name, info)) }
	switch info := info.(type) {
	case cql.NativeType:
		f.Type = nativeKinds[cql.Type(info)]
	case cql.CollectionType:
		f.Type.Kind = column.List
		if info.Type() == cql.TypeMap {
			f.Type.Kind = column.Map
			add(column.KeyName, info.Key)
			f.Fields[0].Nullable = false
			add(column.ValueName, info.Elem)
			break
		}
		add(column.ElementName, info.Elem)
	case cql.TupleTypeInfo:
		f.Type.Kind = column.Tuple
		for i, elem := range info.Elems {
			add(fmt.Sprint(i), elem)
		}
	case cql.UDTTypeInfo:
		f.Type.Kind = column.Struct
		for _, elem := range info.Elements {
			add(elem.Name, elem.Type)
		}
	case cql.VectorType:
		if kind := vectorElement(info); kind != 0 {
			f.Type = column.VectorOf(kind, info.Dimensions)
			break
		}
		f.Type.Kind = column.List
		add(column.ElementName, info.SubType)
	}
	if f.Type.Kind == 0 { // a class unknown to the driver, or an option id of a later protocol
		f.Type.Kind = column.Binary
	}
	return f
}

// vectorElement returns the element kind of a vector that is read as a Vector column, 0 for a vector that is read as a
// List.
func vectorElement(info cql.VectorType) column.Kind {
	sub, ok := info.SubType.(cql.NativeType)
	if kind := nativeKinds[cql.Type(sub)].Kind; ok && kind.IsVectorElement() && cql.Type(sub) != cql.TypeCounter &&
		info.Dimensions > 0 {
		return kind
	}
	return 0
}
