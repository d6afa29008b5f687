// SPDX-License-Identifier: Apache-2.0

// Package clustertable has the type for a table of one of several clusters, which comparisons and copies pass around,
// with its columns and statements.
package clustertable

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// A Table is a table or a view of a cluster.
type Table struct {
	Session  *vecql.Session
	Metadata *cql.TableMetadata
}

// Find returns the table of a name in CQL: shop.items, or items in the keyspace of the session. The server resolves the
// name.
func Find(ctx context.Context, session *vecql.Session, name string) (Table, error) {
	m, err := session.StatementMetadata(ctx, "SELECT * FROM "+name, "")
	if err != nil {
		return Table{}, err
	}
	t, err := session.TableMetadata(ctx, m.Keyspace, m.Table)
	return Table{session, t}, err
}

// Name returns the table with its keyspace, for people.
func (t Table) Name() string { return t.Metadata.Keyspace + "." + t.Metadata.Name }

// CQL returns the table with its keyspace as CQL.
func (t Table) CQL() string { return cqltext.QualifiedName(t.Metadata.Keyspace, t.Metadata.Name) }

// Select returns the SELECT of columns, which are CQL. where is a condition, empty for all rows.
func (t Table) Select(columns []string, where string) string {
	text := "SELECT " + strings.Join(columns, ", ") + " FROM " + t.CQL()
	if where != "" {
		text += " WHERE " + where
	}
	return text
}

// PrimaryKey returns the columns of the primary key of a table.
func PrimaryKey(t *cql.TableMetadata) []*cql.ColumnMetadata {
	return slices.Concat(t.PartitionKey, t.ClusteringColumns)
}

// Columns returns the primary key of a source and then the named columns, all for nil. The target must have them with
// the same types.
func Columns(source, target *cql.TableMetadata, names []string) ([]*cql.ColumnMetadata, error) {
	columns := PrimaryKey(source)
	if names == nil {
		names = source.OrderedColumns
	}
	for _, name := range names {
		c := source.Columns[name]
		if c == nil {
			return nil, fmt.Errorf("table %s.%s has no column %q", source.Keyspace, source.Name, name)
		}
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	for _, c := range columns {
		switch other := target.Columns[c.Name]; {
		case other == nil:
			return nil, fmt.Errorf("table %s.%s has no column %q", target.Keyspace, target.Name, c.Name)
		case other.Validator != c.Validator:
			return nil, fmt.Errorf("column %q of %s.%s is %s, in %s.%s it is %s", c.Name, target.Keyspace, target.Name,
				other.Validator, source.Keyspace, source.Name, c.Validator)
		}
	}
	return columns, nil
}

// Names returns the names of columns.
func Names(columns []*cql.ColumnMetadata) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// Quoted returns names as identifiers of CQL.
func Quoted(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = cqltext.QuoteIdentifier(name)
	}
	return quoted
}

// IsSystem reports whether a keyspace belongs to the server.
func IsSystem(keyspace string) bool {
	return keyspace == "system" || strings.HasPrefix(keyspace, "system_") || keyspace == "dse_system"
}
