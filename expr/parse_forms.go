// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/lex"
)

// What SQL writes in several ways. The parser returns the expression that has one way: nullif(a, b) is
// case when a = b then null else a end, and prints so.

// synonyms are other names of functions and aggregates.
var synonyms = map[string]string{
	"len": "length", "char_length": "length", "character_length": "length", "octet_length": "strlen",
	"lcase": "lower", "ucase": "upper", "substr": "substring", "prefix": "starts_with", "suffix": "ends_with",
	"instr": "strpos", "unicode": "ascii", "ord": "ascii", "ceiling": "ceil", "xor": "bitxor", "power": "pow",
	"date_part": "extract", "datepart": "extract", "datetrunc": "date_trunc",
	"mean": "avg", "var_samp": "variance", "var_pop": "variance_pop", "stddev_samp": "stddev", "arbitrary": "any_value",
	"argmin": "arg_min", "argmax": "arg_max", "min_by": "arg_min", "max_by": "arg_max",
	"group_concat": opStringAgg, "listagg": opStringAgg, "quantile_cont": "quantile_exact", "list": opArrayAgg,
	"approx_quantile": "quantile",
}

// A form is a function that stands for other operations.
type form struct {
	arity
	make func(p *parser, at int, args []Expr) Expr
}

// forms are the forms by name.
var forms = map[string]form{
	"ifnull": {arity{2, 2}, func(p *parser, at int, args []Expr) Expr { return p.make(at, "coalesce", args...) }},
	"nullif": {arity{2, 2}, func(p *parser, at int, args []Expr) Expr {
		return p.make(at, opCase, p.make(at, opEq, args...), Lit(nil), args[0])
	}},
	"if": {arity{3, 3}, func(p *parser, at int, args []Expr) Expr { return p.make(at, opCase, args...) }},

	"count_if": {arity{1, 1}, func(p *parser, at int, args []Expr) Expr {
		return p.make(at, opCount, p.make(at, opCase, args[0], p.literal(at, 1), Lit(nil)))
	}},
	"bool_and": allOf("min"), "bool_or": allOf("max"), "every": allOf("min"),
	"concat_ws": {arity{2, math.MaxInt}, joined},

	"regr_count": regression(regressionCount), "regr_avgx": regressionMean(true), "regr_avgy": regressionMean(false),
	"regr_sxx": regression(squares), "regr_sxy": regression(products), "regr_slope": regression(slope),
	"regr_intercept": regression(intercept), "regr_r2": regression(determination),
	"regr_syy": regression(func(p *parser, at int, y, x Expr) Expr { return squares(p, at, x, y) }),

	"sign": {arity{1, 1}, func(p *parser, at int, args []Expr) Expr {
		zero, is := p.literal(at, 0), func(op string) Expr { return p.make(at, op, args[0], p.literal(at, 0)) }
		return p.make(at, opCase, is(opGt), p.literal(at, 1), is(opLt), p.literal(at, -1), is(opEq), zero, Lit(nil))
	}},
	"mod": {arity{2, 2}, func(p *parser, at int, args []Expr) Expr { return p.make(at, opMod, args...) }},
	"log": {arity{1, 2}, logarithm},
	"pi":  {arity{0, 0}, func(p *parser, at int, _ []Expr) Expr { return p.literal(at, math.Pi) }},
	"bit_length": {arity{1, 1}, func(p *parser, at int, args []Expr) Expr {
		return p.make(at, opMul, p.make(at, "strlen", args...), p.literal(at, 8))
	}},
	"isnan":          floatTest(opEq, math.NaN(), ""),
	"isinf":          floatTest(opEq, math.Inf(1), "abs"),
	"isfinite":       floatTest(opLt, math.Inf(1), "abs"),
	"regexp_replace": {arity{3, 4}, replaced},
	"regexp_matches": matches(func(s string) string { return s }), "regexp_full_match": matches(anchored),

	"year": partOf("year"), "quarter": partOf("quarter"), "month": partOf("month"), "week": partOf("week"),
	"weekofyear": partOf("week"), "day": partOf("day"), "dayofmonth": partOf("day"), "dayofweek": partOf("dow"),
	"weekday": partOf("dow"), "isodow": partOf("isodow"), "dayofyear": partOf("doy"), "hour": partOf("hour"),
	"minute": partOf("minute"), "second": partOf("second"), "millisecond": partOf("millisecond"),
	"microsecond": partOf("microsecond"), "decade": partOf("decade"), "century": partOf("century"),
	"millennium": partOf("millennium"), "isoyear": partOf("isoyear"), "epoch": partOf("epoch"),
	"dayname": named("%A"), "monthname": named("%B"), "last_day": {arity{1, 1}, lastDay},
	"date_diff": {arity{3, 3}, difference}, "datediff": {arity{3, 3}, difference},
	"date_add": {arity{2, 2}, func(p *parser, at int, args []Expr) Expr { return p.make(at, opAdd, args...) }},
	"now":      present(now), "current_timestamp": present(now), "today": present(today), "current_date": present(today),
}

// allOf is the form of bool_and and bool_or: the least or the greatest of booleans.
func allOf(aggregate string) form {
	return form{arity{1, 1}, func(p *parser, at int, args []Expr) Expr {
		return p.make(at, aggregate, p.make(at, opAnd, args[0], p.literal(at, true)))
	}}
}

// logarithm is the form of log: to the base 10, or to the base of the first argument.
func logarithm(p *parser, at int, args []Expr) Expr {
	last := p.make(at, "log10", args[len(args)-1])
	if len(args) == 1 {
		return last
	}
	return p.make(at, opDiv, last, p.make(at, "log10", args[0]))
}

// floatTest is the form of a comparison of a number, perhaps of its absolute value, with a float.
func floatTest(op string, with float64, of string) form {
	return form{arity{1, 1}, func(p *parser, at int, args []Expr) Expr {
		e := args[0]
		if of != "" {
			e = p.make(at, of, e)
		}
		return p.make(at, op, e, p.literal(at, with))
	}}
}

// joined is the form of concat_ws: the arguments that are not NULL, with the first one between them.
func joined(p *parser, at int, args []Expr) Expr {
	separator := args[0]
	texts := make([]Expr, len(args)-1)
	for i, a := range args[1:] {
		text := p.make(at, "concat", separator, p.cast(at, opCast, a, typeString))
		texts[i] = p.make(at, "coalesce", text, p.literal(at, ""))
	}
	from := p.make(at, opAdd, p.make(at, "length", separator), p.literal(at, 1))
	all := p.make(at, "substring", p.make(at, "concat", texts...), from)
	return p.make(at, opCase, p.make(at, opIsNull, separator), Lit(nil), all)
}

// casts parses types behind an expression: a::bigint is cast(a as bigint).
func (p *parser) casts(at int, e Expr) Expr {
	for p.sign("::") {
		e = p.cast(at, opCast, e, p.castType())
	}
	return e
}

// test parses what follows is.
func (p *parser) test(at int, e Expr) Expr {
	inverted := p.keyword(opNot)
	switch {
	case p.keyword("null"), p.wordBefore("unknown", anything):
		return p.invert(inverted, p.make(at, opIsNull, e))
	case p.keyword("true"):
		return p.invert(inverted, p.make(at, "coalesce", e, p.literal(at, false)))
	case p.keyword("false"):
		return p.invert(!inverted, p.make(at, "coalesce", e, p.literal(at, true)))
	case p.wordBefore("distinct", func() bool { return p.Token == lex.Word && strings.EqualFold(p.Word, "from") }):
		p.next()
		other := p.bits()
		bothNull := p.make(at, opAnd, p.make(at, opIsNull, e), p.make(at, opIsNull, other))
		return p.invert(!inverted, p.make(at, "coalesce", p.make(at, opEq, e, other), bothNull))
	}
	p.fail("null, true, false, unknown or distinct from")
	return e
}

// pattern parses the pattern of like. With an escape character of its own it becomes one with backslashes.
func (p *parser) pattern() Expr {
	at := p.Start
	e := p.bits()
	if !p.wordBefore("escape", func() bool { return p.Token == lex.Text }) {
		return e
	}
	escape := p.Word
	text, ok := e.n.value.(string)
	switch {
	case !ok:
		p.failAt(at, "a text literal before escape", strconv.Quote(e.String()))
	case escape != "" && firstChar(escape) != escape:
		p.fail("one character")
	}
	pattern, ok := withBackslashes(text, escape)
	if !ok {
		p.failAt(at, "a pattern with a character behind each "+escape, strconv.Quote(text))
	}
	p.next()
	return p.literal(at, pattern)
}

// withBackslashes returns a pattern whose escape character is a backslash in place of escape, "" for none. ok is false
// if the pattern ends with escape.
func withBackslashes(pattern, escape string) (_ string, ok bool) {
	var b strings.Builder
	for pattern != "" {
		char := firstChar(pattern)
		pattern = pattern[len(char):]
		switch {
		case char == escape && pattern == "":
			return "", false
		case char == escape:
			char = firstChar(pattern)
			pattern = pattern[len(char):]
			b.WriteString(`\` + char)
		case char == `\`:
			b.WriteString(`\\`)
		default:
			b.WriteString(char)
		}
	}
	return b.String(), true
}

// qualified makes the token a name with the name before it: "t"."c" and t."c" are the column t.c. It reports whether
// there are two.
func (p *parser) qualified() bool {
	joined, at := false, p.Start
	for p.err == nil {
		before, rest := p.Word, p.Text[p.Pos:]
		switch {
		case p.Token == lex.Name && strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, ".*"):
			p.Pos++
		case p.Token == lex.Word && strings.HasSuffix(before, ".") && strings.HasPrefix(rest, `"`):
			before = strings.TrimSuffix(before, ".")
		default:
			return joined
		}
		if p.next(); p.Token != lex.Word && p.Token != lex.Name {
			p.fail("the name of a column")
		}
		p.Word, p.Start, joined = before+"."+p.Word, at, true
	}
	return joined
}

// intervalUnits are the intervals of one unit.
var intervalUnits = map[string]cql.Duration{
	"year": {Months: 12}, "quarter": {Months: 3}, "month": {Months: 1}, "week": {Days: 7}, "day": {Days: 1},
	"hour": {Nanoseconds: 3600e9}, "minute": {Nanoseconds: 60e9}, "second": {Nanoseconds: 1e9},
	"millisecond": {Nanoseconds: 1e6}, "microsecond": {Nanoseconds: 1e3},
}

// intervalIn returns an interval of a number of a unit, in the singular or the plural. known is false for another word,
// ok for a number that is none or beyond the range of the type.
func intervalIn(number, unit string) (d cql.Duration, known, ok bool) {
	one, known := intervalUnits[strings.TrimSuffix(strings.ToLower(unit), "s")]
	n, err := strconv.ParseInt(number, 10, 64)
	months, ok1 := mulInt(n, int64(one.Months))
	days, ok2 := mulInt(n, int64(one.Days))
	nanoseconds, ok3 := mulInt(n, one.Nanoseconds)
	ok = err == nil && ok1 && ok2 && ok3 && months == int64(int32(months)) && days == int64(int32(days))
	return cql.Duration{Months: int32(months), Days: int32(days), Nanoseconds: nanoseconds}, known, ok
}

// parseInterval parses the text of an interval: 1mo2d as in CQL, or 1 month 2 days.
func parseInterval(text string) (cql.Duration, error) {
	words := strings.Fields(text)
	if len(words) < 2 || len(words)%2 != 0 {
		return cql.ParseDuration(text)
	}
	var sum cql.Duration
	for ; len(words) > 0; words = words[2:] {
		d, known, ok := intervalIn(words[0], words[1])
		months, days := int64(sum.Months)+int64(d.Months), int64(sum.Days)+int64(d.Days)
		nanoseconds, fits := addInt(sum.Nanoseconds, d.Nanoseconds)
		if !known || !ok || !fits || months != int64(int32(months)) || days != int64(int32(days)) {
			return sum, fmt.Errorf("%q is not an interval such as 1 month 2 days", text)
		}
		sum = cql.Duration{Months: int32(months), Days: int32(days), Nanoseconds: nanoseconds}
	}
	return sum, nil
}
