// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Text form of durations.

// A durationUnit is a unit of the text of durations.
type durationUnit struct {
	order  int // the units of one text ascend
	part   int // of Duration that the unit counts in: 0 months, 1 days, 2 nanoseconds
	factor uint64
}

var durationUnits = map[string]durationUnit{
	"y": {0, 0, 12}, "mo": {1, 0, 1}, "w": {2, 1, 7}, "d": {3, 1, 1}, "h": {4, 2, 3600e9}, "m": {5, 2, 60e9},
	"s": {6, 2, 1e9}, "ms": {7, 2, 1e6}, "us": {8, 2, 1e3}, "µs": {8, 2, 1e3}, "ns": {9, 2, 1},
}

// ParseDuration parses a duration in one of the forms of CQL, each with an optional leading "-":
//
//	1y2mo3w4d5h6m7s8ms9us10ns   whole numbers, each unit at most once and in this order, in either case
//	P1Y2M3DT4H5M6S, P3W         ISO 8601
//	P0001-02-03T04:05:06        the alternative form of ISO 8601
//
// The error wraps ErrConversion or ErrRange.
func ParseDuration(s string) (Duration, error) {
	text, negative := strings.CutPrefix(s, "-")
	d := durationParser{limits: [3]uint64{math.MaxInt32, math.MaxInt32, math.MaxInt64}, last: -1}
	if negative { // the least values are not literals of CQL, but cells may have them, and String prints them
		d.limits = [3]uint64{math.MaxInt32 + 1, math.MaxInt32 + 1, math.MaxInt64 + 1}
	}
	ok := false
	switch iso, isISO := strings.CutPrefix(text, "P"); {
	case !isISO:
		ok = text != "" && d.units(text)
	case strings.HasSuffix(iso, "W"):
		rest, found := d.number(iso, "W", durationUnits["w"])
		ok = found && rest == ""
	case strings.Contains(iso, "-"):
		ok = d.alternative(iso)
	default:
		ok = d.iso(iso)
	}
	switch {
	case d.overflow:
		return Duration{}, fmt.Errorf("%w: duration %q", ErrRange, s)
	case !ok:
		return Duration{}, fmt.Errorf("%w: %q is not a duration, want one such as 1y2mo3d4h5m6s or P1Y2M3DT4H5M6S",
			ErrConversion, s)
	}
	months, days, nanos := int32(d.parts[0]), int32(d.parts[1]), int64(d.parts[2])
	if negative {
		return Duration{-months, -days, -nanos}, nil
	}
	return Duration{months, days, nanos}, nil
}

// A durationParser adds up the numbers of a duration. A method returns false for text that is not a duration.
type durationParser struct {
	parts, limits [3]uint64
	last          int // order of the last unit
	overflow      bool
}

// units parses numbers with units.
func (d *durationParser) units(s string) bool {
	for s != "" {
		digits, rest := cutDigits(s)
		letters := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµ"))
		unit, ok := durationUnits[strings.ToLower(rest[:letters])]
		if !ok || !d.add(digits, unit) {
			return false
		}
		s = rest[letters:]
	}
	return true
}

// iso parses the part after the P of P1Y2M3DT4H5M6S. Each number may be missing.
func (d *durationParser) iso(s string) bool {
	date, clock, _ := strings.Cut(s, "T")
	return d.letters(date, "Y", "y", "M", "mo", "D", "d") && d.letters(clock, "H", "h", "M", "m", "S", "s")
}

// letters parses numbers with the name of a unit after each.
func (d *durationParser) letters(s string, pairs ...string) bool {
	for i := 0; i < len(pairs); i += 2 {
		if rest, ok := d.number(s, pairs[i], durationUnits[pairs[i+1]]); ok {
			s = rest
		}
	}
	return s == ""
}

// number parses a number that ends with a letter.
func (d *durationParser) number(s, letter string, unit durationUnit) (rest string, ok bool) {
	digits, rest := cutDigits(s)
	rest, ok = strings.CutPrefix(rest, letter)
	return rest, ok && d.add(digits, unit)
}

// alternative parses the part after the P of P0001-02-03T04:05:06.
func (d *durationParser) alternative(s string) bool {
	const layout = "0000-00-00T00:00:00"
	if len(s) != len(layout) {
		return false
	}
	for i, name := range []string{"y", "mo", "d", "h", "m", "s"} {
		first, end := 3*i+2*min(i, 1), 3*i+4
		if end < len(s) && s[end] != layout[end] || !d.add(s[first:end], durationUnits[name]) {
			return false
		}
	}
	return true
}

// add adds a number of a unit.
func (d *durationParser) add(digits string, unit durationUnit) bool {
	if rest := strings.TrimLeft(digits, "0123456789"); digits == "" || rest != "" || unit.order <= d.last {
		return false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	over, value := bits.Mul64(n, unit.factor)
	sum, carry := bits.Add64(d.parts[unit.part], value, 0)
	if err != nil || over != 0 || carry != 0 || sum > d.limits[unit.part] {
		d.overflow = true
		return false
	}
	d.parts[unit.part], d.last = sum, unit.order
	return true
}

// cutDigits returns the digits at the start of s, and the rest.
func cutDigits(s string) (digits, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(rest)], rest
}
