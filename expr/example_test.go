// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"fmt"
	"math/big"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
)

func Example() {
	batch := column.NewBatch(
		column.Strings("name", []string{"lamp", "chair", "armchair", "desk"}),
		column.Of("price", []int32{20, 45, 120, 0}).WithNulls([]bool{false, false, false, true}),
	)
	e, err := expr.Parse("price > 30 and name like '%chair'")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := expr.Compile(e, batch.Schema())
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := p.Select(batch, nil)
	fmt.Println(rows, err)
	// Output: [1 2] <nil>
}

func ExampleExpr() {
	e := expr.Col("price").Mul(1.19).Gt(100).And(expr.Col("name").In("lamp", "desk").Not())
	fmt.Println(e)
	fmt.Println(e.Columns())
	// Output:
	// price * 1.19 > 100 and not name in ('lamp', 'desk')
	// [price name]
}

func ExampleParse() {
	e, err := expr.Parse("case when at >= date '2026-01-01' then lower(name) else 'old' end")
	fmt.Println(e, err)
	_, err = expr.Parse("price > 3 or name like")
	fmt.Println(err)
	// Output:
	// case when at >= date '2026-01-01' then lower(name) else 'old' end <nil>
	// expr: at offset 22: found the end, want a column, a literal or a function
}

func ExampleCompile() {
	schema := column.Schema{{Name: "name", Type: column.Type{Kind: column.String}}}
	e, err := expr.Parse("length(name) > 3 and name > 3")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = expr.Compile(e, schema)
	fmt.Println(err)
	// Output: expr: at offset 21: name > 3: name is string, which does not compare with 3
}

func ExampleProgram_Eval() {
	batch := column.NewBatch(
		column.Of("id", []int64{1, 2, 3}),
		column.Matrix("embedding", []float32{3, 4, 0, 1, 1, 0}, 2),
	)
	p, err := expr.Compile(expr.Col("embedding").L2([]float32{0, 0}), batch.Schema())
	if err != nil {
		fmt.Println(err)
		return
	}
	distance, err := p.Eval(batch)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(column.NewBatch(batch.Columns[0], distance.As("distance")))
	// Output:
	//    id  distance
	// int64   float64
	//     1         5
	//     2         1
	//     3         1
	// 3 rows
}

func ExampleProgram_Nullable() {
	schema := column.Schema{
		{Name: "id", Type: column.TypeOf[int64]()},
		{Name: "price", Type: column.TypeOf[float64](), Nullable: true},
	}
	for _, e := range []expr.Expr{expr.Col("id").Mul(2), expr.Col("price").Mul(2), expr.Coalesce(expr.Col("price"), 0)} {
		p, err := expr.Compile(e, schema)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p, p.Nullable())
	}
	// Output:
	// id * 2 false
	// price * 2 true
	// coalesce(price, 0) false
}

func ExampleProgram_Refine() {
	batch := column.NewBatch(column.Of("a", []int64{1, 2, 3, 4}), column.Of("b", []int64{0, 0, 9, 9}))
	rows := []int32{}
	for _, e := range expr.Conjuncts(expr.Col("a").Gt(1).And(expr.Col("b").Lt(5))) {
		p, err := expr.Compile(e, batch.Schema())
		if err != nil {
			fmt.Println(err)
			return
		}
		if bound, ok := p.Bound(); ok {
			fmt.Println(bound.Column, bound.Op, bound.Values)
		}
		if len(rows) == 0 {
			rows, err = p.Select(batch, rows)
		} else {
			rows, err = p.Refine(batch, rows)
		}
		fmt.Println(rows, err)
	}
	// Output:
	// a > [1]
	// [1 2 3] <nil>
	// b < [5]
	// [1] <nil>
}

// Decimals are exact: 0.1 beside a decimal is a tenth.
func ExampleLit_decimal() {
	price, err := column.Of("price", []int64{1999, 10}).WithType(column.Type{Kind: column.Decimal64, Precision: 9, Scale: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := column.NewBatch(price)
	for _, e := range []expr.Expr{expr.Col("price").Mul(0.1), expr.Col("price").Add(cql.Decimal{Unscaled: big.NewInt(5), Scale: 3})} {
		p, err := expr.Compile(e, batch.Schema())
		if err != nil {
			fmt.Println(err)
			return
		}
		c, err := p.Eval(batch)
		fmt.Println(e, p.Type(), c.Value(0), c.Value(1), err)
	}
	// Output:
	// price * 0.1 decimal64(10, 3) 1.999 0.010 <nil>
	// price + decimal '0.005' decimal64(11, 3) 19.995 0.105 <nil>
}

// A set has the values of a column, which may be many.
func ExampleExpr_InSet() {
	members := column.Strings("name", []string{"desk", "lamp"})
	set, err := expr.NewSet(members.Type)
	if err == nil {
		err = set.Add(&members)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := column.NewBatch(column.Strings("item", []string{"chair", "lamp", "desk"}))
	p, err := expr.Compile(expr.Col("item").InSet(set), batch.Schema())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Select(batch, nil))
	// Output:
	// [1 2] <nil>
}

// The type of a value of another column stays as it is.
func ExampleLitAs() {
	small := column.Of("small", []int8{3})
	for _, e := range []expr.Expr{expr.Lit(small.Value(0)), expr.LitAs(small.Value(0), small.Type)} {
		p, err := expr.Compile(e, nil)
		fmt.Println(e, p.Type(), err)
	}
	// Output:
	// 3 int64 <nil>
	// 3 int8 <nil>
}
