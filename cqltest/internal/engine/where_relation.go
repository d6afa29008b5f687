// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Compilation of single relations of WHERE clauses.

// relation compiles one relation and appends it to w, with the checks that need no other relation. what is the
// statement: SELECT, UPDATE or DELETE.
func (c *compiler) relation(w *where, rel *cql.Relation, what string) error {
	var cols []*column
	for _, name := range rel.Columns {
		col, err := c.t.lookup(name)
		if err != nil {
			return err
		}
		cols = append(cols, col)
	}
	if len(cols) == 0 {
		return invalid("A relation needs a column")
	}
	if rel.Token {
		return c.tokenRelation(w, rel, cols, what)
	}
	switch rel.Op {
	case cql.Neq:
		return invalid("Unsupported \"!=\" relation: %s != %s", relationLeft(rel), rel.Value)
	case cql.IsNull, cql.IsNotNull:
		if what != "SELECT" || !c.e.options.Scylla || !c.e.options.has(nullRelations) {
			return invalid("Unsupported restriction: %s %s", relationLeft(rel), rel.Op)
		}
		w.nulls = append(w.nulls, &restriction{cols: cols, op: rel.Op})
		w.regular = w.regular || cols[0].kind == Regular
		return nil
	case cql.Like:
		return invalid("LIKE restriction is only supported on properly indexed columns. %s LIKE %s is not valid.",
			relationLeft(rel), rel.Value)
	}
	if rel.Tuple {
		return c.tupleRelation(w, rel, cols)
	}
	r := &restriction{cols: cols, op: rel.Op}
	spec, err := c.valueSpec(r, rel)
	if err == nil {
		err = c.relationValue(r, rel, spec, what)
	}
	if err != nil {
		return err
	}
	w.all = append(w.all, r)
	return nil
}

// valueSpec returns the column that the values of a relation on one column are written for: the column itself, an entry
// of a map, or an element. It compiles the key of an entry.
func (c *compiler) valueSpec(r *restriction, rel *cql.Relation) (spec Column, err error) {
	col := r.cols[0]
	t := col.typ
	switch {
	case rel.Element != nil:
		if t.Kind == KindList {
			return spec, invalid("Indexes on list entries (%s[index] = value) are not supported.", col.name)
		}
		if t.Kind != KindMap {
			return spec, invalid("Column %s cannot be used as a map", col.name)
		}
		if rel.Op != cql.Eq {
			return spec, invalid("Only EQ relations are supported on map entries")
		}
		if t.Frozen {
			return spec, invalid("Map-entry equality predicates on frozen map column %s are not supported", col.name)
		}
		r.key, err = c.term(rel.Element, c.t.spec("key("+col.name+")", t.Elems[0]))
		return c.t.spec("value("+col.name+")", t.Elems[1]), err
	case rel.Op == cql.Contains || rel.Op == cql.ContainsKey:
		if !t.isCollection() {
			return spec, invalid("Cannot use %s on non-collection column %s", rel.Op, col.name)
		}
		if rel.Op == cql.Contains {
			return c.t.spec("value("+col.name+")", t.Elems[len(t.Elems)-1]), nil
		}
		if t.Kind != KindMap {
			return spec, invalid("Cannot use CONTAINS KEY on non-map column %s", col.name)
		}
		return c.t.spec("key("+col.name+")", t.Elems[0]), nil
	case t.multiCell() && t.Kind == KindUDT:
		return spec, invalid("Non-frozen UDT column '%s' (%s) cannot be restricted by any relation", col.name, t)
	case t.multiCell():
		return spec, invalid("Collection column '%s' (%s) cannot be restricted by a '%s' relation", col.name, t,
			rel.Op)
	case r.isSlice() && t.Kind == KindDuration:
		return spec, invalid("Slice restrictions are not supported on duration columns")
	}
	return c.t.column(col), nil
}

// relationValue compiles the value of a relation on one column, or the values of IN.
func (c *compiler) relationValue(r *restriction, rel *cql.Relation, spec Column, what string) (err error) {
	if rel.Op != cql.In {
		r.value, err = c.term(rel.Value, spec)
		return err
	}
	col := r.cols[0]
	if (col.kind == Regular || col.kind == Static) && what != "SELECT" {
		return invalid("Non PRIMARY KEY columns found in where clause: %s ", col.name)
	}
	if rel.Value != nil {
		r.value, err = c.listWithNulls(rel.Value, c.t.spec("in("+col.name+")",
			&Type{Kind: KindList, Elems: []*Type{col.typ}, Frozen: true}))
		return err
	}
	for _, e := range rel.Values {
		one := &restriction{cols: r.cols, op: cql.Eq}
		if one.value, err = c.term(e, spec); err != nil {
			return err
		}
		r.list = append(r.list, one)
	}
	return nil
}

func relationLeft(rel *cql.Relation) string {
	names := make([]string, len(rel.Columns))
	for i, n := range rel.Columns {
		names[i] = quoteName(n)
	}
	s := strings.Join(names, ", ")
	if rel.Tuple {
		s = "(" + s + ")"
	}
	return s
}

// relationText returns a relation as CQL, for error messages.
func relationText(rel *cql.Relation) string {
	right := ""
	if rel.Value != nil {
		right = rel.Value.String()
	} else {
		right = (&cql.TupleLiteral{Elems: rel.Values}).String()
	}
	return relationLeft(rel) + " " + rel.Op.String() + " " + right
}

// tokenRelation compiles a relation of token(...), which takes the whole partition key.
func (c *compiler) tokenRelation(w *where, rel *cql.Relation, cols []*column, what string) error {
	if what != "SELECT" {
		return invalid("The token function cannot be used in WHERE clauses for %s statements", what)
	}
	names := make([]string, len(c.t.pk))
	for i, col := range c.t.pk {
		names[i] = col.name
	}
	in := func(col *column) bool { return slices.Contains(cols, col) }
	switch {
	case len(cols) > len(c.t.pk):
		return invalid("The token() function must contains only partition key components")
	case slices.ContainsFunc(c.t.pk, func(col *column) bool { return !in(col) }):
		return invalid("The token() function must be applied to all partition key components or none of them")
	}
	if !slices.Equal(cols, c.t.pk) {
		return invalid("The token function arguments must be in the partition key order: %s", strings.Join(names, ", "))
	}
	r := &restriction{cols: cols, op: rel.Op}
	if rel.Op == cql.Neq {
		return invalid("Unsupported \"!=\" relation: token(%s) != %s", strings.Join(names, ", "), rel.Value)
	}
	if rel.Op != cql.Eq && !r.isSlice() {
		return invalid("%s cannot be used with the token function", rel.Op)
	}
	var err error
	if r.value, err = c.term(rel.Value, c.t.spec("partition key token", Native("bigint"))); err != nil {
		return err
	}
	w.tokens = append(w.tokens, r)
	return nil
}

// tupleRelation compiles (c1, c2) op (v1, v2) of consecutive clustering columns.
func (c *compiler) tupleRelation(w *where, rel *cql.Relation, cols []*column) error {
	t := &Type{Kind: KindTuple, Frozen: true}
	names := make([]string, len(cols))
	for i, col := range cols {
		if col.kind != Clustering {
			return invalid("Multi-column relations can only be applied to clustering columns but was applied to: %s", col.name)
		}
		if i > 0 && col.pos != cols[i-1].pos+1 {
			if slices.Contains(cols[:i], col) {
				return invalid("Column \"%s\" appeared twice in a relation: %s", col.name, relationText(rel))
			}
			return invalid("Clustering columns must appear in the PRIMARY KEY order in multi-column relations: %s",
				relationText(rel))
		}
		t.Elems = append(t.Elems, freeze(col.typ))
		names[i] = col.name
	}
	spec := c.t.spec("("+strings.Join(names, ",")+")", t)
	right := func(e cql.Expr, r *restriction) error {
		lit, ok := e.(*cql.TupleLiteral)
		if !ok {
			var err error
			r.value, err = c.term(e, spec)
			return err
		}
		if len(lit.Elems) != len(cols) {
			return invalid("Expected %d elements in value tuple, but got %d: %s", len(cols), len(lit.Elems), e)
		}
		for i, part := range lit.Elems {
			n, err := c.term(part, c.t.column(cols[i]))
			if err != nil {
				return err
			}
			r.parts = append(r.parts, n)
		}
		return nil
	}
	r := &restriction{cols: cols, op: rel.Op, tuple: true}
	switch {
	case rel.Op == cql.In && rel.Value != nil:
		spec.Name = "in" + spec.Name
		spec.Type = &Type{Kind: KindList, Elems: []*Type{t}, Frozen: true}
		var err error
		if r.value, err = c.listWithNulls(rel.Value, spec); err != nil {
			return err
		}
	case rel.Op == cql.In:
		for _, e := range rel.Values {
			one := &restriction{cols: cols, op: cql.Eq, tuple: true}
			if err := right(e, one); err != nil {
				return err
			}
			r.list = append(r.list, one)
		}
	case rel.Op == cql.Eq || r.isSlice():
		if err := right(rel.Value, r); err != nil {
			return err
		}
	default:
		return invalid("%s cannot be used for multi-column relations", rel.Op)
	}
	w.all = append(w.all, r)
	return nil
}
