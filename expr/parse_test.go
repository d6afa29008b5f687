// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Texts of expressions.

func TestParse(t *testing.T) {
	a, b := Col("a"), Col("b")
	for text, want := range map[string]Expr{
		"a > 3 and b like 'a%'":                a.Gt(3).And(b.Like("a%")),
		"a or b and not a = b":                 a.Or(b.And(a.Eq(b).Not())),
		"(a or b) and a":                       a.Or(b).And(a),
		"a - b - 1":                            a.Sub(b).Sub(1),
		"a - (b - 1)":                          a.Sub(b.Sub(1)),
		"-a * -2 + - -3":                       a.Neg().Mul(-2).Add(Lit(-3).Neg()),
		"a between 1 and 2 and b":              a.Between(1, 2).And(b),
		"a not in (1, 'x', null)":              a.In(1, "x", nil).Not(),
		"A is not null":                        Col("A").NotNull(),
		`"and" != "a""b"`:                      Col("and").Ne(Col(`a"b`)),
		"x.y_1 <> 1e3":                         Col("x.y_1").Ne(1000.0),
		"CASE WHEN a THEN 1 END":               Case(When(a, 1)),
		"Lower(a) || 'it''s'":                  Concat(a.Lower(), "it's"),
		"extract('hour', a, 'UTC')":            a.Extract("hour", "UTC"),
		"cast(a as Timestamp(US, utc))":        a.Cast(column.Type{Kind: column.Timestamp, Unit: column.Micros, UTC: true}),
		"cast(a as BigInt)":                    a.Cast(column.Type{Kind: column.Int64}),
		"cast(a as int8)":                      a.Cast(column.Type{Kind: column.Int8}),
		"a = x'00fF'":                          a.Eq([]byte{0, 255}),
		"l2(a, [1, -0.5, 2e1]) < .5":           a.L2([]float64{1, -0.5, 20}).Lt(0.5),
		"a > timestamp '2026-01-02T00:00:00Z'": a.Gt(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)),
		"a + interval '1mo2d3h'":               a.Add(cql.Duration{Months: 1, Days: 2, Nanoseconds: 3 * 3600e9}),
		"a = 18446744073709551615":             a.Eq(uint64(1<<64 - 1)),
		"date = time and x = interval":         Col("date").Eq(Col("time")).And(Col("x").Eq(Col("interval"))),
		"a = true or a = float64 '-Inf'":       a.Eq(true).Or(a.Eq(parsedFloat("-Inf"))),
		"coalesce(a, substring(b, 1), 2)":      Coalesce(a, call("substring", b, Lit(1)), 2),
		"a = ''":                               a.Eq(""),
		"count(*) > count(distinct a)":         call(opCount).Gt(call(opCountDistinct, a)),
		"Sum(a + 1) / count(a)":                call("sum", a.Add(1)).Div(call(opCount, a)),
		"count(distinct)":                      call(opCount, Col("distinct")),
		`count("distinct" + 1)`:                call(opCount, Col("distinct").Add(1)),
		"extract(MINUTE from a)":               a.Extract("minute", ""),
		"a - interval '90' day":                a.Sub(cql.Duration{Days: 90}),
		"a - interval 2 hours":                 a.Sub(2 * time.Hour),
		"a -- b\n- 1 /* - 2 */ - 3 --":         a.Sub(1).Sub(3),
		"/**/a - -1/* -- */--\n":               a.Sub(-1),
		"- -a - - - 1":                         a.Neg().Neg().Sub(Lit(-1).Neg()),
		"'--' = '/*'":                          Lit("--").Eq("/*"),
	} {
		got, err := Parse(text)
		require.NoError(t, err, text)
		require.True(t, sameExpr(want, got), "%s: %v, want %v", text, got, want)
		back, err := Parse(want.String())
		require.NoError(t, err, want.String())
		require.True(t, sameExpr(want, back), "%v: %v", want, back)
	}
}

// TestForms parses what SQL writes in several ways, and prints the one way.
func TestForms(t *testing.T) {
	for text, want := range map[string]string{
		"a::bigint::text": "cast(cast(a as int64) as string)",
		"-a::float + 1":   "-cast(a as float32) + 1",
		"-5::tinyint":     "cast(-5 as int8)",
		"+a - +5":         "a - 5",
		"- + - a":         "-(-a)",
		"case a when 1 then 'x' when b then 'y' end": "case when a = 1 then 'x' when a = b then 'y' else null end",
		"a is true":                                    "coalesce(a, false)",
		"a is not true":                                "not coalesce(a, false)",
		"a is false":                                   "not coalesce(a, true)",
		"a is not false":                               "coalesce(a, true)",
		"a is unknown or b is not unknown":             "a is null or not b is null",
		"a is not distinct from b":                     "coalesce(a = b, a is null and b is null)",
		"a is distinct from 1 + 2":                     "not coalesce(a = 1 + 2, a is null and 1 + 2 is null)",
		"a like '5!%' escape '!'":                      `a like '5\%'`,
		`a not ilike '!!_\' escape '!'`:                `not a ilike '\!_\\'`,
		`a like 'c:\%' escape ''`:                      `a like 'c:\\%'`,
		"nullif(a, 0)":                                 "case when a = 0 then null else a end",
		"ifnull(a, b)":                                 "coalesce(a, b)",
		"IF(a, 1, 2)":                                  "case when a then 1 else 2 end",
		"substr(a, 2) || LCase(b)":                     "concat(substring(a, 2), lower(b))",
		"date_part('Year', a) = year(a)":               "extract('Year', a) = extract('year', a)",
		"mean(a) + min_by(a, b)":                       "avg(a) + arg_min(a, b)",
		`"t"."a" = t."b c"`:                            `t.a = "t.b c"`,
		"a - interval '1 month 2 days'":                "a - interval '1mo2d'",
		"a + interval '90 Seconds' + interval 2 weeks": "a + interval '1m30s' + interval '14d'",
	} {
		e, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, e.String(), text)
	}
}

func parsedFloat(s string) any {
	v, _, _ := typedLiteral("float64", s)
	return v
}

func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "expr: at offset 0: found the end, want a column, a literal or a function",
		"a >":              "expr: at offset 3: found the end, want a column, a literal or a function",
		"a > 3 b":          `expr: at offset 6: found "b", want an operator or the end`,
		"(a > 3":           "expr: at offset 6: found the end, want an operator or )",
		"a in 3":           `expr: at offset 5: found "3", want (`,
		"a between 1 or 2": `expr: at offset 12: found "or", want and`,
		"a not 3":          `expr: at offset 6: found "3", want in, between, like, ilike or regexp`,
		"'abc":             `expr: at offset 0: found "'abc", want a closing '`,
		"a - /* b":         `expr: at offset 4: found "/* b", want a closing */`,
		"a --b\n c":        `expr: at offset 7: found "c", want an operator or the end`,
		"a = 1x":           `expr: at offset 4: found "1", want a number`,
		"999999999999999999999999999999999999999": `expr: at offset 0: found "999999999999999999999999999999999999999..., want a number within the range of its type`,
		"size(a)":                        `expr: at offset 0: found "size", want a function: abs, acos, acosh, `,
		"length(a, b)":                   "expr: at offset 0: found 2 arguments, want length with 1 argument",
		"cast(a as uuid)":                `expr: at offset 10: found "uuid", want a type: [bool int8 `,
		"cast(a as varchar(10))":         `expr: at offset 17: found "(", want )`,
		"cast(a as timestamptz(ms))":     `expr: at offset 21: found "(", want )`,
		`cast(a as "bigint")`:            `expr: at offset 10: found "\"bigint\"", want a type: `,
		"cast(a as timestamp(s))":        `expr: at offset 20: found "s", want ms, us or ns`,
		"case a 1 then 2 end":            `expr: at offset 7: found "1", want when`,
		"case a end":                     `expr: at offset 7: found "end", want when`,
		"a::frob":                        `expr: at offset 3: found "frob", want a type: `,
		"nullif(a)":                      "expr: at offset 0: found 1 argument, want nullif with 2 arguments",
		"substr(a)":                      "expr: at offset 0: found 1 argument, want substring with 2 to 3 arguments",
		"a is distinct b":                `expr: at offset 5: found "distinct", want null, true, false, unknown or distinct from`,
		"a like b escape '!'":            `expr: at offset 7: found "b", want a text literal before escape`,
		"a like 'x!' escape '!'":         `expr: at offset 7: found "x!", want a pattern with a character behind each !`,
		"a like 'x' escape '!!'":         `expr: at offset 18: found "'!!'", want one character`,
		`"a".3`:                          `want the name of a column`,
		"a - interval '1 fortnight'":     `found "1 fortnight", want a text that is a value of interval`,
		"a > date 'soon'":                `expr: at offset 9: found "soon", want a text that is a value of date`,
		"x'0'":                           `expr: at offset 0: found "0", want pairs of hexadecimal digits`,
		"[1, a]":                         `want numbers in a vector`,
		"a # b":                          `expr: at offset 2: found "#", want an operator, a name or a literal`,
		"a - interval '90' fortnight":    `expr: at offset 18: found "fortnight", want a unit such as day`,
		"a - interval 99999999999 days":  "an interval within the range of its type",
		"a is 3":                         `expr: at offset 5: found "3", want null, true, false, unknown or distinct from`,
		"a = b = c":                      `expr: at offset 6: found "=", want an operator or the end`,
		strings.Repeat("(", 5000):        "want an expression of depth at most 1000",
		strings.Repeat("- ", 5000):       "want an expression of depth at most 1000",
		"a" + strings.Repeat("+a", 5000): "want an expression of depth at most 1000",
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want, text)
		require.ErrorAs(t, err, new(*SyntaxError))
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"a > 3 and b like 'a%'", "not (a or b) and -(5) - -5 = - -a", "a in () or a not in (1, null)", `"a""b" = 'it''s'`,
		"case when a then b else c end", "cast(a as timestamp(ms, utc))", "x'00ff' = uuid '00000000-0000-0000-0000-000000000001'",
		"[1, -2.5, float64 'NaN'] = a", "at + interval '1mo2d' between date '2026-01-02' and timestamp '2026-01-02T03:04:05.006Z'",
		"extract('hour', a, 'UTC') % 2 * 3 / 4 || 'x'", "a is not null and b not between 1e-3 and .5e+7",
		`case a when +1 then "t"."b"::text end is distinct from 'x' like 'y!%' escape '!'`, "nullif(a, 0) is not true",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			require.ErrorAs(t, err, new(*SyntaxError))
			return
		}
		back, err := Parse(e.String())
		if err != nil || !sameExpr(e, back) {
			t.Fatalf("%q prints as %q, which parses to %v, %v", text, e, back, err)
		}
		if _, err := Compile(e, column.Schema{{Name: "a", Type: typeInt64}, {Name: "b", Type: typeString}}); err != nil {
			require.ErrorAs(t, err, new(*CompileError))
		}
	})
}

func TestParseArguments(t *testing.T) {
	e, err := Parse("a = ? and ? or b in (?, 'it''s')", 3, Col("c").IsNull(), "it's")
	require.NoError(t, err)
	require.True(t, sameExpr(Col("a").Eq(3).And(Col("c").IsNull()).Or(Col("b").In("it's", "it's")), e), "%v", e)
	name, ok := Col("odd name").Column()
	require.Equal(t, "odd name", name)
	require.True(t, ok)
	_, ok = e.Column()
	require.False(t, ok)
	for want, args := range map[string][]any{
		"at offset 8: found 1 argument, want an argument for each ?": {1},
		"at offset 9: found 2 for 3, want a ? for each argument":     {1, 2, 3},
		"at offset 4: found the zero Expr, want an expression":       {Expr{}, 1},
		"at offset 4: found literal of Go type struct {}, want":      {struct{}{}, 1},
	} {
		_, err := Parse("a = ? + ?", args...)
		require.ErrorContains(t, err, want)
	}
}
