// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// The compiled programs are equal to the reference.

func TestEqualsReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compiled := 0
	for i := range 130 {
		data := make([]byte, 200)
		for k := range data {
			data[k] = byte(r.Uint32())
		}
		rows := 1 + i%90
		if i == 10 || i == 11 { // several blocks
			rows = blockRows + 700
		}
		g := newGenerator(data)
		b := g.batch(rows)
		for range 8 {
			ok, err := checkEqual(g.any(1+g.IntN(4)), b)
			require.NoError(t, err, "case %d", i)
			compiled += bit(ok)
		}
	}
	require.Greater(t, compiled, 800, "random expressions fit their columns")
}

// TestErrorsEqualReference has predicates in which an operand fails whose value decides nothing: after NULL, AND cannot
// be true any more.
func TestErrorsEqualReference(t *testing.T) {
	for i, text := range []string{
		"null and cast(coded2 as date) > '2026-01-01' or flag", "not (null and i32 / i8 > 1 or flag)", "(flag or null or i64 % i32 = 1) and i32 > 0",
		"(null and true and f32 between c9_float16 and -4 or false) and starts_with(concat(t, s), '\\') and '2026-02-28' < cast(coded2 as date) or flag",
		"cast(s as float64) < i32 / i8", "u64 / u64 > cast(t as float64)", "cast(s as uint64) >= i32 / i8", "i32 in (1, i32 / i8, null) or flag",
	} {
		e, err := Parse(text)
		require.NoError(t, err)
		for k := range 60 {
			g := newGenerator([]byte{byte(i), byte(k), byte(k)})
			ok, err := checkEqual(e, g.batch(1+k%6))
			require.NoError(t, err)
			require.True(t, ok, text)
		}
	}
}

func FuzzEval(f *testing.F) {
	for i := range 40 {
		f.Add(bytes.Repeat([]byte{byte(i), byte(37 * i), byte(i ^ 0x55), byte(11 * i)}, 20))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g := newGenerator(data)
		b := g.batch(g.IntN(100))
		if _, err := checkEqual(g.any(4), b); err != nil {
			t.Fatal(err)
		}
	})
}

// checkEqual compares Eval, Select and Refine of an expression with the reference, and its text with the expression. It
// reports whether the expression compiles.
func checkEqual(e Expr, b *column.Batch) (bool, error) {
	if back, err := Parse(e.String()); err != nil || !sameExpr(e, back) {
		return false, fmt.Errorf("%s parses to %v, %w", e, back, err)
	}
	p, err := Compile(e, b.Schema())
	if err != nil {
		if !errors.As(err, new(*CompileError)) {
			return false, err
		}
		return false, nil
	}
	want := make([]any, b.Rows)
	faults := make([]error, b.Rows)
	failed := false
	for i := range want {
		want[i], faults[i] = reference(p.root, b, i)
		failed = failed || faults[i] != nil
	}
	if failed && p.NeverFails() {
		return false, fmt.Errorf("%s never fails: %w", e, errors.Join(faults...))
	}
	_, _ = p.Eval(b.Slice(b.Rows/2, b.Rows)) // leaves its values in the memory of the program
	c, err := p.Eval(b)
	switch {
	case err != nil || failed:
		err = checkFault(err, faults)
	case c.Check() != nil || c.Type != p.Type():
		err = fmt.Errorf("a column of %v: %w", c.Type, c.Check())
	default:
		err = cmp.Or(checkColumn(&c, want), checkNullable(e, b, &c))
	}
	if err != nil {
		return true, fmt.Errorf("%s: %w", e, err)
	}
	if p.Type().Kind != column.Bool {
		return true, nil
	}
	for i := range want {
		want[i], faults[i] = referenceCondition(p.root, true, b, i)
	}
	if err := checkSelect(p, b, want, faults); err != nil {
		return true, err
	}
	return true, checkConjuncts(p, e, b)
}

// checkFault compares the error of Eval with the errors of the reference.
func checkFault(err error, faults []error) error {
	var at *RowError
	if !errors.As(err, &at) {
		return fmt.Errorf("error %v, want that of a row", err)
	}
	if fault := faults[at.Row]; fault == nil || !errors.Is(err, fault) {
		return fmt.Errorf("error %w, want %w", err, fault)
	}
	return nil
}

func checkColumn(c *column.Column, want []any) error {
	if c.Type.Kind == column.Float16 || classOf(c.Type) == classNone || c.Type.Elem == column.UUID {
		return nil // a copy of a column
	}
	for i, w := range want {
		got := referenceColumn(c, i)
		w = referenceNumber(w, c.Type)
		if !sameValue(got, w) {
			return fmt.Errorf("row %d: %v, want %v", i, got, w)
		}
	}
	return nil
}

// checkNullable requires that there are no NULLs where there cannot be any: the columns without NULL are not nullable.
func checkNullable(e Expr, b *column.Batch, c *column.Column) error {
	schema := b.Schema()
	for i := range schema {
		schema[i].Nullable = b.Columns[i].Nulls > 0
	}
	p, err := Compile(e, schema)
	if err == nil && !p.Nullable() && c.Nulls > 0 {
		err = fmt.Errorf("%d NULLs, but it is not nullable", c.Nulls)
	}
	return err
}

func sameValue(a, b any) bool {
	switch x := a.(type) {
	case *big.Int:
		y, ok := b.(*big.Int)
		return ok && x.Cmp(y) == 0
	case float64:
		y, ok := b.(float64)
		return ok && (math.Float64bits(x) == math.Float64bits(y) || x != x && y != y)
	case []float64:
		y, ok := b.([]float64)
		return ok && slices.EqualFunc(x, y, func(a, b float64) bool { return sameValue(a, b) })
	case []byte:
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	case *big.Rat: // of no decimal
		return false
	}
	return a == b
}

// checkSelect compares selections with the reference.
func checkSelect(p *Program, b *column.Batch, want []any, faults []error) error {
	some := []int32{}
	for i := range b.Rows {
		if i%3 != 0 {
			some = append(some, int32(i))
		}
	}
	selected, err := p.Select(b, nil)
	if err := checkSelected(p, selected, err, want, faults, func(int) bool { return true }); err != nil {
		return err
	}
	refined, err := p.Refine(b, some)
	return checkSelected(p, refined, err, want, faults, func(i int) bool { return i%3 != 0 })
}

// checkConjuncts compares the selection of a predicate with the selection of its conjuncts, one after the other.
func checkConjuncts(p *Program, e Expr, b *column.Batch) error {
	want, wantErr := p.Select(b, nil)
	got := make([]int32, b.Rows)
	for i := range got {
		got[i] = int32(i)
	}
	var err error
	for _, c := range Conjuncts(e) {
		q, failed := Compile(c, b.Schema())
		if failed != nil {
			return fmt.Errorf("%s: conjunct %s: %w", e, c, failed)
		}
		if got, err = q.Refine(b, got); err != nil {
			break
		}
	}
	if (err == nil) != (wantErr == nil) || err == nil && !slices.Equal(got, want) {
		return fmt.Errorf("%s: rows %v of the conjuncts, want %v: %w, %w", e, got, want, err, wantErr)
	}
	return nil
}

func checkSelected(p *Program, rows []int32, err error, want []any, faults []error, asked func(int) bool) error {
	if err != nil {
		return checkFault(err, faults)
	}
	for i, fault := range faults {
		if fault != nil && asked(i) {
			return fmt.Errorf("%s: row %d without the error %w", p, i, fault)
		}
	}
	if !slices.IsSorted(rows) {
		return fmt.Errorf("%s: rows %v", p, rows)
	}
	k := 0
	for i := range want {
		got := k < len(rows) && rows[k] == int32(i)
		k += bit(got)
		if got != (want[i] == true && asked(i)) {
			return fmt.Errorf("%s: row %d selected %v, want %v", p, i, got, want[i])
		}
	}
	if k < len(rows) {
		return fmt.Errorf("%s: rows %v repeat or do not exist", p, rows)
	}
	return nil
}

// sameExpr reports whether two expressions are the same but for their places.
func sameExpr(a, b Expr) bool {
	if a.n == nil || b.n == nil {
		return a.n == b.n
	}
	return a.n.op == b.n.op && a.n.name == b.n.name && a.n.typ == b.n.typ && sameValue(a.n.value, b.n.value) &&
		slices.Equal(a.n.orders, b.n.orders) && slices.EqualFunc(a.n.args, b.n.args, sameExpr)
}
