// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Dates, times, timestamps and addresses as text, with what Cassandra takes of each form and what it refuses.

// wholeNumber matches the text of a date, time or timestamp that is a stored value.
var wholeNumber = regexp.MustCompile(`^-?\d+$`)

// isoDay matches a date of ISO 8601: a year has four digits, or a sign and more.
var isoDay = regexp.MustCompile(`^(\d{4}|\+\d{5,10}|-\d{4,10})-(\d\d)-(\d\d)`)

// The range of the type date.
const (
	leastDay, mostDay         = -1 << 31, 1<<31 - 1
	leastDayText, mostDayText = "-5877641-06-23T00:00Z", "+5881580-07-11T00:00Z"
)

// mostYear is the last year that has milliseconds which fit 64 bits.
const mostYear = 292278994

// fitsMillis reports whether a time in seconds has milliseconds that fit 64 bits.
func fitsMillis(seconds int64) bool {
	return seconds >= math.MinInt64/1000 && seconds <= math.MaxInt64/1000
}

// parseDate parses a date, or an integer that is the stored value: days with 1<<31 for 1970-01-01.
func parseDate(s string) ([]byte, error) {
	if wholeNumber.MatchString(s) {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v < 0 || v > math.MaxUint32 {
			return nil, badValue("Unable to make unsigned int (for date) from: '%s'", s)
		}
		return binary.BigEndian.AppendUint32(nil, uint32(v)), nil
	}
	at, rest, ok := cutDay(s, false)
	if !ok || rest != "" || !fitsMillis(at.Unix()) {
		return nil, badValue("Unable to coerce '%s' to a formatted date (long)", s)
	}
	switch days := floorDiv(at.Unix(), 86400); {
	case days < leastDay:
		return nil, badValue("Input date %s is less than min supported date %s", s, leastDayText)
	case days > mostDay:
		return nil, badValue("Input date %s is greater than max supported date %s", s, mostDayText)
	default:
		return binary.BigEndian.AppendUint32(nil, uint32(days+1<<31)), nil
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// cutDay parses the date of ISO 8601 that s begins with, and returns the rest. clamp takes days after the end of the
// month as its last day.
func cutDay(s string, clamp bool) (at time.Time, rest string, ok bool) {
	parts := isoDay.FindStringSubmatch(s)
	if parts == nil || strings.HasPrefix(parts[0], "-0000-") {
		return time.Time{}, "", false
	}
	year, err := strconv.Atoi(strings.TrimPrefix(parts[1], "+"))
	if err != nil || year < -999_999_999 || year > 999_999_999 {
		return time.Time{}, "", false
	}
	month, _ := strconv.Atoi(parts[2])
	day, _ := strconv.Atoi(parts[3])
	at, ok = dateOf(year, month, day, clamp)
	return at, s[len(parts[0]):], ok
}

// dateOf returns the start of a day. clamp takes days up to 31 after the end of the month as its last day.
func dateOf(year, month, day int, clamp bool) (at time.Time, ok bool) {
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return time.Time{}, false
	}
	if last := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day(); day > last {
		if !clamp {
			return time.Time{}, false
		}
		day = last
	}
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC), true
}

// parseTime parses HH:MM:SS[.fffffffff], or a number of nanoseconds.
func parseTime(s string) (int64, error) {
	if wholeNumber.MatchString(s) {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v < 0 || v >= dayNanos {
			return 0, badValue("Unable to make long (for time) from: '%s'", s)
		}
		return v, nil
	}
	if v, ok := clockOf(strings.Trim(s, " \t\r\n")); ok {
		return v, nil
	}
	return 0, badValue("(TimeType) Unable to coerce '%s' to a formatted time (long)", s)
}

// clockOf returns the nanoseconds of HH:MM:SS[.fffffffff]. Parts may have any number of digits and a plus sign, as
// Integer.parseInt takes them.
func clockOf(s string) (int64, bool) {
	main, fraction, dotted := strings.Cut(s, ".")
	parts := strings.Split(main, ":")
	if len(parts) != 3 || dotted && (fraction == "" || len(fraction) > 9 || strings.Trim(fraction, "0123456789") != "") {
		return 0, false
	}
	total := int64(0)
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 32)
		if err != nil || n < 0 || n >= [...]int64{24, 60, 60}[i] {
			return 0, false
		}
		total += n * [...]int64{nsPerHour, nsPerMinute, nsPerSecond}[i]
	}
	return total + fractionOf(fraction), true
}

// fractionOf returns the nanoseconds of at most nine digits after a point.
func fractionOf(digits string) int64 {
	n, _ := strconv.ParseInt((digits + "000000000")[:9], 10, 64)
	return n
}

// lenientMoment matches a day with a time of day: numbers of any length without signs, and a zone.
var lenientMoment = regexp.MustCompile(`^(\d+)-(\d+)-(\d+)[T ](\d+):(\d+)(?::(\d+)(?:\.(\d{0,9}))?)?(.*)$`)

// parseTimestamp parses milliseconds, "now", a date of ISO 8601, or a date with a time of day, each with a zone or
// without, which means UTC.
func parseTimestamp(s string) (int64, error) {
	if strings.EqualFold(s, "now") {
		return time.Now().UnixMilli(), nil
	}
	if wholeNumber.MatchString(s) {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, badValue("Unable to make long (for date) from: '%s'", s)
		}
		return v, nil
	}
	at, zone, ok := cutMoment(s)
	if !ok || at.Year() > mostYear {
		return 0, badValue("Unable to parse a date/time from '%s'", s)
	}
	if !fitsMillis(at.Unix() - zone) {
		return 0, &Error{Message: "java.lang.ArithmeticException: long overflow"}
	}
	return at.UnixMilli() - zone*1000, nil
}

// cutMoment parses a timestamp. zone is in seconds east.
func cutMoment(s string) (at time.Time, zone int64, ok bool) {
	if parts := lenientMoment.FindStringSubmatch(s); parts != nil {
		if zone, ok = parseZone(parts[8], false); !ok {
			return time.Time{}, 0, false
		}
		at, ok = momentOf(parts)
		return at, zone, ok
	}
	at, rest, ok := cutDay(s, true)
	if !ok {
		return time.Time{}, 0, false
	}
	zone, ok = parseZone(rest, true)
	return at, zone, ok && (at.Year() > 0 || isoOffset.MatchString(rest))
}

// momentOf returns the time of the parts of lenientMoment.
func momentOf(parts []string) (at time.Time, ok bool) {
	var v [6]int
	for i := range v {
		if parts[i+1] == "" { // no seconds
			continue
		}
		n, err := strconv.ParseInt(parts[i+1], 10, 32)
		if err != nil {
			return time.Time{}, false
		}
		v[i] = int(n)
	}
	nanos := fractionOf(parts[7])
	if v[0] < 1 || v[3] > 24 || v[4] > 59 || v[5] > 59 || v[3] == 24 && (v[4] > 0 || v[5] > 0 || nanos > 0) {
		return time.Time{}, false
	}
	if at, ok = dateOf(v[0], v[1], v[2], true); !ok {
		return time.Time{}, false
	}
	return at.Add(time.Duration(v[3])*time.Hour + time.Duration(v[4])*time.Minute + time.Duration(v[5])*time.Second +
		time.Duration(nanos)), true
}

// isoOffset matches the zones that a year before 1 may have.
var isoOffset = regexp.MustCompile(`^([Zz]|[+-]\d\d:\d\d(:\d\d)?)?$`)

var offset = regexp.MustCompile(`^([+-])(\d\d)(?::?(\d\d))?$`)

// parseZone returns the offset of a time zone in seconds east. A zone is Z or an offset, or a space and a name. Of
// names only UTC's are known, since others depend on the data of the machine. iso takes what follows a date of ISO
// 8601.
func parseZone(s string, iso bool) (east int64, ok bool) {
	switch s {
	case "", "Z", " Z", " UTC", " GMT":
		return 0, true
	case "z":
		return 0, iso
	}
	parts := offset.FindStringSubmatch(strings.TrimPrefix(s, " "))
	if parts == nil {
		return 0, false
	}
	hours, _ := strconv.ParseInt(parts[2], 10, 64)
	minutes, _ := strconv.ParseInt("0"+parts[3], 10, 64)
	if east = hours*3600 + minutes*60; parts[1] == "-" {
		east = -east
	}
	return east, minutes < 60 && east >= -18*3600 && east <= 18*3600
}

// formatDay returns a date in ISO 8601.
func formatDay(at time.Time) string {
	year, month, day := at.Date()
	switch {
	case year > 9999:
		return fmt.Sprintf("+%d-%02d-%02d", year, month, day)
	case year < 0:
		return fmt.Sprintf("-%04d-%02d-%02d", -year, month, day)
	}
	return fmt.Sprintf("%04d-%02d-%02d", year, month, day)
}

// formatTimestamp returns milliseconds since the epoch as text.
func formatTimestamp(ms int64) string {
	at := time.UnixMilli(ms).UTC()
	return formatDay(at) + at.Format("T15:04:05.000Z")
}

// formatJSONTimestamp is formatTimestamp for JSON. The year is the year of its era, so the year before 1 is 0001
// again.
func formatJSONTimestamp(ms int64) string {
	at := time.UnixMilli(ms).UTC()
	year, sign := at.Year(), ""
	if year < 1 {
		year = 1 - year
	}
	if year > 9999 {
		sign = "+"
	}
	return fmt.Sprintf("%s%04d-%s", sign, year, at.Format("01-02 15:04:05.000Z"))
}

// parseInet parses an address. The empty text is an empty value. Other than Cassandra it takes no IPv4 address of fewer
// than four numbers, no zone and no brackets.
func parseInet(s string) ([]byte, error) {
	if s == "" {
		return []byte{}, nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return nil, badValue("Unable to make inet address from '%s'", s)
	}
	return a.Unmap().AsSlice(), nil
}
