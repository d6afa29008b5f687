// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"testing"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// Situations of expressions.

func exprSituations() []situation {
	// eval evaluates a text on one row.
	eval := func(text string) func(*testing.T) error {
		return func(*testing.T) error {
			batch := column.NewBatch(column.Of("id", []int64{7}), column.Strings("name", []string{"lamp"}))
			e, err := expr.Parse(text)
			if err != nil {
				return err
			}
			p, err := expr.Compile(e, batch.Schema())
			if err != nil {
				return err
			}
			_, err = p.Eval(batch)
			return err
		}
	}
	return []situation{
		{"expr.SyntaxError", "parse a comparison without its second operand", as[*expr.SyntaxError](), eval("id > 3 and name like")},
		{"expr.CompileError", "compare a text with a number", as[*expr.CompileError](), eval("id > 3 and name > 3")},
		{"expr.CompileError", "mention a column that does not exist", as[*expr.CompileError](), eval("price > 3")},
		{"expr.RowError", "divide by zero", as[*expr.RowError](), eval("id / (id - 7)")},
		{"expr.ErrDivision", "divide by zero", is(expr.ErrDivision), eval("id % (id - 7)")},
		{"expr.ErrOverflow", "multiply large integers", is(expr.ErrOverflow), eval("id * 9223372036854775807")},
		{"expr.ErrCast", "cast a text that is no number", is(expr.ErrCast), eval("cast(name as int32)")},
	}
}
