// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
)

// Tables as sources of package pipe.

// A Source is a table at the start of a chain of package pipe:
//
//	pipe.From(tablescan.Source{Session: session, Table: "shop.items"}).Where("id = 7")
//
// If conditions of the chain state the partition key, it reads these partitions, otherwise all ranges of tokens.
type Source struct {
	Session *vecql.Session
	// Table is the name of a table or a materialized view as in CQL: "shop.items", or "items" in the keyspace of the
	// session.
	Table string
	// AllowFiltering lets the server evaluate conditions that CQL permits only with ALLOW FILTERING. Without it such
	// conditions are evaluated on the rows that are read.
	AllowFiltering bool
	// Query, if not nil, is called for each request, on several goroutines at once, to set options such as Consistency.
	Query func(q *vecql.Query)
}

// Label returns Table and its name.
func (s Source) Label() (verb, text string) { return "Table", fmt.Sprintf("%q", s.Table) }

// Open reads the schema.
func (s Source) Open(ctx context.Context) (*SourceRows, error) {
	keyspace, table, err := parseName(s.Table)
	if err != nil {
		return nil, err
	}
	if keyspace == "" {
		keyspace = s.Session.Query("").GetKeyspace()
	}
	ks, err := s.Session.KeyspaceMetadata(ctx, keyspace)
	if err != nil {
		return nil, err
	}
	r := &SourceRows{source: s, bounds: map[string][]expr.Bound{}}
	var columns map[string]*cql.ColumnMetadata
	var names []string
	if view := ks.MaterializedViews[table]; view != nil {
		columns, names, r.key, r.clustering = view.Columns, view.OrderedColumns, view.PartitionKey, view.ClusteringColumns
	} else {
		t, err := s.Session.TableMetadata(ctx, keyspace, table)
		if err != nil {
			return nil, err
		}
		columns, names, r.key, r.clustering = t.Columns, t.OrderedColumns, t.PartitionKey, t.ClusteringColumns
	}
	for _, name := range names {
		r.fields = append(r.fields, codec.ColumnField(name, columns[name].Type))
	}
	r.table = cqltext.QuoteIdentifier(keyspace) + "." + cqltext.QuoteIdentifier(table)
	return r, nil
}

// parseName splits the name of a table.
func parseName(name string) (keyspace, table string, err error) {
	var words []string
	for _, word := range cqltext.Tokens(name) {
		words = append(words, cqltext.UnquoteIdentifier(word))
	}
	switch {
	case len(words) == 1:
		return "", words[0], nil
	case len(words) == 3 && words[1] == ".":
		return words[0], words[2], nil
	}
	return "", "", errors.New(`want the name of a table: "keyspace.table" or "table"`)
}

// SourceRows are the rows of a Source in one run of a chain: package pipe calls the methods.
type SourceRows struct {
	source          Source
	table           string
	key, clustering []*cql.ColumnMetadata
	fields          column.Schema
	bounds          map[string][]expr.Bound // by column, of comparisons that the server can evaluate
	conditions      []string                // in CQL
	values          []any                   // of conditions
	partitions      bool                    // the conditions state the partition key
	filtering       bool                    // the conditions need ALLOW FILTERING
	statement       string
	workers         int
}

// Schema returns the columns of the table.
func (r *SourceRows) Schema() column.Schema { return r.fields }

// Close does nothing: the session is the caller's.
func (r *SourceRows) Close() error { return nil }

// Filter collects the conditions that the server can evaluate. It returns false: evaluating them again costs little,
// and leaves the meaning of comparisons to package expr.
func (r *SourceRows) Filter(b expr.Bound) bool {
	if isServers(b) {
		r.bounds[b.Column] = append(r.bounds[b.Column], b)
	}
	return false
}

// Scan makes the statement. It sends conditions on the partition key to the server, with those on clustering columns
// that CQL then permits; with AllowFiltering all that CQL has. Partitions are read by one goroutine, token ranges by
// Config.Workers, with their default.
func (r *SourceRows) Scan(columns []string, workers int) (line string, goroutines int, err error) {
	switch {
	case r.stateKey():
		r.partitions = true
	case r.source.AllowFiltering:
		for _, f := range r.fields {
			for _, b := range r.bounds[f.Name] {
				r.filtering = true
				r.condition(b)
			}
		}
	}
	r.statement = r.selectFrom(columns)
	if r.partitions {
		return "table, by partitions: " + r.statement, 1, nil
	}
	r.workers = cmp.Or(workers, defaultWorkers)
	return "table, by token ranges: " + r.statement, r.workers, nil
}

// selectFrom returns a SELECT of columns, of one column if there are none, for the number of rows.
func (r *SourceRows) selectFrom(columns []string) string {
	if len(columns) == 0 {
		columns = []string{r.key[0].Name}
	}
	quoted := make([]string, len(columns))
	for i, name := range columns {
		quoted[i] = cqltext.QuoteIdentifier(name)
	}
	statement := "SELECT " + strings.Join(quoted, ", ") + " FROM " + r.table
	if len(r.conditions) > 0 {
		statement += " WHERE " + strings.Join(r.conditions, " AND ")
	}
	if r.filtering {
		statement += " ALLOW FILTERING"
	}
	return statement
}

// stateKey adds the conditions on the primary key if they state the partition key.
func (r *SourceRows) stateKey() bool {
	equal := func(name string, ops ...expr.Op) (expr.Bound, bool) {
		i := slices.IndexFunc(r.bounds[name], func(b expr.Bound) bool { return slices.Contains(ops, b.Op) && !isEmpty(b) })
		if i < 0 {
			return expr.Bound{}, false
		}
		return r.bounds[name][i], true
	}
	var key []expr.Bound
	for _, c := range r.key {
		b, ok := equal(c.Name, expr.OpEq, expr.OpIn)
		if !ok {
			return false
		}
		key = append(key, b)
	}
	for _, b := range key {
		r.condition(b)
	}
	for _, c := range r.clustering {
		b, ok := equal(c.Name, expr.OpEq)
		if ok {
			r.condition(b)
			continue
		}
		for _, ops := range [][]expr.Op{{expr.OpGt, expr.OpGe}, {expr.OpLt, expr.OpLe}} {
			if b, ok := equal(c.Name, ops...); ok {
				r.condition(b)
			}
		}
		break
	}
	return true
}

// condition adds a condition in CQL.
func (r *SourceRows) condition(b expr.Bound) {
	name := cqltext.QuoteIdentifier(b.Column)
	if b.Op == expr.OpIn {
		r.conditions = append(r.conditions, name+" IN ("+strings.TrimSuffix(strings.Repeat("?, ", len(b.Values)), ", ")+")")
	} else {
		r.conditions = append(r.conditions, fmt.Sprintf("%s %s ?", name, b.Op))
	}
	r.values = append(r.values, b.Values...)
}

// isServers reports whether CQL has the comparison and the exact values of a bound.
func isServers(b expr.Bound) bool {
	switch b.Op {
	case expr.OpEq:
	case expr.OpLt, expr.OpLe, expr.OpGt, expr.OpGe:
		if b.Type.Kind == column.UUID {
			return false // CQL orders them by version and time, package expr by bytes
		}
	case expr.OpIn:
		if len(b.Values) == 0 {
			return false
		}
	default:
		return false
	}
	return !slices.ContainsFunc(b.Values, func(v any) bool { return !isExact(b.Type, v) })
}

// isExact reports whether a literal is a value of a column's type, for types that CQL compares as package expr does.
func isExact(t column.Type, v any) bool {
	switch v := v.(type) {
	case bool:
		return t.Kind == column.Bool
	case int64:
		width := 8 * t.ValueWidth()
		return t.Kind >= column.Int8 && t.Kind <= column.Int64 && v<<(64-width)>>(64-width) == v
	case string:
		return t.Kind == column.String
	case time.Time:
		return t.Kind == column.Timestamp && v.Equal(v.Truncate(time.Millisecond))
	case cql.UUID:
		return t.Kind == column.UUID
	}
	return false
}

// isEmpty reports whether a bound has an empty text, which a partition key cannot be.
func isEmpty(b expr.Bound) bool { return slices.Contains(b.Values, any("")) }

// Run passes on the rows of the statement.
func (r *SourceRows) Run(ctx context.Context, f func(worker int, b *column.Batch) error) error {
	if !r.partitions {
		scan, err := New(ctx, r.source.Session, r.statement, Config{
			Workers: r.workers, Values: r.values, Query: r.source.Query,
		})
		if err != nil {
			return err
		}
		return scan.Run(ctx, f)
	}
	q := r.source.Session.Query(r.statement, r.values...)
	if r.source.Query != nil {
		r.source.Query(q)
	}
	for b, err := range q.BorrowBatches(ctx) {
		if err == nil && b.Rows > 0 {
			err = f(0, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
