// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/column"
)

// The spellings of values in text.

// Epoch as Values.Timestamp writes timestamps as numbers.
const Epoch = "epoch"

// Values are the spellings of values in CSV, and in JSON where JSON has no type for a value. The zero value reads and
// writes ISO 8601, and blobs in hexadecimal with 0x.
type Values struct {
	// Nulls are the spellings of NULL in fields of CSV without quotes. The first one is written. nil means the empty one.
	Nulls []string
	// True and False are a further spelling of booleans. If they are set, they are written.
	True, False string
	// Date, Time and Timestamp are layouts of package time. Empty means ISO 8601. Timestamp may be Epoch.
	Date, Time, Timestamp string
	// Zone is the time zone of timestamps without one, and of those written. nil means UTC.
	Zone *time.Location
	// EpochUnit is the unit of timestamps that are numbers, since 1970-01-01 UTC. Default: milliseconds.
	EpochUnit time.Duration
	// DecimalPoint and Thousands separate the parts of numbers. 0 means '.' and none.
	DecimalPoint, Thousands byte
	// Base64 means that blobs are base64.
	Base64 bool
}

// withDefaults returns the spellings with defaults, or an error for an invalid one.
func (v Values) withDefaults() (Values, error) {
	if len(v.Nulls) == 0 {
		v.Nulls = []string{""}
	}
	if v.Zone == nil {
		v.Zone = time.UTC
	}
	if v.EpochUnit == 0 {
		v.EpochUnit = time.Millisecond
	}
	switch {
	case v.EpochUnit < 0 || v.EpochUnit < time.Second && time.Second%v.EpochUnit != 0:
		return v, fmt.Errorf("the unit of epochs is %v", v.EpochUnit)
	case (v.True == "") != (v.False == "") || v.True != "" && strings.EqualFold(v.True, v.False):
		return v, fmt.Errorf("the booleans are %q and %q", v.True, v.False)
	case v.Thousands != 0 && v.Thousands == cmp.Or(v.DecimalPoint, '.'):
		return v, fmt.Errorf("the decimal point and the separator of thousands are both %q", v.Thousands)
	}
	return v, nil
}

func (v *Values) isNull(field []byte) bool {
	return slices.ContainsFunc(v.Nulls, func(null string) bool { return null == string(field) })
}

// The layouts of ISO 8601 that are read. Each accepts fractions of seconds.
var (
	timestampLayouts = []string{
		"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05-0700",
		"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00",
		"2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	}
	timeLayouts = []string{time.TimeOnly, "15:04"}
)

// parseTimestamp returns a timestamp in a unit. A value with a part below the unit is an error.
func (v *Values) parseTimestamp(s string, unit column.Unit) (int64, error) {
	if n, ok := parseWhole(s); ok {
		return rescale(n, v.EpochUnit, unit)
	}
	layouts := timestampLayouts
	if v.Timestamp != "" && v.Timestamp != Epoch {
		layouts = []string{v.Timestamp}
	}
	t, err := parseLayouts(layouts, s, v.Zone)
	if err != nil {
		return 0, err
	}
	per := unit.PerSecond()
	if int64(t.Nanosecond())%(1e9/per) != 0 {
		return 0, fmt.Errorf("%w: it has a part below %v", errRange, unit)
	}
	seconds := t.Unix()
	n := seconds*per + int64(t.Nanosecond())/(1e9/per)
	if n/per != seconds && n/per != seconds+1 { // years have 4 digits; only nanoseconds can overflow
		return 0, errRange
	}
	return n, nil
}

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
	if n, ok := parseWhole(s); ok && v.Date == "" {
		if n != int64(int32(n)) {
			return 0, errRange
		}
		return int32(n), nil
	}
	layout := v.Date
	if layout == "" {
		layout = time.DateOnly
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return 0, errSyntax
	}
	if t.Unix()%86400 != 0 || t.Nanosecond() != 0 {
		return 0, fmt.Errorf("%w: it has a time of day", errRange)
	}
	return int32(t.Unix() / 86400), nil
}

// parseTime returns the time since midnight in a unit.
func (v *Values) parseTime(s string, unit column.Unit) (int64, error) {
	if n, ok := parseWhole(s); ok && v.Time == "" {
		if n < 0 || n >= int64(24*time.Hour) {
			return 0, errRange
		}
		return rescale(n, time.Nanosecond, unit)
	}
	layouts := timeLayouts
	if v.Time != "" {
		layouts = []string{v.Time}
	}
	t, err := parseLayouts(layouts, s, time.UTC)
	if err != nil {
		return 0, err
	}
	midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
	return rescale(int64(t.Sub(midnight)), time.Nanosecond, unit)
}

func parseLayouts(layouts []string, s string, zone *time.Location) (time.Time, error) {
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errSyntax
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

// number returns a number in the notation of Go.
func (v *Values) number(s string) string {
	if v.Thousands != 0 {
		s = strings.ReplaceAll(s, string(rune(v.Thousands)), "")
	}
	if v.DecimalPoint != 0 && v.DecimalPoint != '.' {
		if strings.Contains(s, ".") {
			return "invalid"
		}
		s = strings.ReplaceAll(s, string(rune(v.DecimalPoint)), ".")
	}
	return s
}
