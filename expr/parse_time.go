// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Functions of dates and timestamps that stand for others.

// unitNames are other names of units and parts; a plural with s needs none.
var unitNames = map[string]string{
	"us": "microsecond", "ms": "millisecond", "s": "second", "sec": "second", "m": "minute", "min": "minute", "h": "hour",
	"hr": "hour", "d": "day", "dayofmonth": "day", "w": "week", "weekofyear": "week", "mon": "month", "y": "year",
	"yr": "year", "centuries": "century", "millennia": "millennium", "dayofweek": "dow", "weekday": "dow",
	"dayofyear": "doy",
}

// unitName returns the name of a unit or a part in units and parts.
func unitName(name string) string {
	name = strings.ToLower(name)
	if other, ok := unitNames[name]; ok {
		return other
	}
	if one := strings.TrimSuffix(name, "s"); one != name && len(one) > 2 {
		if other, ok := unitNames[one]; ok {
			return other
		}
		return one
	}
	return name
}

// partOf is the form of extract with a part.
func partOf(part string) form {
	return form{arity{1, 1}, func(p *parser, at int, args []Expr) Expr { return p.part(at, part, args[0]) }}
}

func (p *parser) part(at int, part string, e Expr) Expr {
	return p.make(at, "extract", p.literal(at, part), e)
}

// named is the form of strftime with a format.
func named(format string) form {
	return form{arity{1, 1}, func(p *parser, at int, args []Expr) Expr {
		return p.make(at, "strftime", args[0], p.literal(at, format))
	}}
}

// present is the form of a function of the present time, which becomes a literal.
func present(f func(now time.Time) any) form {
	return form{arity{0, 0}, func(p *parser, at int, _ []Expr) Expr { return p.literal(at, f(time.Now().UTC())) }}
}

// today returns the day of a time as a literal.
func today(now time.Time) any {
	return moment{now.Truncate(24 * time.Hour).Round(0), column.Type{Kind: column.Date}}
}

// now returns a time as a literal.
func now(now time.Time) any { return now.Truncate(time.Microsecond) }

// secondsOf are the units of one length.
var secondsOf = map[string]int64{"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400}

// monthsOf are the units of months.
var monthsOf = map[string]int64{"month": 1, "quarter": 3, "year": 12}

// difference is the form of date_diff: how many times a unit begins after the first time, up to the second.
func difference(p *parser, at int, args []Expr) Expr {
	name, _ := args[0].n.value.(string)
	unit := unitName(name)
	seconds, months := secondsOf[unit], monthsOf[unit]
	minus := func(part string, x, y Expr) Expr { return p.make(at, opSub, p.part(at, part, x), p.part(at, part, y)) }
	switch {
	case months == 12:
		return minus("year", args[2], args[1])
	case months > 0:
		years := p.make(at, opMul, minus("year", args[2], args[1]), p.literal(at, 12/months))
		return p.make(at, opAdd, years, minus(unit, args[2], args[1]))
	case seconds == 0:
		p.failAt(at, "a unit from second to year in date_diff", strconv.Quote(args[0].String()))
		return Lit(nil)
	}
	begin := func(e Expr) Expr { return p.make(at, "date_trunc", p.literal(at, unit), e) }
	return p.make(at, opDiv, minus("epoch", begin(args[2]), begin(args[1])), p.literal(at, seconds))
}

// lastDay is the form of last_day: the last day of the month, as a date.
func lastDay(p *parser, at int, args []Expr) Expr {
	first := p.make(at, "date_trunc", p.literal(at, "month"), args[0])
	next := p.make(at, opAdd, first, p.literal(at, cql.Duration{Months: 1}))
	e := p.make(at, opCast, p.make(at, opSub, next, p.literal(at, cql.Duration{Days: 1})))
	e.n.typ = column.Type{Kind: column.Date}
	return e
}
