// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/int128"
	"github.com/vecql/vecql/internal/soak"
)

// Each operation on literals of each type: what columns of these types give, literals give.

// literalKinds are literals, each with its column: the type that the literal has alone.
var literalKinds = map[string]struct {
	text   string
	column column.Column
}{
	"bool":         {"true", column.Of("", []bool{true})},
	"int":          {"3", column.Of("", []int64{3})},
	"negative":     {"-2", column.Of("", []int64{-2})},
	"uint64":       {"9223372036854775808", column.Of("", []uint64{1 << 63})},
	"float":        {"2.5", column.Of("", []float64{2.5})},
	"NaN":          {"float64 'NaN'", column.Of("", []float64{math.NaN()})},
	"decimal":      {"decimal '-2.50'", typed(column.Of("", []int64{-250}), column.Type{Kind: column.Decimal64, Precision: 3, Scale: 2})},
	"wide decimal": {"decimal '12345678901234567890.125'", typed(column.Of("", []column.Int128{wideOf("12345678901234567890125")}), column.Type{Kind: column.Decimal128, Precision: 23, Scale: 3})},
	"text":         {"'abc'", column.Strings("", []string{"abc"})},
	"empty":        {"''", column.Strings("", []string{""})},
	"binary":       {"x'6162'", column.Binaries("", [][]byte{[]byte("ab")})},
	"uuid":         {"uuid '00000000-0000-0000-0000-000000000001'", column.Of("", []cql.UUID{{15: 1}})},
	"date":         {"date '2026-07-05'", typed(column.Of("", []int32{20639}), column.Type{Kind: column.Date})},
	"midnight":     {"timestamp '2026-07-05'", instant(20639*86400e6, column.Micros, false)},
	"timestamp":    {"timestamp '2026-07-05 12:30:00.000001'", instant(20639*86400e6+45000000001, column.Micros, false)},
	"utc":          {"timestamp '2026-07-05 14:30:00+02:00'", instant(20639*86400e6+45000e6, column.Micros, true)},
	"nanoseconds":  {"timestamp '2026-07-05T00:00:00.000000001'", instant(20639*86400e9+1, column.Nanos, false)},
	"time":         {"time '12:30'", typed(column.Of("", []int64{45000e6}), column.Type{Kind: column.Time, Unit: column.Micros})},
	"vector":       {"[3, 4]", column.Matrix("", []float64{3, 4}, 2)},
	"other vector": {"[0, 5]", column.Matrix("", []float64{0, 5}, 2)},
}

func typed(c column.Column, t column.Type) column.Column {
	c, err := c.WithType(t)
	if err != nil {
		panic(err)
	}
	return c
}

func wideOf(digits string) column.Int128 {
	v, ok := int128.Parse(digits, 0)
	if !ok {
		panic(digits)
	}
	return v
}

func instant(v int64, unit column.Unit, utc bool) column.Column {
	return typed(column.Of("", []int64{v}), column.Type{Kind: column.Timestamp, Unit: unit, UTC: utc})
}

// operationsOfLiterals have $1, $2 and $3 for operands.
var operationsOfLiterals = []string{
	"$1 and $2", "$1 or $2", "not $1", "$1 = $2", "$1 <> $2", "$1 < $2", "$1 <= $2", "$1 > $2", "$1 >= $2",
	"$1 is null", "$1 is not null", "$1 in ($2)", "$1 in ($1, $2)", "$1 in ($2, null)", "$1 not in ($2)",
	"$1 between $2 and $1", "$1 not between $1 and $2", "$1 between $2 and $3",
	"$1 + $2", "$1 - $2", "$1 * $2", "$1 / $2", "$1 % $2", "-$1", "$1 || $2",
	"$1 + interval '1' month", "$1 - interval '1' day", "$1 + interval '1' hour", "interval '2' day + $1",
	"$1 like 'a%'", "$1 ilike 'A%'", "$1 regexp '^a'", "length($1)", "strlen($1)", "lower($1)", "upper($1)",
	"substring($1, $2)", "substring($1, $2, $3)", "concat($1, $2)", "contains($1, $2)", "starts_with($1, $2)",
	"ends_with($1, $2)", "regexp_replace($1, 'b', 'c')", "coalesce($1, $2)", "coalesce($1, $2, $3)", "coalesce(null, $1)",
	"date_trunc('week', $1)", "date_trunc('hour', $1)", "date_trunc('day', $1, 'Europe/Berlin')",
	"extract(doy from $1)", "extract('hour', $1, 'Europe/Berlin')", "epoch_ms($1)", "case when $1 then $2 else $3 end",
	"case when $1 = $2 then 1 end", "case when true then $1 else $2 end", "dot($1, $2)", "cosine($1, $2)", "l2($1, $2)",
	"norm($1)", "element($1, 2)", "slice($1, 1, 1)", "cast($1 as string)", "cast($1 as date)", "cast($1 as timestamp(us))",
	"cast($1 as timestamp(ns, utc))", "cast($1 as int64)", "cast($1 as int8)", "cast($1 as uint64)", "cast($1 as float32)",
	"cast($1 as bool)", "cast($1 as decimal(9, 1))", "cast($1 as decimal(38, 20))", "$1::numeric", "try_cast($1 as decimal(3, 0))", "trim($1)", "ltrim($1)", "rtrim($1)", "trim($1, $2)", "ltrim($1, 'a')", "rtrim($1, $2)", "reverse($1)",
	"repeat($1, $2)", "translate($1, $2, $3)", "md5($1)", "gcd($1, $2)", "lcm($1, $2)", "make_date($1, $2, $3)", "atan2($1, $2)",
	"cbrt($1)", "sin($1)", "cos($1)", "tan($1)", "cot($1)", "asin($1)", "acos($1)", "atan($1)", "sinh($1)", "cosh($1)", "tanh($1)",
	"asinh($1)", "acosh($1)", "atanh($1)", "degrees($1)", "radians($1)", "gamma($1)", "lgamma($1)", "$1 like $2", "$1 ilike $2",
	"isnan($1)", "isinf($1)", "isfinite($1)", "log($1, $2)", "mod($1, $2)", "bit_length($1)", "trim(both $1 from $2)",
	"substring($1 from $2 for 2)", "bitand($1, $2)", "bitor($1, $2)", "bitxor($1, $2)", "bitnot($1)", "bitshiftleft($1, $2)", "bitshiftright($1, $2)",
	"$1 & $2 | $3", "~$1", "$1 << 2", "$1 >> 2", "left($1, $2)", "right($1, $2)",
	"replace($1, $2, $3)", "lpad($1, $2, $3)", "rpad($1, $2, $3)", "split_part($1, $2, $3)", "strpos($1, $2)",
	"ascii($1)", "chr($1)", "sqrt($1)", "exp($1)", "ln($1)", "log10($1)", "log2($1)", "pow($1, $2)", "abs($1)",
	"ceil($1)", "floor($1)", "trunc($1)", "round($1)", "round($1, $2)", "greatest($1, $2)", "greatest($1, null, $2)",
	"least($1, $2, $3)", "regexp_extract($1, '[a-c]+')", "regexp_extract($1, '(b)', 1)", "typeof($1)", "strftime($1, '%Y %H %f')",
	"time_bucket(interval '2 days', $1)", "time_bucket(interval 5 months, $1)", "time_bucket(interval '90 minutes', $1)",
	"try_cast($1 as int8)", "try_cast($1 as date)", "try_cast($1 as float64)", "try_cast($1 as bool)", "try_cast($1 as timestamp(us))",
	"$1 ~ '^a'", "$1 !~ 'b'", "$1 similar to 'a.*'", "$1 glob 'a*'", "regexp_matches($1, 'A', 'i')", "concat_ws('-', $1, $2)",
	"date_diff('day', $1, $2)", "date_diff('month', $1, $2)", "last_day($1)", "$1 is distinct from $2", "nullif($1, $2)", "case $1 when $2 then 1 else 2 end",
}

func TestLiteralsHaveTheValuesOfTheirColumns(t *testing.T) {
	soak.NoRace(t)
	for name := range functions {
		require.True(t, slices.ContainsFunc(operationsOfLiterals, func(s string) bool { return strings.Contains(s, name+"(") }), name)
	}
	kinds := slices.Sorted(maps.Keys(literalKinds))
	for _, operation := range operationsOfLiterals {
		operands, compared := strings.Count(operation, "$"), 0
		for k := 3; k > 0; k-- {
			if strings.Contains(operation, fmt.Sprintf("$%d", k)) {
				operands = k
				break
			}
		}
		forTuples(kinds, operands, func(tuple []string) {
			compared += checkLiterals(t, operation, tuple)
		})
		require.Positive(t, compared, "%s has a value for columns of some types", operation)
	}
}

// forTuples calls f with all tuples of n kinds.
func forTuples(kinds []string, n int, f func([]string)) {
	if n == 0 {
		f(nil)
		return
	}
	forTuples(kinds, n-1, func(rest []string) {
		for _, kind := range kinds {
			f(append(slices.Clone(rest), kind))
		}
	})
}

// checkLiterals compares an operation on columns with those that have literals in the place of some columns. It returns
// 1 if the operation fits columns of these types.
func checkLiterals(t *testing.T, operation string, tuple []string) int {
	t.Helper()
	b := &column.Batch{Rows: 1}
	for i, kind := range tuple {
		c := literalKinds[kind].column
		c.Name = fmt.Sprintf("c%d", i+1)
		b.Columns = append(b.Columns, c)
	}
	text := func(literals int) string {
		s := operation
		for i, kind := range tuple {
			operand := fmt.Sprintf("c%d", i+1)
			if literals>>i&1 == 1 {
				operand = "(" + literalKinds[kind].text + ")"
			}
			s = strings.ReplaceAll(s, fmt.Sprintf("$%d", i+1), operand)
		}
		return s
	}
	want, fits := valueOf(t, text(0), b)
	if !fits {
		return 0
	}
	for literals := 1; literals < 1<<len(tuple); literals++ {
		if besideDecimals(tuple, literals) {
			continue
		}
		got, fits := valueOf(t, text(literals), b)
		require.True(t, fits, "%s: %s, as of columns %v: %s", text(literals), got, tuple, want)
		require.Equal(t, want, got, "%s of columns %v", text(literals), tuple)
	}
	return 1
}

// besideDecimals reports whether a literal is a float beside a decimal, which becomes a decimal by its digits.
func besideDecimals(tuple []string, literals int) bool {
	float, decimal := false, false
	for i, kind := range tuple {
		float = float || (kind == "float" || kind == "NaN") && literals>>i&1 == 1
		decimal = decimal || strings.HasSuffix(kind, "decimal")
	}
	return float && decimal
}

// valueOf returns the value of an expression in the only row, or the reason of its error. It reports whether the
// expression fits the columns.
func valueOf(t *testing.T, text string, b *column.Batch) (string, bool) {
	t.Helper()
	e, err := Parse(text)
	require.NoError(t, err, text)
	p, err := Compile(e, b.Schema())
	if err != nil {
		require.ErrorAs(t, err, new(*CompileError), text)
		return err.Error(), false
	}
	c, err := p.Eval(b)
	for _, reason := range []error{ErrCast, ErrOverflow, ErrDivision} {
		if errors.Is(err, reason) {
			return reason.Error(), true
		}
	}
	require.NoError(t, err, text)
	require.NoError(t, c.Check(), text)
	return c.Format(0, math.MaxInt), true
}

// TestFunctionsTakeTheirDocumentedTypes has the functions of one operand of each type, as a column and as a literal.
func TestFunctionsTakeTheirDocumentedTypes(t *testing.T) {
	texts, times := []string{"text", "empty"}, []string{"date", "midnight", "timestamp", "utc", "nanoseconds"}
	numbers := []string{"int", "negative", "uint64", "float", "NaN", "decimal", "wide decimal"}
	all := slices.Sorted(maps.Keys(literalKinds))
	scalars := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return strings.Contains(s, "vector") })
	for operation, kinds := range map[string][]string{
		"length($1)": slices.Concat(texts, []string{"binary"}), "strlen($1)": texts, "lower($1)": texts, "upper($1)": texts,
		"substring($1, 1)": texts, "concat($1)": texts, "$1 like 'a%'": texts, "regexp_replace($1, 'a', 'b')": texts,
		"contains($1, $1)": slices.Concat(texts, []string{"binary"}), "starts_with($1, $1)": slices.Concat(texts, []string{"binary"}),
		"ends_with($1, $1)": slices.Concat(texts, []string{"binary"}), "date_trunc('year', $1)": times, "extract(year from $1)": times,
		"date_trunc('year', $1, 'Europe/Berlin')": {"utc"}, "epoch_ms($1)": {"int", "negative"}, "norm($1)": {"vector", "other vector"},
		"coalesce($1, $1)": scalars, "$1 = $1": scalars, "$1 in ($1, $1)": scalars, "case when true then $1 end": scalars, "$1 is null": all,
		"trim($1)": texts, "split_part($1, $1, 1)": texts, "ascii($1)": texts, "chr($1)": {"int", "negative"},
		"sqrt($1)": numbers, "abs($1)": numbers, "round($1, 1)": numbers, "cast($1 as decimal(38, 3)) is null": slices.Concat(numbers, texts, []string{"bool"}),
		"-$1": {"int", "negative", "float", "NaN", "decimal", "wide decimal"}, "not $1": {"bool"}, "$1 + interval '1' year": times,
	} {
		for _, kind := range all {
			c := literalKinds[kind].column
			c.Name = "c"
			b := column.NewBatch(c)
			for _, operand := range []string{"c", "(" + literalKinds[kind].text + ")"} {
				got, fits := valueOf(t, strings.ReplaceAll(operation, "$1", operand), b)
				require.Equal(t, slices.Contains(kinds, kind), fits, "%s of %s: %s", operation, operand, got)
			}
		}
	}
}

// TestLiteralsHaveTypesOfTheirOwn has literals without a column.
func TestLiteralsHaveTypesOfTheirOwn(t *testing.T) {
	for kind, l := range literalKinds {
		e, err := Parse(l.text)
		require.NoError(t, err, l.text)
		p, err := Compile(e, column.Schema{})
		require.NoError(t, err, l.text)
		require.Equal(t, l.column.Type, p.Type(), kind)
		c, err := p.Eval(&column.Batch{Rows: 1})
		require.NoError(t, err, l.text)
		require.Equal(t, l.column.Format(0, math.MaxInt), c.Format(0, math.MaxInt), kind)
		back, err := Parse(e.String())
		require.NoError(t, err, e.String())
		require.True(t, sameExpr(e, back), "%v, want %v", back, e)
	}
}
