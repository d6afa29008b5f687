// SPDX-License-Identifier: Apache-2.0

package fakecql

import (
	"fmt"
	"math"
	"net"
	"reflect"
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/wire"
)

// Columns, types and cells. A type is text as in CQL: "list<int>", "vector<float, 3>". A tuple is "tuple<int, text>", a
// user-defined type is "ks.name{field text, other int}", and a type that has only a class name is
// "'org.example.Class'".

// A Column is a column of a result or a bind marker.
type Column struct{ Keyspace, Table, Name, Type string }

// Columns returns columns of the table ks.t. Each text is a name and a type: "id bigint".
func Columns(texts ...string) []Column {
	columns := make([]Column, len(texts))
	for i, text := range texts {
		name, cqlType, _ := strings.Cut(text, " ")
		columns[i] = Column{"ks", "t", name, cqlType}
	}
	return columns
}

// AppendColumns appends columns as in the metadata of a RESULT without GLOBAL_TABLES_SPEC.
func AppendColumns(b []byte, columns []Column) []byte {
	for _, c := range columns {
		b = AppendString(AppendString(AppendString(b, c.Keyspace), c.Table), c.Name)
		b = AppendOption(b, c.Type)
	}
	return b
}

// Add appends a row. There is a value for each column, encoded by Cell.
func (rows *Rows) Add(values ...any) {
	for i, v := range values {
		rows.Cells = append(rows.Cells, Cell(rows.Columns[i].Type, v))
	}
}

// options maps types without parameters to their option ids (native_protocol_v5.spec, section 4.2.5.2).
var options = map[string]uint16{
	"ascii": 0x01, "bigint": 0x02, "blob": 0x03, "boolean": 0x04, "counter": 0x05, "decimal": 0x06, "double": 0x07,
	"float": 0x08, "int": 0x09, "timestamp": 0x0B, "uuid": 0x0C, "text": 0x0D, "varchar": 0x0D, "varint": 0x0E,
	"timeuuid": 0x0F, "inet": 0x10, "date": 0x11, "time": 0x12, "smallint": 0x13, "tinyint": 0x14, "duration": 0x15,
}

// The ids of types with parameters.
const (
	optionCustom = 0x00
	optionList   = 0x20
	optionMap    = 0x21
	optionSet    = 0x22
	optionUDT    = 0x30
	optionTuple  = 0x31
)

// classes maps types to the names of their classes in org.apache.cassandra.db.marshal.
var classes = map[string]string{
	"float": "FloatType", "double": "DoubleType", "int": "Int32Type", "bigint": "LongType", "uuid": "UUIDType",
	"text": "UTF8Type",
}

// AppendOption appends an [option].
func AppendOption(b []byte, cqlType string) []byte {
	if id, ok := options[cqlType]; ok {
		return wire.AppendShort(b, id)
	}
	if class, ok := strings.CutPrefix(cqlType, "'"); ok {
		return AppendString(wire.AppendShort(b, optionCustom), strings.TrimSuffix(class, "'"))
	}
	head, parameters := parameters(cqlType)
	switch head {
	case "list":
		b = wire.AppendShort(b, optionList)
	case "set":
		b = wire.AppendShort(b, optionSet)
	case "map":
		b = wire.AppendShort(b, optionMap)
	case "tuple":
		b = wire.AppendShort(wire.AppendShort(b, optionTuple), uint16(len(parameters)))
	case "frozen":
	case "vector":
		const marshal = "org.apache.cassandra.db.marshal."
		return AppendString(wire.AppendShort(b, optionCustom),
			fmt.Sprintf("%sVectorType(%s%s , %s)", marshal, marshal, classes[parameters[0]], parameters[1]))
	default:
		return appendUserType(b, head, parameters)
	}
	for _, p := range parameters {
		b = AppendOption(b, p)
	}
	return b
}

// appendUserType appends the [option] of a user-defined type.
func appendUserType(b []byte, name string, fields []string) []byte {
	keyspace, name, ok := strings.Cut(name, ".")
	if !ok {
		panic("no CQL type: " + keyspace)
	}
	b = AppendString(AppendString(wire.AppendShort(b, optionUDT), keyspace), name)
	b = wire.AppendShort(b, uint16(len(fields)))
	for _, f := range fields {
		field, cqlType, _ := strings.Cut(f, " ")
		b = AppendOption(AppendString(b, field), cqlType)
	}
	return b
}

// parameters splits a type into the part before its brackets and the parts within, separated by commas outside of inner
// brackets.
func parameters(cqlType string) (head string, inner []string) {
	open := strings.IndexAny(cqlType, "<{")
	if open < 0 {
		return cqlType, nil
	}
	body := cqlType[open+1 : len(cqlType)-1]
	depth, from := 0, 0
	for i, r := range body {
		switch r {
		case '<', '{':
			depth++
		case '>', '}':
			depth--
		case ',':
			if depth == 0 {
				inner = append(inner, strings.TrimSpace(body[from:i]))
				from = i + 1
			}
		}
	}
	return cqlType[:open], append(inner, strings.TrimSpace(body[from:]))
}

// Cell returns v as a cell of the type: integers of any Go type, float64 and float32, bool, string, []byte, [16]byte or
// a type of that form, net.IP, slices and maps of them. It panics for other types.
func Cell(cqlType string, v any) []byte {
	val := reflect.ValueOf(v)
	head, params := parameters(cqlType)
	switch head {
	case "ascii", "text", "varchar", "blob":
		if b, ok := v.([]byte); ok {
			return b
		}
		return []byte(val.String())
	case "bigint", "counter", "timestamp":
		return wire.AppendLong(nil, val.Int())
	case "int":
		return wire.AppendInt(nil, int32(val.Int()))
	case "varint":
		return varint(val.Int())
	case "boolean":
		if val.Bool() {
			return []byte{1}
		}
		return []byte{0}
	case "double":
		return wire.AppendLong(nil, int64(math.Float64bits(val.Float())))
	case "float":
		return wire.AppendInt(nil, int32(math.Float32bits(float32(val.Float()))))
	case "uuid", "timeuuid":
		u := val.Convert(reflect.TypeFor[[16]byte]()).Interface().([16]byte)
		return u[:]
	case "inet":
		ip := v.(net.IP)
		if four := ip.To4(); four != nil {
			return four
		}
		return ip
	case "list", "set":
		b := wire.AppendInt(nil, int32(val.Len()))
		for i := range val.Len() {
			b = appendBytes(b, Cell(params[0], val.Index(i).Interface()))
		}
		return b
	case "map":
		b := wire.AppendInt(nil, int32(val.Len()))
		for _, k := range sortedKeys(val) {
			b = appendBytes(b, Cell(params[0], k.Interface()))
			b = appendBytes(b, Cell(params[1], val.MapIndex(k).Interface()))
		}
		return b
	case "vector": // vectors of elements of a fixed size
		b := []byte{}
		for i := range val.Len() {
			b = append(b, Cell(params[0], val.Index(i).Interface())...)
		}
		return b
	}
	panic(fmt.Sprintf("no cell of type %s from %T", cqlType, v))
}

// varint returns the shortest two's complement form of n.
func varint(n int64) []byte {
	b := wire.AppendLong(nil, n)
	for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xFF && b[1] >= 0x80) {
		b = b[1:]
	}
	return b
}

// sortedKeys returns the keys of a map of strings in order.
func sortedKeys(m reflect.Value) []reflect.Value {
	return slices.SortedFunc(slices.Values(m.MapKeys()), func(a, b reflect.Value) int {
		return strings.Compare(a.String(), b.String())
	})
}
