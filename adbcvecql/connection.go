// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
)

// Connections.

// A connection implements adbc.Connection, adbc.ConnectionGetStatistics and adbc.GetSetOptions. It uses a session of
// its database, whose keyspace is the current schema.
type connection struct {
	optionSet
	db      *database
	session *vecql.Session
	closed  bool
}

var (
	_ adbc.Connection              = (*connection)(nil)
	_ adbc.ConnectionGetStatistics = (*connection)(nil)
	_ adbc.GetSetOptions           = (*connection)(nil)
	_ adbc.GetSetOptions           = (*database)(nil)
	_ adbc.GetSetOptions           = (*statement)(nil)
	_ adbc.StatementExecuteSchema  = (*statement)(nil)
)

// SetOption implements adbc.PostInitOptions. Another current schema needs another session.
func (c *connection) SetOption(key, value string) error {
	if err := c.optionSet.SetOption(key, value); err != nil || key != adbc.OptionKeyCurrentDbSchema {
		return err
	}
	s, err := c.db.session(context.Background(), value)
	if err == nil {
		c.session = s
	}
	return err
}

// Close implements adbc.Connection. The session stays open for other connections of the database.
func (c *connection) Close() error {
	if c.closed {
		return failed(adbc.StatusInvalidState, "the connection is closed already")
	}
	c.closed = true
	return nil
}

// Commit implements adbc.Connection.
func (c *connection) Commit(context.Context) error {
	return failed(adbc.StatusInvalidState, "CQL has no transactions: each statement is its own, there is nothing to commit")
}

// Rollback implements adbc.Connection.
func (c *connection) Rollback(context.Context) error {
	return failed(adbc.StatusInvalidState, "CQL has no transactions: nothing can be rolled back")
}

// NewStatement implements adbc.Connection.
func (c *connection) NewStatement() (adbc.Statement, error) {
	if c.closed {
		return nil, failed(adbc.StatusInvalidState, "the connection is closed")
	}
	return &statement{optionSet: c.inherit(ofStatement), conn: c}, nil
}

// A table is a table or a view.
type table struct {
	keyspace, name string
	kind           string // in GetTableTypes
	names          []string
	columns        map[string]*cql.ColumnMetadata
	partitionKey   []*cql.ColumnMetadata
	clustering     []*cql.ColumnMetadata
}

const (
	kindTable = "TABLE"
	kindView  = "MATERIALIZED VIEW"
)

// tables returns the tables and views of a keyspace, ordered by name.
func tables(ks *cql.KeyspaceMetadata) []table {
	var out []table
	for _, t := range ks.Tables {
		out = append(out, table{
			ks.Name, t.Name, kindTable, t.OrderedColumns, t.Columns, t.PartitionKey, t.ClusteringColumns,
		})
	}
	for _, v := range ks.MaterializedViews {
		out = append(out, table{
			ks.Name, v.Name, kindView, v.OrderedColumns, v.Columns, v.PartitionKey, v.ClusteringColumns,
		})
	}
	slices.SortFunc(out, func(a, b table) int { return compareNames(a.name, b.name) })
	return out
}

// table returns a table or a view. nil means the current schema.
func (c *connection) table(ctx context.Context, keyspace *string, name string) (table, error) {
	in := c.get(adbc.OptionKeyCurrentDbSchema)
	if keyspace != nil && *keyspace != "" {
		in = *keyspace
	}
	if in == "" {
		return table{}, failed(adbc.StatusInvalidArgument, "no keyspace for table %s: set %s", name,
			adbc.OptionKeyCurrentDbSchema)
	}
	ks, err := c.session.KeyspaceMetadata(ctx, in)
	if err != nil {
		return table{}, wrapped("read the schema of "+in, err)
	}
	all := tables(ks)
	if i := slices.IndexFunc(all, func(t table) bool { return t.name == name }); i >= 0 {
		return all[i], nil
	}
	return table{}, wrapped("read the schema", fmt.Errorf("%w: %s.%s", vecql.ErrNoTable, in, name))
}

// The metadata of fields of tables. Ingest reads it.
const (
	metadataKind     = "cassandra.kind"     // partition_key, clustering, static or regular
	metadataPosition = "cassandra.position" // in the partition key or among the clustering columns, from 0; -1 for others
	metadataType     = "cassandra.type"     // in CQL
)

// GetTableSchema implements adbc.Connection. The metadata of the fields has the key and the CQL types.
func (c *connection) GetTableSchema(ctx context.Context, catalog, dbSchema *string, name string,
) (*arrow.Schema, error) {
	if catalog != nil && *catalog != "" {
		return nil, failed(adbc.StatusNotFound, "no catalog %q: there are no catalogs", *catalog)
	}
	t, err := c.table(ctx, dbSchema, name)
	if err != nil {
		return nil, err
	}
	s := c.shape()
	columns := make(column.Schema, len(t.names))
	for i, name := range t.names {
		columns[i] = s.field(codec.ColumnField(name, t.columns[name].Type))
	}
	schema, err := arrowcolumn.Schema(columns)
	if err != nil {
		return nil, wrapped("the schema of "+name, err)
	}
	fields := schema.Fields()
	for i := range fields {
		m := t.columns[fields[i].Name]
		fields[i] = withMetadata(fields[i], metadataKind, m.Kind.String(), metadataPosition, fmt.Sprint(m.ComponentIndex),
			metadataType, m.Validator)
	}
	return arrow.NewSchema(fields, nil), nil
}

// withMetadata returns a field with further metadata: keys and values in turn.
func withMetadata(f arrow.Field, pairs ...string) arrow.Field {
	keys, values := f.Metadata.Keys(), f.Metadata.Values()
	for i := 0; i < len(pairs); i += 2 {
		keys, values = append(keys, pairs[i]), append(values, pairs[i+1])
	}
	f.Metadata = arrow.NewMetadata(keys, values)
	return f
}

// GetTableTypes implements adbc.Connection.
func (c *connection) GetTableTypes(context.Context) (array.RecordReader, error) {
	type row struct {
		Type string `json:"table_type"`
	}
	return recordsOf(adbc.TableTypesSchema, []row{{kindTable}, {kindView}})
}
