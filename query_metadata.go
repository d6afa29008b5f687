// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"slices"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
)

// Metadata of statements, and values that a function computes from the metadata.

// A StatementMetadata describes a prepared statement. The caller owns its slices.
type StatementMetadata struct {
	ID          []byte           // assigned by the server
	Keyspace    string           // of the table; empty for a statement without bind markers and result columns
	Table       string           // likewise
	BindMarkers []cql.ColumnInfo // in the order of the text
	// index into BindMarkers of each partition key column, in key order; empty unless all are bound
	PartitionKey  []int
	ResultColumns []cql.ColumnInfo
}

// StatementMetadata returns the description of stmt. It prepares the statement if it is not in the session's cache. An
// empty keyspace means the session's; another keyspace needs protocol v5.
func (s *Session) StatementMetadata(ctx context.Context, stmt, keyspace string) (StatementMetadata, error) {
	p, err := s.prepare(ctx, s.defaultPolicies, keyspace, stmt)
	if err != nil {
		return StatementMetadata{}, err
	}
	return metadataOf(p, p.result.Load()), nil
}

// metadataOf returns the description of a statement. Its slices are copies.
func metadataOf(stmt *statement, plan *resultPlan) StatementMetadata {
	m := StatementMetadata{
		ID: bytes.Clone(stmt.id), BindMarkers: slices.Clone(stmt.bind), PartitionKey: slices.Clone(stmt.pkIndexes),
		ResultColumns: slices.Clone(plan.Columns),
	}
	m.Keyspace, m.Table = stmt.table()
	if len(stmt.bind) == 0 && len(plan.Columns) > 0 {
		m.Keyspace, m.Table = plan.Columns[0].Keyspace, plan.Columns[0].Table
	}
	return m
}

// Bind returns a query of stmt that calls binding for its values each time it runs.
func (s *Session) Bind(stmt string, binding func(m StatementMetadata) ([]any, error)) *Query {
	q := s.Query(stmt)
	q.binding = binding
	return q
}

// callBinding calls binding and returns a panic in it as an error.
func callBinding(binding func(StatementMetadata) ([]any, error), stmt *statement,
	plan *resultPlan,
) (values []any, err error) {
	defer background.Recover(&err)
	return binding(metadataOf(stmt, plan))
}
