// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Preparation of SELECT.

// ordering is one column of ORDER BY.
type ordering struct {
	col  *column
	desc bool
}

// selectPlan is a prepared SELECT.
type selectPlan struct {
	t            *table
	where        *where
	nodes        []*node
	columns      []Column
	aggs         []func() aggregator
	aggregated   bool
	distinct     bool
	group        int // GROUP BY: number of clustering columns that distinguish groups; -1 means none
	reversed     bool
	order        []ordering // of rows from several partitions
	ann          *node
	annColumn    *column
	annIndex     *index // of Cassandra; ScyllaDB chooses one for each search
	filtering    bool   // has ALLOW FILTERING
	limit        *node
	perPartition *node
	statics      bool // a partition with only a static row yields a row
	// plain are the columns of nodes, nil for the token, if nodes are nothing else and rows are in the order of the store.
	plain []*column
}

// selectStatement prepares SELECT. The order of checks decides which error a statement with several faults gets; it
// follows Cassandra's SelectStatement.
func (c *compiler) selectStatement(s *cql.Select) (*selectPlan, error) {
	if s.NoFrom && !c.e.options.has(optionalFrom) {
		return nil, syntaxError("no viable alternative at input '<EOF>': SELECT without FROM needs ScyllaDB 2026.4")
	}
	t, err := c.s.table(c.ks, s.From.Keyspace, s.From.Name)
	if err != nil {
		return nil, err
	}
	c.t = t
	p := &selectPlan{t: t, distinct: s.Distinct, group: -1}
	if err := c.selection(p, s); err != nil {
		return nil, err
	}
	if p.where, err = c.where(s.Where, "SELECT"); err != nil {
		return nil, err
	}
	ann := len(s.OrderBy) > 0 && s.OrderBy[0].ANN != nil
	if p.filtering = s.AllowFiltering; ann && c.e.options.Scylla {
		err = c.filterOfSearch(p.where)
	} else {
		err = p.where.checkSelect(s.AllowFiltering, p.onlyStatics(s), ann)
	}
	if err != nil {
		return nil, err
	}
	p.statics = !p.where.regular && len(p.where.ck) == 0
	if s.Distinct {
		if s.PerPartitionLimit != nil {
			return nil, invalid("PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries")
		}
		if p.where.regular || len(p.where.ck) > 0 || ann {
			return nil, invalid("SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.")
		}
		if err := p.checkDistinct(s); err != nil {
			return nil, err
		}
	}
	if err := c.groupBy(p, s); err != nil {
		return nil, err
	}
	if s.PerPartitionLimit != nil && p.aggregated && p.group < 0 {
		return nil, invalid("PER PARTITION LIMIT is not allowed with aggregate queries.")
	}
	if err := c.orderBy(p, s); err != nil {
		return nil, err
	}
	if err := p.where.checkFiltering(s.AllowFiltering); err != nil {
		return nil, err
	}
	if s.PerPartitionLimit != nil {
		if p.perPartition, err = c.term(s.PerPartitionLimit, t.spec("[per_partition_limit]", Native("int"))); err != nil {
			return nil, err
		}
	}
	if s.Limit != nil {
		if p.limit, err = c.term(s.Limit, t.spec("[limit]", Native("int"))); err != nil {
			return nil, err
		}
	}
	if p.ann != nil {
		if err := c.checkANN(p); err != nil {
			return nil, err
		}
	}
	if p.aggs = c.aggs; s.JSON {
		p.selectJSON()
	}
	p.setPlain()
	return p, nil
}

// setPlain sets plain.
func (p *selectPlan) setPlain() {
	if p.aggregated || p.ann != nil || p.order != nil {
		return
	}
	columns := make([]*column, len(p.nodes))
	for i, n := range p.nodes {
		if columns[i] = n.col; n.col == nil && !n.token {
			return
		}
	}
	p.plain = columns
}

// selection compiles the SELECT clause into nodes and result columns. No selectors means *.
func (c *compiler) selection(p *selectPlan, s *cql.Select) error {
	t := p.t
	if len(s.Selectors) == 0 {
		for _, col := range t.all {
			n, err := c.column(&cql.Column{Name: col.name})
			if err != nil {
				return err
			}
			p.nodes, p.columns = append(p.nodes, n), append(p.columns, t.column(col))
		}
	}
	c.selecting = true
	defer func() { c.selecting = false }()
	for i := range s.Selectors {
		sel := &s.Selectors[i]
		n, err := c.selector(sel.Expr, nil)
		if err != nil {
			return err
		}
		name := sel.Alias
		if name == "" {
			name = cmp.Or(n.name, resultName(sel.Expr))
		}
		p.nodes, p.columns = append(p.nodes, n), append(p.columns, t.spec(name, t.resultType(sel.Expr, n)))
		p.aggregated = p.aggregated || n.agg
	}
	return nil
}

// resultType returns the type of the column of a selector. The results of minima and maxima of time UUIDs have an
// older type in Cassandra, except for a descending column.
func (t *table) resultType(e cql.Expr, n *node) *Type {
	if call, ok := e.(*cql.Call); ok && n.typ.Kind == KindTimeUUID {
		if len(call.Args) == 1 {
			if c, ok := call.Args[0].(*cql.Column); ok && t.byName[c.Name].desc {
				return n.typ
			}
		}
		switch strings.ToLower(call.Name.Name) {
		case "min", "max":
			return &Type{Kind: KindCustom, Name: marshalPackage + "LegacyTimeUUIDType"}
		}
	}
	return n.typ
}

// resultName returns Cassandra's name for the column of a selector without an alias.
func resultName(e cql.Expr) string {
	switch e := e.(type) {
	case *cql.Column:
		return e.Name
	case *cql.Call:
		name := strings.ToLower(e.Name.Name)
		if name == "tojson" {
			name = "to_json"
		}
		args := make([]string, len(e.Args))
		literal := false
		for i, a := range e.Args {
			args[i] = resultName(a)
			_, literal = a.(*cql.Literal)
		}
		switch {
		case name == "count" && (e.Star || literal):
			return "count"
		case name == "writetime" || name == "ttl" || name == "maxwritetime":
			return name + "(" + strings.Join(args, ", ") + ")"
		}
		return systemName(name) + "(" + strings.Join(args, ", ") + ")"
	case *cql.Cast:
		return "cast(" + resultName(e.Expr) + " as " + e.Type.String() + ")"
	case *cql.Field:
		return resultName(e.Of) + "." + e.Name
	case *cql.Element:
		return resultName(e.Of) + "[" + e.Index.String() + "]"
	case *cql.TypeHint:
		return "(" + e.Type.String() + ")" + resultName(e.Expr)
	case *cql.Binary:
		return resultName(e.Left) + " " + string(e.Op) + " " + resultName(e.Right)
	case *cql.Negate:
		return "-" + resultName(e.Expr)
	case *cql.TupleLiteral:
		if len(e.Elems) == 1 {
			return "(" + resultName(e.Elems[0]) + ")"
		}
	}
	return e.String()
}

// requested returns the columns that the SELECT clause names: all for *.
func (p *selectPlan) requested(s *cql.Select) (columns []*column) {
	if len(s.Selectors) == 0 {
		return p.t.all
	}
	for _, sel := range s.Selectors {
		cql.Any(sel.Expr, func(e cql.Expr) bool {
			if name, ok := e.(*cql.Column); ok && p.t.byName[name.Name] != nil {
				columns = append(columns, p.t.byName[name.Name])
			}
			return false
		})
	}
	return columns
}

// isOfRow reports whether the rows of a partition have values of their own.
func (c *column) isOfRow() bool { return c.kind == Clustering || c.kind == Regular }

// checkDistinct returns an error unless SELECT DISTINCT requests only columns that a partition has once, and all of its
// key.
func (p *selectPlan) checkDistinct(s *cql.Select) error {
	requested := p.requested(s)
	if i := slices.IndexFunc(requested, (*column).isOfRow); i >= 0 {
		return invalid("SELECT DISTINCT queries must only request partition key columns and/or static columns (not %s)",
			requested[i].name)
	}
	for _, col := range p.t.pk {
		if !slices.Contains(requested, col) && !p.where.keys {
			return invalid("SELECT DISTINCT queries must request all the partition key columns (missing %s)", col.name)
		}
	}
	return nil
}

// onlyStatics reports whether static columns are selected, and no others except columns of the partition key.
func (p *selectPlan) onlyStatics(s *cql.Select) bool {
	requested := p.requested(s)
	return slices.ContainsFunc(requested, func(c *column) bool { return c.kind == Static }) &&
		!slices.ContainsFunc(requested, (*column).isOfRow)
}

// groupBy prepares GROUP BY: columns of the primary key in order, where columns fixed by = may be left out.
func (c *compiler) groupBy(p *selectPlan, s *cql.Select) error {
	if len(s.GroupBy) == 0 {
		return nil
	}
	t := p.t
	keys := slices.Concat(t.pk, t.ck)
	fixed := func(col *column) bool {
		return slices.ContainsFunc(p.where.all, func(r *restriction) bool { return r.isEq() && slices.Contains(r.cols, col) })
	}
	next := 0
	for _, e := range s.GroupBy {
		named, ok := e.(*cql.Column)
		if !ok {
			return invalid("Group by currently only supports columns of the PRIMARY KEY: functions are not supported (%s)", e)
		}
		col, err := t.lookup(named.Name)
		if err != nil {
			return err
		}
		if !col.isKey() {
			return invalid("Group by is currently only supported on the columns of the PRIMARY KEY, got %s", col.name)
		}
		for next < len(keys) && keys[next] != col && fixed(keys[next]) {
			next++
		}
		if next >= len(keys) || keys[next] != col {
			return invalid("Group by currently only support groups of columns following their declared order in the PRIMARY KEY")
		}
		next++
	}
	if next < len(t.pk) {
		return invalid("Group by is not supported on only a part of the partition key")
	}
	if p.distinct && next > len(t.pk) {
		return invalid("Grouping on clustering columns is not allowed for SELECT DISTINCT queries")
	}
	p.group, p.aggregated = max(0, next-len(t.pk)), true
	return nil
}

// orderBy prepares ORDER BY: clustering columns in order, all as declared or all reversed; or ANN OF a vector.
func (c *compiler) orderBy(p *selectPlan, s *cql.Select) error {
	if len(s.OrderBy) == 0 {
		return nil
	}
	if s.OrderBy[0].ANN != nil {
		return c.orderByANN(p, s)
	}
	if p.where.indexed {
		return invalid("ORDER BY with 2ndary indexes is not supported, except for ANN queries.")
	}
	if !p.where.keys {
		return invalid("ORDER BY is only supported when the partition key is restricted by an EQ or an IN.")
	}
	t, next := p.t, 0
	for i, o := range s.OrderBy {
		col, err := t.lookup(o.Column)
		if err != nil {
			return err
		}
		if col.kind != Clustering {
			return invalid("Order by is currently only supported on the clustered columns of the PRIMARY KEY, got %s", col.name)
		}
		fixed := func(r *restriction) bool { return r.isEq() && slices.Contains(r.cols, t.ck[next]) }
		for next < len(t.ck) && t.ck[next] != col && slices.ContainsFunc(p.where.ck, fixed) {
			next++
		}
		if next >= len(t.ck) || t.ck[next] != col {
			return invalid("Order by currently only supports the ordering of columns following their declared order in the PRIMARY KEY")
		}
		next++
		reversed := o.Desc != col.desc
		if i > 0 && reversed != p.reversed {
			return invalid("Unsupported order by relation")
		}
		p.reversed = reversed
		p.order = append(p.order, ordering{col, o.Desc})
	}
	if !slices.ContainsFunc(p.where.pk, func(r *restriction) bool { return r.op == cql.In }) {
		p.order = nil // a single partition is already in order
	}
	return nil
}

// limitValue evaluates LIMIT; -1 means none.
func limitValue(x *env, n *node, what string) (int64, error) {
	if n == nil {
		return -1, nil
	}
	b, err := n.eval(x)
	if err != nil {
		return 0, err
	}
	if isUnset(b) {
		return -1, nil
	}
	if len(b) == 0 {
		return 0, invalid("Invalid null value of %s", strings.ToLower(what))
	}
	v := readInt(b)
	if v <= 0 {
		return 0, invalid("%s must be strictly positive", what)
	}
	return min(v, math.MaxInt32), nil
}
