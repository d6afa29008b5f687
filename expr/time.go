// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"slices"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Dates and timestamps as integers of their unit.

// A clock converts the integers of a type to times and back.
type clock struct {
	perDay int64 // 1 for dates
	perSec int64 // of timestamps
	date   bool
}

func clockOf(t column.Type) clock {
	if t.Kind == column.Date {
		return clock{perDay: 1, date: true}
	}
	per := t.Unit.PerSecond()
	return clock{perDay: 86400 * per, perSec: per}
}

// time returns a value as a time in UTC.
func (c clock) time(v int64) time.Time {
	if c.date {
		return time.Unix(v*86400, 0).UTC()
	}
	s := floorDiv(v, c.perSec)
	return time.Unix(s, (v-s*c.perSec)*(1e9/c.perSec)).UTC()
}

// value returns a time as a value, rounded down.
func (c clock) value(t time.Time) (int64, error) {
	if c.date {
		return c.checked(floorDiv(t.Unix(), 86400), true)
	}
	// Whole seconds are at most 0: the least value may begin within a second that is out of range.
	s, ns := t.Unix(), int64(t.Nanosecond())/(1e9/c.perSec)
	if s < 0 {
		s, ns = s+1, ns-c.perSec
	}
	v, ok := mulInt(s, c.perSec)
	if ok {
		v, ok = addInt(v, ns)
	}
	return c.checked(v, ok)
}

// days returns days, and a part of a day, as a value.
func (c clock) days(days, rest int64) (int64, error) {
	if days < 0 && rest > 0 {
		days, rest = days+1, rest-c.perDay
	}
	v, ok := mulInt(days, c.perDay)
	if ok {
		v, ok = addInt(v, rest)
	}
	return c.checked(v, ok)
}

// checked returns an error for a value out of range.
func (c clock) checked(v int64, ok bool) (int64, error) {
	if !ok || c.date && v != int64(int32(v)) {
		return 0, ErrOverflow
	}
	return v, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// dayOf returns the days since 1970-01-01 of a date.
func dayOf(year int, month time.Month, day int) int64 {
	return floorDiv(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix(), 86400)
}

// truncate returns the function of date_trunc.
func (c clock) truncate(unit string, zone *time.Location) func(int64) (int64, error) {
	step := c.step(unit)
	switch {
	case zone != nil:
		return func(v int64) (int64, error) { return c.value(truncateIn(c.time(v).In(zone), unit)) }
	case step > 0:
		return func(v int64) (int64, error) {
			rest := v % step
			if rest < 0 {
				rest += step
			}
			v, ok := subInt(v, rest)
			return c.checked(v, ok)
		}
	case unit == "week":
		return func(v int64) (int64, error) { // 1970-01-01 was a Thursday
			return c.days(floorDiv(floorDiv(v, c.perDay)+3, 7)*7-3, 0)
		}
	}
	return func(v int64) (int64, error) {
		y, m, _ := c.time(v).Date()
		return c.days(dayOf(firstYear(y, unit), firstMonth(m, unit), 1), 0)
	}
}

// firstYear returns the first year of the year's unit. As in DuckDB, a century begins with the year 2000.
func firstYear(y int, unit string) int {
	if n := map[string]int{"decade": 10, "century": 100, "millennium": 1000}[unit]; n > 0 {
		return y / n * n
	}
	return y
}

// step returns the length of a unit in UTC, at least 1, and 0 for units beyond a day.
func (c clock) step(unit string) int64 {
	switch i := slices.Index(units, unit); {
	case i > slices.Index(units, "day"):
		return 0
	case c.date:
		return 1
	default:
		return []int64{max(1, c.perSec/1e6), max(1, c.perSec/1e3), c.perSec, 60 * c.perSec, 3600 * c.perSec, c.perDay}[i]
	}
}

// firstMonth returns the first month of the month's unit.
func firstMonth(m time.Month, unit string) time.Month {
	switch unit {
	case "year", "decade", "century", "millennium":
		return time.January
	case "quarter":
		return (m-1)/3*3 + 1
	}
	return m
}

// truncateIn rounds down in the zone of t.
func truncateIn(t time.Time, unit string) time.Time {
	y, m, d := t.Date()
	part := time.Duration(0)
	switch unit {
	case "hour":
		part = time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	case "minute":
		part = time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	case "second":
		part = time.Duration(t.Nanosecond())
	case "millisecond":
		part = time.Duration(t.Nanosecond() % 1e6)
	case "microsecond":
		part = time.Duration(t.Nanosecond() % 1e3)
	case "day":
		return startOfDay(y, m, d, t.Location())
	case "week":
		return startOfDay(y, m, d-(int(t.Weekday())+6)%7, t.Location())
	default:
		return startOfDay(firstYear(y, unit), firstMonth(m, unit), 1, t.Location())
	}
	return t.Add(-part)
}

// startOfDay returns the first instant of a day in a zone. That is not its midnight where clocks go forward at
// midnight, and the first of two midnights where they go back to it.
func startOfDay(y int, m time.Month, d int, zone *time.Location) time.Time {
	midnight := time.Date(y, m, d, 0, 0, 0, 0, zone)
	start, end := midnight.ZoneBounds()
	if midnight.Hour() >= 12 { // the day before: the zone has no such midnight
		return end
	}
	if start.IsZero() {
		return midnight
	}
	_, offset := midnight.Zone()
	_, before := start.Add(-1).Zone()
	if first := midnight.Add(time.Duration(offset-before) * time.Second); first.Before(start) {
		return first
	}
	return midnight
}

// extract returns the function of extract.
func (c clock) extract(part string, zone *time.Location) func(int64) (int64, error) {
	of := map[string]func(t time.Time) int{
		"microsecond": func(t time.Time) int { return t.Second()*1e6 + t.Nanosecond()/1e3 },
		"millisecond": func(t time.Time) int { return t.Second()*1e3 + t.Nanosecond()/1e6 },
		"second":      time.Time.Second,
		"minute":      time.Time.Minute,
		"hour":        time.Time.Hour,
		"day":         time.Time.Day,
		"week":        func(t time.Time) int { _, w := t.ISOWeek(); return w },
		"month":       func(t time.Time) int { return int(t.Month()) },
		"quarter":     func(t time.Time) int { return (int(t.Month()) + 2) / 3 },
		"year":        time.Time.Year,
		"decade":      func(t time.Time) int { return t.Year() / 10 },
		"century":     func(t time.Time) int { return (t.Year() + 99) / 100 },
		"millennium":  func(t time.Time) int { return (t.Year() + 999) / 1000 },
		"isoyear":     func(t time.Time) int { y, _ := t.ISOWeek(); return y },
		"isodow":      func(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 },
		"dow":         func(t time.Time) int { return int(t.Weekday()) },
		"doy":         time.Time.YearDay,
	}[part]
	if part == "epoch" {
		return func(v int64) (int64, error) { return c.time(v).Unix(), nil }
	}
	return func(v int64) (int64, error) {
		t := c.time(v)
		if zone != nil {
			t = t.In(zone)
		}
		return int64(of(t)), nil
	}
}

// add returns the function that adds an interval, sign times. Months come first: a day beyond the end of the month
// becomes its last day. A day has 24 hours.
func (c clock) add(d cql.Duration, sign int64) func(int64) (int64, error) {
	months, days, part := sign*int64(d.Months), sign*int64(d.Days), int64(0)
	if !c.date {
		part = d.Nanoseconds / (1e9 / c.perSec)
	}
	return func(v int64) (int64, error) {
		if months != 0 || days != 0 {
			day := floorDiv(v, c.perDay)
			rest := v - day*c.perDay
			if months != 0 {
				day = addMonths(day, months)
			}
			var err error
			if v, err = c.days(day+days, rest); err != nil {
				return 0, err
			}
		}
		shift := addInt
		if sign < 0 {
			shift = subInt // the opposite of part may be out of range
		}
		v, ok := shift(v, part)
		return c.checked(v, ok)
	}
}

// addMonths returns the same day of another month, or its last day.
func addMonths(day, months int64) int64 {
	y, m, d := time.Unix(day*86400, 0).UTC().Date()
	all := int64(m) - 1 + months
	y, m = y+int(floorDiv(all, 12)), time.Month(all-12*floorDiv(all, 12)+1)
	return dayOf(y, m, min(d, time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day()))
}

// timeInts returns the lane of date_trunc, extract, and of an interval added.
func (b *builder) timeInts(t *term) lane[int64] {
	switch t.op {
	case opAdd, opSub:
		sign := int64(1)
		if t.op == opSub {
			sign = -1
		}
		if t.args[1].class != classInterval {
			return newZip(t, b.block, b.ints(t.args[0]), b.ints(t.args[1]), clockOf(t.typ).addDays(sign))
		}
		return newMap(t, b.block, b.ints(t.args[0]), clockOf(t.typ).add(intervalOf(t.args[1]), sign))
	case "time_bucket":
		return newMap(t, b.block, b.ints(t.args[1]), clockOf(t.typ).bucket(intervalOf(t.args[0])))
	}
	at, unit := t.args[1], t.args[0].value.(string)
	var zone *time.Location
	if len(t.args) == 3 {
		zone, _ = time.LoadLocation(t.args[2].value.(string)) // was loaded by the checker
	}
	if t.op == "extract" {
		return newMap(t, b.block, b.ints(at), clockOf(at.typ).extract(unit, zone))
	}
	return newMap(t, b.block, b.ints(at), clockOf(at.typ).truncate(unit, zone))
}
