// SPDX-License-Identifier: Apache-2.0

package textform

import (
	"fmt"
	"strings"
	"time"
)

// Times of day and timestamps.

// ParseTime parses a time of day, 15:04 with optional seconds and a fraction of up to 9 digits, and returns the
// nanoseconds since midnight.
func ParseTime(s string) (int64, error) {
	n, rest, ok := cutClock(s)
	if !ok || rest != "" {
		return 0, ErrSyntax
	}
	return n, nil
}

// cutClock reads a time of day and returns its nanoseconds.
func cutClock(s string) (nanos int64, rest string, ok bool) {
	hours, rest, ok := cutPart(s, "", 24)
	if !ok {
		return 0, "", false
	}
	minutes, rest, ok := cutPart(rest, ":", 60)
	if !ok {
		return 0, "", false
	}
	nanos = hours*3600e9 + minutes*60e9
	if !strings.HasPrefix(rest, ":") {
		return nanos, rest, true
	}
	seconds, rest, ok := cutPart(rest, ":", 60)
	if !ok {
		return 0, "", false
	}
	return cutFraction(nanos+seconds*1e9, rest)
}

// cutPart reads one or two digits after a prefix, of a number below a limit.
func cutPart(s, prefix string, limit int64) (n int64, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, prefix)
	digits, rest := cutDigits(s)
	if !ok || len(digits) < 1 || len(digits) > 2 {
		return 0, "", false
	}
	for _, c := range []byte(digits) {
		n = 10*n + int64(c-'0')
	}
	return n, rest, n < limit
}

// cutFraction reads the fraction of a second, if there is one, and adds it.
func cutFraction(nanos int64, s string) (sum int64, rest string, ok bool) {
	if s == "" || s[0] != '.' && s[0] != ',' {
		return nanos, s, true
	}
	digits, rest := cutDigits(s[1:])
	if digits == "" || len(digits) > 9 {
		return 0, "", false
	}
	n, err := ParseInt(digits+"000000000"[len(digits):], 64)
	return nanos + n, rest, err == nil
}

// ParseTimestamp parses a date, or a date and a time of day after T or a space, with an optional zone: Z, UTC, GMT or
// an offset such as +01:00. Without a zone the local time of a location is meant. A year has four digits, or more with
// or without a sign. It returns the seconds since 1970-01-01 UTC and the nanoseconds after them.
func ParseTimestamp(s string, local *time.Location) (seconds, nanos int64, err error) {
	year, rest, ok := cutYear(s, true)
	if !ok {
		return 0, 0, ErrSyntax
	}
	day, rest, err := cutMonthDay(year, rest)
	if err != nil {
		return 0, 0, err
	}
	clock := int64(0)
	if len(rest) > 1 && (rest[0] == 'T' || rest[0] == ' ') && rest[1] >= '0' && rest[1] <= '9' {
		if clock, rest, ok = cutClock(rest[1:]); !ok {
			return 0, 0, ErrSyntax
		}
	}
	seconds, nanos = day+clock/1e9, clock%1e9
	if rest == "" {
		seconds, err = inLocation(seconds, local)
		return seconds, nanos, err
	}
	offset, ok := parseOffset(strings.TrimPrefix(rest, " "))
	if !ok {
		return 0, 0, ErrSyntax
	}
	return seconds - offset, nanos, nil
}

// inLocation returns the time of a clock of a location, which is given as if it were in UTC.
func inLocation(seconds int64, local *time.Location) (int64, error) {
	if local == time.UTC {
		return seconds, nil
	}
	at := time.Unix(seconds, 0).UTC()
	t := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, local)
	if t.Hour() != at.Hour() || t.Minute() != at.Minute() {
		return 0, fmt.Errorf("%w: the clocks of %v skip this time", ErrRange, local)
	}
	return t.Unix(), nil
}

// maxOffset is the greatest offset of a zone in ISO 8601 as Java reads it.
const maxOffset = 18 * 3600

// parseOffset returns the seconds east of a zone: Z, UTC, GMT, +hh, +hhmm or +hh:mm.
func parseOffset(s string) (seconds int64, ok bool) {
	switch s {
	case "Z", "UTC", "GMT":
		return 0, true
	case "":
		return 0, false
	}
	hours, rest, ok := cutTwo(s[1:])
	if !ok || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	minutes := 0
	if rest != "" {
		if minutes, rest, ok = cutTwo(strings.TrimPrefix(rest, ":")); !ok || rest != "" || minutes > 59 {
			return 0, false
		}
	}
	seconds = int64(hours*3600 + minutes*60)
	if s[0] == '-' {
		return -seconds, seconds <= maxOffset
	}
	return seconds, seconds <= maxOffset
}

// In returns seconds and nanoseconds as a number of units; a second has perSecond. A part below the unit is an
// error, as is a number beyond 64 bits.
func In(seconds, nanos, perSecond int64) (int64, error) {
	step := int64(time.Second) / perSecond
	if nanos%step != 0 {
		return 0, fmt.Errorf("%w: it has a part below %v", ErrRange, unitName(step))
	}
	n, ok := mulAdd(seconds, perSecond, nanos/step)
	if !ok {
		return 0, ErrRange
	}
	return n, nil
}

// unitName returns the symbol of a unit of a number of nanoseconds.
func unitName(step int64) string {
	return map[int64]string{1: "ns", 1e3: "us", 1e6: "ms", 1e9: "s"}[step]
}
