// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// Expressions made in Go, and the errors of expressions: their texts and places.

// TestMethodsMakeTheirText requires the text of what each method and function makes, which the parser reads back.
func TestMethodsMakeTheirText(t *testing.T) {
	x, y := expr.Col("x"), expr.Col("y")
	for want, e := range map[string]expr.Expr{
		"x and y": x.And(y), "x or y": x.Or(y), "not x": x.Not(), "x = y": x.Eq(y), "x <> y": x.Ne(y), "x < y": x.Lt(y),
		"x <= y": x.Le(y), "x > y": x.Gt(y), "x >= y": x.Ge(y), "x in (1, y)": x.In(1, y), "x between 1 and y": x.Between(1, y),
		"x is null": x.IsNull(), "not x is null": x.NotNull(), "x + y": x.Add(y), "x - y": x.Sub(y), "x * y": x.Mul(y),
		"x / y": x.Div(y), "x % y": x.Mod(y), "-x": x.Neg(), "x like 'a%'": x.Like("a%"), "x ilike 'a%'": x.ILike("a%"),
		"x regexp 'a+'": x.Regexp("a+"), "regexp_replace(x, 'a+', 'b')": x.RegexpReplace("a+", "b"), "contains(x, y)": x.Contains(y),
		"starts_with(x, y)": x.StartsWith(y), "ends_with(x, y)": x.EndsWith(y), "length(x)": x.Length(), "strlen(x)": x.Strlen(),
		"lower(x)": x.Lower(), "upper(x)": x.Upper(), "substring(x, 1, y)": x.Substring(1, y),
		"date_trunc('day', x)": x.DateTrunc("day", ""), "date_trunc('day', x, 'Europe/Berlin')": x.DateTrunc("day", "Europe/Berlin"),
		"extract('hour', x)": x.Extract("hour", ""), "extract('hour', x, 'Asia/Tokyo')": x.Extract("hour", "Asia/Tokyo"),
		"epoch_ms(x)": x.EpochMs(), "dot(x, y)": x.Dot(y), "cosine(x, y)": x.Cosine(y), "l2(x, y)": x.L2(y), "norm(x)": x.Norm(),
		"element(x, 3)": x.Element(3), "slice(x, 2, 3)": x.Slice(2, 3), "cast(x as int32)": x.Cast(column.Type{Kind: column.Int32}),
		"coalesce(x, 1)": expr.Coalesce(x, 1), "concat(x, 'a')": expr.Concat(x, "a"),
		"case when x then y else 1 end":                  expr.Case(expr.When(x, y), expr.Else(1)),
		"case when x then 1 when y then 2 else null end": expr.Case(expr.When(x, 1), expr.When(y, 2)),
	} {
		require.Equal(t, want, e.String())
		parsed, err := expr.Parse(want)
		require.NoError(t, err, want)
		require.Equal(t, want, parsed.String())
	}
}

// TestCompileErrorsDescribeOperands requires the operand of an error with its type, a literal without, and no text of
// more than 60 bytes.
func TestCompileErrorsDescribeOperands(t *testing.T) {
	b := column.NewBatch(column.Of("i", []int64{1}), column.Of("f", []float64{1}), column.Strings("s", []string{""}), column.Of("flag", []bool{true}),
		typed(t, column.Of("day", []int32{0}), column.Type{Kind: column.Date}), column.Matrix("v", []float32{1, 2}, 2),
		typed(t, column.Of("clock", []int64{0}), column.Type{Kind: column.Time, Unit: column.Micros}), column.Binaries("bytes", [][]byte{{1}}))
	long := strings.Repeat("i + ", 30) + "i"
	for text, want := range map[string]string{
		"upper(i)":                       "i is int64",
		"date_trunc('day', i)":           "i is int64",
		"date_trunc('day', 5)":           "date_trunc requires a date or a timestamp: 5",
		"cast(1 as date)":                "1 is int64, which does not cast to date",
		"norm(s)":                        "norm requires a vector of numbers: s is string",
		"norm('a')":                      "norm requires a vector: 'a'",
		"i = s":                          "i is int64, which does not compare with s is string",
		"s = " + long:                    "s is string, which does not compare with " + long[:60] + "... is int64",
		"i = 'a'":                        "i is int64, which does not compare with 'a'",
		"day = 5":                        "day is date, which does not compare with 5",
		"day = 'never'":                  "day is date, which does not compare with 'never'",
		"flag = 1":                       "flag is bool, which does not compare with 1",
		"i = true":                       "i is int64, which does not compare with true",
		"f = date '2026-01-01'":          "f is float64, which does not compare with",
		"clock = date '2026-01-01'":      "clock is time",
		"clock = interval '1mo'":         "clock is time",
		"clock = interval '1d'":          "clock is time",
		"s > 1":                          "s is string, which does not compare with 1",
		"v = v":                          "v is vector<float32, 2>, which has no order here",
		"v in ()":                        "v is vector<float32, 2>, which has no order here",
		"v in (v)":                       "v is vector<float32, 2>, which has no order here",
		"v between v and v":              "v is vector<float32, 2>, which has no order here",
		"s regexp s":                     "the pattern of regexp must be a text literal, not s",
		"s regexp '('":                   "missing closing )",
		"regexp_replace(s, '(', '')":     "missing closing )",
		"regexp_replace(s, s, '')":       "the pattern of regexp_replace must be a text literal, not s",
		"date_trunc('epoch', day)":       "the first argument of date_trunc is one of",
		"extract('fortnight', day)":      "the first argument of extract is one of",
		"extract('hour', day, 'Asia/X')": "a zone applies to timestamps in UTC: day is date",
		"element(v, 3)":                  "",
		"element(v, 0)":                  "",
		"slice(v, 2, 2)":                 "",
	} {
		e, err := expr.Parse(text)
		require.NoError(t, err, text)
		_, err = expr.Compile(e, b.Schema())
		var failure *expr.CompileError
		require.ErrorAs(t, err, &failure, text)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "5 is", text) // a literal has no type
	}
	for _, text := range []string{"i in ()", "s in ()", "s like '('", "s ilike '('", "i = 1.5", "f = 1", "day = '2026-01-01'", "bytes = bytes", "length(bytes) = 1"} {
		e, err := expr.Parse(text)
		require.NoError(t, err, text)
		p, err := expr.Compile(e, b.Schema())
		require.NoError(t, err, text)
		_, err = p.Eval(b)
		require.NoError(t, err, text)
	}
}

// TestErrorsOfGoHaveNoOffset requires the offset -1 of an operation that was made in Go.
func TestErrorsOfGoHaveNoOffset(t *testing.T) {
	b := column.NewBatch(column.Of("x", []int64{1, 0}), column.Of("flag", []bool{true, true}))
	var failure *expr.RowError
	for text, offset := range map[string]int{"": -1, "1 / x": 0, "flag and 1 / x > 0": 9} {
		e := expr.Lit(1).Div(expr.Col("x"))
		if text != "" {
			var err error
			e, err = expr.Parse(text)
			require.NoError(t, err)
		}
		p, err := expr.Compile(e, b.Schema())
		require.NoError(t, err)
		_, err = p.Eval(b)
		require.ErrorAs(t, err, &failure)
		require.Equal(t, 1, failure.Row)
		require.GreaterOrEqual(t, failure.Offset, offset, text)
		require.Less(t, failure.Offset, offset+3, text)
		if offset < 0 {
			require.Equal(t, -1, failure.Offset)
		}
	}
}

// TestDepthIsBounded requires that an expression of depth 1000 is parsed, and none that is deeper.
func TestDepthIsBounded(t *testing.T) {
	for _, leaf := range []string{"x", "true", "null"} {
		for operations, ok := range map[int]bool{999: true, 1000: false} {
			text := leaf + strings.Repeat(" + "+leaf, operations)
			_, err := expr.Parse(text)
			var failure *expr.SyntaxError
			if ok {
				require.NoError(t, err)
				continue
			}
			require.ErrorAs(t, err, &failure, leaf)
			require.ErrorContains(t, err, "depth at most 1000")
		}
	}
}

// TestIntegersCompareWithFloatsExactly compares integers near the bounds of their types and of exact floats.
func TestIntegersCompareWithFloatsExactly(t *testing.T) {
	uints := []uint64{0, 1, 2, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 2048, 1<<64 - 1}
	floats := []float64{-1e30, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 1<<53 - 1, 1 << 53, 1<<53 + 2, 1 << 62, 1 << 63, 1<<63 + 2048, 1 << 64, 1e30}
	operators := map[string]func(c int) bool{
		"=": func(c int) bool { return c == 0 }, "<>": func(c int) bool { return c != 0 }, "<": func(c int) bool { return c < 0 },
		"<=": func(c int) bool { return c <= 0 }, ">": func(c int) bool { return c > 0 }, ">=": func(c int) bool { return c >= 0 },
	}
	for _, u := range uints {
		for _, f := range floats {
			for _, negative := range []bool{false, true} {
				x := new(big.Float).SetUint64(u)
				b := column.NewBatch(column.Of("x", []uint64{u}), column.Of("f", []float64{f}))
				if negative {
					if u > 1<<63 {
						continue
					}
					x = new(big.Float).SetInt64(-int64(u))
					b = column.NewBatch(column.Of("x", []int64{-int64(u)}), column.Of("f", []float64{f}))
				}
				c := x.Cmp(big.NewFloat(f))
				for op, want := range operators {
					for text, want := range map[string]bool{"x " + op + " f": want(c), "f " + op + " x": want(-c)} {
						got, err := evaluated(t, b, text)
						require.NoError(t, err)
						require.Equal(t, want, got.Value(0), "%v, %v: %s", x, f, text)
					}
				}
			}
		}
	}
}

// TestVectorsAreSlicedAndMerged has vectors of each element as results.
func TestVectorsAreSlicedAndMerged(t *testing.T) {
	null := []bool{false, true, false}
	b := column.NewBatch(column.Matrix("f", []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3).WithNulls(null), column.Matrix("d", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3).WithNulls(null),
		column.Matrix("i", []int32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3).WithNulls(null), column.Matrix("l", []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3).WithNulls(null))
	for name, want := range map[string][]any{
		"f": {[]float32{2, 3}, nil, []float32{8, 9}}, "d": {[]float64{2, 3}, nil, []float64{8, 9}},
		"i": {[]int32{2, 3}, nil, []int32{8, 9}}, "l": {[]int64{2, 3}, nil, []int64{8, 9}},
	} {
		got, err := evaluated(t, b, "slice("+name+", 2, 2)")
		require.NoError(t, err)
		require.NoError(t, got.Check())
		for i, w := range want {
			require.Equal(t, w, got.Value(i), name)
		}
		got, err = evaluated(t, b, "cast(element("+name+", 3) as int64)")
		require.NoError(t, err)
		require.Equal(t, []any{int64(3), nil, int64(9)}, []any{got.Value(0), got.Value(1), got.Value(2)}, name)
	}
}

// TestTextsCastToBooleans has the words of booleans in any case.
func TestTextsCastToBooleans(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "TRUE": true, "True": true, "false": false, "FALSE": false} {
		got, err := evaluated(t, column.NewBatch(column.Strings("s", []string{text})), "cast(s as bool)")
		require.NoError(t, err)
		require.Equal(t, want, got.Value(0))
	}
	for _, text := range []string{"", "t", "1", "yes", "truefalse"} {
		_, err := evaluated(t, column.NewBatch(column.Strings("s", []string{text})), "cast(s as bool)")
		require.ErrorIs(t, err, expr.ErrCast, text)
	}
}

// TestWordsWithinCalls requires that from stands after a unit of extract only, and that words are columns elsewhere.
func TestWordsWithinCalls(t *testing.T) {
	for text, want := range map[string]string{
		"extract(minute from t)": "extract('minute', t)", "EXTRACT(Minute FROM t)": "extract('minute', t)", "extract('minute', t)": "extract('minute', t)",
		"extract(minute, t)": "extract(minute, t)", "coalesce(minute, t)": "coalesce(minute, t)", "coalesce(distinct, t)": `coalesce("distinct", t)`,
	} {
		e, err := expr.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, e.String())
	}
	for _, text := range []string{
		"upper(minute from t)", "coalesce(x from t)", "extract(minute from)", "extract(from t)", "extract(minute t)", "extract(minute from t, u)", "extract()",
		"extract(minute)", "upper(distinct t)",
	} {
		_, err := expr.Parse(text)
		var failure *expr.SyntaxError
		require.ErrorAs(t, err, &failure, text)
	}
}

// TestProgramsListTheirColumns requires the columns of an expression once, in the order of their use.
func TestProgramsListTheirColumns(t *testing.T) {
	b := column.NewBatch(column.Of("x", []int64{1}), column.Of("y", []int64{1}), column.Of("z", []int64{1}))
	for text, want := range map[string][]string{"y + x * y": {"y", "x"}, "1": nil, "x in (1, z)": {"x", "z"}} {
		e, err := expr.Parse(text)
		require.NoError(t, err)
		p, err := expr.Compile(e, b.Schema())
		require.NoError(t, err)
		require.Equal(t, want, p.Columns())
		require.Equal(t, want, e.Columns())
	}
}

// TestBoundsOfTexts requires that a predicate of texts is a bound if it is that the text contains another one.
func TestBoundsOfTexts(t *testing.T) {
	schema := column.NewBatch(column.Strings("s", []string{""})).Schema()
	for text, want := range map[string]string{
		"contains(s, 'ab')": "ab", "s like '%ab%'": "ab", "s like '%%'": "", "contains(s, '')": "", "not s like '%ab%'": "ab",
	} {
		b, ok := boundOf(t, schema, text)
		require.True(t, ok, text)
		require.Equal(t, []any{want}, b.Values, text)
		require.Equal(t, strings.HasPrefix(text, "not"), b.Op == expr.OpNotContains, text)
	}
	for _, text := range []string{
		"starts_with(s, 'ab')", "ends_with(s, 'ab')", "s regexp 'ab'", "s ilike '%ab%'", "s like 'ab%'", "s like '%ab'", "s like '%a_b%'", "s like '%a%b%'",
		"s like '%'", "s like ''", `s like '%a\%%'`, "contains(s, s)", "contains(upper(s), 'A')", "not starts_with(s, 'ab')",
	} {
		_, ok := boundOf(t, schema, text)
		require.False(t, ok, text)
	}
}

func boundOf(t *testing.T, schema column.Schema, text string) (expr.Bound, bool) {
	t.Helper()
	e, err := expr.Parse(text)
	require.NoError(t, err)
	p, err := expr.Compile(e, schema)
	require.NoError(t, err, text)
	return p.Bound()
}
