// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Durations as text: 1y2mo3w4d5h6m7s8ms9us10ns and the two forms of ISO 8601.

const (
	nsPerHour   = int64(3600e9)
	nsPerMinute = int64(60e9)
	nsPerSecond = int64(1e9)
)

// parseDuration parses the text of a duration in one of Cassandra's three forms: P0001-02-03T04:05:06, P1Y2M3DT4H5M6S,
// and 1y2mo3d4h5m6s.
func parseDuration(s string) ([]byte, error) {
	fault := badValue("Unable to convert '%s' to a duration", s)
	text, negative := strings.CutPrefix(s, "-")
	var months, days, nanos int64
	var ok bool
	switch {
	case strings.HasPrefix(text, "P") && strings.Count(text, "-") == 2:
		months, days, nanos, ok = parseISOAlternative(text)
	case strings.HasPrefix(text, "P"):
		months, days, nanos, ok = parseISODuration(text[1:])
	default:
		months, days, nanos, ok = parseUnits(text)
	}
	if !ok || months > math.MaxInt32 || days > math.MaxInt32 {
		return nil, fault
	}
	if negative {
		months, days, nanos = -months, -days, -nanos
	}
	return durationBytes(months, days, nanos), nil
}

func durationBytes(months, days, nanos int64) []byte {
	return appendZigzag(appendZigzag(appendZigzag(nil, months), days), nanos)
}

// durationUnits are in the order in which a duration must list them. A name precedes those that are a prefix of it.
var durationUnits = []struct {
	name                string
	months, days, nanos int64
}{
	{"y", 12, 0, 0},
	{"mo", 1, 0, 0},
	{"w", 0, 7, 0},
	{"d", 0, 1, 0},
	{"h", 0, 0, nsPerHour},
	{"m", 0, 0, nsPerMinute},
	{"s", 0, 0, nsPerSecond},
	{"ms", 0, 0, 1e6},
	{"us", 0, 0, 1e3},
	{"ns", 0, 0, 1},
}

// parseUnits parses numbers with units, each unit at most once and from the longest to the shortest.
func parseUnits(s string) (months, days, nanos int64, ok bool) {
	if s == "" {
		return 0, 0, 0, false
	}
	next := 0
	for s != "" {
		n, rest, good := cutNumber(s)
		if !good {
			return 0, 0, 0, false
		}
		name := strings.ToLower(rest[:len(rest)-len(strings.TrimLeft(rest, "yYmMoOwWdDhHsSuUµnN"))])
		rest = rest[len(name):]
		if name == "µs" {
			name = "us"
		}
		found := false
		for ; next < len(durationUnits); next++ {
			if u := durationUnits[next]; u.name == name {
				var a, b, c bool
				months, a = mulAdd(months, n, u.months)
				days, b = mulAdd(days, n, u.days)
				nanos, c = mulAdd(nanos, n, u.nanos)
				if !a || !b || !c {
					return 0, 0, 0, false
				}
				next++
				found = true
				break
			}
		}
		if !found {
			return 0, 0, 0, false
		}
		s = rest
	}
	return months, days, nanos, true
}

// mulAdd returns sum + n*unit; false means that it overflows.
func mulAdd(sum, n, unit int64) (int64, bool) {
	if unit == 0 || n == 0 {
		return sum, true
	}
	if n > math.MaxInt64/unit || sum > math.MaxInt64-n*unit {
		return 0, false
	}
	return sum + n*unit, true
}

func cutNumber(s string) (n int64, rest string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(s[:i], 10, 64)
	return n, s[i:], err == nil
}

// parseISODuration parses the part after the P of P1Y2M3DT4H5M6S or P7W.
func parseISODuration(s string) (months, days, nanos int64, ok bool) {
	date, clock, timed := strings.Cut(s, "T")
	if date == "" && !timed || timed && clock == "" {
		return 0, 0, 0, false
	}
	read := func(s, letters string, units []int64, sum *int64, or *int64, orUnits []int64) bool {
		next := 0
		for s != "" {
			n, rest, good := cutNumber(s)
			if !good || rest == "" {
				return false
			}
			at := strings.IndexByte(letters[next:], rest[0])
			if at < 0 {
				return false
			}
			next += at
			if *sum, good = mulAdd(*sum, n, units[next]); !good {
				return false
			}
			if or != nil {
				if *or, good = mulAdd(*or, n, orUnits[next]); !good {
					return false
				}
			}
			next++
			s = rest[1:]
		}
		return true
	}
	ok = read(date, "YMWD", []int64{12, 1, 0, 0}, &months, &days, []int64{0, 0, 7, 1}) &&
		read(clock, "HMS", []int64{nsPerHour, nsPerMinute, nsPerSecond}, &nanos, nil, nil)
	return months, days, nanos, ok
}

// parseISOAlternative parses P0001-02-03T04:05:06.
func parseISOAlternative(s string) (months, days, nanos int64, ok bool) {
	var y, mo, d, h, mi, sec int64
	if len(s) != len("P0001-02-03T04:05:06") {
		return 0, 0, 0, false
	}
	if n, err := fmt.Sscanf(s, "P%04d-%02d-%02dT%02d:%02d:%02d", &y, &mo, &d, &h, &mi, &sec); err != nil || n != 6 {
		return 0, 0, 0, false
	}
	if y < 0 || mo < 0 || d < 0 || h < 0 || mi < 0 || sec < 0 {
		return 0, 0, 0, false
	}
	return y*12 + mo, d, h*nsPerHour + mi*nsPerMinute + sec*nsPerSecond, true
}

// formatDuration returns the text of a duration with units, without those that are 0.
func formatDuration(b []byte) string {
	mo, d, ns, err := splitDuration(b)
	if err != nil {
		return ""
	}
	months, days, nanos := int64(mo), int64(d), uint64(ns)
	var out strings.Builder
	if mo < 0 || d < 0 || ns < 0 {
		out.WriteByte('-')
		months, days, nanos = -months, -days, -nanos
	}
	add := func(n uint64, unit string) {
		if n > 0 {
			out.WriteString(strconv.FormatUint(n, 10) + unit)
		}
	}
	add(uint64(months/12), "y")
	add(uint64(months%12), "mo")
	add(uint64(days), "d")
	for i := 4; i < len(durationUnits); i++ {
		u := durationUnits[i]
		add(nanos/uint64(u.nanos), u.name)
		nanos %= uint64(u.nanos)
	}
	return out.String()
}
