// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/tablescan"
)

// Tables as a source.

type tableSource struct {
	session *vecql.Session
	name    string
}

// open reads the schema.
func (s *tableSource) open(ctx context.Context, config Config) (opened, error) {
	fail := func(err error) (opened, error) { return nil, failed("Table", fmt.Sprintf("%q", s.name), err) }
	keyspace, table, err := parseName(s.name)
	if err != nil {
		return fail(err)
	}
	if keyspace == "" {
		keyspace = s.session.Query("").GetKeyspace()
	}
	ks, err := s.session.KeyspaceMetadata(ctx, keyspace)
	if err != nil {
		return fail(err)
	}
	o := &openedTable{tableSource: s, config: config}
	var columns map[string]*cql.ColumnMetadata
	var names []string
	if view := ks.MaterializedViews[table]; view != nil {
		columns, names, o.key, o.clustering = view.Columns, view.OrderedColumns, view.PartitionKey, view.ClusteringColumns
	} else {
		t, err := s.session.TableMetadata(ctx, keyspace, table)
		if err != nil {
			return fail(err)
		}
		columns, names, o.key, o.clustering = t.Columns, t.OrderedColumns, t.PartitionKey, t.ClusteringColumns
	}
	for _, name := range names {
		o.fields = append(o.fields, codec.ColumnField(name, columns[name].Type))
	}
	o.table = cqltext.QuoteIdentifier(keyspace) + "." + cqltext.QuoteIdentifier(table)
	return o, nil
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

// An openedTable is a table with its conditions in CQL.
type openedTable struct {
	*tableSource
	config          Config
	table           string
	key, clustering []*cql.ColumnMetadata
	fields          column.Schema
	conditions      []string
	values          []any
	partitions      bool // the conditions state the partition key
	filtering       bool // the conditions need ALLOW FILTERING
}

func (o *openedTable) schema() column.Schema { return o.fields }
func (o *openedTable) ordered() bool         { return false }
func (o *openedTable) close() error          { return nil }

// push sends conditions on the partition key to the server, with those on clustering columns that CQL then permits;
// with Config.AllowFiltering all that CQL has. All are evaluated again on the rows that come, which costs little and
// leaves the meaning of comparisons to package expr.
func (o *openedTable) push(conditions []conjunct) (rest []conjunct) {
	bounds := map[string][]expr.Bound{}
	for _, c := range conditions {
		if b, ok := c.program.Bound(); ok && isServers(b) {
			bounds[b.Column] = append(bounds[b.Column], b)
		}
	}
	switch {
	case o.pushKey(bounds):
		o.partitions = true
	case o.config.AllowFiltering:
		for _, f := range o.fields {
			for _, b := range bounds[f.Name] {
				o.filtering = true
				o.condition(b)
			}
		}
	}
	return conditions
}

// pushKey adds the conditions on the primary key if they state the partition key.
func (o *openedTable) pushKey(bounds map[string][]expr.Bound) bool {
	equal := func(name string, ops ...expr.Op) (expr.Bound, bool) {
		i := slices.IndexFunc(bounds[name], func(b expr.Bound) bool { return slices.Contains(ops, b.Op) && !isEmpty(b) })
		if i < 0 {
			return expr.Bound{}, false
		}
		return bounds[name][i], true
	}
	var key []expr.Bound
	for _, c := range o.key {
		b, ok := equal(c.Name, expr.OpEq, expr.OpIn)
		if !ok {
			return false
		}
		key = append(key, b)
	}
	for _, b := range key {
		o.condition(b)
	}
	for _, c := range o.clustering {
		b, ok := equal(c.Name, expr.OpEq)
		if ok {
			o.condition(b)
			continue
		}
		for _, ops := range [][]expr.Op{{expr.OpGt, expr.OpGe}, {expr.OpLt, expr.OpLe}} {
			if b, ok := equal(c.Name, ops...); ok {
				o.condition(b)
			}
		}
		break
	}
	return true
}

// condition adds a condition in CQL.
func (o *openedTable) condition(b expr.Bound) {
	name := cqltext.QuoteIdentifier(b.Column)
	if b.Op == expr.OpIn {
		o.conditions = append(o.conditions, name+" IN ("+strings.TrimSuffix(strings.Repeat("?, ", len(b.Values)), ", ")+")")
	} else {
		o.conditions = append(o.conditions, fmt.Sprintf("%s %s ?", name, b.Op))
	}
	o.values = append(o.values, b.Values...)
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

// scan returns the rows of a SELECT.
func (o *openedTable) scan(p *plan, columns []string) (node, error) {
	n := &tableNode{openedTable: o, columns: columns}
	selected := slices.Clone(columns)
	if len(selected) == 0 {
		selected = []string{o.key[0].Name} // for the number of rows
	}
	for i := range selected {
		selected[i] = cqltext.QuoteIdentifier(selected[i])
	}
	n.statement = "SELECT " + strings.Join(selected, ", ") + " FROM " + o.table
	if len(o.conditions) > 0 {
		n.statement += " WHERE " + strings.Join(o.conditions, " AND ")
	}
	if o.filtering {
		n.statement += " ALLOW FILTERING"
	}
	way := "by token ranges"
	if o.partitions {
		way = "by partitions"
	}
	n.meter = p.describe("table, %s: %s", way, n.statement)
	return n, nil
}

type tableNode struct {
	*openedTable
	columns   []string
	statement string
	meter     *meter
	rows      atomic.Int64
}

func (n *tableNode) workers() int {
	switch {
	case n.partitions:
		return 1
	case n.config.Workers > 0:
		return n.config.Workers
	}
	return 8 // the default of tablescan
}

func (n *tableNode) run(ctx context.Context, f emit) error {
	if !n.partitions {
		c := tablescan.Config{Workers: n.workers(), Values: n.values}
		scan, err := tablescan.New(ctx, n.session, n.statement, c)
		if err != nil {
			return n.failed(err)
		}
		return n.failed(scan.Run(ctx, func(worker int, b *column.Batch) error { return n.pass(worker, b, f) }))
	}
	for b, err := range n.session.Query(n.statement, n.values...).BorrowBatches(ctx) {
		if err == nil && b.Rows > 0 {
			err = n.pass(0, b, f)
		}
		if err != nil {
			return n.failed(err)
		}
	}
	return nil
}

func (n *tableNode) failed(err error) error {
	return failed("Table", fmt.Sprintf("%q", n.name), err)
}

// pass numbers the rows of a batch and passes them on.
func (n *tableNode) pass(worker int, b *column.Batch, f emit) error {
	columns := b.Columns[:len(n.columns)]
	rows := int64(b.Rows)
	numbered := column.Batch{Columns: columns, Rows: b.Rows, Source: b.Source}
	numbered.Source.FirstRow = n.rows.Add(rows) - rows
	n.meter.rows.Add(rows)
	return f(worker, part{b: &numbered})
}
