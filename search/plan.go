// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/vector"
)

// A Plan is what a search will do, and why. Explain returns it.
type Plan struct {
	Exact  bool          // the rows are read and compared on the client
	Index  string        // the index that the server uses; empty for an exact search
	Metric vector.Metric // the similarity of the search
	// CQL is the statement. Its bind markers are the query, the values of the filter, and the query again. An exact search
	// appends a range of tokens, or the conditions on the partition key.
	CQL         string
	Limit       int      // rows that are requested from the server; 0 for an exact search
	Consistency string   // the consistency level
	Reasons     []string // one for each choice
	Err         error    // why the search is not possible; the other fields are then incomplete

	table  *table
	index  *index
	values []any // of the filter
	cl     *cql.Consistency
}

// String returns the plan as text, one fact a line.
func (p Plan) String() string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, text)
		}
	}
	line("statement", p.CQL)
	line("index", p.Index)
	if p.Metric != 0 {
		line("similarity", p.Metric.String())
	}
	line("consistency", p.Consistency)
	for _, reason := range p.Reasons {
		line("because", reason)
	}
	if p.Err != nil {
		line("error", p.Err.Error())
	}
	return b.String()
}

// Explain returns the plan of a search for k hits, without a request, from the schema as of the last search.
func (q *Query[T]) Explain(k int) Plan {
	p, err := q.plan(q.schema.table(), k)
	p.Err = err
	return p
}

func (p *Plan) because(format string, args ...any) {
	p.Reasons = append(p.Reasons, fmt.Sprintf(format, args...))
}

// plan decides how to search, and checks what can be checked without the server.
func (q *Query[T]) plan(t *table, k int) (Plan, error) {
	p := Plan{Exact: q.exact, table: t}
	switch {
	case q.err != nil:
		return p, q.err
	case slices.ContainsFunc(q.columns, func(name string) bool { return t.meta.Columns[name] == nil }):
		return p, errorf("%w: a column was dropped since Open; the table has: %s", ErrRow, strings.Join(t.meta.OrderedColumns, ", "))
	case k < 1:
		return p, errorf("%w: %d: want at least 1", ErrK, k)
	case q.exact:
		return p, q.planExact(&p)
	case k > MaxHits:
		return p, errorf("%w: %d: an index returns at most %d, search exactly", ErrK, k, MaxHits)
	}
	conditions, err := t.conditions(q.filter)
	if err == nil {
		p.index, err = t.choose(conditions)
	}
	if err != nil {
		return p, err
	}
	p.Index, p.Metric = p.table.keyspace+"."+p.index.name, p.index.metric
	if q.metric != 0 && q.metric != p.Metric {
		return p, errorf("%w: the index %s has %v, the search asks for %v", ErrMetric, p.Index, p.Metric, q.metric)
	}
	p.because("%v: the similarity of the index %s, the vector index of column %s on %v", p.Metric, p.Index, p.table.column, p.table.server)
	if p.Limit = min(MaxHits, int(math.Ceil(float64(k)*q.oversample))); p.Limit > k {
		p.because("%d rows are requested for %d hits, by Oversample(%v); the nearest by exact score remain", p.Limit, k, q.oversample)
	}
	q.planConsistency(&p)
	q.planText(&p, conditions)
	return p, nil
}

func (q *Query[T]) planExact(p *Plan) error {
	p.Metric = q.metric
	if i, err := p.table.serving(); err == nil && p.Metric == 0 {
		p.Metric = i.metric
		p.because("%v: the similarity of the index %s.%s", p.Metric, p.table.keyspace, i.name)
	}
	if p.Metric == 0 {
		return errorf("%w: column %s has no index, which would state the similarity: call Metric", ErrMetric, p.table.target)
	}
	p.CQL = "SELECT " + quoteNames(p.table.columnsToRead(q.columns, q.filter)) + " FROM " + p.table.inCQL()
	p.because("exact, because the search asks for it: all rows are read, or those of the partitions that the filter states")
	p.cl = q.consistency
	p.Consistency = levelOf(p.cl)
	return nil
}

// planConsistency chooses the level of a search by an index.
func (q *Query[T]) planConsistency(p *Plan) {
	switch p.cl = q.consistency; {
	case p.cl != nil:
		p.because("consistency level %v: the search asks for it", *p.cl)
	case p.table.server.Scylla:
		p.because("the consistency level of the session: ScyllaDB reads the rows that the index returns at this level")
	default:
		one := cql.LocalOne
		p.cl = &one
		p.because("consistency level LOCAL_ONE: Cassandra searches on one replica of each range")
	}
	p.Consistency = levelOf(p.cl)
}

func levelOf(level *cql.Consistency) string {
	if level == nil {
		return "of the session"
	}
	return level.String()
}

// planText makes the statement. The columns of the primary key and the score are the last ones.
func (q *Query[T]) planText(p *Plan, conditions []condition) {
	function, _ := functionOf(p.Metric)
	column := cqltext.QuoteIdentifier(p.table.column)
	selected := quoteNames(slices.Concat(q.columns, p.table.keyNames()))
	text := fmt.Sprintf("SELECT %s, similarity_%s(%s, ?) FROM %s", selected, function, column, p.table.inCQL())
	for i, c := range conditions {
		word := " AND "
		if i == 0 {
			word = " WHERE "
		}
		text += word + c.inCQL()
		p.values = append(p.values, c.values...)
	}
	text += fmt.Sprintf(" ORDER BY %s ANN OF ? LIMIT %d", column, p.Limit)
	if q.annOptions != "" {
		text += " WITH ann_options = " + q.annOptions
	}
	if len(conditions) > 0 && p.table.server.Scylla {
		text += " ALLOW FILTERING"
		p.because("ALLOW FILTERING: ScyllaDB requires it for a filter, which the index evaluates")
	}
	p.CQL = text
}

// keyNames returns the columns of the primary key.
func (t *table) keyNames() []string {
	var names []string
	for _, c := range slices.Concat(t.meta.PartitionKey, t.meta.ClusteringColumns) {
		names = append(names, c.Name)
	}
	return names
}

// choose returns the index that the server uses for a search with these conditions. A condition that no index serves
// is a *FilterError.
func (t *table) choose(conditions []condition) (*index, error) {
	first, err := t.serving()
	if err != nil {
		return nil, err
	}
	if t.server.Scylla {
		return t.chooseScylla(conditions)
	}
	if err := t.checkServed(first, conditions); err != nil {
		return nil, err
	}
	return first, nil
}

// chooseScylla chooses as vector-store does (indexes.rs, best_index): the best coverage of the filter first, then the
// newest.
func (t *table) chooseScylla(conditions []condition) (*index, error) {
	first, _ := t.serving()
	best, covered := first, -1
	for i := range t.indexes {
		if n := t.covered(&t.indexes[i], conditions); t.indexes[i].metric != first.metric {
			return nil, errorf("%w: the indexes %s and %s of column %s have %v and %v, and ScyllaDB chooses among them: drop one",
				ErrMetric, first.name, t.indexes[i].name, t.target, first.metric, t.indexes[i].metric)
		} else if n > covered {
			best, covered = &t.indexes[i], n
		}
	}
	for _, c := range conditions {
		switch regular := !t.isKey(c.column); {
		case regular && t.server.Before(2026, 1):
			return nil, t.refuse(c, best, fmt.Sprintf("%v ignores conditions of columns outside of the primary key", t.server))
		case regular && !slices.Contains(best.filters, c.column):
			return nil, t.refuse(c, best, "ScyllaDB requires the column "+c.column+" to be a filter column of the index")
		}
	}
	for _, name := range best.local {
		states := func(c condition) bool { return c.column == name && (c.op == expr.OpEq || c.op == expr.OpIn) }
		if !slices.ContainsFunc(conditions, states) {
			return nil, &FilterError{Index: best.name, Reason: "the index is local to partitions: the filter must state column " + name + " by = or IN"}
		}
	}
	return best, nil
}

// covered returns the number of conditions that an index serves; -1 if it is local and its partition key is not stated.
func (t *table) covered(i *index, conditions []condition) int {
	n := 0
	for _, name := range i.local {
		if !slices.ContainsFunc(conditions, func(c condition) bool { return c.column == name }) {
			return -1
		}
		n++
	}
	for _, c := range conditions {
		if t.isKey(c.column) || slices.Contains(i.filters, c.column) {
			n++
		}
	}
	return n
}

func (t *table) refuse(c condition, i *index, reason string) error {
	return &FilterError{Condition: c.column + " " + string(c.op), Index: i.name, Reason: reason}
}
