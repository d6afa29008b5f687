// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Functions of dates and timestamps: days between dates, buckets of time, and formatted times.

// isDate reports whether a term is a date, or the literal of one.
func isDate(t *term) bool {
	m, ok := t.value.(moment)
	return t.class == classDate || ok && t.untyped() && m.typ.Kind == column.Date
}

// isTimestamp reports whether a term is a timestamp, or the literal of one.
func isTimestamp(t *term) bool {
	m, ok := t.value.(moment)
	return t.class == classTimestamp || ok && t.untyped() && m.typ.Kind == column.Timestamp
}

// settleDate gives the literal of a date its type.
func (c *checker) settleDate(t *term) error {
	if !t.untyped() {
		return nil
	}
	return c.settle(t, column.Type{Kind: column.Date})
}

// days checks a sum of a date and a number of days, and a difference of two dates. done is false for other operands.
func (c *checker) days(t, a, b *term) (done bool, err error) {
	if t.op != opAdd && t.op != opSub {
		return false, nil
	}
	if t.op == opAdd && isDate(b) {
		a, b = b, a
		t.args[0], t.args[1] = a, b
	}
	_, isText := b.value.(string)
	_, isInt := b.value.(int64)
	switch {
	case t.op == opSub && isTimestamp(a) && isTimestamp(b):
		return true, fault(t.e, "the difference of timestamps has no type: date_diff('second', %s, %s) is a number", b.e, a.e)
	case !isDate(a):
		return false, nil
	case t.op == opSub && (isDate(b) || isText && b.untyped()):
		if err := c.settleDate(a); err != nil {
			return true, err
		}
		t.set(typeInt64)
		return true, c.settleDate(b)
	case b.class == classInt || isInt && b.untyped():
		if err := c.settleDate(a); err != nil {
			return true, err
		}
		t.set(a.typ)
		if b.untyped() {
			return true, c.settle(b, typeInt64)
		}
		return true, nil
	}
	return false, nil
}

// addDays returns the function that adds days to a date, sign times.
func (c clock) addDays(sign int64) func(v, days int64) (int64, error) {
	return func(v, days int64) (int64, error) {
		days, ok := mulInt(sign, days)
		if ok {
			v, ok = addInt(v, days)
		}
		return c.checked(v, ok)
	}
}

// settleTime gives the literal of a date or a timestamp its type, and returns an error for a term that is neither.
func (c *checker) settleTime(t, at *term) error {
	if _, ok := at.value.(moment); ok && at.untyped() {
		if err := c.settleAlone(at); err != nil {
			return err
		}
	}
	if at.class != classDate && at.class != classTimestamp {
		return fault(t.e, "%s requires a date or a timestamp: %s", t.op, at.describe())
	}
	return nil
}

// bucket checks time_bucket.
func (c *checker) bucket(t *term) error {
	width, at := t.args[0], t.args[1]
	if !isInterval(width) {
		return fault(t.e, "the first argument of time_bucket is the literal of an interval, not %s", width.e)
	}
	if err := c.settleTime(t, at); err != nil {
		return err
	}
	d := intervalOf(width)
	_, err := clockOf(at.typ).bucketWidth(d)
	if err != nil {
		return fault(width.e, "%w", err)
	}
	width.class = classInterval
	t.set(at.typ)
	return nil
}

// bucketWidth returns the width of a bucket in the unit of a type, or 0 for one of months.
func (c clock) bucketWidth(d cql.Duration) (int64, error) {
	unit := int64(86400e9)
	if !c.date {
		unit = 1e9 / c.perSec
	}
	nanoseconds, ok := mulInt(int64(d.Days), 86400e9)
	if ok {
		nanoseconds, ok = addInt(nanoseconds, d.Nanoseconds)
	}
	switch {
	case d.Months > 0 && d.Days == 0 && d.Nanoseconds == 0:
		return 0, nil
	case d.Months != 0:
		return 0, fmt.Errorf("a bucket is a number of months, or of days and hours")
	case !ok || nanoseconds <= 0 || nanoseconds%unit != 0:
		return 0, fmt.Errorf("a bucket is longer than 0, and has an exact length in the unit of the times")
	}
	return nanoseconds / unit, nil
}

// The origins of buckets, as in DuckDB: a Monday, and for months the start of a year.
var (
	bucketDay   = dayOf(2000, time.January, 3)
	bucketMonth = int64(2000 * 12)
)

// bucket returns the function of time_bucket: the start of the bucket of a time.
func (c clock) bucket(d cql.Duration) func(int64) (int64, error) {
	width, _ := c.bucketWidth(d) // was computed by the checker
	if width > 0 {
		origin := bucketDay * c.perDay
		return func(v int64) (int64, error) {
			from, ok := subInt(v, origin)
			rest := from % width
			if rest < 0 {
				rest += width
			}
			if ok {
				v, ok = subInt(v, rest)
			}
			return c.checked(v, ok)
		}
	}
	months := int64(d.Months)
	return func(v int64) (int64, error) {
		y, m, _ := c.time(v).Date()
		month := floorDiv(int64(y)*12+int64(m)-1-bucketMonth, months)*months + bucketMonth
		year := floorDiv(month, 12)
		return c.days(dayOf(int(year), time.Month(month-12*year+1), 1), 0)
	}
}

// strftime checks strftime.
func (c *checker) strftime(t *term) error {
	if err := c.settleTime(t, t.args[0]); err != nil {
		return err
	}
	format, ok := t.args[1].value.(string)
	if !ok {
		return fault(t.e, "the format of strftime must be a text literal, not %s", t.args[1].e)
	}
	if _, err := timeFormat(format); err != nil {
		return fault(t.args[1].e, "%w", err)
	}
	t.set(typeString)
	return nil
}

// A timeAppender appends a part of a formatted time.
type timeAppender func(dst []byte, t time.Time) []byte

// layouts are the specifiers of strftime that package time has.
var layouts = map[string]string{
	"a": "Mon", "A": "Monday", "b": "Jan", "B": "January", "d": "02", "-d": "2", "m": "01", "-m": "1",
	"H": "15", "I": "03", "-I": "3", "p": "PM", "M": "04", "-M": "4", "S": "05", "-S": "5", "j": "002", "T": "15:04:05",
	"z": "-07", "Z": "UTC",
}

// numbersOf are the specifiers of strftime with a number, and its least digits, which negative years lack.
var numbersOf = map[string]struct {
	digits int
	of     func(t time.Time) int
}{
	"Y": {4, time.Time.Year}, "y": {2, yearOfCentury}, "-y": {1, yearOfCentury},
	"-H": {1, time.Time.Hour}, "-j": {1, time.Time.YearDay}, "w": {1, func(t time.Time) int { return int(t.Weekday()) }},
	"u": {1, func(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }},
	"f": {6, func(t time.Time) int { return t.Nanosecond() / 1e3 }},
	"g": {3, func(t time.Time) int { return t.Nanosecond() / 1e6 }}, "n": {9, time.Time.Nanosecond},
	"V": {2, func(t time.Time) int { _, w := t.ISOWeek(); return w }},
	"G": {4, func(t time.Time) int { y, _ := t.ISOWeek(); return y }},
	"U": {2, func(t time.Time) int { return (t.YearDay() + 6 - int(t.Weekday())) / 7 }},
	"W": {2, func(t time.Time) int { return (t.YearDay() + 6 - (int(t.Weekday())+6)%7) / 7 }},
}

// yearOfCentury returns the last two digits of the year.
func yearOfCentury(t time.Time) int { return max(t.Year(), -t.Year()) % 100 }

// timeFormat returns the parts of a format of strftime.
func timeFormat(format string) ([]timeAppender, error) {
	var parts []timeAppender
	for format != "" {
		plain, rest, found := strings.Cut(format, "%")
		if plain != "" {
			parts = append(parts, func(dst []byte, _ time.Time) []byte { return append(dst, plain...) })
		}
		if format = rest; !found {
			break
		}
		name := firstChar(format)
		if format = format[len(name):]; name == "-" {
			name += firstChar(format)
			format = strings.TrimPrefix(format, name[1:])
		}
		if name == "F" {
			format = "%Y-%m-%d" + format
			continue
		}
		layout, isLayout := layouts[name]
		number, isNumber := numbersOf[name]
		switch {
		case name == "%":
			parts = append(parts, func(dst []byte, _ time.Time) []byte { return append(dst, '%') })
		case isLayout:
			parts = append(parts, func(dst []byte, t time.Time) []byte { return t.AppendFormat(dst, layout) })
		case isNumber:
			parts = append(parts, func(dst []byte, t time.Time) []byte {
				text := strconv.Itoa(number.of(t))
				for i := len(text); i < number.digits && text[0] != '-'; i++ {
					dst = append(dst, '0')
				}
				return append(dst, text...)
			})
		default:
			return nil, fmt.Errorf("%%%s is no part of a format of strftime, such as %%Y-%%m-%%d %%H:%%M:%%S", name)
		}
	}
	return parts, nil
}

// formatted returns the lane of strftime.
func (b *builder) formatted(t *term) lane[string] {
	parts, _ := timeFormat(t.args[1].value.(string)) // was parsed by the checker
	from, buf := clockOf(t.args[0].typ), []byte(nil)
	return newMap(t, b.block, b.ints(t.args[0]), func(v int64) (string, error) {
		at := from.time(v)
		buf = buf[:0]
		for _, part := range parts {
			buf = part(buf, at)
		}
		return string(buf), nil
	})
}
