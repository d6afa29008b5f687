// SPDX-License-Identifier: Apache-2.0

package search

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
)

// Conditions of package expr as conditions of CQL.

// A condition is one condition of a WHERE clause: column op values.
type condition struct {
	column string
	op     expr.Op
	values []any
}

func (c condition) inCQL() string {
	markers := "?"
	if c.op == expr.OpIn {
		markers = "(" + strings.TrimSuffix(strings.Repeat("?, ", len(c.values)), ", ") + ")"
	}
	return fmt.Sprintf("%s %s %s", cqltext.QuoteIdentifier(c.column), strings.ToUpper(string(c.op)), markers)
}

// conditions converts filters. A *FilterError without an index is returned for a part that CQL cannot express.
func (t *table) conditions(filters []expr.Expr) ([]condition, error) {
	var out []condition
	for _, filter := range filters {
		for _, e := range expr.Conjuncts(filter) {
			c, err := t.condition(e)
			if err != nil {
				return nil, &FilterError{Condition: e.String(), Reason: err.Error()}
			}
			out = append(out, c)
		}
	}
	return out, nil
}

var errForm = errors.New("the server compares a column with values by =, <, <=, >, >= and IN, joined by AND")

// condition converts one conjunct of a filter.
func (t *table) condition(e expr.Expr) (condition, error) {
	for _, name := range e.Columns() {
		if t.meta.Columns[name] == nil {
			return condition{}, fmt.Errorf("the table has no column %s", name)
		}
	}
	b, err := t.boundOf(e)
	if err != nil {
		return condition{}, err
	}
	info := t.meta.Columns[b.Column].Type
	isID := info.Type() == cql.TypeUUID || info.Type() == cql.TypeTimeUUID
	switch b.Op {
	case expr.OpEq, expr.OpIn:
	case expr.OpLt, expr.OpLe, expr.OpGt, expr.OpGe:
		if isID {
			return condition{}, errors.New("the server orders UUIDs by version and time, package expr by bytes")
		}
	default:
		return condition{}, errForm
	}
	c := condition{column: b.Column, op: b.Op, values: slices.Clone(b.Values)}
	return c, c.fit(info)
}

// boundOf returns e as a comparison of a column with literals. Columns of types that package expr does not compare,
// such as decimal and inet, are compared with the literals as they are.
func (t *table) boundOf(e expr.Expr) (expr.Bound, error) {
	var schema column.Schema
	for _, name := range t.meta.OrderedColumns {
		schema = append(schema, codec.ColumnField(name, t.meta.Columns[name].Type))
	}
	p, err := expr.Compile(e, schema)
	if err == nil {
		if b, ok := p.Bound(); ok {
			return b, nil
		}
		return expr.Bound{}, errForm
	}
	n := e.Node()
	if len(n.Args) < 2 {
		return expr.Bound{}, err
	}
	name, ok := n.Args[0].Column()
	if !ok {
		return expr.Bound{}, err
	}
	b := expr.Bound{Column: name, Op: expr.Op(n.Op)}
	for _, arg := range n.Args[1:] {
		value := arg.Node()
		if value.Op != "literal" {
			return expr.Bound{}, err
		}
		b.Values = append(b.Values, value.Value)
	}
	return b, nil
}

// fit makes values of the column's type of the literals. The condition stays true for the same rows.
func (c *condition) fit(info cql.TypeInfo) error {
	for i, v := range c.values {
		if v == nil {
			return errors.New("a comparison with NULL is never true")
		}
		fitted, err := c.fitNumber(info, v)
		if err != nil {
			return err
		}
		if _, err := vecql.Marshal(info, fitted); err != nil {
			return fmt.Errorf("%v is not a %v: %w", v, info, err)
		}
		c.values[i] = fitted
	}
	return nil
}

// fitNumber converts a number for a column of floats. A bound that is not a float becomes the next float on the side of
// the rows.
func (c *condition) fitNumber(info cql.TypeInfo, v any) (any, error) {
	if info.Type() != cql.TypeFloat && info.Type() != cql.TypeDouble {
		return v, nil
	}
	var f float64
	switch v := v.(type) {
	case float64:
		f = v
	case int64:
		if f = float64(v); int64(f) != v {
			return nil, fmt.Errorf("%d is not a %v", v, info)
		}
	default:
		return v, nil
	}
	switch {
	case info.Type() == cql.TypeDouble:
		return f, nil
	case float64(float32(f)) == f || math.IsNaN(f):
		return float32(f), nil
	}
	below, above := float32(f), float32(f)
	if float64(below) > f {
		below = math.Nextafter32(below, float32(math.Inf(-1)))
	} else {
		above = math.Nextafter32(above, float32(math.Inf(1)))
	}
	switch c.op {
	case expr.OpLt, expr.OpLe:
		c.op = expr.OpLe
		return below, nil
	case expr.OpGt, expr.OpGe:
		c.op = expr.OpGe
		return above, nil
	}
	return nil, fmt.Errorf("%v is not a float: no row is equal to it", f)
}
