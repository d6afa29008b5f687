// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/textform"
)

// The spellings of values in text.

// Epoch in place of a layout means numbers: as Values.Timestamp the units of EpochUnit, as Values.Date days since
// 1970-01-01, as Values.Time nanoseconds since midnight.
const Epoch = "epoch"

// Values are the spellings of values in CSV, and in JSON where JSON has no type for a value. The zero value reads and
// writes ISO 8601, and blobs in hexadecimal with 0x.
type Values struct {
	// Nulls are the spellings of NULL in fields of CSV without quotes. The first one is written. nil means the empty one.
	Nulls []string
	// QuotedNulls means that a spelling of NULL is NULL in quotes, too, as in files that have quotes around all fields.
	QuotedNulls bool
	// True and False are a further spelling of booleans. If they are set, they are written.
	True, False string
	// Date, Time and Timestamp are layouts of package time, or Epoch. Empty means ISO 8601, in which a year beyond 9999
	// has a sign. Years that a layout does not have are in ISO 8601 in a column of dates, and numbers of EpochUnit in one
	// of timestamps.
	Date, Time, Timestamp string
	// MoreDates, MoreTimes and MoreTimestamps are further layouts, "" for ISO 8601, of text that the first layout does not
	// read. They are tried in order, and nothing is written by them.
	MoreDates, MoreTimes, MoreTimestamps []string
	// Zone is the time zone of timestamps without one, and of those written. nil means UTC.
	Zone *time.Location
	// EpochUnit is the unit of timestamps that are numbers, since 1970-01-01 UTC. 0 means milliseconds, and that the digits
	// of a date, such as 20240131, are an error.
	EpochUnit time.Duration
	assumed   bool // EpochUnit is the default
	// DecimalPoint and Thousands separate the parts of numbers. 0 means '.' and none.
	DecimalPoint, Thousands byte
	// Base64 means that blobs are base64.
	Base64 bool
	// CopyTo reads text as COPY TO of cqlsh writes it: a backslash twice, control characters as \n or \x07, and dates
	// beyond the years 1 to 9999 as numbers of days.
	CopyTo bool

	anyText bool // arrays and objects of JSON are values of columns of text
}

// withDefaults returns the spellings with defaults, or an error for an invalid one.
func (v Values) withDefaults() (Values, error) {
	if len(v.Nulls) == 0 {
		v.Nulls = []string{""}
	}
	if v.CopyTo { // which escapes the spelling of NULL, too, except in nested values
		for _, null := range v.Nulls {
			if escaped := strings.ReplaceAll(null, `\`, `\\`); escaped != null {
				v.Nulls = append(slices.Clip(v.Nulls), escaped)
			}
		}
	}
	if v.Zone == nil {
		v.Zone = time.UTC
	}
	if v.EpochUnit == 0 {
		v.EpochUnit, v.assumed = time.Millisecond, true
	}
	switch {
	case v.EpochUnit < 0 || v.EpochUnit < time.Second && time.Second%v.EpochUnit != 0:
		return v, fmt.Errorf("the unit of epochs is %v", v.EpochUnit)
	case (v.True == "") != (v.False == "") || v.True != "" && strings.EqualFold(v.True, v.False):
		return v, fmt.Errorf("the booleans are %q and %q", v.True, v.False)
	case isDigitOrSign(v.DecimalPoint), isDigitOrSign(v.Thousands):
		return v, fmt.Errorf("%q or %q cannot separate the parts of a number", v.DecimalPoint, v.Thousands)
	case v.Thousands != 0 && v.Thousands == cmp.Or(v.DecimalPoint, '.'):
		return v, fmt.Errorf("the decimal point and the separator of thousands are both %q", v.Thousands)
	}
	return v, nil
}

// isDigitOrSign reports whether numbers have the character: a digit, a sign, or a letter of an exponent or of NaN.
func isDigitOrSign(c byte) bool {
	return c >= '0' && c <= '9' || c == '+' || c == '-' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func (v *Values) isNull(field []byte) bool {
	return slices.ContainsFunc(v.Nulls, func(null string) bool { return null == string(field) })
}

// byLayouts returns what the first layout reads that a text is in.
func byLayouts[T any](first string, more []string, parse func(layout string) (T, error)) (T, error) {
	v, err := parse(first)
	for _, layout := range more {
		if !errors.Is(err, errSyntax) { // also a text in the layout whose value does not fit
			break
		}
		v, err = parse(layout)
	}
	return v, err
}

// parseTimestamp returns a timestamp in a unit. A value with a part below the unit is an error.
func (v *Values) parseTimestamp(s string, unit column.Unit) (int64, error) {
	return byLayouts(v.Timestamp, v.MoreTimestamps, func(layout string) (int64, error) {
		return v.parseTimestampBy(layout, s, unit)
	})
}

// parseTimestampBy returns a timestamp by a layout.
func (v *Values) parseTimestampBy(layout, s string, unit column.Unit) (int64, error) {
	isEpoch := layout == Epoch
	if isEpoch {
		layout = ""
	}
	if layout != "" {
		t, err := parseLayout(layout, s, v.Zone)
		switch {
		case err == nil:
			return textform.In(t.Unix(), int64(t.Nanosecond()), unit.PerSecond())
		case errors.Is(err, errRange):
			return 0, err
		}
	}
	if n, ok := parseWhole(s); ok {
		return v.parseEpoch(s, n, layout, isEpoch, unit)
	}
	if layout != "" {
		return 0, errSyntax
	}
	seconds, nanos, err := textform.ParseTimestamp(s, v.Zone)
	if err != nil {
		return 0, err
	}
	return textform.In(seconds, nanos, unit.PerSecond())
}

// parseEpoch returns a timestamp that is a whole number. Beside a layout, only the years that a layout does not have
// are numbers. Digits of a date are an error unless numbers were asked for.
func (v *Values) parseEpoch(s string, n int64, layout string, isEpoch bool, unit column.Unit) (int64, error) {
	if v.assumed && !isEpoch && isCompactDate(s) {
		return 0, hint("the digits may be a date; --epoch-unit 1ms reads milliseconds since 1970, --timestamp-format " +
			compactLayouts[len(s)] + " a date")
	}
	out, err := rescale(n, v.EpochUnit, unit)
	if err == nil && layout != "" {
		per := unit.PerSecond()
		if t := time.Unix(out/per, out%per*(1e9/per)).In(v.Zone); hasLayout(t) {
			return 0, errSyntax
		}
	}
	return out, err
}

// isCompactDate reports whether digits are a date of the years 1900 to 2199, alone or with a time of day.
func isCompactDate(s string) bool {
	if layout, ok := compactLayouts[len(s)]; ok && (s[:2] == "19" || s[:2] == "20" || s[:2] == "21") {
		_, err := time.Parse(layout, s)
		return err == nil
	}
	return false
}

// compactLayouts are the layouts of dates without punctuation, by length. Most numbers of 12 digits are milliseconds
// of the years 1973 to 2001.
var compactLayouts = map[int]string{8: "20060102", 14: "20060102150405"}

// rescale converts n units of from to a unit of columns.
func rescale(n int64, from time.Duration, to column.Unit) (int64, error) {
	step := time.Duration(1e9 / to.PerSecond())
	if from >= step {
		factor := int64(from / step)
		if from%step != 0 || n != 0 && (n*factor/factor != n) {
			return 0, errRange
		}
		return n * factor, nil
	}
	factor := int64(step / from)
	if n%factor != 0 {
		return 0, fmt.Errorf("%w: it has a part below %v", errRange, to)
	}
	return n / factor, nil
}

// parseDate returns the days since 1970-01-01.
func (v *Values) parseDate(s string) (int32, error) {
	return byLayouts(v.Date, v.MoreDates, func(layout string) (int32, error) { return v.parseDateBy(layout, s) })
}

// parseDateBy returns a date by a layout.
func (v *Values) parseDateBy(layout, s string) (int32, error) {
	n, isWhole := parseWhole(s)
	switch {
	case isWhole && (layout == Epoch || layout == "" && v.CopyTo):
		if n != int64(int32(n)) {
			return 0, errRange
		}
		return int32(n), nil
	case layout == Epoch:
		return 0, errSyntax
	case layout == "" && isWhole:
		return 0, hint("a date has the form 2006-01-02; --date-format epoch reads days since 1970-01-01, " +
			"--date-format 20060102 such digits")
	case layout == "":
		return textform.ParseDate(s)
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		if days, err := textform.ParseDate(s); err == nil && !hasLayout(dayTime(days)) {
			return days, nil
		}
		return 0, errSyntax
	}
	if t.Unix()%86400 != 0 || t.Nanosecond() != 0 {
		return 0, fmt.Errorf("%w: it has a time of day", errRange)
	}
	return int32(t.Unix() / 86400), nil
}

func dayTime(days int32) time.Time { return time.Unix(int64(days)*86400, 0).UTC() }

// parseTime returns the time since midnight in a unit.
func (v *Values) parseTime(s string, unit column.Unit) (int64, error) {
	return byLayouts(v.Time, v.MoreTimes, func(layout string) (int64, error) { return parseTimeBy(layout, s, unit) })
}

// parseTimeBy returns the time since midnight by a layout.
func parseTimeBy(layout, s string, unit column.Unit) (int64, error) {
	n, isWhole := parseWhole(s)
	var err error
	switch {
	case isWhole && layout == "" || isWhole && layout == Epoch:
		if n < 0 || n >= int64(24*time.Hour) {
			return 0, errRange
		}
		if layout == "" {
			return 0, hint("a time has the form 15:04:05; --time-format epoch reads nanoseconds since midnight, " +
				"--time-format 150405 such digits")
		}
	case layout == Epoch:
		return 0, errSyntax
	case layout == "":
		n, err = textform.ParseTime(s)
	default:
		var t time.Time
		t, err = parseLayout(layout, s, time.UTC)
		midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
		n = int64(t.Sub(midnight))
	}
	if err != nil {
		return 0, err
	}
	return rescale(n, time.Nanosecond, unit)
}

// parseLayout parses a time. One that the clocks of its zone skip is an error.
func parseLayout(layout, s string, zone *time.Location) (time.Time, error) {
	t, err := time.ParseInLocation(layout, s, zone)
	if err != nil {
		return t, errSyntax
	}
	if u, err := time.Parse(layout, s); err == nil && zone != time.UTC && !t.Equal(u) &&
		(t.Hour() != u.Hour() || t.Minute() != u.Minute()) {
		return t, fmt.Errorf("%w: the clocks of %v skip this time", errRange, zone)
	}
	return t, nil
}

// parseBool returns the boolean that a word means.
func (v *Values) parseBool(s string) (value, ok bool) {
	if v.True != "" {
		switch {
		case strings.EqualFold(s, v.True):
			return true, true
		case strings.EqualFold(s, v.False):
			return false, true
		}
	}
	switch strings.ToLower(s) {
	case "true", "t", "yes", "y", "1":
		return true, true
	case "false", "f", "no", "n", "0":
		return false, true
	}
	return false, false
}

// number returns a number with a decimal point and without separators of thousands. A separator elsewhere than before
// groups of three digits of the whole part, or a second notation, is an error.
func (v *Values) number(s string) (string, error) {
	point := cmp.Or(v.DecimalPoint, '.')
	mantissa, exponent := s, ""
	if i := strings.IndexAny(s, "eE"); i > 0 {
		mantissa, exponent = s[:i], s[i:]
	}
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction := mantissa, ""
	if i := strings.IndexByte(mantissa, point); i >= 0 {
		whole, fraction = mantissa[:i], "."+mantissa[i+1:]
		if strings.IndexByte(mantissa[i+1:], point) >= 0 || strings.Trim(mantissa[i+1:], "0123456789") != "" {
			return "", errSyntax
		}
	}
	if v.Thousands != 0 && strings.IndexByte(whole, v.Thousands) >= 0 {
		groups := strings.Split(whole, string(rune(v.Thousands)))
		for i, g := range groups {
			if len(g) != 3 && (i > 0 || len(g) == 0 || len(g) > 3) || strings.Trim(g, "0123456789") != "" {
				return "", fmt.Errorf("%w: groups of digits have three, and end before the %q", errRange, point)
			}
		}
		whole = strings.Join(groups, "")
	}
	if point != '.' && strings.Contains(whole, ".") {
		return "", errSyntax
	}
	return sign + whole + fraction + exponent, nil
}
