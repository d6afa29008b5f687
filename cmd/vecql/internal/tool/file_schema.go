// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/cqltext"
)

// The table of a file: CREATE statements from the columns of its rows.

// nativeTypes are the CQL types of columns. The smallest type that has all values of an unsigned integer is twice as
// wide.
var nativeTypes = map[column.Kind]string{
	column.Bool: "boolean", column.Int8: "tinyint", column.Int16: "smallint", column.Int32: "int", column.Int64: "bigint",
	column.Uint8: "smallint", column.Uint16: "int", column.Uint32: "bigint", column.Uint64: "varint",
	column.Float16: "float", column.Float32: "float", column.Float64: "double", column.Date: "date", column.Time: "time",
	column.Timestamp: "timestamp", column.Duration: "duration", column.Decimal64: "decimal", column.Decimal128: "decimal",
	column.Decimal256: "decimal", column.UUID: "uuid", column.Fixed: "blob", column.String: "text", column.Binary: "blob",
	column.Inet: "inet", column.Varint: "varint", column.Decimal: "decimal",
}

// A tableWriter writes the CREATE statements of a table.
type tableWriter struct {
	keyspace, table string
	types           []string // CREATE TYPE, each before those that use it
}

// newTableWriter returns the writer of a table whose name is CQL, perhaps with a keyspace.
func newTableWriter(name string) *tableWriter {
	w := &tableWriter{}
	w.keyspace, w.table = cqltext.SplitTable(name, "")
	return w
}

// name returns a name of the keyspace as CQL.
func (w *tableWriter) name(name string) string {
	if w.keyspace == "" {
		return cqltext.Identifier(name)
	}
	return cqltext.Identifier(w.keyspace) + "." + cqltext.Identifier(name)
}

// typeOf returns the CQL type of a field. path names the user-defined types of structs. Types within others are frozen.
func (w *tableWriter) typeOf(f column.Field, path string, within bool) string {
	text, frozen := "", within
	switch f.Type.Kind {
	case column.Vector:
		elem := nativeTypes[f.Type.Elem]
		if elem == "double" { // embeddings in text
			elem = "float"
		}
		return fmt.Sprintf("vector<%s, %d>", elem, f.Type.Dim)
	case column.List:
		text = "list<" + w.typeOf(f.Fields[0], path, true) + ">"
	case column.Map:
		text = "map<" + w.typeOf(f.Fields[0], path+"_key", true) + ", " + w.typeOf(f.Fields[1], path, true) + ">"
	case column.Tuple:
		elems := make([]string, len(f.Fields))
		for i, elem := range f.Fields {
			elems[i] = w.typeOf(elem, fmt.Sprint(path, "_", i), true)
		}
		text = "tuple<" + strings.Join(elems, ", ") + ">"
	case column.Struct:
		fields := make([]string, len(f.Fields))
		for i, field := range f.Fields {
			fields[i] = "    " + cqltext.Identifier(field.Name) + " " + w.typeOf(field, path+"_"+field.Name, true)
		}
		text = cqltext.Identifier(path)
		w.types = append(w.types, fmt.Sprintf("CREATE TYPE IF NOT EXISTS %s (\n%s\n)", w.name(path), strings.Join(fields, ",\n")))
	default:
		return nativeTypes[f.Type.Kind]
	}
	if frozen {
		return "frozen<" + text + ">"
	}
	return text
}

// statements returns the CREATE statements for columns. key is what PRIMARY KEY has in parentheses.
func (w *tableWriter) statements(fields column.Schema, key string) []string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n", w.name(w.table))
	for _, f := range fields {
		fmt.Fprintf(&b, "    %s %s,\n", cqltext.Identifier(f.Name), w.typeOf(f, w.table+"_"+f.Name, false))
	}
	fmt.Fprintf(&b, "    PRIMARY KEY (%s)\n)", quotedKey(fields, key))
	return append(w.types, b.String())
}

// quotedKey returns a primary key with quotes around the names of fields that need them in CQL.
func quotedKey(fields column.Schema, key string) string {
	if fields.Index(key) >= 0 {
		return cqltext.Identifier(key)
	}
	parts := strings.Split(key, ",")
	for i, part := range parts {
		if name := strings.Trim(part, " ()"); fields.Index(name) >= 0 {
			parts[i] = strings.Replace(part, name, cqltext.Identifier(name), 1)
		}
	}
	return strings.Join(parts, ",")
}

// isFileName reports whether an argument of describe names a file and not a part of the schema.
func isFileName(name string) bool {
	format, _ := rowfile.ByName(name)
	return format != 0 || name == rowfile.Stdin || strings.ContainsAny(name, "/*")
}

// tableOfFile returns the name of a table for the rows of a file: items for new/items-*.csv.gz.
func tableOfFile(path string) string {
	base, _, _ := strings.Cut(filepath.Base(path), ".")
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, base), "_")
	if name == "" || name[0] <= '9' {
		name = strings.Trim("rows_"+name, "_")
	}
	return name
}

// keyOf returns the primary key of columns: the column id, or else the first one of a type that a key can have.
func keyOf(fields column.Schema) string {
	if fields.Index("id") >= 0 {
		return "id"
	}
	for _, f := range fields {
		if kind := f.Type.Kind; !kind.IsNested() && kind != column.Vector && kind != column.Duration {
			return cqltext.Identifier(f.Name)
		}
	}
	return cqltext.Identifier(fields[0].Name)
}

// describeFiles prints the statements that create a table for the rows of files.
func (e *env) describeFiles(ctx context.Context, d *describe, names []string) (err error) {
	if err := d.rejects.setMost(); err != nil {
		return err
	}
	defer func() { err = d.rejects.end(e, err) }()
	o, err := e.infer(ctx, &d.files, &d.types, &d.rejects, names)
	if err != nil {
		return err
	}
	key := d.key
	if key == "" {
		key = keyOf(o.Fields)
	}
	statements := newTableWriter(cqltext.Identifier(tableOfFile(names[0]))).statements(o.Fields, key)
	if d.key == "" {
		last := len(statements) - 1
		statements[last] = "-- The primary key is a guess: --primary-key sets it.\n" + statements[last]
	}
	_, err = io.WriteString(e.out, strings.Join(statements, ";\n\n")+";\n")
	return err
}

// createTable creates the table of a load from the columns of its files, unless it exists.
func (l *load) createTable(ctx context.Context, session *vecql.Session, fields column.Schema) error {
	for _, text := range newTableWriter(l.table).statements(fields, l.key) {
		if err := session.Query(text).Exec(ctx); err != nil {
			return fmt.Errorf("create the table %s: %w", l.table, err)
		}
	}
	return nil
}
