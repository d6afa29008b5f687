// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
)

// The tables that ingest creates.

// tableDefinition returns the columns and the primary key of a table, in parentheses. key is optionPrimaryKey.
func tableDefinition(schema *arrow.Schema, key string) (string, error) {
	fields, err := arrowcolumn.Fields(schema)
	if err != nil {
		return "", wrapped("the schema of the rows", err)
	}
	if key, err = primaryKey(schema, key); err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString(" (")
	for i, f := range fields {
		cqlType, err := fieldType(schema.Field(i), f)
		if err != nil {
			return "", err
		}
		text.WriteString(cqltext.QuoteIdentifier(f.Name) + " " + cqlType)
		if kind, _ := schema.Field(i).Metadata.GetValue(metadataKind); kind == cql.ColumnStatic.String() {
			text.WriteString(" static")
		}
		text.WriteString(", ")
	}
	return text.String() + "PRIMARY KEY (" + key + "))", nil
}

// primaryKey returns the primary key of a table: the option's, else the one in the metadata of the fields.
func primaryKey(schema *arrow.Schema, key string) (string, error) {
	if key != "" {
		return checkedKey(schema, key)
	}
	names := map[string][]string{}
	for _, kind := range []cql.ColumnKind{cql.ColumnPartitionKey, cql.ColumnClusteringKey} {
		names[kind.String()] = keyNames(schema, kind.String())
	}
	partition := names[cql.ColumnPartitionKey.String()]
	if len(partition) == 0 {
		return "", failed(adbc.StatusInvalidArgument,
			"a table needs a primary key: set %s, such as \"id\" or \"(a, b), c\"", optionPrimaryKey)
	}
	text := "(" + strings.Join(partition, ", ") + ")"
	return strings.Join(append([]string{text}, names[cql.ColumnClusteringKey.String()]...), ", "), nil
}

// keyNames returns the quoted names of the fields whose metadata has a kind, in the order of their positions.
func keyNames(schema *arrow.Schema, kind string) []string {
	type part struct {
		at   int
		name string
	}
	var parts []part
	for _, f := range schema.Fields() {
		if own, _ := f.Metadata.GetValue(metadataKind); own == kind {
			text, _ := f.Metadata.GetValue(metadataPosition)
			at, _ := strconv.Atoi(text)
			parts = append(parts, part{at, cqltext.QuoteIdentifier(f.Name)})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.at, b.at) })
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// checkedKey returns a primary key in CQL with quoted names. It refuses names that are no columns. A name without
// quotes that is no column is that in lower case, as in CQL.
func checkedKey(schema *arrow.Schema, key string) (string, error) {
	var out strings.Builder
	afterName := false
	for _, token := range cqltext.Tokens(key) {
		if sign := map[string]string{"(": "(", ")": ")", ",": ", "}[token]; sign != "" {
			out.WriteString(sign)
			afterName = false
			continue
		}
		if afterName {
			return "", failed(adbc.StatusInvalidArgument, "option %s is %q: want a comma before %s", optionPrimaryKey, key, token)
		}
		name := token
		if strings.HasPrefix(token, `"`) {
			name = strings.ReplaceAll(strings.TrimSuffix(token[1:], `"`), `""`, `"`)
		} else if !schema.HasField(name) {
			name = strings.ToLower(name)
		}
		if !schema.HasField(name) {
			return "", failed(adbc.StatusInvalidArgument, "option %s: the rows have no column %q", optionPrimaryKey, name)
		}
		out.WriteString(cqltext.QuoteIdentifier(name))
		afterName = true
	}
	return out.String(), nil
}

// fieldType returns the CQL type of a field: the kind in its metadata, else the type that holds all values of its
// kind.
func fieldType(f arrow.Field, c column.Field) (string, error) {
	text, ok := f.Metadata.GetValue(metadataType)
	if !ok {
		text, err := cqlType(c, false)
		if err != nil {
			return "", failed(adbc.StatusNotImplemented, "column %s: %v", c.Name, err)
		}
		return text, nil
	}
	known := func(keyspace, name string) (cql.UDTTypeInfo, bool) {
		return cql.UDTTypeInfo{Keyspace: keyspace, Name: name}, true
	}
	if _, err := cql.ParseType(text, known); err != nil {
		return "", failed(adbc.StatusInvalidArgument, "metadata %s of column %s: %v", metadataType, c.Name, err)
	}
	return text, nil
}

// cqlTypes are the CQL types of kinds. An unsigned integer becomes the next wider type.
var cqlTypes = map[column.Kind]string{
	column.Bool: "boolean", column.Int8: "tinyint", column.Int16: "smallint", column.Int32: "int", column.Int64: "bigint",
	column.Uint8: "smallint", column.Uint16: "int", column.Uint32: "bigint", column.Uint64: "varint",
	column.Float16: "float", column.Float32: "float", column.Float64: "double", column.Date: "date", column.Time: "time",
	column.Timestamp: "timestamp", column.Duration: "duration", column.Decimal64: "decimal", column.Decimal128: "decimal",
	column.Decimal256: "decimal", column.Decimal: "decimal", column.Varint: "varint", column.UUID: "uuid",
	column.Fixed: "blob", column.Binary: "blob", column.String: "text", column.Inet: "inet",
}

// cqlType returns the CQL type of a field. Collections and tuples within another type are frozen.
func cqlType(f column.Field, nested bool) (string, error) {
	var children []string
	for _, child := range f.Fields {
		text, err := cqlType(child, true)
		if err != nil {
			return "", fmt.Errorf("%s: %w", child.Name, err)
		}
		children = append(children, text)
	}
	text := cqlTypes[f.Type.Kind]
	switch f.Type.Kind {
	case column.Vector:
		elem := cqlTypes[f.Type.Elem]
		if f.Type.Dim > 0 {
			return "vector<" + elem + ", " + strconv.Itoa(f.Type.Dim) + ">", nil
		}
		text = "list<" + elem + ">"
	case column.List, column.Map, column.Tuple:
		name := map[column.Kind]string{column.List: "list", column.Map: "map", column.Tuple: "tuple"}[f.Type.Kind]
		text = name + "<" + strings.Join(children, ", ") + ">"
	case column.Struct:
		return "", fmt.Errorf("a struct needs a user-defined type: create the table in CQL and append to it")
	default:
		return text, nil
	}
	if nested {
		text = "frozen<" + text + ">"
	}
	return text, nil
}
