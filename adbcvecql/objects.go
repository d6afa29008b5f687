// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/vecql/vecql/cql"
)

// GetObjects: keyspaces as schemas of one catalog without a name, tables, columns, primary keys.

// The rows of adbc.GetObjectsSchema. A nil slice is NULL: beyond the depth.
type (
	catalogRow struct {
		Name    *string     `json:"catalog_name"`
		Schemas []schemaRow `json:"catalog_db_schemas"`
	}
	schemaRow struct {
		Name   string     `json:"db_schema_name"`
		Tables []tableRow `json:"db_schema_tables"`
	}
	tableRow struct {
		Name        string          `json:"table_name"`
		Type        string          `json:"table_type"`
		Columns     []columnRow     `json:"table_columns"`
		Constraints []constraintRow `json:"table_constraints"`
	}
	columnRow struct {
		Name       string `json:"column_name"`
		Position   int    `json:"ordinal_position"` // from 1
		Remarks    string `json:"remarks"`          // the kind of the column
		Type       string `json:"xdbc_type_name"`   // in CQL
		Nullable   int    `json:"xdbc_nullable"`
		IsNullable string `json:"xdbc_is_nullable"`
	}
	constraintRow struct {
		Type    string   `json:"constraint_type"`
		Columns []string `json:"constraint_column_names"`
	}
)

// A pattern matches names: % any text, _ one character. nil matches all.
type pattern struct{ re *regexp.Regexp }

func newPattern(text *string) pattern {
	if text == nil {
		return pattern{}
	}
	quoted := regexp.QuoteMeta(*text) // leaves % and _ as they are
	return pattern{regexp.MustCompile("(?s)^" + strings.NewReplacer("%", ".*", "_", ".").Replace(quoted) + "$")}
}

func (p pattern) matches(name string) bool { return p.re == nil || p.re.MatchString(name) }

func compareNames(a, b string) int { return cmp.Compare(a, b) }

// objectFilter is what GetObjects selects.
type objectFilter struct {
	schema, table, column   pattern
	tableTypes              []string
	withTables, withColumns bool
}

// GetObjects implements adbc.Connection.
func (c *connection) GetObjects(ctx context.Context, depth adbc.ObjectDepth, catalog, dbSchema, tableName,
	columnName *string, tableType []string,
) (array.RecordReader, error) {
	f := objectFilter{
		schema: newPattern(dbSchema), table: newPattern(tableName), column: newPattern(columnName), tableTypes: tableType,
		withTables:  depth == adbc.ObjectDepthTables || depth == adbc.ObjectDepthColumns,
		withColumns: depth == adbc.ObjectDepthColumns,
	}
	if !newPattern(catalog).matches("") {
		return recordsOf(adbc.GetObjectsSchema, []catalogRow{})
	}
	row := catalogRow{}
	if depth != adbc.ObjectDepthCatalogs {
		keyspaces, err := c.keyspaces(ctx, f.schema)
		if err != nil {
			return nil, err
		}
		row.Schemas = []schemaRow{}
		for _, ks := range keyspaces {
			row.Schemas = append(row.Schemas, f.schemaRow(ks))
		}
	}
	return recordsOf(adbc.GetObjectsSchema, []catalogRow{row})
}

// keyspaces returns the keyspaces whose names match, ordered by name.
func (c *connection) keyspaces(ctx context.Context, names pattern) ([]*cql.KeyspaceMetadata, error) {
	all, err := c.session.AllKeyspaceMetadata(ctx)
	if err != nil {
		return nil, wrapped("read the schema", err)
	}
	var out []*cql.KeyspaceMetadata
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if names.matches(name) {
			out = append(out, all[name])
		}
	}
	return out, nil
}

func (f *objectFilter) schemaRow(ks *cql.KeyspaceMetadata) schemaRow {
	row := schemaRow{Name: ks.Name}
	if !f.withTables {
		return row
	}
	row.Tables = []tableRow{}
	for _, t := range tables(ks) {
		if f.table.matches(t.name) && (len(f.tableTypes) == 0 || slices.Contains(f.tableTypes, t.kind)) {
			row.Tables = append(row.Tables, f.tableRow(t))
		}
	}
	return row
}

// tableRow returns the row of a table, by the depth with its columns and its primary key.
func (f *objectFilter) tableRow(t table) tableRow {
	row := tableRow{Name: t.name, Type: t.kind}
	if !f.withColumns {
		return row
	}
	row.Columns = []columnRow{}
	for i, name := range t.names {
		if !f.column.matches(name) {
			continue
		}
		m := t.columns[name]
		c := columnRow{Name: name, Position: i + 1, Remarks: m.Kind.String(), Type: m.Validator, Nullable: 1}
		c.IsNullable = "YES"
		if isKey(m) {
			c.Nullable, c.IsNullable = 0, "NO"
		}
		row.Columns = append(row.Columns, c)
	}
	key := constraintRow{Type: "PRIMARY KEY"}
	for _, m := range slices.Concat(t.partitionKey, t.clustering) {
		key.Columns = append(key.Columns, m.Name)
	}
	row.Constraints = []constraintRow{key}
	return row
}

func isKey(m *cql.ColumnMetadata) bool {
	return m.Kind == cql.ColumnPartitionKey || m.Kind == cql.ColumnClusteringKey
}
