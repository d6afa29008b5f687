// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/internal/lex"
	"github.com/vecql/vecql/pipe"
)

// GROUPING SETS, ROLLUP and CUBE: the rows are grouped by each set of keys, and the groups are united. A key that a set
// lacks is NULL in its groups.

// mostSets is the maximum number of grouping sets. Each one reads the source.
const mostSets = 64

// A keySet is the keys of one grouping.
type keySet []expr.Expr

// String returns the text of the set within GROUPING SETS.
func (s keySet) String() string { return "(" + joined(s) + ")" }

// groups parses what follows GROUP BY.
func (p *parser) groups(s *Statement) {
	if p.all("having", "order", "limit", "offset", "fetch") {
		s.GroupBy = p.keysOf(s)
		return
	}
	several := false
	sets := []keySet{nil}
	for more := true; more; more = p.sign(",") {
		element, isSet := p.groupElement()
		sets, several = p.product(sets, element), several || isSet
	}
	if !several {
		s.GroupBy = sets[0]
		return
	}
	s.Sets = sets
	for _, e := range slices.Concat(sets...) {
		if !slices.ContainsFunc(s.GroupBy, func(k expr.Expr) bool { return k.String() == e.String() }) {
			s.GroupBy = append(s.GroupBy, e)
		}
	}
}

// groupElement parses an expression, which is one set, or several sets.
func (p *parser) groupElement() (sets []keySet, several bool) {
	before := p.Lexer
	switch {
	case p.called() && p.word("rollup"):
		return p.rollup(), true
	case p.called() && p.word("cube"):
		return p.cube(), true
	case p.word("grouping"):
		if p.called() && p.word("sets") {
			return p.groupingSets(), true
		}
		p.Lexer = before // a column, or the function
	}
	return []keySet{{p.expr()}}, false
}

// rollup parses the keys of ROLLUP: the sets are all of them, all but the last, and so on to none.
func (p *parser) rollup() []keySet {
	keys := inParentheses(p, p.keySet)
	sets := make([]keySet, 0, len(keys)+1)
	for n := len(keys); n >= 0; n-- {
		sets = append(sets, slices.Concat(keys[:n]...))
	}
	return sets
}

// cube parses the keys of CUBE: the sets are all subsets.
func (p *parser) cube() []keySet {
	sets := []keySet{nil}
	for _, key := range inParentheses(p, p.keySet) {
		sets = p.product(sets, []keySet{key, nil})
	}
	return sets
}

// groupingSets parses the elements of GROUPING SETS.
func (p *parser) groupingSets() []keySet {
	return slices.Concat(inParentheses(p, func() []keySet {
		if p.isSign("(") {
			return []keySet{p.keySet()}
		}
		sets, _ := p.groupElement()
		return sets
	})...)
}

// keySet parses keys in parentheses, perhaps none, or one key.
func (p *parser) keySet() keySet {
	if !p.beforeKeys() {
		return keySet{p.expr()}
	}
	before := p.Lexer
	if p.next(); p.sign(")") {
		return nil
	}
	p.Lexer = before
	return inParentheses(p, p.expr)
}

// beforeKeys reports whether the token is a parenthesis of keys: what follows the closing one ends the key.
func (p *parser) beforeKeys() bool {
	if !p.isSign("(") {
		return false
	}
	l := p.Lexer
	for depth := 0; l.Token != lex.End; {
		if l.Token == lex.Sign && l.Word == "(" {
			depth++
		}
		closing := l.Token == lex.Sign && l.Word == ")"
		if closing {
			depth--
		}
		if l.Scan() != "" {
			return false
		}
		if closing && depth == 0 {
			return l.Token == lex.Sign && (l.Word == "," || l.Word == ")")
		}
	}
	return false
}

// product returns the unions of each set of a with each set of b.
func (p *parser) product(a, b []keySet) (sets []keySet) {
	if len(a)*len(b) > mostSets {
		p.stop(at(p.Text, p.Start, fmt.Errorf("more than %d grouping sets", mostSets)))
		return a
	}
	for _, x := range a {
		for _, y := range b {
			sets = append(sets, slices.Concat(x, y))
		}
	}
	return sets
}

// inParentheses parses elements between commas, in parentheses.
func inParentheses[T any](p *parser, element func() T) []T {
	if !p.sign("(") {
		p.fail("(")
	}
	all := list(p, element)
	if !p.sign(")") {
		p.fail(", or )")
	}
	return all
}

// A groupingCall is grouping(key, ...) as a column of the groups.
type groupingCall struct {
	column string
	keys   []string // the columns
}

// groupingOf returns the column of grouping(key, ...): a bit for each key, the last one the lowest, that is 1 in the
// groups of sets without the key.
func (g *grouping) groupingOf(e expr.Expr, n expr.Node) expr.Expr {
	call := groupingCall{column: fresh(g.wanted(e.String()), g.names)}
	for _, a := range n.Args {
		key, ok := g.keys[g.aliased(a).String()]
		if !ok {
			g.fail(a, "grouping of %s, which is not in GROUP BY", a)
		}
		call.keys = append(call.keys, key)
	}
	if g.s.Sets == nil {
		return expr.Lit(0)
	}
	g.names, g.calls = append(g.names, call.column), append(g.calls, call)
	return expr.Col(call.column)
}

// value returns the bits for a set of keys.
func (c groupingCall) value(set []string) (bits int64) {
	for _, key := range c.keys {
		bits <<= 1
		if !slices.Contains(set, key) {
			bits |= 1
		}
	}
	return bits
}

// grouped returns the groups of some key columns.
func (g *grouping) grouped(keys []string) pipe.Pipe {
	p := g.distinct.grouped(g.plan.Pipe, keys)
	switch {
	case len(keys) > 0:
		return p.GroupBy(keys...).Aggregate(g.aggregates...)
	case len(g.aggregates) > 0:
		return p.Aggregate(g.aggregates...)
	}
	return p.Aggregate(groupby.Count().As("count(*)"))
}

// readsInput reports whether the rows of a statement come from standard input, which can be read once.
func (s *Statement) readsInput() bool {
	switch {
	case s.Set != nil:
		return s.Set.Left.readsInput() || s.Set.Right.readsInput()
	case s.From.Query != nil:
		return s.From.Query.readsInput()
	}
	return slices.Contains(s.From.Files, "-") || slices.Contains(s.From.Files, "/dev/stdin")
}

// united returns the groups of all sets of key columns.
func (g *grouping) united(all []string) pipe.Pipe {
	if len(g.s.Sets) > 1 && g.s.readsInput() {
		err := errors.New("grouping sets of standard input, which can be read once: write it to a file first")
		g.err = cmp.Or(g.err, at(g.s.Text, -1, err))
	}
	schema, err := g.plan.Pipe.Schema(g.ctx)
	if err != nil || g.err != nil {
		g.err = cmp.Or(g.err, g.plan.Locate(err))
		return g.plan.Pipe
	}
	members := make([]pipe.Pipe, len(g.s.Sets))
	for i, set := range g.s.Sets {
		var keys []string
		for _, e := range set {
			if name := g.keys[g.key(e).String()]; !slices.Contains(keys, name) {
				keys = append(keys, name)
			}
		}
		members[i] = g.member(keys, all, schema)
	}
	return pipe.Union(members...)
}

// member returns the groups of one set of keys, with the columns of all sets.
func (g *grouping) member(keys, all []string, schema column.Schema) pipe.Pipe {
	p := g.grouped(keys)
	for _, name := range all {
		if !slices.Contains(keys, name) {
			p = p.With(name, "?", expr.LitAs(nil, schema[schema.Index(name)].Type))
		}
	}
	for _, c := range g.calls {
		p = p.With(c.column, "?", expr.Lit(c.value(keys)))
	}
	return p.Select(g.names...)
}
